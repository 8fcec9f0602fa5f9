"""Filters of sequences, and what smooths and estimates them, against SciPy's values, differences
and closed forms."""

import itertools

import numpy as np
import pytest
import scipy.signal

import numgrad as ng
from numgrad.testing import gradcheck, gradgradcheck

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 41))
BUTTER = scipy.signal.butter(3, 0.3)
SECTIONS = scipy.signal.butter(5, 0.3, output="sos")
FILTERS = [([1.0, 2.0, 0.5], [2.0, 0.3]), ([1.0], [1.0, 0.2, 0.1, -0.3]), ([0.3, 0.2], [4.0])]
FILTERS += [([1.0], [1.0]), BUTTER, ([0.5, 0.5j], [1.0, 0.2j])]


def close(found, expected, note=""):
    several = isinstance(expected, tuple)
    for p, q in zip(*((found, expected) if several else ([found], [expected])), strict=True):
        assert isinstance(p, ng.Tensor)
        assert (p.shape, p.dtype) == (q.shape, q.dtype), note
        size = max(1.0, abs(q).max()) if q.size else 1.0
        np.testing.assert_allclose(p.numpy(), q, rtol=0.0, atol=1e-12 * size, err_msg=str(note))


def as_scipy(name, *args, **options):
    found = getattr(ng.signal, name)(*args, **options)
    close(found, getattr(scipy.signal, name)(*args, **options), (name, options))


def test_filters_have_the_values_and_states_of_scipy():
    for (b, a), n in itertools.product(FILTERS, (1, 2, 3, 20)):
        x = X[:, :n]
        as_scipy("lfilter", b, a, x)
        as_scipy("lfilter", b, a, x[0])
        as_scipy("lfilter", b, a, x.T, axis=0)
        as_scipy("lfilter", b, a, X[:, ::-2][:, :n])
        order = max(len(b), len(a)) - 1
        as_scipy("lfilter", b, a, x, zi=RNG.standard_normal((3, order)))
        as_scipy("lfilter", b, a, x.T, axis=0, zi=RNG.standard_normal((order, 1)))
    as_scipy("lfilter", *(np.float32(c) for c in BUTTER), np.float32(X[:, :4]) * 0)
    as_scipy("lfilter_zi", *BUTTER)
    as_scipy("sosfilt_zi", SECTIONS)
    as_scipy("sosfilt", SECTIONS, X)
    as_scipy("sosfilt", SECTIONS, X.T, axis=0, zi=RNG.standard_normal((3, 2, 3)))
    for padtype, axis in itertools.product(("odd", "even", "constant", None), (0, -1)):
        x = X.T if axis == 0 else X
        as_scipy("filtfilt", *BUTTER, x, axis=axis, padtype=padtype)
        as_scipy("sosfiltfilt", SECTIONS, x, axis=axis, padtype=padtype)
    as_scipy("filtfilt", *BUTTER, X, padlen=4)


def test_empty_sequences_keep_the_state():
    zi = RNG.standard_normal((3, 3))
    y, final = ng.signal.lfilter(*BUTTER, np.zeros((3, 0)), zi=zi)
    assert y.shape == (3, 0)
    np.testing.assert_allclose(final.numpy(), zi, rtol=1e-15)
    assert ng.signal.lfilter(*BUTTER, np.zeros((0, 5))).shape == (0, 5)
    a = ng.tensor(BUTTER[1], requires_grad=True)
    assert not ng.grad(ng.signal.lfilter(BUTTER[0], a, np.zeros(0)).sum(), a)[0].any()


def test_smoothing_and_detrending_have_the_values_of_scipy():
    for kind in ("linear", "constant"):
        as_scipy("detrend", X, type=kind)
        as_scipy("detrend", X.T, axis=0, type=kind)
    as_scipy("detrend", X, bp=[10, 20])
    windows = ((5, 2, 0), (6, 2, 0), (7, 3, 1), (1, 0, 0), (4, 3, 2), (41, 3, 1), (2, 1, 0))
    for m, degree, deriv in windows:
        for mode in ("interp", "mirror", "constant", "nearest", "wrap"):
            options = {"deriv": deriv, "delta": 0.5, "mode": mode, "cval": 0.3}
            as_scipy("savgol_filter", X, m, degree, **options)
            as_scipy("savgol_filter", X.T, m, degree, axis=0, **options)


def test_periodograms_have_the_values_of_scipy():
    lengths = [{"nperseg": 8}, {"nperseg": 9, "noverlap": 2, "nfft": 13}, {"nperseg": 41}]
    lengths += [{"window": ("kaiser", 3.0), "nperseg": 10, "average": "median"}]
    lengths += [{"window": RNG.standard_normal(7)}]
    for scaling, detrend in itertools.product(
        ("density", "spectrum"), ("constant", "linear", False)
    ):
        options = {"fs": 2.5, "scaling": scaling, "detrend": detrend}
        for x, sides in ((X, True), (X, False), (X + 1j * X[::-1], False)):
            for length in lengths:
                as_scipy("welch", x, return_onesided=sides, **options, **length)
            for length in ({}, {"nfft": 20}, {"nfft": 64, "window": "hann"}):
                as_scipy("periodogram", x, return_onesided=sides, **options, **length)
    as_scipy("welch", X.T, axis=0, nperseg=8)
    as_scipy("periodogram", X.T, axis=0)
    as_scipy("periodogram", [1.0, 2.0])


def tensors(*arrays):
    return [ng.tensor(x, requires_grad=True) for x in arrays]


def states(b, a, x, zi):
    return ng.concat(ng.signal.lfilter(b, a, x, zi=zi), axis=-1)


def both_states(sos, x, zi):
    y, final = ng.signal.sosfilt(sos, x, zi=zi)
    return ng.concat([y, final.sum(axis=0)], axis=-1)


DIFFERENTIATED = {
    "lfilter": (ng.signal.lfilter, ([1.0, 0.5, 0.2], [1.5, -0.4], X[:2, :7])),
    "complex": (ng.signal.lfilter, ([1.0, 0.5j], [1.5, -0.4 + 0.2j], X[0, :5] + 1j * X[1, :5])),
    "state": (states, ([1.0, 0.5], [1.5, -0.4, 0.2], X[:2, :5], X[:2, 10:12])),
    "short": (states, ([1.0, 0.5, 0.1, 0.3], [1.5, -0.4], X[0, :2], X[0, 10:13])),
    "sosfilt": (both_states, (SECTIONS[:2], X[0, :5], X[0, :4].reshape(2, 2))),
    "filtfilt": (ng.signal.filtfilt, ([0.4, 0.3], [1.2, -0.4], X[0, :9])),
    "sosfiltfilt": (
        lambda sos, x: ng.signal.sosfiltfilt(sos, x, padlen=3), (SECTIONS[:2], X[0, :7])
    ),
    "detrend": (lambda x: ng.signal.detrend(x, bp=[3]), (X[0, :8],)),
    "savgol": (
        lambda x, d: ng.signal.savgol_filter(x, 5, 3, 1, d), (X[0, :8], 0.7)
    ),
    "around": (
        lambda x, c: ng.signal.savgol_filter(x, 4, 2, mode="constant", cval=c), (X[0, :8], 0.7)
    ),
    "welch": (
        lambda x, fs, w: ng.signal.welch(x, fs, w, noverlap=2)[1],
        (X[0, :12], 1.5, np.array([0.3, 0.9, 1.0, 0.7, 0.2])),
    ),
    "periodogram": (lambda x: ng.signal.periodogram(x, detrend="linear")[1], (X[0, :7],)),
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_derivatives_of_all_arguments_equal_differences(name):
    function, arrays = DIFFERENTIATED[name]
    given = tensors(*map(np.array, arrays))
    gradcheck(function, given)
    if name in ("lfilter", "complex", "short", "filtfilt", "welch"):
        gradgradcheck(function, given)


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_batched_captured_and_mapped_equal_looped(name):
    function, arrays = DIFFERENTIATED[name]
    arrays = [np.array(x) for x in arrays]
    given = tensors(*arrays)
    y = function(*given)
    g = RNG.standard_normal((3, *y.shape)) + (1j * RNG.standard_normal((3, *y.shape))
                                              if y.dtype.kind == "c" else 0)  # fmt: skip
    batched = ng.grad(y, given, g, is_grads_batched=True)
    for k in range(3):
        alone = ng.grad(function(*given), given, g[k])
        for p, q in zip(batched, alone, strict=True):
            np.testing.assert_array_equal(p[k].numpy(), q.numpy())
    np.testing.assert_array_equal(np.asarray(ng.jit(function)(*arrays)), y.detach().numpy())
    rows = [np.stack([x, 1.1 * x]) for x in arrays]
    mapped = np.asarray(ng.func.vmap(function)(*rows))
    for k in range(2):
        one = function(*[ng.tensor(x[k]) for x in rows]).numpy()
        np.testing.assert_allclose(mapped[k], one, rtol=1e-13, atol=1e-14)


def test_gradients_of_a_filter_are_filters_run_backwards():
    b, a = (np.array(c) for c in BUTTER)
    x, g = X[0], X[1]
    given = tensors(b, a, x)
    gb, ga, gx = (t.numpy() for t in ng.grad(ng.signal.lfilter(*given), given, g))
    t = scipy.signal.lfilter([1.0], a, g[::-1])[::-1]
    y = scipy.signal.lfilter(b, a, x)
    np.testing.assert_allclose(gx, scipy.signal.lfilter(b, a, g[::-1])[::-1], rtol=1e-11)
    n = x.size
    np.testing.assert_allclose(gb, [t[k:] @ x[: n - k] for k in range(b.size)], rtol=1e-11)
    np.testing.assert_allclose(ga, [-t[k:] @ y[: n - k] for k in range(a.size)], rtol=1e-11)


def test_wrong_coefficients_and_states_are_refused_by_name():
    signal = ng.signal
    refused = [
        (r"lfilter: a\[0\] must not be 0", lambda: signal.lfilter([1.0], [0.0, 1.0], X)),
        (r"lfilter: b and a must be vectors", lambda: signal.lfilter([[1.0]], [1.0], X)),
        (r"lfilter: zi of shape \(2,\)", lambda: signal.lfilter([1.0], [1.0, 0.2], X, zi=[1, 2])),
        (r"lfilter: x must have", lambda: signal.lfilter([1.0], [1.0], 2.0)),
        (r"sosfilt: sos must have rows of 6", lambda: signal.sosfilt(np.ones((2, 5)), X)),
        (r"filtfilt: padlen is 50", lambda: signal.filtfilt([1.0], [1.0], X, padlen=50)),
        (r"filtfilt: method", lambda: signal.filtfilt([1.0], [1.0], X, method="gust")),
        (r"savgol_filter: polyorder", lambda: signal.savgol_filter(X, 3, 3)),
        (r"savgol_filter: window_length", lambda: signal.savgol_filter(X, 43, 3)),
        (r"welch: noverlap", lambda: signal.welch(X, nperseg=8, noverlap=8)),
        (r"detrend: bp", lambda: signal.detrend(X, bp=50)),
    ]
    for words, call in refused:
        with pytest.raises(ValueError, match=words):
            call()
