"""Padded values: where elements are once there is room at the ends of rings."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from .expand import Leaf
from .graph import Shape
from .program import contiguous_strides

LINE = 64


class Axis(NamedTuple):
    """A ring along an axis of a value, and how far readers go beyond its ends."""

    stride: int
    length: int
    width: int


class Padded:
    """How values of one size lie in memory with room at the ends of their rings.

    Attributes
    ----------
    shape, dense : tuple of int
        Axes such that each ring is one of them, and their strides without that room.
    widths : tuple of int
        The elements beyond each end of each axis.
    strides : tuple of int
        Of the axes, with that room.
    origin, nbytes : int
        Where the first element is, and the size of the whole.
    """

    def __init__(self, nbytes: int, itemsize: int, axes: Sequence[Axis]) -> None:
        rings = sorted(axes, key=lambda axis: -axis.stride)
        self._ring_strides = {axis.stride for axis in rings}
        shape, widths, rest = [], [], nbytes
        for axis in rings:
            shape += [rest // (axis.length * axis.stride), axis.length]
            widths += [0, axis.width]
            rest = axis.stride
        shape.append(rest // itemsize)
        self.shape, self.widths = tuple(shape), (*widths, 0)
        self.dense = contiguous_strides(self.shape, itemsize)
        room = [self._room(a) for a in range(len(shape))]
        padded = tuple([n + 2 * r for n, r in zip(shape, room, strict=True)])
        self.strides = contiguous_strides(padded, itemsize)
        self.origin = sum([r * s for r, s in zip(room, self.strides, strict=True)])
        self.nbytes = prod(padded) * itemsize
        self._places: dict[tuple[int, Shape, Shape, Shape], tuple[int, Shape] | None] = {}

    def _room(self, axis: int) -> int:
        """Return the elements before and after an axis: whole cache lines if it is the last."""
        width = self.widths[axis]
        inner = self.dense[axis]
        if width == 0 or inner >= LINE:
            return width
        return -(-width * inner // LINE) * LINE // inner

    def place(self, leaf: Leaf, loop: Shape) -> tuple[int, Shape] | None:
        """Return the offset and the strides here of a view of a value; None if it is none. The
        stages of an integrator ask the same."""
        key = (leaf.offset, leaf.strides, leaf.turns, loop)
        if key not in self._places:
            self._places[key] = self._place(*key)
        return self._places[key]

    def _place(
        self, rest: int, walks: Shape, turns: Shape, loop: Shape
    ) -> tuple[int, Shape] | None:
        offset = self.origin
        digits = []
        for dense, stride in zip(self.dense, self.strides, strict=True):
            digit, rest = divmod(rest, dense)
            digits.append(digit)
            offset += digit * stride
        strides = []
        for a, stride in enumerate(walks):
            turn = turns[a] if turns else 0
            found = self._walk(stride, digits, loop[a]) if stride else 0
            if found is None or (turn and stride not in self._ring_strides):
                return None
            strides.append(found)
            offset += (turn if 2 * turn <= loop[a] else turn - loop[a]) * found
        return offset, tuple(strides)

    def _walk(self, stride: int, digits: list[int], count: int) -> int | None:
        """Return the stride here for one of the value, walked through within one axis, and move
        ``digits`` to the end of the walk: walks that share an axis must stay within it together."""
        for a, (size, dense) in enumerate(zip(self.shape, self.dense, strict=True)):
            if size > 1 and stride >= dense and stride % dense == 0:
                step = stride // dense
                digits[a] += (count - 1) * step
                return step * self.strides[a] if digits[a] < size else None
        return None
