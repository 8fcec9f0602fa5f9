"""Scalar functions on vectors in registers: what chains of operators are made of.

Chains are put together without a compiler. Of each operator they need what was compiled once: its
`straight` code, from which they take instructions; or, where it has branches, a function on vectors
in registers, ``vector(vector..., status)`` in the C convention.
"""

import platform
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

from llvmlite import binding as llvm

from numgrad._settings import settings
from numgrad._specs import ElementwiseSpec

from . import fused
from .compiler import Code, join_keys, obtain, symbol_of
from .straight import Operation, Straight, straight
from .vector_calls import PREFIX
from .vector_library import vector_library, vector_registers

NAMES = {
    "fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "div", "fneg": "xor", "@sqrt": "sqrt",
    "@sqrtf": "sqrt", "@llvm.sqrt.f64": "sqrt", "@llvm.sqrt.f32": "sqrt",
    "@llvm.fabs.f64": "and", "@llvm.fabs.f32": "and",
}  # fmt: skip
"""Operations that are one instruction of a processor."""

_DTYPES = ("f4", "f8")
_TYPES = {"f4": "float", "f8": "double"}
_MOST_ARGUMENTS = 3


@cache
def vector_bytes() -> int:
    """Bytes of a vector; 0 where there are no chains: they are made for x86-64 with AVX2."""
    known = platform.machine().lower() in ("x86_64", "amd64") and sys.platform != "win32"
    register = vector_registers() if known else 0
    return register // 8 if register >= 256 else 0


def can_chain(spec: Any) -> bool:
    """Whether an operator can be part of a chain: all its numbers are of one real dtype."""
    if not isinstance(spec, ElementwiseSpec):
        return False
    dtypes = {*spec.in_dtypes, *spec.out_dtypes}
    return (
        vector_bytes() > 0
        and 0 < len(spec.in_dtypes) <= _MOST_ARGUMENTS
        and len(spec.out_dtypes) == len(dtypes) == 1
        and dtypes.pop().str[1:] in _DTYPES
    )


_functions: dict[tuple, Straight | int] = {}


def function(spec: ElementwiseSpec) -> Straight | int:
    """Return an operator's straight code if chains can do it, else the address of its function."""
    identity = (settings.math, spec.identity)
    known = _functions.get(identity)
    return _functions.setdefault(identity, _found(spec)) if known is None else known


def prepare(specs: Iterable[Any]) -> None:
    """Compile or load what chains of some operators need."""
    for spec in filter(can_chain, specs):
        function(spec)


def library_function(name: str) -> int | None:
    """Return the address of the vector library's function for one that straight code calls."""
    library = vector_library()
    if library is None or not name.startswith("@" + PREFIX):
        return None
    stem, _, bits = name[1 + len(PREFIX) :].rpartition("_float")
    symbol = library.variant(stem, int(bits))
    return None if symbol is None else llvm.address_of_symbol(symbol)


def _found(spec: ElementwiseSpec) -> Straight | int:
    one = fused.scalar(spec)
    code = straight(one.bit_code, one.symbol)
    kind = _TYPES[spec.out_dtypes[0].str[1:]]
    if code is not None and all(_is_known(operation, kind) for operation in code.operations):
        return code
    key = join_keys([one.key], repr(("vector", vector_bytes())))

    def compiled() -> Code:
        from .vector_code import emit_vector  # it imports Numba

        return emit_vector(one, symbol_of(key))

    return obtain(key, compiled)


def _is_known(operation: Operation, kind: str) -> bool:
    known = operation.name in NAMES or library_function(operation.name) is not None
    return known and operation.to == kind == operation.types[0]
