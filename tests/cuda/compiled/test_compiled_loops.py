"""Kernels with a loop inside compile for GPUs, and keep in registers what they carry."""

import re
from unittest import mock

import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cuda_rehearsal.driver import AbsentGPU, Compiled

from .compiling import CAPABILITIES, CAPABILITY, codegen, linked

warm_gpu = pytest.importorskip("numgrad._cli.warm_gpu")
MOST = 255  # registers of a thread


def collected(run):
    """Return the kernels of loops that a function runs on a GPU that is not there."""
    kernels = {}

    def prepare(self, kernel):
        if "ng." in kernel.name:
            kernels.setdefault((kernel.text, kernel.parameters), kernel)
        return Compiled(kernel)

    with mock.patch.object(AbsentGPU, "prepare", prepare), warm_gpu.rehearsing(CAPABILITY, 4):
        run()
    return list(kernels.values())


def on_device(*arrays):
    return [ng.tensor(a, device="cuda", requires_grad=a.dtype.kind == "f") for a in arrays]


def gradients(step, *arrays):
    start, xs = on_device(*arrays)
    last, ys = ng.scan(step, start, xs)
    parts = [last, *(ys or ())]
    seeds = [ng.zeros((2, *part.shape), dtype=part.dtype, device="cuda") for part in parts]
    ng.grad(parts, [start, xs], seeds, is_grads_batched=True, retain_graph=True)
    ng.grad(parts, [start, xs], [seed[0] for seed in seeds])


def lorenz(dtype):
    """Runge and Kutta, in the words of NumPy."""
    h = dtype(0.01)

    def slope(s, k):
        x, y, z = s[0], s[1], s[2]
        return ng.stack([k[0] * (y - x), x * (k[1] - z) - y, x * y - k[2] * z])

    def step(s, k):
        a = slope(s, k)
        b = slope(s + h / 2 * a, k)
        c = slope(s + h / 2 * b, k)
        d = slope(s + h * c, k)
        return s + h / 6 * (a + 2 * b + 2 * c + d), (s[0],)

    gradients(step, np.ones(3, dtype), np.ones((4, 3), dtype))


def columns():
    gradients(lambda c, x: (abs(c) * x - c, (c * c,)), np.ones(40, "f"), np.ones((3, 40), "f"))


def network():
    gradients(lambda c, x: (abs(x.reshape(3, 3) @ c), None), np.ones(3), np.ones((3, 9)))


def logic():
    (start,) = on_device(np.ones(2, "f"))
    first = (start, 0, True)

    def step(c):
        y, n, flag = c
        return ng.where(flag, y * 0.5, y + 1), n + 1, ~flag & (n < 5)

    ng.while_loop(lambda c: (c[0].sum() < 9) & (c[1] < 7), step, first)


CASES = {
    "float64": (lambda: lorenz(np.float64), 3), "float32": (lambda: lorenz(np.float32), 3),
    "columns": (columns, 3), "products": (network, 3), "a condition": (logic, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_loops_compile_and_keep_their_state_in_registers(name):
    run, count = CASES[name]
    kernels = collected(run)
    assert len(kernels) >= count
    for n, kernel in enumerate(kernels):
        capability = CAPABILITIES[n % 2]
        code = codegen.compiled(kernel, capability)
        log = linked(code.ptx, f"sm_{capability[0]}{capability[1]}")
        assert re.search(r"\b0 bytes stack frame", log), log
        assert "0 bytes spill stores" in log
        assert int(re.search(r"Used (\d+) registers", log).group(1)) <= MOST
        if name in ("float32", "columns", "a condition"):
            assert ".f64" not in code.ptx
        # Products of matrices are rounded once with their sums, and no other product.
        assert ("fma.rn" in code.ptx) == (name == "products")
