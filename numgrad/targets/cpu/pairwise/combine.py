"""LLVM code that joins vectors of numbers, and the results of blocks, for each reduction."""

from typing import Any

from llvmlite import ir

INT32, INT64 = ir.IntType(32), ir.IntType(64)


class JoinOperation:
    """Emits the operations by which a reduction joins numbers, or vectors of numbers.

    Parameters
    ----------
    comparison : str, optional
        ``>`` for a maximum, ``<`` for a minimum; by default numbers are added.

    Attributes
    ----------
    neutral : float
        The number that leaves any other number unchanged when joined to it.
    """

    def __init__(self, comparison: str = "") -> None:
        self.comparison = comparison
        self.is_sum = not comparison
        self.neutral = {"": -0.0, ">": float("-inf"), "<": float("inf")}[comparison]

    def join(self, builder: ir.IRBuilder, a: Any, b: Any) -> Any:
        """Emit the sum of two numbers, or their extremum: NaN if one of them is NaN."""
        if self.is_sum:
            return builder.fadd(a, b)
        return builder.select(builder.fcmp_unordered("uno", a, a), a, self.plain(builder, a, b))

    def plain(self, builder: ir.IRBuilder, a: Any, b: Any) -> Any:
        """Emit the extremum by a single selection; if a number is NaN, the result is the second
        number."""
        return builder.select(builder.fcmp_ordered(self.comparison, a, b), a, b)

    def begin(self, builder: ir.IRBuilder, part: Any) -> tuple[Any, Any]:
        """Return the total and its rounding error after the first block.

        The error of a sum begins as 0, or as NaN if the sum is not finite; extrema have none.
        """
        if not self.is_sum:
            return part, part
        zero = ir.Constant(part.type, [0.0] * part.type.count)
        return builder.fadd(part, zero), builder.fsub(part, part)  # a sum is never -0

    def add(self, builder: ir.IRBuilder, total: Any, loss: Any, part: Any) -> tuple[Any, Any]:
        """Return the total and its rounding error after one more block.

        The rounding errors of a sum are added up too (Knuth's TwoSum).
        """
        if not self.is_sum:
            return self.join(builder, total, part), loss
        after = builder.fadd(total, part)
        back = builder.fsub(after, total)
        kept = builder.fsub(total, builder.fsub(after, back))
        lost = builder.fadd(kept, builder.fsub(part, back))
        return after, builder.fadd(loss, lost)

    def end(self, builder: ir.IRBuilder, total: Any, loss: Any) -> Any:
        """Return the result: the total, plus the rounding errors of a sum if they are finite."""
        if not self.is_sum:
            return total
        zero = ir.Constant(loss.type, [0.0] * loss.type.count)
        finite = builder.fcmp_ordered("==", builder.fsub(loss, loss), zero)
        return builder.select(finite, builder.fadd(total, loss), total)


JOININGS = {"sum": JoinOperation(), "max": JoinOperation(">"), "min": JoinOperation("<")}


def load(builder: ir.IRBuilder, place: Any, kind: Any, mask: Any = None, other: Any = None) -> Any:
    """Load a vector from the address of its first number; lanes outside a mask are ``other``."""
    place = builder.bitcast(place, kind.as_pointer())
    if mask is None:
        value: Any = builder.load(place)
        value.align = size_of(kind.element)
        return value
    signature = ir.FunctionType(kind, [place.type, INT32, mask.type, kind])
    name = f"llvm.masked.load.v{kind.count}f{8 * size_of(kind.element)}.p0"
    module = builder.module
    function = module.globals.get(name) or ir.Function(module, signature, name)
    return builder.call(function, [place, INT32(size_of(kind.element)), mask, other])


def store(builder: ir.IRBuilder, value: Any, place: Any) -> None:
    """Store a vector at the address of its first number."""
    stored: Any = builder.store(value, builder.bitcast(place, value.type.as_pointer()))
    stored.align = size_of(value.type.element)


def among_first(builder: ir.IRBuilder, size: Any, numbers: Any) -> Any:
    """Return the mask of a vector's lanes whose number is less than ``size``."""
    kind = ir.VectorType(INT32, len(numbers))
    undefined = ir.Constant(kind, ir.Undefined)
    many = builder.insert_element(undefined, builder.trunc(size, INT32), INT32(0))
    many = builder.shuffle_vector(many, undefined, ir.Constant(kind, [0] * len(numbers)))
    return builder.icmp_signed("<", ir.Constant(kind, list(numbers)), many)


def size_of(real: ir.Type) -> int:
    """Return the bytes of a number of a floating LLVM type."""
    return 8 if isinstance(real, ir.DoubleType) else 4
