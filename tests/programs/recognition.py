"""Programs of speech and images: linear prediction, hidden states, tomography, patches."""

import numpy

from .collection import program

rng = numpy.random.default_rng(11)


@program(rng.normal(size=32), numpy.array([0.3, 0.1]), allocates=True)
def linear_prediction(np, speech, design):
    """The recursion of Levinson and Durbin, whose coefficients are overwritten order by order."""
    (n,) = speech.shape
    order = 4
    window = design[0] + (1 - design[0]) * np.hanning(n)
    windowed = speech * window
    r = np.correlate(windowed, windowed, mode="full")[n - 1 : n + order]
    a = np.zeros(order + 1)
    a[0] = 1.0
    error = r[0] + design[1] ** 2
    reflections = []
    for i in range(1, order + 1):
        acc = r[i]
        for j in range(1, i):
            acc += a[j] * r[i - j]
        k = -acc / error
        reflections.append(k)
        before = a.copy()
        for j in range(1, i):
            a[j] = before[j] + k * before[i - j]
        a[i] = k
        error *= 1 - k * k
    residual = np.convolve(speech, a)[:n]
    areas = np.cumprod([(1 - k) / (1 + k) for k in reflections])
    return np.concatenate([a, areas, [np.sqrt(error)], residual[::3]])


@program(rng.normal(size=(3, 3)), rng.normal(size=(3, 4)), allocates=True)
def hidden_markov_model(np, transitions, emissions):
    """Forward and backward sums in logarithms that start from -inf, and the likeliest path."""
    seen = [0, 3, 2, 1, 1, 0]

    def normalized(scores):
        top = scores.max(axis=1, keepdims=True)
        return scores - top - np.log(np.exp(scores - top).sum(1))[:, np.newaxis]

    log_a, log_b = map(normalized, (transitions, emissions))
    steps, states = len(seen), len(transitions)
    alpha = np.full((steps, states), -np.inf)
    alpha[0] = log_b[:, seen[0]] - np.log(states)
    for t in range(1, steps):
        for s in range(states):
            alpha[t, s] = np.logaddexp.reduce(alpha[t - 1] + log_a[:, s]) + log_b[s, seen[t]]
    beta = np.zeros((steps, states))
    for t in reversed(range(steps - 1)):
        beta[t] = np.logaddexp.reduce(log_a + log_b[:, seen[t + 1]] + beta[t + 1], axis=1)
    likelihood = np.logaddexp.reduce(alpha[-1])
    posterior = np.exp(alpha + beta - likelihood)
    best, back = alpha[0].copy(), np.zeros((steps, states), dtype=int)
    for t in range(1, steps):
        candidates = best[:, None] + log_a
        back[t] = candidates.argmax(axis=0)
        best = candidates.max(axis=0) + log_b[:, seen[t]]
    path = [best.argmax()]
    for t in range(steps - 1, 0, -1):
        path.insert(0, back[t][path[0]])
    along = sum(posterior[t, s] for t, s in enumerate(path))
    return np.hstack([likelihood, posterior.ravel(), best.max(), along])


@program(rng.uniform(size=(8, 8)), rng.uniform(0.1, 3, size=4), allocates=True)
def tomography(np, image, angles):
    """Projections of a rotated image by masks and four neighbours, filtered and smeared back."""
    n = image.shape[0]
    centre = (n - 1) / 2
    yy, xx = np.mgrid[0:n, 0:n] - centre
    sinogram = np.zeros((len(angles), n))
    for row, angle in zip(sinogram, angles, strict=True):
        c, s = np.cos(angle), np.sin(angle)
        x, y = c * xx - s * yy + centre, s * xx + c * yy + centre
        inside = (x >= 0) & (x <= n - 1) & (y >= 0) & (y <= n - 1)
        x0 = np.clip(np.floor(x).astype(np.intp), 0, n - 2)
        y0 = np.clip(np.floor(y).astype(np.intp), 0, n - 2)
        dx, dy = x - x0, y - y0
        value = image[y0, x0] * (1 - dx) * (1 - dy) + image[y0, x0 + 1] * dx * (1 - dy)
        value += image[y0 + 1, x0] * (1 - dx) * dy + image[y0 + 1, x0 + 1] * dx * dy
        value[~inside] = 0.0
        row[:] = value.sum(axis=0)
    ramp = np.abs(np.fft.fftfreq(n))
    filtered = np.fft.ifft(np.fft.fft(sinogram, axis=1) * ramp, axis=1).real
    back = np.zeros_like(image)
    for row, angle in zip(filtered, angles, strict=True):
        t = xx * np.cos(angle) + yy * np.sin(angle) + centre
        back += np.interp(t, np.arange(n), row, left=0, right=0)
    back *= np.pi / len(angles)
    return np.vstack([sinogram, filtered, back])


@program(rng.normal(size=(1, 2, 4, 4)), rng.normal(size=(3, 2, 3, 3)))
def patches_of_an_image(np, x, w):
    """A convolution as a product with patches, pooled, and its gradient added patch by patch."""
    images, channels, height, width = x.shape
    filters, _, fh, fw = w.shape
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    rows = np.tile(np.repeat(np.arange(fh), fw), channels)[:, None]
    rows = rows + np.repeat(np.arange(height), width)
    columns = np.tile(np.arange(fw), fh * channels)[:, None] + np.tile(np.arange(width), height)
    planes = np.repeat(np.arange(channels), fh * fw).reshape(-1, 1)
    patches = padded[:, planes, rows, columns].transpose(1, 2, 0).reshape(fh * fw * channels, -1)
    flat = w.reshape(filters, -1)
    out = (flat @ patches).reshape(filters, height, width, images).transpose(3, 0, 1, 2)
    pooled = out.reshape(images, filters, height // 2, 2, width // 2, 2).max(axis=3).max(axis=4)
    winners = out == np.repeat(np.repeat(pooled, 2, axis=2), 2, axis=3)
    g = np.where(winners, 2.0 * out, 0.0).transpose(1, 2, 3, 0).reshape(filters, -1)
    g_patches = (flat.T @ g).reshape(channels * fh * fw, -1, images).transpose(2, 0, 1)
    g_padded = np.zeros_like(padded)
    np.add.at(g_padded, (slice(None), planes, rows, columns), g_patches)
    return np.concatenate([pooled.ravel(), g_padded[:, :, 1:-1, 1:-1].flatten()])
