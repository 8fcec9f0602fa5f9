"""Times and memory of dense Jacobians: of many samples, in both modes, and into a file.

``samples`` compares with torch and JAX where they are installed, in turns; ``modes`` takes the same
square Jacobians by rows and by columns, on one thread; ``file`` writes one of 60 000 x 2 000 to a
file, with a bar and without, after one that is not timed.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import numgrad as ng

F = ng.func
RNG = np.random.default_rng(0)


def lorenz96(x: Any, roll: Callable[..., Any] = np.roll) -> Any:
    """Return the right-hand side of the Lorenz-96 equations."""
    return (roll(x, -1) - roll(x, 2)) * roll(x, 1) - x + 8


def integrated(x: Any) -> Any:
    """Return the state ten steps of Runge and Kutta later."""
    for _ in range(10):
        k1 = lorenz96(x)
        k2 = lorenz96(x + 0.005 * k1)
        k3 = lorenz96(x + 0.005 * k2)
        k4 = lorenz96(x + 0.01 * k3)
        x = x + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


WEIGHTS = RNG.normal(size=(300, 300)) / 17
MATRIX = RNG.normal(size=(60, 60)) + 60 * np.eye(60)


def network(x: Any) -> Any:
    """Return what four layers make of a vector."""
    for _ in range(4):
        x = np.tanh(WEIGHTS @ x)
    return x


def heat(x: Any) -> Any:
    """Return a stencil on a grid, with a source."""
    u, y = x.reshape(20, 20), ng.zeros((20, 20))
    inner = u[1:-1, 1:-1]
    sides = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
    y[1:-1, 1:-1] = sides - 4 * inner + np.exp(inner)
    return y.reshape(-1)


def solved(x: Any) -> Any:
    """Return the solution of a system that depends on its right-hand side."""
    return np.linalg.solve(MATRIX + x[:, None] * x, x)


def normalized(x: Any) -> Any:
    """Return a function with sums over all elements."""
    return np.sin(x) * np.exp(x).sum() / np.sqrt((x * x).sum())


SQUARE = {
    "Lorenz-96, 10 steps, 256": (integrated, 256),
    "network, 300": (network, 300),
    "stencil, 400": (heat, 400),
    "linear system, 60": (solved, 60),
    "sums, 400": (normalized, 400),
}


def in_turns(
    calls: dict[str, Callable[[], Any]], rounds: int, clock: Callable[[], float]
) -> dict[str, float]:
    """Return the least time of each call, in ms."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            began = clock()
            call()
            least[name] = min(least[name], 1e3 * (clock() - began))
    return least


def peers(x: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return the same Jacobians by other libraries, where they are installed."""
    calls: dict[str, Callable[[], Any]] = {}
    try:
        import torch

        of_torch = torch.func.vmap(torch.func.jacrev(lambda s: lorenz96(s, torch.roll)))
        tensor = torch.tensor(x)
        calls["torch vmap(jacrev)"] = lambda: of_torch(tensor)
    except ImportError:
        pass
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        of_jax = jax.jit(jax.vmap(jax.jacfwd(lambda s: lorenz96(s, jax.numpy.roll))))
        array = jax.numpy.asarray(x)
        calls["JAX jit(vmap(jacfwd))"] = lambda: of_jax(array).block_until_ready()
    except ImportError:
        pass
    return calls


def measure_samples(rounds: int) -> None:
    """Print the times of all Jacobians of 20 000 samples of 20 variables."""
    x = RNG.normal(size=(20_000, 20))
    functions = {f"vmap({t.__name__})": F.vmap(t(lorenz96)) for t in (F.jacrev, F.jacfwd)}
    functions |= {f"jit({name})": ng.jit(function) for name, function in functions.items()}
    calls = {name: lambda f=function: f(x) for name, function in functions.items()}
    for name, least in in_turns(calls | peers(x), rounds, time.perf_counter).items():
        print(f"{name}: {least:.1f} ms")


def measure_modes(rounds: int) -> None:
    """Print the times of square Jacobians by rows and by columns."""
    ng.set_flags(threads=1)
    for name, (function, size) in SQUARE.items():
        x = RNG.normal(size=size)
        transforms = {"rows": F.jacrev(function), "columns": F.jacfwd(function)}
        calls = {key: lambda t=t, x=x: t(x) for key, t in transforms.items()}
        least = in_turns(calls, rounds, time.process_time)
        print(f"{name}: " + ", ".join(f"{key} {ms:.2f} ms" for key, ms in least.items()))


def resident() -> float:
    """Return the memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def measure_file() -> None:
    """Print time and memory of a Jacobian of 960 MB that is written to a file."""
    rows, columns = 60_000, 2_000
    places, scale = np.arange(rows) % columns, np.linspace(0, 1, rows)

    def function(x: Any) -> Any:
        return np.sin(x[places]) * scale + x.sum() ** 2

    def written(out: np.ndarray, progress: bool) -> None:
        F.jacobian(function, out=out, progress=progress)(RNG.normal(size=columns))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jacobian.npy"
        out = np.lib.format.open_memmap(path, "w+", np.float64, (rows, columns))
        for progress in (True, False):
            written(out, progress)  # loads kernels, and fills the page cache
            seconds, more = watched(lambda p=progress: written(out, p))
            how = "with a bar" if progress else "without a bar"
            print(f"60000 x 2000 to a file, {how}: {seconds:.1f} s, {more:.0f} MiB more memory")


def watched(work: Callable[[], None]) -> tuple[float, float]:
    """Return the seconds that something takes, and by how many MiB more memory is in use."""
    most, done = [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            most[0] = max(most[0], resident())

    before = resident()
    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    work()
    seconds = time.perf_counter() - began
    done.set()
    watcher.join()
    return seconds, most[0] - before


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["samples", "modes", "file"])
    parser.add_argument("--rounds", type=int, default=20)
    given = parser.parse_args()
    if given.part == "file":
        measure_file()
    else:
        {"samples": measure_samples, "modes": measure_modes}[given.part](given.rounds)
