"""Random kernels whose derived adjoints are compared with dual numbers, exact to rounding."""

import itertools
import linecache
import math
import random
import warnings
from typing import Any

import numpy as np

from ...._adjoint.derived import Derived, Options, derive, type_of
from ...._adjoint.ssa.refusal import AdjointError
from .duals import Dual, DualMath, DualNumpy, plain
from .writing import KernelWriter

RIGHT, REFUSED, WRONG, SKIPPED = "right", "refused", "wrong", "skipped"
_TOLERANCE = 1e-8
_SIZE = 5
_MOST = 1e6
_numbers = itertools.count()


def defined(text: str, **space: Any) -> Any:
    """Return the function ``kernel`` of a source, registered so that ``inspect`` finds the text."""
    file = f"<random kernel {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"np": np, "math": math, **space}
    exec(compile(text, file, "exec"), names)
    return names["kernel"]


def arguments(seed: int) -> list[Any]:
    """Return arguments of a random kernel."""
    draw = np.random.default_rng(seed)
    n = _SIZE
    picks = draw.integers(0, n, n)
    x, y, matrix = draw.normal(size=n), draw.normal(size=n), draw.normal(size=(n, n))
    return [x, y, matrix, float(draw.normal()), n, picks]


def exact(text: str, args: list[Any], weights: list[np.ndarray]) -> tuple[np.ndarray, float]:
    """Return the gradient of a weighted sum of the result and the arrays, by dual numbers."""
    x, y, matrix, s = args[:4]
    inputs = x.size + y.size + matrix.size + 1
    seeds = iter(np.eye(inputs))
    duals = []
    for array in (x, y, matrix):
        made = np.empty(array.shape, object)
        for index in np.ndindex(*array.shape):
            made[index] = Dual(float(array[index]), next(seeds))
        duals.append(made)
    number = Dual(s, next(seeds))
    function = defined(text, np=DualNumpy(inputs), math=DualMath)
    total = function(*duals, number, *args[4:]) * 1.0
    for made, weight in zip(duals, weights, strict=True):
        total = total + np.sum(made * weight)
    if not isinstance(total, Dual):
        return np.zeros(inputs), float(total)
    return total.slopes, plain(total)


def called(
    derived: Derived, args: list[Any], weights: list[np.ndarray], way: str = "plain"
) -> np.ndarray:
    """Return the gradient by the derived adjoint, as one array."""
    tapes = [np.zeros(2), np.zeros(2, np.int64)]
    while True:
        shadows = [np.zeros_like(args[n]) for n in range(3)]
        for n in range(3):
            if n in derived.written:
                shadows[n] += weights[n]
        given = [shadows[n] for n in derived.shadows]
        result = getattr(derived, way)(*args, *given, 1.0, *tapes)
        if result[0] <= tapes[0].size and result[1] <= tapes[1].size:
            break
        tapes = [np.zeros(result[0]), np.zeros(result[1], np.int64)]
    for n in range(3):
        if n not in derived.written:
            shadows[n] += weights[n]
    numbers = dict(zip(derived.numbers, result[2:], strict=True))
    return np.concatenate([*(shadow.ravel() for shadow in shadows), [numbers.get(3, 0.0)]])


def options_of(seed: int) -> Options:
    """Return random options of a derived adjoint."""
    draw = random.Random(seed * 7919 + 1)
    if draw.random() < 0.4:
        return Options()
    names = [name for name in Options.__dataclass_fields__ if name != "checked"]
    return Options(**{name: draw.random() < 0.6 for name in names})


def judge(
    text: str, seed: int, options: Options | None = None, way: str = "plain"
) -> tuple[str, str]:
    """Return whether the derived adjoint of a kernel is right, refused or wrong, and why."""
    args = arguments(seed)
    draw = np.random.default_rng(seed + 1)
    weights = [draw.normal(size=a.shape) for a in args[:3]]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            truth, value = exact(text, args, weights)
        except (ArithmeticError, ValueError, UnboundLocalError, IndexError, TypeError) as error:
            return SKIPPED, repr(error)
        if not np.all(np.isfinite(truth)) or abs(value) > _MOST or np.max(np.abs(truth)) > _MOST:
            return SKIPPED, "large numbers"
        try:
            derived = derive(defined(text), [type_of(a) for a in args], options=options)
        except AdjointError as error:
            return REFUSED, str(error)
        try:
            found = called(
                derived, [a.copy() if isinstance(a, np.ndarray) else a for a in args], weights, way
            )
        except Exception as error:  # wrong code may raise anything
            return WRONG, f"{error!r}\n{derived.source}"
    off = np.max(np.abs(found - truth)) / max(1.0, np.max(np.abs(truth)))
    if off <= _TOLERANCE:
        return RIGHT, ""
    return WRONG, f"off by {off:.2e}\n{derived.source}"


def shrunk(text: str, seed: int, options: Options | None = None) -> str:
    """Return a shorter kernel that is still wrong."""
    lines = text.splitlines()
    is_shorter = True
    while is_shorter:
        is_shorter = False
        for start in range(len(lines)):
            for fewer in _fewer(lines, start):
                if _is_wrong("\n".join(fewer) + "\n", seed, options):
                    lines, is_shorter = fewer, True
                    break
    return "\n".join(lines) + "\n"


def _is_wrong(text: str, seed: int, options: Options | None) -> bool:
    try:
        return judge(text, seed, options)[0] == WRONG
    except Exception:  # no kernel any more, or the front end fails in another way
        return False


def _fewer(lines: list[str], start: int) -> list[list[str]]:
    """Yield lines without the block that begins at one of them, and with its body unindented.

    Statements that make a ``while`` end are kept.
    """
    if start >= len(lines) or lines[start].endswith("+= 1"):
        return []
    own = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while (
        end < len(lines) and lines[end].strip() and len(lines[end]) - len(lines[end].lstrip()) > own
    ):
        end += 1
    body = [line[4:] for line in lines[start + 1 : end]]
    found = [lines[:start] + lines[end:]]
    return found + ([lines[:start] + body + lines[end:]] if body else [])


def run(first: int, count: int, way: str = "plain") -> dict[str, list[int]]:
    """Judge many kernels; return the seeds by verdict.

    Examples
    --------
    >>> verdicts = run(0, 3)
    >>> verdicts["wrong"]
    []
    """
    verdicts: dict[str, list[int]] = {name: [] for name in (RIGHT, REFUSED, WRONG, SKIPPED)}
    for seed in range(first, first + count):
        verdicts[judge(KernelWriter(seed).text, seed, options_of(seed), way)[0]].append(seed)
    return verdicts
