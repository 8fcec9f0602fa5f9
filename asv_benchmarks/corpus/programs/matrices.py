"""Products, solves, factors: quadratic forms, Gaussian processes, chains of small matrices."""

from typing import Any

import numpy as np

from ..program import HESSIAN, HVP, Family


def symmetric(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    a = rng.standard_normal((n, n)) / n
    return rng.standard_normal(n), a @ a.T + np.eye(n)


form = Family("a quadratic form of 200", size=200, tiny=3, inputs=symmetric)
form.add("x @ A @ x", lambda np, x, a: x @ a @ x)
form.add("x @ (A @ x)", lambda np, x, a: x @ (a @ x))
form.add("a sum of products", lambda np, x, a: (x * (a @ x)).sum())
form.add("einsum", lambda np, x, a: np.einsum("i,ij,j->", x, a, x))
form.add("dot", lambda np, x, a: np.dot(x, np.matmul(a, x)))
form.add("a row and a column", lambda np, x, a: (x[None] @ a @ x[:, None]).sum())
form.add("broadcast", lambda np, x, a: (x[:, None] * a * x).sum())
curved = form.derived("a quadratic form of 30, Hessian", size=30, derivative=HESSIAN)
curved.programs = curved.programs[:3]

squares = Family(
    "least squares, 500 by 20", size=500, tiny=5,
    inputs=lambda rng, n: (
        rng.standard_normal(20), rng.standard_normal((n, 20)), rng.standard_normal(n)),
)  # fmt: skip
squares.add("powers", lambda np, w, x, y: ((x @ w - y) ** 2).sum())
squares.add("a mean", lambda np, w, x, y: np.mean((np.matmul(x, w) - y) ** 2))
squares.add("the norm", lambda np, w, x, y: np.norm(x @ w - y) ** 2)
squares.add("an inner product", lambda np, w, x, y: (x @ w - y) @ (x @ w - y))
squares.add("einsum", lambda np, w, x, y: ((np.einsum("ij,j->i", x, w) - y) ** 2).sum())
squares.add("a broadcast product", lambda np, w, x, y: (((x * w).sum(axis=1) - y) ** 2).sum())
bent = squares.derived("least squares, Hessian times vector", derivative=HVP)
bent.programs = bent.programs[:3]

process = Family(
    "a Gaussian process of 60 points", size=60, tiny=4,
    inputs=lambda rng, n: (np.array([0.1, 0.2, -1.0]), np.sort(rng.uniform(0, 5, n)),
                           rng.standard_normal(n)),
)  # fmt: skip


def covariance(np: Any, p: Any, x: Any) -> Any:
    d = x[:, None] - x[None]
    return np.exp(p[0] - 0.5 * d * d * np.exp(-2.0 * p[1])) + np.exp(p[2]) * np.eye(len(x))


@process.program
def cholesky(np, p, x, y):
    factor = np.linalg.cholesky(covariance(np, p, x))
    z = np.linalg.solve(factor, y)
    return 0.5 * (z * z).sum() + np.log(np.diagonal(factor)).sum()


@process.program
def solve_and_slogdet(np, p, x, y):
    k = covariance(np, p, x)
    return 0.5 * (y @ np.linalg.solve(k, y)) + 0.5 * np.linalg.slogdet(k)[1]


@process.program
def inverse_and_slogdet(np, p, x, y):
    k = covariance(np, p, x)
    return 0.5 * (y @ np.linalg.inv(k) @ y) + 0.5 * np.linalg.slogdet(k)[1]


products = Family(
    "30 products of small matrices", size=4, tiny=2,
    inputs=lambda rng, n: (rng.standard_normal((n, n)) / n, rng.standard_normal(n)),
)  # fmt: skip


@products.program
def a_vector_on_the_right(np, a, x):
    for _ in range(30):
        x = a @ x + 0.1
    return (x * x).sum()


@products.program
def a_vector_on_the_left(np, a, x):
    for _ in range(30):
        x = x @ a + 0.1
    return (x * x).sum()


@products.program
def a_column(np, a, x):
    x = x[:, None]
    for _ in range(30):
        x = a @ x + 0.1
    return (x * x).sum()


@products.program
def sums_over_an_axis(np, a, x):
    for _ in range(30):
        x = (a * x).sum(axis=1) + 0.1
    return (x * x).sum()


batches = Family(
    "a batch of 500 matrices of 4", size=500, tiny=2,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 4, 4)), rng.standard_normal((n, 4)), rng.standard_normal((n, 4))),
    wrt=2,
)  # fmt: skip
batches.add("matrix products", lambda np, a, x, y: ((a @ x[:, :, None])[:, :, 0] * y).sum())
batches.add("einsum", lambda np, a, x, y: (np.einsum("nij,nj->ni", a, x) * y).sum())
batches.add("broadcast", lambda np, a, x, y: ((a * x[:, None, :]).sum(axis=2) * y).sum())
batches.add("einsum of three", lambda np, a, x, y: np.einsum("nij,nj,ni->", a, x, y))

layer = Family(
    "a layer of 2000 rows of 8", size=2000, tiny=3,
    inputs=lambda rng, n: (rng.standard_normal((8, 8)), rng.standard_normal((n, 8))), wrt=2,
)  # fmt: skip
layer.add("rows on the left", lambda np, w, x: np.tanh(x @ w.T).sum())
layer.add("columns on the right", lambda np, w, x: np.tanh((w @ x[:, :, None])[:, :, 0]).sum())
layer.add("a stack of rows", lambda np, w, x: np.tanh((x[:, None, :] @ w.T)[:, 0]).sum())
layer.add("einsum", lambda np, w, x: np.tanh(np.einsum("ij,nj->ni", w, x)).sum())
layer.add("columns", lambda np, w, x: np.tanh(w @ x.T).sum())

heads = Family(
    "500 rows by 10 matrices of 8", size=500, tiny=3,
    inputs=lambda rng, n: (rng.standard_normal((10, 8, 8)), rng.standard_normal((n, 10, 8))),
    wrt=2,
)  # fmt: skip
heads.add("columns", lambda np, w, x: np.tanh((w @ x[..., None])[..., 0]).sum())
heads.add("rows", lambda np, w, x: np.tanh((x[:, :, None, :] @ w)[:, :, 0]).sum())
heads.add("einsum", lambda np, w, x: np.tanh(np.einsum("kij,nkj->nki", w, x)).sum())

algebra = Family(
    "linear algebra of 50", size=50, tiny=3, siblings=False,
    inputs=lambda rng, n: (np.eye(n) + 0.1 * rng.standard_normal((n, n)) / n**0.5,
                           rng.standard_normal((n, n))),
)  # fmt: skip
algebra.add("determinant", lambda np, a, b: np.linalg.det(a))
algebra.add("solve", lambda np, a, b: np.linalg.solve(a, b).sum())
algebra.add("inverse", lambda np, a, b: (np.linalg.inv(a) * b).sum())
algebra.add("three products", lambda np, a, b: (a @ b @ a @ b).sum())
algebra.add("kron", lambda np, a, b: np.kron(a[:5, :5], b[:5, :5]).sum())
algebra.add("trace of a product", lambda np, a, b: np.trace(a @ b))
algebra.add("trace by einsum", lambda np, a, b: np.einsum("ij,ji->", a, b))
algebra.add("triangle", lambda np, a, b: (np.tril(a) @ b).sum())
algebra.add("eigenvalues", lambda np, a, b: (np.linalg.eigvalsh(a + a.T) ** 3).sum())
algebra.add("triangular factor", lambda np, a, b: (np.linalg.qr(a)[1] ** 2 * b).sum())

implicit = Family(
    "20 implicit steps of 40 cells", size=40, tiny=5,
    inputs=lambda rng, n: (rng.uniform(0.1, 0.5, n), np.sin(np.linspace(0, 3, n)),
                           np.eye(n), np.eye(n, k=1) + np.eye(n, k=-1) - 2 * np.eye(n)),
)  # fmt: skip


@implicit.program
def crank_and_nicolson(np, k, u, one, second):
    half = 0.5 * k[:, None] * second
    for _ in range(20):
        u = np.linalg.solve(one - half, (one + half) @ u)
    return (u * u).sum()


@implicit.program
def crank_and_nicolson_with_an_inverse(np, k, u, one, second):
    half = 0.5 * k[:, None] * second
    for _ in range(20):
        u = np.linalg.inv(one - half) @ ((one + half) @ u)
    return (u * u).sum()


@implicit.program
def crank_and_nicolson_with_matrices_made_once(np, k, u, one, second):
    half = 0.5 * k[:, None] * second
    before, after = one + half, one - half
    for _ in range(20):
        u = np.linalg.solve(after, before @ u)
    return (u * u).sum()


largest = Family(
    "20 steps of a power iteration of 100", size=100, tiny=4,
    inputs=lambda rng, n: (symmetric(rng, n)[1], np.ones(n)),
)  # fmt: skip


@largest.program
def products_written_twice(np, a, x):
    for _ in range(20):
        x = a @ x / np.norm(a @ x)
    return x @ a @ x


@largest.program
def products_made_once(np, a, x):
    for _ in range(20):
        y = a @ x
        x = y / np.norm(y)
    return x @ a @ x


@largest.program
def a_quotient(np, a, x):
    for _ in range(20):
        x = a @ x / np.sqrt((a @ x) @ (a @ x))
    return (x @ (a @ x)) / (x @ x)


FAMILIES = [
    form, curved, squares, bent, process, products, batches, layer, heads, algebra, implicit,
    largest,
]  # fmt: skip
