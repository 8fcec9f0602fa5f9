"""Cold start: seconds from the start of an interpreter to the first gradient of a small example."""

import os
import subprocess
import sys
import tempfile
import time
from statistics import median
from typing import Any

from . import machine

REPEATS = 5

# The example of the README, in each library's own words.
NUMGRAD = """
import numpy as np
import numgrad as ng
x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = ng.stack([x[0] * x[1], np.sin(x[2]), x[0] / x[2]])
ng.grad(y, x, grad_outputs=np.eye(3), is_grads_batched=True)
"""
TORCH = """
import torch
x = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
y = torch.stack([x[0] * x[1], torch.sin(x[2]), x[0] / x[2]])
torch.autograd.grad(y, x, torch.eye(3, dtype=torch.float64), is_grads_batched=True)
"""
JAX = """
import jax
import jax.numpy as jnp
jax.config.update("jax_enable_x64", True)
f = lambda x: jnp.stack([x[0] * x[1], jnp.sin(x[2]), x[0] / x[2]])
jax.jit(jax.jacrev(f))(jnp.array([1.0, 2.0, 3.0])).block_until_ready()
"""
AUTOGRAD = """
import autograd.numpy as np
from autograd import jacobian
jacobian(lambda x: np.array([x[0] * x[1], np.sin(x[2]), x[0] / x[2]]))(np.array([1.0, 2.0, 3.0]))
"""
EXAMPLES = {"torch": TORCH, "jax": JAX, "autograd": AUTOGRAD}


def seconds(code: str, cache: str, threads: int) -> float:
    """Wall time of a process that runs the code."""
    environment = machine.worker_environment(dict(os.environ), threads)
    environment["NUMGRAD_CACHE_DIR"] = cache
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
    return time.perf_counter() - begin


def measure(threads: int, repeats: int = REPEATS) -> list[dict[str, Any]]:
    """Rows of the table: medians of processes, interleaved."""
    codes = {"numgrad": ("numgrad", NUMGRAD)}
    codes |= {name: (name, code) for name, code in EXAMPLES.items() if machine.installed(name)}
    imports: dict[str, list[float]] = {name: [] for name in codes}
    first: dict[str, list[float]] = {name: [] for name in codes}
    empty = []
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(repeats):
            with tempfile.TemporaryDirectory() as nothing:
                empty.append(seconds(NUMGRAD, nothing, threads))
        seconds(NUMGRAD, cache, threads)
        for _ in range(repeats):
            for name, (module, code) in codes.items():
                imports[name].append(seconds(f"import {module}", cache, threads))
                first[name].append(seconds(code, cache, threads))
    rows = [{"what": "numgrad, empty kernel cache", "import": None, "first": median(empty)}]
    for name in codes:
        rows.append({"what": name, "import": median(imports[name]), "first": median(first[name])})
    return rows
