"""Compare analytic with numerical derivatives, and describe a disagreement."""

from __future__ import annotations  # ``numpy.random`` is imported when it is used

from collections.abc import Sequence

import numpy as np

from .._errors import GradcheckError
from .._tensor import Tensor
from ..func.gradients import pull
from .numerical import Slope, unit_directions
from .subject import Arrays, Subject, random_like, value
from .tolerances import Tolerance

SHOWN = 3  # wrong entries listed in a message


def inner(a: Arrays, b: Arrays) -> float:
    """Return the real inner product of two lists of arrays."""
    wide = np.complex128
    return float(
        sum(np.vdot(x.astype(wide), y.astype(wide)).real for x, y in zip(a, b, strict=True))
    )


def compare_projection(
    subject: Subject, slope: Slope, tolerance: Tolerance, rng: np.random.Generator
) -> None:
    """Compare one number of the Jacobian, its product with random seeds and a random direction.

    If the number is wrong, all entries are compared, so that the error names one.
    """
    direction = [random_like(rng, a) for a in subject.arrays]
    change = slope(subject, direction)
    seeds = [random_like(rng, o) for o in subject.values(subject.arrays)]
    numerical = inner(seeds, change)
    analytic = inner(subject.gradients(seeds), direction)
    if _close(analytic, numerical, tolerance):
        return
    compare_everywhere(subject, slope, tolerance)
    _, outputs = subject.call()
    raise GradcheckError(
        f"{subject.what}: a random projection of the Jacobian is {analytic!r} and by differences "
        f"{numerical!r}, though no entry alone is wrong beyond the tolerance{_origin(outputs[0])}"
    )


def compare_everywhere(subject: Subject, slope: Slope, tolerance: Tolerance) -> None:
    """Compare every entry of the Jacobian with its numerical value; raise an error for wrong ones.
    """
    variables, outputs = subject.call()
    directions = unit_directions(subject.arrays)
    columns = [slope(subject, direction) for *_, direction in directions]
    wrong: list[str] = []
    total = 0
    for number, output in enumerate(outputs):
        for _, position, label, (unit,) in unit_directions([value(output)]):
            seeds = [np.zeros(o.shape, o.dtype) if o is not output else unit for o in outputs]
            rows = [value(g) for g in pull(outputs, variables, seeds, graph=False)]
            for (n, place, part, direction), column in zip(directions, columns, strict=True):
                analytic = inner([rows[n]], [direction[n]])
                numerical = inner([unit], [column[number]])
                total += 1
                if not _close(analytic, numerical, tolerance):
                    wrong.append(
                        f"output {number} at {_place(position, label)} with respect to "
                        f"{subject.names[n]} at {_place(place, part)}: "
                        f"analytic {analytic!r}, numerical {numerical!r}"
                        f"{_hint(analytic, numerical)}{_origin(output)}"
                    )
    if wrong:
        raise GradcheckError(_message(subject, wrong, total))


def _message(subject: Subject, wrong: Sequence[str], total: int) -> str:
    lines = [
        f"{subject.what}: {len(wrong)} of {total} entries of the Jacobian are wrong",
        *wrong[:SHOWN],
    ]
    if len(wrong) > SHOWN:
        lines.append("...")
    return "\n  ".join(lines)


def _close(analytic: float, numerical: float, tolerance: Tolerance) -> bool:
    """Whether two numbers agree; a NaN agrees with nothing."""
    return abs(analytic - numerical) <= tolerance.atol + tolerance.rtol * abs(numerical)


def _hint(analytic: float, numerical: float) -> str:
    if np.isfinite(analytic) and np.isfinite(numerical):
        return ""
    return " (not finite: is the point at the edge of the domain?)"


def _place(position: tuple[int, ...], label: str) -> str:
    return f"{list(position)}{label}"


def _origin(output: Tensor) -> str:
    """Return the end of a message: which operator computed an output, at which line of the user."""
    node = output.grad_fn
    if node is None:
        return "; it does not depend on any input that requires grad"
    return f"; computed by {node.operator.name}{node.where()}"
