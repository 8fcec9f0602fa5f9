"""Random programs that read and write regions of one array: their gradients against differences."""

import numpy as np
import pytest

import numgrad as ng

STEPS = {
    "function": lambda y, x, a, b, c: np.sin(y[b]) * c,
    "sum": lambda y, x, a, b, c: y[a] + y[b] * c,
    "product": lambda y, x, a, b, c: y[a] * np.cos(y[b]),
    "copy": lambda y, x, a, b, c: y[b].copy(),
    "argument": lambda y, x, a, b, c: y[a] * 0.5 + x[b] * c,
}


def drawn(rng, shape):
    """Return steps of a program, with regions of one size at two places."""
    steps = []
    for _ in range(rng.integers(3, 25)):
        sizes, drops = [rng.integers(1, size + 1) for size in shape], rng.random() < 0.4
        keys = []
        for _ in range(2):
            starts = [
                int(rng.integers(0, size - n + 1)) for size, n in zip(shape, sizes, strict=True)
            ]
            keys.append(
                tuple(
                    start if drops and n == 1 else slice(start, start + int(n))
                    for start, n in zip(starts, sizes, strict=True)
                )
            )
        kind = rng.choice([*STEPS, "read"])
        steps.append((kind, *keys, rng.normal(), rng.random() < 0.15))
    return steps


def run(steps, x):
    y, total = x * 1.0, 0.0
    for kind, a, b, c, reads_all in steps:
        if kind == "read":
            total = total + (y[a] * y[b]).sum()
        else:
            y[a] = STEPS[kind](y, x, a, b, c)
        if reads_all:
            total = total + np.sin(y).sum()
    return total + (y * y).sum()


@pytest.mark.parametrize("seed", range(16))
def test_gradients_of_what_regions_depend_on(seed):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 6, rng.integers(1, 4)))
    steps = drawn(rng, shape)
    x, v = rng.normal(size=(2, *shape))
    near = [run(steps, x + n * 1e-4 * v) for n in (-2, -1, 1, 2)]
    slope = np.dot([1.0, -8.0, 8.0, -1.0], near) / 12e-4
    gradient = ng.func.grad(lambda x: run(steps, x))(x)
    assert (gradient * v).sum() == pytest.approx(slope, rel=1e-6, abs=1e-6)
    captured = ng.jit(ng.func.grad(lambda x: run(steps, x)))(x)
    np.testing.assert_array_equal(captured, gradient)
