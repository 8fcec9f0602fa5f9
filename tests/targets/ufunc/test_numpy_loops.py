"""Transforms by the inner loops of NumPy's functions: the bits of SciPy's, or SciPy's itself."""

import ctypes
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.fft

import numgrad as ng
from numgrad.targets.cpu.kernels import kernel as kernels
from numgrad.targets.cpu.ufunc import numpy_loops

RNG = np.random.default_rng(0)
KINDS = {"fft": "c", "ifft": "c", "rfft": "f", "irfft": "c"}


@pytest.fixture
def anew(monkeypatch):
    """No kernel was made yet, and none stays."""
    monkeypatch.setattr(kernels, "_kernels", {name: {} for name in kernels._kernels})


def given(shape, dtype):
    x = RNG.standard_normal(shape)
    x = x + 1j * RNG.standard_normal(shape) if dtype.kind == "c" else x
    return x.astype(dtype)


def specials(dtype):
    """Return rows with zeros of both signs, infinities and NaN."""
    x = given((5, 8), dtype)
    x[0], x[1], x[2, 3], x[3, 0], x[4, -1] = 0.0, -0.0, np.inf, np.nan, -np.inf
    return x


def same_bits(found, expected):
    found = np.asarray(found)
    return (found.dtype, found.tobytes()) == (expected.dtype, expected.tobytes())


def check(name, x, n, norm):
    """Compare what is computed at once and captured with what SciPy computes."""
    expected = getattr(scipy.fft, name)(x, n, norm=norm)
    ours = getattr(ng.fft, name)
    assert same_bits(ours(ng.tensor(x), n, norm=norm), expected), (name, x.shape, n, norm)
    captured = ng.jit(lambda x: ours(x, n, norm=norm))
    assert same_bits(captured(x), expected), (name, x.shape, n, norm)


@pytest.mark.parametrize("name", KINDS)
def test_bits_are_those_of_scipy(name):
    sizes, norms = (1, 2, 3, 8, 15, 64, 97, 256), itertools.cycle(["backward", "ortho", "forward"])
    for dtype in (np.dtype("f4"), np.dtype("f8")):
        kind = np.result_type(dtype, "F") if KINDS[name] == "c" else dtype
        for n in sizes:
            for m in {n, n + 3, n // 2 + 1}:
                for shape in ((m,), (3, m)):
                    check(name, given(shape, kind), n, next(norms))
        with np.errstate(all="ignore"):
            check(name, specials(kind), 8, "backward")


def test_axes_and_strides():
    x = given((6, 5, 4), np.dtype("D"))
    for axis in range(3):
        expected = scipy.fft.fft(x, axis=axis)
        assert np.asarray(ng.fft.fft(x, axis=axis)).tobytes() == expected.tobytes()
        assert same_bits(ng.jit(lambda x, a=axis: ng.fft.fft(x, axis=a))(x), expected)
    for view in (x[..., ::2], x[::-1], x.T, x[:, :, :0].reshape(0, 4), np.zeros((2, 0), "D")):
        expected = scipy.fft.fft(view, 4)
        np.testing.assert_array_equal(ng.fft.fft(view, 4), expected)
        np.testing.assert_array_equal(ng.jit(lambda x: ng.fft.fft(x, 4))(view), expected)
    np.testing.assert_array_equal(ng.fft.irfft(np.zeros((2, 0), "D"), 5), np.zeros((2, 5)))
    np.testing.assert_allclose(ng.fft.fftn(x), scipy.fft.fftn(x), 1e-13)
    one_by_one = scipy.fft.fft(scipy.fft.fft(scipy.fft.fft(x, axis=2), axis=1), axis=0)
    np.testing.assert_array_equal(ng.fft.fftn(x), one_by_one)


def test_gradients_in_a_batch_are_those_one_by_one():
    x = ng.tensor(given((3, 16), np.dtype("f8")), requires_grad=True)
    y = ng.fft.irfft(ng.fft.rfft(x) * np.exp(1j * np.arange(9)), 16)
    seeds = RNG.standard_normal((4, *y.shape))
    (batch,) = ng.grad(y, x, seeds, is_grads_batched=True, retain_graph=True)
    for seed, found in zip(seeds, np.asarray(batch), strict=True):
        (alone,) = ng.grad(y, x, seed, retain_graph=True)
        assert same_bits(found, np.asarray(alone))


def test_long_transforms_of_several_threads():
    x = given((40, 4096), np.dtype("D"))
    call = ng.jit(lambda x: ng.fft.ifft(ng.fft.fft(x) * 2.0))
    expected = scipy.fft.ifft(scipy.fft.fft(x) * 2.0)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(call, [x] * 12):
            assert same_bits(found, expected)


@pytest.mark.usefixtures("anew")
def test_where_a_loop_is_not_found_scipy_computes(monkeypatch):
    monkeypatch.setattr(numpy_loops, "_table", lambda alias: None)
    for name, kind in KINDS.items():
        check(name, given((3, 12), np.dtype("D" if kind == "c" else "d")), 12, "ortho")
    found = {type(kernel) for kernel in kernels._kernels["simd"].values()}
    assert numpy_loops.NumPyLoop not in found


def test_loops_are_found_only_where_all_agrees(monkeypatch):
    loop = numpy_loops._loop_of
    module = np.fft._pocketfft_umath
    assert loop(module.rfft_n_odd, "ddD") is not None
    assert loop(module.fft, "Ff") is None
    assert loop(np.fft.fft, "DdD") is None
    assert loop(np.add, "ddd") is not None
    assert numpy_loops._table("numgrad_numpy_loop:numpy.fft.nothing:fft:DdD") is None
    assert numpy_loops._table("numgrad_numpy_loop:numpy.fft._pocketfft_umath:no:DdD") is None

    class Shifted(ctypes.Structure):
        _fields_ = (("more", ctypes.c_int), *numpy_loops._Header._fields_)

    monkeypatch.setattr(numpy_loops, "_Header", Shifted)
    assert loop(module.fft, "DdD") is None


@pytest.mark.usefixtures("anew")
def test_want_of_memory_within_a_loop_is_an_error():
    table = numpy_loops._table("numgrad_numpy_loop:numpy.fft._pocketfft_umath:fft:DdD")
    address, x = int(table[0]), given((2, 8), np.dtype("D"))
    call = ng.jit(lambda x: ng.fft.fft(x) * 2.0)
    expected = call(x)
    table[0] = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value
    try:
        for function in (ng.fft.fft, call):
            errors = (ng.errors.OperatorError, MemoryError)
            with pytest.raises(errors, match="no memory for fft of 8"):
                function(x)
    finally:
        table[0] = address
    assert same_bits(call(x), np.asarray(expected))


@pytest.mark.short_ways
@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2"])
def test_axes_in_front_are_transformed_without_a_copy(name):
    x = given((8, 6), np.dtype("f8" if name == "rfft2" else "c16"))
    captured = ng.jit(getattr(ng.fft, name))
    assert same_bits(captured(x), getattr(ng.fft, name)(x).numpy())
    (recorded,) = captured.jit_function.specializations.values()
    (stage,) = recorded.trace.stages.stages
    assert "copy" not in [i.pattern.name for i in stage.plan.bound.program.instructions]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("axes", [(1, 0, 2), (2, 1, 0), (2, 0, 1)])
def test_results_lie_in_memory_as_what_is_transformed(name, axes):
    kind = np.dtype("f8" if name == "rfft" else "c16")
    x = given((3, 4, 6), kind).transpose(axes)
    ours, expected = getattr(ng.fft, name), getattr(scipy.fft, name)(x)
    for found in (ours(ng.asarray(x)), ng.jit(ours)(x)):
        assert same_bits(found, np.ascontiguousarray(expected))
    order = np.argsort(np.argsort(x.strides))
    assert np.array_equal(np.argsort(np.argsort(ours(ng.asarray(x)).array.strides)), order)
