"""Longer programs: estimation, control and decisions, as they are written for data."""

import numpy

from .collection import program

rng = numpy.random.default_rng(10)


@program(rng.normal(size=(10, 2)), numpy.array([0.1, 0.05, 0.3, 0.4]))
def unscented_filter(np, measurements, theta):
    """An unscented Kalman filter of a turning vehicle, seen by range and bearing."""
    q1, q2, r1, r2 = theta
    n, kappa = 4, 1.0
    process = np.diag(np.stack([q1, q1, q2, q2]))
    sensor = np.diag(np.stack([r1, r2]))
    weights = np.full(2 * n + 1, 1 / (2 * (n + kappa)))
    weights[0] = kappa / (n + kappa)

    def move(s):
        x, y, speed, heading = s[..., 0], s[..., 1], s[..., 2], s[..., 3]
        return np.stack(
            [x + 0.1 * speed * np.cos(heading), y + 0.1 * speed * np.sin(heading), speed, heading],
            axis=-1,
        )

    def observe(s):
        return np.stack([np.hypot(s[..., 0], s[..., 1]), np.arctan2(s[..., 1], s[..., 0])], axis=-1)

    def sigma_points(mean, cov):
        root = np.linalg.cholesky((n + kappa) * cov)
        return np.concatenate([mean[None], mean + root.T, mean - root.T])

    mean, cov = np.array([3.0, 2.0, 1.0, 0.3]), 0.2 * np.eye(n)
    loss = 0.0
    for z in measurements:
        points = move(sigma_points(mean, cov))
        mean = weights @ points
        d = points - mean
        cov = (d * weights[:, None]).T @ d + process
        points = sigma_points(mean, cov)
        seen = observe(points)
        expected = weights @ seen
        dz, dx = seen - expected, points - mean
        s = (dz * weights[:, None]).T @ dz + sensor
        cross = (dx * weights[:, None]).T @ dz
        gain = np.linalg.solve(s.T, cross.T).T
        innovation = expected + 0.2 * z - expected
        mean = mean + gain @ innovation
        cov = cov - gain @ s @ gain.T
        cov = 0.5 * (cov + cov.T)
        _, logdet = np.linalg.slogdet(s)
        loss += 0.5 * (innovation @ np.linalg.solve(s, innovation) + logdet)
    return loss + np.trace(cov)


@program(rng.normal(size=(3, 3)) * 0.3, rng.normal(size=(3, 2)), rng.uniform(0.5, 1.5, 3),
         analytic=True)  # fmt: skip
def linear_quadratic_control(np, dynamics, inputs, costs):
    """A Riccati recursion backwards in time, and the cost of the controlled system forwards."""
    a = np.eye(3) + 0.3 * dynamics
    b = 0.5 * inputs
    q, r = np.diag(costs), 0.5 * np.eye(2)
    horizon = 8
    p = q
    gains = []
    for _ in range(horizon):
        s = r + b.T @ p @ b
        gain = np.linalg.solve(s, b.T @ p @ a)
        closed = a - b @ gain
        p = q + gain.T @ r @ gain + closed.T @ p @ closed
        gains.append(gain)
    gains = gains[::-1]
    x = np.ones(3)
    total = 0.0
    states, controls = [x], []
    for gain in gains:
        u = -gain @ x
        total = total + x @ q @ x + u @ r @ u
        x = a @ x + b @ u
        states.append(x)
        controls.append(u)
    total = total + x @ q @ x
    predicted = states[0] @ p @ states[0]
    effort = np.sum(np.stack(controls) ** 2, axis=0)
    observability = np.concatenate([costs @ np.linalg.matrix_power(a, k) for k in range(3)])
    return np.concatenate([effort, observability]) + total - predicted + np.stack(states)[-1].sum()


@program(rng.normal(size=(4, 3)), numpy.array([0.9, 0.3]))
def value_iteration(np, rewards, parameters):
    """A smoothed decision process: values by iteration, a policy, its visits, a gradient of it."""
    discount = 1 / (1 + np.exp(-parameters[0] * 2))
    temperature = np.exp(parameters[1])
    n, actions = rewards.shape
    moves = np.zeros((actions, n, n))
    for action, shift in enumerate((-1, 0, 1)):
        for state in range(n):
            target = min(max(state + shift, 0), n - 1)
            moves[action, state, target] += 0.8
            moves[action, state, state] += 0.2
    values = np.zeros(n)
    gaps = []
    for _ in range(15):
        outcome = np.einsum("ast,t->sa", moves, values)
        scores = (rewards + discount * outcome) / temperature
        top = scores.max(axis=1, keepdims=True)
        new = temperature * (top[:, 0] + np.log(np.sum(np.exp(scores - top), axis=1)))
        gaps.append(np.max(np.abs(new - values)))
        values = new
    policy = np.exp(scores - scores.max(axis=1, keepdims=True))
    policy = policy / policy.sum(axis=1, keepdims=True)
    chain = np.einsum("sa,ast->st", policy, moves)
    start = np.full(n, 1 / n)
    visits = np.linalg.solve(np.eye(n) - discount * chain.T, start)
    entropy = -np.sum(policy * np.log(policy), axis=1)
    reached = visits @ np.sum(policy * rewards, axis=1)
    best = np.argmax(policy, axis=1)
    greedy = np.take_along_axis(rewards, best[:, None], axis=1)[:, 0]
    return np.stack([values.mean(), reached, visits @ entropy, greedy.sum(), gaps[3]])


@program(rng.normal(size=(14, 3)), rng.normal(size=14), numpy.array([-1.0, 0.3]))
def robust_regression(np, features, targets, theta):
    """Iteratively reweighted least squares, leverages, a jackknife, a criterion of information."""
    ridge, cut = np.exp(theta[0]), np.exp(theta[1])
    n = len(targets)
    design = np.column_stack([np.ones(n), features, features[:, 0] * features[:, 1]])
    scale = np.sqrt(np.mean(design[:, 1:] ** 2, axis=0))
    design = np.hstack([design[:, :1], design[:, 1:] / scale])
    weights = np.ones(n)
    penalty = ridge * np.eye(design.shape[1])
    penalty[0, 0] = 0.0
    for _ in range(5):
        weighted = design * weights[:, None]
        beta = np.linalg.solve(design.T @ weighted + penalty, weighted.T @ targets)
        residuals = targets - design @ beta
        spread = np.median(np.abs(residuals)) / 0.6745
        z = residuals / (cut * spread)
        weights = np.where(np.abs(z) < 1, (1 - np.minimum(z**2, 1.0)) ** 2, 0.0) + 0.01
    weighted = design * weights[:, None]
    hat = design @ np.linalg.solve(design.T @ weighted + penalty, weighted.T)
    leverage = np.diagonal(hat)
    studentized = residuals / np.sqrt(1 - np.clip(leverage, 0.0, 0.99))
    left_out = np.stack([beta - studentized[k] * hat[k, :5] for k in range(0, n, 3)])
    deviance = np.sum(weights * residuals**2) / np.sum(weights)
    freedom = np.trace(hat)
    criterion = np.log(deviance) + 2 * freedom / (n - freedom)
    influence = np.max(np.abs(studentized) * leverage)
    return np.concatenate([beta, left_out.std(axis=0)]) * criterion + influence


@program(rng.normal(size=(12, 12)), rng.uniform(0.5, 1, 12), numpy.array([0.4]))
def communities_of_a_graph(np, logits, degrees, resolution):
    """Spectral methods on a weighted graph: its Laplacian, page ranks, modularity, diffusion."""
    n = 12
    symmetric = 0.5 * (logits + logits.T)
    adjacency = np.exp(symmetric)
    np_diagonal = numpy.arange(n)
    adjacency[np_diagonal, np_diagonal] = 0.0
    strength = adjacency.sum(axis=1) * degrees
    inverse_root = 1 / np.sqrt(strength)
    normalised = inverse_root[:, None] * adjacency * inverse_root
    laplacian = np.eye(n) - normalised
    values, vectors = np.linalg.eigh(laplacian)
    gap = values[2] - values[1]
    heat = (vectors * np.exp(-resolution * values)) @ vectors.T
    transition = adjacency / adjacency.sum(axis=0)
    rank = np.full(n, 1 / n)
    for _ in range(20):
        rank = 0.15 / n + 0.85 * transition @ rank
    side = np.tanh(3 * rank / rank.mean() - 3)
    total = adjacency.sum()
    expected = np.outer(strength, strength) / total
    modularity = side @ (adjacency - resolution * expected) @ side / total
    cut = 0.25 * np.sum(adjacency * (side[:, None] - side[None, :]) ** 2)
    triangles = np.trace(np.linalg.matrix_power(normalised, 3)) / 6
    closeness = np.sort(rank)[::-1][:4]
    kernel = np.einsum("ij,jk,ki->i", heat, normalised, heat)
    return np.concatenate([closeness, kernel]) + modularity + cut / total + gap * triangles


@program(rng.uniform(0.01, 0.04, 5), rng.normal(size=(5, 5)) * 0.1, rng.normal(size=5))
def portfolio_of_assets(np, means, factor, logits):
    """Risk, shares of risk, drawdowns, an efficient portfolio, and value at risk of scenarios."""
    covariance = factor @ factor.T + 0.02 * np.eye(5)
    weights = np.exp(logits) / np.sum(np.exp(logits))
    volatility = np.sqrt(weights @ covariance @ weights)
    marginal = covariance @ weights / volatility
    shares = weights * marginal / volatility
    parity = np.sum((shares - 1 / 5) ** 2)
    ones = np.ones(5)
    inverse = np.linalg.inv(covariance)
    a, b, c = ones @ inverse @ ones, ones @ inverse @ means, means @ inverse @ means
    target = 0.03
    determinant = a * c - b**2
    efficient = inverse @ ((c - b * target) * ones + (a * target - b) * means) / determinant
    root = np.linalg.cholesky(covariance)
    draws = numpy.random.default_rng(3).normal(size=(40, 5))
    returns = means + draws @ root.T
    path = returns @ weights
    wealth = np.cumprod(1 + 0.2 * path)
    highest = np.maximum.accumulate(wealth)
    drawdown = np.max((highest - wealth) / highest)
    ordered = np.sort(path)
    at_risk = -ordered[2]
    shortfall = -ordered[:3].mean()
    sharpe = (weights @ means - 0.01) / volatility
    utility = np.mean(1 - np.exp(-3 * path))
    turnover = np.abs(efficient - weights).sum()
    skew = np.mean((path - path.mean()) ** 3) / np.std(path) ** 3
    return np.stack(
        [volatility, parity, drawdown, at_risk, shortfall, sharpe, utility, turnover, skew]
    )
