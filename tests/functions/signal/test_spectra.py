"""Spectra of two signals and of short times, and signals on other grids: SciPy's values, and
gradients by differences."""

import numpy as np
import pytest
from scipy import signal

import numgrad as ng

own = ng.signal
RNG = np.random.default_rng(4)
X, Y = RNG.normal(size=(2, 24)), RNG.normal(size=(2, 24))
LONG = RNG.normal(size=60)
TAPS = np.array([0.2, 0.5, -0.3, 0.1])
SHORT = {"nperseg": 8}

CALLS = {
    "csd": lambda m, x: m.csd(x, Y, **SHORT),
    "csd median": lambda m, x: m.csd(Y, x, 3.0, average="median", scaling="spectrum", **SHORT),
    "csd lengths": lambda m, x: m.csd(x[0], Y[1, :15], detrend="linear", **SHORT),
    "csd axis": lambda m, x: m.csd(x.T, Y.T, axis=0, nfft=9, return_onesided=False, **SHORT),
    "coherence": lambda m, x: m.coherence(x, Y, 2.0, **SHORT),
    "spectrogram": lambda m, x: m.spectrogram(x, 3.0, **SHORT),
    "spectrogram magnitude": lambda m, x: m.spectrogram(x, mode="magnitude", **SHORT),
    "spectrogram complex": lambda m, x: m.spectrogram(
        x.T, axis=0, mode="complex", scaling="spectrum", noverlap=3, **SHORT),
    "spectrogram angle": lambda m, x: m.spectrogram(x, mode="angle", window="hann", **SHORT),
    "stft": lambda m, x: m.stft(x, 2.0, **SHORT),
    "stft psd": lambda m, x: m.stft(x, scaling="psd", boundary="even", noverlap=5, **SHORT),
    "stft odd": lambda m, x: m.stft(x, boundary="odd", nfft=11, detrend="constant", **SHORT),
    "stft inside": lambda m, x: m.stft(x.T, axis=0, boundary=None, padded=False, nperseg=7),
    "stft constant": lambda m, x: m.stft(x, boundary="constant", return_onesided=False, **SHORT),
    "istft": lambda m, x: m.istft(x.reshape(2, 4, 6)[0], 2.0),
    "istft psd": lambda m, x: m.istft(
        x.reshape(6, 8), noverlap=5, nperseg=8, input_onesided=False, time_axis=0, freq_axis=1,
        scaling="psd", boundary=False, window="boxcar")[1].real,
    "hilbert": lambda m, x: m.hilbert(x),
    "hilbert axis": lambda m, x: m.hilbert(x, 5, axis=0),
    "upfirdn": lambda m, x: m.upfirdn(TAPS, x, 3, 2),
    "upfirdn axis": lambda m, x: m.upfirdn(TAPS, x, 2, 5, axis=0),
    "resample_poly": lambda m, x: m.resample_poly(x, 6, 4),
    "resample_poly down": lambda m, x: m.resample_poly(x, 2, 7, axis=-1),
    "resample_poly taps": lambda m, x: m.resample_poly(x, 3, 2, window=TAPS),
    "resample_poly same": lambda m, x: m.resample_poly(x, 3, 3, axis=0),
    "decimate": lambda m, x: m.decimate(x.reshape(-1), 3),
    "decimate fir": lambda m, x: m.decimate(x, 3, ftype="fir"),
    "decimate causal": lambda m, x: m.decimate(x, 2, 5, zero_phase=False),
    "decimate causal fir": lambda m, x: m.decimate(x, 4, 9, "fir", zero_phase=False),
}  # fmt: skip


def parts(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("name", CALLS)
def test_spectra_and_resampled_signals_are_those_of_scipy(name):
    call = CALLS[name]
    expected = parts(call(signal, X))
    x = ng.tensor(X, requires_grad=True)
    found = parts(call(own, x))
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine.detach(), theirs, rtol=1e-9, atol=1e-12)
    last = expected[-1]
    seed = RNG.normal(size=last.shape)

    def value(v):
        y = parts(call(signal, v))[-1]
        return (y.real * seed + y.imag * seed[::-1]).sum()

    y = found[-1]
    total = (ng.real(y) * seed).sum() + (ng.imag(y) * seed[::-1]).sum()
    (g,) = ng.grad(total, x)
    direction = RNG.normal(size=X.shape)
    h = 1e-5
    slope = (value(X + h * direction) - value(X - h * direction)) / (2 * h)
    np.testing.assert_allclose((g.numpy() * direction).sum(), slope, rtol=1e-6, atol=1e-8)


def test_gradients_of_spectra_in_other_modes():
    def loss(x):
        _, _, z = own.stft(x, nperseg=8)
        return (abs(own.istft(2.0 * z)[1]) ** 2).sum() + own.coherence(x, LONG, nperseg=16)[1].sum()

    eager = ng.func.grad(loss)(LONG * 1.5 + 1.0)
    np.testing.assert_allclose(ng.jit(ng.func.grad(loss))(LONG * 1.5 + 1.0), eager, rtol=1e-9)
    mapped = ng.func.vmap(ng.func.grad(loss))(np.stack([LONG * 1.5 + 1.0, LONG + 2.0]))
    np.testing.assert_allclose(mapped[0], eager, rtol=1e-9, atol=1e-12)
    taps = ng.func.grad(lambda h: (own.upfirdn(h, LONG, 2, 3) ** 2).sum())(TAPS)
    h = 1e-6 * np.eye(4)
    f = lambda t: (signal.upfirdn(t, LONG, 2, 3) ** 2).sum()  # noqa: E731
    slopes = [(f(TAPS + d) - f(TAPS - d)) / 2e-6 for d in h]
    np.testing.assert_allclose(taps, slopes, rtol=1e-6)


def test_a_window_that_leaves_elements_out_is_told():
    with pytest.warns(UserWarning, match="leaves elements without weight"):
        own.istft(np.ones((5, 3)), boundary=False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: own.csd(LONG, LONG, average="mode"), "average must be one of"),
        (lambda: own.spectrogram(LONG, mode="phases"), "mode must be one of"),
        (lambda: own.stft(LONG, boundary="odd one"), "boundary must be one of"),
        (lambda: own.stft(LONG, scaling="density"), "scaling must be"),
        (lambda: own.istft(LONG), "istft: axes -2 and -1 of an array of shape"),
        (lambda: own.istft(np.ones((5, 3)), noverlap=9), "noverlap must be in"),
        (lambda: own.hilbert(LONG * 1j), "x must be real"),
        (lambda: own.upfirdn([[1.0]], LONG), "h must be a vector"),
        (lambda: own.upfirdn([1.0], LONG, 0), "up and down must be positive"),
        (lambda: own.decimate(LONG, 2, ftype="fft"), "ftype must be"),
    ],
)
def test_wrong_arguments_of_spectra(call, message):
    with pytest.raises(ValueError, match=message):
        call()
