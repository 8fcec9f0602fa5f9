"""Filters of images: SciPy's values, and gradients by differences and inner products."""

import numpy as np
import pytest
from scipy import ndimage

import numgrad as ng

from ..differences import agree, derivative

own = ng.interop.scipy.ndimage
RNG = np.random.default_rng(11)
IMAGE, ROW = RNG.normal(size=(5, 6)), RNG.normal(size=7)
WEIGHTS, PLANE = np.array([0.3, -1.0, 2.0, 0.7]), RNG.normal(size=(2, 3))
MODES = ["reflect", "mirror", "nearest", "wrap", "constant", "grid-wrap"]

CALLS = {
    "correlate": lambda m, x, **o: m.correlate(x, PLANE, cval=0.4, **o),
    "correlate origin": lambda m, x, **o: m.correlate(x, PLANE, origin=(-1, 1), **o),
    "convolve": lambda m, x, **o: m.convolve(x, PLANE, cval=0.4, **o),
    "convolve origin": lambda m, x, **o: m.convolve(x, PLANE, origin=[0, -1], **o),
    "one axis": lambda m, x, **o: m.correlate(x, WEIGHTS, axes=[0], **o),
    "turned axes": lambda m, x, **o: m.correlate(x, PLANE, axes=(1, 0), **o),
    "correlate1d": lambda m, x, **o: m.correlate1d(x, WEIGHTS, 0, origin=1, **o),
    "convolve1d": lambda m, x, **o: m.convolve1d(x, WEIGHTS, cval=2.0, **o),
    "uniform_filter": lambda m, x, **o: m.uniform_filter(x, (2, 3), **o),
    "uniform_filter1d": lambda m, x, **o: m.uniform_filter1d(x, 4, 0, origin=-1, **o),
    "gaussian_filter": lambda m, x, **o: m.gaussian_filter(x, (0.7, 1.3), **o),
    "gaussian order": lambda m, x, **o: m.gaussian_filter(x, 0.8, (1, 2), **o),
    "gaussian radius": lambda m, x, **o: m.gaussian_filter(x, 1.1, radius=2, axes=1, **o),
    "gaussian_filter1d": lambda m, x, **o: m.gaussian_filter1d(x, 0.9, 0, 3, truncate=3.0, **o),
    "gaussian_laplace": lambda m, x, **o: m.gaussian_laplace(x, 0.8, **o),
    "gaussian_gradient_magnitude": lambda m, x, **o: m.gaussian_gradient_magnitude(x, 0.8, **o),
    "sobel": lambda m, x, **o: m.sobel(x, 0, cval=1.0, **o),
    "prewitt": lambda m, x, **o: m.prewitt(x, **o),
    "laplace": lambda m, x, **o: m.laplace(x, **o),
}


@pytest.mark.parametrize("name", CALLS)
def test_filters_are_those_of_scipy(name):
    call, seed = CALLS[name], RNG.normal(size=IMAGE.shape)
    for mode in MODES:
        expected = call(ndimage, IMAGE, mode=mode)
        np.testing.assert_allclose(call(own, IMAGE, mode=mode), expected, rtol=1e-12, atol=1e-13)
        x = ng.tensor(IMAGE, requires_grad=True)
        y = call(own, x, mode=mode)
        np.testing.assert_allclose(y.detach(), expected, rtol=1e-12, atol=1e-13)
        (g,) = ng.grad((y * seed).sum(), x)
        slopes = derivative(lambda v, m=mode: (call(ndimage, v, mode=m) * seed).sum(), IMAGE)
        agree(g, slopes, 1e-8)
    captured = ng.jit(lambda x: call(own, x, mode="mirror"))
    np.testing.assert_allclose(captured(IMAGE), call(ndimage, IMAGE, mode="mirror"), atol=1e-13)
    stacked = ng.func.vmap(lambda x: call(own, x, mode="wrap"))(np.stack([IMAGE, 2.0 * IMAGE]))
    expected = [call(own, k * IMAGE, mode="wrap") for k in (1.0, 2.0)]
    np.testing.assert_allclose(stacked, expected, rtol=1e-12, atol=1e-13)


def test_weights_widths_and_constants_have_gradients():
    def f(m, w, sigma, cval):
        y = m.convolve1d(ROW, w, mode="constant", cval=cval)
        z = m.gaussian_filter1d(ROW, sigma, order=1, radius=4, mode="constant", cval=cval)
        u = m.gaussian_filter(IMAGE, [sigma, 1.0], mode="wrap", radius=3)
        return (y * ROW).sum() + (z * ROW).sum() + (u * IMAGE).sum()

    given = WEIGHTS, np.float64(0.9), np.float64(0.4)
    found = ng.func.grad(lambda *v: f(own, *v), (0, 1, 2))(*given)
    for place, gradient in enumerate(found):
        def along(v, place=place):
            return f(ndimage, *given[:place], v, *given[place + 1 :])

        exact = derivative(lambda v, g=along, n=place: g(v.reshape(np.shape(given[n]))[()]),
                           np.atleast_1d(given[place]))  # fmt: skip
        agree(np.atleast_1d(gradient), exact, 1e-8)


def test_small_and_other_arrays():
    for n in (1, 2):
        x = ROW[:n]
        for mode in MODES:
            np.testing.assert_allclose(
                own.correlate1d(x, np.arange(1.0, 8.0), mode=mode),
                ndimage.correlate1d(x, np.arange(1.0, 8.0), mode=mode), rtol=1e-12,
            )  # fmt: skip
    single = own.gaussian_filter(IMAGE.astype("f4"), 1.0)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, ndimage.gaussian_filter(IMAGE.astype("f4"), 1.0), 1e-5, 1e-6)
    z = IMAGE + 1j * IMAGE.T.reshape(5, 6)
    np.testing.assert_allclose(own.sobel(z), ndimage.sobel(z), rtol=1e-12, atol=1e-13)
    cube = RNG.normal(size=(3, 4, 2))
    np.testing.assert_allclose(own.laplace(cube), ndimage.laplace(cube), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(own.uniform_filter(cube), ndimage.uniform_filter(cube), rtol=1e-10)


MOVES = {
    "affine": (lambda m, x, p, **o: m.affine_transform(x, [[1.0, p], [0.2, 0.9]], [p, 0.1], **o)),
    "homogeneous": lambda m, x, p, **o: m.affine_transform(
        x, np.array([[0.9, 0.1, 0.3], [0.2, 1.1, -0.2]]) * (1.0 + 0.1 * p), **o),
    "diagonal": lambda m, x, p, **o: m.affine_transform(
        x, [0.8, 1.1], 0.3, output_shape=(4, 7), **o) * p,
    "shift": lambda m, x, p, **o: m.shift(x, [p, -0.4], **o),
    "rotate": lambda m, x, p, **o: m.rotate(x, 30.0 * p, **o)[1:4, 1:4],
    "rotate in place": lambda m, x, p, **o: m.rotate(x, 70.0 * p, (0, 1), reshape=False, **o),
    "zoom": lambda m, x, p, **o: m.zoom(x, (1.7, 0.6), **o) * p,
    "zoom of grids": lambda m, x, p, **o: m.zoom(x, 1.5, grid_mode=True, **o) * p,
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_images_are_moved_as_scipy_moves_them(name):
    def move(m, x, p, **o):  # of tensors NumPy makes no array
        def stacked(value):
            return ng.stack([stacked(v) for v in value]) if isinstance(value, list) else value

        if m is own:
            class m:  # noqa: N801
                affine_transform = staticmethod(lambda x, a, *b, **o: own.affine_transform(
                    x, stacked(a), *[stacked(v) for v in b], **o))  # fmt: skip
                shift, rotate, zoom = map(staticmethod, (own.shift, own.rotate, own.zoom))
        return MOVES[name](m, x, p, **o)

    for order, mode in ((1, "constant"), (1, "reflect"), (1, "grid-wrap"), (0, "nearest")):
        options = {"order": order, "mode": mode, "cval": 0.7}
        if name == "zoom of grids" and mode == "constant":
            options["mode"] = "grid-constant"
        expected = MOVES[name](ndimage, IMAGE, 0.83, **options)
        found = move(own, ng.tensor(IMAGE), ng.tensor(0.83), **options)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        if not order:
            continue
        seed = RNG.normal(size=expected.shape)
        x, p = (ng.tensor(v, requires_grad=True) for v in (IMAGE, 0.83))
        gx, gp = ng.grad((move(own, x, p, **options) * seed).sum(), (x, p))
        value = lambda x, p, o=options, w=seed: (MOVES[name](ndimage, x, p, **o) * w).sum()  # noqa: E731
        agree(gx, derivative(lambda v, f=value: f(v, 0.83), IMAGE), 1e-8)
        slope = derivative(lambda v, f=value: f(IMAGE, v[0]), np.array([0.83]), h=1e-6)
        agree(np.atleast_1d(gp), slope, 1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: own.sobel(np.arange(4)), "input must be floating"),
        (lambda: own.correlate1d(ROW, WEIGHTS, mode="near"), "mode must be one of reflect"),
        (lambda: own.correlate1d(ROW, WEIGHTS, origin=3), "origin 3 of 4 weights"),
        (lambda: own.correlate(IMAGE, WEIGHTS), "weights must be a real array of 2 axes"),
        (lambda: own.laplace(IMAGE, axes=[0, 2]), r"axes=\[0, 2\] of an array of 2 axes"),
        (lambda: own.gaussian_filter(IMAGE, [1.0, 2.0, 3.0]), "sigma has 3 items for 2 axes"),
        (lambda: own.uniform_filter(IMAGE, 0), "size must be positive"),
        (lambda: own.shift(IMAGE, 1.0, order=6), "order must be in 0..5"),
        (lambda: own.affine_transform(IMAGE, np.ones((3, 2))), "a matrix of shape"),
        (lambda: own.rotate(IMAGE, 3.0, (0,)), "axes must be two axes"),
        (lambda: own.laplace(IMAGE, np.zeros((5, 6))), "output must be a dtype"),
    ],
)
def test_wrong_arguments_of_filters(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_filters_of_scipy_take_tensors_while_it_is_patched():
    t = ng.tensor(IMAGE, requires_grad=True)
    with ng.interop.scipy.patch():
        y = ndimage.gaussian_filter(t, 1.0)
    assert ng.grad(y[2, 2], t)[0].shape == IMAGE.shape


def test_moved_images_are_splines_by_default_as_in_scipy():
    x = np.random.default_rng(0).standard_normal((30, 25))
    turn = np.array([[0.9, 0.1], [-0.2, 1.1]])
    for mode in ("constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap", "grid-constant"):
        for name, args in (
            ("shift", ((1.3, -2.4),)), ("zoom", (1.7,)), ("rotate", (33.0,)),
            ("affine_transform", (turn, (1.01, 0.52))), ("affine_transform", ([0.9, 1.2], 0.5)),
        ):  # fmt: skip
            found, expected = (
                getattr(module, name)(x, *args, mode=mode, cval=0.2) for module in (own, ndimage)
            )
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11, err_msg=name)


def test_registration_by_a_shift_finds_it():
    i, j = np.mgrid[:20, :24]
    image = np.exp(-((i - 9.0) ** 2) / 9.0 - (j - 11.0) ** 2 / 16.0)
    moved = ndimage.shift(image, (1.3, -0.7))
    found = ng.interop.scipy.least_squares(
        lambda s: (own.shift(image, s) - moved).reshape(-1), np.zeros(2)
    )
    np.testing.assert_allclose(found.x, [1.3, -0.7], rtol=1e-8)
