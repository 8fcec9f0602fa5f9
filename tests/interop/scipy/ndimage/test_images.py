"""Values of arrays between their elements against SciPy's."""

import numpy as np
import pytest
from scipy import ndimage

import numgrad as ng
from numgrad.interop.scipy import map_coordinates
from numgrad.interop.scipy.spatial.images import MODES
from numgrad.testing import gradcheck, gradgradcheck
from tests.sampling import one_in

RNG = np.random.default_rng(0)
IMAGE = RNG.standard_normal((5, 4))


@pytest.mark.parametrize("mode", MODES)
def test_values_equal_scipy_far_outside_and_at_halves(mode):
    for shape in ((7,), (5, 4), (3, 4, 2), (1, 3)):
        x = RNG.standard_normal(shape)
        far = RNG.uniform(-25, 25, (len(shape), 200))
        halves = RNG.integers(-50, 50, (len(shape), 4, 50)) / 2.0
        for at in (far, halves, far[:, ::-3]):
            for order in (0, 1):
                options = {"order": order, "mode": mode, "cval": 0.7}
                expected = ndimage.map_coordinates(x, at, **options)
                found = map_coordinates(x, at, **options)
                assert found.dtype == expected.dtype
                np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    assert map_coordinates(IMAGE, np.zeros((2, 0)), order=1, mode=mode).shape == (0,)
    assert map_coordinates(IMAGE, [1.0, 2.0], order=1, mode=mode) == IMAGE[1, 2]


@pytest.mark.parametrize("mode", one_in(2, MODES))
def test_derivatives_of_image_coordinates_and_fill_equal_differences(mode):
    at = np.array([[0.3, 1.6, 3.7, -0.7, 5.3], [0.2, 2.4, -0.6, 1.7, 4.2]])
    given = [ng.tensor(x, requires_grad=True) for x in (IMAGE, at, 0.7)]
    f = lambda x, at, c: map_coordinates(x, at, order=1, mode=mode, cval=c)  # noqa: E731
    gradcheck(f, given)
    gradgradcheck(f, given)
    nearest = lambda x, at: map_coordinates(x, at, order=0, mode=mode)  # noqa: E731
    gradcheck(nearest, given[:2])


def test_the_last_element_has_the_slope_before_it():
    x = np.array([1.0, 2.0, 5.0])
    for mode in ("constant", "wrap"):
        at = ng.tensor([[0.0, 1.0, 2.0]], requires_grad=True)
        y = map_coordinates(x, at, order=1, mode=mode)
        np.testing.assert_array_equal(y.detach().numpy(), x)
        np.testing.assert_array_equal(ng.grad(y.sum(), at)[0].numpy(), [[1.0, 3.0, 3.0]])


@pytest.mark.parametrize("mode", one_in(2, MODES, 1))
def test_splines_equal_those_of_scipy(mode):
    for shape in ((7,), (5, 4), (3, 2), (1, 3), (30, 25)):
        if mode in ("reflect", "grid-mirror") and min(shape) < 20:
            continue  # where SciPy's splines miss short arrays, see below
        x = RNG.standard_normal(shape)
        for low, high in ((0, min(shape)), (-2, max(shape) + 2), (-60, 60)):
            at = RNG.uniform(low, high, (len(shape), 100))
            halves = RNG.integers(2 * low, 2 * high + 1, (len(shape), 40)) / 2.0
            for order in (2, 3, 4, 5):
                for given in (at, halves):
                    for prefilter in (True, False):
                        options = {"order": order, "mode": mode, "cval": 0.7}
                        options["prefilter"] = prefilter
                        expected = ndimage.map_coordinates(x, given, **options)
                        found = map_coordinates(x, given, **options)
                        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_splines_go_through_all_elements():
    for mode in MODES:
        for n in (1, 2, 3, 7):
            x = RNG.standard_normal(n)
            for order in (2, 3, 4, 5):
                found = map_coordinates(x, np.arange(n)[None] * 1.0, order=order, mode=mode)
                # nearest and grid-constant are filtered with a margin of 12 elements, as in SciPy
                rough = mode in ("nearest", "grid-constant")
                atol = {2: 1e-8, 3: 1e-6, 4: 1e-4, 5: 1e-3}[order] if rough else 1e-13
                np.testing.assert_allclose(found, x, rtol=0, atol=atol)


@pytest.mark.parametrize("mode", one_in(2, MODES))
def test_derivatives_of_splines_equal_differences_in_all_modes(mode):
    at = np.array([[0.3, 1.6, 3.7, -0.7, 5.3], [0.2, 2.4, -0.6, 1.7, 4.2]])
    given = [ng.tensor(x, requires_grad=True) for x in (IMAGE, at, 0.7)]
    f = lambda x, at, c: map_coordinates(x, at, order=3, mode=mode, cval=c)  # noqa: E731
    gradcheck(f, given)
    gradgradcheck(f, given)
    y, g = f(*given), RNG.standard_normal((2, 5))
    batched = ng.grad(y, given, g, is_grads_batched=True, allow_unused=True)
    looped = ng.grad(f(*given), given, g[1], allow_unused=True)
    for found, one in zip(batched, looped, strict=True):
        if one is not None:
            np.testing.assert_allclose(found[1].numpy(), one.numpy(), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(np.asarray(ng.jit(f)(IMAGE, at, 0.7)), y.detach().numpy())
    twice = np.stack([IMAGE, 2 * IMAGE]), np.stack([at, at])
    mapped = np.asarray(ng.func.vmap(f, in_axes=(0, 0, None))(*twice, 0.7))
    np.testing.assert_allclose(mapped[0], y.detach().numpy(), rtol=1e-12, atol=1e-13)


def test_batched_captured_and_mapped_equal_looped():
    at = RNG.uniform(-2, 6, (2, 9))
    given = [ng.tensor(x, requires_grad=True) for x in (IMAGE, at)]
    f = lambda x, at: map_coordinates(x, at, order=1, mode="reflect")  # noqa: E731
    y = f(*given)
    g = RNG.standard_normal((3, 9))
    batched = ng.grad(y, given, g, is_grads_batched=True)
    for k in range(3):
        for p, q in zip(batched, ng.grad(f(*given), given, g[k]), strict=True):
            np.testing.assert_array_equal(p[k].numpy(), q.numpy())
    np.testing.assert_array_equal(np.asarray(ng.jit(f)(IMAGE, at)), y.detach().numpy())
    mapped = np.asarray(ng.func.vmap(f)(np.stack([IMAGE, 2 * IMAGE]), np.stack([at, at + 1.0])))
    np.testing.assert_allclose(mapped[1], f(2 * IMAGE, at + 1.0), rtol=1e-13)


def test_what_is_not_computed_is_refused_by_name():
    at = np.zeros((2, 3))
    refused = [
        (r"order must be in 0\.\.5, got 6", lambda: map_coordinates(IMAGE, at, order=6)),
        ("mode must be one of", lambda: map_coordinates(IMAGE, at, order=1, mode="far")),
        ("input must be floating", lambda: map_coordinates(IMAGE.astype(int), at, order=1)),
        ("first axis of size 2", lambda: map_coordinates(IMAGE, at[:1], order=1)),
        ("finite", lambda: map_coordinates(IMAGE, at + np.nan, order=1)),
        ("output must be", lambda: map_coordinates(IMAGE, at, np.zeros(3), order=1)),
    ]
    for words, call in refused:
        with pytest.raises(ValueError, match=f"map_coordinates: .*{words}"):
            call()
