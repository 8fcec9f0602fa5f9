"""Medians, ranks and periodograms of uneven times: SciPy's values, derivatives by differences."""

import numpy as np
import pytest
from scipy import ndimage, signal, special

import numgrad as ng
from numgrad.testing import gradcheck, gradgradcheck

images = ng.interop.scipy.ndimage
RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 6))
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])


def checked(f, *given):
    tensors = [ng.tensor(x, requires_grad=True) for x in given]
    gradcheck(f, tensors)
    gradgradcheck(f, tensors)
    y = f(*tensors)
    np.testing.assert_array_equal(np.asarray(ng.jit(f)(*given)), y.detach().numpy())
    mapped = np.asarray(ng.func.vmap(f)(*[np.stack([x, x]) for x in given]))
    np.testing.assert_allclose(mapped[1], y.detach().numpy(), rtol=1e-12)
    g = RNG.standard_normal((2, *y.shape))
    batched = ng.grad(y, tensors, g, is_grads_batched=True)
    for found, one in zip(batched, ng.grad(f(*tensors), tensors, g[1]), strict=True):
        np.testing.assert_allclose(found[1].numpy(), one.numpy(), rtol=1e-11, atol=1e-12)


def test_medians_equal_those_of_scipy():
    for size in (None, 3, (3, 1), 5):
        np.testing.assert_array_equal(ng.signal.medfilt(X, size).numpy(), signal.medfilt(X, size))
    np.testing.assert_array_equal(ng.signal.medfilt2d(X, 3).numpy(), signal.medfilt2d(X, 3))
    checked(lambda x: ng.signal.medfilt(x, 3), X)
    for size in (2, (3, 3, 3)):
        with pytest.raises(ValueError, match="medfilt: kernel_size must be odd"):
            ng.signal.medfilt(X, size)


def test_ranks_equal_those_of_scipy():
    for mode in ("reflect", "mirror", "nearest", "wrap", "constant"):
        options = {"mode": mode, "cval": 0.3}
        for window in ({"size": 3}, {"size": (2, 3)}, {"footprint": CROSS}):
            given = options | window
            for name, args in (
                ("median_filter", ()), ("maximum_filter", ()), ("minimum_filter", ()),
                ("rank_filter", (2,)), ("rank_filter", (-2,)), ("percentile_filter", (30,)),
            ):  # fmt: skip
                found, expected = (
                    getattr(module, name)(X, *args, **given) for module in (images, ndimage)
                )
                np.testing.assert_array_equal(found, expected, err_msg=f"{name} {given}")
        for name in ("maximum_filter1d", "minimum_filter1d"):
            found, expected = (
                getattr(module, name)(X, 4, 0, origin=1, **options) for module in (images, ndimage)
            )
            np.testing.assert_array_equal(found, expected)
    found, expected = (m.median_filter(X, (3,), axes=(1,)) for m in (images, ndimage))
    np.testing.assert_array_equal(found, expected)
    checked(lambda x: images.median_filter(x, 3), X)
    checked(lambda x: images.maximum_filter(x, footprint=CROSS, mode="constant"), X)
    with pytest.raises(ValueError, match="rank_filter: rank 9 in a window of 9"):
        images.rank_filter(X, 9, 3)
    with pytest.raises(ValueError, match="median_filter: size or footprint"):
        images.median_filter(X)


def test_periodograms_of_uneven_times_equal_those_of_scipy():
    t, y, w = np.sort(RNG.uniform(0, 9, 12)), RNG.standard_normal(12), RNG.uniform(0.5, 1.0, 12)
    freqs = np.array([0.3, 1.1, 2.7])
    for normalize in (False, True, "amplitude"):
        for options in ({}, {"weights": w}, {"weights": w, "floating_mean": True}):
            options = options | {"normalize": normalize}
            expected = signal.lombscargle(t, y, freqs, **options)
            found = ng.signal.lombscargle(t, y, freqs, **options).numpy()
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    f = lambda t, y, q, w: ng.signal.lombscargle(t, y, q, weights=w, floating_mean=True)  # noqa: E731
    checked(f, t, y, freqs, w)
    even = np.arange(8.0)  # at the frequency of Nyquist there is no sine
    found = ng.signal.lombscargle(even, np.cos(np.pi * even), [np.pi]).numpy()
    np.testing.assert_allclose(found, signal.lombscargle(even, np.cos(np.pi * even), [np.pi]))
    with pytest.raises(ValueError, match="lombscargle: normalize must be"):
        ng.signal.lombscargle(t, y, freqs, normalize="far")


def test_factorials_equal_those_of_scipy():
    n = np.array([-1.5, 0.0, 0.5, 3.0, 10.0])
    np.testing.assert_allclose(ng.special.factorial(n).numpy(), special.factorial(n), rtol=1e-14)
    assert ng.special.factorial(20, exact=True) == special.factorial(20, exact=True)
    checked(ng.special.factorial, np.array([-1.5, 0.2, 3.0]))
    with pytest.raises(ValueError, match="factorial: extend must be"):
        ng.special.factorial(n, extend="far")
