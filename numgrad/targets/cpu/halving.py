"""LLVM code of reductions by halves, see `numgrad._declare.halving`, for whole vectors.

Sixteen leaves are reduced together: where two vectors have a number of each of some leaves left, a
shuffle puts the first halves of both into one vector and the second halves into another. So each
step joins as many numbers as a vector has, though a leaf has fewer and fewer of them.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.imputils import impl_ret_borrowed
from numba.np.arrayobj import make_array, populate_array

from numgrad._declare import halving

from .intrinsics import intrinsic

WIDTH = halving.LEAF // 2
GROUP = WIDTH * halving.LEAF
CHAINS = 4  # of extrema in any order: each waits for what it has so far
INT32, INT64 = ir.IntType(32), ir.IntType(64)

Join = Callable[[ir.IRBuilder, Any, Any], Any]


def _sum(builder: ir.IRBuilder, a: Any, b: Any) -> Any:
    return builder.fadd(a, b)


def _plain(comparison: str) -> Join:
    """The larger or smaller one by one instruction, which has the second where one is NaN."""

    def join(builder: ir.IRBuilder, a: Any, b: Any) -> Any:
        return builder.select(builder.fcmp_ordered(comparison, a, b), a, b)

    return join


def _extremum(comparison: str) -> Join:
    """The larger or smaller one, or the NaN among the two."""

    def join(builder: ir.IRBuilder, a: Any, b: Any) -> Any:
        chosen = _plain(comparison)(builder, a, b)
        return builder.select(builder.fcmp_unordered("uno", a, a), a, chosen)

    return join


class Halves:
    """Writes the functions that reduce elements of one type.

    Parameters
    ----------
    builder : ir.IRBuilder
        Where they are called.
    name : str
        Of the reduction.
    real : ir.Type
        Of an element, or of its two parts.
    parts : int
        Of an element.
    join : callable
        Writes how two vectors are joined.
    neutral : float
        What stands for elements that a leaf lacks.
    quick : callable, optional
        Joins vectors in any order, where that is the same unless a NaN or a zero comes of it.
    """

    def __init__(
        self, builder: ir.IRBuilder, name: str, real: ir.Type, parts: int, join: Join,
        neutral: float, quick: Join | None,
    ) -> None:  # fmt: skip
        self.quick = quick
        self.builder, self.real, self.parts, self.join = builder, real, parts, join
        self.prefix = f"numgrad_halves_{name}_{real}_{parts}_"
        self.kind = ir.VectorType(real, WIDTH * parts)
        self.neutral = ir.Constant(self.kind, [neutral] * self.kind.count)

    def function(self, name: str, result: ir.Type, emit: Any, inline: bool) -> ir.Function:
        """Return the function ``result name(data, size)`` of the module, written if it is new."""
        module = self.builder.module
        found = module.globals.get(self.prefix + name)
        if found is None:
            kind = ir.FunctionType(result, [self.real.as_pointer(), INT64])
            found = ir.Function(module, kind, self.prefix + name)
            found.linkage = "linkonce_odr"
            found.attributes.add("alwaysinline" if inline else "noinline")
            emit(ir.IRBuilder(found.append_basic_block("entry")), *found.args)
        return found

    def block(self) -> ir.Function:
        """The function that reduces up to a block of elements."""
        return self.function("block", self.real_result(), self._emit_block, inline=False)

    def real_result(self) -> ir.Type:
        """Type of an element as a vector of its parts."""
        return ir.VectorType(self.real, self.parts)

    def _emit_block(self, builder: ir.IRBuilder, data: ir.Value, size: ir.Value) -> None:
        full = self.function("full", self.kind, self._emit_full, inline=True)
        some = self.function("some", self.kind, self._emit_some, inline=False)
        with builder.if_then(builder.icmp_signed("<=", size, INT64(halving.LEAF))):
            builder.ret(self._last(builder, self._leaf(builder, data, 0, size)))
        with builder.if_then(builder.icmp_signed("<", size, INT64(GROUP))):
            builder.ret(self._last(builder, builder.call(some, [data, size])))
        first = builder.call(full, [data, size])
        behind = builder.gep(data, [INT64(GROUP * self.parts)])
        rest = builder.sub(size, INT64(GROUP))
        with builder.if_then(builder.icmp_signed("==", rest, INT64(0))):
            builder.ret(self._last(builder, first))
        with builder.if_then(builder.icmp_signed("<", rest, INT64(GROUP))):
            second = builder.call(some, [behind, rest])
            builder.ret(self._last(builder, self.join(builder, first, second)))
        second = builder.call(full, [behind, rest])
        builder.ret(self._last(builder, self.join(builder, first, second)))

    def _emit_full(self, builder: ir.IRBuilder, data: ir.Value, size: ir.Value) -> None:
        if self.quick is None:
            builder.ret(self._leaves(builder, data, 0, WIDTH, None))
            return
        total, doubt = self._any_order(builder, data, self.quick)
        with builder.if_then(doubt, likely=False):
            ordered = self.function("ordered", self.kind, self._emit_ordered, inline=False)
            builder.ret(builder.call(ordered, [data, size]))
        builder.ret(total)

    def _emit_ordered(self, builder: ir.IRBuilder, data: ir.Value, size: ir.Value) -> None:
        builder.ret(self._leaves(builder, data, 0, WIDTH, None))

    def _any_order(
        self, builder: ir.IRBuilder, data: ir.Value, join: Join
    ) -> tuple[ir.Value, ir.Value]:
        """Return a vector of which one element is the extremum of a group, and whether there is a
        NaN, or a zero that may be the extremum: signs and payloads depend on the order."""
        totals: list[Any] = []
        doubts: Any = None
        for number in range(WIDTH):
            start = number * halving.LEAF
            a, b = (self._load(builder, data, n, None) for n in (start, start + WIDTH))
            nan = builder.fcmp_unordered("uno", a, b)
            doubts = nan if doubts is None else builder.or_(doubts, nan)
            totals.append(join(builder, a, b))
            if number >= CHAINS:
                totals.append(join(builder, totals.pop(0), totals.pop()))
        while len(totals) > 1:
            totals.append(join(builder, totals.pop(0), totals.pop(0)))
        zeros = ir.Constant(self.kind, [0.0] * self.kind.count)
        doubts = builder.or_(doubts, builder.fcmp_ordered("==", totals[0], zeros))
        kind = ir.IntType(self.kind.count)
        doubt = builder.icmp_unsigned("!=", builder.bitcast(doubts, kind), ir.Constant(kind, 0))
        return totals[0], doubt

    def _emit_some(self, builder: ir.IRBuilder, data: ir.Value, size: ir.Value) -> None:
        builder.ret(self._leaves(builder, data, 0, WIDTH, size))

    def _leaves(
        self, builder: ir.IRBuilder, data: ir.Value, first: int, count: int, size: Any
    ) -> ir.Value:
        """Reduce some leaves to one vector, of which each has an equal part."""
        if count == 1:
            return self._leaf(builder, data, first, size)
        half = count // 2
        a = self._leaves(builder, data, first, half, size)
        b = self._leaves(builder, data, first + half, half, size)
        width = 2 * WIDTH // count  # numbers that each leaf has left
        starts = range(0, 2 * WIDTH, width)
        low = [s + n for s in starts for n in range(width // 2)]
        high = [n + width // 2 for n in low]
        return self.join(
            builder, self._shuffle(builder, a, b, low), self._shuffle(builder, a, b, high)
        )

    def _leaf(self, builder: ir.IRBuilder, data: ir.Value, number: int, size: Any) -> ir.Value:
        """Join the halves of a leaf; of less than ``size`` elements if that is given."""
        first = number * halving.LEAF
        halves = [self._load(builder, data, start, size) for start in (first, first + WIDTH)]
        return self.join(builder, *halves)

    def _load(self, builder: ir.IRBuilder, data: ir.Value, start: int, size: Any) -> ir.Value:
        place = builder.gep(data, [INT64(start * self.parts)])
        place = builder.bitcast(place, self.kind.as_pointer())
        align = 8 if isinstance(self.real, ir.DoubleType) else 4
        if size is None:
            value: Any = builder.load(place)
            value.align = align
            return value
        mask = ir.VectorType(ir.IntType(1), self.kind.count)
        signature = ir.FunctionType(
            self.kind, [self.kind.as_pointer(), INT32, mask, self.kind]
        )
        letter = "f64" if align == 8 else "f32"
        name = f"llvm.masked.load.v{self.kind.count}{letter}.p0"
        module = builder.module
        load = module.globals.get(name) or ir.Function(module, signature, name)
        return builder.call(
            load, [place, INT32(align), self._mask(builder, start, size), self.neutral]
        )

    def _mask(self, builder: ir.IRBuilder, start: int, size: ir.Value) -> ir.Value:
        """Tell which of a vector's elements are among the first ``size``."""
        kind = ir.VectorType(INT32, self.kind.count)
        numbers = [start + n // self.parts for n in range(kind.count)]
        many = builder.insert_element(
            ir.Constant(kind, ir.Undefined), builder.trunc(size, INT32), INT32(0)
        )
        zeros = ir.Constant(kind, [0] * kind.count)
        many = builder.shuffle_vector(many, ir.Constant(kind, ir.Undefined), zeros)
        return builder.icmp_signed("<", ir.Constant(kind, numbers), many)

    def _last(self, builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
        """Reduce a vector to one element."""
        half = WIDTH // 2
        while half:
            low, high = range(half), range(half, 2 * half)
            value = self.join(
                builder,
                self._shuffle(builder, value, value, low),
                self._shuffle(builder, value, value, high),
            )
            half //= 2
        return value

    def _shuffle(
        self, builder: ir.IRBuilder, a: ir.Value, b: ir.Value, elements: Sequence[int]
    ) -> ir.Value:
        """Return a vector of elements of two, which are numbered through."""
        parts = range(self.parts)
        numbers = [n * self.parts + part for n in elements for part in parts]
        kind = ir.VectorType(INT32, len(numbers))
        return builder.shuffle_vector(a, b, ir.Constant(kind, numbers))


def _reduction(name: str, comparison: str = "", neutral: float = 0.0) -> Any:
    """Return the intrinsic of a reduction by halves: an extremum by a comparison, or the sum."""

    def typing(typingctx, x, start, stop):
        dtype: Any = x.dtype
        is_complex = isinstance(dtype, types.Complex)
        if not isinstance(dtype, types.Float) and (comparison or not is_complex):
            raise TypingError(f"{name} is not defined for {x}")

        def codegen(context, builder, signature, args):
            data = make_array(x)(context, builder, args[0]).data
            first, size = builder.gep(data, [args[1]]), builder.sub(args[2], args[1])
            parts = 2 if is_complex else 1
            real = context.get_value_type(getattr(dtype, "underlying_float", dtype))
            join = _extremum(comparison) if comparison else _sum
            quick = _plain(comparison) if comparison else None
            block = Halves(builder, name, real, parts, join, neutral, quick).block()
            value = builder.call(block, [builder.bitcast(first, real.as_pointer()), size])
            found = [builder.extract_element(value, INT32(n)) for n in range(parts)]
            if not is_complex:
                return found[0]
            number = context.make_complex(builder, dtype)
            number.real, number.imag = found
            return number._getvalue()

        return dtype(x, types.uint64, types.uint64), codegen

    typing.__name__ = typing.__qualname__ = name
    decorate: Any = intrinsic
    return decorate(typing)


@intrinsic
def _flat(typingctx: Any, x: Any) -> Any:
    """All elements of a matrix; Numba's own way to say so takes a third of a second to compile."""
    row = types.Array(x.dtype, 1, "C")

    def codegen(context, builder, signature, args):
        matrix = make_array(x)(context, builder, args[0])
        found: Any = make_array(row)(context, builder)
        size = builder.mul(*cgutils.unpack_tuple(builder, matrix.shape, 2))
        populate_array(
            found, data=matrix.data, shape=[size], strides=[matrix.itemsize],
            itemsize=matrix.itemsize, meminfo=matrix.meminfo,
        )  # fmt: skip
        return impl_ret_borrowed(context, builder, row, found._getvalue())

    return row(x), codegen


STAND_INS = {
    halving.flat: _flat,
    halving.halved_sum: _reduction("halved_sum"),
    halving.halved_max: _reduction("halved_max", ">", float("-inf")),
    halving.halved_min: _reduction("halved_min", "<", float("inf")),
}
"""What kernels call instead of functions of `numgrad._declare.halving`."""
