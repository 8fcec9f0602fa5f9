"""Index expressions against NumPy: values, gradients, views, errors."""

import itertools

import numpy as np
import pytest

import numgrad as ng
from numgrad.functions.indexing.indexing import getitem

from ...device import share_memory

X = np.arange(60.0).reshape(3, 4, 5)
MASK = np.arange(12).reshape(3, 4) % 3 == 0
ROWS, COLUMN = np.array([0, 2, -1]), np.array([[1], [3]])

BASIC = [
    0,
    -1,
    np.int64(2),
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    slice(-1, 0, -2),
    slice(5, 2),
    slice(0, 99),
    ...,
    None,
    (),
    (1, 2, 3),
    (1, ...),
    (..., 1),
    (slice(None), 1),
    (0, slice(1, 3), -1),
    (None, 1, None),
    (slice(0, 2), None, ..., slice(None, None, 2)),
    (..., None),
    np.array(1),
    (slice(-2, None), slice(None, -1), slice(3, None, -1)),
]
ARRAYS = [
    ROWS,
    [0, 2],
    [],
    [[0, 1], [2, 0]],
    (ROWS, 1),
    (1, ROWS),
    (slice(None), ROWS),
    (..., COLUMN),
    (ROWS, COLUMN),
    (slice(None), ROWS, COLUMN),
    (ROWS, slice(None), COLUMN[:, 0][:, None]),
    (ROWS, ..., 0),
    (0, slice(None), ROWS),
    (0, slice(1, 3), COLUMN),
    (slice(1, 3), ROWS, ..., 1),  # an ellipsis for no axis sets apart
    (slice(1, 3), 1, ..., ROWS),
    (..., slice(1, 3), ROWS, 1),
    (None, ROWS),
    (ROWS, None, 1),
    (slice(1, None), None, COLUMN),
    MASK,
    MASK[:, 0],
    (MASK, 1),
    (MASK, slice(1, 3)),
    (slice(None), X[0] > 7),
    (1, X[0] > 7),
    (MASK[:, 0], slice(None), ROWS[:2]),
    (X > 30),
    True,
    False,
    (True, ROWS),
    np.zeros((3, 4, 5), bool),
    (slice(None, None, -1), slice(0, 2), ROWS),
    (ROWS[:2], slice(None), slice(1, 4)),
    (..., ROWS, slice(None)),
    (slice(None), MASK[0], 2),
    np.array([], int),
    (ROWS, ROWS, ROWS),
    (np.uint8(1), np.array([1, 2], np.uint8)),
    (slice(None), ..., ROWS),
    (..., slice(None), ROWS, slice(None)),
    (ROWS, ...),
    (slice(None), ROWS, ...),
    (2, ROWS, COLUMN),
    (..., -1, [0, 1]),
    (..., MASK[0], ROWS[:2]),
    np.asfortranarray(MASK),
    (slice(None), np.asfortranarray([[0, 1, 2], [3, -1, 0]])),
    (COLUMN.T % 3, [2, 0]),
]


def check(key, tensor_key=None):
    expected = X[key]
    tensor_key = key if tensor_key is None else tensor_key
    np.testing.assert_array_equal(ng.tensor(X)[tensor_key].numpy(), expected, strict=True)
    t = ng.tensor(X, requires_grad=True)
    y = t[tensor_key]
    np.testing.assert_array_equal(y.detach().numpy(), expected, strict=True)
    g = np.random.default_rng(1).standard_normal((2, *expected.shape))
    reference = np.zeros((2, 60))
    for row in range(2):
        np.add.at(reference[row], X[key].astype(int).ravel(), g[row].ravel())
    reference = reference.reshape(2, *X.shape)
    gradient = ng.grad(y, t, g[0], retain_graph=True)[0].numpy()
    np.testing.assert_array_equal(gradient, reference[0])
    batched = ng.grad(y, t, g, is_grads_batched=True)[0].numpy()
    np.testing.assert_array_equal(batched, reference)
    return t, y


@pytest.mark.parametrize("key", BASIC, ids=str)
def test_basic_keys_give_views(key):
    t, y = check(key)
    # Of one element NumPy makes a scalar, and of what an array without axes finds a copy.
    is_view = isinstance(X[key], np.ndarray) and not isinstance(key, np.ndarray)
    assert (y.storage is t.storage) == is_view
    assert not y.size or share_memory(y.array, t.array) == is_view


BOUNDS = [None, *range(-7, 8)]


@pytest.mark.parametrize("step", [-7, -3, -2, -1, None, 1, 2, 3, 7])
@pytest.mark.parametrize("size", [0, 1, 5])
def test_slices_with_any_bounds(size, step):
    for start, stop in itertools.product(BOUNDS, BOUNDS):
        key, x = slice(start, stop, step), np.arange(1.0, size + 1)
        t = ng.tensor(x, requires_grad=True)
        np.testing.assert_array_equal(t[key].detach(), x[key], strict=True, err_msg=str(key))
        written, expected = t * 1, np.zeros(size)
        written[key] = x[key] = expected[key] = -1.0
        np.testing.assert_array_equal(written.detach(), x, strict=True, err_msg=str(key))
        np.testing.assert_array_equal(-ng.grad(t[key].sum(), t)[0], expected, err_msg=str(key))


@pytest.mark.parametrize("key", ARRAYS, ids=str)
def test_array_keys_give_copies(key):
    t, y = check(key)
    assert not share_memory(y.array, t.array)


def test_tensors_are_keys():
    check(1, ng.tensor(1))
    check(ROWS, ng.tensor(ROWS))
    check((slice(None), ROWS), (slice(None), ng.tensor(ROWS)))
    check(MASK, ng.tensor(MASK))
    check((1, slice(0, 2)), (ng.tensor(1), slice(0, ng.tensor(2))))
    check([0, 2], [ng.tensor(0), 2])


LARGE = np.sin(np.arange(70.0 * 80).reshape(70, 80))  # of more elements than tables are kept for
MANY = np.arange(-8, 9).reshape(1, 17) % 70
LARGE_KEYS = {
    "rows": MANY,
    "rows of a tensor": ng.tensor(MANY),
    "another byte order": MANY.astype(">i4"),
    "unsigned": MANY.astype(np.uint8),
    "strided": np.repeat(MANY, 2)[::2],
    "columns": (slice(None), -MANY),
    "both": (MANY[0], -MANY.T),
    "apart": (MANY, None, -MANY[0]),
    "a slice before": (slice(3, 60, 7), MANY[0, :3]),
    "an integer beside": (MANY, 7),
    "a mask": np.arange(70) % 3 == 0,
    "a mask of all": LARGE > 0.9,
    "a mask in another order": np.asfortranarray(LARGE > 0.9),
    "dots": (..., MANY),
    "dots behind": (MANY, slice(None), ...),
    "an open mesh": (MANY.T, MANY),
    "a mask beside": (np.arange(70) % 35 == 0, MANY.T),
    "nothing": (slice(None), MANY[:0]),
    "no axes": (np.array(-1), MANY),
}


@pytest.mark.parametrize("name", LARGE_KEYS)
def test_keys_of_large_arrays(name):
    key = LARGE_KEYS[name]
    plain = key.numpy() if isinstance(key, ng.Tensor) else key
    x = ng.tensor(LARGE, requires_grad=True)
    y = x[key]
    np.testing.assert_array_equal(y.detach().numpy(), LARGE[plain], strict=True)
    g = np.random.default_rng(1).standard_normal(y.shape)
    expected = np.zeros(LARGE.shape)
    np.add.at(expected, plain, g)
    np.testing.assert_array_equal(ng.grad(y, x, g)[0].numpy(), expected)
    written = x * 1
    written[key] = ng.tensor(g, requires_grad=True)
    expected = LARGE.copy()
    expected[plain] = g
    np.testing.assert_array_equal(written.detach().numpy(), expected)


def test_a_write_gives_its_gradient_to_what_remains():
    for size in (5, 5000):
        x = ng.tensor(np.zeros(size), requires_grad=True)
        v = ng.tensor(np.arange(4.0), requires_grad=True)
        y = x * 1
        y[np.array([3, 0, 3, -1])] = v
        gx, gv = ng.grad((y * np.arange(1.0, size + 1)).sum(), (x, v))
        np.testing.assert_array_equal(gv.numpy(), [0.0, 1.0, 4.0, size])
        expected = np.arange(1.0, size + 1)
        expected[[3, 0, -1]] = 0
        np.testing.assert_array_equal(gx.numpy(), expected)


def test_a_comparison_selects():
    x = ng.tensor([1.0, -2.0, 3.0], requires_grad=True)
    np.testing.assert_array_equal(ng.grad((x[x > 0] ** 2).sum(), x)[0].numpy(), [2.0, 0.0, 6.0])


def test_scalars_and_memory_orders():
    t = ng.tensor(2.0, requires_grad=True)
    assert t[()].shape == t[...].shape == ()
    assert t[None].shape == (1,)
    assert ng.grad(t[None].sum(), t)[0].item() == 1.0
    u = ng.tensor(X, requires_grad=True)
    np.testing.assert_array_equal(u.T[ROWS, 1].detach().numpy(), X.T[ROWS, 1])
    gradient = ng.grad((u.T[ROWS, 1] * 2).sum(), u)[0].numpy()
    reference = np.zeros(X.shape)
    np.add.at(reference.T, (ROWS, 1), 2.0)
    np.testing.assert_array_equal(gradient, reference)


def test_second_derivative_of_repeated_elements():
    x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x[[0, 0, 2]]
    (gx,) = ng.grad((y * y * y).sum(), x, create_graph=True)
    np.testing.assert_array_equal(gx.detach().numpy(), [6.0, 0.0, 27.0])
    np.testing.assert_array_equal(ng.grad(gx.sum(), x)[0].numpy(), [12.0, 0.0, 18.0])


BAD = [
    3,
    -4,
    (0, 4),
    1.0,
    "a",
    (0, 0, 0, 0),
    (..., ...),
    [3],
    [-4],
    ([0], [4]),
    np.array([1.0]),
    MASK[:2],
    (slice(None), MASK),
    (..., MASK),
    ([0, 1], [0, 1, 2]),
    (0, 0, 0, [0]),
    (..., [0], ...),
    (slice(None), slice(None), slice(None), [0]),
    (-4, [0]),
    (..., [0], 5),
    object,
    ng.tensor(1.5),
]


@pytest.mark.parametrize("key", BAD, ids=str)
def test_errors(key):
    for x in (ng.tensor(X), ng.tensor(X, requires_grad=True)):
        with pytest.raises(IndexError):
            getitem(x, key)


def test_errors_name_the_axis():
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 2 with size 5"):
        ng.tensor(X)[:, :, [1, 7]]
    with pytest.raises(IndexError, match=r"along axis 1; size of axis is 4 but .* is 3"):
        ng.tensor(X)[:, MASK[:, 0]]
    with pytest.raises(IndexError):
        ng.take(X, [3], axis=0)
    with pytest.raises(ValueError, match="differ in their axes"):
        ng.take_along_axis(X, [0], axis=0)
    with pytest.raises(IndexError, match="integers"):
        ng.take_along_axis([1.0], [0.0], axis=0)


@pytest.mark.parametrize("size", [5, 5000])
def test_errors_leave_what_was_to_be_written(size):
    x = ng.tensor(np.zeros(size), requires_grad=True) * 1
    before = x.grad_fn
    for bad in (size, -size - 1):
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size"):
            x[np.array([0, bad])] = 1.0
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size"):
            ng.take(x, np.array([[0, 1], [bad, 2]]))
    assert not x.detach().numpy().any()
    assert x.grad_fn is before


def test_iteration_gives_views():
    x = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    total = sum((row * (n + 1)).sum() for n, row in enumerate(x))
    np.testing.assert_array_equal(ng.grad(total, x)[0].numpy(), [[1, 1], [2, 2]])


def test_take_reads_booleans_as_numbers():
    x, where = np.array([3.0, 1.0, 2.0]), np.array([True, False, True])
    for function in (ng.take, ng.jit(ng.take)):
        found = np.asarray(function(x, where))
        np.testing.assert_array_equal(found, np.take(x, where))


def test_a_range_is_an_index_as_in_numpy():
    x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    assert x[range(1, 3)].tolist() == [2.0, 3.0]
    assert ng.grad(x[range(0, 3, 2)].sum(), x)[0].tolist() == [1.0, 0.0, 1.0]
    assert ng.jit(lambda x: x[range(2)])(np.arange(3.0)).tolist() == [0.0, 1.0]
    y = x * 1.0
    y[range(2)] = 5.0
    assert y.tolist() == [5.0, 5.0, 3.0]


@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 4), (5, 1, 3), (70, 90)])
@pytest.mark.parametrize("repeated", [False, True])
def test_indices_along_an_axis(shape, repeated):
    """Whatever the axis, the dtype and the layout of the indices; other axes may be repeated."""
    rng = np.random.default_rng(5)
    for axis in range(-len(shape), len(shape)):
        sizes = [1] * len(shape) if repeated else list(shape)
        sizes[axis] = 3
        where = rng.integers(-shape[axis], shape[axis], sizes)
        for i in (where, np.asfortranarray(where).astype(np.int32), where[::-1], ng.tensor(where)):
            x = ng.tensor(rng.standard_normal(shape), requires_grad=True)
            y = ng.take_along_axis(x, i, axis)
            expected = np.take_along_axis(x.detach().numpy(), np.asarray(i), axis)
            np.testing.assert_array_equal(y.detach().numpy(), expected)
            g = rng.standard_normal(y.shape)
            numbers = np.arange(x.size, dtype=float).reshape(shape)
            at = np.take_along_axis(numbers, np.asarray(i), axis).ravel().astype(int)
            sums = np.bincount(at, g.ravel(), x.size).reshape(shape)
            np.testing.assert_allclose(ng.grad(y, x, g)[0].numpy(), sums, atol=1e-14)


def test_indices_along_an_axis_that_do_not_fit():
    x = ng.tensor(np.ones((70, 90)), requires_grad=True)
    with pytest.raises(IndexError, match="index 90 is out of bounds for axis 1 with size 90"):
        ng.take_along_axis(x, np.full((70, 1), 90), 1)
    with pytest.raises(IndexError, match="broadcast"):
        ng.take_along_axis(x, np.zeros((2, 2), int), 1)
    assert ng.take_along_axis(x, np.zeros((70, 0), int), 1).shape == (70, 0)
