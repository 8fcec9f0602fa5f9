"""`vmap` of every operator is a loop over the samples, bit for bit (through BLAS and LAPACK: to
rounding), in its value and in its derivatives."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.testing.invariants import agree
from numgrad.testing.scenarios import SCENARIOS
from numgrad.testing.scenarios.scenario import smooth_points

F = ng.func

CASES = [
    pytest.param(scenario, point, dtype, id=f"{scenario.name}-{number}-{dtype}")
    for scenario in SCENARIOS
    for number, point in smooth_points(scenario)
    for dtype in ("float64", "complex128", "float32")[: 3 if number == 0 else 2]
    if dtype in scenario.dtypes
]
DIFFERENTIABLE = [case for case in CASES if case.values[0].order]


def turned(array):
    """The same elements from the last to the first: as good a point as the other."""
    return np.ascontiguousarray(array.reshape(-1)[::-1]).reshape(array.shape)


class Samples:
    """A scenario at two points, one of them twice, as samples along a first axis."""

    def __init__(self, scenario, point, dtype):
        self.scenario = scenario
        first = scenario.at(point, dtype)
        self.samples = [first, tuple(map(turned, first)), first]
        self.stacked = tuple(map(np.stack, zip(*self.samples, strict=True)))
        self.floating = tuple(n for n, a in enumerate(first) if a.dtype.kind in "fc")

    def outputs(self, *arrays):
        result = self.scenario.function(*map(ng.asarray, arrays))
        return result if isinstance(result, tuple) else (result,)

    def floating_outputs(self, *arrays):
        return tuple(y for y in self.outputs(*arrays) if y.dtype.kind in "fc")

    def looped(self, function):
        """The results of all samples, one after the other."""
        return [np.stack(column) for column in zip(*map(function, self.samples), strict=True)]

    def require_equal(self, found, expected):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert agree(np.asarray(a), b, self.scenario.exact), (a, b)


def numbers(tree):
    """The arrays in nested tuples."""
    if isinstance(tree, tuple):
        return [leaf for item in tree for leaf in numbers(item)]
    return [np.asarray(tree)]


@pytest.mark.parametrize(("scenario", "point", "dtype"), CASES)
def test_values(scenario, point, dtype):
    samples = Samples(scenario, point, dtype)
    found = F.vmap(samples.outputs)(*samples.stacked)
    samples.require_equal(found, samples.looped(lambda a: numbers(samples.outputs(*a))))


@pytest.mark.parametrize(("scenario", "point", "dtype"), DIFFERENTIABLE)
def test_gradients_through(scenario, point, dtype):
    samples = Samples(scenario, point, dtype)
    places = samples.floating

    def product(function, arrays, seeds):
        def part(*some):
            given = list(arrays)
            for place, value in zip(places, some, strict=True):
                given[place] = value
            return function(*given)

        return F.vjp(part, *[arrays[n] for n in places])[1](seeds)

    outputs = samples.looped(lambda a: numbers(samples.floating_outputs(*a)))
    rng = np.random.default_rng(0)
    seeds = tuple(rng.uniform(0.5, 1, y.shape).astype(y.dtype) for y in outputs)
    found = product(F.vmap(samples.floating_outputs), samples.stacked, seeds)
    rows = [tuple(seed[n] for seed in seeds) for n in range(3)]
    pairs = zip(samples.samples, rows, strict=True)
    single = [product(samples.floating_outputs, arrays, row) for arrays, row in pairs]
    samples.require_equal(found, [np.stack(column) for column in zip(*single, strict=True)])


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(
    ("scenario", "point", "dtype"), [c for c in DIFFERENTIABLE if c.values[2] == "float64"]
)
def test_jacobians_of_samples(scenario, point, dtype, mode):
    samples = Samples(scenario, point, dtype)
    transform = F.jacobian(samples.floating_outputs, samples.floating, mode=mode)
    found = numbers(F.vmap(transform)(*samples.stacked))
    samples.require_equal(found, samples.looped(lambda a: numbers(transform(*a))))


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(
    ("scenario", "point", "dtype"), [c for c in DIFFERENTIABLE if c.values[2] == "float64"]
)
def test_jacobian_of_all_samples(scenario, point, dtype, mode):
    """A batched pass through a mapped function: blocks on the diagonal, zeros beside."""
    samples = Samples(scenario, point, dtype)
    function, places = samples.floating_outputs, samples.floating
    found = numbers(F.jacobian(F.vmap(function), places, mode=mode)(*samples.stacked))
    transform = F.jacobian(function, places, mode=mode)
    single = [numbers(transform(*arrays)) for arrays in samples.samples]
    inputs = [samples.samples[0][n].ndim for n in places]
    for number, whole in enumerate(found):
        axis = whole.ndim - 1 - inputs[number % len(places)]
        for n in range(3):
            row = np.moveaxis(whole[n], axis - 1, 0)
            samples.require_equal([row[n]], [single[n][number]])
            others = np.delete(row, n, 0)
            assert not others[np.isfinite(others)].any()


@pytest.mark.parametrize(
    ("scenario", "point", "dtype"),
    [c for c in DIFFERENTIABLE if c.values[2] == "float64" and len(c.values[1]) > 1],
)
def test_operands_that_all_samples_share(scenario, point, dtype):
    samples = Samples(scenario, point, dtype)
    first = samples.samples[0]
    for mapped in range(len(first)):
        axes = tuple(0 if n == mapped else None for n in range(len(first)))

        def given(arrays, mapped=mapped):
            return [a if n == mapped else first[n] for n, a in enumerate(arrays)]

        found = F.vmap(samples.outputs, in_axes=axes)(*given(samples.stacked))
        expected = samples.looped(lambda a, given=given: numbers(samples.outputs(*given(a))))
        samples.require_equal(found, expected)
