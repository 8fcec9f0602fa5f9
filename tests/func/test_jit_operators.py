"""Every operator of the catalogue, captured and replayed, against the same function called
directly."""

import math

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad._tensor import Tensor
from numgrad.testing.scenarios import SCENARIOS

DIFFERENTIABLE = [s for s in SCENARIOS if s.order]


def over(scenarios):
    return pytest.mark.parametrize("scenario", [pytest.param(s, id=s.name) for s in scenarios])


def results_of(function, arrays):
    found = function(*[Tensor(a) for a in arrays])
    found = found if isinstance(found, tuple) else (found,)
    return [r.detach().numpy() for r in found]


def same(found, expected, exact):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        if exact:
            np.testing.assert_array_equal(a, b)
        else:
            np.testing.assert_allclose(a, b, 1e-5 if a.dtype.itemsize == 4 else 1e-12, 1e-12)


@over(SCENARIOS)
def test_values(scenario):
    jitted = ng.jit(scenario.function)
    for arrays in scenario.points:
        expected = results_of(scenario.function, arrays)
        for _ in range(2):  # the second call replays what the first has recorded
            same(results_of(jitted, arrays), expected, scenario.exact)


def gradients(function, arrays):
    leaves = [Tensor(a, a.dtype.kind in "fc") for a in arrays]
    found = function(*leaves)
    found = found if isinstance(found, tuple) else (found,)
    outputs = [r for r in found if r.requires_grad]
    inputs = [leaf for leaf in leaves if leaf.requires_grad]
    rng = np.random.default_rng(0)
    seeds = [rng.uniform(0.5, 1.0, o.shape).astype(o.dtype) for o in outputs]
    grads = ng.grad(outputs, inputs, seeds, allow_unused=True, materialize_grads=True)
    return [g.numpy() for g in grads]


@over(DIFFERENTIABLE)
def test_gradients_through_a_replay(scenario):
    arrays = scenario.points[0]
    expected = gradients(scenario.function, arrays)
    same(gradients(ng.jit(scenario.function), arrays), expected, scenario.exact)


@over(DIFFERENTIABLE)
def test_gradients_inside(scenario):
    arrays = scenario.points[0]
    expected = gradients(scenario.function, arrays)

    def inside(*args):
        return tuple(Tensor.clone(g) for g in deferred_gradients(scenario.function, args))

    same(results_of(ng.jit(inside), arrays), expected, scenario.exact)


def deferred_gradients(function, args):
    with ng.enable_grad():
        leaves = [a.clone().requires_grad_(a.dtype.kind in "fc") for a in args]
        found = function(*leaves)
        found = found if isinstance(found, tuple) else (found,)
        outputs = [r for r in found if r.requires_grad]
        inputs = [leaf for leaf in leaves if leaf.requires_grad]
        rng = np.random.default_rng(0)
        seeds = [rng.uniform(0.5, 1.0, o.shape).astype(o.dtype) for o in outputs]
        return ng.grad(outputs, inputs, seeds, allow_unused=True, materialize_grads=True)


@ng.operator("(n)->(n)")
@njit
def root(x, out):
    for i in range(x.size):
        if x[i] < 0.0:
            raise ValueError("negative")
        out[i] = math.sqrt(x[i])


def rooted(x):
    y = 2.0 * x
    return root(y) + 1.0


@pytest.mark.parametrize("fuse", ["never", "now"])
def test_a_kernel_that_raises_in_a_replay_names_the_line_that_called_it(fuse):
    line = rooted.__code__.co_firstlineno + 2
    captured = ng.jit(rooted, fuse=fuse)
    captured(np.ones(3))
    for _ in range(2):
        with pytest.raises(ng.errors.OperatorError, match=rf"operator root.*:{line} in rooted"):
            captured(-np.ones(3))
    with pytest.raises(np.linalg.LinAlgError, match=r"singular.*in <lambda>"):
        ng.jit(lambda x: ng.linalg.inv(x))(np.zeros((2, 2)))
