"""Tables of numbers: along their columns, in several axes, and what is fitted to them."""

from ...program import Family, alone

FAMILIES: list[Family] = []


@alone(
    FAMILIES,
    "linear attention 128 by 16",
    size=128,
    tiny=4,
    inputs=lambda rng, n: tuple(rng.standard_normal((3, n, 16))),
    wrt=3,
)
def running_products(np, q, k, v):
    q, k = np.exp(q), np.exp(k)
    s = np.cumsum(k[:, :, None] * v[:, None, :], axis=0)
    z = np.cumsum(k, axis=0)
    o = (q[:, :, None] * s).sum(1) / (q * z).sum(1, keepdims=True)
    return (o * o).sum()


@alone(
    FAMILIES,
    "a running maximum, 500 by 20",
    size=500,
    tiny=6,
    inputs=lambda rng, n: (rng.standard_normal((n, 20)),),
)
def drawdown(np, x):
    y = np.cumsum(x, axis=0)
    return ((np.running_maximum(y) - y) ** 2).sum()


@alone(
    FAMILIES,
    "a table of 333 333 by 3",
    size=333_333,
    tiny=5,
    inputs=lambda rng, n: (rng.standard_normal((n, 3)),),
)
def columns(np, x):
    return np.sqrt(x[:, 0] ** 2 + x[:, 1] ** 2 + 0.1).sum() + x[:, 2].mean()


down = Family(
    "down the columns of 300 by 300", siblings=False, size=300, tiny=4,
    inputs=lambda rng, n: (rng.uniform(0.5, 1.5, (n, n)),),
)  # fmt: skip
down.add("cumulative sums", lambda np, x: (np.cumsum(x, axis=0) ** 2).sum())
down.add("cumulative products", lambda np, x: np.cumprod(x, axis=0).sum())
down.add("running maxima", lambda np, x: (np.running_maximum(x) ** 2).sum())

points = Family(
    "coordinates of 300 000 points", siblings=False, size=300_000, tiny=5,
    inputs=lambda rng, n: (rng.uniform(0.5, 1.5, (n, 3)),),
)  # fmt: skip
points.add("norms of columns", lambda np, x: np.norm(x, axis=0).sum())
points.add("variances of columns", lambda np, x: np.var(x, axis=0).sum())
points.add("largest of columns", lambda np, x: (np.max(x, axis=0) ** 2).sum())
points.add("a running maximum", lambda np, x: (np.running_maximum(x) ** 2).sum())

FAMILIES += [down, points]


@alone(
    FAMILIES,
    "singular values of 50 by 50",
    size=50,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((n, n)),),
)
def cubed(np, a):
    return (np.linalg.svdvals(a) ** 3).sum()


@alone(
    FAMILIES,
    "least squares by a factorization",
    size=100,
    tiny=12,
    inputs=lambda rng, n: (rng.standard_normal((n, 6)), rng.standard_normal(n)),
    wrt=2,
    own={"numpy": lambda np, a, b: (np.linalg.lstsq(a, b, None)[0] ** 2).sum()},
)
def lstsq(np, a, b):
    return (np.linalg.lstsq(a, b)[0] ** 2).sum()


@alone(
    FAMILIES,
    "phases of an image of 64 by 64",
    size=64,
    tiny=4,
    inputs=lambda rng, n: (rng.standard_normal((n, n)), rng.uniform(0.1, 1, (n, n))),
)
def magnitudes(np, x, y):
    f = np.fft.fft2(x)
    m = np.sqrt(f.real**2 + f.imag**2 + 1e-6)
    return ((m / x.shape[0] - y) ** 2).sum()


@alone(
    FAMILIES,
    "normalised over three axes",
    size=16,
    tiny=3,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 8, 20, 20)),
        rng.standard_normal(8),
        rng.standard_normal(8),
    ),
    wrt=3,
)
def channels(np, x, g, b):
    m = x.mean((0, 2, 3), keepdims=True)
    v = ((x - m) ** 2).mean((0, 2, 3), keepdims=True)
    y = (x - m) / np.sqrt(v + 1e-5) * g[:, None, None] + b[:, None, None]
    return np.tanh(y).sum()
