# ruff: noqa: B905, RUF007  as users write them
"""Programs of numerical analysis: quadrature, roots, fits, splines, networks of tensors."""

import numpy

from .collection import program

rng = numpy.random.default_rng(6)


@program(numpy.array([0.7, 1.9]), rng.uniform(0.5, 1.5, 3), analytic=True)
def quadrature(np, ends, parameters):
    """An integral by Gauss, Simpson and Romberg, and an improper one by a substitution."""
    a, b = ends
    p, q, r = parameters

    def f(x):
        return np.exp(-p * x) * np.sin(q * x) + 1 / (1 + r * x**2)

    nodes, weights = numpy.polynomial.legendre.leggauss(8)
    gauss = 0.5 * (b - a) * np.sum(weights * f(0.5 * (b - a) * nodes + 0.5 * (a + b)))
    x = a + (b - a) * np.linspace(0, 1, 17)
    values = f(x)
    h = (b - a) / 16
    simpson = h / 3 * (values[0] + 4 * values[1:-1:2].sum() + 2 * values[2:-1:2].sum() + values[-1])
    table = [np.trapezoid(values[:: 2**k], x[:: 2**k]) for k in (3, 2, 1, 0)]
    for order in range(1, 4):
        table = [
            (4**order * fine - coarse) / (4**order - 1) for coarse, fine in zip(table, table[1:])
        ]
    t = np.linspace(0.05, 0.95, 19)
    tail = 0.05 * np.sum(np.exp(-p * t / (1 - t)) / (1 - t) ** 2)
    return np.stack([gauss, simpson - gauss, table[0] * tail])


@program(numpy.array([1.0, -6.0, 11.0, -5.9]), numpy.array([0.2, 0.9]), analytic=True)
def roots_by_newton(np, coefficients, eccentricity):
    """Kepler's equation, the roots of a polynomial with deflation, a square root of a matrix."""
    anomaly = np.linspace(0.5, 2.5, 5)
    e = eccentricity[0]
    angle = anomaly
    for _ in range(6):
        angle = angle - (angle - e * np.sin(angle) - anomaly) / (1 - e * np.cos(angle))
    c = coefficients
    roots = []
    while len(c) > 2:
        x = 0.5
        for _ in range(12):
            value, slope = 0.0, 0.0
            for k in range(len(c)):
                slope = slope * x + value
                value = value * x + c[k]
            x = x - value / slope
        roots.append(x)
        quotient = [c[0]]
        for k in range(1, len(c) - 1):
            quotient.append(c[k] + x * quotient[-1])
        c = np.stack(quotient)
    roots.append(-c[1] / c[0])
    m = np.eye(2) * (2 + eccentricity[1]) + np.ones((2, 2))
    y, z = m, np.eye(2)
    for _ in range(8):
        y, z = 0.5 * (y + np.linalg.inv(z)), 0.5 * (z + np.linalg.inv(y))
    return np.concatenate([angle, np.stack(roots), y.ravel()])


@program(numpy.linspace(-1, 1, 12), rng.normal(size=12), rng.normal(size=4))
def polynomial_fits(np, x, y, weights):
    """Fits by least squares, with a Vandermonde matrix and by orthogonal polynomials."""
    vandermonde = np.stack([x**k for k in range(4)], axis=1)
    normal = vandermonde.T @ vandermonde
    fit = np.linalg.solve(normal, vandermonde.T @ y)
    ridge = np.linalg.solve(normal + np.diag(np.exp(weights)), vandermonde.T @ y)
    coefficients, *_ = np.linalg.lstsq(vandermonde, y, rcond=None)
    values = np.polyval(coefficients[::-1], x)
    basis = [np.ones_like(x), x]
    for k in range(1, 4):
        basis.append(((2 * k + 1) * x * basis[-1] - k * basis[-2]) / (k + 1))
    legendre = np.vander(x, 3) @ weights[:3] + np.sum(np.stack(basis), axis=0)
    q, r = np.linalg.qr(vandermonde)
    again = np.linalg.solve(r, q.T @ y)
    return np.concatenate([fit - again, ridge, values - y, legendre])


@program(rng.normal(size=8), numpy.sort(rng.uniform(0.05, 6.9, 10)))
def splines(np, values, queries):
    """A natural cubic spline by a tridiagonal solve, and linear interpolation beside it."""
    n = len(values)
    knots = np.arange(n) * 1.0
    matrix = 4 * np.eye(n - 2) + np.eye(n - 2, k=1) + np.eye(n - 2, k=-1)
    second = np.zeros(n)
    inside = np.linalg.solve(matrix, 6 * np.diff(values, 2))
    second = np.concatenate([second[:1], inside, second[-1:]])
    cell = np.clip(np.searchsorted(knots, queries) - 1, 0, n - 2)
    t = queries - cell
    s = 1 - t
    cubic = (
        s * values[cell]
        + t * values[cell + 1]
        + ((s**3 - s) * second[cell] + (t**3 - t) * second[cell + 1]) / 6
    )
    linear = np.interp(queries, knots, values)
    bending = np.trapezoid(second**2, knots)
    return cubic - linear + 0.01 * bending


@program(rng.normal(size=(3, 2, 4)), rng.normal(size=(4, 2, 4)), rng.normal(size=(4, 2, 3)),
         analytic=True)  # fmt: skip
def network_of_tensors(np, first, middle, last):
    """The norm and an expectation of a matrix product state on a ring."""
    sites = [first, middle, middle, last]
    left = np.eye(first.shape[0])
    left = np.einsum("ab,cd->acbd", left, left)
    for site in sites:
        pair = np.einsum("aib,cid->acbd", site, site)
        left = np.einsum("xyac,acbd->xybd", left, pair)
    norm = np.einsum("xyxy->", left)
    spin = numpy.array([[0.0, 1.0], [1.0, 0.0]])
    state = np.tensordot(np.tensordot(first, middle, axes=1), middle, axes=(3, 0))
    state = np.einsum("aijkb,bla->ijkl", state, last)
    flipped = np.einsum("xi,ijkl->xjkl", spin, state)
    probabilities = (state**2 / norm).sum(axis=(1, 3))
    return np.sum(flipped * state) / norm + probabilities.ravel()


@program(rng.normal(size=(5, 5)), rng.normal(size=5), analytic=True)
def factorizations_by_hand(np, a, b):
    """Gram-Schmidt, an LU decomposition in place, and power iteration with deflation."""
    columns = []
    for j in range(5):
        v = a[:, j]
        for q in columns:
            v = v - (q @ v) * q
        columns.append(v / np.sqrt(v @ v))
    q = np.stack(columns, axis=1)
    lu = a + 6 * np.eye(5)
    for k in range(4):
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    x = b.copy()
    for i in range(5):
        x[i] -= lu[i, :i] @ x[:i]
    for i in range(4, -1, -1):
        x[i] = (x[i] - lu[i, i + 1 :] @ x[i + 1 :]) / lu[i, i]
    symmetric = a @ a.T
    values = []
    for _ in range(2):
        v = np.ones(5)
        for _ in range(15):
            v = symmetric @ v
            v = v / np.sqrt(v @ v)
        value = v @ symmetric @ v
        values.append(value)
        symmetric = symmetric - value * np.outer(v, v)
    return np.concatenate([np.triu(q.T @ a).ravel(), x, np.stack(values)])
