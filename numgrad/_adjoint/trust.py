"""Warnings about a derived adjoint: arguments without a derivative because they are only compared,
and adjoints that disagree with differences."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .builder.things import tuple_like
from .derived import Derived
from .frontend.reading import Known
from .ssa.ir import Type

_STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
_TOLERANCE = {"f": 1e-4, "single": 2e-2}


def warn_of_comparisons(derived: Derived) -> None:
    """Warn of arguments that reach the results through comparisons only.

    Parameters
    ----------
    derived : Derived
    """
    for name, line in derived.compared_only:
        warnings.warn(
            f"{derived.file}, line {line}: {derived.name.removesuffix('_adjoint')} only compares "
            f"{name}, or what it computes from it, so that the derivative in {name} is 0. A root "
            f"that is found by comparisons has the derivative of one more step of Newton's method: "
            f"write that step after the loop",
            UserWarning,
            stacklevel=3,
        )


def difference_from_slope(derived: Derived, flat: Sequence[Any], run: Any) -> float:
    """Return the relative distance of a derived adjoint from a difference along one direction.

    Of several steps the one counts that agrees best: a larger one may cross a kink, a smaller one
    has rounding errors.

    Parameters
    ----------
    derived : Derived
    flat : sequence
        The arrays and numbers of the arguments, which are not changed.
    run : callable
        ``run(derived, flat, shadows, seeds)`` calls the compiled adjoint.
    """
    draw = np.random.default_rng(0)
    places = [n for n, part in enumerate(flat) if n in {*derived.shadows, *derived.numbers}]
    direction = {n: _drawn(draw, flat[n]) * _scale(flat[n]) for n in places}
    results, written = _value(derived, flat)
    seeds = [_drawn(draw, results[n]) for n in derived.cotangents]
    starts = [_drawn(draw, array) for array in written]
    shadows = {n: np.zeros_like(flat[n]) for n in derived.shadows}
    for n, start in zip(derived.written, starts, strict=True):
        if n in shadows:
            shadows[n][...] = start
    numbers, _ = run(derived, flat, shadows, seeds)
    found = {**shadows, **dict(zip(derived.numbers, numbers, strict=True))}
    slope = sum(_inner(found[n], change) for n, change in direction.items())

    def total(step: float) -> float:
        moved = [part + step * direction[n] if n in direction else part for n, part in enumerate(flat)]  # noqa: E501
        moved = [np.asarray(m, p.dtype) if isinstance(p, np.ndarray) else m for m, p in zip(moved, flat, strict=True)]  # noqa: E501
        after, arrays = _value(derived, moved)
        given = zip(seeds, (after[n] for n in derived.cotangents), strict=True)
        return sum(_inner(a, b) for a, b in [*given, *zip(starts, arrays, strict=True)])

    return min(_off(slope, total, step) for step in _STEPS)


def _off(slope: float, total: Any, step: float) -> float:
    try:
        near = (total(step) - total(-step)) / (2 * step)
        far = (total(2 * step) - total(-2 * step)) / (4 * step)
    except (ArithmeticError, ValueError, IndexError):
        return float("inf")
    expected = (4 * near - far) / 3
    off = abs(expected - slope) / max(abs(expected), abs(slope), 1e-6 * abs(total(0.0)), 1e-300)
    return off if off == off else float("inf")


def warn_of_difference(derived: Derived, flat: Sequence[Any], run: Any) -> None:
    """Compare a derived adjoint with a difference along one direction, and warn if it differs.

    Parameters
    ----------
    derived : Derived
    flat : sequence
    run : callable
        As for ``difference_from_slope``.
    """
    singles = any(str(getattr(part, "dtype", "")) in ("float32", "complex64") for part in flat)
    if not (derived.shadows or derived.numbers):
        return
    off = difference_from_slope(derived, flat, run)
    if off > _TOLERANCE["single" if singles else "f"]:
        warnings.warn(
            f"the derivative of {derived.name.removesuffix('_adjoint')} that was derived from its "
            f"loops is off by {off:.1e} from a difference along one direction: its arguments are "
            f"at a kink or a jump, or what it computes is not differentiable in them",
            UserWarning,
            stacklevel=3,
        )


def _value(derived: Derived, flat: Sequence[Any]) -> tuple[list[Any], list[np.ndarray]]:
    """Return the results of the kernel, and the arrays that the kernel writes."""
    function, types, _ = derived.request
    copies = [part.copy() if isinstance(part, np.ndarray) else part for part in flat]
    parts = iter(copies)

    def argument(kind: Any) -> Any:
        if isinstance(kind, Known):
            return kind.value
        is_tuple = isinstance(kind, tuple) and not isinstance(kind, Type)
        return tuple_like(kind, [argument(part) for part in kind]) if is_tuple else next(parts)

    result = function(*[argument(kind) for kind in types])
    if derived.structure != "tuple":
        result = () if derived.structure == "none" else (result,)
    return list(result), [copies[n] for n in derived.written]


def _drawn(draw: Any, like: Any) -> Any:
    array = np.asarray(like)
    number = draw.normal(size=array.shape)
    if array.dtype.kind == "c":
        number = number + 1j * draw.normal(size=array.shape)
    return number.astype(array.dtype) if array.ndim else array.dtype.type(number).item()


def _scale(part: Any) -> float:
    largest = float(np.max(np.abs(part), initial=0.0))
    return largest if np.isfinite(largest) and largest > 0 else 1.0


def _inner(one: Any, other: Any) -> float:
    return float(np.real(np.sum(np.conj(one) * other)))
