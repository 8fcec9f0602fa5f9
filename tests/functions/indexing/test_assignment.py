"""NumPy's functions that write into arrays: into tensors, with gradients."""

import warnings

import numpy as np
import pytest

import numgrad as ng

X = np.arange(12.0).reshape(3, 4)
COLUMNS = np.array([[0], [2], [1]])

CALLS = {
    "put": lambda np, x, v: np.put(x, [0, -1, 5], v[:2]),
    "put-wrap": lambda np, x, v: np.put(x, [0, 40], v[:2], mode="wrap"),
    "put-clip": lambda np, x, v: np.put(x, [-3, 40], v[:2], mode="clip"),
    "place": lambda np, x, v: np.place(x, x > 3.0, v[:3]),
    "putmask": lambda np, x, v: np.putmask(x, x > 3.0, v[:5]),
    "copyto": lambda np, x, v: np.copyto(x, v[:4]),
    "copyto-where": lambda np, x, v: np.copyto(x, v[:4], where=X > 6.0),
    "put_along_axis": lambda np, x, v: np.put_along_axis(x, COLUMNS, v[0], 1),
    "put_along_axis-None": lambda np, x, v: np.put_along_axis(x, COLUMNS[:2, 0], v[:2], None),
    "fill_diagonal": lambda np, x, v: np.fill_diagonal(x, v[:3]),
    "fill_diagonal-wrap": lambda np, x, v: np.fill_diagonal(x.T, v[:2], wrap=True),
    "method": lambda np, x, v: x.put([1, 2], v[:2]),
    "flat": lambda np, x, v: x.T.flat.__setitem__(slice(None, None, 3), v[:4]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_writes(name):
    values = np.linspace(20.0, 31.0, 12)
    expected = X.copy()
    CALLS[name](np, expected, values)
    for library in (ng, np):
        x, v = ng.tensor(X, requires_grad=True), ng.tensor(values, requires_grad=True)
        y = x * 1.0
        CALLS[name](library, y, v)
        np.testing.assert_array_equal(y.detach().numpy(), expected)
        gx, gv = ng.grad(y.sum(), [x, v])
        written = np.isin(expected, values) & (expected != X)
        np.testing.assert_array_equal(gx.numpy(), ~written)
        np.testing.assert_array_equal(gv.numpy(), [(expected[written] == v).sum() for v in values])


@pytest.mark.parametrize("name", ["put", "place", "putmask", "copyto", "fill_diagonal"])
def test_arrays_are_not_written(name):
    v = ng.tensor(np.ones(12), requires_grad=True)
    with pytest.raises(TypeError, match=f"{name} writes into tensors, not into ndarray"):
        CALLS[name](ng, X.copy(), v)


@pytest.mark.parametrize("name", CALLS)
def test_arrays_are_written_where_no_gradient_is_lost(name):
    values = np.linspace(20.0, 31.0, 12)
    expected, found = X.copy(), X.copy()
    CALLS[name](np, expected, values)
    CALLS[name](ng, found, ng.tensor(values))
    np.testing.assert_array_equal(found, expected)


def test_errors_are_those_of_numpy():
    for library, x in ((np, X.copy()), (ng, ng.tensor(X))):
        with pytest.raises(IndexError):
            library.put(x, [12], 0.0)
        with pytest.raises(TypeError):
            library.copyto(x, np.array([1j]))
        with pytest.raises(ValueError, match=r"2-d|two axes"):
            library.fill_diagonal(library.zeros(3), 1.0)
        with pytest.raises(ValueError, match=r"choice|numbers"):
            library.choose([0, 3], [x[0, :2], x[1, :2]])


def test_choosing_and_compressing_are_differentiated():
    x = ng.tensor(X, requires_grad=True)
    y = ng.choose([2, 0, 1, 1], [x[0], x[1], x[2]])
    chosen = [[0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]]
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), chosen)
    y = x.compress([True, False, True], axis=0)
    np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), [[1] * 4, [0] * 4, [1] * 4])
    np.testing.assert_array_equal(np.extract(X > 9, x).detach().numpy(), [10, 11])


@pytest.mark.parametrize("name", ["put", "putmask", "fill_diagonal"])
def test_no_values_write_nothing_as_in_numpy(name):
    x, expected = ng.ones((3, 3)), np.ones((3, 3))
    for module, a in ((ng, x), (np, expected)):
        between = {"put": ([0, 1],), "putmask": (np.eye(3) > 0,), "fill_diagonal": ()}[name]
        getattr(module, name)(a, *between, [])
    np.testing.assert_array_equal(x.numpy(), expected)


@pytest.mark.parametrize(
    ("name", "args", "error"),
    [
        ("put", (np.array([0.0]), 1.0), TypeError),
        ("put", ([9], 1.0), IndexError),
        ("place", (np.array([True]), [1.0]), ValueError),
        ("place", (np.ones((2, 2), bool), []), ValueError),
        ("putmask", (np.array([True]), [1.0]), ValueError),
        ("put_along_axis", (np.array([[0.0, 0.0]]), 1.0, 0), IndexError),
    ],
)
def test_what_does_not_fit_is_refused_by_numpys_class(name, args, error):
    with pytest.raises(error, match=r"\w"):
        getattr(np, name)(np.zeros((2, 2)), *args)
    with pytest.raises(error, match=name):
        getattr(ng, name)(ng.zeros((2, 2)), *args)


def test_choose_takes_booleans_and_no_floats():
    assert ng.choose([True, False], [1.0, 2.0]).tolist() == [2.0, 1.0]
    with pytest.raises(TypeError, match="choose needs integers"):
        ng.choose([0.0], [1.0, 2.0])


@pytest.mark.parametrize("casting", ["no", "safe", "same_kind", "unsafe"])
@pytest.mark.parametrize("source", [2.5, 2, True, 1j, np.array(2.5), np.array(2)])
@pytest.mark.parametrize("dtype", ["i8", "f4", "c16"])
def test_copyto_casts_what_numpy_casts(casting, source, dtype):
    array = np.zeros(2, dtype)
    tensor = ng.tensor(array)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of lost imaginary parts
        try:
            np.copyto(array, source, casting=casting)
        except TypeError:
            with pytest.raises(TypeError, match="copyto"):
                ng.copyto(tensor, source, casting=casting)
            return
    if source == 1j and dtype != "c16":
        with pytest.raises(ng.errors.DtypeError, match="complex values cannot be written"):
            ng.copyto(tensor, source, casting=casting)
        return
    ng.copyto(tensor, source, casting=casting)
    np.testing.assert_array_equal(tensor.numpy(), array)


LARGE_KEYS = {
    "rows": (np.array([3, -1, 3]),),
    "pairs": (np.array([3, -1, 3]), np.array([0, 49, 0])),
    "columns of few rows": (slice(None), np.array([[4, 4]])),
    "an integer beside": (np.array([7, 8]), 2),
    "a mask": (np.arange(100) % 7 == 3,),
    "a mask of all axes": (np.arange(5000).reshape(100, 50) % 99 == 3,),
}


@pytest.mark.parametrize("name", LARGE_KEYS)
def test_writes_to_many_elements_are_those_of_numpy_and_pass_gradients_to_what_remains(name):
    key = LARGE_KEYS[name]
    x = np.linspace(0.0, 1.0, 5000).reshape(100, 50)
    v = np.random.default_rng(0).standard_normal(x[key].shape)
    tensor, values = ng.tensor(x, requires_grad=True), ng.tensor(v, requires_grad=True)
    y = tensor * 2.0
    y[key] = values * 3.0
    wanted, kept, last = 2.0 * x, np.full(x.shape, 2.0), np.zeros(x.shape, int)
    wanted[key], kept[key], last[key] = 3.0 * v, 0.0, np.arange(v.size).reshape(v.shape)
    np.testing.assert_array_equal(y.detach().numpy(), wanted)
    gx, gv = ng.grad(y.sum(), (tensor, values))
    np.testing.assert_array_equal(gx.numpy(), kept)
    remains = last[key] == np.arange(v.size).reshape(v.shape)
    np.testing.assert_array_equal(gv.numpy(), 3.0 * remains)


def test_a_write_out_of_bounds_of_many_elements_says_what_numpy_says():
    y = ng.tensor(np.zeros((100, 50)), requires_grad=True) * 2.0
    with pytest.raises(IndexError, match="index 50 is out of bounds for axis 1 with size 50"):
        y[np.array([1, 2]), np.array([3, 50])] = 1.0
