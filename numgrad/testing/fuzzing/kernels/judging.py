"""Judge derived adjoints of random kernels by a comparison with dual numbers, exact to rounding."""

import itertools
import linecache
import math
import random
import re
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from ...._adjoint.derived import Derived, Options, derive, type_of
from ...._adjoint.sparing import run_sparing
from ...._adjoint.ssa.refusal import AdjointError
from .duals import Dual, DualMath, DualNumpy, larger, plain, smaller
from .parallel import ParallelKernelWriter, one_step_each, watched
from .wider import WideKernelWriter
from .writing import KernelWriter

RIGHT, REFUSED, WRONG, SKIPPED = "right", "refused", "wrong", "skipped"
_TOLERANCE = 1e-8
_SINGLE = 2e-4  # the tolerance in float32
_SIZE = 5
_MOST = 1e6
_numbers = itertools.count()


def defined(text: str, **space: Any) -> Any:
    """Return the function ``kernel`` that a source defines, whose source `inspect` finds.

    ``space`` has values of names in the source.
    """
    file = f"<random kernel {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"np": np, "math": math, "prange": numba.prange, **space}
    exec(compile(text, file, "exec"), names)
    return names["kernel"]


def arguments(seed: int, kind: str = "normal") -> list[Any]:
    """Return random arguments of a kernel.

    Parameters
    ----------
    seed : int
    kind : str
        ``"normal"``; ``"equal"`` for many zeros and equal elements; ``"views"`` for arrays that are
        not contiguous; ``"integer"`` for an integer as the number ``s``; ``"single"`` for float32.
    """
    if kind == "single":
        x, y, matrix, number, n, picks = arguments(seed)
        single = [array.astype(np.float32) for array in (x, y, matrix)]
        return [*single, np.float32(number), n, picks]
    draw = np.random.default_rng(seed)
    n = _SIZE
    picks = draw.integers(0, n, n)
    if kind == "equal":
        x, y, matrix = (draw.integers(-1, 2, shape) / 2 for shape in (n, n, (n, n)))
        return [x, y, matrix, float(draw.integers(-1, 2)), n, picks]
    x, y, matrix = draw.normal(size=n), draw.normal(size=n), draw.normal(size=(n, n))
    number = float(draw.normal()) if kind != "integer" else int(draw.integers(-2, 3))
    if kind == "views":
        x, y = np.repeat(x, 2)[::2], y[::-1].copy()[::-1]
        matrix = np.repeat(matrix, 2, axis=1)[:, ::2]
    return [x, y, matrix, number, n, picks]


@dataclass
class Truth:
    """The exact derivatives of a kernel.

    Attributes
    ----------
    value : float
        The weighted sum of the result and of all elements of the arrays after the call.
    gradient : numpy.ndarray
        The derivatives of the value by all inputs.
    second : numpy.ndarray
        The derivatives by all inputs of the value's derivative along a direction.
    along : float
        The derivative of the kernel's result along that direction.
    """

    value: float
    gradient: np.ndarray
    second: np.ndarray
    along: float


def exact(
    text: str, args: list[Any], weights: list[np.ndarray], direction: np.ndarray, seed: float = 1.0
) -> Truth:
    """Return the exact derivatives of a kernel, computed with dual numbers.

    Parameters
    ----------
    text : str
        The source of the kernel.
    args : list
    weights : list of numpy.ndarray
        The weights of the elements of arrays after the call.
    direction : numpy.ndarray
        The direction of second derivatives, with a number for each input.
    seed : float
        The weight of the result.
    """
    x, y, matrix, s = args[:4]
    inputs = x.size + y.size + matrix.size + 1
    units = iter(np.eye(inputs))
    changes = iter(direction)
    duals = []
    for array in (x, y, matrix):
        made = np.empty(array.shape, object)
        for index in np.ndindex(*array.shape):
            made[index] = Dual(float(array[index]), next(units), next(changes), np.zeros(inputs))
        duals.append(made)
    number = s
    if not isinstance(s, int):
        number = Dual(float(s), next(units), next(changes), np.zeros(inputs))
    space: dict[str, Any] = {"np": DualNumpy(inputs), "math": DualMath, "prange": range}
    space |= {"max": larger, "min": smaller}
    result = defined(text, **space)(*duals, number, *args[4:]) + Dual(0.0, np.zeros(inputs))
    total = result * seed
    for made, weight in zip(duals, weights, strict=True):
        total = total + np.sum(made * weight)
    return Truth(plain(total), total.slopes, total.mixed + np.zeros(inputs), result.along)


def derived_of(text: str, args: list[Any], options: Options | None) -> Derived:
    """Return the derived adjoint of a kernel; one with ``prange`` runs in the most chunks."""
    function = defined(text)
    if "prange(" in text:
        function = numba.njit(parallel=True)(function)
    derived = derive(function, [type_of(a) for a in args], options=options)
    if derived.is_chunked:
        derived.namespace["in_chunks"] = one_step_each
    return derived


def called(
    derived: Derived, args: list[Any], weights: list[np.ndarray], way: str = "plain",
    seed: float = 1.0,
) -> tuple[np.ndarray, list[Any]]:  # fmt: skip
    """Return the gradient that a derived adjoint computes, as one array, and the tapes it used.

    The tapes are made longer until they suffice. ``way`` is as in `judge`.
    """
    if way == "plain":
        with watched(derived.plain.__globals__):
            return _called(derived, args, weights, way, seed)
    return _called(derived, args, weights, way, seed)


def _called(
    derived: Derived, args: list[Any], weights: list[np.ndarray], way: str, seed: float
) -> tuple[np.ndarray, list[Any]]:
    if derived.options.snapshots:
        return _called_sparing(derived, args, weights, way, seed), []
    tapes: list[Any] = [np.zeros(2), np.zeros(2, np.int64)]
    while True:
        shadows = [np.zeros_like(args[n]) for n in range(3)]
        for n in range(3):
            if n in derived.written:
                shadows[n] += weights[n]
        given = [shadows[n] for n in derived.shadows]
        result = getattr(derived, way)(*args, *given, seed, *tapes)
        if result[0] <= tapes[0].size and result[1] <= tapes[1].size:
            break
        tapes = [np.zeros(result[0]), np.zeros(result[1], np.int64)]
    for n in range(3):
        if n not in derived.written:
            shadows[n] += weights[n]
    numbers = dict(zip(derived.numbers, result[2:], strict=True))
    return np.concatenate([*(shadow.ravel() for shadow in shadows), [numbers.get(3, 0.0)]]), tapes


def called_again(
    derived: Derived, args: list[Any], weights: list[np.ndarray], direction: np.ndarray,
    tapes: list[Any], way: str = "plain", seed: float = 1.0,
) -> tuple[np.ndarray, float]:  # fmt: skip
    """Return second derivatives along a direction, by the derived adjoint of an adjoint.

    The second result is the derivative of the kernel's result along the direction. ``tapes`` are
    those that the first adjoint has used.
    """
    again = derived.again()
    changes = np.split(direction, np.cumsum([args[n].size for n in range(3)]))
    begun = [
        weights[n].copy() if n in derived.written else np.zeros_like(args[n])
        for n in derived.shadows
    ]
    flat = [*args, *begun, seed, *tapes]
    shadows = {n: np.zeros_like(flat[n]) for n in again.shadows}
    for place, n in enumerate(derived.shadows):
        if len(args) + place in shadows:
            shadows[len(args) + place][...] = changes[n].reshape(args[n].shape)
    seeds = [changes[3][0] if n >= 2 else 0.0 for n in again.cotangents]
    longer: list[Any] = [np.zeros(2), np.zeros(2, np.int64)]
    while True:
        own = [shadow.copy() for shadow in shadows.values()]
        result = getattr(again, way)(*flat, *own, *seeds, *longer)
        if result[0] <= longer[0].size and result[1] <= longer[1].size:
            break
        longer = [np.zeros(result[0]), np.zeros(result[1], np.int64)]
    found = {**dict(zip(again.shadows, own, strict=True)), **dict(zip(again.numbers, result[2:], strict=True))}  # noqa: E501
    parts = [found.get(n, np.zeros_like(args[n])) for n in range(4)]
    return np.concatenate([np.ravel(part) for part in parts]), float(found.get(len(args) + len(begun), 0.0))  # noqa: E501


def _called_sparing(
    derived: Derived, args: list[Any], weights: list[np.ndarray], way: str, seed: float
) -> np.ndarray:
    """Return the gradient that an adjoint with snapshots computes, with memory for few of them."""
    shadows = [np.zeros_like(args[n]) for n in range(3)]
    for n in derived.written:
        if n < 3:
            shadows[n] += weights[n]
    given = [shadows[n] for n in derived.shadows]
    memory = int(np.sum(np.abs(args[0])) * 1000) % 700
    found = run_sparing(derived, args, given, [seed], memory, getattr(derived, way))
    for n in range(3):
        if n not in derived.written:
            shadows[n] += weights[n]
    numbers = dict(zip(derived.numbers, found, strict=True))
    return np.concatenate([*(shadow.ravel() for shadow in shadows), [numbers.get(3, 0.0)]])


def options_of(seed: int) -> Options:
    """Return random options of a derived adjoint."""
    draw = random.Random(seed * 7919 + 1)
    if draw.random() < 0.4:
        return Options()
    names = [name for name in Options.__dataclass_fields__ if name not in ("checked", "long")]
    drawn = {name: draw.random() < 0.6 for name in names}
    return Options(**drawn, long=draw.choice((1, Options.long)))  # type: ignore[arg-type]


def judge(
    text: str, seed: int, options: Options | None = None, way: str = "plain",
    kind: str = "normal", is_second: bool = False,
) -> tuple[str, str]:  # fmt: skip
    """Return the verdict on the derived adjoint of a kernel, and the details.

    The verdict is `RIGHT`, `REFUSED`, `WRONG`, or `SKIPPED` if the kernel fails or has large
    numbers.

    Parameters
    ----------
    text : str
        The source of the kernel.
    seed : int
        The seed of the arguments.
    options : Options, optional
        The options of the derived adjoint.
    way : str
        ``"plain"`` to run the adjoint in Python, or ``"compiled"``.
    kind : str
        The kind of the arguments, as in `arguments`.
    is_second : bool
        Whether the second derivatives are compared too.
    """
    if kind == "views" and ("ravel" in text or "reshape" in text):  # which Numba refuses
        kind = "normal"
    args = arguments(seed, kind)
    draw = np.random.default_rng(seed + 1)
    weights = [draw.normal(size=a.shape) * (kind in ("normal", "single") or n == 1) for n, a in enumerate(args[:3])]  # noqa: E501
    direction = draw.normal(size=sum(a.size for a in args[:3]) + 1)
    start = 0.0 if kind == "equal" and seed % 3 == 0 else 1.0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            truth = exact(text, args, weights, direction, start)
        except (ArithmeticError, ValueError, UnboundLocalError, IndexError, TypeError) as error:
            return SKIPPED, repr(error)
        if kind == "single":
            text, is_second = in_single(text), False
        if not _is_small(truth.value, *truth.gradient, *(truth.second if is_second else ())):
            return SKIPPED, "large numbers"
        try:
            derived = derived_of(text, args, options)
        except AdjointError as error:
            return REFUSED, str(error)
        except Exception:
            return WRONG, traceback.format_exc()
        try:
            given = arguments(seed, kind)
            found, tapes = called(derived, given, weights, way, start)
            if way == "compiled" and derived.is_chunked:
                other, _ = called(derived, given, weights, "threaded", start)
                if not np.array_equal(found, other):
                    return WRONG, f"other bits on threads\n{derived.source}"
            if (off := _off(found, truth.gradient)) > _TOLERANCE:
                if kind == "single" and _is_single(text, args, weights, direction, off, truth):
                    return RIGHT, ""
                return WRONG, f"off by {off:.2e}\n{derived.source}"
            return _judge_second(derived, given, weights, direction, tapes, way, start, truth) if is_second and tapes else (RIGHT, "")  # noqa: E501
        except Exception as error:  # whatever a wrong source does
            return WRONG, f"{error!r}\n{traceback.format_exc()}\n{derived.source}"


def _judge_second(derived: Derived, args: list[Any], weights: Any, direction: Any, tapes: Any, way: str, start: float, truth: Truth) -> tuple[str, str]:  # noqa: E501
    try:
        found, along = called_again(derived, args, weights, direction, tapes, way, start)
    except AdjointError as error:
        return REFUSED, f"second order: {error}"
    off = max(_off(found, truth.second), _off(np.array([along]), np.array([truth.along])))
    if off <= 10 * _TOLERANCE:
        return RIGHT, ""
    return WRONG, f"second derivatives off by {off:.2e}\n{derived.source}"


def _is_single(
    text: str, args: list[Any], weights: list[np.ndarray], direction: np.ndarray, off: float,
    truth: Truth,
) -> bool:  # fmt: skip
    """Whether an error is explained by rounding to float32.

    That is so if the exact derivatives change by as much when inputs move by about that rounding.
    """
    if off <= _SINGLE:
        return True
    for sign in (1, -1, 3, -3):
        moved = [a * (1 + sign * 1e-6 * np.cos(np.arange(a.size)).reshape(a.shape)) for a in args[:3]]  # noqa: E501
        number = float(args[3]) * (1 - sign * 1e-6)
        other = exact(text, [*moved, number, *args[4:]], weights, direction)
        if _off(other.gradient, truth.gradient) * 1000 > off:
            return True
    return False


def _off(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the largest error, relative to the largest number or 1; a NaN counts as infinite."""
    off = float(np.max(np.abs(found - truth)) / max(1.0, float(np.max(np.abs(truth)))))
    return off if off == off else float("inf")


def _is_small(*numbers: float) -> bool:
    return bool(np.all(np.isfinite(numbers)) and np.max(np.abs(numbers)) <= _MOST)


def shrunk(text: str, seed: int, options: Options | None = None, **ways: Any) -> str:
    """Return a shorter kernel on which the derived adjoint is still wrong."""
    lines = text.splitlines()
    is_shorter = True
    while is_shorter:
        is_shorter = False
        for start in range(len(lines)):
            for fewer in _fewer(lines, start):
                if _is_wrong("\n".join(fewer) + "\n", seed, options, ways):
                    lines, is_shorter = fewer, True
                    break
    return "\n".join(lines) + "\n"


def _is_wrong(text: str, seed: int, options: Options | None, ways: dict[str, Any]) -> bool:
    try:
        return judge(text, seed, options, **ways)[0] == WRONG
    except Exception:  # what is left is no kernel, or fails in another way
        return False


def _fewer(lines: list[str], start: int) -> list[list[str]]:
    """Return shorter versions of a kernel's lines, without the statement at ``start``.

    One version lacks the statement with its body; another one keeps the body, unindented. The
    increments that make a ``while`` end are not removed.
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


def in_single(text: str) -> str:
    """Return the source of a kernel with ``np.float32`` as the dtype of arrays that it makes."""
    return re.sub(
        r"np\.(zeros|ones|empty)\((3|n|\(2, 2\))\)", r"np.\1(\2, dtype=np.float32)", text
    )


def parallel_text_of(seed: int) -> str:
    """Return a random kernel with loops over ``prange``: one that is written for them, or any
    kernel, some of whose loops run over ``prange`` where that is not refused."""
    if seed % 3:
        return ParallelKernelWriter(seed).text
    lines, args = text_of(seed // 3).splitlines(keepends=True), arguments(seed)
    for n, line in enumerate(lines):
        if " in range(" in line and line.lstrip().startswith("for "):
            lines[n] = line.replace(" in range(", " in prange(")
            try:
                derived_of("".join(lines), args, None)
            except AdjointError:
                lines[n] = line
    return "".join(lines)


def text_of(seed: int) -> str:
    """Return the source of the random kernel of a seed; that of an odd seed has more statements."""
    return (WideKernelWriter if seed % 2 else KernelWriter)(seed).text


def ways_of(seed: int) -> dict[str, Any]:
    """Return random options of `judge` for a seed: ``kind`` and ``is_second``."""
    draw = random.Random(seed * 104729 + 5)
    made = {
        "kind": draw.choice(("normal", "normal", "equal", "equal", "views", "integer")),
        "is_second": draw.random() < 0.5,
    }
    return {**made, "kind": "single"} if draw.random() < 0.12 else made


def run(
    first: int, count: int, way: str = "plain", of: Any = text_of
) -> dict[str, list[int]]:
    """Judge the kernels of ``count`` seeds from ``first`` on, and return the seeds by verdict.

    ``of`` returns the source of the kernel of a seed.

    Examples
    --------
    >>> verdicts = run(0, 3)
    >>> verdicts["wrong"]
    []
    """
    verdicts: dict[str, list[int]] = {name: [] for name in (RIGHT, REFUSED, WRONG, SKIPPED)}
    for seed in range(first, first + count):
        text = of(seed)
        verdict = judge(text, seed, options_of(seed), way, **ways_of(seed))[0]
        verdicts[verdict].append(seed)
    return verdicts
