"""Time a first gradient in a new process, with an empty kernel cache and with a full one."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROUNDS = 5
EXAMPLE = """
import numpy as np
import numgrad as ng

x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = ng.stack([x[0] * x[1], np.sin(x[2]), x[0] / x[2]])
(jacobian,) = ng.grad(y, x, grad_outputs=np.eye(3), is_grads_batched=True)
"""


def seconds(source: str, folder: Path) -> float:
    """Return how long a process takes that runs some code, with a folder as its cache."""
    environment = {**os.environ, "NUMGRAD_CACHE_DIR": str(folder)}
    began = perf_counter()
    subprocess.run([sys.executable, "-c", source], env=environment, check=True)
    return perf_counter() - began


def main() -> None:
    """Print the least times."""
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as parent:
        for number in range(ROUNDS):
            folder = Path(parent) / str(number)
            times.setdefault("empty cache", []).append(seconds(EXAMPLE, folder))
            times.setdefault("full cache", []).append(seconds(EXAMPLE, folder))
            for module in ("numgrad", "numba", "numpy"):
                name = f"import {module}"
                times.setdefault(name, []).append(seconds(name, folder))
    for name, measured in times.items():
        print(f"{name:<16}{min(measured):6.2f} s")


if __name__ == "__main__":
    main()
