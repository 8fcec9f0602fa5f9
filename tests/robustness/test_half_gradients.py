"""Gradients of float16 leaves: computed in float32 between roundings, batched and of second order
too."""

import numpy as np
import pytest

import numgrad as ng

HALF = np.float16


def half(data, **options):
    return ng.tensor(np.array(data, HALF), requires_grad=True, **options)


def test_sums_of_many_gradients():
    x = half([1.0, -2.0])
    y = x * 0
    for _ in range(50):
        y = y + x
    (g,) = ng.grad(y, x)
    assert g.dtype == HALF
    assert g.tolist() == [50, 50]


def test_fan_out_is_summed():
    x = half(0.5)
    (g,) = ng.grad([x * float(k) for k in range(1, 9)], x)
    assert (g.dtype, g.item()) == (HALF, 36)


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_batched(rows):
    x = half([0.5, 1.5, -1.0])
    seeds = np.linspace(-1, 1, rows * 3).reshape(rows, 3).astype(HALF)
    y = x * x + ng.exp(x)
    batched = ng.grad(y, x, seeds, is_grads_batched=True, retain_graph=True)[0]
    assert (batched.dtype, batched.shape) == (HALF, (rows, 3))
    for row, seed in zip(batched.numpy(), seeds, strict=True):
        np.testing.assert_array_equal(row, ng.grad(y, x, seed, retain_graph=True)[0].numpy())


def test_second_order():
    x = half([0.5, 1.5])
    (g,) = ng.grad((x * x * x).sum(), x, create_graph=True)
    (h,) = ng.grad(g.sum(), x)
    assert h.dtype == HALF
    np.testing.assert_allclose(h.numpy(), 6 * x.detach().numpy(), rtol=2e-3)


def test_accumulation_in_grad():
    x = half([1.0, 2.0])
    for _ in range(3):
        (x * x).sum().backward()
    assert x.grad.dtype == HALF
    assert x.grad.tolist() == [6, 12]


def test_infinities_and_overflow():
    x = half([np.inf, 60000.0, 1e-7])
    (g,) = ng.grad(x * 4.0, x, np.array([1, 60000, 1], HALF))
    assert g.tolist() == [4, np.inf, 4]


def test_reductions_views_and_indexing():
    x = half(np.arange(6).reshape(2, 3))
    (g,) = ng.grad((ng.sum(x, axis=0)[1:] * x.T.reshape(-1)[:2]).sum(), x)
    wide = ng.tensor(np.arange(6.0).reshape(2, 3), requires_grad=True)
    (expected,) = ng.grad((ng.sum(wide, axis=0)[1:] * wide.T.reshape(-1)[:2]).sum(), wide)
    np.testing.assert_array_equal(g.numpy(), expected.numpy())
