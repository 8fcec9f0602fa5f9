"""Functions of tensors and options, found without Python: by all that their keys say."""

import gc
import sys

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.graph.value import View
from numgrad.functions.products import products

pytestmark = pytest.mark.usefixtures("often")


def leaf(*shape):
    return ng.tensor(np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape), requires_grad=True)


def graph(*shape):
    return leaf(*shape) * 1.0


def test_options_that_are_equal_but_of_another_type_are_others():
    x = graph(3, 2)
    for _ in range(4):
        assert x[1].shape == (2,)
        assert x[1:, 1].shape == (2,)
        assert x.reshape(6, 1).shape == (6, 1)
    assert x[True].shape == (1, 3, 2)
    assert x[np.int64(1) :, np.int64(1)].shape == (2,)
    assert x.reshape([6, 1]).shape == (6, 1)
    for wrong in (lambda: x[1.0], lambda: x[1.0:], lambda: x[1:, 1.0], lambda: x[1:, 2]):
        with pytest.raises((IndexError, TypeError)):
            wrong()
    assert x[1:,].shape == (2, 2)
    assert x[(1, None)].shape == (1, 2)
    assert x[..., None].shape == (3, 2, 1)
    assert x[None, ...].shape == (1, 3, 2)


@pytest.mark.parametrize("what", ["reshape", "index", "sum"])
def test_options_are_found_again_by_all_their_parts(what):
    x = graph(4, 6)
    array = x.array
    slices = [slice(a, b, c) for a in (None, 0, 1, -2) for b in (None, 3) for c in (None, 1, 2, -1)]
    cases = {
        "reshape": [(24,), (4, 6), (6, 4), (2, 12), (2, 3, 4), (-1, 2), (2, -1)],
        "index": [*slices, *zip(slices, slices[::-1], strict=True), (1, slice(2)), (slice(2), 1)],
        "sum": [None, 0, 1, -1, (0,), (0, 1), (1, 0), ()],
    }
    operations = {
        "reshape": lambda x, option: x.reshape(option),
        "index": lambda x, option: x[option],
        "sum": lambda x, option: x.sum(option),
    }
    for _ in range(4):
        for option in cases[what]:
            found = operations[what](x, option)
            np.testing.assert_allclose(found.array, operations[what](array, option), rtol=1e-14)
            assert isinstance(found._view, View) == (what != "sum")


def test_several_tensors_are_found_again_by_all_their_specs():
    x, y, n = graph(3), graph(3), ng.tensor([1, 2, 3])
    half, wide = ng.tensor(x.array, dtype="float32"), graph(2, 3)
    cases = [
        (ng.concat, [x, y]), (ng.concat, (x, y)), (ng.concat, [x, half]), (ng.concat, [x, n]),
        (ng.concat, [x, y, x, y, x]), (ng.concat, [x]), (ng.stack, [x, y]), (ng.stack, [x, n]),
        (ng.stack, [x, [1, 2, 3]]), (ng.concat, [x, [1, 2, 3]]), (ng.stack, [n, n]),
    ]  # fmt: skip
    for _ in range(4):
        for function, parts in cases:
            found = function(parts)
            arrays = [getattr(part, "array", part) for part in parts]
            expected = getattr(np, function.__name__)(arrays)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.array, expected)
        for mask in (x > 1.0, n, True, wide > 1.0):
            for one, other in ((x, y), (x, 0.0), (half, x), (n, n), (1, x), (wide, x)):
                found = ng.where(mask, one, other)
                arrays = [getattr(part, "array", part) for part in (mask, one, other)]
                expected = np.where(*arrays)
                assert found.dtype == expected.dtype
                np.testing.assert_array_equal(found.array, expected)
    for wrong in (lambda: ng.concat([x, y], 1), lambda: ng.stack([x, wide]), lambda: ng.stack([])):
        with pytest.raises(ValueError, match=r"axis|shape|at least one"):
            wrong()


def test_options_that_are_tensors_count_by_their_numbers():
    x, y = graph(2, 2), graph(2, 2)
    for n in (0, 1, 0, 1, 0):
        axis, size = ng.tensor(n), ng.tensor(1 + 3 * n)
        np.testing.assert_allclose(x.sum(axis).array, x.array.sum(n))
        assert x.reshape((size, 4 // size.item())).shape == (1 + 3 * n, 4 - 3 * n)
        np.testing.assert_array_equal(ng.roll(x, axis, 0).array, np.roll(x.array, n, 0))
        np.testing.assert_array_equal(ng.cumsum(x, axis).array, np.cumsum(x.array, n))
        joined = ng.concat([x, y], axis)
        np.testing.assert_array_equal(joined.array, np.concat([x.array, y.array], n))
        np.testing.assert_array_equal(ng.stack([x, y], axis).array, np.stack([x.array, y.array], n))
        rows = [x[0], y[1]]
        expected = np.stack([row.array for row in rows]) @ y.array
        np.testing.assert_allclose(ng.matmul(rows, y).array, expected)


def test_several_tensors_that_are_written_or_leaves():
    x, y = leaf(3), graph(3)
    for _ in range(4):
        z = ng.stack([x, y, x], axis=1)
        assert ng.grad(z.sum(), x)[0].tolist() == [2.0, 2.0, 2.0]
    y *= 2.0
    np.testing.assert_array_equal(ng.concat([y, y[1:]]).array, [1.0, 2.0, 3.0, 2.0, 3.0])
    with ng.no_grad():
        assert not ng.concat([x, y]).requires_grad


def test_booleans_are_options_of_their_own():
    x = graph(3, 2)
    for _ in range(4):
        assert x.sum(0, keepdims=True).shape == (1, 2)
        assert x.sum(1).shape == (3,)
        assert x.sum(0).shape == (2,)
    assert x.sum(0, keepdims=np.True_).shape == (1, 2)
    with pytest.raises(TypeError):
        x.sum(1.0)


def test_arrays_in_another_order_take_the_other_way():
    x = graph(3, 3)
    for _ in range(4):
        x.sum(-1), x.sum(0), x.max(0), ng.broadcast_to(x, (2, 3, 3))
    turned = ng.tensor(np.asfortranarray(x.array)).T * 1.0
    turned = x.T if turned.array.flags.c_contiguous else turned
    assert not turned.array.flags.c_contiguous
    np.testing.assert_array_equal(turned.sum(-1).array, x.array.T.copy().sum(-1))
    np.testing.assert_array_equal(turned.max(0).array, x.array.T.max(0))
    np.testing.assert_array_equal(ng.broadcast_to(turned, (2, 3, 3)).array[1], x.array.T)


@pytest.mark.parametrize("shape", [(4, 6), (3, 4, 5), (1, 4, 3), (3, 1, 4, 2), (70, 80)])
def test_index_arrays_find_what_lies_as_in_numpy(shape):
    n = np.array([[0, 2, 1], [1, 0, -1]]) % np.min(shape)
    keys = [n, n[0], (slice(None), n), (..., n), (..., n[0]), (slice(None), n, ...), (0, n), (n, 0)]
    for _ in range(4):
        for key in keys:
            for x in (leaf(*shape), leaf(*shape[::-1]).T):
                found, expected = x[key], x.detach().numpy()[key]
                np.testing.assert_array_equal(found.detach().numpy(), expected)
                sizes = zip(expected.shape, expected.strides, found.array.strides, strict=True)
                assert all(one == two for size, one, two in sizes if size > 1), (key, x.shape)
                (gradient,) = ng.grad((found * expected).sum(), x)
                sums = np.zeros(x.shape)
                np.add.at(sums, key, expected)
                np.testing.assert_allclose(gradient.numpy(), sums, rtol=1e-14)


def test_a_reshape_that_has_to_copy_is_no_view():
    x = leaf(3, 4)
    for _ in range(6):
        y, z = x.T.reshape(12), graph(3, 4).T
        assert y._view is None
        np.testing.assert_array_equal(y.detach(), x.detach().numpy().T.reshape(12))
        assert y.grad_fn.name() == "reshape"
        assert "test_options.py" in str(y.grad_fn.where())
        (gradient,) = ng.grad(y, x, np.arange(12.0), create_graph=True)
        np.testing.assert_array_equal(gradient.detach(), np.arange(12.0).reshape(4, 3).T)
        copy = z.reshape(2, 6)
        z *= 2.0  # which the copy does not see
        twice = z.detach().numpy().reshape(2, 6)
        np.testing.assert_array_equal(2.0 * copy.detach().numpy(), twice)
        with ng.no_grad():
            assert not x.T.reshape(12).requires_grad
        assert x.T.reshape(-1, 1, 6).shape == (2, 1, 6)
    with pytest.raises(ValueError, match="reshape"):
        x.T.reshape(5)


def test_an_operand_without_axes_beside_one_with_some():
    x, s = graph(4), graph(4).sum()
    for _ in range(4):
        for y in (x * s, s - x, x / s):
            assert y.shape == (4,)
            assert y.node.parents[0] is not None
            assert y.node.parents[1] is not None
        (gs,) = ng.grad((x * s).sum(), s)
        np.testing.assert_allclose(gs.item(), x.array.sum())


def test_elements_that_have_to_be_copied_take_the_other_way():
    x = graph(3, 3)
    for _ in range(4):
        assert x.reshape(-1).storage is x.storage
    turned = x.T.reshape(-1)
    assert turned.storage is not x.storage
    np.testing.assert_array_equal(turned.array, x.array.T.reshape(-1))


def test_writes_go_through_views_that_recorders_made():
    x = graph(4)
    for _ in range(4):
        part = x[1:][::2]
    part *= 10.0
    np.testing.assert_allclose(x.array, [0.5, 5 / 6 * 10, 7 / 6, 15.0], rtol=1e-14)
    assert part.node is not None
    assert x.node.operator.name != "multiply"


def test_leaves_are_found_by_passes():
    x = leaf(3)
    for _ in range(4):
        y = x * x
        assert ng.grad(y.sum() + x[1:].sum(), x)[0].tolist() == [1.0, 3.0, 4.0]
    assert y.node.parents[0] is y.node.parents[1]


def test_sequences_in_sequences_have_no_key():
    x = graph(3, 4)
    for _ in range(4):
        x[1:], x.sum(0), ng.roll(x, 1, 0), x.reshape(4, 3), ng.stack([x, x]), ng.concat([x, x])
    np.testing.assert_array_equal(ng.stack([(x, x), (x, x)]).array, [[x.array] * 2] * 2)
    for wrong in (
        lambda: ng.roll(x, ((1,),), ((0,),)), lambda: x.sum(((0,), 1)),
        lambda: x.reshape(((4, 3),)),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError)):
            wrong()


@pytest.mark.parametrize("function", [ng.concat, ng.stack])
def test_one_tensor_is_a_sequence_of_its_rows(function):
    x = graph(2, 3, 4)
    expected = getattr(np, function.__name__)(list(x.array), axis=-1)
    for _ in range(4):
        np.testing.assert_array_equal(function(x, axis=-1).array, expected)
        assert function([x], axis=-1).shape == function((x,), -1).shape != expected.shape


def test_lists_that_are_written_meanwhile():
    """Memory is taken while a list is read, so finalizers run, as other threads might."""
    x, taken = graph(3), []

    class Clears:
        def __init__(self, parts):
            self.parts, self.cycle = parts, self

        def __del__(self):
            self.parts.clear()
            taken.extend([ng.tensor([1.0, 2.0, 3.0]) for _ in range(8)])

    for _ in range(4):
        ng.stack([x * 1.0, x * 2.0])
    threshold = gc.get_threshold()
    for late in range(40):
        parts = [x * 1.0, x * 2.0]
        numbers = [part.node.number for part in parts]
        gc.collect()
        Clears(parts)
        gc.disable()
        gc.set_threshold(late + 1)
        gc.enable()
        try:
            result = ng.stack(parts)
        except ValueError:  # the list was empty before it was read
            continue
        finally:
            gc.set_threshold(*threshold)
        assert [p.number for p in result.node.parents] == numbers


def test_functions_that_come_to_nothing_return_their_argument():
    x, y = graph(1)[0], graph(3)
    before = sys.getrefcount(x), sys.getrefcount(y)
    for _ in range(100):
        assert x.T is x
        assert ng.squeeze(y) is y
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before


def test_what_is_written_to_itself_counts_alike_at_every_use():
    versions = set()
    for _ in range(6):
        x = graph(3, 4).detach() * 1.0
        rows = x[:1, ::2]
        rows[::2] = rows[0:1]
        versions.add((x.version, rows.version))
    assert versions == {(0, 0)}


@pytest.mark.locked
@pytest.mark.short_ways
def test_operators_that_read_numbered_values_are_found_without_python(monkeypatch):
    a, x = (ng.tensor(np.linspace(0.1, 1.0, n).reshape(s)) * 1.0 for n, s in ((6, (3, 2)), (2, 2)))
    for _ in range(4):
        expected = (a @ x).numpy()
    assert any(type(found[0]) is tuple for found in products._product.recorders.values())
    monkeypatch.setattr(products._product, "plans", None)
    assert np.array_equal((a @ x).numpy(), expected)
    monkeypatch.undo()
    whole = ng.tensor(np.linspace(0.1, 1.0, 6).reshape(2, 3)) * 1.0
    for _ in range(4):  # other strides, and a vector that was written
        np.testing.assert_allclose((whole.T @ x).numpy(), whole.numpy().T @ x.numpy(), rtol=1e-15)
        x += 1.0
        np.testing.assert_allclose((a @ x).numpy(), a.numpy() @ x.numpy(), rtol=1e-15)
