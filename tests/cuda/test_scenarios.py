"""Every operator on the device: values, batched passes, first and second derivatives are those of
the processor."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.testing.scenarios import SCENARIOS


def cases():
    for scenario in SCENARIOS:
        for dtype in scenario.dtypes:
            yield pytest.param(scenario, dtype, id=f"{scenario.name}-{dtype}")


def seeds_of(outputs, lead=()):
    rng = np.random.default_rng(7)
    return [rng.standard_normal((*lead, *o.shape)).astype(o.dtype) for o in outputs]


def everything(scenario, arrays, device):
    """Return values, a batched pass taken twice, and first and second derivatives, as arrays."""
    leaves = [
        ng.tensor(a, requires_grad=bool(scenario.order) and a.dtype.kind in "fc", device=device)
        for a in arrays
    ]
    outputs = scenario.function(*leaves)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    found = list(outputs)
    live = [o for o in outputs if o.requires_grad]
    variables = [x for x in leaves if x.requires_grad]
    if live:
        for _ in range(2):
            batch = seeds_of(live, (3,))
            found += ng.grad(
                live, variables, batch, is_grads_batched=True, allow_unused=True, retain_graph=True
            )
        second = scenario.order > 1
        first = ng.grad(live, variables, seeds_of(live), allow_unused=True, create_graph=second)
        found += first
        again = [g for g in first if g is not None and g.requires_grad]
        if again:
            found += ng.grad(again, variables, seeds_of(again), allow_unused=True)
    found = [x for x in found if x is not None]
    assert {x.device for x in found} == {device}
    return [x.detach().cpu().numpy() for x in found]


@pytest.mark.parametrize(("scenario", "dtype"), list(cases()))
def test_a_device_computes_what_the_processor_does(scenario, dtype):
    for point in scenario.points[:3]:
        arrays = scenario.at(point, dtype)
        expected = everything(scenario, arrays, "cpu")
        found = everything(scenario, arrays, "cuda:0")
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            require_close(one, other)


def require_close(found, expected):
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    if expected.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected)
        return
    scale = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    tolerance = 200 * np.finfo(expected.dtype).eps
    np.testing.assert_allclose(found, expected, tolerance, tolerance * scale)
