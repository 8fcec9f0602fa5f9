"""Making tensors gives what NumPy gives, shares memory as it does, and keeps the graph."""

import numpy as np
import pytest

import numgrad as ng

MADE = {
    "arange": [(5,), (2, 7), (0.0, 1.0, 0.25), (5, None, 2)],
    "empty": [((2, 0),)],
    "eye": [(3,), (2, 3), (3, 2, -1)],
    "full": [((2, 2), 3), (2, 1.5), ((2,), [1.0, 2.0]), ((), 1j)],
    "identity": [(2,)],
    "linspace": [(0, 1), (0.0, 2.0, 5), (0.0, 1.0, 4, False), ([0.0, 1.0], 2.0, 3)],
    "ones": [(3,), ((2, 0),), ((),)],
    "zeros": [(3,), ([2, 3],), ((),)],
}


@pytest.mark.parametrize(
    ("name", "args"), [(name, args) for name, calls in MADE.items() for args in calls]
)
def test_made_as_in_numpy(name, args):
    result, expected = getattr(ng, name)(*args), getattr(np, name)(*args)
    assert isinstance(result, ng.Tensor)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result.numpy(), expected)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "eye", "arange", "identity"])
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "float16"])
def test_made_with_a_dtype(name, dtype):
    assert getattr(ng, name)(2, dtype=dtype).dtype == dtype


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
def test_made_like_another(name):
    x = ng.tensor(np.ones((2, 3), np.float32), requires_grad=True)
    y = getattr(ng, name)(x)
    assert (y.shape, y.dtype, y.requires_grad) == ((2, 3), np.float32, False)
    assert getattr(ng, name)(x, dtype=int, shape=4).shape == (4,)
    assert getattr(ng, name)([1, 2]).dtype == np.int64


def test_full_like():
    same = ng.full_like(ng.tensor([1, 2]), 7)
    assert same.tolist() == [7, 7]
    assert same.dtype == np.int64


@pytest.mark.parametrize("dtype", [object, str, "datetime64[s]", np.longdouble])
def test_only_numbers_make_tensors(dtype):
    with pytest.raises(TypeError):
        ng.zeros(2, dtype=dtype)


NO_NUMBERS = [
    (lambda: ng.sin(None), "^NoneType is no number: .* numpy.array"),
    (lambda: ng.sum([1.0, None]), "^NoneType is no number"),
    (lambda: ng.tensor([[1.0, {}]]), "^dict is no number"),
    (lambda: ng.array(x for x in (1.0, 2.0)), "^generator is no number: .* write list"),
    (lambda: ng.mean({1: 2.0}.values()), "^dict_values is no number: .* write list"),
    (lambda: ng.asarray([1, 2], dtype=object), "^tensors hold .* numpy.array"),
]


@pytest.mark.parametrize(("make", "words"), NO_NUMBERS)
def test_what_is_no_number_is_named(make, words):
    with pytest.raises(ng.errors.DtypeError, match=words):
        make()


@pytest.mark.parametrize("make", [ng.zeros, ng.ones, ng.empty, ng.arange, ng.eye])
@pytest.mark.host_only("is about where there is no device")
def test_only_the_processor_is_a_device(make):
    assert make(2, device="cpu").device == "cpu"
    with pytest.raises(ValueError, match="device"):
        make(2, device="cuda:0")


# asarray ------------------------------------------------------------------------------------------


def test_asarray_of_a_tensor_is_the_tensor():
    x = ng.tensor([1.0], requires_grad=True)
    assert ng.asarray(x) is x
    assert ng.asarray(x, dtype=float) is x
    assert ng.asarray(x, copy=False) is x


def test_asarray_converts_and_copies_in_the_graph():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    for y in (ng.asarray(x, dtype="float32"), ng.asarray(x, copy=True)):
        assert y is not x
        assert ng.grad(y.sum(), x)[0].tolist() == [1.0, 1.0]
    with pytest.raises(ValueError, match="without a copy"):
        ng.asarray(x, dtype="float32", copy=False)


@pytest.mark.host_only("shares memory with an array of NumPy")
def test_asarray_of_an_array_shares_memory_and_derivatives_do_not_see_later_writes():
    array = np.array([1.0, 2.0])
    x = ng.asarray(array)
    assert np.shares_memory(x.numpy(), array)
    w = ng.tensor([3.0, 4.0], requires_grad=True)
    y = (w * x).sum()
    array[:] = 0
    assert ng.grad(y, w)[0].tolist() == [1.0, 2.0]
    assert not np.shares_memory(ng.asarray(array, copy=True).numpy(), array)


def test_asarray_of_a_list_cannot_avoid_the_copy():
    with pytest.raises(ValueError, match="copy"):
        ng.asarray([1.0], copy=False)


def test_asarray_stacks_tensors_in_lists():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    y = ng.asarray([[x[0], 3.0], [x[1] * x[0], x[1]]])
    assert y.tolist() == [[1.0, 3.0], [2.0, 2.0]]
    assert ng.grad(y.sum(), x)[0].tolist() == [3.0, 2.0]
    assert ng.asarray([ng.tensor(1), 2]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="copy"):
        ng.asarray([x], copy=False)


def test_tensor_of_a_list_of_tensors_with_a_graph_is_refused():
    x = ng.tensor(1.0, requires_grad=True)
    with pytest.raises(ng.errors.DetachedError, match="detach"):
        ng.tensor([x, x])


@pytest.mark.parametrize("ndmin", [65, 10**400])
def test_no_result_has_more_axes_than_numpys_arrays(ndmin):
    with pytest.raises(ValueError, match="array: ndmin must be at most 64"):
        ng.array([1.0], ndmin=ndmin)
    with pytest.raises(ValueError, match="r_: ndmin must be at most 64"):
        ng.r_["0,65", ng.tensor([1.0])]
    assert ng.array([1.0], ndmin=64).ndim == 64


def test_gradients_through_full_and_linspace():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    assert ng.grad(ng.full((3, 2), x).sum(), x)[0].tolist() == [3.0, 3.0]
    y = ng.linspace(x[0], x[1], 5)
    np.testing.assert_allclose(y.detach().numpy(), np.linspace(1, 2, 5))
    np.testing.assert_allclose(ng.grad(y[1], x)[0].numpy(), [0.75, 0.25])
    ends = ng.linspace(x, 4.0, 3, dtype="float32")
    assert (ends.shape, ends.dtype) == ((3, 2), np.float32)


ENDS = {
    "scalars": (np.array(-1.3), np.array(2.7)),
    "arrays": (np.array([[0.1], [7.0]]), np.array([0.3, -0.2, 1e9])),
    "float32": (np.array([0.1, 5.0], np.float32), np.array(0.3, np.float32)),
    "with a number": (np.array(0.7, np.float32), 4.0),
    "complex": (np.array(0.3 - 1j), np.array([1.0 + 1e-3j, -7.7])),
    "a step of zero": (np.array([2.0, 1.0]), np.array([2.0, 7.7])),
    "a step below the numbers": (np.array([0.0, 1.0]), np.array([1e-323, 7.7])),
}


@pytest.mark.parametrize("options", [{}, {"endpoint": False}, {"dtype": np.complex64}])
@pytest.mark.parametrize("num", [0, 1, 2, 8, 50])
@pytest.mark.parametrize("ends", ENDS)
def test_linspace_has_numpys_bits_with_a_graph_too(ends, num, options):
    first, last = ENDS[ends]
    expected = np.linspace(first, last, num, **options)
    plain = ng.linspace(first, last, num, **options)
    recorded = ng.linspace(ng.tensor(first, requires_grad=True), last, num, **options)
    captured = ng.jit(lambda first, last: ng.linspace(first, last, num, **options))(first, last)
    for found in (plain.numpy(), recorded.detach().numpy(), np.asarray(captured)):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_linspace_of_integers_rounds_down_as_in_numpy():
    x = ng.tensor(-3.5, requires_grad=True)
    expected = np.linspace(-3.5, 4.0, 6, dtype=int)
    np.testing.assert_array_equal(ng.linspace(x, 4.0, 6, dtype=int), expected)
    call = ng.jit(lambda first: ng.linspace(first, 9, 5))
    np.testing.assert_array_equal(call(np.array(2)), np.linspace(2, 9, 5))
    with pytest.raises(ValueError, match="-1"):
        ng.linspace(x, 4.0, -1)


@pytest.mark.host_only("shares memory with an array of NumPy")
def test_from_dlpack_shares_memory():
    array = np.array([1.0, 2.0])
    x = ng.from_dlpack(array)
    assert np.shares_memory(x.numpy(), array)
    assert not np.shares_memory(ng.from_dlpack(array, copy=True).numpy(), array)
    assert ng.from_dlpack(x).tolist() == [1.0, 2.0]


# Dtypes -------------------------------------------------------------------------------------------


def test_dtype_functions_take_tensors_for_their_dtypes():
    x = ng.tensor([1.0], dtype="float32")
    assert ng.result_type(x, 1.0) == np.float32
    assert ng.result_type(x, ng.float64, 1j) == np.complex128
    assert not ng.can_cast(x, ng.int64)
    assert ng.finfo(x).bits == 32
    assert ng.iinfo(ng.tensor([1], dtype="int16")).max == 32767
    assert ng.isdtype(x.dtype, "real floating")
    assert not ng.iscomplexobj(x)
    assert ng.isrealobj(1.0)


def test_astype_copies_unless_told():
    x = ng.tensor([1.0], requires_grad=True)
    assert ng.astype(x, ng.float64, copy=False) is x
    assert ng.astype(x, ng.float64) is not x
    assert ng.astype(x, ng.float32).requires_grad
    assert not ng.astype(x, ng.int64).requires_grad


def test_the_namespace_has_dtypes_and_constants():
    for name in ("bool", "int8", "uint64", "float32", "float64", "complex64", "complex128"):
        assert np.dtype(getattr(ng, name)).name == name
    assert (ng.pi, ng.e, ng.inf, ng.newaxis) == (np.pi, np.e, np.inf, None)
    assert np.isnan(ng.nan)


@pytest.mark.host_only("is about where there is no device")
def test_namespace_info():
    info = ng.__array_namespace_info__()
    assert info.devices() == (info.default_device(),) == ("cpu",)
    assert ng.__array_api_version__ == "2025.12"
    assert info.default_dtypes()["real floating"] == np.float64
    assert set(info.dtypes(kind="complex floating")) == {"complex64", "complex128"}
    assert info.capabilities()["boolean indexing"]
    with pytest.raises(ValueError, match="device"):
        info.dtypes(device="cuda")


def test_astype_copies_what_has_the_dtype_as_numpy_does():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2.0
    for convert in (lambda t: t.astype(float), lambda t: ng.astype(t, "float64")):
        z = convert(y)
        z[0] = 10.0
        assert y.tolist() == [2.0, 4.0]
        assert ng.grad(z.sum(), x, retain_graph=True)[0].tolist() == [0.0, 2.0]
        captured = ng.jit(lambda a, convert=convert: write(convert(a)))
        np.testing.assert_array_equal(captured(np.array([1.0, 2.0])), [10.0, 2.0])
    assert y.astype(float, copy=False) is y
    assert y.astype("float32", copy=False).dtype == np.float32


def write(t):
    t[0] = 10.0
    return t


def test_what_the_standard_of_2025_has_added():
    x, row = ng.asarray([[3.0, 1.0], [2.0, 5.0]]), ng.asarray([1.0, 2.0, 3.0])
    assert ng.broadcast_shapes((2, 1), (1, 3)) == (2, 3)
    assert ng.isin(2, row).item() is True
    assert ng.isin(row, 2.0, invert=True).tolist() == [True, False, True]
    assert ng.expand_dims(x, axis=(0, 2)).shape == (1, 2, 1, 2)
    assert ng.permute_dims(x, (-1, 0)).tolist() == [[3.0, 2.0], [1.0, 5.0]]
    assert ng.searchsorted(row, 2.5).item() == 2
    values, vectors = ng.linalg.eig(x)
    assert values.dtype == ng.complex128
    np.testing.assert_allclose((x @ vectors).numpy(), (vectors * values).numpy(), 1e-14)
    assert sorted(ng.linalg.eigvals(x).numpy().real) == sorted(values.numpy().real)
    for several in (ng.meshgrid(row, row), ng.broadcast_arrays(x, x[0])):
        assert type(several) is tuple
