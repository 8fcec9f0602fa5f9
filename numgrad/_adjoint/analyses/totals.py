"""Numbers that the steps of a loop only add to, or combine in a similar way."""

from collections import Counter

from ..ssa.ir import Region, Value

_ADDITIONS = ("add", "sub")
_REDUCTIONS = ("add", "sub", "mul", "truediv", "min", "max")
_ONE_SIDED = ("sub", "truediv")


def reduces(phi: Value, given: Value) -> bool:
    """Whether a step, which yields ``given``, only adds to a carried number, multiplies it, or
    takes the larger or the smaller one; also in loops and in branches within the step."""
    return _is_combined(phi, given, _REDUCTIONS)


def is_total(phi: Value, given: Value) -> bool:
    """Whether a step, which yields ``given``, only adds to a carried number, so that the cotangent
    of the number is the same in all steps."""
    return _is_combined(phi, given, _ADDITIONS)


def _is_combined(phi: Value, given: Value, names: tuple[str, ...]) -> bool:
    """Whether a step makes a value of a carried number by operations of the given names, and
    nothing else in the step reads the number or what becomes of it."""
    used: dict[tuple[Value, Value], int] = {}
    if not _passes(phi, given, names, used):
        return False
    counts = Counter[Value]()
    for (_, value), count in used.items():
        counts[value] += count
    return all(uses(value.region, value) == count for value, count in counts.items())


def _passes(
    phi: Value, value: Value, names: tuple[str, ...], used: dict[tuple[Value, Value], int]
) -> bool:
    """Whether a value is a carried number or made of it by operations of the given names; the uses
    of the values on the way are counted."""
    if (phi, value) in used:
        used[phi, value] += 1
        return True
    before = dict(used)
    used[phi, value] = 1
    if value is phi or _is_made(phi, value, names, used):
        return True
    used.clear()
    used.update(before)
    return False


def _is_made(
    phi: Value, value: Value, names: tuple[str, ...], used: dict[tuple[Value, Value], int]
) -> bool:
    op = value.op
    if op is None or op.name not in (*names, "if", "loop"):
        return False
    if op.name in names:
        args = op.args[:1] if op.name in _ONE_SIDED else op.args
        return any(_passes(phi, arg, names, used) for arg in args)
    place = op.results.index(value)
    if op.name == "if":
        return all(_passes(phi, inner.yields[place], names, used) for inner in op.regions)
    own, given = op.body.phis[place], op.body.yields[place]
    return _passes(phi, op.inits[place], names, used) and _passes(own, given, names, used)


def uses(region: Region, value: Value) -> int:
    """Return how often a region, and the regions in it, use a value."""
    count = sum(end is value for end in region.ends())
    for op in region.ops:
        count += sum(arg is value for arg in op.args)
        count += sum(uses(inner, value) for inner in op.regions)
    return count
