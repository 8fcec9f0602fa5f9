"""Every operator on the device: values, batched passes, first and second derivatives are those of
the processor. At each change double precision has all points, and a quarter of the operators have
one in single precision."""

import itertools

import pytest

from numgrad.testing.cuda.agreement import cases, compare

from ..sampling import exhaustive


def _cases():
    turns = itertools.count()
    for scenario, dtype in cases():
        name, points, marks = f"{scenario.name}-{dtype}", scenario.points[:3], ()
        if dtype in ("float32", "complex64") and "float64" in scenario.dtypes:
            if points[1:]:
                yield pytest.param(scenario, dtype, points[1:], id=f"{name}-more", marks=exhaustive)
            points, marks = points[:1], exhaustive if next(turns) % 4 else ()
        yield pytest.param(scenario, dtype, points, id=name, marks=marks)


@pytest.mark.parametrize(("scenario", "dtype", "points"), list(_cases()))
def test_a_device_computes_what_the_processor_does(scenario, dtype, points):
    compare(scenario, dtype, points)
