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


@pytest.mark.host_only("arrays of NumPy come back")
def test_arrays_come_back_where_no_gradient_is_recorded():
    w = ng.tensor(Y, requires_grad=True)
    captured = ng.jit(lambda x: (x * w).sum())
    for _ in range(3):
        with ng.no_grad():
            assert type(captured(X)) is np.ndarray
        assert captured(X).requires_grad
        assert ng.func.grad(lambda s: captured(X) * s)(2.0) == (X * Y).sum()
        value = ng.func.value_and_grad(lambda s: captured(X) * s)(ng.tensor(2.0))[0]
        np.testing.assert_array_equal(value.detach().numpy(), 2 * (X * Y).sum())


class Model:
    """Parameters in attributes, as those who come from other libraries write it."""

    def __init__(self):
        self.w = ng.tensor(Y, requires_grad=True)

    def predict(self, x):
        return self.w * x

    __call__ = predict


@pytest.mark.parametrize("capture", [
    lambda model: ng.jit(lambda x: model.w * x),
    lambda model: ng.jit(model.predict),
    lambda model: ng.jit(model),
    lambda model: ng.jit(ng.jit(model)),
    lambda model: ng.jit(lambda x: ng.jit(model)(x)),
])  # fmt: skip
def test_arrays_in_do_not_cut_what_is_closed_over(capture):
    model = Model()
    captured = capture(model)
    for _ in range(3):
        loss = ((model.w - 1) ** 2).sum() + captured(X).sum()
        np.testing.assert_array_equal(ng.grad(loss, model.w)[0].numpy(), 2 * (Y - 1) + X)


def test_only_results_that_depend_on_what_is_closed_over_are_tensors():
    w = ng.tensor(Y, requires_grad=True)
    captured = ng.jit(lambda x: {"both": x * w, "alone": x * 2})
    for _ in range(3):
        found = captured(X)
        assert type(found["alone"]) is np.ndarray
        np.testing.assert_array_equal(ng.grad(found["both"].sum(), w)[0].numpy(), X)


def test_leaves_that_a_function_makes_are_nobody_elses():
    @ng.jit
    def with_its_own(x):
        t = ng.tensor(x, requires_grad=True)
        y = (t * t).sum()
        return y, ng.grad(y, t, retain_graph=True)[0]

    for _ in range(3):
        value, gradient = with_its_own(X)
        assert type(value) is type(gradient) is np.ndarray
        np.testing.assert_array_equal(gradient, 2 * X)


def test_a_tensor_closed_over_may_be_a_result_as_it_is():
    w = ng.tensor(Y, requires_grad=True)
    captured = ng.jit(lambda x: (w, x * 2, w[1:]))
    for _ in range(3):
        found, doubled, part = captured(X)
        assert type(doubled) is np.ndarray
        (gradient,) = ng.grad((found * X).sum() + part.sum(), w)
        np.testing.assert_array_equal(gradient.numpy(), X + [0, 1, 1])


@pytest.mark.host_only("is about memory of NumPy")
def test_results_in_memory_of_the_caller_would_lose_what_is_closed_over():
    w = ng.tensor(Y, requires_grad=True)
    captured = ng.jit(lambda x: x * w)
    with pytest.raises(ng.errors.ArgTypeError, match="require grad"):
        captured(X, out=np.empty(3))
    with ng.no_grad():
        np.testing.assert_array_equal(captured(X, out=np.empty(3)), X * Y)


def test_batched_passes_through_captured_functions_have_derivatives():
    cube = ng.jit(lambda y: y * y * y)
    t = ng.tensor([0.5, 2.0], requires_grad=True)
    weights = np.array([[1.0, 2.0], [3.0, 5.0]])
    (J,) = ng.grad(cube(t), t, np.eye(2), is_grads_batched=True, create_graph=True)
    np.testing.assert_array_equal(ng.grad((weights * J).sum(), t)[0].numpy(), [3.0, 60.0])


def test_a_batched_pass_opens_captured_functions_inside_of_captured_ones():
    inner = ng.jit(lambda x, y: (x * y, x * x * y))

    @ng.jit
    def outer(x, y):
        a, b = inner(x, ng.sin(y))
        c, d = inner(b, a)
        return c + d * y

    def plain(x, y):
        a, b = x * ng.sin(y), x * x * ng.sin(y)
        return b * a + b * b * a * y

    for arguments in ((0, 0), (0, 1)):

        def jacobian(f, chosen=arguments):
            return ng.func.jacrev(lambda *xy: ng.func.jacrev(f, chosen[0])(*xy), chosen[1])(X, Y)

        np.testing.assert_allclose(jacobian(outer), jacobian(plain), rtol=1e-13)


def test_what_a_function_has_detached_stays_detached_in_a_batched_pass():
    captured = ng.jit(lambda x: x * x * ng.exp(x.detach()))
    t = ng.tensor(X, requires_grad=True)
    (J,) = ng.grad(captured(t), t, np.eye(3), is_grads_batched=True, create_graph=True)
    np.testing.assert_allclose(J.detach().numpy(), np.diag(2 * X * np.exp(X)), rtol=1e-14)
    np.testing.assert_allclose(ng.grad(J.sum(), t)[0].numpy(), 2 * np.exp(X), rtol=1e-14)


@pytest.mark.parametrize("capture", [
    lambda model: ng.jit(lambda x: (model.w * x).sum()),
    lambda model: ng.jit(lambda x: ng.jit(model)(x).sum()),
])  # fmt: skip
@pytest.mark.parametrize("around", [lambda f: f, ng.jit])
@pytest.mark.parametrize("made", [lambda s: s, lambda s: s * 2 - 1])
def test_what_a_derivative_leaves_in_an_attribute_is_found_by_the_next_one(capture, around, made):
    model = Model()
    captured = capture(model)

    def loss(w):
        model.w = made(w)
        return captured(X) ** 2

    def expected(w):
        return 2 * (made(w) * X).sum() * (made(w + 1) - made(w)) * X

    gradient = ng.func.grad(loss)
    for w in (Y, Y + 1, 3 * Y):
        if around is ng.jit:  # a constant inside of a captured function

            def scaled(factor, w=w):
                return factor * ng.func.grad(loss)(w)

            for _ in range(3):
                np.testing.assert_allclose(ng.jit(scaled)(2.0), 2 * expected(w), rtol=1e-14)
        else:
            np.testing.assert_allclose(gradient(w), expected(w), rtol=1e-14)


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


RETURNED = {
    "alone": lambda x: ng.jit(lambda y: x)(0.5),
    "with others": lambda x: ng.jit(lambda y: (y * 1.0, x))(0.5)[1],
    "beside what is made of it": lambda x: sum(ng.jit(lambda y: (x, 2.0 * x))(0.5)) / 3.0,
    "of a tensor": lambda x: ng.jit(lambda y: (y, x))(ng.tensor(0.5))[1],
    "as auxiliary value": lambda x: ng.jit(
        ng.func.value_and_grad(lambda y: (y * 2.0, x), has_aux=True)
    )(0.5)[0][1],
    "inside another one": lambda x: ng.jit(lambda y: ng.jit(lambda z: x)(y))(0.5),
}


@pytest.mark.parametrize("function", RETURNED.values(), ids=RETURNED)
def test_what_is_closed_over_and_returned_keeps_its_graph(function):
    np.testing.assert_array_equal(ng.func.grad(lambda x: (function(x) * X).sum())(Y), X)
    np.testing.assert_array_equal(ng.func.jacrev(function)(Y), np.eye(3))
    np.testing.assert_array_equal(ng.func.jvp(function, (Y,), (X,))[1], X)
    x = ng.tensor(Y, requires_grad=True)
    np.testing.assert_array_equal(ng.grad(function(x), x, X)[0].numpy(), X)
    second = ng.func.hessian(lambda x: (function(x) ** 3).sum())(Y)
    np.testing.assert_allclose(second, np.diag(6.0 * Y), rtol=1e-15)


def test_what_is_closed_over_and_returned_may_be_written_later():
    def function(x):
        t = 1.0 * x
        found = ng.jit(lambda y: (t, y))(2.0)[0]
        t += t
        return found * t

    np.testing.assert_array_equal(ng.func.grad(lambda x: function(x).sum())(Y), 4.0 * Y)


@pytest.mark.parametrize("part", [
    lambda t: t, lambda t: t[:], lambda t: t[1:], lambda t: t.reshape((1, 2))[0], lambda t: t[::-1],
])  # fmt: skip
@pytest.mark.parametrize("apply", [
    lambda f, t: f(t), lambda f, t: ng.func.jvp(f, (t,), (t,))[0], lambda f, t: ng.jit(f)(t),
])  # fmt: skip
def test_a_view_closed_over_may_have_been_written_before_the_capture(part, apply):
    def function(x, capture=ng.jit):
        t = x * 1.0
        view = part(t)
        t[...] = t * x  # the view finds its place in the graph when it is asked for
        return np.sum(apply(capture(lambda y: np.exp(view)), t))

    x = np.array([0.5, 0.8])
    slope = ng.func.grad(function)(x)
    assert np.any(slope)
    np.testing.assert_array_equal(slope, ng.func.grad(lambda x: function(x, lambda f: f))(x))
    second = ng.func.hessian(function)(x)
    np.testing.assert_allclose(np.diag(second), slope * (2 * x + 1 / x), rtol=1e-13)


@pytest.mark.parametrize("write", [lambda t: t * 1.0, lambda t: 0.0 * t, lambda t: t - 1.0])
@pytest.mark.parametrize("part", [lambda t: t, lambda t: t[:], lambda t: t[0:1]])
@pytest.mark.parametrize("inner", [lambda f: f, ng.jit])
def test_derivatives_of_a_call_go_where_the_tensors_were_that_it_read(write, part, inner):
    def function(x, capture=ng.jit):
        v = 3.0 * x
        t = part(v * 1.0)

        def used(y):  # reads v, from which t is made, for nothing
            inner(ng.func.grad(lambda z: np.sum(v * v) + np.sum(y * z)))(np.ones(1))
            return t * t

        result, pullback = ng.func.vjp(capture(used), t)
        (g,) = pullback(np.cos(result))
        t[...] = write(t)  # the same elements, or others
        return np.sum(result * result) + np.sum(g * g)

    x = np.array([0.7])
    for order in (ng.func.grad, ng.func.hessian):
        np.testing.assert_allclose(
            order(function)(x), order(lambda x: function(x, lambda f: f))(x), rtol=1e-13
        )
    np.testing.assert_allclose(ng.func.grad(function)(x), 4 * 81 * x**3, rtol=1e-13)


@pytest.mark.parametrize("view", [
    lambda t: t, lambda t: t[:], lambda t: t[None][0], lambda t: t.reshape(1, 3), lambda t: t.T,
    lambda t: (t[0:2], t[2:]),
])  # fmt: skip
@pytest.mark.parametrize("call", [
    lambda f, x: f(x), lambda f, x: ng.func.jvp(f, (x,), (x,))[0],
    lambda f, x: ng.func.vjp(f, x)[0], lambda f, x: ng.jit(f)(x),
    lambda f, x: ng.func.grad(lambda y: (np.sum(y), f(y)), has_aux=True)(x)[1],
])  # fmt: skip
@pytest.mark.parametrize("key", [slice(None), np.array([0, 2]), 1])
def test_a_view_of_what_is_closed_over_may_be_written_after_it_was_returned(view, call, key):
    def function(x):
        t = x * x
        found = call(ng.jit(lambda y: view(t)), x)
        t[key] *= 0.5
        return ng.concat([ng.ravel(part) for part in (found if type(found) is tuple else (found,))])

    x = np.array([0.5, 1.0, 2.0])
    value, slope = ng.func.jvp(function, (x,), (np.ones(3),))
    np.testing.assert_array_equal(value, x * x)
    np.testing.assert_array_equal(slope, 2.0 * x)
    np.testing.assert_array_equal(ng.func.jacrev(function)(x), np.diag(2.0 * x))
