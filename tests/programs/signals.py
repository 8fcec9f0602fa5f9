"""Programs of signals and markets: windows, spectra, filters, peaks, prices of options."""

import numpy

from .collection import program

rng = numpy.random.default_rng(7)


@program(rng.normal(size=40), numpy.array([0.54]))
def spectrum_of_windows(np, signal, shape):
    """Welch's estimate of a spectrum with an adjustable window, and its moments."""
    n, step = 16, 8
    k = np.arange(n)
    window = shape[0] - (1 - shape[0]) * np.cos(2 * np.pi * k / (n - 1))
    segments = [signal[i : i + n] for i in range(0, signal.size - n + 1, step)]
    spectra = []
    for segment in segments:
        segment = segment - segment.mean()
        spectra.append(np.abs(np.fft.rfft(segment * window)) ** 2)
    power = np.mean(np.stack(spectra), axis=0) / np.sum(window**2)
    frequencies = np.fft.rfftfreq(n)
    centre = np.sum(frequencies * power) / np.sum(power)
    flatness = np.exp(np.mean(np.log(power))) / np.mean(power)
    return np.stack([centre, flatness, np.max(power), power[3]])


@program(rng.normal(size=30), rng.normal(size=5), numpy.array([0.3, -0.2]))
def digital_filters(np, signal, taps, feedback):
    """A filter with finite response by np.convolve, one with feedback in a loop, a correlation."""
    smooth = np.convolve(signal, taps, mode="same")
    y = np.zeros_like(smooth)
    for i in range(len(y)):
        y[i] = smooth[i]
        if i >= 1:
            y[i] -= feedback[0] * y[i - 1]
        if i >= 2:
            y[i] -= feedback[1] * y[i - 2]
    lags = np.correlate(y, smooth, mode="full")
    middle = len(lags) // 2
    decimated = y[::3]
    envelope = np.cumsum(decimated**2) / np.arange(1, len(decimated) + 1)
    return np.concatenate([lags[middle - 2 : middle + 3], envelope])


@program(
    numpy.array([2.0, 3.1, 0.4, 1.2, 6.0, 0.8, 0.1, -0.02]), rng.normal(size=50), analytic=True
)
def fit_of_a_spectrum(np, theta, noise):
    """Two peaks on a background, as Lorentz and Gauss curves, compared with data, in chi square."""
    x = np.linspace(0, 10, 50)

    def model(p):
        gauss = p[0] * np.exp(-0.5 * ((x - p[1]) / p[2]) ** 2)
        lorentz = p[3] / (1 + ((x - p[4]) / p[5]) ** 2)
        return gauss + lorentz + p[6] + p[7] * x

    truth = model(numpy.array([2.2, 3.0, 0.5, 1.0, 6.2, 0.7, 0.15, -0.01]))
    data = truth + 0.05 * noise
    sigma = 0.05 + 0.01 * np.sqrt(data**2 + 1)
    residuals = (model(theta) - data) / sigma
    huber = 2 * (np.sqrt(1 + residuals**2) - 1)
    area = np.sum(model(theta)[1:] + model(theta)[:-1]) * 0.5 * (x[1] - x[0])
    return 0.5 * np.sum(huber) + area


@program(
    numpy.array([100.0, 95.0, 105.0]), numpy.array([0.2, 0.25, 0.3]), numpy.array([0.5, 1.0, 2.0])
)
def prices_of_options(np, spot, volatility, expiry):
    """Prices by Black and Scholes, with a normal distribution function of elementary functions."""

    def cdf(x):
        k = 1 / (1 + 0.2316419 * np.abs(x))
        series = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (
            -1.821255978 + k * 1.330274429))))  # fmt: skip
        tail = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) * series
        return np.where(x >= 0, 1 - tail, tail)

    strike, rate = 100.0, 0.03
    root = volatility * np.sqrt(expiry)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * expiry) / root
    d2 = d1 - root
    call = spot * cdf(d1) - strike * np.exp(-rate * expiry) * cdf(d2)
    put = call - spot + strike * np.exp(-rate * expiry)
    payoff = np.maximum(call - put, 0) + 0.5 * np.minimum(call, put)
    return np.concatenate([call, put, payoff])


@program(numpy.array([100.0, 0.3, 0.04]))
def american_option(np, parameters):
    """An American put on a binomial tree, its values overwritten level by level."""
    spot, volatility, rate = parameters
    steps, strike, expiry = 20, 105.0, 1.0
    dt = expiry / steps
    up = np.exp(volatility * np.sqrt(dt))
    discount = np.exp(-rate * dt)
    p = (1 / discount - 1 / up) / (up - 1 / up)
    levels = np.arange(steps + 1)
    prices = spot * up ** (2.0 * levels - steps)
    values = np.maximum(strike - prices, 0)
    for _ in range(steps):
        values = discount * (p * values[1:] + (1 - p) * values[:-1])
        prices = prices[1:] / up
        values = np.maximum(values, strike - prices)
    return values[0]


@program(rng.uniform(0.01, 0.05, 6), numpy.array([98.0, 101.0]))
def yields_of_bonds(np, zero_rates, prices):
    """Discount factors of a curve, prices, durations, and yields by Newton's method."""
    times = np.arange(1, 7)
    factors = (1 + zero_rates) ** -times
    forwards = factors[:-1] / factors[1:] - 1
    coupons = numpy.array([3.0, 4.5])
    fair = coupons * factors.sum() + 100 * factors[-1]
    yields = np.full(2, 0.03)
    for _ in range(6):
        base = (1 + yields)[:, None]
        flows = coupons[:, None] + 100.0 * (times == 6)
        value = np.sum(flows * base**-times, axis=1)
        slope = np.sum(-times * flows * base ** (-times - 1), axis=1)
        yields = yields - (value - prices) / slope
    duration = -slope / value
    return np.concatenate([fair - prices, yields, duration, forwards])


@program(rng.normal(size=40), numpy.array([3.0, 0.4, 0.8]), allocates=True)
def kaiser_filter_design(np, signal, design):
    """A filter of finite length by a window of variable width, its response and its output."""
    beta, cutoff, gain = design
    taps = 11
    n = np.arange(taps) - (taps - 1) / 2
    window = np.kaiser(taps, beta)
    h = gain * cutoff * np.sinc(cutoff * n) * window
    omega = np.linspace(0, np.pi, 9)
    response = np.exp(-1j * np.outer(omega, n)) @ h
    ripple = np.abs(response[:3] - gain)
    stop = np.maximum(20 * np.log10(np.abs(response[6:]) + 1e-6), -60.0)
    filtered = np.convolve(signal, h, mode="same")
    frames = np.lib.stride_tricks.sliding_window_view(filtered, 8)[::4]
    spectrum = np.abs(np.fft.rfft(frames * np.kaiser(8, 2 * beta), axis=1)) ** 2
    energy = spectrum.sum(axis=1) / np.sum(np.kaiser(8, 2 * beta) ** 2)
    return np.concatenate([h[:5], ripple, 0.01 * stop, energy, spectrum.mean(axis=0)])
