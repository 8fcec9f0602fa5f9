"""What captured functions close over: values of other calls, and what is differentiated."""

import numpy as np
import pytest

import numgrad as ng

X, Y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.5, -1.0])


def kept_of_a_call():
    """What a captured function has put into a list when it was recorded."""
    kept = []

    def function(x):
        kept.extend([x, x * 2.0])
        return x + 1.0

    ng.jit(function)(X)
    return kept


@pytest.mark.parametrize(
    "function",
    [
        lambda kept, x: x + kept,
        lambda kept, x: kept * 1.0,
        lambda kept, x: kept,
        lambda kept, x: ng.func.grad(lambda y: (y * kept).sum())(x),
        lambda kept, x: ng.func.jacobian(lambda y: y * kept)(x),
    ],
)
@pytest.mark.parametrize("position", [0, 1])
def test_what_was_kept_of_another_call_is_refused(function, position):
    kept = kept_of_a_call()[position]
    for x in (X, ng.tensor(X), np.ones((4, 3))):
        with pytest.raises(ng.errors.CaptureError, match="belongs to another call"):
            ng.jit(lambda x: function(kept, x))(x)
        np.testing.assert_array_equal(ng.jit(lambda x: x * 2.0)(X), 2.0 * X)


def test_an_ensemble_may_not_close_over_values_of_the_function_around_it():
    members = np.stack([X, 2.0 * X])

    def around(x, m, value):
        return ng.jit(lambda a: (a * value(x)).sum(), ensemble=True)(m)

    for value in (lambda x: x, lambda x: x * 2.0):
        with pytest.raises(ng.errors.CaptureError, match="must be one of its arguments"):
            ng.jit(lambda x, m, value=value: around(x, m, value))(X, members)


def test_the_derivative_of_a_function_reaches_what_a_captured_one_closes_over():
    def loss(w):
        captured = ng.jit(lambda x: (x * w * w).sum())
        return captured(X) + captured(X)  # the second call is a replay

    for transform in (ng.func.grad, ng.func.jacrev, ng.func.jacfwd):
        np.testing.assert_array_equal(transform(loss)(Y), 4 * X * Y)
    np.testing.assert_array_equal(ng.func.jvp(loss, (Y,), (X,))[1], (4 * X * Y * X).sum())
    np.testing.assert_array_equal(ng.func.hessian(loss)(Y), np.diag(4 * X))


def test_arrays_come_back_again_after_a_derivative():
    w = ng.tensor(Y, requires_grad=True)
    captured = ng.jit(lambda x: (x * w).sum())
    for _ in range(3):
        assert type(captured(X)) is np.ndarray
        assert ng.func.grad(lambda s: captured(X) * s)(2.0) == (X * Y).sum()
        value = ng.func.value_and_grad(lambda s: captured(X) * s)(ng.tensor(2.0))[0]
        np.testing.assert_array_equal(value.detach().numpy(), 2 * (X * Y).sum())


def test_an_ensemble_that_closes_over_what_is_differentiated_is_refused():
    def loss(w):
        return ng.jit(lambda x: (x * w).sum(), ensemble=True)(np.stack([X, Y])).sum()

    for transform in (ng.func.grad, ng.func.jacfwd):
        with pytest.raises(ng.errors.ArgTypeError, match="closes over a tensor that requires grad"):
            transform(loss)(Y)


@pytest.mark.parametrize("requires_grad", [False, True])
def test_a_detached_argument_may_become_a_leaf(requires_grad):
    @ng.jit
    def function(x):
        leaf = x.detach().requires_grad_()
        (leaf**3).sum().backward()
        return leaf.grad, ng.grad((leaf * leaf).sum(), leaf)[0]

    for x in (X, 2.0 * X):
        first, second = function(ng.tensor(x, requires_grad=requires_grad))
        np.testing.assert_array_equal(first.numpy(), 3.0 * x * x)
        np.testing.assert_array_equal(second.numpy(), 2.0 * x)
    for touch in (lambda x: x.requires_grad_(), lambda x: x.grad, lambda x: x.detach().fill(1.0)):
        with pytest.raises(ng.errors.CaptureError, match="from outside"):
            ng.jit(touch)(ng.tensor(X, requires_grad=requires_grad))
