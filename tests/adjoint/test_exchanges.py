"""Names that exchange arrays: what is written, of which lengths, in all ways to the gradient."""

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad._adjoint import AdjointError, Options, derive, type_of
from tests.sampling import one_in

from . import exchanges
from .test_kernels import along, called

X = np.array([0.93, 0.41, 0.78, 0.27, 0.55])
PLAIN = Options(cut=False, reorder=False, small=False, whole=False)
D = np.array([0.3, -0.7, 0.4, 1.1, -0.2])


@pytest.mark.parametrize("options", [None, PLAIN], ids=["all on", "plain"])
@pytest.mark.parametrize("kernel", exchanges.KERNELS, ids=lambda kernel: kernel.__name__)
def test_gradient_is_that_of_differences(kernel, options):
    x = X.copy()
    derived = derive(kernel, [type_of(x)], options=options)
    assert derived.written == []
    shadows, _, _ = called(derived, [x])
    np.testing.assert_allclose(shadows[0] @ D, along(kernel, [x], [0], [D], 1e-5), rtol=1e-7)
    assert np.array_equal(x, X)


@pytest.mark.parametrize(
    "kernel",
    one_in(2, [exchanges.exchanged_under_a_condition, exchanges.parts_of_exchanged_arrays]),
    ids=lambda kernel: kernel.__name__,
)  # fmt: skip
def test_all_ways_to_the_gradient_have_its_bits(kernel):
    function = ng.njit(kernel)
    gradient = ng.func.grad(function)
    rows = np.stack([X, X[::-1], 1.1 * X])
    expected = [gradient(row) for row in rows]
    assert np.array_equal(ng.func.vmap(gradient)(rows), expected)
    captured = ng.jit(gradient)
    for n in range(6):
        assert np.array_equal(captured(rows[n % 3]), expected[n % 3])
    assert function(ng.tensor(X)).item() == njit(kernel)(X)
    found = ng.func.hessian(function)(X) @ D
    np.testing.assert_allclose(found, along(gradient, [X], [0], [D]), rtol=1e-6)


def known_by_another_name(x):
    y, z = x * 2.0, x * x
    first = y
    if x[0] > 0.2:
        y, z = z, y
    z[0] = 5.0
    return np.sum(first) + np.sum(y)


def known_to_a_loop_over_it(x):
    y, z = x * 2.0, x * x
    s = 0.0
    for number in y:
        if number > 0.2:
            y, z = z, y
        z[1] = 0.3
        s += number
    return s + y[0]


def exchanged_with_an_argument(x):
    z = x * x
    if x[0] > 0.2:
        x, z = z, x
    z[0] = 5.0
    return np.sum(x)


def bound_again_while_a_loop_runs_over_it(x):
    y, s = x * 2.0, 0.0
    for number in y:
        s += number**2
        y[1] = 5.0 * x[0]
        y = y + 1.0
    return s


@njit
def bound_again_by_a_function(a, x):
    s = 0.0
    for _ in range(2):
        a[0] = 7.0 * x[1]
        a = a + 1.0
        s += a[1]
    return s


def known_to_the_caller(x):
    y = x * 2.0
    return bound_again_by_a_function(y, x) + y[0] ** 2


@njit
def exchanged_by_a_function(a, b, x):
    for i in range(3):
        if x[i] > 0.5:
            a, b = b, a
        a[1] = 5.0 * x[1]
    return a[0]


def exchanged_and_known_to_the_caller(x):
    y, z = x * 2.0, x * x
    return exchanged_by_a_function(y, z, x) + np.sum(y * z)


def appended_before_it_is_written(x):
    kept, y = [], x * 1.0
    for i in range(3):
        y[0] = x[1] * i
        y = y + 1.0
        kept.append(y)
    return kept[0][0] + kept[1][0]


SHARED = [
    known_by_another_name, known_to_a_loop_over_it, exchanged_with_an_argument,
    bound_again_while_a_loop_runs_over_it, known_to_the_caller, exchanged_and_known_to_the_caller,
    appended_before_it_is_written,
]  # fmt: skip


@pytest.mark.parametrize("kernel", SHARED, ids=lambda kernel: kernel.__name__)
def test_exchanged_arrays_that_others_know_are_not_written(kernel):
    with pytest.raises(AdjointError, match="also written in place"):
        derive(kernel, [type_of(X)])


def written_after_an_exchange(x, steps):
    z = x * 2.0
    for _ in range(steps):
        x, z = z, x
    z[0] = 0.0
    return np.sum(x * x) + np.sum(z)


def written_before_an_exchange(x, steps):
    z = np.zeros_like(x)
    z[0] = x[1] ** 2
    for _ in range(steps):
        x, z = z, x
    return np.sum(x * x[0]) + np.sum(z)


def test_an_array_is_written_where_a_store_may_be_into_it():
    types = [type_of(X), type_of(3)]
    assert derive(written_after_an_exchange, types).written == [0]
    assert derive(written_before_an_exchange, types).written == []
    with pytest.raises(ng.errors.LeafInplaceError):
        ng.func.grad(ng.njit(written_after_an_exchange))(X, 3)
    found = ng.func.grad(ng.njit(written_before_an_exchange))(X, 3)
    np.testing.assert_allclose(
        found @ D, along(written_before_an_exchange, [X, 3], [0], [D], 1e-5), rtol=1e-7
    )


@ng.njit
def longer_or_shorter(x, y, steps):
    for _ in range(steps):
        x, y = y, x
    return 2.0 * x


def test_shapes_that_depend_on_exchanges_are_refused_where_they_must_be_known():
    x, y = np.arange(3.0), np.arange(5.0)
    expected = np.concatenate([np.zeros((5, 3)), 2.0 * np.eye(5)], axis=1)
    found = ng.func.jacrev(longer_or_shorter, argnums=(0, 1))(x, y, 3)
    np.testing.assert_array_equal(np.concatenate(found, axis=1), expected)
    with pytest.raises(ng.errors.CaptureError, match="depends on `x`"):
        ng.jit(longer_or_shorter)(x, y, 3)
    assert ng.jit(longer_or_shorter)(x, x + 1.0, 3).shape == (3,)
