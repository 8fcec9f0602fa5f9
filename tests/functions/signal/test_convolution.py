"""Convolutions of any number of axes against SciPy's, their gradients against closed forms."""

import numpy as np
import pytest
import scipy.signal

import numgrad as ng

SHAPES = [((6, 7), (3, 2)), ((3, 2), (6, 7)), ((5,), (2,)), ((2,), (5,)), ((4, 5, 6), (2, 3, 2))]
SHAPES += [((2, 4, 4), (3, 2, 5)), ((2, 3, 4, 3), (2, 2, 2, 2)), ((1, 5), (3, 1)), ((), ())]
MODES = ("full", "same", "valid")
MATRICES = [{"boundary": b, "fillvalue": 0.7} for b in ("fill", "wrap", "symm")]
OPTIONS = {
    "convolve": [{"method": m} for m in ("auto", "direct", "fft")],
    "correlate": [{"method": m} for m in ("auto", "direct", "fft")],
    "fftconvolve": [{}], "oaconvolve": [{}], "convolve2d": MATRICES, "correlate2d": MATRICES,
}  # fmt: skip


def numbers(shape, is_complex=False, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    return x + 1j * rng.standard_normal(shape) if is_complex else x


def called(module, name, *args, **options):
    try:
        return np.asarray(getattr(module, name)(*args, **options))
    except ValueError as error:
        return type(error)


@pytest.mark.parametrize("name", OPTIONS)
def test_values_equal_scipy(name):
    for first, second in SHAPES:
        if name.endswith("2d") and len(first) != 2:
            continue
        for kinds in ((False, False), (True, False), (True, True)):
            a, v = numbers(first, kinds[0]), numbers(second, kinds[1], 1)
            for mode in MODES:
                if name == "correlate2d" and kinds[0] and mode == "valid":
                    continue  # SciPy's is the conjugate where it exchanges both
                for options in OPTIONS[name]:
                    expected = called(scipy.signal, name, a, v, mode=mode, **options)
                    found = called(ng.signal, name, a, v, mode=mode, **options)
                    if isinstance(expected, type):
                        assert found is expected, (first, second, mode, options)
                        continue
                    assert found.dtype == expected.dtype
                    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint16", "float32", "complex64"])
@pytest.mark.parametrize("name", ["convolve", "correlate", "convolve2d"])
def test_dtypes_are_those_of_scipy(name, dtype):
    a, v = (abs(5 * numbers(s)).astype(dtype) for s in ((4, 5), (2, 3)))
    expected, found = (getattr(m, name)(a, v) for m in (scipy.signal, ng.signal))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5)


def test_axes_of_transforms():
    a, v = numbers((3, 6)), numbers((3, 4), seed=1)
    for axes in (1, [1], -1):
        expected = scipy.signal.fftconvolve(a, v, "same", axes=axes)
        np.testing.assert_allclose(ng.signal.fftconvolve(a, v, "same", axes=axes), expected)
    with pytest.raises(ValueError, match=r"fftconvolve: shapes .* along the axes"):
        ng.signal.fftconvolve(a, numbers((2, 4)), axes=1)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("is_complex", [False, True])
def test_gradients_are_those_of_a_bilinear_function(name, is_complex):
    """``<g, a * v>`` is linear in each: a gradient has ``<ga, a> = <gv, v> = <g, y>`` along every
    direction, here with SciPy's values of the function."""
    shapes = [((4, 5), (3, 2)), ((3, 2, 4), (2, 2, 3))]
    for first, second in shapes[: 1 if name.endswith("2d") else 2]:
        a, v = numbers(first, is_complex), numbers(second, is_complex, 1)
        da, dv = numbers(first, is_complex, 2), numbers(second, is_complex, 3)
        function, of_scipy = getattr(ng.signal, name), getattr(scipy.signal, name)
        for mode in MODES:
            for options in OPTIONS[name]:
                given = {**options, "fillvalue": 0.0} if "fillvalue" in options else options
                ta, tv = (ng.tensor(x, requires_grad=True) for x in (a, v))
                y = function(ta, tv, mode=mode, **given)
                g = numbers(y.shape, is_complex, 4)
                ga, gv = (x.numpy() for x in ng.grad(y, (ta, tv), g))
                along_a = np.vdot(g, of_scipy(da, v, mode=mode, **given)).real
                along_v = np.vdot(g, of_scipy(a, dv, mode=mode, **given)).real
                np.testing.assert_allclose(np.vdot(ga, da).real, along_a, rtol=1e-10)
                np.testing.assert_allclose(np.vdot(gv, dv).real, along_v, rtol=1e-10)


def test_the_number_around_has_a_gradient():
    fill = ng.tensor(0.3, requires_grad=True)
    y = ng.signal.convolve2d(np.ones((2, 2)), np.ones((3, 3)), mode="same", fillvalue=fill)
    assert ng.grad(y.sum(), fill)[0].item() == 4 * 9 - 4 * 4


def loss(a, v):
    return (ng.signal.convolve(a, v, mode="same", method="direct") ** 2).sum()


def test_second_derivatives_batched_captured_forward_and_mapped():
    a, v = numbers((4, 3)), numbers((2, 2), seed=1)
    hessian = ng.func.hessian(loss, argnums=1)(a, v)
    basis = np.stack([scipy.signal.convolve(a, e.reshape(2, 2), "same").ravel() for e in np.eye(4)])
    np.testing.assert_allclose(hessian.reshape(4, 4), 2 * basis @ basis.T, rtol=1e-12)

    def image(v):
        return ng.signal.convolve(a, v, mode="same", method="direct")

    rows = ng.func.jacrev(image)(v)
    np.testing.assert_allclose(rows.reshape(12, 4), basis.T, rtol=1e-14)
    np.testing.assert_array_equal(ng.func.jacfwd(image)(v), rows)
    np.testing.assert_array_equal(ng.jit(ng.func.jacrev(image))(v), rows)
    mapped = ng.func.vmap(image)(np.stack([v, 2 * v]))
    np.testing.assert_array_equal(mapped[1], image(2 * v))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ng.signal.convolve(np.ones((2, 2)), np.ones(2)), r"convolve: .*\(2, 2\) and"),
        (lambda: ng.signal.correlate(np.ones(2), np.ones(2), "half"), "correlate: mode"),
        (lambda: ng.signal.convolve(np.ones(2), np.ones(2), method="slow"), "convolve: method"),
        (lambda: ng.signal.convolve2d(np.ones(2), np.ones(2)), "convolve2d needs two matrices"),
        (lambda: ng.signal.correlate2d([[1.0]], [[1.0]], boundary="no"), "correlate2d: boundary"),
        (lambda: ng.signal.convolve(np.ones((1, 3)), np.ones((2, 2)), "valid"), "convolve: .*val"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_other_names_are_those_of_scipy():
    assert ng.signal.get_window is scipy.signal.get_window
