"""Tensors with the memory of an array: no write leaves numbers without gradients in the array."""

import numpy as np
import pytest

import numgrad as ng

X = np.array([1.0, 2.0, 3.0])


def of_the_caller(x):
    def fill(a, value):
        a = ng.asarray(a)
        a[:] = value

    a = np.zeros(3)
    fill(a, x)
    return (a**2).sum()


def of_a_view(x):
    a = np.zeros(3)
    part = ng.asarray(a[1:])
    part[:] = x[1:]
    return (a**2 * x).sum()


def of_rows(x):
    a = np.zeros((2, 3))
    for row in a:
        row = ng.asarray(row)
        row += x
    return a.sum()


def of_another_view(x):
    a = np.zeros(3)
    kept, part = a[:1], a[1:]
    del a
    part = ng.asarray(part)
    part[:] = x[1:]
    return kept.sum()


def in_a_container(x):
    held = {"a": np.zeros(3)}
    a = ng.asarray(held["a"])
    a[0] = x[0]
    return held["a"].sum()


def through_a_view_of_the_tensor(x):
    def fill(a):
        ng.asarray(a).T[0, :] = x[:2]

    a = np.zeros((2, 3))
    fill(a)
    return a.sum()


def of_another_library(x):
    a = np.zeros(3)
    ng.from_dlpack(a)[:] = x
    return a.sum()


@pytest.mark.parametrize(
    "f",
    [
        of_the_caller, of_a_view, of_rows, of_another_view, in_a_container,
        through_a_view_of_the_tensor, of_another_library,
    ],
)  # fmt: skip
def test_arrays_that_the_program_has_get_no_numbers_without_gradients(f):
    for run in (ng.func.grad(f), lambda x: f(ng.tensor(x, requires_grad=True))):
        with pytest.raises(ng.errors.InplaceError, match=r"memory of an array .* ng\.zeros"):
            run(X)


def rebound(x):
    a = np.zeros(3)
    a = ng.asarray(a)
    doubled = a * 2.0
    a[:] = x
    part = a[1:]
    part[:1] = x[:1] * 3.0
    a += x
    return (a**2).sum() + (doubled * x).sum()


def without_a_name(x):
    a = ng.asarray(np.ones((2, 3))[::-1])
    a[0] = x
    a[1] *= x
    return (a**2).sum()


def of_a_part(x):
    a = np.ones(4)[1:]
    a = ng.asarray(a)
    a *= x
    return (a**3).sum()


def copied(x):
    a = np.zeros(3)
    b = ng.array(a)
    b[:] = x
    return (b**2).sum() + a.sum()


@pytest.mark.parametrize("f", [rebound, without_a_name, of_a_part, copied])
def test_memory_that_nobody_else_has_is_written(f):
    slopes = [(f(X + d).item() - f(X - d).item()) / 2e-6 for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(ng.func.grad(f)(X), slopes, rtol=1e-8)
    x = ng.tensor(X, requires_grad=True)
    np.testing.assert_allclose(ng.grad(f(x), x)[0].numpy(), slopes, rtol=1e-8)


def test_a_variable_beside_the_tensor_has_its_numbers():
    x, a = ng.tensor(X, requires_grad=True), np.ones(3)
    b = ng.asarray(a)
    b[1:] *= x[1:]
    b += x
    np.testing.assert_array_equal(a, [2.0, 4.0, 6.0])
    np.testing.assert_array_equal(ng.grad(b.sum(), x)[0].numpy(), [1.0, 2.0, 2.0])


def test_values_without_gradients_are_written_into_the_array():
    a, x = np.zeros(3), ng.tensor(X, requires_grad=True)
    b = ng.asarray(a)
    b[0] = 5.0
    b[1] = x.detach()[1]
    with ng.no_grad():
        b[2] = x[2]
    np.testing.assert_array_equal(a, [5.0, 2.0, 3.0])
    a[0] = 7.0
    assert b[0].item() == 7.0


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int64, np.bool_])
def test_tensors_are_like_the_array(dtype):
    for a in (np.ones((2, 3), dtype), np.ones((3, 2), dtype).T, np.ones(0, dtype), dtype(1)):
        a = np.asarray(a)
        x = ng.asarray(a)
        assert (x.dtype, x.shape, x.strides) == (a.dtype, a.shape, a.strides)
        assert np.may_share_memory(x.numpy(), a) == (a.size > 0)
    a.flags.writeable = False
    with pytest.raises(ng.errors.InplaceError, match="read-only"):
        ng.asarray(a)[...] = 0
