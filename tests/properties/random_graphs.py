"""Random graphs: a list of steps over random inputs, drawn from a source of numbers.

The source is hypothesis, which shrinks what fails, or a seed, which names a graph for good.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

import numgrad as ng
from numgrad.testing.fuzzing.vocabulary import (
    ELEMENTWISE,
    MOST_ELEMENTS,
    OTHERS,
    REARRANGING,
    VOCABULARY,
    Pick,
)

SMALL = (2, 3, 1, 5, 7, 0, 2, 3, 4, 6)
RANKS = (1, 2, 0, 3, 2, 1, 2, 4)
WIDE = (4, 9, 17, 33, 70)
LONG = (300, 1100, 2500)
TALL = (150, 400, 1030, 4200)
CHAPTERS = (ELEMENTWISE, ELEMENTWISE, REARRANGING, REARRANGING, OTHERS)


@dataclass
class Step:
    """A word of the vocabulary, the values that it takes, and its parameters."""

    name: str
    operands: tuple[int, ...]
    parameters: dict[str, Any]

    def apply(self, xp: Any, values: list[Any]) -> Any:
        """Return what the step computes from the values so far."""
        word = VOCABULARY[self.name]
        return word.apply(xp, *[values[n] for n in self.operands], **self.parameters)


@dataclass
class Graph:
    """A function of some arrays with one result, and where it is looked at.

    Attributes
    ----------
    inputs, others : list of ndarray
        Two points with the same structure.
    numbers : int
        The seed of everything else that is random.
    """

    inputs: list[np.ndarray]
    others: list[np.ndarray]
    numbers: int
    steps: list[Step] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    dtype: Any = float

    def __call__(self, *values: Any, xp: Any = ng) -> Any:
        """Return the last value, with a trace of all others that fit in."""
        known = self.values(values, xp)
        result = known[-1]
        for value in known[len(values) : -1]:
            if value.shape == result.shape and value.dtype == result.dtype:
                result = result + value
        return result

    def values(self, inputs: Sequence[Any], xp: Any = ng) -> list[Any]:
        """Return the inputs and the value of each step."""
        known = list(inputs)
        for step in self.steps:
            known.append(step.apply(xp, known))
        return known

    def has(self, mark: str) -> bool:
        """Whether all steps are smooth, or exact."""
        return all(getattr(VOCABULARY[step.name], mark) for step in self.steps)

    def __repr__(self) -> str:
        lines = [f"graph {self.numbers}"]
        for n, a in enumerate(self.inputs):
            lines.append(f"  v{n} = input {a.dtype}{list(a.shape)} strides {a.strides}")
        for n, step in enumerate(self.steps, len(self.inputs)):
            named = "".join(f", {k}={v!r}" for k, v in step.parameters.items())
            operands = ", ".join(f"v{k}" for k in step.operands)
            lines.append(f"  v{n} = {step.name}({operands}{named})")
        return "\n".join(lines)


def draw_graph(pick: Pick, most: int = 8) -> Graph:
    """Draw a graph of at most ``most`` steps."""
    numbers = pick(1 << 16)
    rng = np.random.default_rng(numbers)
    specs = _draw_specs(pick)
    graph = Graph([_array(rng, *s) for s in specs], [_array(rng, *s) for s in specs], numbers)
    with np.errstate(all="ignore"):
        values = [np.array(a) for a in graph.inputs]
        for _ in range(1 + pick(most)):
            step = _draw_step(pick, values) or _draw_step(pick, values)
            if step is not None:
                values.append(np.asarray(step.apply(np, values)))
                graph.steps.append(step)
        result = graph(*graph.inputs, xp=np)
    graph.shape, graph.dtype = result.shape, result.dtype
    return graph


def _draw_specs(pick: Pick) -> list[tuple[tuple[int, ...], str, int]]:
    """Draw shapes, dtypes and layouts of inputs that broadcast with one another."""
    scale = pick(10)
    sizes = SMALL if scale < 5 else WIDE if scale < 7 else LONG
    rank = 1 if scale >= 7 else RANKS[pick(len(RANKS))]
    base = tuple([sizes[pick(len(sizes))] for _ in range(rank)])
    if scale > 7:  # many rows, of which blocks are made
        base = (TALL[pick(len(TALL))], *[SMALL[pick(len(SMALL))] for _ in range(pick(3))])
    while math.prod(base) > MOST_ELEMENTS:
        base = base[1:]
    dtypes = [("f8",), ("f8",), ("f8", "f4"), ("f4",), ("f8", "c16")][pick(20) // 4]
    specs = []
    for _ in range(1 + pick(3)):
        shape = base[pick(len(base) + 1) if pick(3) == 2 else 0 :]
        shape = tuple([1 if pick(6) == 5 else n for n in shape])
        specs.append((shape, dtypes[pick(len(dtypes))], pick(8)))
    return specs


def _array(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: str, layout: int
) -> np.ndarray:
    """Return random numbers; in one layout of four they lie backwards, apart or transposed."""
    numbers = rng.uniform(-1.5, 1.5, shape)
    array = np.asarray(numbers + 1j * rng.uniform(-1, 1, shape) if dtype == "c16" else numbers)
    array = array.astype(dtype)
    if not shape or layout < 5:
        return array
    if layout == 5:
        return array[::-1].copy()[::-1]
    if layout == 6:
        return np.asfortranarray(array)
    return np.repeat(array, 2, -1)[..., ::2]


def _draw_step(pick: Pick, values: list[np.ndarray]) -> Step | None:
    """Draw a step that fits, if the word drawn does; late values are drawn more often."""
    chapter = CHAPTERS[pick(len(CHAPTERS))]
    name = list(chapter)[pick(len(chapter))]
    word = chapter[name]
    operands = tuple(
        len(values) - 1 - (pick(len(values)) if pick(2) else 0) for _ in range(word.operands)
    )
    arrays = [values[n] for n in operands]
    parameters = word.draw(pick, *arrays)
    if parameters is None:
        return None
    step = Step(name, operands, parameters)
    return step if np.size(step.apply(np, values)) <= 1 << 15 else None


@st.composite
def graphs(draw: Any, most: int = 8) -> Graph:
    """Return a strategy for graphs."""
    return draw_graph(draw(st.randoms(use_true_random=False)).randrange, most)


def pick_from(seed: int) -> Pick:
    """Return a source of numbers that a seed decides."""
    return random.Random(seed).randrange
