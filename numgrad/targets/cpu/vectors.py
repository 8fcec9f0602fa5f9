"""Scalar functions on vectors in registers: what chains of operators are run with.

Between operators a kernel stores what it has computed and the next one loads it again. A chain does
not: it takes a block of a few vectors, which stay in registers, through one operator after the
other. For that an operator has *forms*: functions of the machine code's own, which work on the
block that is in registers and go on to the next form, whose address is the next word of the chain,
by a jump. Forms depend on the operator and its dtype alone, so they are compiled once, like
kernels, and a new chain needs no compiler.

A form is ``void(code, table, v0, ..., v7)``. ``code`` points to its words: its own address, then
the places in ``table`` of the operands that it reads from memory; there it finds their addresses.
``table[0]`` is the address of the status. Letters say what the operands of a form are: ``r`` the
block in registers, ``m`` a block in memory, ``n`` a single number.
"""

import platform
import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from numgrad._settings import settings
from numgrad._specs import ElementwiseSpec

from . import fused, loader, routines
from .compiler import Code, join_keys, obtain, symbol_of
from .vector_library import vector_registers

REGISTERS = 8
"""Vectors of a block: as many as every calling convention passes in registers."""

MOST_OPERANDS, MOST_OWN = 192, 96
"""Operands that a chain may have, numbers included, and blocks of memory of its own."""

MOST_MOVING = 64
"""Operands that a chain may have which are not numbers."""

_DTYPES = ("f4", "f8")
_LETTERS = {1: ("r",), 2: ("rm", "rn", "mr", "nr", "mm", "mn", "nm")}
_FRAME = ("m", "n", "store", "done")

Addresses = dict[str, int]


class Frame(NamedTuple):
    """What all chains of a dtype need.

    Attributes
    ----------
    forms : dict
        ``m`` and ``n`` load a block into registers, ``store`` stores it, ``done`` ends a chain.
    run : int
        Address of the kernel that runs a chain.
    nbytes : int
        Size of a block.
    """

    forms: Addresses
    run: int
    nbytes: int


@cache
def block_bytes() -> int:
    """Bytes of a block; 0 where there are no chains: where vectors are not passed in registers."""
    known = platform.machine().lower() in ("x86_64", "amd64", "aarch64", "arm64")
    return REGISTERS * vector_registers() // 8 if known and sys.platform != "win32" else 0


@cache
def frame(dtype: np.dtype) -> Frame:
    """Return what chains of a dtype have in common, compiled or loaded."""
    key = join_keys((), repr(("frame", dtype.str, REGISTERS, block_bytes())))

    def compiled() -> Code:
        from .vector_forms import emit_frame  # it imports Numba

        return emit_frame(dtype, _FRAME, symbol_of(key))

    forms = _addresses(key, compiled, _FRAME)
    return Frame(forms, routines.address_of("chain_loop", "run"), block_bytes())


def has_forms(spec: Any) -> bool:
    """Whether there are forms of an operator: it takes and returns numbers of one real dtype."""
    if not isinstance(spec, ElementwiseSpec):
        return False
    dtypes = {*spec.in_dtypes, *spec.out_dtypes}
    return (
        block_bytes() > 0
        and len(spec.in_dtypes) in _LETTERS
        and len(spec.out_dtypes) == len(dtypes) == 1
        and dtypes.pop().str[1:] in _DTYPES
    )


_forms: dict[tuple, Addresses] = {}


def forms(spec: ElementwiseSpec) -> Addresses:
    """Return the forms of an operator by their letters, compiled or loaded."""
    identity = (settings.math, spec.identity)
    known = _forms.get(identity)
    return known or _forms.setdefault(identity, _found(spec))


def prepare(specs: Iterable[Any]) -> None:
    """Compile or load the forms of operators, and what their chains have in common."""
    for spec in filter(has_forms, specs):
        frame(spec.out_dtypes[0])
        forms(spec)


def _found(spec: ElementwiseSpec) -> Addresses:
    one = fused.scalar(spec)
    key = join_keys([one.key], repr(("forms", REGISTERS, block_bytes())))

    def compiled() -> Code:
        from .vector_forms import emit_forms  # it imports Numba

        return emit_forms(one, _LETTERS[len(spec.in_dtypes)], symbol_of(key))

    return _addresses(key, compiled, _LETTERS[len(spec.in_dtypes)])


def _addresses(key: str, compiled: Callable[[], Code], names: tuple[str, ...]) -> Addresses:
    """Compile or load functions of one object; the first one is its entry."""
    entry = obtain(key, compiled)
    others = {name: loader.find(f"{symbol_of(key)}_{name}") for name in names[1:]}
    return {names[0]: entry, **others}
