"""Sums, norms, softmax and logsumexp, variances, and inner products in all spellings."""

from typing import Any

import numpy as np

from ..program import Family


def pair(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.standard_normal(n), rng.standard_normal(n)


inner = Family("an inner product of 1000", size=1000, tiny=4, inputs=pair, wrt=2)
inner.add("sum of the product", lambda np, x, y: np.sum(x * y))
inner.add("the method sum", lambda np, x, y: (x * y).sum())
inner.add("the operator @", lambda np, x, y: x @ y)
inner.add("dot", lambda np, x, y: np.dot(x, y))
inner.add("einsum", lambda np, x, y: np.einsum("i,i->", x, y))
inner.add("a row times a column", lambda np, x, y: (x[None, :] @ y[:, None]).sum())

norms = Family(
    "norms of 5000 vectors of 3", size=5000, tiny=3,
    inputs=lambda rng, n: (rng.standard_normal((n, 3)),),
)  # fmt: skip
norms.add("norm", lambda np, x: np.norm(x, axis=1).sum())
norms.add("root of a sum of powers", lambda np, x: np.sqrt((x**2).sum(axis=1)).sum())
norms.add("root of a sum of products", lambda np, x: np.sqrt(np.sum(x * x, axis=-1)).sum())
norms.add("einsum", lambda np, x: np.sqrt(np.einsum("ij,ij->i", x, x)).sum())
norms.add("columns", lambda np, x: np.sqrt(x[:, 0] ** 2 + x[:, 1] ** 2 + x[:, 2] ** 2).sum())
norms.add("a power of one half", lambda np, x: ((x * x).sum(1) ** 0.5).sum())
many = norms.derived("norms of 300 000 vectors of 3", size=300000)
many.programs = many.programs[:5]

whole = Family(
    "the norm of a vector", size=10**4, tiny=4, inputs=lambda rng, n: (rng.standard_normal(n),)
)
whole.add("norm", lambda np, x: np.norm(x))
whole.add("root of the sum", lambda np, x: np.sqrt((x * x).sum()))
whole.add("root of x @ x", lambda np, x: np.sqrt(x @ x))
whole.add("a power of one half", lambda np, x: np.sum(x**2) ** 0.5)


def logits(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.standard_normal((n, 10)), rng.integers(0, 10, n)


entropy = Family("cross entropy of 1000 rows", size=1000, tiny=3, inputs=logits)


def chosen(np: Any, scores: Any, labels: Any) -> Any:
    return -scores[np.arange(len(scores)), labels].mean()


@entropy.program
def by_logsumexp(np, x, labels):
    return chosen(np, x - np.logsumexp(x, 1, keepdims=True), labels)


@entropy.program
def by_a_softmax_written_out(np, x, labels):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return chosen(np, np.log(e / e.sum(axis=1, keepdims=True)), labels)


@entropy.program
def by_the_log_of_a_sum(np, x, labels):
    top = np.max(x, axis=1, keepdims=True)
    total = np.log(np.sum(np.exp(x - top), axis=1, keepdims=True)) + top
    return chosen(np, x - total, labels)


@entropy.program
def by_a_softmax(np, x, labels):
    return chosen(np, np.log(np.softmax(x, 1)), labels)


@entropy.program
def by_take_along_axis(np, x, labels):
    picked = np.take_along_axis(x, labels[:, None], 1)[:, 0]
    return (np.logsumexp(x, 1) - picked).mean()


layer = Family(
    "layer normalisation of 200 rows", size=200, tiny=3,
    inputs=lambda rng, n: (rng.standard_normal((n, 64)), rng.standard_normal(64)), wrt=2,
)  # fmt: skip


@layer.program
def mean_and_var(np, x, w):
    y = (x - x.mean(axis=1, keepdims=True)) / np.sqrt(np.var(x, axis=1, keepdims=True) + 1e-5)
    return (y * w * np.sin(x)).sum()


@layer.program
def mean_of_squares(np, x, w):
    d = x - np.mean(x, axis=-1, keepdims=True)
    return (d / np.sqrt((d * d).mean(axis=-1, keepdims=True) + 1e-5) * w * np.sin(x)).sum()


@layer.program
def sums_over_a_count(np, x, w):
    d = x - (np.sum(x, axis=1) / 64)[:, None]
    scale = ((d**2).sum(1) / 64 + 1e-5) ** -0.5
    return (d * scale[:, None] * w * np.sin(x)).sum()


@layer.program
def transposed(np, x, w):
    d = x.T - x.mean(axis=1)
    return ((d / np.sqrt((d * d).mean(axis=0) + 1e-5)).T * w * np.sin(x)).sum()


kinds = Family(
    "reductions of 300 by 300", size=300, tiny=3, siblings=False,
    inputs=lambda rng, n: (rng.uniform(0.5, 1.5, (n, n)), rng.standard_normal(n)),
)  # fmt: skip
kinds.add("sum of rows", lambda np, x, w: (np.sin(x).sum(axis=1) * w).sum())
kinds.add("sum of columns", lambda np, x, w: (np.sin(x).sum(axis=0) * w).sum())
kinds.add("mean and variance", lambda np, x, w: np.var(x) / np.mean(x))
kinds.add("largest of rows", lambda np, x, w: (np.max(x, axis=1) * w).sum())
kinds.add("products of rows", lambda np, x, w: np.prod(x, axis=1).sum())
kinds.add("cumulative sums", lambda np, x, w: (np.cumsum(x, axis=1) * w).sum())
kinds.add("standard deviations", lambda np, x, w: (np.sqrt(np.var(x, axis=0)) * w).sum())
kinds.add("centred", lambda np, x, w: ((x - x.mean(axis=0)) ** 2 * w).sum())
kinds.add("outer difference", lambda np, x, w: np.tanh(x[:, :1] - x[:1]).sum())
kinds.add("total", lambda np, x, w: x.sum())
kinds.add("means over two axes apart", lambda np, x: (x.mean(axis=(0, 2)) ** 2).sum(), size=50,
          inputs=lambda rng, n: (rng.standard_normal((6, n, 6, n)),))  # fmt: skip

FAMILIES = [inner, norms, many, whole, entropy, layer, kinds]
