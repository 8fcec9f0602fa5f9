"""Arrays of NumPy that a function writes while it runs, and vectors that are written later."""

from collections import OrderedDict

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import CaptureError, GradShapeError

X = np.array([1.0, 2.0, 3.0])


def unit_vectors(x):
    s, e = 0.0, np.zeros(3)
    for k in range(3):
        e[:] = 0.0
        e[k] = 1.0
        s = s + (k + 1) * (e @ x) ** 2
    return s


def scaled_weights(x):
    c = np.ones(3)
    y = x * c
    c *= 2
    return (y * (x * c)).sum()


def reused_index(x):
    i, s = np.zeros(1, int), 0.0
    for k in range(3):
        i[0] = k
        s = s + (k + 1) * x[i].sum() ** 2
    return s


def reused_mask(x):
    mask, s = np.zeros(3, bool), 0.0
    for k in range(3):
        mask[:] = False
        mask[k] = True
        s = s + (np.where(mask, x, 0.0) * (k + 1)).sum()
    return s


def number_in_an_array(x):
    b, s = np.zeros(()), 0.0
    for k in range(3):
        b[...] = k
        s = s + (x * b).sum()
    return s


def written_and_restored(x):
    c = np.ones(3)
    y = x * c
    c *= 2
    y = y * c
    c /= 2
    return (y * x).sum()


def written_after_its_use(x):
    c = np.ones(3)
    y = (x * c).sum()
    c[:] = 7.0
    return y


def part_of_a_work_array(x):
    c = np.ones(6)
    y = x * c[:3]
    c[2:] = 5.0
    return (y + x * c[3:]).sum()


WRITTEN = [
    unit_vectors, scaled_weights, reused_index, reused_mask, number_in_an_array,
    written_and_restored, written_after_its_use, part_of_a_work_array,
]  # fmt: skip


@pytest.mark.parametrize("function", WRITTEN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("wrap", [lambda f: f, ng.func.grad], ids=["value", "gradient"])
def test_a_captured_function_that_writes_a_work_array_is_refused(function, wrap):
    ng.func.grad(function)(X)  # outside each operation reads the elements at once
    with pytest.raises(CaptureError, match=r"has been written since.*new array each time"):
        ng.jit(wrap(function))(X)


def filled_before(x):
    c = np.zeros(3)
    c[:] = [1.0, 2.0, 3.0]
    s = (x * c).sum()
    c = np.ones(3)
    return s + (x * c).sum()


def with_a_nan(x):
    c = np.array([1.0, np.nan, 2.0])
    return np.where(np.isnan(c), 0.0, x * c).sum() + (x[0] * c[2]).sum()


@pytest.mark.parametrize("function", [filled_before, with_a_nan])
def test_arrays_that_are_written_before_their_uses_are_captured(function):
    assert ng.jit(function)(X) == function(X)


def test_an_array_may_be_written_between_calls():
    c = np.ones(3)
    captured = ng.jit(lambda x: (x * c).sum() + (x * c * c).sum())
    for n in range(3):
        c[:] = n
        assert captured(X) == (X * c).sum() + (X * c * c).sum()


# Vectors ------------------------------------------------------------------------------------------


def by_jvp(w, b):
    return ng.func.jvp(lambda u: u * w, (X,), (b,))[1]


def by_vjp(w, b):
    return ng.func.vjp(lambda u: u * w, X)[1](b)[0]


def by_hvp(w, b):
    return ng.func.hvp(lambda u: (u * u * w).sum() / 2, (X,), (b,))[1][0]


@pytest.mark.parametrize("product", [by_jvp, by_vjp, by_hvp])
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_a_vector_may_be_written_afterwards(product):
    w, b = ng.tensor(X, requires_grad=True), np.ones(3)
    found = product(w, b)
    b[:] = 0.0
    assert ng.grad((found * found).sum(), w)[0].tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("jacobian", [ng.func.jacrev, ng.func.jacfwd])
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_a_pullback_is_differentiated_by_a_cotangent_that_is_made_later(jacobian):
    pullback = ng.func.vjp(np.sin, X)[1]
    found = ng.asarray(jacobian(lambda c: pullback(c)[0])(X)).detach().numpy()
    np.testing.assert_allclose(found, np.diag(np.cos(X)))
    c = ng.tensor(X, requires_grad=True)
    (pullback(c)[0] + c).sum().backward()
    np.testing.assert_allclose(c.grad.numpy(), 1.0 + np.cos(X))
    assert type(pullback(X)[0]) is np.ndarray


@pytest.mark.parametrize("kind", [dict, OrderedDict, lambda **k: dict(reversed(k.items()))])
def test_vectors_go_by_their_places_in_containers(kind):
    pullback = ng.func.vjp(lambda a: {"q": a, "b": 10 * a}, X)[1]
    assert pullback(kind(q=np.ones(3), b=np.zeros(3)))[0].tolist() == [1.0, 1.0, 1.0]
    primals, tangents = ({"q": X, "b": X},), (kind(q=np.ones(3), b=np.zeros(3)),)
    found = ng.func.jvp(lambda p: p["q"] + 10 * p["b"], primals, tangents)[1]
    assert found.tolist() == [1.0, 1.0, 1.0]
    square = lambda p: (p["q"] ** 2 + 10 * p["b"] ** 2).sum()  # noqa: E731
    assert ng.func.hvp(square, primals, tangents)[1][0]["q"].tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("given", [(X, X), {"q": X, "z": X}])
def test_vectors_in_other_containers_are_refused(given):
    pullback = ng.func.vjp(lambda a: {"q": a, "b": 10 * a}, X)[1]
    with pytest.raises(GradShapeError, match=r"outputs at \['b'\], \['q'\]"):
        pullback(given)


# Views as in NumPy --------------------------------------------------------------------------------


def ravelled_column(x):
    y = x.reshape(3, 2) * 1.0
    c = y[:, 1].ravel()
    c += 10
    return (y * y).sum()


def ravelled_whole(x):
    y = x.reshape(3, 2) * 1.0
    c = y.ravel()
    c += 10
    return (y * y).sum()


def elements_exchanged(x):
    y = x * 1.0
    a, b, *_ = np.unstack(y)
    y[0], y[1] = b, a
    return (y * np.arange(6.0)).sum()


def real_part_of_real(x):
    y = x * 1.0
    r = np.real(y)
    y *= 2
    return (r * r).sum()


@pytest.mark.parametrize(
    "function", [ravelled_column, ravelled_whole, elements_exchanged, real_part_of_real]
)
def test_what_is_a_view_is_one_in_numpy(function):
    if function is elements_exchanged and not hasattr(np, "unstack"):
        pytest.skip("NumPy 2.1 has unstack")
    x, step = np.linspace(1.0, 2.0, 6), 1e-6
    near = [(function(x + d) - function(x - d)) / (2 * step) for d in step * np.eye(6)]
    for value, slope in ((function, ng.func.grad(function)),) * 2:
        for wrap in (lambda f: f, ng.jit):
            np.testing.assert_allclose(np.asarray(wrap(value)(ng.tensor(x))), function(x))
            np.testing.assert_allclose(np.asarray(wrap(slope)(x)), near, 1e-6)


@pytest.mark.parametrize("number", [200, -129, float("nan"), float("inf"), 300.0, 7.9, -3, True])
@pytest.mark.parametrize("key", [0, [0, 1], slice(None), np.array([True, False, True])])
def test_a_number_that_does_not_fit_is_refused_as_in_numpy(number, key):
    plain, own = np.zeros(3, np.int8), ng.tensor(np.zeros(3, np.int8))
    try:
        plain[key] = number
    except (OverflowError, ValueError) as error:
        with pytest.raises(type(error)):
            own[key] = number
    else:
        own[key] = number
    assert own.tolist() == plain.tolist()
