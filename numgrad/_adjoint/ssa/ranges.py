"""Bounds and signs of integers, as far as they are known; a bound is a value plus a constant."""

import operator
import random
from collections.abc import Callable

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
    """Whether two lengths differ, or the second one depends on what is computed in one of several
    regions."""
    (base, more), (same, most) = _length(one), _length(other)
    if base is same:
        return more != most
    if _reaches(other, lambda value: _is_made_in(value, regions)):
        return True
    if base is None or not _reaches(other, lambda value: value is base):
        return False
    samples = [(random.Random(n), {}) for n in range(_SAMPLES)]
    return any(_sampled(one, *sample) != _sampled(other, *sample) for sample in samples)


def _length(value: Value) -> Affine:
    """Return a length as a sum of a value and a number."""
    if value.op is not None and value.op.name == "max" and value.op.args[1].constant == 0:
        return _length(value.op.args[0])
    return affine(value)


def _reaches(value: Value, is_sought: Callable[[Value], bool]) -> bool:
    """Whether an integer is computed from a value that is sought."""
    if value.constant is not None:
        return False
    if is_sought(value):
        return True
    is_end = value.op is None or value.op.regions or value.op.name in ("load", "shape")
    return not is_end and any(_reaches(arg, is_sought) for arg in value.op.args)  # type: ignore[union-attr]


def _is_made_in(value: Value, regions: list[Region]) -> bool:
    """Whether one of several regions makes a number that is computed from no other numbers."""
    if not any(value.region.is_within(region) for region in regions):
        return False
    return value.op is None or bool(value.op.regions) or value.op.name == "load"


def _sampled(value: Value, draws: random.Random, known: dict[Value, int]) -> int:
    """Return an integer where those that it is computed from are drawn at random, or are among the
    known ones."""
    if value.constant is not None:
        return int(value.constant)
    if value not in known:
        op, function = value.op, _ARITHMETIC.get(value.op.name if value.op is not None else "")
        if op is None or function is None:
            known[value] = draws.randint(10, 1000)
        else:
            known[value] = function(*[_sampled(arg, draws, known) for arg in op.args])
    return known[value]


_SAMPLES = 8
_ARITHMETIC: dict[str, Callable[..., int]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "max": max, "min": min,
    "floordiv": lambda n, m: n // m if m else 0, "mod": lambda n, m: n % m if m else 0,
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "select": lambda test, yes, no: yes if test else no,
    "extent": lambda start, stop, step: len(range(start, stop, step or 1)),
}  # fmt: skip
