"""Kernels of recurrences, which apply scalar functions again and again to their own results."""

from numgrad.ir.kernel_spec import ProductSpec
from numgrad.ir.recurrence import Recurrence

from ..codegen.scalar_graph import ScalarFunction, scalar
from ..compile import disk_cache as disk
from ..compile.compiler import Code, join_keys, obtain, symbol_of


def functions(of: Recurrence) -> list[tuple[ScalarFunction | None, tuple[int, ...]]]:
    """Return the scalar function and the arguments of each step.

    The function is None for a step of a matrix product.
    """
    return [
        (None if isinstance(spec, ProductSpec) else scalar(spec), args) for spec, args in of.steps
    ]


def key_of(of: Recurrence) -> str:
    """Return the cache key of a recurrence's kernel."""
    places: dict[str, int] = {}
    calls = [
        (-1 if one is None else places.setdefault(one.key, len(places)), args)
        for one, args in functions(of)
    ]
    ends = [[(o, n, d.str) for o, n, d in part] for part in (of.inputs, of.outputs)]
    parts = "recurrence", calls, ends, of.values, of.carried, of.per_step
    return join_keys([*places], repr(parts if of.goes_on is None else (*parts, of.goes_on)))


def is_ready(recurrence: Recurrence) -> bool:
    """Whether the kernel of a recurrence is on disk."""
    return disk.has(key_of(recurrence))


def address(recurrence: Recurrence) -> int:
    """Return the address of the kernel of a recurrence, by the kernel ABI.

    The kernel's ``ptrs`` has the addresses of inputs, then those of outputs; its ``n`` is the
    number of steps, and its ``steps`` has the bytes by which each operand moves on at a step.
    """
    key = key_of(recurrence)
    return obtain(key, lambda: _compiled(recurrence, symbol_of(key)))


def _compiled(recurrence: Recurrence, symbol: str) -> Code:
    from .recurrence_loop import compiled  # it imports Numba

    return compiled(recurrence, symbol)
