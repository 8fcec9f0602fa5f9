"""Statistical models and networks: mixtures, regressions, Gaussian processes, perceptrons."""

from typing import Any

import numpy as np

from ..program import HVP, JACOBIAN, Family


def mixture_inputs(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    k, d = 10, 5
    means = rng.standard_normal((k, d))
    factors = np.eye(d) + 0.1 * np.tril(rng.standard_normal((k, d, d)))
    return means, factors, rng.standard_normal(k), rng.standard_normal((n, d))


mixture = Family("a Gaussian mixture", size=1000, tiny=4, inputs=mixture_inputs, wrt=3)


def log_density(np: Any, z: Any, factors: Any, weights: Any) -> Any:
    """Return the sum over points of what the components make of whitened (n, k, d) distances."""
    logdet = np.log(np.einsum("kii->ki", factors)).sum(axis=1)
    score = weights + logdet - 0.5 * (z * z).sum(axis=2)
    return np.logsumexp(score, 1).sum() - len(z) * np.logsumexp(weights, 0)


@mixture.program
def einsum(np, means, factors, weights, x):
    z = np.einsum("kij,nkj->nki", factors, x[:, None] - means)
    return log_density(np, z, factors, weights)


@mixture.program
def matrix_products(np, means, factors, weights, x):
    z = (factors @ (x[:, None] - means)[..., None])[..., 0]
    return log_density(np, z, factors, weights)


@mixture.program
def broadcast_sums(np, means, factors, weights, x):
    z = (factors * (x[:, None] - means)[:, :, None, :]).sum(axis=-1)
    return log_density(np, z, factors, weights)


@mixture.program
def a_loop_over_components(np, means, factors, weights, x):
    scores = []
    for k in range(len(means)):
        z = (x - means[k]) @ factors[k].T
        logdet = np.log(np.einsum("ii->i", factors[k])).sum()
        scores.append(weights[k] + logdet - 0.5 * (z * z).sum(axis=1))
    total = np.logsumexp(np.stack(scores), 0).sum()
    return total - len(x) * np.logsumexp(weights, 0)


def regression_inputs(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.standard_normal(20), rng.standard_normal((n, 20)), rng.integers(0, 2, n) * 1.0


logistic = Family("logistic regression", size=2000, tiny=5, inputs=regression_inputs)


@logistic.program
def log_of_a_sigmoid(np, w, x, y):
    p = 1.0 / (1.0 + np.exp(-(x @ w)))
    return -(y * np.log(p) + (1.0 - y) * np.log(1.0 - p)).sum()


@logistic.program
def logaddexp(np, w, x, y):
    z = x @ w
    return (np.logaddexp(0.0 * z, z) - y * z).sum()


@logistic.program
def log1p_of_exp(np, w, x, y):
    return np.log1p(np.exp(-(2.0 * y - 1.0) * (x @ w))).sum()


@logistic.program
def einsum_and_where(np, w, x, y):
    z = np.einsum("ij,j->i", x, w)
    return np.log1p(np.exp(np.where(y > 0.5, -z, z))).sum()


newton = logistic.derived("logistic regression, Hessian", derivative="hessian", size=500)
newton.programs = newton.programs[1:3]


def layers(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    w, v = 0.3 * rng.standard_normal((16, 32)), 0.3 * rng.standard_normal((32, 4))
    return w, rng.standard_normal(32), v, rng.standard_normal((n, 16)), rng.standard_normal((n, 4))


network = Family("a perceptron", size=100, tiny=3, inputs=layers, wrt=3)


@network.program
def tanh(np, w, b, v, x, y):
    return ((np.tanh(x @ w + b) @ v - y) ** 2).mean()


@network.program
def bias_as_a_column(np, w, b, v, x, y):
    hidden = np.tanh(np.concatenate([x, np.ones((len(x), 1))], axis=1)
                     @ np.concatenate([w, b[None]]))  # fmt: skip
    return ((hidden @ v - y) ** 2).mean()


@network.program
def transposed_columns(np, w, b, v, x, y):
    hidden = np.tanh(w.T @ x.T + b[:, None])
    return ((v.T @ hidden - y.T) ** 2).mean()


@network.program
def layers_by_einsum(np, w, b, v, x, y):
    hidden = np.tanh(np.einsum("ni,ij->nj", x, w) + b)
    return ((np.einsum("nj,jk->nk", hidden, v) - y) ** 2).mean()


curvature = network.derived("a perceptron, Hessian times vector", derivative=HVP)
curvature.programs = curvature.programs[:2]

activations = Family(
    "rectifiers of 200 by 200", size=200, tiny=3,
    inputs=lambda rng, n: (rng.standard_normal((n, n)), rng.standard_normal((n, n))),
)  # fmt: skip
activations.add("maximum", lambda np, x, w: (np.maximum(x, 0.0) * w).sum())
activations.add("where", lambda np, x, w: (np.where(x > 0, x, 0.0) * w).sum())
activations.add("a mask", lambda np, x, w: (x * (x > 0) * w).sum())
activations.add("abs", lambda np, x, w: (0.5 * (x + np.abs(x)) * w).sum())
activations.add("clip", lambda np, x, w: (np.clip(x, 0.0, 100.0) * w).sum())

jacobian = Family(
    "a perceptron, Jacobian to its input", size=64, tiny=3, derivative=JACOBIAN, rows=64,
    inputs=lambda rng, n: (
        rng.standard_normal(n), rng.standard_normal((n, n)) / 8, rng.standard_normal((n, n)) / 8),
)  # fmt: skip
jacobian.add("a vector on the left", lambda np, x, w, v: np.tanh(np.tanh(x @ w) @ v))
jacobian.add("a vector on the right", lambda np, x, w, v: np.tanh(v @ np.tanh(w @ x)))
jacobian.add("a row", lambda np, x, w, v: np.tanh(np.tanh(x[None] @ w) @ v)[0])
jacobian.add("einsum", lambda np, x, w, v: np.tanh(
    np.einsum("ij,j->i", v, np.tanh(np.einsum("ij,j->i", w, x)))))  # fmt: skip

FAMILIES = [mixture, logistic, newton, network, curvature, activations, jacobian]
