"""Judges of captured functions: recorded and replayed, they give what direct calls give."""

import numpy as np

import numgrad as ng
from numgrad._tensor import Tensor

from .case import several
from .judge import all_as_given, differentiable, first_as_given, judge


@judge(all_as_given)
def captured(case):
    """The value of a captured function, which is captured once for all points."""
    function = case.scenario.function
    jitted = case.family.kept.setdefault("captured", ng.jit(function))
    expected = results_of(function, case.arrays)
    for _ in range(2):  # the second call replays what the first has recorded
        same(results_of(jitted, case.arrays), expected, case.exact)


@judge(first_as_given, when=differentiable)
def gradient_through_replay(case):
    same(gradients(ng.jit(case.scenario.function), case.arrays), gradient_of(case), case.exact)


@judge(first_as_given, when=differentiable)
def gradient_inside(case):
    """The gradient that a captured function computes."""
    function = case.scenario.function

    def inside(*args):
        with ng.enable_grad():
            leaves = [a.clone().requires_grad_(a.dtype.kind in "fc") for a in args]
            return tuple(Tensor.clone(g) for g in pulled(function, leaves))

    same(results_of(ng.jit(inside), case.arrays), gradient_of(case), case.exact)


def results_of(function, arrays):
    found = several(function(*[Tensor(a) for a in arrays]))
    return [r.detach().numpy() for r in found]


def gradient_of(case):
    """Return the gradient of a direct call, which the case keeps."""
    if "gradient" not in case.kept:
        case.kept["gradient"] = gradients(case.scenario.function, case.arrays)
    return case.kept["gradient"]


def gradients(function, arrays):
    leaves = [Tensor(a, a.dtype.kind in "fc") for a in arrays]
    return [g.numpy() for g in pulled(function, leaves)]


def pulled(function, leaves):
    outputs = [r for r in several(function(*leaves)) if r.requires_grad]
    inputs = [leaf for leaf in leaves if leaf.requires_grad]
    rng = np.random.default_rng(0)
    seeds = [rng.uniform(0.5, 1.0, o.shape).astype(o.dtype) for o in outputs]
    return ng.grad(outputs, inputs, seeds, allow_unused=True, materialize_grads=True)


def same(found, expected, exact):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if exact:
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, 1e-5 if a.dtype.itemsize == 4 else 1e-12, 1e-12)


JUDGES = (captured, gradient_through_replay, gradient_inside)
