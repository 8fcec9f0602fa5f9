"""Draw the text of random programs, statement by statement.

NumPy runs each statement as soon as it is drawn, which shows whether it is valid.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import lent, nesting, writing
from .differences import Differences, TooLongError
from .programs import Program, ast_names, operand, quiet, reference_names
from .texts import LAYOUTS, array_text, indented, word_lines
from .vocabulary import ELEMENTWISE, OTHERS, REARRANGING
from .words import Pick

LARGEST = 24  # the most elements of a value
MOST = 30.0  # the largest absolute value, so that powers stay far from overflow
MOST_CALLS = 80  # the most calls of functions for the derivatives of one statement
LEAST_PRECISE = ("half", "floor", "turn")  # the first rounds too much to be judged
SIZES = (2, 3, 1, 2, 3, 4)
WORDS = {
    name: word
    for name, word in {**ELEMENTWISE, **ELEMENTWISE, **REARRANGING, **OTHERS}.items()
    if name not in LEAST_PRECISE
}
SMOOTH = {name: word for name, word in WORDS.items() if word.smooth}


@dataclass
class Scope:
    """A function while it is drawn, with the values that NumPy has computed for its names.

    Attributes
    ----------
    draw : Drawing
    values : dict
        The values of all names that the function sees.
    depth : int
        How many functions are around this one.
    traced : set
        The names of values that are tensors whenever numgrad runs the program. Others may be
        arrays of NumPy.
    own : list
        The names of arrays that the function has made itself, and may write to.
    lent : list
        The names of NumPy's arrays that the function has made, and writes to after a use.
    made : list
        The names that the function has assigned, in order.
    lines : list
        The statements so far.
    """

    draw: Drawing
    values: dict[str, Any]
    depth: int
    traced: set[str] = field(default_factory=set)
    own: list[str] = field(default_factory=list)
    lent: list[str] = field(default_factory=list)
    made: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def inner(self, arguments: dict[str, Any], traced: set[str]) -> Scope:
        """Return the scope of an inner function, which sees all names of this one."""
        traced = self.traced | traced
        return Scope(self.draw, {**self.values, **arguments}, self.depth + 1, traced)

    def numbers(self) -> list[str]:
        """Return the names of floating values to draw from.

        Later names are repeated, so that they are drawn more often.
        """
        names = [name for name, value in self.values.items() if is_floating(value)]
        late = [name for name in self.made if name in names]
        return names + 2 * late[-4:] + list(names[-2:])

    def unread(self) -> list[str]:
        """Return the names of values that no statement reads, and the last two names."""
        text = "\n".join(self.lines)
        counts = Counter(re.findall(r"\w+", text))
        kept = [name for name in dict.fromkeys(self.made) if name in self.values]
        return [name for name in kept if counts[name] < 2 or name in kept[-2:]]

    def add(self, lines: list[str], *results: str, traced: bool | None = None) -> bool:
        """Add statements if NumPy can run them and their results are moderate.

        The method returns whether the statements were added. ``results`` are the names that they
        assign. These count as tensors if ``traced``, by default if the statements read a tensor.
        """
        names = {**self.draw.names, **self.values}
        before = {name: np.array(self.values[name]) for name in (*self.own, *self.lent)}
        self.draw.differences.calls = 0
        found: dict[str, Any] = {}
        with quiet():
            try:
                exec("\n".join(lines), names)
                found = {name: names[name] for name in results}
                fits = all(map(self.draw.fits, found.values()))
                fits &= self.draw.differences.calls < MOST_CALLS
            except Exception:  # NumPy refuses the statements
                fits = False
        if not fits:
            for name, array in before.items():
                self.values[name][...] = array
            return False
        self.values.update(found)
        self.made += results
        if traced is None:
            traced = not self.traced.isdisjoint(ast_names("\n".join(lines)))
        if traced:
            self.traced.update(results)
        self.lines += lines
        return True


class Drawing:
    """The random generator, and all other state, while one program is drawn.

    Parameters
    ----------
    seed : int
    fuse : bool
        Whether captured functions are fused before they run.
    """

    def __init__(self, seed: int, fuse: bool = False) -> None:
        self.seed, self.fuse = seed, fuse
        self.rng = random.Random(f"{seed} {fuse}")
        self.pick: Pick = self.rng.randrange
        self.differences = Differences(points=1)
        self.names = reference_names(self.differences)
        self.count = 0
        self.one_precision = True
        self.smooth = self.rng.random() < 0.8
        self.captures = fuse or self.rng.random() < 0.6

    def fresh(self, letter: str = "v") -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def fits(self, value: Any) -> bool:
        """Whether a value has few elements, none of them large; integers and functions always fit.
        """
        if callable(value):
            return True
        if isinstance(value, (tuple, list)):
            return all(map(self.fits, value))
        array = np.asarray(value)
        if array.dtype.kind not in "fc":
            return array.dtype.kind in "iub"
        return array.size <= LARGEST and bool(np.all(np.abs(array) < MOST))

    def program(self) -> Program:
        operands = self.draw_operands()
        values = {name: operand(text) for name, text in operands.items()}
        given = [name for name in operands if name.startswith("a")]
        arguments = {name.replace("a", "x"): values[name] for name in given}
        seen = {name: value for name, value in values.items() if name not in given}
        leaves = [name for name in operands if name.startswith("w")]
        main = Scope(self, {**seen, **arguments}, 0, {*arguments, *leaves})
        self.draw_block(main, 2 + self.pick(6))
        result = nesting.scalar_of(main, main.unread())
        lines = [f"def main({', '.join(arguments)}):", *indented([*main.lines, f"return {result}"])]
        cost = self._cost("\n".join(lines), given, values)
        observed = nesting.draw_observation(self, values, given, leaves, cost)
        text = "\n".join(lines) + "\n"
        return Program(self.seed, operands, text, observed, self.captures).without_unread()

    def _cost(self, main: str, given: list[str], values: dict[str, Any]) -> int:
        """Return the number of calls of functions that the reference makes in one call of main."""
        counted = Differences()
        names = {**reference_names(counted), **values}
        with quiet():
            try:
                exec(f"{main}\nmain({', '.join(given)})", names)
            except TooLongError:
                return counted.calls
        return 1 + counted.calls

    # Operands -------------------------------------------------------------------------------------

    def draw_operands(self) -> dict[str, str]:
        """Draw the source texts of operands by name, whose shapes broadcast with one another.

        Names of arguments begin with ``a``, of constants with ``c``, of leaves with ``w``.
        """
        pick = self.pick
        rank = (1, 1, 2, 0, 2)[pick(5)]
        base = tuple([SIZES[pick(len(SIZES))] for _ in range(rank)])
        while math.prod(base) > 4:
            base = base[1:]
        if pick(25) == 24:
            base = (0, *base[1:])
        kinds = [("float64",), ("float64",), ("float64", "float32"), ("float32",)]
        kinds += [("float64", "complex128"), ("float64",)]
        dtypes = kinds[pick(len(kinds))]
        self.one_precision = "float32" not in dtypes
        operands = {}
        for letter, count in (("a", 1 + pick(3)), ("c", pick(3)), ("w", pick(3))):
            for n in range(count):
                text = self._draw_numbers(base, dtypes[pick(len(dtypes))], letter == "c")
                if letter == "c" and text.startswith("np.array(") and pick(3) == 2:
                    text = f"{lent.KINDS[pick(2) * 2]}({text})"
                if letter == "w":
                    text = f"ng.tensor({text}, requires_grad=True)"
                operands[f"{letter}{n}"] = text
        return operands

    def _draw_numbers(self, base: tuple[int, ...], dtype: str, constant: bool) -> str:
        pick = self.pick
        shape = base[pick(len(base) + 1) if pick(3) == 2 else 0 :]
        shape = tuple([1 if pick(6) == 5 else n for n in shape])
        if constant and base and pick(4) == 3:
            length = base[0]
            if pick(2):
                return f"np.array({[bool(pick(2)) for _ in range(length)]}, np.bool_)"
            if length:
                return f"np.array({[pick(length) for _ in range(1 + pick(3))]})"
        if not shape and pick(2) and dtype != "complex128":
            number = round(self.rng.uniform(-1.5, 1.5), 3)
            return repr(number) if pick(2) else f"np.{dtype}({number})"
        numbers = np.array([self._number(dtype) for _ in range(math.prod(shape))]).reshape(shape)
        if constant and numbers.ndim == 1 and dtype == "float64" and pick(4) == 3:
            return repr(numbers.tolist())
        return array_text(numbers, dtype, pick(len(LAYOUTS)))

    def _number(self, dtype: str) -> Any:
        def one() -> float:
            return round(self.rng.uniform(-1.5, 1.5), 3)

        return complex(one(), one()) if dtype == "complex128" else one()

    # Statements -----------------------------------------------------------------------------------

    def draw_block(self, scope: Scope, count: int) -> None:
        """Draw ``count`` statements of a function, or fewer if too many tries fail."""
        tries = 0
        while count > 0 and tries < 40:
            tries += 1
            count -= self._draw_kind(scope)(scope)

    def _draw_kind(self, scope: Scope) -> Callable[[Scope], bool]:
        number = self.pick(100)
        if number < 22 and scope.depth < 2:
            return nesting.draw_transform
        if number < 28 and scope.depth < 2 and self.captures:
            return nesting.draw_captured
        if number < 34 and scope.depth < 2 and self.captures:
            return nesting.draw_mapped
        if number < (46 if self.captures else 40):
            return writing.draw_writes
        if number < 46 and not self.captures:
            return lent.draw_lent
        if number < 50 and self.one_precision:  # the branches must have one dtype
            return nesting.draw_branches
        if number < 58:
            return writing.draw_other
        return self.draw_word

    def draw_word(self, scope: Scope) -> bool:
        words = SMOOTH if self.smooth else WORDS
        word = words[list(words)[self.pick(len(words))]]
        names = scope.numbers()
        if not names:
            return False
        operands = [names[self.pick(len(names))] for _ in range(word.operands)]
        if "target" in word.text and operands[0] not in scope.traced:
            return False  # NumPy's arrays take no tensors
        arrays = [np.asarray(scope.values[name]) for name in operands]
        parameters = word.draw(self.pick, *arrays)
        if parameters is None:
            return False
        *lines, result = word_lines(word, operands, parameters, self.fresh)
        return bool(lines) and scope.add(lines, result)


def is_floating(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.inexact, float)) and (
        np.asarray(value).dtype.kind in "fc"
    )


def draw_program(seed: int, fuse: bool = False) -> Program:
    """Return the random program of a seed."""
    return Drawing(seed, fuse).program()
