"""Every operator on the device: values, batched passes, first and second derivatives are those of
the processor. At each change single precision has one point, and double precision all."""

import pytest

from numgrad.testing.cuda.agreement import cases, compare

from ..sampling import exhaustive


def _cases():
    for scenario, dtype in cases():
        name, points = f"{scenario.name}-{dtype}", scenario.points[:3]
        if dtype in ("float32", "complex64") and "float64" in scenario.dtypes:
            if points[1:]:
                yield pytest.param(scenario, dtype, points[1:], id=f"{name}-more", marks=exhaustive)
            points = points[:1]
        yield pytest.param(scenario, dtype, points, id=name)


@pytest.mark.parametrize(("scenario", "dtype", "points"), list(_cases()))
def test_a_device_computes_what_the_processor_does(scenario, dtype, points):
    compare(scenario, dtype, points)
