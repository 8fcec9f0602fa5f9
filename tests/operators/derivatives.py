"""Numerical derivatives, and the three ways to compute one value, for the tests of operators."""

import numpy as np

import numgrad as ng
from numgrad.engine.lower.lower import force
from numgrad.engine.record.apply import deferring


def in_program(operator, *arrays, **static):
    """Return what ``operator`` gives when it is lowered to a program instead of run at once."""
    with ng.no_grad(), deferring(True):
        value = operator(*arrays, **static)
    force([value])
    return value.array


def gradient(function, x, g=None):
    """Return the gradient of ``function`` at ``x``, with ones as cotangent by default."""
    leaf = ng.tensor(x, requires_grad=True)
    y = function(leaf)
    return ng.grad(y, leaf, np.ones(y.shape, y.dtype) if g is None else g)[0].numpy()


def second(function, x, u, v):
    """Return the gradient of ``v`` times the gradient for the cotangent ``u``."""
    leaf = ng.tensor(x, requires_grad=True)
    (gx,) = ng.grad(function(leaf), leaf, u, create_graph=True)
    if not gx.requires_grad:
        return np.zeros_like(x)
    return ng.grad(gx, leaf, v, allow_unused=True, materialize_grads=True)[0].numpy()


def differences(function, x, g, step=1e-6):
    """Return the gradient of ``sum(g * function(x))`` by central differences."""
    x = np.asarray(x)
    result = np.empty(x.shape)
    for position in np.ndindex(x.shape):
        move = np.zeros(x.shape)
        move[position] = step
        with ng.no_grad():
            rise = function(ng.tensor(x + move)).numpy() - function(ng.tensor(x - move)).numpy()
        result[position] = np.sum(g * rise) / (2 * step)
    return result


def check_derivatives(function, x, rng, tolerance=1e-6):
    """Compare the first and the second derivative of a real function with central differences."""
    with ng.no_grad():
        shape = function(ng.tensor(x)).shape
    g, v = rng.standard_normal(shape), rng.standard_normal(np.shape(x))
    np.testing.assert_allclose(
        gradient(function, x, g), differences(function, x, g), tolerance, tolerance
    )

    def slope(point):
        leaf = ng.tensor(point.numpy(), requires_grad=True)
        with ng.enable_grad():
            return ng.grad(function(leaf), leaf, g)[0]

    expected = differences(slope, x, v)
    np.testing.assert_allclose(second(function, x, g, v), expected, tolerance, 10 * tolerance)


def check_batched(function, x, rng, rows=3):
    """Check that a batched pass has the bits of one pass per row."""
    leaf = ng.tensor(x, requires_grad=True)
    y = function(leaf)
    seeds = rng.standard_normal((rows, *y.shape)).astype(y.dtype)
    batched = ng.grad(y, leaf, seeds, retain_graph=True, is_grads_batched=True)[0].numpy()
    looped = [ng.grad(y, leaf, seed, retain_graph=True)[0].numpy() for seed in seeds]
    np.testing.assert_array_equal(batched, np.stack(looped))
