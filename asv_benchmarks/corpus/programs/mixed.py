"""Programs of many fields, one text each: fields on grids, statistics, and layers of networks."""

from typing import Any

from ..program import Family

grids = Family(
    "fields on a grid of 64", size=64, tiny=6, siblings=False,
    inputs=lambda rng, n: (0.5 * rng.standard_normal((n, n)),),
)  # fmt: skip


def five_points(np: Any, u: Any) -> Any:
    """Return the Laplacian on a torus."""
    near = sum(np.roll(u, shift, axis=axis) for axis in range(2) for shift in (1, -1))
    return near - 4.0 * u


@grids.program
def phases_that_separate(np, u):
    def step(u: Any) -> Any:
        return u + 0.1 * (five_points(np, u) + u - u**3)

    return (np.iterate(step, u, 6) ** 2).mean()


@grids.program
def a_double_well_to_the_fourth(np, u):
    slope = (u[1:, :-1] - u[:-1, :-1]) ** 2 + (u[:-1, 1:] - u[:-1, :-1]) ** 2
    return 0.5 * slope.sum() + 0.25 * (u**4).sum() - 0.5 * (u**2).sum() + 0.01 * (u**6).sum()


@grids.program
def total_variation(np, u):
    x, y = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    return np.sqrt(x * x + y * y + 1e-3).sum()


@grids.program
def a_potential_between_walls(np, u):
    def step(v: Any) -> Any:
        inside = v[2:, 1:-1] + v[:-2, 1:-1] + v[1:-1, 2:] + v[1:-1, :-2] - u[1:-1, 1:-1]
        return np.put(np.zeros(u.shape), (slice(1, -1), slice(1, -1)), 0.25 * inside)

    return (np.iterate(step, u, 8) * u).sum()


transport = Family(
    "optimal transport between 50 places", size=50, tiny=5, siblings=False,
    inputs=lambda rng, n: (rng.uniform(0.1, 1.0, (n, n)),),
)  # fmt: skip


@transport.program
def scaled_in_turns(np, c):
    n = len(c)
    k = np.exp(-c)
    u = v = np.ones(n) / n
    for _ in range(10):
        u = 1.0 / n / (k @ v)
        v = 1.0 / n / (k.T @ u)
    return (u[:, None] * k * v[None] * c).sum()


layers = Family(
    "layers of a network", size=16, tiny=4, siblings=False, wrt=2,
    inputs=lambda rng, n: (rng.standard_normal((n, 20, 16)), 0.1 * rng.standard_normal((16, 48))),
)  # fmt: skip


@layers.program
def attention(np, x, w):
    q, k, v = [(x @ w)[..., 16 * i : 16 * (i + 1)] for i in range(3)]
    scores = q @ np.swapaxes(k, -1, -2) / 4.0
    return ((np.softmax(scores, axis=-1) @ v) ** 2).sum()


@layers.program
def windows_of_three(np, x, w):
    y = sum(x[:, k : k + 18] @ w[:, 16 * k : 16 * (k + 1)] for k in range(3))
    return np.tanh(y).sum()


@layers.program
def means_of_pairs(np, x, w):
    n = len(x)
    return ((x @ w).reshape((n, 10, 2, 24, 2)).mean(axis=(2, 4)) ** 2).sum()


likelihoods = Family(
    "likelihoods of 100 observations", size=100, tiny=5, siblings=False, wrt=2,
    inputs=lambda rng, n: (rng.standard_normal(n), rng.standard_normal(n)),
)  # fmt: skip


@likelihoods.program
def of_kernels_at_each_point(np, x, y):
    d = x[:, None] - y[None]
    return np.log(np.exp(-0.5 * d * d).mean(1)).sum()


@likelihoods.program
def of_differences_with_a_robust_loss(np, x, y):
    r = x - y
    size = np.abs(r)
    return np.where(size < 1.0, 0.5 * r * r, size - 0.5).sum()


@likelihoods.program
def of_a_correlation(np, x, y):
    x, y = x - x.mean(), y - y.mean()
    return (x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum())


FAMILIES = [grids, transport, layers, likelihoods]
