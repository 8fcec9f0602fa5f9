"""Compare the results of scenarios on a GPU with those on the CPU."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import numgrad as ng

from ..scenarios import SCENARIOS, Scenario
from .report import require

DEVICE = "cuda:0"


def cases(scenarios: Sequence[Scenario] = SCENARIOS) -> Iterator[tuple[Scenario, str]]:
    """Yield a pair of each scenario and each of its dtypes."""
    for scenario in scenarios:
        for dtype in scenario.dtypes:
            yield scenario, dtype


def compare(scenario: Scenario, dtype: str, points: Sequence[Any] | None = None) -> None:
    """Compare the results of a scenario on the GPU with those on the CPU, at a few points.

    The results are values, gradients of batched passes, and first and second derivatives.
    """
    for point in scenario.points[:3] if points is None else points:
        arrays = scenario.at(point, dtype)
        expected = everything(scenario, arrays, "cpu")
        found = everything(scenario, arrays, DEVICE)
        require(len(found) == len(expected), "other derivatives are there than on the processor")
        for one, other in zip(found, expected, strict=True):
            require_close(one, other, computed_in=np.dtype(dtype))


def everything(scenario: Scenario, arrays: Sequence[np.ndarray], device: str) -> list[np.ndarray]:
    """Return all results of a scenario on a device, as arrays of the host.

    They are the values, the gradients of a batched pass that runs twice, and first and second
    derivatives.
    """
    leaves = [
        ng.tensor(a, requires_grad=bool(scenario.order) and a.dtype.kind in "fc", device=device)
        for a in arrays
    ]
    outputs = scenario.function(*leaves)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    found: list[Any] = list(outputs)
    live = [o for o in outputs if o.requires_grad]
    variables = [x for x in leaves if x.requires_grad]
    if live:
        for _ in range(2):
            batch = _seeds_of(live, (3,))
            found += ng.grad(
                live, variables, batch, is_grads_batched=True, allow_unused=True, retain_graph=True
            )
        second = scenario.order > 1
        first = ng.grad(live, variables, _seeds_of(live), allow_unused=True, create_graph=second)
        found += first
        again = [g for g in first if g is not None and g.requires_grad]
        if again:
            found += ng.grad(again, variables, _seeds_of(again), allow_unused=True)
    found = [x for x in found if x is not None]
    require({x.device for x in found} == {device}, f"a result is not on {device}")
    return [x.detach().cpu().numpy() for x in found]


def _seeds_of(outputs: Sequence[Any], lead: tuple[int, ...] = ()) -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    return [rng.standard_normal((*lead, *o.shape)).astype(o.dtype) for o in outputs]


def require_close(
    found: np.ndarray,
    expected: np.ndarray,
    units: float = 200,
    computed_in: np.dtype | None = None,
) -> None:
    """Raise an error unless two arrays agree.

    Floating numbers may differ by ``units`` in the last place of the largest element: a place of
    their dtype, or of ``computed_in`` if numbers of that dtype were rounded on the way. Integers
    and booleans must be equal.
    """
    require(
        (found.shape, found.dtype) == (expected.shape, expected.dtype),
        f"{found.shape} of {found.dtype} where {expected.shape} of {expected.dtype} is right",
    )
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected)
        return
    scale = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    dtypes = (expected.dtype, computed_in or expected.dtype)
    tolerance = units * max(float(np.finfo(one).eps) for one in dtypes if one.kind in "fc")
    np.testing.assert_allclose(found, expected, tolerance, tolerance * scale)
