"""Checks of what holds for every derivative: inputs are not written, and all passes agree.

The passes are plain, repeated, batched, recorded, on several threads, and for other layouts.
"""

from __future__ import annotations  # ``numpy.random`` is imported when it is used

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .._errors import GradcheckError
from .._settings import settings
from ..engine.record import apply
from ..func.gradients import pull
from ..targets.cpu.schedule import schedule
from .layouts import layouts
from .subject import Arrays, Subject, random_like, value

ROUNDING = 64  # units in the last place of the largest element that rounding may cost
SEEDS = (0, 1, 3, 64)
TILES = (1, 5, 64)


def agree(a: np.ndarray, b: np.ndarray, exact: bool) -> bool:
    """Whether two arrays have equal bits if ``exact``, else whether they agree to rounding.

    NaNs count as equal.
    """
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if exact:
        return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    scale = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
    tolerance = ROUNDING * float(np.finfo(a.dtype).eps)
    return np.allclose(a, b, tolerance, tolerance * scale, equal_nan=True)


def require_agreement(
    subject: Subject, found: Arrays, expected: Arrays, exact: bool, what: str
) -> None:
    """Raise an error unless the gradients of all variables agree with those expected."""
    for name, a, b in zip(subject.names, found, expected, strict=True):
        if agree(a, b, exact):
            continue
        if a.shape != b.shape or a.dtype != b.dtype:
            raise GradcheckError(
                f"{subject.what}: the gradient of {name} {what}: {a.dtype}{list(a.shape)} "
                f"instead of {b.dtype}{list(b.shape)}"
            )
        different = (
            ~np.isclose(a, b, 0 if exact else 1e-12, 0, equal_nan=True)
            if a.ndim
            else np.array(True)
        )
        place = np.unravel_index(int(np.argmax(different)), a.shape)
        raise GradcheckError(
            f"{subject.what}: the gradient of {name} {what}: {a[place]!r} instead of "
            f"{b[place]!r} at {[int(n) for n in place]}"
        )


def check_unchanged(subject: Subject, rng: np.random.Generator) -> None:
    """Check that neither the function nor a pass writes to inputs or seeds."""
    before = [a.copy() for a in subject.arrays]
    variables, outputs = subject.call()
    seeds = [random_like(rng, o) for o in outputs]
    kept = [s.copy() for s in seeds]
    results = [value(o) for o in outputs]
    kept_results = [r.copy() for r in results]
    gradients = [value(g) for g in pull(outputs, variables, seeds, graph=False)]
    groups = [
        ("input", before, subject.arrays),
        ("seed", kept, seeds),
        ("output", kept_results, results),
    ]
    for what, old, new in groups:
        for n, (a, b) in enumerate(zip(old, new, strict=True)):
            if not np.array_equal(a, b, equal_nan=True):
                raise GradcheckError(f"{subject.what}: {what} {n} was modified")
    for gradient in gradients:
        if any(np.shares_memory(gradient, a) for a in (*subject.arrays, *seeds)):
            raise GradcheckError(
                f"{subject.what}: a gradient shares memory with an input or a seed"
            )


def check_repeatable(subject: Subject, rng: np.random.Generator, tolerance: float = 0.0) -> None:
    """Check that two equal passes agree to ``tolerance``, and that gradients are like variables.

    A gradient must have the shape and dtype of its variable.
    """
    variables, outputs = subject.call()
    seeds = [random_like(rng, o) for o in outputs]
    first, second = (
        [value(g) for g in pull(outputs, variables, seeds, graph=False)] for _ in range(2)
    )
    for name, array, a, b in zip(subject.names, subject.arrays, first, second, strict=True):
        if a.shape != array.shape or a.dtype != array.dtype:
            raise GradcheckError(
                f"{subject.what}: the gradient of {name} is {a.dtype}{list(a.shape)}, the input is "
                f"{array.dtype}{list(array.shape)}"
            )
        difference = np.max(np.abs(a - b), initial=0.0, where=np.isfinite(a))
        if difference > tolerance or not np.array_equal(np.isnan(a), np.isnan(b)):
            raise GradcheckError(
                f"{subject.what}: two passes give gradients of {name} that differ by {difference}; "
                f"nondet_tol={tolerance}"
            )


def check_undefined(subject: Subject, rng: np.random.Generator) -> None:
    """Check that a pass without a seed for an output equals one with zeros as its seed."""
    variables, outputs = subject.call()
    if len(outputs) < 2:
        return
    for n, output in enumerate(outputs):
        seed = random_like(rng, output)
        zeros = [np.zeros(o.shape, o.dtype) if k != n else seed for k, o in enumerate(outputs)]
        alone = [value(g) for g in pull([output], variables, [seed], graph=False)]
        filled = [value(g) for g in pull(outputs, variables, zeros, graph=False)]
        require_agreement(
            subject,
            alone,
            filled,
            False,
            f"from output {n} alone differs from that with zero seeds",
        )


def check_batched(
    subject: Subject, rng: np.random.Generator, sizes: Sequence[int] = SEEDS, exact: bool = True
) -> None:
    """Check that a batched pass has the results of one pass for each seed, for several sizes."""
    variables, outputs = subject.call()
    seeds = [random_like(rng, o, (max(sizes),)) for o in outputs]
    rows = [
        [value(g) for g in pull(outputs, variables, [s[n] for s in seeds], graph=False)]
        for n in range(max(sizes))
    ]
    for size in sizes:
        batch = [s[:size] for s in seeds]
        found = [value(g) for g in pull(outputs, variables, batch, graph=False, batched=True)]
        looped = stacked(rows[:size], subject.arrays)
        require_agreement(
            subject, found, looped, exact, f"in a batch of {size} differs from a loop"
        )


def stacked(rows: Sequence[Arrays], like: Sequence[Any]) -> list[np.ndarray]:
    """Return the results of single passes as those of one batch, stacked along a new first axis.

    ``like`` has arrays of the shapes and dtypes, for a batch of no passes.
    """
    return [
        np.stack([row[n] for row in rows]) if rows else np.zeros((0, *x.shape), x.dtype)
        for n, x in enumerate(like)
    ]


def check_schedules(
    subject: Subject,
    rng: np.random.Generator,
    exact: bool = True,
    threads: Sequence[int] = (1, 2),
    tiles: Sequence[int] = TILES,
) -> None:
    """Check that a batched pass is the same for other numbers of threads and heights of tiles.

    The results must have the same bits if ``exact``, else agree to rounding.
    """
    variables, outputs = subject.call()
    seeds = [random_like(rng, o, (max(SEEDS),)) for o in outputs]

    def run() -> list[np.ndarray]:
        return [value(g) for g in pull(outputs, variables, seeds, graph=False, batched=True)]

    expected = run()
    for count in threads:
        for tile in tiles:
            with machine(count, tile):
                found = run()
            require_agreement(
                subject, found, expected, exact, f"on {count} threads in tiles of {tile} differs"
            )


@contextmanager
def machine(threads: int, tile: int) -> Iterator[None]:
    """Run programs inside the block on so many threads, in tiles of so many rows.

    Programs use all these threads, however small they are.
    """
    target = apply.runtime.target
    before = target.num_threads, settings.tile, schedule.PARALLEL_WORK
    try:
        target.set_num_threads(min(threads, before[0]))
        settings.tile, schedule.PARALLEL_WORK = tile, 0
        yield
    finally:
        target.set_num_threads(before[0])
        settings.tile, schedule.PARALLEL_WORK = before[1:]


def check_create_graph(subject: Subject, rng: np.random.Generator, exact: bool = True) -> None:
    """Check that gradients are the same in a recorded pass, with ``create_graph=True``."""
    seeds = [random_like(rng, o) for o in subject.call()[1]]
    plain, recorded = subject.gradients(seeds), subject.gradients(seeds, create_graph=True)
    require_agreement(subject, recorded, plain, exact, "with create_graph=True differs")


def check_layouts(
    subject: Subject, rng: np.random.Generator, exact: bool = True, broadcast: bool = True
) -> None:
    """Check that values and gradients are the same for inputs in other layouts; see `layouts`."""
    for name, same, arrays in layouts(subject.arrays):
        if name == "broadcast" and not broadcast:
            continue  # not every point is valid, e.g. singular matrices
        expected_values, found_values = subject.values(same), subject.values(arrays)
        for n, (a, b) in enumerate(zip(found_values, expected_values, strict=True)):
            if not agree(a, b, exact):
                raise GradcheckError(
                    f"{subject.what}: output {n} has another value for {name} inputs"
                )
        seeds = [random_like(rng, o) for o in expected_values]
        strided = [_every_second(s) for s in seeds]
        found, expected = subject.gradients(strided, arrays), subject.gradients(seeds, same)
        require_agreement(subject, found, expected, exact, f"for {name} inputs differs")


def _every_second(array: np.ndarray) -> np.ndarray:
    """Return an equal array that is not contiguous."""
    return np.repeat(array, 2, -1)[..., ::2] if array.ndim else array
