"""Loads whose element a later store may overwrite, found by direction vectors over the loops around
both; indices are bounded by loop variables and constants.

An index below 0 counts from the end, so that two indices are only compared where both are known to
be natural numbers.
"""

from ..builder.bases import are_exchanged
from ..ssa.ir import Classes, Op, Program, Region, Value
from ..ssa.ranges import Affine, is_natural, lower, upper

# How the iteration of a store relates to that of a load, in each common loop.
EQUAL, LATER, ANY = "=", "<", "*"


class Dependence:
    """Answers whether a load can be repeated at the end of a kernel with the same result.

    Parameters
    ----------
    program : Program
    classes : Classes
    is_on : bool
        Whether indices are compared; else any later store to the class counts.
    """

    def __init__(self, program: Program, classes: Classes, is_on: bool = True) -> None:
        self.classes, self.is_on = classes, is_on
        self._stores: dict[Value, list[Op]] = {}
        self._position: dict[Op, int] = {}
        for position, op in enumerate(program.body.walk()):
            self._position[op] = position
            if op.name in ("store", "accum"):
                self._stores.setdefault(classes.of(op.array), []).append(op)

    def is_overwritten(self, load: Op) -> bool:
        """Whether a later store may change the element that was loaded."""
        stores = self._stores.get(self.classes.of(load.array), [])
        return any(self._may_follow(load, store) for store in stores)

    def _may_follow(self, load: Op, store: Op) -> bool:
        loops = _common_loops(load.region, store.region)
        vectors = [[EQUAL] * n + [LATER] + [ANY] * (len(loops) - n - 1) for n in range(len(loops))]
        if self._is_after(store, load):
            vectors.append([EQUAL] * len(loops))
        return any(self.may_meet(load, store, dict(zip(loops, v, strict=True))) for v in vectors)

    def is_steady(self, load: Op, region: Region) -> bool:
        """Whether the loaded element is unchanged at the end of the iteration of a loop around the
        load; the loop is given by its body."""
        stores = self._stores.get(self.classes.of(load.array), [])
        return not any(self._follows_within(load, store, region) for store in stores)

    def _follows_within(self, load: Op, store: Op, region: Region) -> bool:
        loops = _common_loops(load.region, store.region)
        if region not in loops or are_exchanged(load.array, store.array):
            return False
        first = loops.index(region) + 1
        vectors = [
            [EQUAL] * n + [LATER] + [ANY] * (len(loops) - n - 1) for n in range(first, len(loops))
        ]
        if self._is_after(store, load):
            vectors.append([EQUAL] * len(loops))
        return any(self.may_meet(load, store, dict(zip(loops, v, strict=True))) for v in vectors)

    def _is_after(self, store: Op, load: Op) -> bool:
        """Whether a store follows a load in the same iteration of all common loops."""
        _, first, second = _meeting(load, store)
        if first is second:  # the branches of one `if`, of which one is taken
            return False
        return self._position[second] > self._position[first]

    def may_meet(self, load: Op, store: Op, directions: dict[Region, str]) -> bool:
        """Whether a load and a store may be of the same element, in iterations with these
        directions."""
        if not self.is_on or load.array is not store.array:
            return True
        if not _is_fixed(load.array.region, directions):
            return True
        pairs = zip(load.index, store.index, strict=True)
        return not any(_are_apart(a, b, directions) for a, b in pairs)


def _common_loops(one: Region, other: Region) -> list[Region]:
    """Return the bodies of the loops around both operations, outermost first."""
    around = [region for region in one.ancestors() if region.is_loop and other.is_within(region)]
    return around[::-1]


def _meeting(one: Op, other: Op) -> tuple[Region, Op, Op]:
    """Return the innermost region that contains both operations, and the two operations of this
    region that contain them."""
    chain = {op.region: op for op in _owners(one)}
    for op in _owners(other):
        if op.region in chain:
            return op.region, chain[op.region], op
    raise AssertionError("operations of different programs")


def _owners(op: Op) -> list[Op]:
    found = [op]
    while found[-1].region.owner is not None:
        found.append(found[-1].region.owner)
    return found


def _is_fixed(region: Region, directions: dict[Region, str]) -> bool:
    """Whether a value of a region is the same for the load and the store."""
    loops = [r for r in region.ancestors() if r.is_loop]
    return all(directions.get(loop) == EQUAL for loop in loops)


def _are_apart(load: Value, store: Value, directions: dict[Region, str]) -> bool:
    """Whether two indices surely differ."""
    if not (is_natural(load) and is_natural(store)):
        return False
    below = _is_below(upper(load), lower(store), directions)
    return below or _is_above(lower(load), upper(store), directions)


def _is_below(loads: list[Affine], stores: list[Affine], directions: dict[Region, str]) -> bool:
    for base, most in loads:
        for other, least in stores:
            if (
                base is other
                and (gap := _gap(base, directions, 1)) is not None
                and most < gap + least
            ):
                return True
    return False


def _is_above(loads: list[Affine], stores: list[Affine], directions: dict[Region, str]) -> bool:
    for base, least in loads:
        for other, most in stores:
            if (
                base is other
                and (gap := _gap(base, directions, -1)) is not None
                and least > most - gap
            ):
                return True
    return False


def _gap(base: Value | None, directions: dict[Region, str], sign: int) -> int | None:
    """Return by how much a value surely grows from the load to the store (or falls, for the sign
    -1)."""
    if base is None:
        return 0
    if _is_fixed(base.region, directions):
        return 0
    region = base.region
    if region.index is not base or directions.get(region) != LATER:
        return None
    outer = [r for r in region.ancestors() if r.is_loop and r is not region]
    if any(directions.get(r) != EQUAL for r in outer):
        return None
    assert region.owner is not None
    step = region.owner.bounds[2].constant
    if not isinstance(step, int) or step * sign <= 0:
        return None
    return abs(step)
