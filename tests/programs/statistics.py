"""Programs of statistics: filters, mixtures, chains, time series, decompositions."""

import numpy

from .collection import program

rng = numpy.random.default_rng(4)


@program(rng.normal(size=(12, 2)), numpy.array([0.9, 0.2, 0.3, 0.5]), analytic=True)
def kalman_filter(np, observations, theta):
    """The negative log likelihood of a tracking model by the Kalman filter."""
    damping, noise, sensor, coupling = theta
    transition = np.eye(4) + 0.1 * np.eye(4, k=2)
    transition = transition - (1 - damping) * np.diag(numpy.array([0.0, 0, 1, 1]))
    observe = numpy.eye(2, 4)
    q = noise * np.eye(4)
    r = sensor * np.eye(2) + coupling * 0.1 * np.ones((2, 2))
    mean, cov = np.zeros(4), np.eye(4)
    loss = 0.0
    for y in observations:
        mean = transition @ mean
        cov = transition @ cov @ transition.T + q
        innovation = y - observe @ mean
        s = observe @ cov @ observe.T + r
        gain = cov @ observe.T @ np.linalg.inv(s)
        mean = mean + gain @ innovation
        cov = (np.eye(4) - gain @ observe) @ cov
        loss = loss + innovation @ np.linalg.solve(s, innovation) + np.log(np.linalg.det(s))
    return 0.5 * loss


@program(rng.uniform(0, 5, (10, 2)), rng.normal(size=10), numpy.array([0.3, -0.2, -2.0]))
def gaussian_process(np, x, y, log_theta):
    """The marginal likelihood of a Gaussian process, and its prediction at two points."""
    variance, length, noise = np.exp(log_theta)

    def kernel(a, b):
        squares = np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)
        return variance * np.exp(-0.5 * squares / length**2)

    k = kernel(x, x) + noise * np.eye(len(x))
    factor = np.linalg.cholesky(k)
    alpha = np.linalg.solve(factor.T, np.linalg.solve(factor, y))
    evidence = -0.5 * y @ alpha - np.sum(np.log(np.diag(factor))) - 5 * np.log(2 * np.pi)
    new = numpy.array([[1.0, 2.0], [4.0, 0.5]])
    cross = kernel(new, x)
    v = np.linalg.solve(factor, cross.T)
    spread = variance - np.sum(v**2, axis=0)
    return np.concatenate([cross @ alpha, np.sqrt(spread), np.atleast_1d(evidence)])


@program(rng.normal(size=(30, 2)) + 2 * rng.integers(0, 2, (30, 1)), rng.normal(size=(2, 2)))
def mixture_by_expectation_maximization(np, data, centres):
    """Expectation maximization for a mixture of normal distributions; its log likelihood."""
    weights = np.full(2, 0.5)
    variances = np.ones((2, 2))
    for _ in range(5):
        d = data[:, None, :] - centres[None, :, :]
        logs = np.log(weights) - 0.5 * np.sum(d**2 / variances + np.log(variances), axis=-1)
        top = np.max(logs, axis=1, keepdims=True)
        total = top + np.log(np.sum(np.exp(logs - top), axis=1, keepdims=True))
        shares = np.exp(logs - total)
        counts = shares.sum(axis=0)
        weights = counts / len(data)
        centres = shares.T @ data / counts[:, None]
        d = data[:, None, :] - centres
        variances = np.einsum("nk,nkd->kd", shares, d**2) / counts[:, None] + 0.1
    return np.sum(total) + np.sum(centres**3)


@program(rng.normal(size=3), rng.normal(size=(4, 3)), analytic=True)
def hamiltonian_monte_carlo(np, position, momenta):
    """Trajectories with fixed draws of momenta, all of them accepted; the mean of the energy."""

    def potential(q):
        return 0.5 * q[0] ** 2 + 0.5 * np.exp(-q[0]) * (q[1] ** 2 + q[2] ** 2) + q[0]

    def slope(q):
        squares = q[1] ** 2 + q[2] ** 2
        first = q[0] - 0.5 * np.exp(-q[0]) * squares + 1
        rest = np.exp(-q[0]) * q[1:]
        return np.concatenate([np.reshape(first, (1,)), rest])

    step = 0.1
    energies = 0.0
    for p in momenta:
        q = position
        p = p - 0.5 * step * slope(q)
        for _ in range(5):
            q = q + step * p
            p = p - step * slope(q)
        q = q + step * p
        p = p - 0.5 * step * slope(q)
        energies += potential(q) + 0.5 * p @ p
        position = q
    return energies / len(momenta) + np.sum(position**2)


@program(rng.normal(size=40) * 0.1, numpy.array([0.01, 0.1, 0.8, 0.05]))
def garch_likelihood(np, returns, theta):
    """The log likelihood of a GARCH(1, 1) model with an autoregressive mean."""
    omega, alpha, beta, phi = theta
    residuals = returns[1:] - phi * returns[:-1]
    variance = np.zeros_like(residuals)
    variance[0] = np.var(residuals)
    for t in range(1, residuals.size):
        variance[t] = omega * 0.01 + alpha * residuals[t - 1] ** 2 + beta * variance[t - 1]
    loss = 0.5 * np.sum(np.log(variance) + residuals**2 / variance)
    standardized = residuals / np.sqrt(variance)
    lags = [np.mean(standardized[k:] * standardized[:-k]) for k in (1, 2, 3)]
    return loss + 10 * sum(r**2 for r in lags)


@program(numpy.concatenate([rng.normal(size=(8, 2)), rng.normal(size=(8, 2)) + 4]))
def k_means(np, points):
    """Lloyd's algorithm, and how compact the clusters are that it finds."""
    centres = points[[0, 9]]
    for _ in range(4):
        distances = np.linalg.norm(points[:, None] - centres, axis=2)
        labels = np.argmin(distances, axis=1)
        member = (labels[:, None] == np.arange(2)).astype(float)
        centres = (member.T @ points) / member.sum(axis=0)[:, None]
    inertia = np.sum(np.min(distances, axis=1) ** 2)
    apart = np.linalg.norm(centres[0] - centres[1])
    return inertia / apart + centres.sum(axis=0)


@program(rng.normal(size=(9, 4)), rng.normal(size=4))
def principal_components(np, data, weights):
    """Explained variances and scores, from a singular value decomposition."""
    scaled = data * np.exp(0.1 * weights)
    centred = scaled - scaled.mean(axis=0, keepdims=True)
    u, s, vt = np.linalg.svd(centred, full_matrices=False)
    explained = s**2 / np.sum(s**2)
    entropy = -np.sum(explained * np.log(explained))
    scores = u[:, :2] * s[:2]
    projected = scores @ vt[:2]
    covariance = np.cov(centred, rowvar=False)
    return entropy + np.sum((centred - projected) ** 2 * weights) + np.trace(covariance)


@program(rng.normal(size=21), rng.uniform(size=21))
def order_statistics(np, sample, weights):
    """Robust estimates: quantiles, trimmed and winsorized means, a weighted median, an L-moment."""
    low, middle, high = np.percentile(sample, [25, 50, 75])
    ordered = np.sort(sample)
    n = ordered.size
    trimmed = ordered[n // 10 : -(n // 10)].mean()
    winsorized = np.mean(np.clip(sample, np.quantile(sample, 0.1), np.quantile(sample, 0.9)))
    order = np.argsort(sample)
    shares = np.cumsum(weights[order]) / np.sum(weights)
    middle_one = np.searchsorted(shares, 0.5)
    deviation = np.median(np.abs(sample - np.median(sample)))
    ranks = np.arange(1, n + 1)
    moment = np.sum((2 * ranks - n - 1) * ordered) / (n * (n - 1))
    spread = np.max(sample) - np.min(sample)
    return np.stack(
        [low, middle, high, trimmed, winsorized, sample[order][middle_one], deviation, moment]
    ) * np.log(spread + shares[3])


@program(rng.normal(size=(4, 4)), rng.uniform(0.1, 1, 4), analytic=True, allocates=True)
def markov_chain(np, logits, rewards):
    """Stationary distribution, absorption times and discounted values of a Markov chain."""
    weights = np.exp(logits)
    p = weights / weights.sum(axis=1, keepdims=True)
    power = p
    for _ in range(6):
        power = power @ power
    stationary = power[0]
    system = np.vstack([(np.eye(4) - p).T[:-1], np.ones((1, 4))])
    exact = np.linalg.solve(system, numpy.array([0.0, 0, 0, 1]))
    transient = p[:3, :3]
    times = np.linalg.solve(np.eye(3) - transient, np.ones(3))
    values = np.linalg.solve(np.eye(4) - 0.9 * p, rewards)
    return np.array([stationary @ rewards, np.sum(exact**2), times.sum(), values @ exact])


@program(rng.normal(size=(15, 3)), rng.uniform(0.1, 0.9, 15), analytic=True)
def logistic_regression(np, features, targets):
    """Newton's method on the likelihood of a logistic regression, differentiated through."""
    n, m = features.shape
    design = np.column_stack([np.ones(n), features])
    beta = np.zeros(m + 1)
    for _ in range(5):
        mu = 1 / (1 + np.exp(-(design @ beta)))
        gradient = design.T @ (targets - mu) - 0.1 * beta
        weights = mu * (1 - mu)
        hessian = (design * weights[:, None]).T @ design + 0.1 * np.eye(m + 1)
        beta = beta + np.linalg.solve(hessian, gradient)
    errors = np.sqrt(np.diag(np.linalg.inv(hessian)))
    return beta / errors


@program(rng.normal(size=60), numpy.array([0.4, 1.3]))
def histogram_and_density(np, sample, parameters):
    """A smooth histogram, a kernel density estimate and a divergence between the two."""
    grid = np.linspace(-3, 3, 25)
    bandwidth = parameters[0]
    z = (grid[:, None] - sample[None, :]) / bandwidth
    density = np.exp(-0.5 * z**2).mean(axis=1) / (bandwidth * np.sqrt(2 * np.pi))
    edges = np.linspace(-4, 4, 9)
    counts, _ = np.histogram(numpy.arange(-3, 3, 0.2), bins=8, range=(-4, 4))
    soft = 1 / (1 + np.exp(-(sample[:, None] - edges) / 0.3))
    masses = np.sum(soft[:, :-1] - soft[:, 1:], axis=0) / len(sample)
    model = np.exp(-0.5 * (grid / parameters[1]) ** 2) / (parameters[1] * np.sqrt(2 * np.pi))
    divergence = np.trapezoid(density * np.log(density / model), grid)
    bins = numpy.digitize(numpy.linspace(-3.9, 3.9, 20), numpy.linspace(-4, 4, 9)) - 1
    return divergence + np.sum(masses * counts) + np.sum(masses[bins] ** 2)


@program(rng.normal(size=(25, 6)), numpy.array([0.05, 0.2, 1.0]))
def random_walks(np, draws, parameters):
    """Paths of fixed draws: how far they come, when they cross a line, what an option is worth."""
    drift, volatility, start = parameters
    steps = (drift - 0.5 * volatility**2) * 0.04 + volatility * 0.2 * draws
    logs = np.cumsum(steps, axis=0)
    paths = start * np.exp(np.concatenate([np.zeros((1, 6)), logs]))
    highest = np.maximum.accumulate(paths, axis=0)
    drawdown = np.max(1 - paths / highest, axis=0)
    asian = np.maximum(paths.mean(axis=0) - 1.0, 0)
    knocked = np.any(paths < 0.75, axis=0)
    barrier = np.where(knocked, 0.0, np.maximum(paths[-1] - 0.9, 0))
    first = np.argmax(paths > 1.01, axis=0)
    at_first = paths[first, np.arange(6)]
    return np.stack([drawdown.mean(), asian.mean(), barrier.mean(), at_first.mean()])
