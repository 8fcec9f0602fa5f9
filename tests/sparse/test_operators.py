"""Every operator of the catalogue: patterns hold every derivative, and matrices are the derivatives
that finite differences find."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.testing.scenarios import SCENARIOS
from numgrad.testing.scenarios.scenario import smooth_points
from tests.sampling import one_in

SMOOTH = [s for s in SCENARIOS if s.order]
STEP = 1e-6


def over(scenarios, count=1):
    cases = [pytest.param(s, id=s.name) for s in scenarios]
    return pytest.mark.parametrize("scenario", one_in(count, cases))


def flat_function(scenario, point):
    """Return a scenario as a function of one vector, and the vector at a point."""
    moving = [n for n, a in enumerate(point) if a.dtype.kind == "f"]

    def function(z):
        args, first = list(point), 0
        for n in moving:
            args[n] = z[first : first + point[n].size].reshape(point[n].shape)
            first += point[n].size
        found = scenario.function(*args)
        results = found if isinstance(found, tuple) else (found,)
        parts = [r for r in results if r.dtype.kind == "f"]
        parts += [part(r) for r in results if r.dtype.kind == "c" for part in (ng.real, ng.imag)]
        return ng.concatenate([part.reshape(-1) for part in parts])

    return function, np.concatenate([point[n].reshape(-1) for n in moving])


def differences(function, z):
    """Return the Jacobian by central differences."""
    columns = []
    for k in range(z.size):
        step = np.zeros(z.size)
        step[k] = STEP
        with ng.no_grad():
            upper, lower = (function(ng.asarray(z + s * step)).numpy() for s in (1, -1))
        columns.append((upper - lower) / (2 * STEP))
    return np.stack(columns, axis=1)


@over(SMOOTH, 3)
def test_jacobian_is_that_of_finite_differences(scenario):
    for _, point in smooth_points(scenario):
        function, z = flat_function(scenario, point)
        expected = differences(function, z)
        pattern = ng.sparse.jacobian_pattern(function, z).toarray()
        assert not (abs(expected) > 1e-4)[~pattern].any()
        for coloring in ("column", "row"):
            found = ng.sparse.jacobian(function, z, coloring=coloring).toarray()
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@over([s for s in SMOOTH if s.order > 1], 4)
def test_hessian_is_that_of_finite_differences_of_gradients(scenario):
    (_, point), *_ = smooth_points(scenario)
    function, z = flat_function(scenario, point)

    def weighted(z):
        y = function(z)
        return (y * ng.asarray(1 + np.arange(y.size))).sum()

    gradient = ng.func.grad(weighted)
    expected = differences(lambda z: ng.asarray(gradient(z.numpy())), z)
    for coloring in ("star", "acyclic"):
        found = ng.sparse.hessian(weighted, z, coloring=coloring).toarray()
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
