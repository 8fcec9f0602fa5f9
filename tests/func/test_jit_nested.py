"""Captured functions inside of captured functions are part of the recording."""

import numpy as np
import pytest

import numgrad as ng

X = np.linspace(0.5, 1.5, 4)


def used_before(function, *args):
    """Return a captured function that has already served some calls, as builtin entry too."""
    for _ in range(3):
        function(*args)
    return function


def test_a_call_with_an_array_from_outside_reads_tensors_at_each_replay():
    w = ng.tensor(np.full(4, 2.0), requires_grad=True)
    inner = used_before(ng.jit(lambda x: (x * w).sum()), X)
    outer = ng.jit(lambda y: y.sum() + inner(X))
    assert outer(X) == pytest.approx(3 * X.sum())
    with ng.no_grad():
        w *= 5
    assert outer(X) == pytest.approx(11 * X.sum())
    np.testing.assert_array_equal(ng.grad(outer(ng.tensor(X)), w)[0].numpy(), X)


def test_an_ensemble_is_a_part_like_any_other():
    sums = ng.jit(lambda x: x.sum(), ensemble=True)
    pairs = X.reshape(2, 2)
    found = ng.jit(lambda y: y + 10.0 * sums(y.reshape(2, 2)).sum())(X)
    np.testing.assert_allclose(found, X + 10.0 * X.sum(), rtol=1e-14)
    scaled = ng.jit(lambda y: sums(y.reshape(2, 2)) * y[:2])(X)
    np.testing.assert_allclose(scaled, pairs.sum(1) * X[:2], rtol=1e-14)


def test_an_ensemble_of_an_array_from_outside_reads_it_at_each_replay():
    table = np.ones((4, 2))
    sums = used_before(ng.jit(lambda x: x.sum(), ensemble=True), table)
    outer = ng.jit(lambda y: y + sums(table))
    np.testing.assert_array_equal(outer(X), X + 2.0)
    table[:] = 5.0
    np.testing.assert_array_equal(outer(X), X + 10.0)


def test_an_ensemble_inside_sees_the_tensors_that_it_closes_over():
    w = ng.tensor(np.ones(2))
    weighted = ng.jit(lambda x: (w * x).sum(), ensemble=True)
    outer = ng.jit(lambda y: weighted(y.reshape(2, 2)).sum() + y)
    np.testing.assert_allclose(outer(X), X + X.sum(), rtol=1e-14)
    w *= 3.0
    np.testing.assert_allclose(outer(X), X + 3.0 * X.sum(), rtol=1e-14)
    w.requires_grad_()
    with pytest.raises(ng.errors.ArgTypeError, match="closes over a tensor that requires grad"):
        outer(X)


def test_an_ensemble_says_that_gradients_would_not_reach_what_it_closes_over():
    w = ng.tensor(np.ones(2), requires_grad=True)
    weighted = ng.jit(lambda x: (w * x).sum(), ensemble=True)
    members = X.reshape(2, 2)
    np.testing.assert_allclose(weighted(members), members.sum(1), rtol=1e-14)
    with pytest.raises(ng.errors.ArgTypeError, match="not differentiated"):
        weighted(ng.tensor(members))
    with ng.no_grad():
        np.testing.assert_allclose(weighted(ng.tensor(members)).numpy(), members.sum(1))


def test_out_of_a_part_is_refused():
    inner = used_before(ng.jit(lambda x: 2 * x), X)
    with pytest.raises(ng.errors.CaptureError, match=r"at .*test_jit_nested.py.*out="):
        ng.jit(lambda x: inner(x, out=np.empty(4)))(X)
    with pytest.raises(ng.errors.CaptureError, match="out="):
        ng.jit(lambda x: x + inner(X, out=np.empty(4)))(X)
