"""Random kernels with loops over ``prange``, and a watch over what the chunks of such loops touch.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba.extending import register_jitable

from .writing import KernelWriter


class ParallelKernelWriter(KernelWriter):
    """Writes kernels whose steps mostly have elements of their own, or add to sums.

    Attributes
    ----------
    sums : list of str
        The numbers to which the steps of a loop only add.
    """

    sums: list[str]

    def _kernel(self) -> str:
        self.line(0, "def kernel(x, y, A, s, n, picks):")
        for text in ("p = 0.3", "q = s", "z = x * s", "u = x.copy()", "v = y * 0.5"):
            self.line(1, text)
        for _ in range(self.random.randint(1, 3)):
            if self.chance(0.3):
                self.line(1, f"for t in range({self.pick(2, 3)}):")
                self._parallel(2)
                self.line(2, self.pick("u, v = v, u", "p = math.sin(p + s)", "u[0] = 0.5 * v[1]"))
            else:
                self._parallel(1)
        self.line(1, "return s + p * q + np.sum(x * y * z) + np.sum(u * u) + np.sum(v) + A[1, 2]")
        return "\n".join(self.lines) + "\n"

    def _parallel(self, depth: int) -> None:
        self.loops += 1
        i = f"i{self.loops}"
        header, low, high = self.pick(
            ("n", 0, 0), ("n", 0, 0), ("1, n - 1", 1, 1), ("1, n", 1, 0), ("n - 1", 0, 1)
        )
        self.line(depth, f"for {i} in prange({header}):")
        kept, self.arrays = self.arrays, self.random.sample(["x", "y", "z", "u", "v"], 3)
        self.bounds.append((i, low, high))
        self.sums = self.pick(["s"], ["p"], ["s", "p"])
        scalars, self.scalars = self.scalars, [k for k in ("s", "p", "q") if k not in self.sums]
        self.line(depth + 1, f"w = {self.expression(1)}")
        self.scalars.append("w")
        for _ in range(self.random.randint(1, 5)):
            self._step(depth + 1, i)
        self.scalars, self.arrays = scalars, kept
        self.bounds.pop()

    def _step(self, depth: int, i: str) -> None:
        kinds: list[tuple[int, Callable[[int, str], None]]] = [
            (3, self._number), (4, self._sum), (5, self._own), (3, self._inner), (2, self._turns),
            (2, self._branch), (2, self._local), (1, self._row), (1, self._skip),
        ]  # fmt: skip
        weights, steps = zip(*kinds, strict=True)
        self.random.choices(steps, weights)[0](depth, i)

    def _number(self, depth: int, i: str) -> None:
        self.line(depth, f"w {self.pick('', '+', '*')}= {self.bounded()}")

    def _sum(self, depth: int, i: str) -> None:
        name = self.random.choice(self.sums)
        self.line(depth, f"{name} {self.pick('+', '+', '-')}= {self.bounded()}")

    def _own(self, depth: int, i: str) -> None:
        array = self.pick("z", "u", "v", "x", "y")
        place = self.pick(f"{array}[{i}]", f"{array}[{i}]", f"A[{i}, {self.index()}]", f"A[1, {i}]")
        self.line(depth, f"{place} {self.pick('', '', '+', '-')}= {self.bounded()}")

    def _inner(self, depth: int, i: str) -> None:
        self.loops += 1
        j = f"j{self.loops}"
        ends = self.pick(("n", 0, 0), (i, 0, 1), (f"{i} + 1, n", 1, 0), ("3", 0, 2))
        self.line(depth, f"for {j} in range({ends[0]}):")
        self.bounds.append((j, *ends[1:]))
        self.line(depth + 1, f"w {self.pick('', '+')}= {self.bounded()}")
        if self.chance(0.5):
            self._sum(depth + 1, i)
        if self.chance(0.3):
            self.line(depth + 1, f"A[{i}, {j}] {self.pick('', '+')}= {self.bounded()}")
        self.bounds.pop()

    def _turns(self, depth: int, i: str) -> None:
        self.loops += 1
        c = f"c{self.loops}"
        self.line(depth, f"{c} = 0")
        self.line(depth, f"while {c} < {self.pick('2', f'1 + {i} % 3', f'{i}')} and w < 0.9:")
        self.line(depth + 1, f"{c} += 1")
        self.line(depth + 1, f"w = {self.bounded()}")
        if self.chance(0.4):
            self._sum(depth + 1, i)

    def _branch(self, depth: int, i: str) -> None:
        self.line(depth, f"if {self.condition()}:")
        self._sum(depth + 1, i) if self.chance(0.5) else self._number(depth + 1, i)
        if self.chance(0.5):
            self.line(depth, "else:")
            self._own(depth + 1, i) if self.chance(0.5) else self._number(depth + 1, i)

    def _local(self, depth: int, i: str) -> None:
        self.new += 1
        name = f"m{self.new}"
        self.line(depth, f"{name} = np.zeros({self.pick('3', 'n')})")
        self.line(depth, f"{name}[{self.pick('1', f'{i} % 3')}] = {self.bounded()}")
        self.line(depth, f"{name}[0] += {name}[1] * {self.atom()}")
        self.line(depth, f"w += 0.5 * {name}[{self.pick('0', '1', '2')}] + {name}[0]")

    def _row(self, depth: int, i: str) -> None:
        self.new += 1
        name = f"row{self.new}"
        place = self.pick(f"A[{i}]", f"A[:, {i}]", "A[2]", f"{self.pick('u', 'x')}[{i}:]", "x[1:]")
        self.line(depth, f"{name} = {place}")
        self.line(depth, f"w += math.sin({self.pick(f'np.sum({name})', f'{name}[0]')})")

    def _skip(self, depth: int, i: str) -> None:
        self.line(depth, f"if {self.condition()}:")
        self.line(depth + 1, "continue")


@register_jitable
def one_step_each(steps: int, apart: int, work: int, size: int = 0, room: int = 0) -> int:
    """Return as many chunks as there may be, however short they are; half as many where each has
    arrays of its own."""
    return max(steps // apart // (1 + (size > 0)), 1)


# The watch ----------------------------------------------------------------------------------------


class Watch:
    """Notes which chunk reads and writes which element.

    Attributes
    ----------
    chunk : int
        The chunk that runs.
    """

    def __init__(self) -> None:
        self.chunk = 0
        self._readers: dict[int, set[int]] = {}
        self._writers: dict[int, set[int]] = {}

    def note(self, part: np.ndarray, is_written: bool) -> None:
        """Note that the chunk that runs reads or writes elements."""
        found = self._writers if is_written else self._readers
        start = part.__array_interface__["data"][0]
        for index in np.ndindex(*part.shape):
            place = start + sum(n * step for n, step in zip(index, part.strides, strict=True))
            found.setdefault(place, set()).add(self.chunk)

    def close(self) -> None:
        """Raise an error if two chunks touched an element that one of them wrote; begin anew."""
        readers, written = self._readers, self._writers
        self.__init__()
        for place, writers in written.items():
            assert len(writers | readers.get(place, set())) == 1, "chunks race"


_watch = Watch()


class Watched(np.ndarray):
    """An array from outside of a chunk: its elements are noted when they are read or written."""

    def __getitem__(self, index: Any) -> Any:
        plain = self.view(np.ndarray)
        found = plain[index]
        if isinstance(found, np.ndarray):
            return found.view(Watched)
        _watch.note(plain[_as_slices(index)], False)
        return found

    def __setitem__(self, index: Any, value: Any) -> None:
        plain = self.view(np.ndarray)
        _watch.note(plain[_as_slices(index)], True)
        plain[index] = value

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:  # noqa: E501
        given = [part.view(np.ndarray) if isinstance(part, Watched) else part for part in inputs]
        for part, array in zip(inputs, given, strict=True):
            if isinstance(part, Watched):
                _watch.note(array, False)
        for part in out:
            if isinstance(part, Watched):
                _watch.note(part.view(np.ndarray), True)
        made = tuple(part.view(np.ndarray) for part in out)
        result = getattr(ufunc, method)(*given, **({"out": made} if made else {}), **options)
        return out[0] if made else result

    def copy(self, order: Any = "C") -> np.ndarray:
        """Return a copy, which is not watched."""
        plain = self.view(np.ndarray)
        _watch.note(plain, False)
        return plain.copy(order)


def _as_slices(index: Any) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    is_place = lambda n: isinstance(n, (int, np.integer))  # noqa: E731
    return tuple([slice(n, n + 1 or None) if is_place(n) else n for n in parts])


@contextmanager
def watched(space: dict[str, Any]) -> Iterator[None]:
    """Watch the chunks of a derived function that runs in the block.

    Parameters
    ----------
    space : dict
        The globals of the function.
    """
    _watch.__init__()
    pattern = r".*_adjoint_chunks?_\d+"
    kept = {name: value for name, value in space.items() if re.fullmatch(pattern, name)}
    for name, function in kept.items():
        is_chunk = re.search(r"_adjoint_chunk_\d+$", name)
        space[name] = _noting(function) if is_chunk else _closing(function)
    try:
        yield
    finally:
        space.update(kept)


def _noting(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(place: int, *args: Any) -> Any:
        _watch.chunk = place
        return function(place, *[a.view(Watched) if isinstance(a, np.ndarray) else a for a in args])

    return run


def _closing(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any) -> Any:
        result = function(*args)
        _watch.close()
        return result

    return run
