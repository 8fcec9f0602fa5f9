"""Captured functions of tensors on a device."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.func.tracing import device_destinations

X = np.linspace(0.5, 2.0, 6).reshape(2, 3)


def close(found, expected, device="cuda:0"):
    assert found.device == device
    np.testing.assert_allclose(found.detach().cpu().numpy(), expected, 1e-12)


@pytest.fixture
def x():
    return ng.tensor(X, device="cuda")


@pytest.mark.parametrize("fuse", ["auto", "now", "never"])
def test_a_function_is_captured_for_each_device(x, fuse):
    f = ng.jit(lambda a: ng.exp(ng.sin(a) * a).sum(1), fuse=fuse)
    expected = np.exp(np.sin(X) * X).sum(1)
    for _ in range(3):
        close(f(x), expected)
        close(f(ng.tensor(X)), expected, "cpu")
        np.testing.assert_allclose(f(X), expected, 1e-12)


def test_arguments_may_lie_in_any_way(x):
    f = ng.jit(lambda a: a * 2 + a.sum())
    close(f(x.T), X.T * 2 + X.sum())
    close(f(x[:, ::-1]), X[:, ::-1] * 2 + X.sum())


def test_transforms_inside_of_captured_functions(x):
    for _ in range(2):
        close(ng.jit(ng.func.grad(lambda v: (v**3).sum()))(x), 3 * X**2)
        close(ng.jit(ng.func.jacobian(lambda v: v**2))(x[0]), np.diag(2 * X[0]))
        close(ng.jit(ng.func.hessian(lambda v: (v**3).sum()))(x[0]), np.diag(6 * X[0]))


def test_gradients_through_captured_functions():
    x = ng.tensor(X, device="cuda", requires_grad=True)
    f = ng.jit(lambda a: (ng.sin(a) * a).sum())
    for _ in range(3):
        (gradient,) = ng.grad(f(x), x, create_graph=True)
        close(gradient, np.cos(X) * X + np.sin(X))
        close(ng.grad(gradient.sum(), x)[0], 2 * np.cos(X) - np.sin(X) * X)


def test_numbers_and_arrays_join_tensors_of_a_device(x):
    close(ng.jit(lambda a, s: a * s)(x, 2.0), 2 * X)
    close(ng.jit(lambda a, b: a * b)(x, X), X * X)
    f = ng.jit(lambda a, i: a[i])
    for i in (0, 1, 0, 1):
        close(f(x, i), X[i])


def test_results_stay_where_the_function_has_them(x):
    first, second = ng.jit(lambda a: (a * 2, ng.ones(2)))(x)
    close(first, 2 * X)
    close(second, np.ones(2), "cpu")


def test_ensembles_of_a_device(x):
    close(ng.jit(lambda v: ng.sin(v).sum(), ensemble=True)(x), np.sin(X).sum(1))


def test_what_is_refused(x):
    with pytest.raises(ng.errors.DeviceError, match="arguments are on cpu and on cuda:0"):
        ng.jit(lambda a, b: a * b)(x, ng.tensor(X))
    with pytest.raises(ng.errors.ArgTypeError, match="out must hold tensors"):
        ng.jit(lambda a: a * 2)(x, out=np.empty((2, 3)))


# Results in the memory of the caller --------------------------------------------------------------


def outs_of(*shapes):
    return tuple([ng.zeros(shape, device="cuda") for shape in shapes])


def test_results_are_written_to_tensors(x):
    f = ng.jit(lambda a: (ng.sin(a) * a, {"sum": a.sum()}))
    first, total = outs_of((2, 3), ())
    out = (first, {"sum": total})
    where = first.array.memory, total.array.memory
    for _ in range(3):
        first[...] = 7.0
        assert f(x, out=out) is out
        close(first, np.sin(X) * X)
        close(total, X.sum())
    assert (first.array.memory, total.array.memory) == where


def test_results_are_computed_in_the_memory_of_the_caller(x, monkeypatch):
    def refuse(*_):
        raise AssertionError

    f = ng.jit(lambda a: a * 2)
    (out,) = outs_of((2, 3))
    monkeypatch.setattr(device_destinations, "setitem", refuse)
    f(x, out=out)
    close(out, 2 * X)
    f(x.detach().clone(), out=out[...])  # a view


def test_results_that_meet_operands_or_lie_apart_are_copied(x):
    f = ng.jit(lambda a: a[:, ::-1] * 2)
    y = x.detach().clone()
    f(y, out=y)
    close(y, 2 * X[:, ::-1])
    (wide,) = outs_of((2, 6))
    f(x, out=wide[:, ::2])
    close(wide[:, ::2], 2 * X[:, ::-1])
    close(wide[:, 1::2], np.zeros((2, 3)))
    f(x, out=wide[:, 3:])
    close(wide[:, 3:], 2 * X[:, ::-1])
    turned = outs_of((3, 2))[0].T
    f(x, out=turned)
    close(turned, 2 * X[:, ::-1])
    closed = x.detach().clone()
    g = ng.jit(lambda a: a * closed[::-1])
    g(x, out=closed)
    close(closed, X * X[::-1])


def test_results_of_several_programs_and_of_both_places_are_written(x):
    f = ng.jit(lambda a: ng.func.vmap(lambda v: v / v.sum())(a) + 1)
    (out,) = outs_of((2, 3))
    f(x, out=out)
    close(out, X / X.sum(1, keepdims=True) + 1)
    g = ng.jit(lambda a: (a + 1, a.cpu() * 2))
    here = np.zeros((2, 3))
    g(x, out=(out, here))
    close(out, X + 1)
    np.testing.assert_array_equal(here, 2 * X)


def test_what_was_saved_before_a_result_is_written_stays(x):
    f = ng.jit(lambda a: a * 2)
    leaf = ng.tensor(X, device="cuda", requires_grad=True)
    (saved,) = outs_of((2, 3))
    saved[...] = 3.0
    y = leaf * saved
    view = saved[0]
    f(x, out=saved)
    close(view, 2 * X[0])
    close(ng.grad(y.sum(), leaf)[0], np.full((2, 3), 3.0))
    z = leaf * 1.0  # requires grad: the write is recorded
    f(x, out=z)
    close(z.detach(), 2 * X)
    close(ng.grad(z.sum() + (leaf * leaf).sum(), leaf)[0], 2 * X)


def test_outs_that_do_not_fit_are_refused(x):
    f = ng.jit(lambda a: (a * 2, a + 1))
    first, second = outs_of((2, 3), (2, 3))
    leaf = ng.zeros((2, 3), device="cuda", requires_grad=True)
    for wrong, error, words in (
        ((first, np.zeros((2, 3))), ng.errors.ArgTypeError, "for results on cuda:0, got ndarray"),
        ((first, ng.zeros((2, 3))), ng.errors.DeviceError, "is on cpu, and its result on cuda:0"),
        ((first, outs_of((3, 2))[0]), ValueError, r"out has shape \(3, 2\)"),
        ((first, second.astype("float32")), ValueError, "dtype float32"),
        ((first, first), ValueError, "share memory"),
        ((first, first[:]), ValueError, "share memory"),
        ([first, second], ng.errors.ArgTypeError, "structure"),
        ((first, leaf), ng.errors.LeafInplaceError, "leaf"),
    ):
        with pytest.raises(error, match=words):
            f(x, out=wrong)
    with pytest.raises(ng.errors.ArgTypeError, match="require grad"):
        f(leaf, out=(first, second))
    close(first, np.zeros((2, 3)))
    wide = outs_of((2, 6))[0]
    f(x, out=(wide[:, ::2], wide[:, 1::2]))  # which share none
    close(wide[:, 1::2], X + 1)
