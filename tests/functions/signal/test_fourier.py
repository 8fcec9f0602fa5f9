"""Fourier transforms against NumPy and SciPy, and their gradients against matrices."""

import math
import warnings

import numpy as np
import pytest
import scipy.fft

import numgrad as ng
from numgrad.engine.lower.lower import lower
from numgrad.engine.record.apply import deferring
from numgrad.targets.null import NullTarget
from numgrad.testing import gradcheck

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = ["fft2", "ifft2", "fftn", "ifftn", "rfft2", "irfft2", "rfftn", "irfftn"]
REAL_ONLY = {"rfft", "ihfft", "rfft2", "rfftn"}
NORMS = [None, "ortho", "forward"]


def drawn(rng, shape, dtype):
    x = 3 * rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def equal(actual, expected):
    """Equal to rounding; NumPy takes the root of ``n`` in half precision."""
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    precision = 1e-13 if expected.dtype.itemsize >= 8 and expected.dtype != np.complex64 else 2e-3
    np.testing.assert_allclose(actual.numpy(), expected, precision, 10 * precision)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i4", "?"])
def test_one_axis_as_numpy(rng, name, dtype):
    if dtype[0] == "c" and name in REAL_ONLY:
        with pytest.raises(TypeError, match=rf"fft\.{name} takes real numbers"):
            getattr(ng.fft, name)(np.ones(3, dtype))
        return
    own, numpys = getattr(ng.fft, name), getattr(np.fft, name)
    for shape, axes in (((5,), [-1]), ((3, 4, 2), [0, 1, -1])):
        x = drawn(rng, shape, dtype)
        for axis in axes:
            for n in (None, 1, 4, 7):
                for norm in NORMS:
                    equal(own(ng.tensor(x), n, axis, norm), numpys(x, n, axis, norm))
    equal(numpys(ng.tensor(x), axis=0), numpys(x, axis=0))


@pytest.mark.parametrize("name", SEVERAL)
@pytest.mark.parametrize("dtype", ["f8", "c8"])
def test_several_axes_as_numpy(rng, name, dtype):
    if dtype[0] == "c" and name in REAL_ONLY:
        pytest.skip("of real numbers")
    own, numpys = getattr(ng.fft, name), getattr(np.fft, name)
    x = drawn(rng, (3, 4, 5), dtype)
    equal(own(x), numpys(x))
    given = [(None, (1,)), ((2, 6), (0, -1)), (None, (2, 0, 1)), (None, (0, 0)), ((-1, 3), (1, 2))]
    for s, axes in given:
        for norm in NORMS:
            equal(own(ng.tensor(x), s, axes, norm), numpys(x, s, axes, norm))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of s without axes
        equal(own(x, (2, 6), None), numpys(x, (2, 6), None))


def transforms(function, x):
    """Return the names of the transforms that compute ``function``, and how many numbers each of
    them reads or gives."""
    with ng.no_grad(), deferring(True):
        program = lower([function(ng.tensor(x))], NullTarget())
    found = [i for i in program.instructions if i.name in ("fft", "rfft", "irfft")]
    return [i.name for i in found], [
        {math.prod(layout.shape) for layout in i.pattern.layouts if layout.shape} for i in found
    ]


@pytest.mark.parametrize("name", ["fftn", "ifftn"])
@pytest.mark.parametrize("shape", [(6, 5), (1, 6), (5, 1), (2, 3), (4, 3, 2), (3, 1, 6)])
def test_real_numbers_are_transformed_by_half(rng, name, shape):
    function, x = getattr(ng.fft, name), rng.standard_normal(shape)
    names, sizes = transforms(function, x)
    assert names == ["rfft", *["fft"] * (len(shape) - 1)]
    assert all(size == {x.size // shape[-1] * (shape[-1] // 2 + 1)} for size in sizes[1:])
    equal(function(ng.tensor(x)), getattr(np.fft, name)(x))
    assert gradcheck(lambda x: ng.abs(function(x) - 1.5), ng.tensor(x, requires_grad=True))


@pytest.mark.parametrize("name", ["dct", "dst", "idct", "idst"])
def test_cosines_and_sines_as_scipy(rng, name):
    own, scipys = getattr(ng.fft, name), getattr(scipy.fft, name)
    several, scipys_several = getattr(ng.fft, name + "n"), getattr(scipy.fft, name + "n")
    x = drawn(rng, (3, 5), "f8")
    for kind in (1, 2, 3, 4):
        for norm in NORMS:
            for scaled in (None, True, False):
                for n, axis in ((None, -1), (4, 0), (2, -1)):
                    equal(
                        own(ng.tensor(x), kind, n, axis, norm, orthogonalize=scaled),
                        scipys(x, kind, n, axis, norm, orthogonalize=scaled),
                    )
                equal(
                    several(x, kind, (4, 2), (1, 0), norm, orthogonalize=scaled),
                    scipys_several(x, kind, (4, 2), (1, 0), norm, orthogonalize=scaled),
                )
        equal(several(x, kind), scipys_several(x, kind))
        for dtype in ("f4", "c8", "i4"):
            y = drawn(rng, 6, dtype)
            equal(own(y, kind), scipys(y, kind))


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_real_and_imaginary_parts_are_transformed_alike(rng, kind):
    z = drawn(rng, 5, "c16")
    for name in ("dct", "dst"):
        own, scipys = getattr(ng.fft, name), getattr(scipy.fft, name)
        parts = [scipys(part, kind, orthogonalize=True) for part in (z.real, z.imag)]
        equal(own(z, kind, orthogonalize=True), parts[0] + 1j * parts[1])


# Gradients: those of a linear function are the rows of its matrix, which NumPy's function has


def expected(function, x, g):
    """Return the gradient of the real part of ``sum(conj(g) * function(x))``."""
    result = np.zeros(x.shape, x.dtype)
    for place in np.ndindex(x.shape):
        for unit in (1, 1j) if x.dtype.kind == "c" else (1,):
            basis = np.zeros(x.shape, x.dtype)
            basis[place] = unit
            result[place] += unit * np.sum(g.conj() * function(basis)).real
    return result


def check(own, numpys, x, rng):
    y = numpys(x)
    g = drawn(rng, y.shape, y.dtype)
    leaf = ng.tensor(x, requires_grad=True)
    found = ng.grad(own(leaf), leaf, g)[0]
    np.testing.assert_allclose(found.numpy(), expected(numpys, x, g), 1e-12, 1e-12)
    seeds = ng.tensor(g, requires_grad=True)
    with ng.enable_grad():
        (first,) = ng.grad(own(leaf), leaf, seeds, create_graph=True)
    (back,) = ng.grad(first, seeds, x)  # of a linear function: itself
    np.testing.assert_allclose(back.numpy(), y, 1e-12, 1e-12)


@pytest.mark.parametrize("name", [*ONE, *SEVERAL])
@pytest.mark.parametrize("n", [None, 3, 4, 7])
def test_gradients(rng, name, n):
    own, numpys = getattr(ng.fft, name), getattr(np.fft, name)
    size = n if name in ONE or n is None else (n, 2)
    for dtype in ("f8", "c16"):
        if dtype == "f8" or name not in REAL_ONLY:
            for norm in ("backward", "ortho"):
                axes = {"axis": 0} if name in ONE else {"axes": (0, 1)}
                check(
                    lambda x, o=norm, a=axes: own(x, size, norm=o, **a),
                    lambda x, o=norm, a=axes: numpys(x, size, norm=o, **a),
                    drawn(rng, (5, 3), dtype), rng,
                )  # fmt: skip


@pytest.mark.parametrize("name", ["dct", "dst", "idct", "idst", "dctn", "idstn"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_gradients_of_cosines_and_sines(rng, name, kind):
    own, scipys = getattr(ng.fft, name), getattr(scipy.fft, name)
    size = {"n": 4} if name[-1] == "t" else {"s": (4, 6)}
    for norm, scaled in ((None, None), ("ortho", None), ("forward", True), ("ortho", False)):
        options = {"norm": norm, "orthogonalize": scaled, **size}
        check(
            lambda x, o=options: own(x, kind, **o),
            lambda x, o=options: scipys(x, kind, **o),
            drawn(rng, (3, 5), "f8"), rng,
        )  # fmt: skip


def test_imaginary_parts_that_are_not_looked_at_have_no_gradient(rng):
    for n, ends in ((6, [0, 3]), (7, [0])):
        z = ng.tensor(drawn(rng, 4, "c16"), requires_grad=True)
        (g,) = ng.grad(ng.fft.irfft(z, n), z, rng.standard_normal(n))
        assert np.all(g.numpy()[ends].imag == 0)
        assert np.count_nonzero(g.numpy().imag) == 4 - len(ends)


def test_gradients_of_real_arguments_are_real(rng):
    x = ng.tensor(drawn(rng, 4, "f4"), requires_grad=True)
    for function in (ng.fft.fft, ng.fft.irfft, ng.fft.ifftn):
        y = function(x)
        (g,) = ng.grad(y, x, np.ones(y.shape, y.dtype))
        assert g.dtype == np.float32


# Programs and transformations


def power(x):
    """A real function that is not linear: how much there is of each frequency."""
    spectrum = ng.fft.rfft(x * ng.exp(x), 12)
    return ng.fft.irfft(ng.abs(spectrum) ** 2 + 1j * ng.real(spectrum), 10)


def test_captured_forward_and_mapped(rng):
    x = rng.standard_normal((4, 9))
    jacobian = ng.func.jacrev(power)
    np.testing.assert_allclose(ng.func.jacfwd(power)(x[0]), jacobian(x[0]), 1e-11, 1e-11)
    np.testing.assert_array_equal(ng.jit(jacobian)(x[0]), jacobian(x[0]))
    mapped = ng.func.vmap(jacobian)(x)
    np.testing.assert_allclose(mapped, np.stack([jacobian(row) for row in x]), 1e-12, 1e-12)
    step = 1e-6 * np.eye(9)
    rows = [(power(x[0] + e).numpy() - power(x[0] - e).numpy()) / 2e-6 for e in step]
    np.testing.assert_allclose(jacobian(x[0]), np.transpose(rows), 1e-6, 1e-6)


def test_second_derivatives_of_what_is_not_linear(rng):
    x = rng.standard_normal(5)

    def energy(x):
        return (ng.abs(ng.fft.fft(ng.sin(x))) ** 4).sum()

    hessian, step = ng.func.hessian(energy), 1e-5 * np.eye(5)
    slope = ng.func.grad(energy)
    rows = [(slope(x + e) - slope(x - e)) / 2e-5 for e in step]
    np.testing.assert_allclose(hessian(x), rows, 1e-5, 1e-5)


# Frequencies and shifts


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(n):
    for d in (1.0, 0.3, 2):
        for name in ("fftfreq", "rfftfreq"):
            expected = getattr(np.fft, name)(n, d)
            np.testing.assert_array_equal(getattr(ng.fft, name)(n, d).numpy(), expected)
    assert ng.fft.rfftfreq(n, dtype=np.float32).dtype == np.float32


def test_the_distance_of_points_has_a_gradient():
    d = ng.tensor(0.5, requires_grad=True)
    (slope,) = ng.grad(ng.fft.fftfreq(4, d)[1], d)
    np.testing.assert_allclose(slope.numpy(), -1.0)  # of 1 / (4 d)


@pytest.mark.parametrize("axes", [None, 0, -1, (0, 1), [1]])
def test_shifts(rng, axes):
    x = rng.standard_normal((5, 4))
    for name in ("fftshift", "ifftshift"):
        own, numpys = getattr(ng.fft, name), getattr(np.fft, name)
        np.testing.assert_array_equal(own(x, axes).numpy(), numpys(x, axes))
        np.testing.assert_array_equal(numpys(ng.tensor(x), axes).numpy(), numpys(x, axes))


def test_a_fast_number_of_points():
    assert ng.fft.next_fast_len(1021) == scipy.fft.next_fast_len(1021)


# Errors


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda f: f.fft(np.ones(3), 0), ValueError, r"fft\.fft: .* points \(0\)"),
        (lambda f: f.ifft2(np.zeros((0, 3))), ValueError, r"fft\.ifft2: .* points \(0\)"),
        (lambda f: f.irfft([1.0]), ValueError, r"fft\.irfft: .* points \(0\)"),
        (lambda f: f.fft(np.ones(3), axis=1), IndexError, "out of bounds"),
        (lambda f: f.fft(1.0), IndexError, "out of bounds"),
        (lambda f: f.hfft(np.ones(3), norm="own"), ValueError, r"fft\.hfft: .*'own'"),
        (lambda f: f.fftn(np.ones(3), (2, 2), (0,)), ValueError, r"fft\.fftn: .*lengths"),
        (lambda f: f.rfftn(np.ones((2, 2)) * 1j), TypeError, r"fft\.rfftn takes real"),
        (lambda f: f.dct(np.ones(3), 5), ValueError, r"fft\.dct: type"),
        (lambda f: f.idct(np.ones(1), 1), ValueError, r"fft\.idct: type 1 needs two"),
        (lambda f: f.fft(np.ones(3), 2.5), TypeError, "integer"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(ng.fft)


def test_an_array_as_target_is_refused():
    with pytest.raises(TypeError, match=r"np\.fft\.fft: out= must be a tensor, got ndarray"):
        np.fft.fft(ng.tensor([1.0, 2.0]), out=np.zeros(2, complex))


@pytest.mark.parametrize("name", ["dctn", "idctn", "dstn", "idstn"])
@pytest.mark.parametrize("options", [{"axes": 1}, {"axes": -2}, {"s": 4, "axes": 0}, {"s": 2}])
def test_one_axis_and_one_size_may_be_numbers_as_in_scipy(name, options):
    x = np.arange(6.0).reshape(2, 3)
    expected = getattr(scipy.fft, name)(x, overwrite_x=False, workers=1, **options)
    found = getattr(ng.fft, name)(ng.tensor(x), overwrite_x=False, workers=1, **options)
    np.testing.assert_allclose(found.numpy(), expected, 1e-13)
    for library in (scipy.fft, ng.fft):
        with pytest.raises(ValueError, match="unique"):
            getattr(library, name)(x, axes=(0, -2))


ALL = [*[k + n for k in ("fft", "ifft", "rfft", "irfft") for n in ("", "2", "n")], "hfft", "ihfft"]


@pytest.mark.parametrize("name", ALL)
def test_parameters_of_scipy_that_ask_for_nothing(name):
    x = np.array([[1.0, 2.0, 4.0, 3.0], [0.5, -1.0, 2.0, 1.0]])
    options = {"workers": 1, "overwrite_x": False}
    found = getattr(ng.fft, name)(ng.tensor(x), **options)
    np.testing.assert_allclose(found.numpy(), getattr(scipy.fft, name)(x, **options))
