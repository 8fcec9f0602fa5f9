"""Derived adjoints for many rows of arrays, as one compiled loop over the rows."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from .._adjoint.kernel import Tapes
from .pullback import Pullback
from .rows import array_types, compiled, copied, element


class RowsOfPullback:
    """A pullback for all rows but the first, as a function of its inputs and its outputs.

    The source of the function is written here, line by line, and compiled. An adjoint whose tapes
    are too short does nothing else, and says which lengths are needed. The function then returns
    the row and these lengths, and is called again from that row on.

    Parameters
    ----------
    of : Pullback
    shared : tuple of bool
        For each input, whether it is the same for all rows.
    """

    def __init__(self, of: Pullback, shared: tuple[bool, ...]) -> None:
        self._of, self._shared = of, shared
        self._lines: list[str] = []
        self._space: dict[str, Any] = {"np": np}
        self._levels: list[Pullback] = []
        given = [f"x{n}" for n in range(len(of.cores))]
        results = [f"y{n}" for n in range(of.nout)]
        cores = [element(name, same) for name, same in zip(given, shared, strict=True)]
        parameters, starts, seeds = of.split(cores)
        self._complete(of, parameters)
        self._sweep(of, parameters, starts, seeds, results)
        header = ["first", *given, *results]
        tapes = [f"{name}{n}" for n in range(len(self._levels)) for name in ("tape_f", "tape_i")]
        count = f"{results[0]}.shape[0]"
        body = [f"for r in range(first, {count}):", *[f"    {line}" for line in self._lines],
                f"return {count}, 0, 0, 0"]  # fmt: skip
        types = self._types(of, shared)
        self._compiled = compiled([*header, *tapes], body, self._space, types)

    def __call__(self, *operands: np.ndarray) -> None:
        first, count = 1, len(operands[-1])
        pairs = zip(operands, self._shared, strict=False)
        if not self._of.suits([x if same else x[0] for x, same in pairs]):
            self._with_snapshots(first, operands)
            return
        with ExitStack() as stack:
            tapes = [stack.enter_context(Tapes(level.derived)) for level in self._levels]
            while first < count:
                memory = [array for pair in tapes for array in pair.arrays]
                first, level, floats, integers = self._compiled(first, *operands, *memory)
                is_last = self._levels[level] is self._of
                if not tapes[level].suffice(floats, integers) and is_last and tapes[level].exceed(
                    self._of.memory()
                ):
                    break
        self._with_snapshots(first, operands)

    def _with_snapshots(self, first: int, operands: Sequence[np.ndarray]) -> None:
        """Compute the rows from ``first`` on one by one, as their tapes would take too much memory.

        An adjoint with snapshots needs shorter tapes.
        """
        given, results = operands[: len(self._shared)], operands[len(self._shared) :]
        for row in range(first, len(results[0])):
            pairs = zip(given, self._shared, strict=True)
            found = self._of.single(*[a if same else a[row] for a, same in pairs])
            for whole, result in zip(results, found, strict=True):
                whole[row] = result

    # Source

    def _complete(self, of: Pullback, parameters: list[str]) -> None:
        """Write the lines that make zeros and tapes for the parameters that are no inputs."""
        inner = of.inner
        if inner is None:
            return
        count = len(inner.origins)
        own = parameters[:count]
        self._complete(inner, own)
        parameters[:count] = own
        depth = len(self._levels)
        for n, origin in enumerate(of.origins):
            if origin.of == "zeros":
                parameters[n] = self._zeros(f"z{depth}_{n}", parameters[origin.place])
        shadows = [self._zeros(f"v{depth}_{n}", own[n]) for n in inner.derived.shadows]
        self._call(inner, [*own, *shadows, *parameters[count + len(shadows) : -2]])
        names = [f"f{depth}", f"i{depth}"]
        for name, tape, dtype in zip(names, ("f", "i"), ("float64", "int64"), strict=True):
            self._lines.append(f"{name} = np.zeros(tape_{tape}{depth}.size, np.{dtype})")
        parameters[-2:] = names

    def _sweep(
        self, of: Pullback, parameters: list[str], starts: dict[int, str], seeds: list[str],
        results: list[str],
    ) -> None:  # fmt: skip
        """Write the lines that make the shadows, call the adjoint, and store the cotangents of
        numbers."""
        shadows = []
        for n in of.derived.shadows:
            if n in of.arrays:
                name = results[of.arrays.index(n)]
                self._lines += self._started(of, name, n, starts)
                shadows.append(f"{name}[r]")
            elif n in starts:
                self._lines.append(f"w{n} = {starts[n]}.copy()")
                shadows.append(f"w{n}")
            else:
                shadows.append(self._zeros(f"w{n}", parameters[n]))
        self._call(of, [*parameters, *shadows, *seeds])
        for k, name in enumerate(results[len(of.arrays) :]):
            self._lines.append(f"{name}[r] = found[{2 + k}]")

    def _started(self, of: Pullback, name: str, n: int, starts: dict[int, str]) -> list[str]:
        axes = of.out_cores[of.arrays.index(n)].ndim
        return copied(name, starts[n], axes) if n in starts else [f"{name}[r, :] = 0.0"]

    def _zeros(self, name: str, like: str) -> str:
        self._lines.append(f"{name} = np.zeros_like({like})")
        return name

    def _call(self, of: Pullback, arguments: list[str]) -> None:
        level = len(self._levels)
        self._levels.append(of)
        self._space[f"kernel{level}"] = of.derived.compiled
        tapes = [f"tape_f{level}", f"tape_i{level}"]
        self._lines += [
            f"found = kernel{level}({', '.join([*arguments, *tapes])})",
            f"if found[0] > {tapes[0]}.size or found[1] > {tapes[1]}.size:",
            f"    return r, {level}, found[0], found[1]",
        ]

    def _types(self, of: Pullback, shared: tuple[bool, ...]) -> list[Any]:
        from numba.core import types

        tapes = [types.Array(kind, 1, "C") for kind in (types.float64, types.int64)]
        outputs = array_types(of.out_cores, [False] * of.nout)
        inputs = array_types(of.cores, shared)
        return [types.int64, *inputs, *outputs, *tapes * len(self._levels)]
