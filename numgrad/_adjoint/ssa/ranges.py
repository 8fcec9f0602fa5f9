"""Bounds and signs of integers, as far as they are known; a bound is a value plus a constant."""

from .ir import Region, Value

Affine = tuple[Value | None, int]  # a value plus a constant; None for the constant alone

_DEPTH = 6


def affine(value: Value) -> Affine:
    """Return an integer as a pair: a value, and a constant that is added to it."""
    offset = 0
    while True:
        if value.constant is not None:
            return None, offset + int(value.constant)
        op = value.op
        if op is None or op.name not in ("add", "sub"):
            return value, offset
        first, second = op.args
        if second.constant is not None:
            offset += int(second.constant) * (1 if op.name == "add" else -1)
            value = first
        elif first.constant is not None and op.name == "add":
            offset += int(first.constant)
            value = second
        else:
            return value, offset


def _range_of(value: Value | None) -> tuple[Value, Value, int] | None:
    """Return the bounds and the step of the loop whose index a value is; None for other values."""
    owner = value.region.owner if value is not None and value.op is None else None
    if value is None or owner is None or value.region.index is not value:
        return None
    start, stop, step = owner.bounds
    if not isinstance(step.constant, int) or step.constant == 0:
        return None
    return start, stop, step.constant


def upper(value: Value, depth: int = _DEPTH) -> list[Affine]:
    """Return bounds that an integer does not exceed."""
    base, offset = affine(value)
    found: list[Affine] = [(base, offset)]
    if base is None or depth == 0:
        return found
    bounds = _range_of(base)
    if bounds:
        start, stop, step = bounds
        first, shift = (stop, offset - 1) if step > 0 else (start, offset)
        found += [(v, c + shift) for v, c in upper(first, depth - 1)]
    elif base.op is not None and base.op.name == "min":
        for arg in base.op.args:
            found += [(v, c + offset) for v, c in upper(arg, depth - 1)]
    return found


def lower(value: Value, depth: int = _DEPTH) -> list[Affine]:
    """Return bounds that an integer is not below."""
    base, offset = affine(value)
    found: list[Affine] = [(base, offset)]
    if base is None or depth == 0:
        return found
    bounds = _range_of(base)
    if bounds:
        start, stop, step = bounds
        first, shift = (start, offset) if step > 0 else (stop, offset + 1)
        found += [(v, c + shift) for v, c in lower(first, depth - 1)]
    elif base.op is not None and base.op.name in ("shape", "extent"):
        found.append((None, offset))
    elif base.op is not None and base.op.name == "max":
        for arg in base.op.args:
            found += [(v, c + offset) for v, c in lower(arg, depth - 1)]
    return found


def is_at_most(value: Value, limit: Value) -> bool:
    """Whether an integer does not exceed another one, for certain."""
    base, offset = affine(limit)
    return any(v is base and c <= offset for v, c in upper(value))


def is_natural(value: Value, depth: int = _DEPTH) -> bool:
    """Whether an integer is not negative, for certain."""
    if any(base is None and offset >= 0 for base, offset in lower(value)):
        return True
    op = value.op
    if op is None or depth == 0:
        return False
    if op.name in ("add", "mul", "floordiv"):
        return all(is_natural(arg, depth - 1) for arg in op.args)
    if op.name == "mod":  # has the sign of the divisor
        return is_natural(op.args[1], depth - 1)
    return op.name == "select" and all(is_natural(arg, depth - 1) for arg in op.args[1:])


def differs(one: Value, other: Value, regions: list[Region]) -> bool:
    """Whether two lengths differ, or the second one is computed from the first one, or from what is
    computed in one of several regions."""
    (base, more), (same, most) = _length(one), _length(other)
    if base is same:
        return more != most
    return _is_computed_from(other, base, regions)


def _length(value: Value) -> tuple[Value | None, int]:
    """Return a length as a sum of a value and a number."""
    if value.op is not None and value.op.name == "max" and value.op.args[1].constant == 0:
        return _length(value.op.args[0])
    return affine(value)


def _is_computed_from(value: Value, base: Value | None, regions: list[Region]) -> bool:
    """Whether an integer is computed from another one, or from numbers that regions compute."""
    if value.constant is not None:
        return False
    if value is base:
        return True
    op, is_inside = value.op, any(value.region.is_within(region) for region in regions)
    if op is None or op.regions or op.name in ("load", "shape"):
        return is_inside and (op is None or op.name != "shape")
    return any(_is_computed_from(arg, base, regions) for arg in op.args)
