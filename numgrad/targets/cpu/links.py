"""The links of a chain: what its operators do to whole vectors, in the order in which it is done.

The operations of `straight` code are instructions of a processor, or calls of the vector library.
"""

import platform
import sys
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding as llvm

from numgrad._settings import settings
from numgrad._specs import ElementwiseSpec, FusedSpec

from . import fused
from .numbering import Node, Operand, flow_of
from .routines import vector_function
from .straight import number
from .vector_code import SYMBOLS
from .vector_library import vector_registers
from .widening import callee

_INSTRUCTIONS = {
    "fadd": "add", "fsub": "sub", "fmul": "mul", "fdiv": "div", "fneg": "xor", "@sqrt": "sqrt",
    "@sqrtf": "sqrt", "@llvm.sqrt.f64": "sqrt", "@llvm.sqrt.f32": "sqrt",
    "@llvm.fabs.f64": "and", "@llvm.fabs.f32": "and", "select": "blend",
}  # fmt: skip
# Truth values are vectors too: of lanes all of whose bits are set, or none.
_LOGICAL = {"and": "and", "or": "or", "or disjoint": "or", "xor": "xor"}
_PREDICATES = {
    "oeq": 0x00, "olt": 0x11, "ole": 0x12, "ogt": 0x1E, "oge": 0x1D, "one": 0x0C, "ord": 0x07,
    "uno": 0x03, "ueq": 0x08, "ult": 0x19, "ule": 0x1A, "ugt": 0x16, "uge": 0x15, "une": 0x04,
}  # fmt: skip
"""Comparisons as the instruction numbers them."""
_SIGNS = {size: np.array(-0.0, f"f{size}").view(f"u{size}") for size in (4, 8)}
_MASKS = {
    "xor": {size: sign.tobytes() for size, sign in _SIGNS.items()},
    "and": {size: (~sign).tobytes() for size, sign in _SIGNS.items()},
}
"""What changes the sign and what takes it away."""
_TYPES = {4: "float", 8: "double"}


class UnknownOperationError(Exception):
    """An operator does what is neither an instruction here nor a call."""


@cache
def vector_bytes() -> int:
    """Bytes of a vector; 0 where there are no chains: they are made for x86-64 Linux with AVX2."""
    known = platform.machine().lower() in ("x86_64", "amd64") and sys.platform == "linux"
    register = vector_registers() if known else 0
    return register // 8 if register >= 256 else 0


class Link(NamedTuple):
    """One instruction, or one call.

    Attributes
    ----------
    name : str
        An instruction, without the letters for the element, perhaps with a number for it; or
        ``"call"``.
    args : tuple of int
        The values that it is applied to.
    address : int
        Of the function that is called.
    """

    name: str
    args: tuple[int, ...]
    address: int = 0


class Links:
    """The links of a chain.

    Attributes
    ----------
    made : dict
        The links in order, by the number of their value. Inputs have the numbers below ``nin``.
    constants : dict
        The numbers of values that are one number, known here: by its bits.
    outputs : list of int
        The values that are stored.

    Raises
    ------
    UnknownOperationError
        If an operator does what a chain cannot.
    """

    def __init__(self, spec: FusedSpec) -> None:
        self.dtype = spec.out_dtypes[0]
        self.nin = len(spec.in_dtypes)
        self.constants: dict[bytes, int] = {}
        flow = flow_of(fused.graph(spec))
        if flow is None:
            raise UnknownOperationError(spec.name)
        self._nodes = flow.nodes
        order = (*flow.once, *flow.order)
        made = {value: self._link(flow.nodes[value - self.nin]) for value in order}
        self.outputs = [self._value(output) for output in flow.outputs]
        read = {*self.outputs}.union(*[link.args for link in made.values()])
        self.made = {value: link for value, link in made.items() if value in read}

    def _link(self, node: Node) -> Link:
        """Return the link of an operation on numbers of the chain's dtype and truth values."""
        if not {*node.types, node.to} <= {_TYPES[self.dtype.itemsize], "i1"}:
            raise UnknownOperationError(node.name)
        args = tuple(map(self._value, node.operands))
        name = _instruction(node)
        if name is None:
            return Link("call", args, self._address(node))
        if name == "blend":
            mask, true, false = args
            return self._blend(mask, false, true)  # the last operand may be in memory
        if len(args) == 1 and name in _MASKS:
            return Link(name, (*args, self._bits(_MASKS[name][self.dtype.itemsize])))
        return Link(name, args)

    def _blend(self, mask: int, *others: int) -> Link:
        """Return the link of a selection; AVX-512 compares once more rather than keep the result,
        which is no vector there."""
        node = self._nodes[mask - self.nin] if 0 <= mask - self.nin < len(self._nodes) else None
        if vector_bytes() == 64 and node is not None and node.name.startswith("fcmp "):
            compared = map(self._value, node.operands)
            return Link(f"choose ${_PREDICATES[node.name[5:]]}", (*compared, *others))
        return Link("blend", (mask, *others))

    def _address(self, node: Node) -> int:
        """Return the address of a function of the vector library."""
        symbol = callee(node, vector_bytes() // self.dtype.itemsize)
        address = None
        if symbol in SYMBOLS:
            return vector_function(symbol)
        if symbol is not None and not symbol.startswith("llvm."):
            address = llvm.address_of_symbol(symbol)
        if address is None:
            raise UnknownOperationError(node.name)
        return address

    def _value(self, operand: Operand) -> int:
        """Return the number of a value, which may be a constant."""
        if isinstance(operand, int):
            return operand
        bits = number(operand, self.dtype)
        if bits is None:
            raise UnknownOperationError(operand)
        return self._bits(bits)

    def _bits(self, bits: bytes) -> int:
        return self.constants.setdefault(bits, self.nin + len(self._nodes) + len(self.constants))


def _instruction(node: Node) -> str | None:
    """Return the instruction that does an operation; None for a call, or what is not known."""
    if node.name.startswith("fcmp "):
        predicate = _PREDICATES.get(node.name[5:])
        return None if predicate is None else f"cmp ${predicate}"
    if node.types[0] == "i1" and node.name != "select":
        return _LOGICAL.get(node.name)
    return _INSTRUCTIONS.get(node.name)


_can_chain: dict[tuple, bool] = {}


def can_chain(spec: Any) -> bool:
    """Whether an operator can be part of a chain: its code is straight, on one real dtype."""
    if not isinstance(spec, ElementwiseSpec) or not vector_bytes() or len(spec.out_dtypes) != 1:
        return False
    if {*spec.in_dtypes} != {*spec.out_dtypes} or spec.out_dtypes[0].str[1:] not in ("f4", "f8"):
        return False
    identity = (settings.math, spec.identity)
    known = _can_chain.get(identity)
    if known is None:
        known = _can_chain[identity] = _is_known(spec)
    return known


def _is_known(spec: ElementwiseSpec) -> bool:
    nin = len(spec.in_dtypes)
    alone = ((spec, tuple(range(nin))),)
    one = FusedSpec(spec.name, alone, spec.in_dtypes, spec.out_dtypes, (nin,), (False,) * nin)
    try:
        Links(one)
    except UnknownOperationError:
        return False
    return True
