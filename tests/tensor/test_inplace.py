"""Writes in place: values as NumPy writes them, gradients as if each write made a new tensor."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import InplaceError

X = np.arange(12.0).reshape(3, 4) / 4 - 1
MASK = np.arange(12).reshape(3, 4) % 3 == 0


def leaf(values=(1.0, 2.0, 3.0)):
    return ng.tensor(np.array(values, float), requires_grad=True)


def slope(y, x):
    """Return the gradient of the sum of squares of ``y``."""
    return ng.grad((y * y).sum(), x, retain_graph=True)[0].numpy()


# Setting elements ---------------------------------------------------------------------------------

KEYS = [
    0,
    -1,
    slice(1, None),
    ...,
    (slice(None, None, -1), 1),
    (..., None, 2),
    (),
    (1, 2),
    None,
    [0, 2],
    (slice(None), [1, 3]),
    ([0, 2], [1, 1]),
    (2, [0, 1]),
    MASK,
    MASK[:, 0],
    (slice(0, 2), MASK[0]),
    ([[0], [1]], slice(1, 3)),
    (slice(2, 2),),
    np.zeros((3, 4), bool),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("whole", [False, True])
def test_values_and_gradients_of_a_write(key, whole):
    region = X[key]
    w = np.cos(np.arange(region.size) + 1.0).reshape(region.shape) if whole else np.array(0.5)
    expected = X * 2
    expected[key] = w * 3
    kept = np.ones(X.shape)
    kept[key] = 0
    x, v = ng.tensor(X, requires_grad=True), ng.tensor(w, requires_grad=True)
    y = x * 2
    y[key] = v * 3
    np.testing.assert_array_equal(y.detach().numpy(), expected)
    cotangents = np.random.default_rng(2).standard_normal((2, 3, 4))
    gx, gv = ng.grad(y, (x, v), cotangents[0], retain_graph=True)
    np.testing.assert_array_equal(gx.numpy(), 2 * kept * cotangents[0])
    received = 3 * cotangents[0][key]
    np.testing.assert_allclose(gv.numpy(), received if whole else received.sum(), 1e-14, 1e-14)
    batched = ng.grad(y, (x, v), cotangents, is_grads_batched=True, retain_graph=True)
    looped = [ng.grad(y, (x, v), c, retain_graph=True) for c in cotangents]
    for n in range(2):
        np.testing.assert_array_equal(
            batched[n].numpy(), np.stack([row[n].numpy() for row in looped])
        )


def test_a_constant_zeroes_the_gradient_of_what_it_overwrites():
    x = leaf()
    y = x * 2
    y[1] = 5.0
    np.testing.assert_array_equal(slope(y, x), [8.0, 0.0, 24.0])


def test_of_repeated_positions_the_last_value_remains_and_receives_the_gradient():
    x, v = leaf(), leaf([10.0, 20.0, 30.0])
    y = x * 1
    y[[0, 0, 1]] = v
    np.testing.assert_array_equal(y.detach().numpy(), [20.0, 30.0, 3.0])
    gx, gv = ng.grad(y.sum(), (x, v))
    np.testing.assert_array_equal(gx.numpy(), [0, 0, 1])
    np.testing.assert_array_equal(gv.numpy(), [0, 1, 1])


def test_a_constant_tensor_requires_grad_after_a_write():
    x, buffer = leaf(), ng.tensor(np.zeros(3))
    view = buffer[1:]
    buffer[1] = x[2] * 2
    assert buffer.requires_grad
    assert view.requires_grad
    assert not buffer.is_leaf
    np.testing.assert_array_equal(slope(view, x), [0, 0, 24.0])


def test_values_are_broadcast_and_converted():
    x = ng.tensor(np.float32([1, 2]), requires_grad=True)
    v = ng.tensor([[[3.0]]], requires_grad=True)
    y = x * 1
    y[:] = v
    assert y.dtype == np.float32
    gx, gv = ng.grad(y.sum(), (x, v))
    assert gx.dtype == np.float32
    np.testing.assert_array_equal(gv.numpy(), [[[2.0]]])
    with pytest.raises(ValueError, match="broadcast"):
        y[:] = [1.0, 2.0, 3.0]


def test_integers_and_booleans_are_just_written():
    t = ng.tensor([1, 2, 3])
    t[0] = 9
    t[t == 2] = 7.9
    t += 1
    t *= np.array([1, 2, 3])
    np.testing.assert_array_equal(t.numpy(), [10, 16, 12])
    assert not t.requires_grad
    flags = ng.tensor([True, False])
    flags[1] = True
    assert flags.numpy().all()


def test_a_list_of_tensors_is_stacked():
    x = leaf()
    y = x * 1
    y[:2] = [x[2], x[2] * x[2]]
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), [0, 0, 1 + 1 + 6])


def test_overlapping_values_are_read_before_they_are_written():
    x = leaf()
    y = x * 1
    y[1:] = y[:-1]
    np.testing.assert_array_equal(y.detach().numpy(), [1.0, 1.0, 2.0])
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), [2, 1, 0])
    y = x * 1
    y[...] = y[::-1]
    np.testing.assert_array_equal(slope(y, x), [2.0, 4.0, 6.0])
    y = x * 1
    y += y[::-1]
    np.testing.assert_array_equal(y.detach().numpy(), [4.0, 4.0, 4.0])
    np.testing.assert_array_equal(slope(y, x), [16.0, 16.0, 16.0])
    y = x * 1
    y[[0, 1]] = y[1:]
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), [0, 1, 2])


def test_a_tensor_written_to_itself_keeps_its_graph():
    x = leaf()
    y = x * 2
    y[...] = y
    y[:] = y[:]
    np.testing.assert_array_equal(slope(y, x), [8.0, 16.0, 24.0])


# Arithmetic ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operate", "gx", "gv"),
    [
        (lambda y, v: y.__iadd__(v), [1, 1, 1], [1, 1, 1]),
        (lambda y, v: y.__isub__(v), [1, 1, 1], [-1, -1, -1]),
        (lambda y, v: y.__imul__(v.detach()), [2, 4, 8], None),
        (lambda y, v: y.__itruediv__(v.detach()), [1 / 2, 1 / 4, 1 / 8], None),
    ],
)
def test_gradients_of_arithmetic(operate, gx, gv):
    x, v = leaf(), leaf([2.0, 4.0, 8.0])
    y = x * 1
    memory, view = y.array, y[:2]
    assert operate(y, v) is y
    assert y.array is memory
    grads = ng.grad(y, (x, v), np.ones(3), allow_unused=True, retain_graph=True)
    np.testing.assert_array_equal(grads[0].numpy(), gx)
    assert gv is None or np.array_equal(grads[1].numpy(), gv)
    np.testing.assert_array_equal(ng.grad(view.sum(), x)[0].numpy(), [*gx[:2], 0])


def test_the_result_is_that_of_the_operation():
    v = np.array([2.0, -1.0, 0.5])
    for name in ("add", "subtract", "multiply", "divide"):
        expected = getattr(ng, name)(v, 3.0).numpy()
        dunder = {"add": "iadd", "subtract": "isub", "multiply": "imul", "divide": "itruediv"}[name]
        for dtype in (np.float32, np.float64, np.complex64):
            t = ng.tensor(v.astype(dtype))
            getattr(t, f"__{dunder}__")(3.0)
            assert t.dtype == dtype
            np.testing.assert_allclose(t.numpy(), expected, 1e-6)
    t = ng.tensor(v)
    t **= 2
    np.testing.assert_array_equal(t.numpy(), v**2)


def test_shape_and_dtype_stay():
    t = ng.tensor([1, 2])
    with pytest.raises(TypeError, match="float64"):
        t /= 2
    with pytest.raises(TypeError):
        t += 0.5
    u = ng.tensor([1.0, 2.0])
    with pytest.raises(ValueError, match="shape"):
        u += np.ones((2, 2))
    with pytest.raises(TypeError):
        u *= 1j
    np.testing.assert_array_equal(u.numpy(), [1.0, 2.0])
    h = ng.tensor(np.float32([1, 2]))
    h += np.float64([0.5, 0.5])
    assert h.dtype == np.float32


def test_elements_are_updated_once():
    x = leaf()
    y = x * 1
    y[0] += x[1]
    y[1:] *= 3.0
    y[[0, 2]] -= 1.0
    np.testing.assert_array_equal(y.detach().numpy(), [2.0, 6.0, 8.0])
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), [1.0, 4.0, 3.0])
    t = ng.tensor([1.0, 2.0])
    before = t.storage.version
    t[0] += 1
    assert t.storage.version == before + 1


# Versions -----------------------------------------------------------------------------------------


def test_a_saved_value_that_is_overwritten_is_kept():
    x = leaf()
    y = x * 2
    z = y * y
    y[0] = 1.0
    np.testing.assert_array_equal(ng.grad(z.sum(), x)[0].numpy(), [8.0, 16.0, 24.0])


def test_without_gradients_a_saved_value_that_is_overwritten_is_an_error():
    x = leaf()
    y = x * 2
    z = y * y
    with ng.no_grad():
        y[0] = 1.0
    with pytest.raises(
        InplaceError, match=r"modified by an inplace operation.*version 1.*expected version 0"
    ):
        ng.grad(z.sum(), x)


def test_a_product_with_itself():
    x = leaf()
    y = x * 2
    y *= y
    np.testing.assert_array_equal(y.detach().numpy(), [4.0, 16.0, 36.0])
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), [8.0, 16.0, 24.0])


WRITES = {
    "*": lambda a, w: a.__imul__(w),
    "**": lambda a, w: a.__ipow__(w),
    "** 3": lambda a, w: a.__ipow__(3),
    "%": lambda a, w: a.__imod__(w),
    "* twice": lambda a, w: a.__imul__(w).__imul__(w),
    "a row": lambda a, w: a.__imul__(w[:1]),
    "a part": lambda a, w: a.__setitem__(slice(1), a[:1].__imul__(w[:1])),
    "positions": lambda a, w: a.__setitem__([0, 2], a[[0, 2]] * w[1:]),
    "a view first": lambda a, w: (a[1:].__imul__(w[1:]), a.__imul__(w)),
}


@pytest.mark.parametrize("write", WRITES)
def test_an_operation_in_place_keeps_what_its_own_derivative_reads(write):
    def total(x, w, copies):
        a = x * 1.0
        if copies:  # the same, with every step in memory of its own
            steps = {
                "*": lambda: a * w, "**": lambda: a**w, "** 3": lambda: a**3, "%": lambda: a % w,
                "* twice": lambda: a * w * w, "a row": lambda: a * w[:1],
                "a part": lambda: ng.concatenate([a[:1] * w[:1], a[1:]]),
                "positions": lambda: ng.stack([a[0] * w[1], a[1], a[2] * w[2]]),
                "a view first": lambda: ng.concatenate([a[:1], a[1:] * w[1:]]) * w,
            }  # fmt: skip
            a = steps[write]()
        else:
            WRITES[write](a, w)
        return (a * a).sum()

    point = np.array([1.5, 2.5, 3.5]), np.array([1.25, 2.0, 0.75])
    found = ng.func.grad(total, (0, 1))(*point, False)
    captured = ng.jit(ng.func.grad(total, (0, 1)))(*point, False)
    expected = ng.func.grad(total, (0, 1))(*point, True)
    for a, b, c in zip(found, captured, expected, strict=True):
        np.testing.assert_allclose(a, c, 1e-14)
        np.testing.assert_array_equal(a, b)
    second = ng.func.hessian(total)
    np.testing.assert_allclose(second(*point, False), second(*point, True), 1e-14)


def test_a_value_that_no_derivative_reads_may_be_overwritten():
    x = leaf()
    y = x * 2
    z = y + 1
    y += 1
    np.testing.assert_array_equal(ng.grad(z.sum(), x)[0].numpy(), [2, 2, 2])


def test_a_saved_output_has_the_version_of_its_write():
    x, v = leaf(), leaf([2.0, 4.0, 8.0])
    y = x * 1
    y /= v
    np.testing.assert_allclose(
        ng.grad(y.sum(), v, retain_graph=True)[0].numpy(), -np.array([1, 2, 3]) / [4, 16, 64]
    )
    y += 1
    np.testing.assert_allclose(
        ng.grad(y.sum(), v, retain_graph=True)[0].numpy(), -np.array([1, 2, 3]) / [4, 16, 64]
    )
    with ng.no_grad():
        y += 1
    np.testing.assert_allclose(
        ng.grad(y.sum(), v)[0].numpy(), -np.array([1, 2, 3]) / [4, 16, 64]
    )  # what it saved is its own since the write before


def test_without_gradients_a_saved_output_that_is_overwritten_is_an_error():
    x, v = leaf(), leaf([2.0, 4.0, 8.0])
    y = x * 1
    y /= v
    with ng.no_grad():
        y += 1
    with pytest.raises(InplaceError):
        ng.grad(y.sum(), v)


@pytest.mark.parametrize("earlier", [0, 1])
def test_views_and_aliases_count_too(earlier):
    x = leaf()
    for write in (
        lambda y: y[1:].__setitem__(0, 1.0),
        lambda y: y.detach().__setitem__(0, 1.0),
        lambda y: y[:1].detach().__setitem__(0, 1.0),
        lambda y: ng.no_grad()(y.__setitem__)(0, 1.0),
        lambda y: ng.no_grad()(y[1:].__setitem__)(0, 1.0),
        lambda y: ng.no_grad()(y.detach().__setitem__)(0, 1.0),
    ):
        y = x * 2
        if earlier:
            y += 0.0
        assert y.version == earlier
        z = y * y
        part, before = y[1:] * y[1:], y.version
        write(y)
        assert y.version == before + 1
        try:
            found = ng.grad(z.sum() + part.sum(), x)[0]
        except InplaceError:
            continue
        np.testing.assert_array_equal(found.numpy(), [8.0, 32.0, 48.0])


@pytest.mark.locked
def test_users_arrays_may_be_written_after_they_were_saved():
    w, x = np.array([1.0, 2.0, 3.0]), leaf()
    c = ng.asarray(w)
    v = c * x
    c *= x
    np.testing.assert_array_equal(c.detach().numpy(), [1, 4, 9])
    np.testing.assert_array_equal(ng.grad(v.sum(), x)[0].numpy(), [1, 2, 3])
    np.testing.assert_array_equal(ng.grad(c.sum(), x)[0].numpy(), [1, 2, 3])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0)])
def test_writes_at_indices_of_views_that_hold_nothing(shape):
    w = ng.tensor(np.zeros(shape), requires_grad=True)
    for key in (w.detach() > 0.5, np.zeros(0, int)):
        a = w * 1.0
        view = a[:,]
        view[key] *= 2.0
        assert ng.grad(a.sum() + view.sum(), w)[0].shape == shape


@pytest.mark.parametrize("capture", [lambda f: f, ng.jit])
@pytest.mark.parametrize("key", [np.zeros(3, bool), np.array([], int)])
@pytest.mark.parametrize("shape", [(2, 0, 1), (2, 0, 4), (1, 0, 4), (0, 1), (0, 4)])
def test_nothing_may_be_written_nowhere(capture, key, shape):
    def function(x, value):
        x = x * 1.0
        x[key] = value
        return x

    np.ones((3, 4))[key] = np.ones(shape)  # NumPy takes it
    x, value = ng.tensor(np.ones((3, 4)), requires_grad=True), ng.tensor(np.ones(shape))
    gradients = ng.grad(capture(function)(x, value.requires_grad_()).sum(), (x, value))
    assert gradients[1].shape == shape
    np.testing.assert_array_equal(gradients[0], 1.0)


@pytest.mark.parametrize("capture", [lambda f: f, ng.jit])
@pytest.mark.parametrize("shape", [(0, 1, 4), (2, 4), (3, 1, 4), (2, 2, 4)])
def test_what_does_not_fit_is_refused_by_its_shape(capture, shape):
    x = ng.tensor(np.ones((3, 4)), requires_grad=True)

    @capture
    def function(x, value):
        x = x * 1.0
        x[np.array([0, 1, 1])] = value
        return x

    with pytest.raises(ValueError, match="broadcast"):
        function(x, ng.tensor(np.ones(shape)))


@pytest.mark.parametrize("capture", [lambda f: f, ng.jit])
@pytest.mark.parametrize("key", [np.array([True, True]), np.array([0, 1]), slice(None), ...])
def test_a_value_that_is_written_over_itself_is_read_before(capture, key):
    @capture
    def function(y):
        t = y * 1.0
        t[::-1][key] = t
        return t

    x, v = np.array([0.7, 1.2]), np.array([1.0, 3.0])
    for found, before in zip(ng.func.jvp(function, (x,), (v,)), (x, v), strict=True):
        np.testing.assert_array_equal(found, before[::-1])


def test_reductions_of_all_axes_that_keep_them_are_arrays_as_in_numpy():
    functions = {
        "sum": np.sum, "max": np.max, "min": np.min, "prod": np.prod, "mean": np.mean,
        "std": np.std, "median": np.median, "norm": np.linalg.norm,
    }  # fmt: skip
    point, step = np.array([1.0, 2.0, 4.0]), 1e-6 * np.eye(3)
    for name, function in functions.items():

        def f(x, function=function):
            y = function(x, keepdims=True)
            before, view = y * 1.0, y[:1]
            y[y > 1e9] = 0.0
            y[0] = 3.0 * x[0] * y[0]
            return (y * y).sum() + view.sum() + (before * x).sum()

        slope = [(f(point + d) - f(point - d)) / 2e-6 for d in step]
        for found in (ng.func.grad(f)(point), ng.jit(ng.func.grad(f))(point)):
            np.testing.assert_allclose(found, slope, rtol=1e-7, err_msg=name)
        rows = ng.func.vmap(ng.func.grad(f))(np.stack([point, point]))
        np.testing.assert_allclose(rows, [slope, slope], rtol=1e-7, err_msg=name)
    for function in (np.any, np.all, np.argmax, np.count_nonzero):
        y = function(ng.tensor(point), keepdims=True)
        y[0] = 0
        assert y.tolist() == [0]
    total = ng.tensor(point).sum()
    with pytest.raises(InplaceError, match="a result without axes"):
        total.reshape(1)[0] = 0.0  # NumPy's total stays as it is
