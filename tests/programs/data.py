"""Longer programs: analyses of data with NumPy's functions for tables, signals and curves."""

import numpy

from .collection import program

rng = numpy.random.default_rng(11)


@program(rng.normal(size=40), numpy.sort(rng.uniform(0, 10, 6)), rng.normal(size=6))
def calibration_of_a_sensor(np, raw, knots, corrections):
    """Correct readings by a curve, bin them, differentiate and integrate them, find their level."""
    time = np.linspace(0.0, 4.0, raw.size)
    readings = 5 + 2 * np.sin(time) + 0.3 * raw
    curve = np.cumsum(np.abs(corrections)) * 0.1
    corrected = readings - np.interp(readings, knots, curve)
    corrected = np.where(readings > 7.2, np.nan, corrected)
    level = np.nanmean(corrected)
    filled = np.where(np.isnan(corrected), level, corrected)
    smooth = np.convolve(filled, np.ones(5) / 5, mode="valid")
    slope = np.gradient(smooth, time[1] - time[0])
    area = np.trapezoid(smooth - level, dx=time[1] - time[0])
    edges = numpy.linspace(3, 8, 6)
    where_to = numpy.clip(numpy.digitize(numpy.linspace(3.2, 7.9, smooth.size), edges) - 1, 0, 4)
    sums = np.bincount(where_to, weights=smooth, minlength=5)
    counts = numpy.bincount(where_to, minlength=5)
    means = sums / counts
    low, high = np.percentile(smooth, [10, 90])
    trimmed = np.clip(smooth, low, high)
    power = np.sum(np.diff(trimmed) ** 2) / np.var(smooth)
    crossing = np.argmax(smooth > level)
    at = smooth[crossing] - level
    return np.concatenate([means, np.stack([area, power, at, np.max(slope), high - low])])


@program(rng.normal(size=60), rng.normal(size=(5, 12)))
def anomalies_of_a_climate(np, temperature, rain):
    """Seasons, trends, running means, correlations and extremes of monthly series."""
    months = temperature.reshape(5, 12)
    season = 10 * np.cos(2 * np.pi * np.arange(12) / 12)
    months = months + season
    climatology = months.mean(axis=0)
    anomalies = months - climatology
    series = anomalies.ravel()
    time = np.arange(series.size) / 12
    design = np.stack([np.ones(series.size), time, time**2], axis=1)
    trend, *_ = np.linalg.lstsq(design, series, rcond=None)
    detrended = series - design @ trend
    running = np.convolve(detrended, np.ones(12) / 12, mode="same")
    together = np.corrcoef(detrended, rain.ravel())[0, 1]
    covariance = np.cov(np.stack([detrended, rain.ravel(), running]))
    threshold = np.quantile(detrended, 0.9)
    extremes = np.where(detrended > threshold, detrended - threshold, 0.0)
    lag = np.sum(detrended[1:] * detrended[:-1]) / np.sum(detrended**2)
    effective = series.size * (1 - lag) / (1 + lag)
    yearly = np.median(months, axis=1)
    spread = np.ptp(yearly)
    weighted = np.average(months, axis=1, weights=1 + np.abs(season))
    storms = np.maximum.reduce(rain, axis=1)
    change = np.diff(weighted, prepend=weighted[:1])
    return np.concatenate([yearly + change, storms * together, np.diag(covariance)]) + (
        spread * extremes.sum() / effective
    )


@program(rng.normal(size=24), numpy.array([0.8, 2.4, 0.3]))
def response_of_a_filter(np, noise, design):
    """Amplitude, unwrapped phase and group delay of a resonance, compared with a mask."""
    damping, centre, gain = design
    frequency = np.linspace(0.1, 6.0, 24)
    s = 1j * frequency
    response = gain * s / (s**2 + damping * s + centre**2)
    response = response * np.exp(-0.9j * frequency) * (1 + 0.02 * noise)
    amplitude = np.abs(response)
    phase = np.unwrap(np.angle(response))
    delay = -np.gradient(phase, frequency)
    decibel = 20 * np.log10(amplitude)
    bands = [frequency < 1.5, (frequency >= 1.5) & (frequency < 3.5)]
    mask = np.select(bands, [-20 + 5 * frequency, -10 - 0.5 * frequency], default=-18.0)
    excess = np.maximum(decibel - mask, 0.0)
    peak = np.argmax(amplitude)
    half = amplitude[peak] / np.sqrt(2)
    above = amplitude > half
    width = np.sum(np.where(above, 1 / (1 + np.exp(-(amplitude - half) * 50)), 0.0)) * 0.25
    ripple = np.std(delay[4:12])
    real, imaginary = response.real, response.imag
    area = 0.5 * np.sum(real[:-1] * imaginary[1:] - real[1:] * imaginary[:-1])
    cumulative = np.cumsum(amplitude**2)
    middle = np.interp(0.5 * cumulative[-1], cumulative, frequency)
    group = np.trapezoid(delay * amplitude**2, frequency) / np.trapezoid(amplitude**2, frequency)
    return np.stack([width, ripple, area, middle, group, np.sum(excess), np.max(decibel)])


@program(rng.uniform(size=(6, 8)), numpy.array([0.6, 1.4]))
def equalization_of_an_image(np, image, parameters):
    """A smooth histogram, equalization by its sums, moments of a region, a warp of the picture."""
    softness, gamma = parameters
    levels = np.linspace(0, 1, 9)
    pixels = image.ravel() ** gamma
    membership = np.exp(-(((pixels[:, None] - levels) * 8 / softness) ** 2))
    membership = membership / membership.sum(axis=1, keepdims=True)
    histogram = membership.sum(axis=0)
    cumulative = np.cumsum(histogram) / pixels.size
    equalized = np.interp(pixels, levels, cumulative).reshape(image.shape)
    entropy = -np.sum(cumulative[:-1] * np.log(cumulative[:-1]))
    rows, columns = np.meshgrid(np.arange(6.0), np.arange(8.0), indexing="ij")
    mass = np.sum(equalized)
    centre = np.stack([np.sum(rows * equalized), np.sum(columns * equalized)]) / mass
    dr, dc = rows - centre[0], columns - centre[1]
    second = np.stack([np.sum(dr**2 * equalized), np.sum(dr * dc * equalized)]) / mass
    shifted = columns + 0.3 * np.sin(rows + centre[0])
    left = np.clip(np.floor(shifted).astype(int), 0, 6)
    t = np.clip(shifted - left, 0.0, 1.0)
    row_index = numpy.arange(6)[:, None]
    warped = (1 - t) * equalized[row_index, left] + t * equalized[row_index, left + 1]
    gradient_rows, gradient_columns = np.gradient(warped)
    sharpness = np.mean(np.sqrt(gradient_rows**2 + gradient_columns**2 + 1e-6))
    quarters = [part.mean() for half in np.vsplit(warped, 2) for part in np.hsplit(half, 2)]
    return np.concatenate([np.stack(quarters), centre, second]) * entropy + sharpness


@program(rng.uniform(-3, 3, (6, 2)), numpy.array([0.4, -0.7, 2.0]), rng.normal(size=6) * 0.1)
def location_of_an_earthquake(np, stations, source, noise):
    """Gauss-Newton for the place and depth of a shock, its error ellipse, its residuals."""
    speed = 5.0 + 0.2 * np.arange(6)
    place = np.concatenate([source[:2], np.abs(source[2:])])
    d = np.column_stack([stations - place[:2], np.full(6, 1.0) * place[2]])
    observed = np.linalg.norm(d, axis=1) / speed + noise
    estimate = np.stack([stations[:, 0].mean(), stations[:, 1].mean(), place[2] * 0 + 1.5])
    origin = 0.0
    for _ in range(6):
        apart = np.column_stack([stations - estimate[:2], np.ones(6) * estimate[2]])
        distance = np.linalg.norm(apart, axis=1)
        expected = distance / speed + origin
        residual = observed - expected
        rows = apart / (distance * speed)[:, None]
        jacobian = np.column_stack([-rows[:, 0], -rows[:, 1], rows[:, 2], np.ones(6)])
        normal = jacobian.T @ jacobian + 1e-2 * np.eye(4)
        step = np.linalg.solve(normal, jacobian.T @ residual)
        estimate = estimate + step[:3]
        origin = origin + step[3]
    covariance = np.linalg.inv(normal) * np.sum(residual**2) / 2
    horizontal = covariance[:2, :2]
    trace, determinant = np.trace(horizontal), np.linalg.det(horizontal)
    root = np.sqrt(np.maximum(trace**2 / 4 - determinant, 1e-12))
    axes = np.sqrt(np.stack([trace / 2 + root, np.maximum(trace / 2 - root, 1e-12)]))
    gaps = np.sort(np.arctan2(stations[:, 1] - estimate[1], stations[:, 0] - estimate[0]))
    widest = np.max(np.append(np.diff(gaps), gaps[0] + 2 * np.pi - gaps[-1]))
    return np.concatenate([estimate, axes, residual]) + 0.1 * widest


@program(rng.normal(size=50), numpy.array([4.0, 0.5, 7.0, 0.8]))
def peaks_of_a_chromatogram(np, noise, peaks):
    """A base line, two overlapping peaks, their widths, areas, moments and resolution."""
    time = np.linspace(0, 10, 50)
    first = 3 * np.exp(-0.5 * ((time - peaks[0]) / peaks[1]) ** 2)
    second = 2 * np.exp(-0.5 * ((time - peaks[2]) / peaks[3]) ** 2)
    signal = first + second + 0.1 * time + 0.02 * noise
    ends = np.concatenate([signal[:5], signal[-5:]])
    times = np.concatenate([time[:5], time[-5:]])
    slope = np.cov(times, ends)[0, 1] / np.var(times, ddof=1)
    base = np.mean(ends) + slope * (time - np.mean(times))
    corrected = np.maximum(signal - base, 0.0)
    kernel = np.exp(-0.5 * np.linspace(-2, 2, 7) ** 2)
    smooth = np.convolve(corrected, kernel / kernel.sum(), mode="same")
    found = []
    for part in (slice(0, 28), slice(28, 50)):
        t, y = time[part], smooth[part]
        area = np.trapezoid(y, t)
        centre = np.trapezoid(t * y, t) / area
        variance = np.trapezoid((t - centre) ** 2 * y, t) / area
        skew = np.trapezoid((t - centre) ** 3 * y, t) / area / variance**1.5
        top = np.argmax(y)
        a, b, c = y[top - 1], y[top], y[top + 1]
        shift = 0.5 * (a - c) / (a - 2 * b + c)
        height = b - 0.25 * (a - c) * shift
        found.append(np.stack([area, centre, np.sqrt(variance), skew, height]))
    table = np.vstack(found)
    resolution = (table[1, 1] - table[0, 1]) / (2 * table[:, 2].sum())
    share = table[:, 0] / np.sum(table[:, 0])
    rising = np.cumsum(smooth) / np.sum(smooth)
    half_time = np.interp(0.5, rising, time)
    return np.append(table.ravel(), resolution * share) + half_time


@program(rng.normal(size=48), numpy.array([0.5, -0.3]))
def autoregression_of_a_series(np, shocks, coefficients):
    """A simulated series, its autocorrelations, Levinson's recursion, a spectrum, forecasts."""
    a, b = coefficients
    values = [shocks[0], shocks[1]]
    for t in range(2, len(shocks)):
        values.append(a * values[-1] + b * values[-2] + shocks[t])
    series = np.stack(values) - np.mean(np.stack(values))
    n, order = len(shocks), 4
    full = np.correlate(series, series, mode="full")
    autocovariance = full[n - 1 : n + order] / n
    error = autocovariance[0]
    phi = np.zeros(0)
    partial = []
    for k in range(1, order + 1):
        known = np.sum(phi * autocovariance[1:k][::-1]) if k > 1 else 0.0
        reflection = (autocovariance[k] - known) / error
        partial.append(reflection)
        new = np.reshape(reflection, (1,))
        phi = np.concatenate([phi - reflection * phi[::-1], new]) if k > 1 else new
        error = error * (1 - reflection**2)
    frequency = np.linspace(0, 0.5, 16)
    lags = np.arange(1, order + 1)
    transfer = 1 - np.exp(-2j * np.pi * np.outer(frequency, lags)) @ phi
    spectrum = error / np.abs(transfer) ** 2
    peak = np.sum(frequency * spectrum) / np.sum(spectrum)
    past = series[-order:][::-1]
    forecasts = []
    for _ in range(5):
        following = phi @ past
        forecasts.append(following)
        past = np.concatenate([np.atleast_1d(following), past[:-1]])
    ljung = n * (n + 2) * np.sum((autocovariance[1:] / autocovariance[0]) ** 2 / (n - lags))
    criterion = n * np.log(error) + 2 * order
    tail = np.stack([peak, criterion / n, ljung / n])
    return np.concatenate([phi, np.stack(partial), np.stack(forecasts), tail])


@program(rng.uniform(0.2, 0.9, (4, 5)), rng.normal(size=5))
def ratings_by_factors(np, ratings, shifts):
    """Alternating least squares with holes in the table, similarities, ranks, a precision."""
    seen = numpy.array([[1, 1, 0, 1, 1], [0, 1, 1, 1, 0], [1, 0, 1, 1, 1], [1, 1, 1, 0, 1]])
    table = np.where(seen == 1, ratings + 0.1 * shifts, np.nan)
    means = np.nanmean(table, axis=1, keepdims=True)
    spread = np.nanstd(table, axis=1)
    centred = np.where(seen == 1, table - means, 0.0)
    users = np.stack([np.cos(np.arange(4.0)), np.sin(np.arange(4.0))], axis=1)
    items = np.zeros((5, 2)) + 0 * shifts[:, None]
    for _ in range(4):
        columns = []
        for j in range(5):
            present = seen[:, j][:, None] * users
            normal = present.T @ users + 0.1 * np.eye(2)
            columns.append(np.linalg.solve(normal, present.T @ centred[:, j]))
        items = np.stack(columns)
        rows = []
        for i in range(4):
            present = seen[i][:, None] * items
            normal = present.T @ items + 0.1 * np.eye(2)
            rows.append(np.linalg.solve(normal, present.T @ centred[i]))
        users = np.stack(rows)
    predicted = users @ items.T
    errors = np.where(seen == 1, centred - predicted, 0.0)
    lengths = np.sqrt(np.sum(items**2, axis=1) + 1e-6)
    similarity = items @ items.T / np.outer(lengths, lengths)
    best = np.argsort(-predicted, axis=1)[:, :2]
    chosen = np.take_along_axis(predicted, best, axis=1)
    error = np.sqrt(np.sum(errors**2) / seen.sum())
    return np.concatenate([chosen.sum(axis=0), spread, similarity[0]]) + error + means.sum()


@program(
    rng.normal(size=30), rng.uniform(0.5, 1.5, 30), numpy.array([0.8, 2.5]), allocates=True
)
def distribution_of_speeds(np, velocities, masses, shape):
    """Histograms with bins between the extremes, and with edges that are parameters."""
    drift, width = shape
    speeds = np.hypot(velocities - drift, 0.3 * masses)
    counts, edges = np.histogram(speeds, bins=6, weights=masses, density=True)
    centres = 0.5 * (edges[1:] + edges[:-1])
    mean = np.sum(counts * centres * np.diff(edges))
    entropy = -np.sum(counts * np.log(counts + 1e-3) * np.diff(edges))
    own = np.histogram(velocities, np.array([-width, -0.3, drift, width]), density=True)[0]
    plane, x, y = np.histogram2d(velocities, masses, bins=(3, 4), density=True)
    area = np.outer(np.diff(x), np.diff(y))
    limits = np.histogram_bin_edges(velocities * drift, bins=4)
    marginal = (plane * area).sum(axis=1) * x[1:]
    return np.concatenate([edges, own, marginal, limits, [mean, entropy, plane.max()]])
