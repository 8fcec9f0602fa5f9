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

import numpy as np
from llvmlite import binding as llvm

from numgrad._settings import settings
from numgrad._specs import ElementwiseSpec

from . import fused
from .compiler import Code, join_keys, obtain, symbol_of
from .straight import Operation, Straight, number, straight
from .toolchain import compiler_lock
from .vector_calls import PREFIX
from .vector_library import vector_library, vector_registers

NAMES = {
    "fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "div", "fneg": "xor", "@sqrt": "sqrt",
    "@sqrtf": "sqrt", "@llvm.sqrt.f64": "sqrt", "@llvm.sqrt.f32": "sqrt",
    "@llvm.fabs.f64": "and", "@llvm.fabs.f32": "and", "select": "blend",
}  # fmt: skip
"""Operations that are an instruction of a processor."""

LOGICAL = {"and": "and", "or": "or", "or disjoint": "or", "xor": "xor"}
"""Those on truth values, which are vectors too: of lanes all of whose bits are set, or none."""

PREDICATES = {
    "oeq": 0x00, "olt": 0x11, "ole": 0x12, "ogt": 0x1E, "oge": 0x1D, "one": 0x0C, "ord": 0x07,
    "uno": 0x03, "ueq": 0x08, "ult": 0x19, "ule": 0x1A, "ugt": 0x16, "uge": 0x15, "une": 0x04,
}  # fmt: skip
"""Comparisons as the instruction numbers them."""

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
    with compiler_lock:
        code = straight(one.bit_code, one.symbol)
    if code is not None and _is_known(code, spec.out_dtypes[0]):
        return code
    key = join_keys([one.key], repr(("vector", vector_bytes())))

    def compiled() -> Code:
        from .vector_code import emit_vector  # it imports Numba

        return emit_vector(one, symbol_of(key))

    return obtain(key, compiled)


def instruction(operation: Operation) -> str | None:
    """Return the instruction that does an operation; None for a call, or what is not known."""
    if operation.name.startswith("fcmp "):
        predicate = PREDICATES.get(operation.name[5:])
        return None if predicate is None else f"cmp ${predicate}"
    if operation.types[0] == "i1" and operation.name != "select":
        return LOGICAL.get(operation.name)
    return NAMES.get(operation.name)


def _is_known(code: Straight, dtype: np.dtype) -> bool:
    """Whether all operations are instructions, or functions of the library, on one type and truth
    values."""
    operands = [code.result]
    for operation in code.operations:
        if not {*operation.types, operation.to} <= {_TYPES[dtype.str[1:]], "i1"}:
            return False
        if instruction(operation) is None and library_function(operation.name) is None:
            return False
        operands += operation.operands
    return all(name.startswith("%") or number(name, dtype) is not None for name in operands)
