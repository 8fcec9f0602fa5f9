"""What functions of loops take and return: eager, captured and mapped."""

import pickle

import numba
import numpy as np
import pytest

import numgrad as ng
from numgrad.loops import rows
from tests.sampling import one_in

from . import kernels
from .kernels import (
    Motion,
    counted,
    mentioned,
    motion,
    nested,
    outer,
    positive,
    scaled,
    spring,
    work,
)

X = np.array([1.0, 2.0, 4.0])
TWO = np.stack([X, 2 * X])


def everywhere(f):
    """Return the gradient of a function: eager, captured, and the first of mapped ones."""
    gradient = ng.func.grad(f)
    return gradient(X), ng.jit(gradient)(X), ng.func.vmap(gradient)(TWO)[0]


@pytest.mark.parametrize(
    ("f", "expected"),
    one_in(3, [
        pytest.param(spring, [-2, -14, 16]),
        pytest.param(lambda x: spring(x, k=1.0), [-4, -28, 32]),
        pytest.param(lambda x: nested(x)[0] * nested(x)[1][0] + nested(x)[1][1].sum(), [18, 16, 8]),
        pytest.param(lambda x: motion(x).energy * motion(x).force.sum(), [-70, -98, -154]),
        pytest.param(lambda x: work(motion(x), x), [-2, -4, -8]),
        pytest.param(lambda x: work(Motion(x[0] ** 2, x), np.ones(3)), [3, 1, 1]),
        pytest.param(lambda x: mentioned(x, "square"), [2, 4, 8]),
        pytest.param(outer, [-2, -27, 32]),
        pytest.param(scaled(3.0), [6, 0, 0]),
        pytest.param(pickle.loads(pickle.dumps(spring)), [-2, -14, 16]),
        pytest.param(lambda x: counted(x)[0], [0, 4, 8]),
    ], 1),
)
def test_gradients_are_right_eager_captured_and_mapped(f, expected):
    for gradient in everywhere(f):
        np.testing.assert_allclose(gradient, expected, rtol=1e-14)


def test_integers_are_integers_and_tensors_where_values_come_later():
    total, count = counted(ng.tensor(X))
    assert total.item() == 20
    assert (count, type(count)) == (2, int)
    assert ng.jit(counted)(X)[1] == 2
    assert np.array_equal(ng.func.vmap(counted)(np.stack([X, -X]))[1], [2, 0])
    gradient, aux = ng.func.grad(counted, has_aux=True)(X)
    assert np.array_equal(gradient, [0, 4, 8])
    assert aux == 2
    assert ng.jit(ng.func.grad(counted, has_aux=True))(X)[1] == 2


def test_named_tuples_come_out():
    assert isinstance(motion(ng.tensor(X)), Motion)
    mapped = ng.func.vmap(motion)(TWO)
    assert np.array_equal(mapped.energy, [21, 84])
    assert np.array_equal(mapped.force, -2 * TWO)


def test_an_error_of_the_loops_is_that_of_the_user():
    calls = [
        lambda: positive(ng.tensor(-X)),
        lambda: ng.func.grad(positive)(-X),
        lambda: ng.jit(positive)(-X),
        lambda: ng.jit(ng.func.grad(positive))(-X),
        lambda: ng.func.vmap(positive)(np.stack([X, X, -X, X])),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="a negative mass"):
            call()
    assert ng.jit(positive)(X) == 21


def test_a_function_without_results_is_called():
    assert kernels.silent(ng.tensor(X)) is None
    assert kernels.silent(ng.tensor(X, requires_grad=True)) is None


@pytest.mark.parametrize("x", [np.arange(6.0)[::2], np.arange(3.0)[::-1], np.broadcast_to(2.0, 3)])
def test_arrays_may_have_any_strides(x):
    expected = ng.func.grad(spring)(x.copy())
    assert np.array_equal(ng.func.grad(spring)(x), expected)
    assert np.array_equal(ng.jit(ng.func.grad(spring))(x), expected)


def test_an_array_that_changes_between_calls_is_read_as_it_is():
    k = np.array([1.0, 1.0, 1.0])
    x = ng.tensor(X, requires_grad=True)
    y = work(Motion(x[0], x), k)
    k[:] = 5.0
    assert np.array_equal(ng.grad(y, x)[0].numpy(), [2, 1, 1])


def test_a_complex_number_is_on_its_own_side_of_a_branch_cut():
    x = ng.tensor(X, requires_grad=True)
    for z in (complex(-4, 0.0), complex(-4, -0.0), complex(-4, 0.0)):
        y = kernels.imaginary_part_of_root(x, z)
        assert y.item() == np.sqrt(z).imag
        assert np.array_equal(ng.grad(y, x)[0].numpy(), [np.sqrt(z).imag, 0, 0])


def test_functions_of_numba_itself_are_transformed_too():
    gradient = ng.func.grad(kernels.product)(X)
    assert np.array_equal(gradient, [2, 1, 0])
    assert np.array_equal(ng.jit(ng.func.grad(kernels.product))(X), gradient)
    assert ng.jit(kernels.product)(X) == 2
    assert np.array_equal(ng.func.vmap(kernels.product)(TWO), [2, 8])
    assert ng.func.jvp(kernels.product, (X,), (X,))[1] == 4


def test_derived_adjoints_are_made_once():
    assert ng.adjoint(spring).derived((X, 0.5)) is ng.adjoint(spring).derived((X, 0.5))


def test_rows_are_copied_and_those_of_another_shape_are_refused():
    lines = [f"    {line}" for line in rows.copied("whole", "part", 2)]
    types = numba.float64[:, :, ::1], numba.float64[:, ::1]
    copy = rows.compiled(["whole", "part"], ["for r in range(1, 2):", *lines], {}, types)
    whole, part = np.zeros((3, 2, 2)), np.arange(4.0).reshape(2, 2)
    copy(whole, part)
    assert np.array_equal(whole, [0 * part, part, 0 * part])
    for other in (part[:1], part[:, :1].copy()):
        with pytest.raises(ValueError, match="another shape"):
            copy(whole, other)


def test_cotangents_have_the_dtypes_that_compiled_code_has_found():
    """Memory of a float32 was read as that of a float64, or the other way round."""
    for gradient in everywhere(kernels.single_total):
        np.testing.assert_allclose(gradient, 2 * X, rtol=1e-6)
    for function, slope, bend in (
        (kernels.squared, lambda x: 2 * x, lambda x: 2.0),
        (kernels.doubled, lambda x: 2.0, lambda x: 0.0),
    ):
        first, second = _derivatives(function)
        x = np.float32(0.75)
        for found in (first(x), ng.jit(first)(x), ng.func.vmap(first)(np.array([x, x]))):
            np.testing.assert_allclose(found, slope(x), rtol=1e-6)
        for found in (second(x), ng.jit(second)(x), ng.func.vmap(second)(np.array([x, x]))):
            np.testing.assert_allclose(found, 2 * slope(x) + x * bend(x), rtol=1e-5)


def _derivatives(function):
    """Return the first derivative of a function ``f(x)``, and the second one of ``x f(x)``."""
    times = ng.func.grad(lambda x: x * function(x))
    return ng.func.grad(function), ng.func.grad(times)
