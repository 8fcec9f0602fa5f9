"""Checks of what holds for forward mode: it agrees with reverse mode, batched and recorded too."""

from __future__ import annotations  # ``numpy.random`` is imported when it is used

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import GradcheckError
from ..func.forward import push
from ..func.gradients import pull
from .comparison import inner
from .invariants import ROUNDING, agree, stacked
from .subject import Arrays, Subject, random_like, value

BATCHES = (0, 1, 3, 17)
TIMES = 3  # a pass runs eagerly first, then becomes a program, then is recalled


def check_forward_mode(subject: Subject, rng: np.random.Generator) -> None:
    """Check that forward and reverse mode give the same product of seeds, Jacobian and direction.

    The forward pass is repeated, as it becomes a program that is recalled.
    """
    variables, outputs = subject.call()
    directions = [random_like(rng, a) for a in subject.arrays]
    seeds = [random_like(rng, o) for o in outputs]
    reverse = inner([value(g) for g in pull(outputs, variables, seeds, graph=False)], directions)
    found = [_pushed(outputs, variables, directions) for _ in range(TIMES)]
    _require_product(subject, inner(seeds, found[0]), reverse, (*subject.arrays, *seeds), "mode")
    for again in found[1:]:
        _require_equal(subject, again, found[0], True, "when it runs again")


def check_forward_batched(
    subject: Subject, rng: np.random.Generator, sizes: Sequence[int] = BATCHES, exact: bool = True
) -> None:
    """Check that a batched forward pass has the results of one pass for each direction."""
    variables, outputs = subject.call()
    directions = [random_like(rng, a, (max(sizes),)) for a in subject.arrays]
    rows = [
        _pushed(outputs, variables, [t[n] for t in directions]) for n in range(max(sizes))
    ]
    for size in sizes:
        batch = [t[:size] for t in directions]
        found = _pushed(outputs, variables, batch, batched=True)
        looped = stacked(rows[:size], outputs)
        _require_equal(subject, found, looped, exact, f"in a batch of {size}")


def check_forward_recorded(subject: Subject, rng: np.random.Generator) -> None:
    """Check recorded forward passes: their results, and second derivatives of mixed modes.

    The results must equal those without recording. Reverse over forward mode, and forward over
    reverse mode, must agree with reverse mode twice.
    """
    variables, outputs = subject.call()
    directions = [random_like(rng, a) for a in subject.arrays]
    seeds = [random_like(rng, o) for o in outputs]
    recorded = push(outputs, variables, directions, graph=True)
    plain = _pushed(outputs, variables, directions)
    _require_equal(subject, [value(t) for t in recorded], plain, False, "with a graph")
    gradients = pull(outputs, variables, seeds, graph=True)
    others = [random_like(rng, a) for a in subject.arrays]
    expected = inner([value(p) for p in pull(gradients, variables, directions, False)], others)
    operands = (*subject.arrays, *seeds, *directions)
    over = [value(t) for t in push(gradients, variables, others, graph=False)]
    _require_product(subject, inner(directions, over), expected, operands, "over reverse mode")
    mixed = [value(g) for g in pull(recorded, variables, seeds, graph=False)]
    _require_product(subject, inner(mixed, others), expected, operands, "under reverse mode")


def _pushed(
    outputs: Any, variables: Any, directions: Arrays, batched: bool = False
) -> list[np.ndarray]:
    return [value(t) for t in push(outputs, variables, directions, False, batched)]


def _require_product(
    subject: Subject, found: float, expected: float, operands: Arrays, where: str
) -> None:
    """Raise an error unless a product by forward mode agrees to rounding with that expected."""
    if not np.isfinite(expected):
        return
    precision = max(float(np.finfo(a.dtype).eps) for a in operands)
    size = sum(a.size for a in operands) + abs(expected)
    if not abs(found - expected) <= ROUNDING * precision * size:
        raise GradcheckError(
            f"{subject.what}: forward {where} gives {found!r} where reverse mode gives {expected!r}"
        )


def _require_equal(
    subject: Subject, found: Arrays, expected: Arrays, exact: bool, where: str
) -> None:
    for n, (a, b) in enumerate(zip(found, expected, strict=True)):
        if not agree(a, b, exact):
            raise GradcheckError(
                f"{subject.what}: the tangent of output {n} {where} differs: {a!r} instead of {b!r}"
            )
