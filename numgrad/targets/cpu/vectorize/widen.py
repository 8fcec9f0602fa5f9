"""LLVM code of operations on whole vectors, written as text.

Every type becomes a vector type, and every constant a vector of equal lanes; functions become
LLVM's intrinsics on vectors, functions of the vector library, or code of `avx512`. So there is no
loop to vectorise and nothing to inline, which took nine tenths of the time to compile a kernel of
many steps.
"""

from collections.abc import Sequence

from ..math.vector_math import function_of
from ..platform.avx512 import SYMBOLS, Declarations, written
from ..platform.vector_library import PREFIX, vector_library, vector_registers
from .value_numbering import Dataflow, Node, Operand

_BITS = {"double": 64, "float": 32, "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i1": 8}
_SUFFIXES = {"double": "f64", "float": "f32"}
_INTRINSICS = frozenset(
    ("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven")
    + ("copysign", "minnum", "maxnum", "minimum", "maximum", "fma")
)
"""Functions for which LLVM has an intrinsic on vectors."""


def lanes_of(flow: Dataflow) -> int:
    """Return the lanes of each vector: as many elements as a register holds of the widest type.

    If all operations depend on scalar inputs alone, 1 lane is tried first. The number is 0 if no
    vectors can be used: a type is unknown, or a function has no version for so many lanes.
    """
    kinds = {*flow.kinds, *flow.out_kinds}.union(*({*n.types, n.to} for n in flow.nodes))
    if not kinds <= _BITS.keys():
        return 0
    lanes = vector_registers() // max(_BITS[kind] for kind in kinds)
    calls = [node for node in flow.nodes if node.name[0] == "@"]
    counts = (lanes,) if flow.order else (1, lanes)
    return next((n for n in counts if all(callee(node, n) for node in calls)), 0)


def callee(node: Node, lanes: int) -> str | None:
    """Return the name of the vector version of a node's function; None where there is none."""
    name = node.name[1:]
    if name.startswith(PREFIX):
        library = vector_library()
        function, bits = function_of(name)
        fits = library is not None and library.lanes(bits) == lanes
        return library.variant(function, bits) if library and fits else None
    short = "sqrt" if name in ("sqrt", "sqrtf") else name.removeprefix("llvm.").split(".")[0]
    known = short in _INTRINSICS and (short == "sqrt" or name.startswith("llvm."))
    return f"llvm.{short}.v{lanes}{_SUFFIXES[node.to]}" if known and node.to in _SUFFIXES else None


class Widening:
    """Writes the operations of a graph as LLVM code on vectors.

    Each value is ``count`` vectors of ``lanes`` elements. A value that depends on scalar inputs
    alone is equal in all lanes, so that one vector is enough.
    """

    def __init__(self, flow: Dataflow, lanes: int, count: int, scalars: Sequence[bool]) -> None:
        self.flow, self.lanes, self.count = flow, lanes, count
        self.nin = len(flow.kinds)
        self.alike = {k for k, one in enumerate(scalars) if one} | {*flow.once}
        self.declarations = Declarations()
        """Declarations of the functions that the code calls."""

    def vector(self, kind: str) -> str:
        """Return the LLVM type of vectors whose elements have the type ``kind``."""
        return f"<{self.lanes} x {kind}>"

    def operand(self, x: Operand, kind: str, k: int) -> str:
        """Return the text of an operand with its type: vector ``k`` of a value, or a constant."""
        return f"{self.vector(kind)} {self._value(x, kind, k)}"

    def lines(self, number: int) -> list[str]:
        """Return the lines that compute all vectors of the value with a number."""
        node = self.flow.nodes[number - self.nin]
        count = 1 if number in self.alike else self.count
        each = [self._lines(node, self.name(number, k), k) for k in range(count)]
        return [line for together in zip(*each, strict=True) for line in together]

    def name(self, number: int, k: int) -> str:
        """Return the name of vector ``k`` of the value with a number."""
        return f"%v{number}" if number in self.alike else f"%v{number}_{k}"

    def _value(self, x: Operand, kind: str, k: int) -> str:
        return self.name(x, k) if isinstance(x, int) else f"splat ({kind} {x})"

    def _lines(self, node: Node, name: str, k: int) -> list[str]:
        symbol = callee(node, self.lanes) if node.name[0] == "@" else None
        if symbol not in SYMBOLS:
            return [f"{name} = {self._operation(node, k)}"]
        values = [self._value(x, t, k) for x, t in zip(node.operands, node.types, strict=True)]
        result = written(symbol, values, f"{name}.", self.declarations)
        return [line.replace(f"{result.name} =", f"{name} =") for line in result.text.lines]

    def _operation(self, node: Node, k: int) -> str:
        pairs = list(zip(node.operands, node.types, strict=True))
        if node.name[0] == "@":
            return self._call(node, ", ".join(self.operand(x, kind, k) for x, kind in pairs))
        if node.name == "select":
            return "select " + ", ".join(self.operand(x, kind, k) for x, kind in pairs)
        (x, kind), *rest = pairs
        text = ", ".join([self.operand(x, kind, k), *(self._value(y, t, k) for y, t in rest)])
        casts = node.name.partition(" ")[0] in _CASTS
        return f"{node.name} {text} to {self.vector(node.to)}" if casts else f"{node.name} {text}"

    def _call(self, node: Node, operands: str) -> str:
        kinds = [self.vector(kind) for kind in node.types]
        result, function = self.vector(node.to), str(callee(node, self.lanes))
        self.declarations.add(result, function, kinds, "nounwind willreturn memory(none)")
        return f"call {result} @{function}({operands})"


_CASTS = frozenset(("zext", "sext", "trunc", "fpext", "fptrunc", "sitofp", "uitofp", "bitcast"))
