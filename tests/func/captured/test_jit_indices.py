"""Index arrays that a captured function reads at each call."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import CaptureError

X = np.linspace(-2.0, 3.0, 60).reshape(3, 4, 5) ** 3
ROWS, COLUMN = np.array([0, 2, -1]), np.array([[1], [3]])
MASK = np.arange(12).reshape(3, 4) % 3 == 0
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

# Keys as functions of the index arrays, and the arrays.
KEYS = {
    "first": (lambda i: i, ROWS),
    "beside an integer": (lambda i: (1, i), ROWS),
    "middle": (lambda i: (slice(None), i), ROWS),
    "last": (lambda i: (..., i), COLUMN),
    "two": (lambda i, j: (i, j), ROWS, COLUMN),
    "three": (lambda i, j, k: (i, j, k), ROWS, ROWS, ROWS),
    "apart": (lambda i, j: (i, slice(None), j), ROWS, COLUMN),
    "apart with an integer": (lambda i: (i, ..., 0), ROWS),
    "apart by an ellipsis for no axis": (lambda i: (slice(1, 3), i, ..., 1), ROWS),
    "integer in front, apart": (lambda i: (0, slice(1, 3), i), COLUMN),
    "new axes": (lambda i: (None, i, None, 1), ROWS),
    "apart by a new axis": (lambda i, j: (i, None, j), ROWS, ROWS),
    "slices around": (lambda i: (slice(None, None, -1), slice(0, 2), i), ROWS),
    "slice behind": (lambda i: (i, slice(None), slice(1, 4)), ROWS),
    "a mask that is known": (lambda i: (slice(None), MASK[0], i), ROWS[:2]),
    "a known list": (lambda i: ([[0], [1], [2]], i), ROWS),
    "empty": (lambda i: (slice(None), i), ROWS[:0]),
    "no axes": (lambda i: i, np.array(-1)),
    "no axes, apart": (lambda i, j: (i, slice(None), j), np.array(1), np.array(-2)),
    "no axes beside an array": (lambda i, j: (i, j), np.array(1), COLUMN),
}


def over_keys(function):
    return pytest.mark.parametrize("name", KEYS)(function)


def same_bits(found, expected):
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


@over_keys
def test_elements_are_those_of_numpy(name):
    key, *indices = KEYS[name]
    jitted = ng.jit(lambda x, *indices: x[key(*indices)])
    for x in (X, np.asfortranarray(X), X[::-1], X.astype(np.float32), X > 0):
        for arrays in (indices, [np.zeros_like(i) for i in indices], [-1 - i % 2 for i in indices]):
            same_bits(jitted(x, *arrays), x[key(*arrays)])


@over_keys
def test_gradients_have_the_bits_of_eager_ones(name):
    key, *indices = KEYS[name]

    def cubes(x, *indices):
        return (x[key(*indices)] ** 3).sum()

    def twice(x, *indices):
        slope = ng.func.grad(lambda x: (ng.func.grad(cubes)(x, *indices) ** 2).sum())
        return ng.func.grad(cubes)(x, *indices), slope(x)

    found = ng.jit(twice)(X, *indices)
    for mine, expected in zip(found, twice(ng.tensor(X), *indices), strict=True):
        same_bits(mine, expected.numpy())


@over_keys
def test_writes_and_their_gradients(name):
    key, *indices = KEYS[name]
    v = np.linspace(-1.0, 1.0, X[key(*indices)].size).reshape(X[key(*indices)].shape)

    def written(x, v, *indices):
        y = x.clone()
        y[key(*indices)] = v
        return y

    def slopes(x, v, *indices):
        return ng.func.grad(lambda x, v: (written(x, v, *indices) ** 3).sum(), argnums=(0, 1))(x, v)

    expected = X.copy()
    expected[key(*indices)] = v
    same_bits(ng.jit(written)(X, v, *indices), expected)
    found = ng.jit(slopes)(X, v, *indices)
    for mine, eager in zip(found, slopes(ng.tensor(X), ng.tensor(v), *indices), strict=True):
        same_bits(mine, eager.numpy())


def test_a_view_is_written_at_indices():
    def written(x, v, i):
        y = x * 1
        y.T[1:][i] = v
        return (y * y).sum(), y

    i, v = np.array([0, 2, 0]), np.arange(9.0).reshape(3, 3)
    expected = X[:, :, 0].copy()
    expected.T[1:][i] = v
    same_bits(ng.jit(written)(X[:, :, 0], v, i)[1], expected)
    slope = ng.func.grad(lambda v, x, i: written(x, v, i)[0])
    found = ng.jit(slope)(v, X[:, :, 0], i)
    np.testing.assert_array_equal(found, 2 * v * [[0], [1], [1]])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_indices_of_every_integer_dtype(dtype):
    index = np.array([2, 0, 2, 1], dtype)
    jitted = ng.jit(lambda x, i: (x[i], ng.take(x, i, axis=1), ng.func.grad(total)(x, i)))
    for order in (index, np.repeat(index, 3)[::3], index[::-1]):
        found = jitted(X, order)
        same_bits(found[0], X[order])
        same_bits(found[1], np.take(X, order, axis=1))
        same_bits(found[2], ng.func.grad(total)(ng.tensor(X), order).numpy())


def total(x, i):
    return (x[i] ** 2).sum()


def test_new_indices_are_neither_recorded_nor_scheduled_again():
    calls = []

    def function(x, i):
        calls.append(i)
        return ng.func.grad(total)(x, i)

    jitted = ng.jit(function)
    rng = np.random.default_rng(0)
    for _ in range(20):
        index = rng.integers(-3, 3, 50)
        same_bits(jitted(X, index), ng.func.grad(total)(ng.tensor(X), index).numpy())
    assert len(calls) == 1


def test_batched_passes_equal_looped_ones():
    index = np.array([[0, -1], [0, 2]])
    jitted = ng.jit(lambda x, i: ng.take(x, i, axis=1) ** 2)
    seeds = np.random.default_rng(1).standard_normal((4, 3, 2, 2, 5))
    results = []
    for function in (jitted, jitted.__wrapped__):
        x = ng.tensor(X, requires_grad=True)
        y = function(x, ng.tensor(index))
        (batched,) = ng.grad(y, x, seeds, is_grads_batched=True, retain_graph=True)
        looped = [ng.grad(y, x, seed, retain_graph=True)[0].numpy() for seed in seeds]
        same_bits(batched.numpy(), np.stack(looped))
        results.append(batched.numpy())
    same_bits(*results)


@pytest.mark.parametrize("transform", [ng.func.jacrev, ng.func.jacfwd, ng.func.hessian])
def test_jacobians_of_a_gather(transform):
    x, index = X[0, 0], np.array([4, 0, 4, -1])

    def function(x, i):
        y = x[i] ** 3
        return y.sum() if transform is ng.func.hessian else y

    found = ng.jit(lambda x, i: transform(lambda x: function(x, i))(x))(x, index)
    same_bits(found, transform(lambda x: function(x, index))(ng.tensor(x)).numpy())


def test_each_member_of_an_ensemble_has_its_indices():
    rng = np.random.default_rng(2)
    xs, indices = rng.standard_normal((6, 7)), rng.integers(-7, 7, (6, 4))
    jitted = ng.jit(lambda x, i: (x[i], ng.func.grad(total)(x, i)), ensemble=True)
    values, slopes = jitted(xs, indices)
    for x, index, value, slope in zip(xs, indices, values, slopes, strict=True):
        same_bits(value, x[index])
        same_bits(slope, ng.func.grad(total)(ng.tensor(x), index).numpy())
    indices[4, 1] = 7
    with pytest.raises(IndexError, match=r"getitem: index 7 is .* size 7 at row 4 \(.*lambda"):
        jitted(xs, indices)


@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_each_member_of_an_ensemble_writes_at_its_indices():
    rng = np.random.default_rng(3)
    xs, indices = rng.standard_normal((5, 3)), rng.integers(-7, 7, (5, 3))

    def written(x, i):
        y, z = ng.zeros(7), ng.zeros((7, 2))
        y[i] = x
        z.T[1][i] = x * 2  # a view
        return y, z

    def slope(x, i):
        return ng.func.grad(lambda x: sum((y**3).sum() for y in written(x, i)))(x)

    jitted = ng.jit(lambda x, i: (*written(x, i), slope(x, i)), ensemble=True)
    for x, index, *found in zip(xs, indices, *jitted(xs, indices), strict=True):
        x = ng.tensor(x)
        for mine, eager in zip(found, (*written(x, index), slope(x, index)), strict=True):
            same_bits(mine, eager.numpy())


@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_jacobians_of_writes():
    x, index = np.array([0.5, -1.5, 2.0]), np.array([4, 1, 4])

    def written(x, i):
        y = ng.zeros(5)
        y[i] = x**2
        return y

    def both(x, i):
        return [jac(lambda x: written(x, i))(x) for jac in (ng.func.jacrev, ng.func.jacfwd)]

    expected = np.zeros((5, 3))
    expected[[1, 4], [1, 2]] = 2 * x[1:]
    for found in ng.jit(both)(x, index):
        np.testing.assert_array_equal(found, expected)


# What is computed, or closed over -----------------------------------------------------------------


def test_positions_that_the_function_finds():
    def function(x, table, v):
        nearest = ng.argmin(ng.abs(x[:, None] - table), axis=1)
        place = ng.searchsorted(table, v)
        order = ng.argsort(x)
        ends = x[[order[0], order[-1], 0]]
        return table[nearest], ng.take(table, place), x[order[::-1]], x[ng.argmax(x)], ends

    arrays = X[0, 1] + 5, np.linspace(-3.0, 3.0, 9), np.array([-2.5, 0.1])
    expected = function(*map(ng.tensor, arrays))
    for found, eager in zip(ng.jit(function)(*arrays), expected, strict=True):
        same_bits(found, eager.numpy())


def test_take_reads_booleans_as_numbers():
    same_bits(ng.jit(lambda x: ng.take(x, x > 0))(X), np.take(X, X > 0))


@pytest.mark.host_only("arrays of NumPy come back")
def test_arrays_closed_over_are_read_at_each_call():
    index, other = np.array([0, 1]), ng.tensor([2, 2])
    calls = []

    def function(x):
        calls.append(x)
        return x[index, other]

    jitted = ng.jit(function)
    same_bits(jitted(X), X[[0, 1], 2])
    index[0], other[0] = 2, -1
    same_bits(jitted(X), X[[2, 1], [-1, 2]])
    assert len(calls) == 1


# Errors -------------------------------------------------------------------------------------------


def line_of(function):
    return f"{__file__}:{function.__code__.co_firstlineno + 1} in"


def gathered(x, i):
    return x[:, i] * 2


def taken(x, i):
    return ng.take(x, i, axis=-1)


def along(x, i):
    return ng.take_along_axis(x, i[:, None, None], axis=1)


def overwritten(x, i):
    y = x.clone()
    y[0, :, i] = 1.0
    return y


BAD = {
    "getitem": (gathered, 1, 4),
    "take": (taken, 2, 5),
    "take_along_axis": (along, 1, 4),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("wrong", [1, -2, 1 << 40, -(1 << 62)])
def test_errors_say_where_and_leave_nothing_behind(name, wrong):
    function, axis, size = BAD[name]
    wrong = size - 1 + wrong if wrong > 0 else 1 - size + wrong
    jitted = ng.jit(function)
    good = np.array([0, 1, size - 1])
    expected = jitted(X, good)
    kept = expected.copy()
    with pytest.raises(IndexError) as caught:
        jitted(X, np.array([0, wrong, 1 << 50]))
    text = f"{name}: index {wrong} is out of bounds for axis {axis} with size {size}"
    assert str(caught.value).startswith(text)
    assert line_of(function) in str(caught.value)
    same_bits(jitted(X, good), kept)
    same_bits(expected, kept)


def test_errors_of_writes_name_the_index():
    jitted = ng.jit(overwritten)
    with pytest.raises(IndexError, match=r"setitem: index -6 is out of .* axis 2 with size 5"):
        jitted(X, np.array([0, -6]))
    assert jitted(X, np.array([0, -5])).max() == X.max()


def test_gradients_are_checked_too():
    jitted = ng.jit(ng.func.grad(total))
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        jitted(X, np.array([3]))
    leaf = ng.tensor(X, requires_grad=True)
    with pytest.raises(IndexError, match="index 3 is out of bounds"):
        ng.jit(total)(leaf, ng.tensor([3]))


def test_nothing_can_be_indexed_along_an_empty_axis():
    jitted = ng.jit(lambda x, i: x[i])
    assert jitted(np.zeros((0, 3)), ROWS[:0]).shape == (0, 3)
    with pytest.raises(IndexError, match=r"getitem: every index is out of bounds for axis 0 with"):
        jitted(np.zeros((0, 3)), ROWS)


def test_what_decides_about_shapes_is_refused():
    for function in (lambda x: x[x > 0], lambda x: x[0, x[0] > 0]):
        with pytest.raises(CaptureError, match=r"boolean mask .* ng.where\(mask, x, 0\)"):
            ng.jit(function)(X)
    with pytest.raises(CaptureError, match=r"ng.asarray\(table\)\[index\]"):
        ng.jit(lambda i: X[i])(ROWS)
    with pytest.raises(IndexError, match="not an array of float64"):
        ng.jit(lambda x: x[x])(X)
    with pytest.raises(IndexError, match="take_along_axis: indices must be integers, not float64"):
        ng.jit(lambda x: ng.take_along_axis(x, x))(X)


def test_a_key_is_checked_as_far_as_it_is_known():
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 2 with size 5"):
        ng.jit(lambda x, i: x[i, ..., 5])(X, ROWS)
    with pytest.raises(IndexError, match="too many indices"):
        ng.jit(lambda x, i: x[i, i, i, i])(X, ROWS)
    with pytest.raises(IndexError, match="broadcast"):
        ng.jit(lambda x, i: x[i, [0, 1]])(X, ROWS)


@pytest.mark.short_ways
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_indices_along_an_axis_are_read_at_each_call(axis):
    """The positions of the lines are known: the program finds those along one axis only."""
    jitted = ng.jit(lambda x, i: ng.take_along_axis(x, i, axis), fuse="never")
    for seed, high in ((0, 3), (1, 2), (2, 3)):
        whole = np.random.default_rng(seed).integers(-high, high, X.shape)
        for index in (whole, whole[:1], whole[:, :, :1], whole[:1, :1], whole[..., ::-1]):
            if index.shape[axis] in (1, X.shape[axis]):
                expected = ng.take_along_axis(X, index, axis).numpy()
                np.testing.assert_array_equal(jitted(X, index), expected)
    names = [
        step.name
        for known in jitted.jit_function.specializations.values()
        for stage in known.trace.stages.stages
        for step in stage.plan.bound.program.instructions
    ]
    assert names.count("positions") == len(jitted.jit_function.specializations)
    with pytest.raises(IndexError, match="take_along_axis"):
        jitted(X, np.full(X.shape, 7))


def test_gradients_of_elements_along_an_axis():
    index = np.random.default_rng(3).integers(0, 4, (3, 6, 5))

    def loss(x, index):
        y = ng.take_along_axis(x, index, 1)
        return ng.sum(y * y * y)

    def slope(x, index):
        return ng.sum(ng.func.grad(loss)(x, index) ** 2)

    rows, _, columns = np.ogrid[:3, :4, :5]
    places, counts = (rows, index, columns), np.zeros_like(X)
    np.add.at(counts, places, 1.0)
    np.testing.assert_allclose(ng.jit(ng.func.grad(loss))(X, index), 3 * counts * X**2)
    expected = 2 * (3 * counts * X**2) * (6 * counts * X)
    np.testing.assert_allclose(ng.jit(ng.func.grad(slope))(X, index), expected)
