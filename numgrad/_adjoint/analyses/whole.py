"""Arrays that the tape keeps as a whole at the end of a step, because loops in the step load their
elements again and again, as in products of matrices; else the tape would keep each loaded element.
"""

from ..ssa.ir import Classes, Op, Region, Value
from ..ssa.ranges import affine
from .dependence import Dependence

_NEAR = 4  # elements at the ends of an axis that loops may leave out


def _is_in_one_piece(array: Value) -> bool:
    """Whether an array is an argument, made by the kernel, or carried by a loop from such arrays.
    """
    if array.op is not None:
        return array.op.name in ("alloc", "copy")
    owner = array.region.owner
    inits = owner.inits if owner is not None else []
    return all(_is_in_one_piece(init) for init in inits if init.type.is_array)


class Whole:
    """Answers which arrays the tape keeps as a whole.

    Parameters
    ----------
    body : Region
        That of the program.
    classes : Classes
    dependence : Dependence
    lost : set of Value
        The classes of arrays that are not there any more in the reverse sweep.
    is_on : bool
    """

    def __init__(
        self, body: Region, classes: Classes, dependence: Dependence, lost: set[Value],
        is_on: bool,
    ) -> None:  # fmt: skip
        self.classes, self.dependence = classes, dependence
        self._lost, self.is_on = lost, is_on
        self._found: dict[Op, Region | None] = {}
        self._equal: dict[Value, Value] = {}  # lengths that the program checks to be equal
        for op in body.walk():
            if op.name == "check" and (one := self._of(op.args[0])) is not self._of(op.args[1]):
                self._equal[one] = self._of(op.args[1])

    def _of(self, length: Value) -> Value:
        while length in self._equal:
            length = self._equal[length]
        return length

    def region_of(self, load: Op) -> Region | None:
        """Return the body of the loop at the ends of whose steps the array of a load is kept; None
        for an array that is not kept."""
        if load not in self._found:
            self._found[load] = self._sought(load) if self.is_on else None
        return self._found[load]

    def _sought(self, load: Op) -> Region | None:
        array = load.array
        is_made = array.op is not None and array.op.name in ("alloc", "copy")
        is_there = self.classes.of(array) not in self._lost and _is_in_one_piece(array)
        if array.type.dtype != "float64" or not (is_made or is_there):
            return None
        _, *around = [region for region in load.region.ancestors() if region.is_loop]
        found, levels = None, 0
        for level, region in enumerate(around, 1):
            if not region.is_within(array.region) or not self.dependence.is_steady(load, region):
                break
            found, levels = region, level
        if found is None or levels < 2 or not self._is_run_through(load, found):
            return None
        return found

    def _is_run_through(self, load: Op, region: Region) -> bool:
        """Whether loops in a region visit nearly all elements of an array."""
        axes = enumerate(load.index)
        return all(self._runs_along(load.array, axis, index, region) for axis, index in axes)

    def _runs_along(self, array: Value, axis: int, index: Value, region: Region) -> bool:
        base, _ = affine(index)
        owner = base.region.owner if base is not None else None
        if base is None or owner is None or base is not base.region.index:
            return False
        if base.region is region or not base.region.is_within(region):
            return False
        start, stop, step = owner.bounds
        if step.constant not in (1, -1):
            return False
        low, high = (start, stop) if step.constant == 1 else (stop, start)
        first, (last, offset) = affine(low), affine(high)
        is_from_start = first[0] is None and first[1] <= _NEAR
        return is_from_start and offset >= -_NEAR and self._is_length(last, offset, array, axis)

    def _is_length(self, value: Value | None, offset: int, array: Value, axis: int) -> bool:
        """Whether a value is the length of an axis of an array."""
        op = array.op
        length = op.info["extents"][axis] if op is not None and "extents" in op.info else None
        if value is None:
            return length is not None and length.constant is not None and length.constant <= offset + _NEAR  # noqa: E501
        is_shape = value.op is not None and value.op.name == "shape"
        if is_shape and value.op.args[0] is array:  # type: ignore[union-attr]
            return value.op.info["axis"] == axis  # type: ignore[union-attr]
        if length is not None:
            return self._of(value) is self._of(length)
        owner = array.region.owner
        if not array.is_phi or owner is None:
            return False
        return self._is_length(value, offset, owner.inits[array.region.phis.index(array)], axis)
