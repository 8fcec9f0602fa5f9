"""The work of an instruction: bytes that it reads and writes, and floating-point operations."""

import dis
from collections.abc import Callable
from functools import lru_cache
from math import prod
from types import FunctionType
from typing import Any

from ..ir.kernel_spec import FusedSpec, LibrarySpec, ProductSpec, RolledSpec
from ..ir.program import Instruction, Layout

_ARITHMETIC = frozenset(["+", "-", "*", "/", "//", "%", "**"])

# Operations of a routine, as a function of its core dimensions in the order of its signature.
_ROUTINES: dict[str, Callable[..., float]] = {
    "matmul": lambda m, k, n: 2.0 * m * k * n,
    "lu_factor": lambda n: 2.0 * n**3 / 3.0,
    "cholesky": lambda n: n**3 / 3.0,
    "lu_solve": lambda n, k: 2.0 * n**2 * k,
    "solve_triangular": lambda n, k: 1.0 * n**2 * k,
    "hermitian_reduced": lambda n: 4.0 * n**3 / 3.0,
    "eigvalsh": lambda n: 30.0 * n**2,
    "hermitian_vectors": lambda n: 14.0 * n**3 / 3.0,
    "qr": lambda m, n, p: 4.0 * (m - n / 3.0) * n**2,
    "qr_square": lambda m, n, p: 4.0 * m * m * min(m, n),
}
_COMPLEX = 4.0  # real products in a complex one


def bytes_of(instruction: Instruction, rows: int) -> int:
    """Return the bytes of the operands of one run; a broadcast element counts once."""
    layouts = instruction.pattern.layouts
    return sum(_bytes(layout) * (rows if layout.rows else 1) for layout in layouts)


def _bytes(layout: Layout) -> int:
    pairs = zip(layout.shape, layout.strides, strict=True)
    return prod(size for size, stride in pairs if stride or not size) * layout.dtype.itemsize


def operations_of(instruction: Instruction, rows: int) -> float:
    """Return an estimate of the floating-point operations of one run.

    A scalar function has one for every arithmetic operator and every call in its source, a routine
    of BLAS or LAPACK the count of textbooks, any other kernel one for each element of its loop.
    """
    pattern = instruction.pattern
    return prod(pattern.loop) * _of_spec(pattern.spec, tuple(pattern.core)) * (
        rows if instruction.rows else 1
    )


def _of_spec(spec: Any, core: tuple[int, ...]) -> float:
    if isinstance(spec, FusedSpec):
        return sum(_of_spec(step, ()) for step, _ in spec.steps)
    if isinstance(spec, RolledSpec):
        steps = [step for step, _ in spec.steps]
        each = [2.0 if isinstance(step, ProductSpec) else _of_spec(step, ()) for step in steps]
        return prod(core) * sum(each)
    name = getattr(spec, "name", "")
    dtype = spec.dtype if isinstance(spec, LibrarySpec | ProductSpec) else None
    if dtype is not None and name in _ROUTINES:
        return _ROUTINES[name](*core) * (_COMPLEX if dtype.kind == "c" else 1.0)
    function = getattr(spec, "function", None)
    if not core and function is not None:
        return float(_count(getattr(function, "py_func", function)))
    return float(prod(core))


@lru_cache(maxsize=1024)
def _count(function: Callable[..., Any]) -> int:
    """Count the arithmetic of a scalar function and of the user's functions that it calls."""
    if not isinstance(function, FunctionType):
        return 1
    total = 0
    for step in dis.get_instructions(function):
        if step.opname == "BINARY_OP":
            total += step.argrepr.rstrip("=") in _ARITHMETIC
        elif step.opname == "UNARY_NEGATIVE" or step.opname.startswith("CALL"):
            total += step.opname in ("UNARY_NEGATIVE", "CALL", "CALL_FUNCTION_EX", "CALL_KW")
        elif step.opname == "LOAD_GLOBAL":
            value = function.__globals__.get(step.argval)
            callee = getattr(value, "py_func", value)
            if isinstance(callee, FunctionType) and callee is not function:
                total += _count(callee) - 1  # in place of the call itself
    return total
