"""Intrinsics that copy elements a few places apart a vector at a time, such as coordinates.

An array of points has the coordinates of a point side by side, so that each coordinate alone is
strided. Moving elements one by one takes as long as computing with them. Here vectors are loaded
and stored whole, and their elements are put in order in registers.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from ..compile.intrinsics import intrinsic

VECTOR = 64
"""The bytes of a vector of elements that are side by side."""

MOST_APART = 4
"""Elements further apart are moved one by one, as most of what a vector load reads is not used."""


@intrinsic
def pick(typingctx, target, source, vectors, itemsize, every):
    """Copy each ``every``-th element from ``source`` on, until some vectors at ``target`` are full.

    All that lies before the element after the last one is read too. Elements have 4 or 8 bytes, and
    are 2 to `MOST_APART` places apart.
    """

    def codegen(context, builder, signature, args):
        target, source, vectors, itemsize, every = args
        for kind, apart in _cases(builder, itemsize, every):
            order = [n * apart for n in range(kind.count)]
            with cgutils.for_range(builder, vectors) as loop:
                at = _after(builder, source, loop.index, apart * VECTOR)
                wide = _load(builder, at, ir.VectorType(kind.element, kind.count * apart))
                to = _after(builder, target, loop.index, VECTOR)
                _store(builder, _shuffled(builder, wide, wide, order), to)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), codegen


@intrinsic
def weave(typingctx, target, source, distance, vectors, itemsize, every):
    """Write the elements of ``every`` arrays to ``target``: the first of each, the second, ...

    The arrays are read from ``source`` on, ``distance`` bytes apart, and have some whole vectors.
    """

    def codegen(context, builder, signature, args):
        target, source, distance, vectors, itemsize, every = args
        for kind, count in _cases(builder, itemsize, every):
            order = [k * kind.count + n for n in range(kind.count) for k in range(count)]
            with cgutils.for_range(builder, vectors) as loop:
                at = _after(builder, source, loop.index, VECTOR)
                parts = []
                for _ in range(count):
                    parts.append(_load(builder, at, kind))
                    at = builder.add(at, distance)
                joined = _joined(builder, parts)
                to = _after(builder, target, loop.index, count * VECTOR)
                _store(builder, _shuffled(builder, joined, joined, order), to)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), codegen


@intrinsic
def repeat(typingctx, target, source, step, rows, size, itemsize):
    """Fill rows of ``size`` bytes side by side at ``target``, each with an element of its own.

    The elements of 4 or 8 bytes are ``step`` bytes apart. Vectors are stored whole: up to `VECTOR`
    bytes behind the last row are overwritten too.
    """

    def codegen(context, builder, signature, args):
        target, source, step, rows, size, itemsize = args
        zero, vector = ir.Constant(size.type, 0), ir.Constant(size.type, VECTOR)
        for width in (4, 8):
            kind = ir.VectorType(ir.IntType(8 * width), VECTOR // width)
            found = builder.icmp_signed("==", itemsize, ir.Constant(size.type, width))
            with builder.if_then(found), cgutils.for_range(builder, rows) as row:
                at = builder.add(source, builder.mul(row.index, step))
                element = builder.load(builder.inttoptr(at, kind.element.as_pointer()))
                one = builder.insert_element(ir.Constant(kind, ir.Undefined), element, zero)
                whole = _shuffled(builder, one, one, [0] * kind.count)
                to = builder.add(target, builder.mul(row.index, size))
                with cgutils.for_range_slice(builder, zero, size, vector) as (start, _):
                    _store(builder, whole, builder.add(to, start))
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), codegen


def _after(builder: Any, address: Any, index: Any, size: int) -> Any:
    """Emit the address that is ``index`` times ``size`` bytes after another one."""
    return builder.add(address, builder.mul(index, ir.Constant(index.type, size)))


def _cases(builder: Any, itemsize: Any, every: Any) -> Iterator[tuple[Any, int]]:
    """Yield the type of a vector and a distance of its elements, each in code for this case only.
    """
    for size in (4, 8):
        kind = ir.VectorType(ir.IntType(8 * size), VECTOR // size)
        for apart in range(2, MOST_APART + 1):
            found = [(itemsize, size), (every, apart)]
            equal = [builder.icmp_signed("==", x, ir.Constant(x.type, n)) for x, n in found]
            with builder.if_then(builder.and_(*equal)):
                yield kind, apart


def _joined(builder: Any, parts: Sequence[Any]) -> Any:
    """Return the concatenation of vectors of one type."""
    size, joined = parts[0].type.count, parts[0]
    for number, part in enumerate(parts[1:], 1):
        wide = _shuffled(builder, part, part, [*range(size)] + [0] * (size * (number - 1)))
        length = size * number
        joined = _shuffled(builder, joined, wide, range(length + size))
    return joined


def _shuffled(builder: Any, a: Any, b: Any, order: Sequence[int]) -> Any:
    kind = ir.VectorType(ir.IntType(32), len(order))
    return builder.shuffle_vector(a, b, ir.Constant(kind, [*order]))


def _load(builder: Any, address: Any, kind: Any) -> Any:
    value = builder.load(builder.inttoptr(address, kind.as_pointer()))
    value.align = kind.element.width // 8
    return value


def _store(builder: Any, value: Any, address: Any) -> None:
    kept = builder.store(value, builder.inttoptr(address, value.type.as_pointer()))
    kept.align = value.type.element.width // 8
