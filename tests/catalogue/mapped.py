"""Judges of mapped functions: `vmap` is a loop over the samples, bit for bit (through BLAS and
LAPACK: to rounding), in values and in derivatives."""

import numpy as np

import numgrad as ng
from numgrad.testing.invariants import agree

from .case import several
from .judge import differentiable, judge, smooth_and_float32, smooth_in_float64

F = ng.func


def has_operands(scenario):
    return differentiable(scenario) and len(scenario.points[0]) > 1


class Samples:
    """A case and the same elements turned around, as samples along a first axis: the first one
    comes twice, and what a loop over the samples computes of it is computed once."""

    def __init__(self, case):
        self.case, self.places = case, case.floating
        first, second = case.arrays, tuple(map(turned, case.arrays))
        self.distinct = (first, second)
        self.samples = (first, second, first)
        self.stacked = tuple(map(np.stack, zip(*self.samples, strict=True)))
        self.single = {}

    def outputs(self, *arrays):
        return several(self.case.scenario.function(*map(ng.asarray, arrays)))

    def floating_outputs(self, *arrays):
        return tuple(y for y in self.outputs(*arrays) if y.dtype.kind in "fc")

    def looped(self, function, name):
        """Return the results of both points, of which the loop consists; a name is computed
        once."""
        if name not in self.single:
            self.single[name] = [numbers(function(*arrays)) for arrays in self.distinct]
        first, second = self.single[name]
        return [first, second, first]

    def values(self):
        return self.looped(self.outputs, "values")

    def jacobian(self, mode):
        return F.jacobian(self.floating_outputs, self.places, mode=mode)

    def jacobians(self, mode):
        return self.looped(self.jacobian(mode), mode)

    def require_equal(self, found, expected):
        for a, b in zip(found, expected, strict=True):
            assert agree(np.asarray(a), b, self.case.exact), (a, b)


def samples_of(case):
    """Return the samples of a case, which it keeps."""
    if "samples" not in case.kept:
        case.kept["samples"] = Samples(case)
    return case.kept["samples"]


def turned(array):
    """Return the same elements from the last to the first: as good a point as the other."""
    return np.ascontiguousarray(array.reshape(-1)[::-1]).reshape(array.shape)


def numbers(tree):
    """Return the arrays in nested tuples."""
    if isinstance(tree, tuple):
        return [leaf for item in tree for leaf in numbers(item)]
    return [np.asarray(tree)]


def columns(rows):
    """Return what a loop gives, output by output."""
    return [np.stack(column) for column in zip(*rows, strict=True)]


@judge(smooth_and_float32)
def mapped(case):
    samples = samples_of(case)
    found = F.vmap(samples.outputs)(*samples.stacked)
    samples.require_equal(found, columns(samples.values()))


@judge(smooth_and_float32, when=differentiable)
def gradient_through_map(case):
    samples, places = samples_of(case), case.floating
    rng = np.random.default_rng(0)
    outputs = [y for y in columns(samples.values()) if y.dtype.kind in "fc"]
    seeds = tuple(rng.uniform(0.5, 1, y.shape).astype(y.dtype) for y in outputs)

    def product(function, arrays):
        def part(*some):
            given = list(arrays)
            for place, value in zip(places, some, strict=True):
                given[place] = value
            return function(*given)

        return F.vjp(part, *[arrays[n] for n in places])[1]

    found = product(F.vmap(samples.floating_outputs), samples.stacked)(seeds)
    first, second = (product(samples.floating_outputs, arrays) for arrays in samples.distinct)
    rows = [tuple(seed[n] for seed in seeds) for n in range(3)]
    looped = [each(row) for each, row in zip((first, second, first), rows, strict=True)]
    samples.require_equal(found, columns(looped))


def jacobians_of_samples(case, mode):
    samples = samples_of(case)
    found = numbers(F.vmap(samples.jacobian(mode))(*samples.stacked))
    samples.require_equal(found, columns(samples.jacobians(mode)))


def jacobian_of_map(case, mode):
    """A batched pass through a mapped function: blocks on the diagonal, zeros beside."""
    samples, places = samples_of(case), case.floating
    mapped = F.vmap(samples.floating_outputs)
    found = numbers(F.jacobian(mapped, places, mode=mode)(*samples.stacked))
    single = samples.jacobians(mode)
    inputs = [case.arrays[n].ndim for n in places]
    for number, whole in enumerate(found):
        axis = whole.ndim - 1 - inputs[number % len(places)]
        for n in range(3):
            row = np.moveaxis(whole[n], axis - 1, 0)
            samples.require_equal([row[n]], [single[n][number]])
            others = np.delete(row, n, 0)
            assert not others[np.isfinite(others)].any()


@judge(smooth_in_float64, when=differentiable)
def mapped_reverse_jacobians(case):
    jacobians_of_samples(case, "reverse")


@judge(smooth_in_float64, when=differentiable)
def mapped_forward_jacobians(case):
    jacobians_of_samples(case, "forward")


@judge(smooth_in_float64, when=differentiable)
def reverse_jacobian_of_map(case):
    jacobian_of_map(case, "reverse")


@judge(smooth_in_float64, when=differentiable)
def forward_jacobian_of_map(case):
    jacobian_of_map(case, "forward")


@judge(smooth_in_float64, when=has_operands)
def shared_operands(case):
    """Operands that all samples share."""
    samples = samples_of(case)
    first = case.arrays
    for mapped in range(len(first)):
        axes = tuple(0 if n == mapped else None for n in range(len(first)))

        def given(arrays, mapped=mapped):
            return [a if n == mapped else first[n] for n, a in enumerate(arrays)]

        found = F.vmap(samples.outputs, in_axes=axes)(*given(samples.stacked))
        one, other = (numbers(samples.outputs(*given(a))) for a in samples.distinct)
        samples.require_equal(found, columns([one, other, one]))


JUDGES = (
    mapped, gradient_through_map, mapped_reverse_jacobians, mapped_forward_jacobians,
    reverse_jacobian_of_map, forward_jacobian_of_map, shared_operands,
)  # fmt: skip
