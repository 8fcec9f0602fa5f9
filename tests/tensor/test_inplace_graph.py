"""Writes in place and the graph: what may be written, views, hooks, random programs."""

import gc

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import DtypeError, InplaceError, LeafInplaceError
from numgrad.engine.lower.lower import force
from numgrad.engine.record.apply import deferring

X = np.arange(12.0).reshape(3, 4) / 4 - 1


def leaf(values=(1.0, 2.0, 3.0)):
    return ng.tensor(np.array(values, float), requires_grad=True)


def slope(y, x):
    """Return the gradient of the sum of squares of ``y``."""
    return ng.grad((y * y).sum(), x, retain_graph=True)[0].numpy()


# What may be written ------------------------------------------------------------------------------


def test_leaves_are_written_under_no_grad_only():
    x = leaf()
    for write in (
        lambda: x.__setitem__(0, 1.0),
        lambda: x.__iadd__(1.0),
        lambda: x[1:].__imul__(2.0),
        lambda: x.__setitem__([0], 1.0),
    ):
        with pytest.raises(LeafInplaceError, match="leaf"):
            write()
    np.testing.assert_array_equal(x.detach().numpy(), [1.0, 2.0, 3.0])
    version = x.storage.version
    with ng.no_grad():
        x -= 1.0
        x[0] = 5.0
    assert x.storage.version == version + 2
    assert x.is_leaf
    np.testing.assert_array_equal(slope(x, x), [10.0, 2.0, 4.0])


@pytest.mark.parametrize("transform", [ng.func.grad, ng.func.jacrev, ng.func.jacfwd])
def test_arguments_of_transforms_are_not_written_without_gradients_either(transform):
    """The derivative of the element that was would count as that of the element that is."""

    def written(a):
        with ng.no_grad():
            a[1] = 5.0
        return (a * a).sum()

    x = np.array([1.0, 2.0, 3.0])
    with pytest.raises(LeafInplaceError, match=r"differentiated by; write to a copy"):
        transform(written)(x)
    assert x.tolist() == [1.0, 2.0, 3.0]


def test_repeated_elements_cannot_be_written():
    y = ng.broadcast_to(leaf([1.0]) * 2, (3,))
    with pytest.raises(InplaceError, match="clone"):
        y[0] = 1.0
    y = y.clone()
    y[0] = 1.0


def test_a_detached_alias_takes_constants_only():
    x = leaf()
    y = x * 2
    alias = y.detach()
    alias[0] = 7.0
    assert y.detach().numpy()[0] == 7.0
    for target in (alias, alias[1:], alias.detach(), y[1:].detach()):
        with pytest.raises(InplaceError, match="detached"):
            target[0] = x[0]


def test_a_detached_tensor_whose_owner_is_gone_is_a_tensor_of_its_own():
    x = leaf()
    buffer = (x * 2).detach()
    gc.collect()
    buffer[0] = x[1]
    np.testing.assert_array_equal(ng.grad(buffer.sum(), x)[0].numpy(), [0, 1, 0])


def test_a_view_made_under_no_grad():
    x = leaf()
    y = x * 2
    with ng.no_grad():
        view = y[1:]
        view[0] = 9.0
    assert not view.requires_grad
    with pytest.raises(InplaceError, match="switched off"):
        view[0] = 1.0
    y[0] = x[2]
    assert not view.requires_grad


def test_what_a_conversion_would_lose_is_refused():
    x = leaf()
    with pytest.raises(DtypeError, match="complex"):
        ng.tensor([1.0])[0] = 1j
    with pytest.raises(DtypeError, match="graph"):
        ng.tensor([1, 2])[0] = x[0]


# Views --------------------------------------------------------------------------------------------


def test_all_views_see_a_write_through_one():
    x = leaf()
    y = x * 2
    first, second, column = y[:2], y[1:], y[:, None]
    first[...] = x[0]
    np.testing.assert_array_equal(second.detach().numpy(), [1.0, 6.0])
    np.testing.assert_array_equal(slope(second, x), [2.0, 0.0, 24.0])
    np.testing.assert_array_equal(slope(column, x), [4.0, 0.0, 24.0])
    np.testing.assert_array_equal(slope(y, x), [4.0, 0.0, 24.0])


def test_parts_of_a_split_can_be_written():
    x = leaf()
    y = x * 2
    a, b, c = ng.split(y, 3)
    a *= 10
    b[...] = c
    np.testing.assert_array_equal(y.detach().numpy(), [20.0, 6.0, 6.0])
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), [20, 0, 4])


@pytest.mark.host_only("results on a device lie in C order")
def test_a_flat_view_of_a_base_in_fortran_order():
    """Its chain is no view of a C-contiguous array, so the base is written at positions."""
    x = ng.tensor(X, requires_grad=True)
    y = x.T * 2.0
    assert not y.detach().numpy().flags.c_contiguous
    flat = ng.reshape(y.T, -1)
    assert flat.storage is y.storage
    flat[1:3] = x[2, 2] * 5
    flat[[3, 3]] = 0.0
    flat *= 2.0
    np.testing.assert_array_equal(y.detach().numpy().T[0], [-4.0, 15.0, 15.0, 0.0])
    expected = np.full((3, 4), 4.0)
    expected[0, 1:] = 0
    expected[2, 2] += 2 * 5 * 2
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), expected)


def test_hooks_stay_with_the_value_that_was_and_retain_grad_follows():
    x = leaf()
    y = x * 2
    seen = []
    y.retain_grad()
    y.register_hook(lambda g: seen.append(("before", g.numpy().copy())))
    y *= 3
    y.register_hook(lambda g: seen.append(("after", g.numpy().copy())))
    assert y.retains_grad
    ng.backward(y.sum())
    assert [name for name, _ in seen] == ["after", "before"]
    np.testing.assert_array_equal(seen[0][1], [1, 1, 1])
    np.testing.assert_array_equal(seen[1][1], [3, 3, 3])
    np.testing.assert_array_equal(y.grad.numpy(), [1, 1, 1])


def test_an_edge_taken_before_leads_to_the_old_value():
    x = leaf()
    y = x.clone()
    edge = ng.graph.get_gradient_edge(y)
    y *= 2
    old, new = ng.grad(y.sum(), (edge, y))
    np.testing.assert_array_equal(old.numpy(), [2, 2, 2])
    np.testing.assert_array_equal(new.numpy(), [1, 1, 1])


def test_views_follow_a_base_that_requires_grad_later():
    """Parameters in one vector, whose parts are named before gradients are asked for."""

    def gradients(later):
        p = ng.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=not later)
        weights, bias, earlier = p[:3].reshape(3, 1)[::-1], p[3:], p[1:] * 7.0
        p.requires_grad_()
        loss = (weights * weights).sum() + 5.0 * bias.sum() + (p * p).sum()
        assert earlier.requires_grad is not later
        return ng.grad(loss, p)[0]

    for _ in range(3):  # by plans, and by recorders
        assert gradients(later=True).tolist() == [4.0, 8.0, 12.0, 13.0]
        assert gradients(later=False).tolist() == [4.0, 8.0, 12.0, 13.0]
    captured = ng.jit(lambda a: gradients(later=True) + a)
    assert captured(np.zeros(4)).tolist() == [4.0, 8.0, 12.0, 13.0]


def test_a_view_is_written_without_gradients_once_its_base_requires_them():
    p = ng.tensor([1.0, 2.0, 3.0])
    part = p[:2]
    p.requires_grad_()
    with pytest.raises(LeafInplaceError, match="a view of a leaf"):
        part[0] = 7.0
    with ng.no_grad():
        part[0] = 7.0
    assert ng.grad((part * part).sum(), p)[0].tolist() == [14.0, 4.0, 0.0]
    assert p.is_leaf


# Random programs ----------------------------------------------------------------------------------


def random_view(v, rng):
    choices = [
        lambda: v[int(rng.integers(v.shape[0]))],
        lambda: v[::-1],
        lambda: v.T,
        lambda: ng.reshape(v, -1),
        lambda: v[..., 1:] if v.shape[-1] > 1 else v[..., None],
        lambda: ng.diagonal(v) if v.ndim == 2 else v[None],
    ]
    return choices[rng.integers(6)]()


def random_write(v, flat, first, rng):
    choice = rng.integers(5)
    if choice == 0:
        v += first.sum() * 0.1
    elif choice == 1:
        v *= 2.0
    elif choice == 2:
        v[int(rng.integers(v.shape[0]))] = flat[int(rng.integers(12))] * 0.7
    elif choice == 3:
        tail = (1,) * (v.ndim - 1)
        v[rng.integers(0, v.shape[0], 3)] = ng.reshape(flat[:3] * flat[1], (3, *tail))
    else:
        v[rng.random(v.shape) < 0.5] = flat[int(rng.integers(12))] * 2.0


def program(seed, x):
    """Write to random regions of random views and return a number that depends on all of them."""
    rng = np.random.default_rng(seed)
    y = x * 1.5 if seed % 3 else ng.reshape(ng.transpose(x) * 1.5, (3, 4))
    views, flat = [y], ng.reshape(x, -1)
    for _ in range(rng.integers(3, 9)):
        v = views[rng.integers(len(views))]
        if v.ndim and rng.random() < 0.3:
            views.append(random_view(v, rng))
        elif v.ndim:
            random_write(v, flat, y, rng)
    total = ng.tensor(0.0)
    for n, v in enumerate(views):
        total = total + (v * v * np.cos(np.arange(v.size) + n).reshape(v.shape)).sum()
    return total


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_against_differences(seed):
    rng = np.random.default_rng(seed)
    start, u = rng.standard_normal((2, 3, 4))

    def first(point):
        x = ng.tensor(point, requires_grad=True)
        return ng.grad(program(seed, x), x)[0].numpy()

    def rise(function, h=1e-5):
        return (function(start + h * u) - function(start - h * u)) / (2 * h)

    x = ng.tensor(start, requires_grad=True)
    (gx,) = ng.grad(program(seed, x), x, create_graph=True)
    with ng.no_grad():
        expected = rise(lambda point: program(seed, ng.tensor(point)).item())
    np.testing.assert_allclose(np.sum(gx.detach().numpy() * u), expected, 1e-6, 1e-6)
    (second,) = ng.grad((gx * u).sum(), x)
    np.testing.assert_allclose(second.numpy(), rise(first), 1e-6, 1e-6)


# Programs recorded for a later run ----------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_run_later(seed):
    start = np.random.default_rng(seed).standard_normal((3, 4))
    expected = program(seed, ng.tensor(start)).item()
    x = ng.tensor(start, requires_grad=True)
    eager = ng.grad(program(seed, x), x)[0].numpy()
    with deferring():
        later = program(seed, x)
        (gx,) = ng.grad(later, x)
    force([later])
    np.testing.assert_allclose(later.item(), expected, 1e-13)
    np.testing.assert_allclose(gx.numpy(), eager, 1e-12, 1e-12)


def test_what_was_read_before_a_deferred_write_stays():
    with deferring():
        y = ng.tensor([1.0, 2.0, 3.0]) * 2
        before, view, copy = y * 1, y[1:], ng.reshape(ng.transpose(y[None]), -1)
        y[1] = [[10.0]]
        view[1] += 1.0
        after = y * 1
        constant = ng.tensor([0.0, 0.0])
        constant[0] = y[1]
    force([before, view, copy, after, constant])
    np.testing.assert_array_equal(before.numpy(), [2, 4, 6])
    np.testing.assert_array_equal(view.numpy(), [10, 7])
    np.testing.assert_array_equal(copy.numpy(), [2, 10, 7])
    np.testing.assert_array_equal(after.numpy(), [2, 10, 7])
    np.testing.assert_array_equal(constant.numpy(), [10, 0])


def test_deferred_writes_are_checked_too():
    x = leaf()
    with deferring():
        with pytest.raises(LeafInplaceError):
            x[0] = 1.0
        with pytest.raises(InplaceError, match="repeated"):
            ng.broadcast_to(x * 2, (2, 3))[0] = 1.0
        y = x * 2
        with pytest.raises(ValueError, match="broadcast"):
            y[:] = [1.0, 2.0]
        with pytest.raises(ValueError, match="broadcast"):
            y[[0, 1]] = [1.0, 2.0, 3.0]
        z = y * y
        y[0] = 1.0
        (g,) = ng.grad(z.sum(), x)
    np.testing.assert_array_equal(g.numpy(), 8 * x.detach().numpy())


def test_a_deferred_element_is_updated_by_one_write():
    with deferring():
        y = ng.tensor(np.ones(8)) * 2
        y[2:4] += 1.0
    assert y.expr.operator.name == "put_view"
    assert y.expr.inputs[0].expr.operator.name == "multiply"


def test_what_was_saved_between_two_writes_is_found_after_a_first_write_elsewhere():
    x = leaf()
    v = x * 1.0
    v[0] = 2.0
    a = v * v
    b = a * 1.0
    c = b * b
    b[0] = c[1]
    v[1] = 5.0
    (g,) = ng.grad(b[:2].sum(), x)
    np.testing.assert_allclose(g.numpy(), [0, 4 * 2**3 + 2 * 2, 0])
