"""What functions cost one by one, beside torch: a table of ratios in Markdown.

``python -m asv_benchmarks.peers.eager`` prints for each function and number of elements how many
times as long numgrad takes as torch: for the value alone, recorded on a graph, and for a pass
backward over it. Every figure is the least of rounds that alternate in one process. With
``--numpy`` values are compared with NumPy.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

import numgrad as ng

Function = Callable[..., Any]
WIDTHS = {1: 1, 16: 4, 100: 10, 10**4: 100, 10**6: 1000}
"""Of matrices, by their number of elements."""


class Torch:
    """Torch's functions by NumPy's names, where they have others."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    def cumsum(self, x: Any, axis: int = 0) -> Any:
        return torch.cumsum(x, axis)

    def flip(self, x: Any) -> Any:
        return torch.flip(x, (0,))

    def sum(self, x: Any, axis: int | None = None) -> Any:
        return torch.sum(x) if axis is None else torch.sum(x, axis)

    def max(self, x: Any, axis: int | None = None) -> Any:
        return torch.amax(x) if axis is None else torch.amax(x, axis)

    def stack(self, arrays: Any, axis: int = 0) -> Any:
        return torch.stack(arrays, axis)

    def sort(self, x: Any) -> Any:
        return torch.sort(x)[0]

    def expand_dims(self, x: Any, axis: int) -> Any:
        return torch.unsqueeze(x, axis)

    def repeat(self, x: Any, n: int) -> Any:
        return torch.repeat_interleave(x, n)

    def var(self, x: Any) -> Any:
        return torch.var(x, correction=0)

    def std(self, x: Any) -> Any:
        return torch.std(x, correction=0)

    def pad(self, x: Any, width: int) -> Any:
        return torch.nn.functional.pad(x, (width, width))

    def logsumexp(self, x: Any, axis: int) -> Any:
        return torch.logsumexp(x, axis)

    def mean(self, x: Any, axis: int | None = None) -> Any:
        return torch.mean(x) if axis is None else torch.mean(x, axis)

    def astype(self, x: Any) -> Any:
        return x.to(torch.float32)

    def unstack(self, x: Any) -> Any:
        return torch.unbind(x)

    def array_split(self, x: Any, n: int) -> Any:
        return torch.tensor_split(x, n)


class Arrays:
    """What NumPy lacks."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def logsumexp(self, x: Any, axis: int) -> Any:
        top = np.max(x, axis, keepdims=True)
        return np.log(np.sum(np.exp(x - top), axis)) + np.squeeze(top, axis)

    def astype(self, x: Any) -> Any:
        return x.astype(np.float32)


class Ours(Arrays):
    """Ours go by NumPy's names."""

    def __getattr__(self, name: str) -> Any:
        return getattr(ng, name)

    def logsumexp(self, x: Any, axis: int) -> Any:
        return ng.logsumexp(x, axis)


def vectors() -> dict[str, Function]:
    """Return functions of two vectors."""
    names = "exp log sin tanh sqrt square abs negative cumsum sum max min mean var prod sort flip"
    found: dict[str, Function] = {n: named(n) for n in names.split()}
    pairs = "add multiply divide maximum hypot arctan2"
    found |= {n: lambda lib, x, y, n=n: getattr(lib, n)(x, y) for n in pairs.split()}
    return found | {
        "x ** 2": lambda lib, x, y: x**2,
        "x ** 3": lambda lib, x, y: x**3,
        "x ** 0.5": lambda lib, x, y: x**0.5,
        "2 * x + 1": lambda lib, x, y: 2 * x + 1,
        "where": lambda lib, x, y: lib.where(x > y, x, y),
        "clip": lambda lib, x, y: lib.clip(x, 0.3, 0.6),
        "std": lambda lib, x, y: lib.std(x),
        "norm": lambda lib, x, y: lib.linalg.norm(x),
        "dot": lambda lib, x, y: x @ y,
        "logsumexp": lambda lib, x, y: lib.logsumexp(x, 0),
        "x[1:]": lambda lib, x, y: x[1:],
        "x[::2]": lambda lib, x, y: x[::2],
        "roll": lambda lib, x, y: lib.roll(x, 1),
        "concat": lambda lib, x, y: lib.concatenate([x, y]),
        "stack": lambda lib, x, y: lib.stack([x, y]),
        "stack, last": lambda lib, x, y: lib.stack([x, y], -1),
        "tile": lambda lib, x, y: lib.tile(x, (3,)),
        "repeat": lambda lib, x, y: lib.repeat(x, 3),
        "broadcast_to": lambda lib, x, y: lib.broadcast_to(x, (4, x.shape[0])),
        "astype float32": lambda lib, x, y: lib.astype(x),
        "x * s": lambda lib, x, y: x * y[0],
        "diff": lambda lib, x, y: lib.diff(x),
    }


def matrices() -> dict[str, Function]:
    """Return functions of two square matrices."""
    axes: dict[str, Function] = {
        f"{name}, axis {axis}": lambda lib, a, b, name=name, axis=axis: getattr(lib, name)(a, axis)
        for name in ("sum", "max", "mean", "cumsum", "logsumexp")
        for axis in (0, 1)
    }
    axes |= {
        f"{name} of a transpose, axis {axis}": lambda lib, a, b, name=name, axis=axis: getattr(
            lib, name
        )(a.T, axis)
        for name in ("sum", "max")
        for axis in (0, 1)
    }
    return axes | {
        "sum of a transpose": lambda lib, a, b: lib.sum(a.T),
        "sum of middle columns": lambda lib, a, b: lib.sum(a[:, 1:-1], 0),
        "a @ vector": lambda lib, a, b: a @ b[0],
        "a @ b": lambda lib, a, b: a @ b,
        "a + row": lambda lib, a, b: a + b[0],
        "a * column": lambda lib, a, b: a * b[:, :1],
        "outer": lambda lib, a, b: a[:, :1] * b[0],
        "a.T + b": lambda lib, a, b: a.T + b,
        "reshape": lambda lib, a, b: a.reshape((-1,)),
        "expand_dims": lambda lib, a, b: lib.expand_dims(a, 0),
        "diagonal": lambda lib, a, b: lib.diagonal(a),
        "trace": lambda lib, a, b: lib.trace(a),
        "triu": lambda lib, a, b: lib.triu(a),
        "norm of rows": lambda lib, a, b: lib.linalg.norm(a, axis=1),
        "rows of 3": lambda lib, a, b: lib.sum(a[: len(a) // 3 * 3].reshape((-1, 3)), 1)
        if len(a) > 2 else lib.sum(a, 1),
        "softmax": softmax,
        "eigh": lambda lib, a, b: lib.linalg.eigh(a),
        "svd": lambda lib, a, b: lib.linalg.svd(a),
        "qr": lambda lib, a, b: lib.linalg.qr(a),
        "slogdet": lambda lib, a, b: lib.linalg.slogdet(a),
        "unstack": lambda lib, a, b: lib.unstack(a),
        "array_split": lambda lib, a, b: lib.array_split(a, 4),
    }  # fmt: skip


def named(name: str) -> Function:
    return lambda lib, x, y: getattr(lib, name)(x)


def softmax(lib: Any, a: Any, b: Any) -> Any:
    if isinstance(lib, Torch):
        return torch.softmax(a, 1)
    shifted = lib.exp(a - lib.expand_dims(lib.max(a, 1), 1))
    return shifted / lib.expand_dims(lib.sum(shifted, 1), 1)


class Times(NamedTuple):
    """The least seconds of each system and way: None where it has no such function."""

    value: list[float | None]
    recorded: list[float | None]
    backward: list[float | None]


def ways(function: Function, arrays: list[np.ndarray]) -> Iterator[list[Callable[[], Any] | None]]:
    """Return the calls of ours, torch's and NumPy's: values, recorded, and the pass backward."""
    libraries = (Ours(), ng.tensor, ng.grad), (Torch(), torch.tensor, torch.autograd.grad)
    constants = [[make(a) for a in arrays] for _, make, _ in libraries]
    plain: list[Any] = [
        lambda lib=lib, given=given: function(lib, *given)
        for (lib, _, _), given in zip(libraries, constants, strict=True)
    ]
    yield [works(call) for call in (*plain, lambda: function(Arrays(), *arrays))]
    leaves = [[make(a, requires_grad=True) for a in arrays] for _, make, _ in libraries]
    yield [
        works(lambda lib=lib, given=given: function(lib, *given))
        for (lib, _, _), given in zip(libraries, leaves, strict=True)
    ]
    passes = []
    for (lib, make, grad), given in zip(libraries, leaves, strict=True):
        try:
            result = function(lib, *given)
            g = make(np.ones(tuple(result.shape), str(result.dtype).removeprefix("torch.")))
            found = grad(result, given, g, retain_graph=True, allow_unused=True)
            used = [x for x, d in zip(given, found, strict=True) if d is not None]
            passes.append(works(lambda result=result, given=used, g=g, grad=grad: grad(
                result, given, g, retain_graph=True)))  # fmt: skip
        except (AttributeError, TypeError, RuntimeError):
            passes.append(None)
    yield passes


def works(call: Callable[[], Any]) -> Callable[[], Any] | None:
    try:
        call()
    except (AttributeError, TypeError, RuntimeError, ValueError) as error:
        print(f"<!-- {error} -->"[:100])
        return None
    return call


def least(functions: list[Callable[[], Any] | None], rounds: int) -> list[float | None]:
    """Return the least seconds of each."""
    best: list[Any] = [None if f is None else np.inf for f in functions]
    for _ in range(rounds):
        for n, call in enumerate(functions):
            if call is None:
                continue
            for _ in range(3):
                call()
            end, number = time.perf_counter() + 0.002, 1
            while (began := time.perf_counter()) < end:
                for _ in range(number):
                    call()
                took = time.perf_counter() - began
                best[n] = min(best[n], took / number)
                number = min(20, max(1, int(0.0002 / best[n])))
    return best


def measured(function: Function, arrays: list[np.ndarray], rounds: int) -> Times:
    return Times(*(least(calls, rounds) for calls in ways(function, arrays)))


def ratio(times: list[float | None], n: int) -> str:
    ours, theirs = times[0], times[n] if n < len(times) else None
    return "-" if ours is None or theirs is None else f"{ours / theirs:.2f}"


def cell(times: Times, numpy: bool) -> str:
    """Return the ratios of one function and size."""
    return ratio(times.value, 2) if numpy else ", ".join(ratio(way, 1) for way in times)


def shape_of(ndim: int, size: int) -> tuple[int, ...]:
    return (size,) if ndim == 1 else (WIDTHS[size],) * 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100, 10**4, 10**6])
    parser.add_argument("--only", default="", help="parts of names, with commas between")
    parser.add_argument("--numpy", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    ng.set_flags(threads=options.threads)
    rng = np.random.default_rng(0)
    print(f"| function | {' | '.join(map(str, options.sizes))} |")
    print("|---" * (1 + len(options.sizes)) + "|")
    for ndim, table in ((1, vectors()), (2, matrices())):
        for name, function in table.items():
            if any(part in name for part in options.only.split(",")):
                cells = []
                for size in options.sizes:
                    arrays = [rng.uniform(0.1, 0.9, shape_of(ndim, size)) for _ in range(2)]
                    times = measured(function, arrays, options.rounds)
                    cells.append(cell(times, options.numpy))
                print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
