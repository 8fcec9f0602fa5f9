"""Arrays of more than 32 axes, of which NumPy 2 has up to 64."""

import numpy as np
import pytest

import numgrad as ng

NUMBERS = np.array([[0.3, 1.2, -0.7], [2.0, 0.4, 0.9]])

PROGRAMS = {
    "elementwise": lambda np, x: np.sin(x) * x + np.exp(x) * np.ones(3),
    "transposed": lambda np, x: np.swapaxes(x, -1, -2).copy() * np.swapaxes(x * x, -1, -2),
    "reduction": lambda np, x: np.sum(x * x, axis=-1, keepdims=True) * np.max(x),
    "index": lambda np, x: x[..., 1:] * x[..., :1] * x[..., [0, 2]],
    "where": lambda np, x: np.where(x > 0.5, x**2, np.cos(x)),
    "sort": lambda np, x: np.sort(x, axis=-1) * np.cumsum(x, axis=-1),
    "joined": lambda np, x: np.concatenate([x, x * x], axis=-2),
    "matmul": lambda np, x: x @ np.swapaxes(x, -1, -2),
    "copied": lambda np, x: np.broadcast_to(x, x.shape) * np.squeeze(x),
}


@pytest.mark.parametrize("rank", [33, 50, 63])
def test_functions_are_those_of_few_axes(rank):
    wide = NUMBERS.reshape((1,) * (rank - 2) + NUMBERS.shape)
    for name, program in PROGRAMS.items():

        def total(x, program=program):
            return (program(ng, x) ** 2).sum()

        value, gradient = ng.func.value_and_grad(total)(NUMBERS)
        wide_value, wide_gradient = ng.func.value_and_grad(total)(wide)
        np.testing.assert_allclose(wide_value, value, rtol=1e-14, err_msg=name)
        assert wide_gradient.shape == wide.shape
        np.testing.assert_allclose(wide_gradient.reshape(gradient.shape), gradient, rtol=1e-13)
        captured = ng.jit(ng.func.grad(total))(wide)
        np.testing.assert_array_equal(captured, wide_gradient, err_msg=name)


def test_batches_have_one_more_axis():
    wide = NUMBERS.reshape((1,) * 50 + NUMBERS.shape)
    seeds = np.stack([wide, 2 * wide, -wide])
    x = ng.tensor(wide, requires_grad=True)
    y = ng.sin(x) * x
    (rows,) = ng.grad(y, x, seeds, is_grads_batched=True, retain_graph=True)
    for row, seed in zip(rows.numpy(), seeds, strict=True):
        np.testing.assert_array_equal(row, ng.grad(y, x, seed, retain_graph=True)[0].numpy())


def test_an_axis_too_many_is_a_value_error():
    x = ng.tensor(NUMBERS.reshape((1,) * 62 + NUMBERS.shape), requires_grad=True)
    for one_more in (
        lambda: x[None],
        lambda: ng.func.jacrev(ng.sin)(x),
        lambda: ng.grad(x * x, x, np.ones((2, *x.shape)), is_grads_batched=True),
    ):
        with pytest.raises(ValueError, match="64"):
            one_more()


def test_shapes_that_do_not_fit_are_told():
    x = ng.tensor(NUMBERS.reshape((1,) * 38 + NUMBERS.shape))
    with pytest.raises(ValueError, match=r"\(1, .*4\)"):
        x * ng.ones((1,) * 38 + (2, 4))
