"""Kernels of rolled instructions: scalar functions in a loop, with carried values in registers.

The operands of such a kernel have one core dimension, the turns. The stride of an operand along the
turns is the distance from one turn to the next. Around the turns there is a loop over rows.
"""

import numpy as np

from ....ir.kernel_spec import ProductSpec, RolledSpec
from ..codegen.scalar_graph import ScalarFunction, scalar
from ..compile.compiler import Code, join_keys, obtain, symbol_of


def functions(spec: RolledSpec) -> list[tuple[ScalarFunction | None, tuple[int, ...]]]:
    """Return the scalar function and the arguments of each step of a spec.

    The function is None for a step of a matrix product.
    """
    return [
        (None if isinstance(step, ProductSpec) else scalar(step), args) for step, args in spec.steps
    ]


def key_of(spec: RolledSpec) -> str:
    """Return the cache key of the kernel of a spec."""
    places: dict[str, int] = {}
    calls = [
        (-1 if one is None else places.setdefault(one.key, len(places)), args)
        for one, args in functions(spec)
    ]
    ends = [
        [(at, offset, np.dtype(dtype).str, value) for at, offset, dtype, value in part]
        for part in (spec.inputs, spec.carries, spec.outputs, spec.finals)
    ]
    counts = len(spec.in_dtypes), len(spec.out_dtypes)
    return join_keys([*places], repr(("rolled", calls, ends, counts)))


def address(spec: RolledSpec) -> int:
    """Return the address of the kernel of a spec, compiled or loaded."""
    key = key_of(spec)
    return obtain(key, lambda: _compiled(spec, symbol_of(key)))


def _compiled(spec: RolledSpec, symbol: str) -> Code:
    from .rolled_loop import compiled  # it imports Numba

    return compiled(spec, symbol)
