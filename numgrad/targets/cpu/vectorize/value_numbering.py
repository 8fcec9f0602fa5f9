"""Value numbering: the distinct operations of a graph of scalar functions, and their order.

In a long loop body a processor looks ahead only so far, and values that the registers do not hold
go to memory and back. So operations are ordered by height, the longest path from an operation to a
result of the graph: the operation with the longest path comes first. In the order of the graph,
Black-Scholes took 1.09 times as long, and Burgers' equation 1.03 times.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..codegen.scalar_graph import ScalarGraph
from ..platform.vector_library import PREFIX
from .straight_line import Operation, straight_line_of

Operand = int | str
"""The number of a value, or a constant as LLVM writes it."""

_KINDS = {
    "b1": "i1", "i1": "i8", "u1": "i8", "i2": "i16", "u2": "i16", "i4": "i32", "u4": "i32",
    "i8": "i64", "u8": "i64", "f4": "float", "f8": "double",
}  # fmt: skip
_LATENCIES = {"fdiv": 13, "frem": 60, "@sqrt": 20, "@sqrtf": 20}
_CALL, _OTHER = 60, 3
"""Rough latencies in cycles: of calls of functions, and of all operations not listed above."""


class Node(NamedTuple):
    """An operation of straight-line code (`Operation`) whose operands are numbered values."""

    name: str
    operands: tuple[Operand, ...]
    types: tuple[str, ...]
    to: str


class Dataflow(NamedTuple):
    """The distinct operations of a scalar graph, and the order in which they are computed.

    Attributes
    ----------
    kinds : tuple of str
        LLVM types of the inputs, which are the values with the first numbers.
    nodes : tuple of Node
        The operations; the numbers of their results follow those of the inputs.
    outputs : tuple
        The values to store.
    out_kinds : tuple of str
        LLVM types of the outputs.
    once : tuple of int
        The results that depend on scalar inputs alone, and are computed once, before the loop.
    order : tuple of int
        The other results that outputs need, in the order of computation.
    height : int
        The length of the longest path through ``order``, in cycles.
    """

    kinds: tuple[str, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Operand, ...]
    out_kinds: tuple[str, ...]
    once: tuple[int, ...]
    order: tuple[int, ...]
    height: int


def kind_of(dtype: np.dtype) -> str | None:
    """Return the LLVM type for numbers of a dtype.

    The result is None for a complex dtype, and for a dtype in another byte order than the native.
    """
    return _KINDS.get(dtype.str[1:]) if dtype.isnative else None


def dataflow_of(graph: ScalarGraph) -> Dataflow | None:
    """Return the operations of a scalar graph; None if they cannot be written for vectors.

    Code on vectors can be written only if all values are real numbers, and no function has a branch
    or reads the index or the status.
    """
    kinds = [kind_of(dtype) for dtype in (*graph.in_dtypes, *graph.out_dtypes)]
    made = _ValueNumbers(len(graph.in_dtypes))
    known: list[Operand] = [*range(len(graph.in_dtypes))]
    for one, args in graph.steps:
        code = straight_line_of(one.bit_code, one.symbol)
        if code is None or None in kinds:
            return None
        names = dict(zip(code.parameters, (known[k] for k in args), strict=False))
        for operation in code.operations:
            if not names.keys() >= {x for x in operation.operands if x[0] == "%"}:
                return None  # the operation reads the index or the status
            names[operation.result] = made.add(operation, names)
        known.append(names.get(code.result, code.result))
    outputs = tuple(known[k] for k in graph.outputs)
    found = [str(kind) for kind in kinds]
    nin = len(graph.in_dtypes)
    ways = made.ordered(outputs, graph.scalars)
    return Dataflow(tuple(found[:nin]), (*made.nodes,), outputs, tuple(found[nin:]), *ways)


def calls_library(flow: Dataflow) -> bool:
    """Whether a dataflow calls a function of the vector library, or one of our own, as `exp`."""
    names = [flow.nodes[number - len(flow.kinds)].name for number in flow.order]
    return any(name[1:].startswith(PREFIX) for name in names)


class _ValueNumbers:
    """Gives numbers to the results of operations: one number for equal operations."""

    def __init__(self, nin: int) -> None:
        self.nin = nin
        self.nodes: dict[Node, int] = {}

    def add(self, operation: Operation, names: dict[str, Operand]) -> int:
        """Return the number of an operation's result, the same one for equal operations.

        ``names`` has the values for which the operands' names stand.
        """
        operands = tuple(names.get(x, x) for x in operation.operands)
        node = Node(operation.name, operands, operation.types, operation.to)
        return self.nodes.setdefault(node, self.nin + len(self.nodes))

    def ordered(
        self, outputs: Sequence[Operand], scalars: Sequence[bool]
    ) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Return which results are computed once, the order of the others, and their longest path.

        Results that depend on inputs in ``scalars`` alone are computed once. The others are ordered
        by height, the highest first; the length of their longest path is in cycles. Results that no
        output needs are left out.
        """
        heights = dict.fromkeys(_numbers(outputs), 0)
        for node, number in reversed(self.nodes.items()):
            if number in heights:
                height = heights[number] + _latency(node.name)
                for x in _numbers(node.operands):
                    heights[x] = max(heights.get(x, 0), height)
        fixed = {k for k, one in enumerate(scalars) if one}
        for node, number in self.nodes.items():
            if fixed.issuperset(_numbers(node.operands)):
                fixed.add(number)
        needed = [number for number in self.nodes.values() if number in heights]
        moving = sorted((k for k in needed if k not in fixed), key=lambda k: (-heights[k], k))
        nodes = [*self.nodes]
        ways = (heights[k] + _latency(nodes[k - self.nin].name) for k in moving)
        return tuple(k for k in needed if k in fixed), tuple(moving), max(ways, default=0)


def _numbers(operands: Iterable[Operand]) -> list[int]:
    return [x for x in operands if isinstance(x, int)]


def _latency(name: str) -> int:
    known = _LATENCIES.get(name)
    if known is not None:
        return known
    return _CALL if name.startswith("@") and not name.startswith("@llvm.") else _OTHER
