"""Judge the results of numgrad: right if they are as near to the reference as rounding allows."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._errors import InplaceError
from ..._tensor import Tensor
from .differences import Differences, largest, noise
from .programs import Program

WIDER = 1.5  # the factor on the steps of the second reference
DOUBT = 16.0  # a factor on the difference of both, by chance small in one of 10 000 programs
DISTURBANCE = 1e-7  # results change linearly by it, and more than by the errors of differences
ROUNDINGS = 64.0  # the roundings that one statement and its derivatives may cost
DOCUMENTED = (
    "retain_grad() was called",  # a batched pass has no gradient to retain
    "cond: the functions return different arrays",  # no choice in a captured function
)
DEEPEST = 3  # so many of the innermost functions identify an error
WORST = 1e-3  # the largest tolerance; beyond it the verdict is unknown


@dataclass(frozen=True)
class Verdict:
    """The verdict on a program.

    Attributes
    ----------
    kind : {"right", "wrong", "raised", "refused", "differs", "unknown"}
        "raised" for an error that should not be, "refused" for one that is documented, "differs"
        if the results are right in all ways but have different bits, "unknown" if the reference
        cannot be computed well enough.
    words : str
        The error, or the reason why the result is unknown.
    way : str
        The way in which the program was computed.
    origin : tuple of str
        The innermost functions of the traceback, the innermost last.
    """

    kind: str
    words: str = ""
    way: str = "once"
    origin: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        return self.kind in ("wrong", "raised", "differs")


@dataclass(frozen=True)
class Expected:
    """The numbers of the reference, and how far a right result may be from them."""

    value: np.ndarray
    tolerance: float


KINKED = ("linalg.norm", "np.std", "np.nanstd", "np.hypot", "np.abs", "np.arctan2")
"""Functions with a kink, at which their slope is a convention."""


def judge(program: Program) -> Verdict:
    """Return the verdict on a program, from a comparison with differences of NumPy's values."""
    try:
        expected = expect(program)
    except Exception as error:  # NumPy refuses it
        return Verdict("unknown", f"NumPy raises {type(error).__name__}: {error}")
    if isinstance(expected, str):
        return Verdict("unknown", expected)
    first: list[np.ndarray] = []
    for way in ways(program):
        tried = replace(program, way=way)
        try:
            found = list(leaves(tried.run()))
        except Exception as error:
            if is_documented(error):
                return Verdict("refused", f"{type(error).__name__}: {error}", way)
            calls = traceback.extract_tb(error.__traceback__)[-DEEPEST:]
            origin = tuple([call.name for call in calls])
            return Verdict("raised", f"{type(error).__name__}: {error}", way, origin)
        verdict = compare(found, expected)
        if verdict.failed and is_at_kink(program, found, expected):
            return Verdict("refused", "NaN where a slope at a kink has no derivative", way)
        if verdict.failed:
            return replace(verdict, way=way)
        first = first or found
        if program.has_equal_bits() and not all(map(_equal_bits, found, first)):
            return Verdict("differs", f"{_shown(found)}\ninstead of\n{_shown(first)}", way)
    return Verdict("right")


def is_at_kink(program: Program, found: list[np.ndarray], expected: list[Expected]) -> bool:
    """Whether a program has functions with kinks, and all its wrong elements are NaN.

    NaN is right for a second derivative that does not exist, times 0. Differences give 0 there.
    """
    text = program.text()
    if len(found) != len(expected) or not any(name in text for name in KINKED):
        return False
    return all(
        a.shape == right.value.shape
        and largest(np.where(np.isnan(a), 0.0, a - right.value)) <= right.tolerance
        for a, right in zip(found, expected, strict=True)
    )


def is_documented(error: Exception) -> bool:
    """Whether an error is one that the documentation announces."""
    return isinstance(error, InplaceError) or any(text in str(error) for text in DOCUMENTED)


def ways(program: Program) -> Iterator[str]:
    """Yield the ways in which a program is computed, keys of `WAYS`."""
    if program.way != "once":
        yield program.way
        return
    yield "once"
    if program.captures:
        yield "fused" if '"now"' in program.text() else "captured"
    if program.seed % 4 == 0:
        yield "in threads"
    elif program.seed % 4 == 1:
        yield "again"
    elif program.seed % 4 == 2:
        yield "by reference"


def _equal_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.array_equal(a, b, equal_nan=True))


def _shown(arrays: list[np.ndarray]) -> str:
    return ", ".join([str(a.tolist()) for a in arrays])


def expect(program: Program) -> list[Expected] | str:
    """Return the right results of a program with tolerances, or in words why they are not known."""
    first, second = Differences(), Differences(WIDER)
    # If one of two equal numbers is computed by differences, chance decides which one is larger.
    # Two opposite disturbances make either of them larger. So if the result depends on a decision
    # between the two, by a comparison, an order or a branch, the disturbed results differ much.
    disturbed = [Differences(disturbance=d) for d in (DISTURBANCE, -DISTURBANCE)]
    references = [first, second, *disturbed]
    runs = [list(leaves(program.judge(d))) for d in references]
    if any(d.kinks for d in references):
        return "a derivative from the left is not the one from the right"
    eps = float(np.finfo(np.float32 if _is_single(program) else float).eps)
    expected = []
    for value, wider, *moved in zip(*runs, strict=True):
        if not np.all(np.isfinite(value)):
            return "a result is not finite"
        error = largest(value - wider) + noise(first.level) * (1.0 + largest(value))
        change = max(largest(a - value) for a in moved)
        condition = change / DISTURBANCE + largest(value)
        tolerance = DOUBT * error + ROUNDINGS * eps * (condition + 1.0)
        if not max(change, tolerance) <= WORST * (largest(value) + 0.03):
            return f"known to {tolerance:.1g} only, and disturbances change it by {change:.1g}"
        expected.append(Expected(value, tolerance))
    return expected


def compare(found: list[np.ndarray], expected: list[Expected]) -> Verdict:
    """Return the verdict on results, compared with the expected ones one by one."""
    if len(found) != len(expected):
        return Verdict("wrong", f"{len(found)} results instead of {len(expected)}")
    for n, (a, right) in enumerate(zip(found, expected, strict=True)):
        b = right.value
        if a.shape != b.shape:
            return Verdict("wrong", f"result {n} has the shape {a.shape} instead of {b.shape}")
        difference = largest(a - b)
        if not difference <= right.tolerance:
            shown = np.asarray(b).astype(complex if b.dtype.kind == "c" else float)
            return Verdict(
                "wrong",
                f"result {n} is {a.tolist()}\ninstead of {shown.tolist()}\n"
                f"which differ by {difference:.3g}; rounding and differences explain "
                f"{right.tolerance:.2g}",
            )
    return Verdict("right")


def leaves(tree: Any) -> Iterator[np.ndarray]:
    """Yield the arrays in nested tuples and lists."""
    if isinstance(tree, (tuple, list)):
        for item in tree:
            yield from leaves(item)
    else:
        yield np.asarray(tree.detach().numpy() if isinstance(tree, Tensor) else tree)


def _is_single(program: Program) -> bool:
    text = program.text()
    return "float32" in text or "complex64" in text
