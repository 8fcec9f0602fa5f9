"""Hooks on saved values: what is packed, what unpacking gives, where they are forbidden."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import InplaceError
from numgrad.graph import (
    disable_saved_tensors_hooks,
    get_gradient_edge,
    saved_tensors_hooks,
)

pytestmark = pytest.mark.device_sample


def leaf(*values):
    return ng.tensor(list(values), dtype=float, requires_grad=True)


def same(tensor, expected):
    np.testing.assert_array_equal(tensor.detach().numpy(), expected)


def test_saved_values_are_what_unpack_returns():
    packed = []
    x = leaf(1, 2)
    with saved_tensors_hooks(lambda t: packed.append(t) or t.numpy() * 10, ng.tensor):
        y = x * x
    assert not any(t.requires_grad for t in packed)
    same(ng.grad(y, x)[0], [20.0, 40.0])


def test_the_innermost_saved_tensors_hooks_count():
    x = leaf(1)
    with (
        saved_tensors_hooks(lambda t: 1 / 0, lambda c: c),
        saved_tensors_hooks(lambda t: None, lambda c: ng.tensor([7.0])),
    ):
        y = x * ng.tensor([2.0])
    same(ng.grad(y, x)[0], [7.0])


def test_second_derivatives_see_unpacked_values_in_their_place_of_the_graph():
    x = leaf(3)
    with saved_tensors_hooks(lambda t: t.numpy().copy(), ng.tensor):
        y = x * x * x
        (g,) = ng.grad(y, x, create_graph=True)
    same(ng.grad(g, x)[0], [18.0])


def test_unpack_must_return_a_tensor_and_pack_must_not_write():
    x = leaf(1)
    with saved_tensors_hooks(lambda t: 5, lambda c: c):
        y = x * x
    with pytest.raises(TypeError, match="must return a tensor"):
        ng.grad(y, x)

    def write(t):
        t.storage.version += 1

    with saved_tensors_hooks(write, lambda c: c), pytest.raises(InplaceError, match="pack"):
        x * x


def test_saved_tensors_hooks_can_be_forbidden():
    with disable_saved_tensors_hooks("not here"), pytest.raises(RuntimeError, match="not here"):
        saved_tensors_hooks(lambda t: t, lambda t: t).__enter__()
    with (
        saved_tensors_hooks(lambda t: t, lambda t: t),
        pytest.raises(RuntimeError, match="nor here"),
    ):
        disable_saved_tensors_hooks("nor here").__enter__()


def test_hook_on_a_saved_leaf_is_a_hook_on_the_leaf():
    seen = []

    class Square(ng.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            if x.requires_grad:
                x.register_hook(lambda g: seen.append(g.item()))
            return 2.0 * g * x

    x = leaf(3)
    (g,) = ng.grad(Square.apply(x), get_gradient_edge(x), create_graph=True)
    seen.clear()
    ng.grad(g, x)
    assert seen == [2.0]


def test_rows_of_a_batched_pass_are_packed_as_arrays():
    """Seeds are there from the beginning, and what is saved of them is packed at the end."""
    shapes = []

    def pack(t):
        shapes.append(t.shape)
        return t.numpy()

    x, s = leaf(0.5, 2.0), leaf(1.0, 1.0)
    with saved_tensors_hooks(pack, ng.tensor):
        y = ng.sin(x) * s
        (rows,) = ng.grad(y, s, np.eye(2), is_grads_batched=True, create_graph=True)
    assert (2, 2) in shapes
    (g,) = ng.grad((rows * rows).sum(), x)
    np.testing.assert_allclose(g.numpy(), np.sin([1.0, 4.0]), rtol=1e-15)
