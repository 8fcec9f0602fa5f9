"""LLVM code of reductions by halves, see `numgrad.ir.pairwise`, for whole vectors.

A leaf is 32 elements that follow one another, and a group 16 leaves; a block is up to two groups.
Each step joins the second half of what is left of a leaf to the first half. The leaves of a group
are reduced together. Suppose that two vectors hold equally many elements of each of some leaves.
One shuffle collects the first half of each leaf's elements from both vectors, another shuffle the
second halves, and the two results are joined. So each step joins whole vectors, though a leaf has
fewer and fewer elements left.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from numgrad.ir import pairwise

from .combine import INT32, INT64, JoinOperation, among_first, load

WIDTH = pairwise.LEAF // 2
GROUP = WIDTH * pairwise.LEAF
SHORT = (8, 16)  # numbers of elements up to which a leaf is one short vector
FEW = (2, 4, 8)  # numbers of leaves for which there is code of its own
CHAINS = 4  # independent chains of extrema in any order: within a chain each step waits


class BlockReduction:
    """Emits the functions that reduce elements of one type.

    Parameters
    ----------
    builder : ir.IRBuilder
        The builder of the function that calls the emitted ones.
    name : str
        The reduction: ``sum``, ``max`` or ``min``.
    real : ir.Type
        The type of an element, or of each part of a complex element.
    parts : int
        How many numbers an element has: 2 if it is complex, else 1.
    joining : JoinOperation
        The operations that join elements; extrema are joined in any order, unless a NaN or a zero
        makes the order matter.
    """

    def __init__(
        self, builder: ir.IRBuilder, name: str, real: ir.Type, parts: int, joining: JoinOperation
    ) -> None:
        self.builder, self.real, self.parts, self.joining = builder, real, parts, joining
        self.join = joining.join
        self.prefix = f"numgrad_halves_{name}_{real}_{parts}_"
        self.kind = ir.VectorType(real, WIDTH * parts)

    def function(self, name: str, result: ir.Type, emit: Any, inline: bool) -> ir.Function:
        """Return the function ``result name(data, size)`` of the module, emitted if it is new.

        ``emit(builder, data, size)`` writes the body.
        """
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
        """Return the function that reduces up to a block of elements to one."""
        return self.function("block", self.real_result(), self._emit_block, inline=False)

    def real_result(self) -> ir.Type:
        """Return the LLVM type of a result, which is one element: a vector of its parts."""
        return ir.VectorType(self.real, self.parts)

    def _emit_block(self, builder: ir.IRBuilder, data: ir.Value, size: ir.Value) -> None:
        """Emit the body of `block`: branches for few elements, then one or two groups."""
        full = self.function("full", self.kind, self._emit_full, inline=True)
        some = self.function("some", self.kind, self._emit_some, inline=False)
        for most in SHORT:
            with builder.if_then(builder.icmp_signed("<=", size, INT64(most))):
                kind = ir.VectorType(self.real, most * self.parts)
                value = load(builder, data, kind, *self._some(builder, 0, size, kind))
                builder.ret(self._last(builder, value))
        with builder.if_then(builder.icmp_signed("<=", size, INT64(pairwise.LEAF))):
            builder.ret(self._last(builder, self._leaf(builder, data, 0, size)))
        for count in FEW:
            with builder.if_then(builder.icmp_signed("<=", size, INT64(count * pairwise.LEAF))):
                a, b = (
                    self._leaves(builder, data, n, count // 2, size if n else None)
                    for n in (0, count // 2)
                )
                leaves = self._half(builder, a, b, 2 * WIDTH // count)
                builder.ret(self._last(builder, leaves, count))
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
        """Emit the reduction of a full group, of 512 elements, to one vector."""
        self._emit_group(builder, data, size, None)

    def _emit_some(self, builder: ir.IRBuilder, data: ir.Value, size: ir.Value) -> None:
        """Emit the reduction of ``size`` elements, fewer than a full group has, to one vector."""
        self._emit_group(builder, data, size, size)

    def _emit_group(
        self, builder: ir.IRBuilder, data: ir.Value, size: ir.Value, present: Any
    ) -> None:
        """Emit the reduction of a group that has ``present`` elements, or is full if that is None.

        Extrema are joined in any order first, and by halves only if their bits depend on the order.
        """
        if self.joining.is_sum:
            builder.ret(self._leaves(builder, data, 0, WIDTH, present))
            return
        total, doubt = self._any_order(builder, data, present)
        with builder.if_then(doubt, likely=False):
            ordered = self.function("ordered", self.kind, self._emit_ordered, inline=False)
            builder.ret(builder.call(ordered, [data, size]))
        builder.ret(total)

    def _emit_ordered(self, builder: ir.IRBuilder, data: ir.Value, size: ir.Value) -> None:
        """Emit the reduction by halves of the first group of ``size`` elements."""
        builder.ret(self._leaves(builder, data, 0, WIDTH, size))

    def _any_order(
        self, builder: ir.IRBuilder, data: ir.Value, size: Any
    ) -> tuple[ir.Value, ir.Value]:
        """Return a vector that has the extremum of a group, and whether order matters.

        The order matters if there is a NaN, or if a zero may be the extremum: the sign of a zero
        and the payload of a NaN depend on it. If ``size`` is given, there are no elements from that
        number on.
        """
        join = self.joining.plain
        totals: list[Any] = []
        doubts: Any = None
        for number in range(WIDTH):
            start = number * pairwise.LEAF
            a, b = (self._load(builder, data, n, size) for n in (start, start + WIDTH))
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

    def _leaves(
        self, builder: ir.IRBuilder, data: ir.Value, first: int, count: int, size: Any
    ) -> ir.Value:
        """Reduce ``count`` leaves from number ``first`` on to a vector with an equal part for each.

        If ``size`` is given, there are no elements from that number on.
        """
        if count == 1:
            return self._leaf(builder, data, first, size)
        half = count // 2
        a = self._leaves(builder, data, first, half, size)
        b = self._leaves(builder, data, first + half, half, size)
        return self._half(builder, a, b, 2 * WIDTH // count)

    def _leaf(self, builder: ir.IRBuilder, data: ir.Value, number: int, size: Any) -> ir.Value:
        """Join the second half of the leaf with this number to its first half.

        If ``size`` is given, there are no elements from that number on.
        """
        first = number * pairwise.LEAF
        halves = [self._load(builder, data, start, size) for start in (first, first + WIDTH)]
        return self.join(builder, *halves)

    def _load(self, builder: ir.IRBuilder, data: ir.Value, start: int, size: Any) -> ir.Value:
        place = builder.gep(data, [INT64(start * self.parts)])
        return load(builder, place, self.kind, *self._some(builder, start, size, self.kind))

    def _some(self, builder: ir.IRBuilder, start: int, size: Any, kind: Any) -> tuple[Any, ...]:
        """Return the mask and the neutral numbers for a masked load of elements below ``size``.

        The neutral numbers stand for the elements that are not loaded. Without ``size`` all
        elements are loaded, and the tuple is empty.
        """
        if size is None:
            return ()
        count = kind.count
        numbers = [start + n // self.parts for n in range(count)]
        neutral = ir.Constant(kind, [self.joining.neutral] * count)
        return among_first(builder, size, numbers), neutral

    def _last(self, builder: ir.IRBuilder, value: Any, leaves: int = 1) -> ir.Value:
        """Reduce a vector, of which each of ``leaves`` leaves has an equal part, to one element."""
        for each in (value.type.count // self.parts // leaves, leaves):
            width = each
            while width > 1:
                value = self._half(builder, value, None, width)
                width //= 2
        return value

    def _half(self, builder: ir.IRBuilder, a: Any, b: Any, width: int) -> ir.Value:
        """Cut vectors into pieces of ``width`` elements; join the second half of each to its first.

        The elements of ``b``, unless that is None, follow those of ``a``.
        """
        count = a.type.count // self.parts * (1 if b is None else 2)
        low = [s + n for s in range(0, count, width) for n in range(width // 2)]
        halves = (low, [n + width // 2 for n in low])
        return self.join(builder, *[self._shuffle(builder, a, b or a, half) for half in halves])

    def _shuffle(
        self, builder: ir.IRBuilder, a: ir.Value, b: ir.Value, elements: Sequence[int]
    ) -> ir.Value:
        """Return a vector of the elements of ``a`` and ``b`` that have the numbers ``elements``.

        The elements of ``b`` are numbered after those of ``a``.
        """
        parts = range(self.parts)
        numbers = [n * self.parts + part for n in elements for part in parts]
        kind = ir.VectorType(INT32, len(numbers))
        return builder.shuffle_vector(a, b, ir.Constant(kind, numbers))
