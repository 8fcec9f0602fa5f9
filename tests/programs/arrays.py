"""Programs that write into arrays: masks, views, results filled in a loop, ``out=``."""

import numpy

from .collection import program

rng = numpy.random.default_rng(1)


@program(rng.normal(size=12), rng.uniform(0.5, 2, 12))
def masked_writes(np, signal, weight):
    """Clean a signal: clip outliers, repair a gap, zero what is small."""
    clean = signal.copy()
    spread = np.sqrt(np.mean((signal - np.mean(signal)) ** 2))
    high = clean > 1.2 * spread
    clean[high] = 1.2 * spread
    low = clean < -1.2 * spread
    clean[low] = -1.2 * spread
    clean[np.abs(clean) < 0.05] = 0.0
    gap = np.zeros(clean.shape, dtype=bool)
    gap[4:6] = True
    clean[gap] = 0.5 * (clean[3] + clean[6])
    clean[4:6] *= weight[4:6]
    clean[::3] -= clean[::3].mean()
    return np.sum(weight * clean**2)


@program(rng.normal(size=12), rng.uniform(0.5, 2, 12), decides=True)
def selected_elements(np, signal, weight):
    """Work on as many elements as a mask selects."""
    large = np.abs(signal) > 0.6
    excess = signal[large] - 0.6 * np.sign(signal[large])
    clean = signal.copy()
    clean[large] = 0.6 * np.tanh(excess)
    clean[~large] *= weight[~large]
    rows, *_ = np.nonzero(large)
    clean[rows] += weight[rows] ** 2
    if excess.size > 3:
        clean[-1] = excess.max()
    return clean[clean > 0].sum() + np.sum(excess**2)


@program(rng.uniform(0.2, 0.8, 9), numpy.array([3.1, 0.4]), analytic=True, allocates=True)
def preallocated_loop(np, forcing, theta):
    """A logistic map with memory, its history kept in an array made before the loop."""
    n = len(forcing)
    history = np.empty((n + 1, 2), dtype=forcing.dtype)
    history[0, 0] = 0.3
    history[0, 1] = theta[1]
    for i in range(n):
        u, v = history[i]
        history[i + 1, 0] = theta[0] * u * (1 - u) + 0.05 * forcing[i] * v
        history[i + 1, 1] = 0.9 * v + theta[1] * (u - 0.5)
    late = history[n // 2 :]
    means = late.mean(axis=0)
    return means[0] ** 2 + means[1] * late[-1, 0]


@program(rng.normal(size=(6, 4)), rng.normal(size=4), rng.normal(size=6), analytic=True)
def in_place_arithmetic(np, a, shift, scale):
    """Standardise rows and columns with augmented assignments only."""
    a = a + 0.0
    a -= a.mean(axis=0)
    a += shift
    a *= scale[:, None]
    a /= 2.0 + a[:, :1] ** 2
    row = a[2]
    row **= 2
    a[1] -= 3 * row
    a[:, -1] += a[:, 0]
    total = a.sum(axis=1)
    total[1:] += total[:-1] * 0.5
    total[::-1] *= scale
    return total


@program(rng.normal(size=(5, 5)), rng.normal(size=5), analytic=True)
def targets_of_functions(np, a, b):
    """Reuse of work arrays by ``out=``."""
    work = np.zeros_like(a)
    line = np.empty_like(b)
    np.multiply(a, b, out=work)
    np.add(work, a.T, out=work)
    np.sin(work, out=work)
    np.matmul(work, b, out=line)
    np.exp(line * 0.1, out=line)
    np.subtract(line, b, out=line)
    np.multiply(work, line[:, None], out=work[:, :])
    np.sum(work, axis=0, out=line)
    np.dot(work, line, out=line)
    return line


@program(rng.normal(size=10), rng.normal(size=(4, 3)), analytic=True)
def fancy_assignment(np, values, blocks):
    """Assembly of a vector from element contributions, as in finite elements."""
    nodes = numpy.array([[0, 1, 2], [2, 3, 4], [4, 5, 6], [6, 7, 8]])
    load = values * 0
    for element, local in enumerate(nodes):
        load[local] += blocks[element]
    order = numpy.array([3, 1, 4, 0])
    load[order] = load[order[::-1]] * 2
    load[[0, -1]] = 0
    load[numpy.arange(10) % 4 == 1] = values[:3]
    picked = blocks[[0, 2, 3], [2, 0, 1]]
    load[7:] = picked * load[6]
    matrix = np.outer(load, values)
    matrix[numpy.arange(10), numpy.arange(10)] += 1
    matrix[numpy.ix_([0, 3], [1, 2])] = blocks[:2, :2]
    return np.sum(matrix**2) + load @ values


@program(rng.normal(size=(4, 6)), analytic=True)
def views_of_views(np, grid):
    """Writes through views of views, reshapes and transposes reach the array below."""
    grid = grid.copy()
    inner = grid[1:-1, 1:-1]
    corner = inner[:, ::2]
    corner *= 2
    column = grid.T[3]
    column += inner[0, 0]
    flat = grid.reshape(-1)
    flat[::5] = flat[1::5] ** 2
    halves = grid.reshape(2, 2, 6)
    halves[1] -= halves[0]
    lower = grid[2:][::-1]
    lower[0, :2] = corner[1, 0]
    diagonal = np.diagonal(grid)
    return np.sin(grid).sum() + np.sum(diagonal**3) + column[1] * corner[0, 1]


@program(rng.normal(size=(6, 6)), rng.normal(size=(6, 3)), analytic=True, allocates=True)
def conjugate_gradients(np, factor, rhs):
    """Conjugate gradients for several right hand sides, a column of the result at a time."""
    a = factor @ factor.T + 3 * np.eye(6)
    solution = np.zeros((6, 3), dtype=rhs.dtype)
    residuals = []
    for column in range(rhs.shape[1]):
        x = solution[:, column]
        r = rhs[:, column] - a @ x
        p = r.copy()
        rr = r @ r
        for _ in range(6):
            ap = a @ p
            alpha = rr / (p @ ap)
            x = x + alpha * p
            r = r - alpha * ap
            previous, rr = rr, r @ r
            if column == 2:
                break
            p = r + rr / previous * p
        solution[:, column] = x
        residuals.append(rr)
    return np.sum(solution**2) + residuals[2]


@program(
    numpy.array([-2.0, -0.5, 0.2, 0.3, 1.0, 4.0]), numpy.array([0.5, -2.0, 1.5, 0.1, 1.0, -3.0])
)
def guards_of_where(np, x, y):
    """Functions with removable singularities, guarded as one does."""
    safe = np.where(np.abs(x) > 1e-12, x, 1.0)
    sinc = np.where(np.abs(x) > 1e-12, np.sin(safe) / safe, 1.0)
    root = np.sqrt(np.where(x > 0, x, 1.0))
    root = np.where(x > 0, root, 0.0)
    entropy = np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0)), 0.0)
    ratio = np.where(y < 0, 0.0, x / np.where(y < 0, 1.0, y) ** 1.5)
    clipped = np.minimum(np.maximum(x, -1.7), 3.5)
    smooth = np.where(x < -1, -x - 0.5, np.where(x < 0.7, 0.5 * x**2, x))
    return np.stack([sinc, root, entropy, ratio, clipped, smooth]).sum(axis=1)


@program(rng.normal(size=(4, 4)), rng.normal(size=(4, 2)), rng.normal(size=4), analytic=True)
def linear_solves(np, a, b, d):
    """A Schur complement, a determinant and an update of rank one."""
    system = a @ a.T + np.diag(d**2 + 1)
    x = np.linalg.solve(system, b)
    top, corner, bottom = system[:2, :2], system[:2, 2:], system[2:, 2:]
    schur = bottom - corner.T @ np.linalg.inv(top) @ corner
    u = np.linalg.solve(schur, b[2:])
    w = np.linalg.solve(system, d)
    update = x - np.outer(w, d @ x) / (1 + d @ w)
    return np.log(np.linalg.det(schur)) + np.sum(update * b) + np.trace(u.T @ u)


@program(rng.normal(size=16), rng.uniform(0.1, 1, 2))
def low_pass_by_fourier(np, signal, filter_):
    """Smooth and differentiate a periodic signal in Fourier space."""
    n = signal.shape[0]
    spectrum = np.fft.rfft(signal - np.mean(signal))
    k = np.arange(n // 2 + 1)
    gain = np.exp(-filter_[0] * k**2 / n) / (1 + filter_[1] * k)
    filtered = spectrum * gain
    filtered[-1] = 0
    smooth = np.fft.irfft(filtered, n)
    slope = np.fft.irfft(filtered * 1j * k, n=n)
    power = np.abs(filtered[1:]) ** 2
    return np.sum(smooth**2) + np.max(slope) + np.log(power[:5]).sum()


@program(rng.normal(size=(6, 6)), numpy.array([0.2, 0.7]), analytic=True)
def boundary_writes(np, field, rates):
    """Two steps of a scheme whose boundary is overwritten after each of them."""
    u = field.copy()
    for rate in (rates[0], rates[1]):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + rate * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        new[0], new[-1] = new[1], new[-2]
        new[:, 0] = 0.0
        new[:, -1] = 2 * new[:, -2] - new[:, -3]
        u[...] = new
    u[u.shape[0] // 2, :] *= rates.sum()
    return u.sum(axis=1)
