"""Expansion: a program on few numbers becomes scalar functions of its single elements.

An instruction of a program reads and writes elements of buffers. Where all extents are small, each
element can be a value of its own. Views and copies are then nothing but other names of values, and
the program is a list of scalar functions, which a target can put into a compiled loop: such as the
step of a solver, or the body of a loop of the user.
"""

from collections.abc import Iterator, Sequence
from ctypes import string_at
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...ir.kernel_spec import ProductSpec
from ...ir.pairwise import LEAF
from ...ir.program import Pattern, Program
from ..graph.runtime import runtime
from ..graph.value import CPU
from .added_zeros import AddedZeros, zero_plus

MOST_STEPS = 2000  # scalar functions, each of which takes 3e-4 seconds to compile
MOST_OF_FEW = 16000  # the same, if no instruction works on more than FEW elements
FEW = 64
_DTYPES = frozenset(map(np.dtype, ("float64", "float32", "int64", "bool")))
MOST_TERMS = 128  # products that are summed, in one chain, for an element of a matrix product
_JOINED = {"sum": "add", "max": "maximum", "min": "minimum"}


class Element(NamedTuple):
    """An element of an operand: the operand's number, the element's offset in bytes, the dtype."""

    operand: int
    offset: int
    dtype: np.dtype


class Expansion(NamedTuple):
    """A program as scalar functions.

    Values are numbered: the inputs come first, then the result of each step.

    Attributes
    ----------
    steps : tuple of (ElementwiseSpec or ProductSpec, tuple of int)
        A function and the numbers of the values that it takes. A product of matrices takes two
        factors and, if there is one, a sum to which their product is added.
    inputs : tuple of Element
        Elements of arguments and of constants. All constants are in one operand, whose number
        follows those of the arguments.
    outputs : tuple of (Element, int)
        Elements of results, each with the number of the value there.
    constants : bytes
        The memory of the operand that has the constants.
    """

    steps: tuple[tuple[Any, tuple[int, ...]], ...]
    inputs: tuple[Element, ...]
    outputs: tuple[tuple[Element, int], ...]
    constants: bytes


class UnknownError(Exception):
    """Raised for a program that cannot be written as scalar functions."""


def expanded(program: Program, count: int, order: Sequence[int]) -> Expansion | None:
    """Return a program of ``count`` arguments as scalar functions of its single elements.

    ``order`` has the positions of the results to be returned, in order and perhaps repeatedly. None
    if the program is too long, or has an instruction that cannot be scalar functions.
    """
    work = [i.pattern.work for i in program.instructions if i.pattern.name != "copy"]
    most = MOST_OF_FEW if max(work, default=0) <= FEW else MOST_STEPS
    if program.batch is not None or sum(work) > most:
        return None
    if sum([prod(ref.layout.shape) for ref in program.results]) > MOST_STEPS:
        return None
    try:
        return ProgramExpander(program, count).made([program.results[n] for n in order])
    except UnknownError:
        return None


def is_expandable(pattern: Pattern) -> bool:
    """Whether instructions of a pattern can be written as scalar functions, whatever their size."""
    name = pattern.name
    is_known = pattern.fusible or name in _JOINED or isinstance(pattern.spec, ProductSpec)
    return is_known and all([layout.dtype in _DTYPES for layout in pattern.layouts])  # noqa: C419


class Expander:
    """Writes instructions, one after the other, as scalar functions of single elements.

    A value is a pair: ``"input"`` or ``"step"`` and its position among the inputs or the steps.

    Attributes
    ----------
    values : dict
        The value and the dtype of each element that was written, by buffer and offset.
    inputs : dict
        The value of each input, in order, by a key that says what the input is.
    steps : list
        The scalar functions, each with the values that it takes.
    """

    def __init__(self) -> None:
        self.values: dict[tuple[int, int], tuple[Any, np.dtype]] = {}
        self.inputs: dict[Any, tuple[str, int]] = {}
        self.steps: list[tuple[Any, tuple[Any, ...]]] = []

    def outside(self, buffer: int, offset: int, dtype: np.dtype) -> Any:
        """Return the value of an element that no instruction has written, or raise an error."""
        raise NotImplementedError

    def read(self, buffer: int, offset: int, dtype: np.dtype) -> Any:
        """Return the value that was last written into an element; for an element without one an
        input that stands for the element."""
        found = self.values.get((buffer, offset))
        if found is not None:
            if found[1] != dtype:
                raise UnknownError
            return found[0]
        if dtype not in _DTYPES:
            raise UnknownError
        return self.outside(buffer, offset, dtype)

    def input(self, key: Any) -> Any:
        """Return the value that stands for the input with a key, a new one for a new key."""
        return self.inputs.setdefault(key, ("input", len(self.inputs)))

    def _step(self, spec: Any, args: Sequence[Any]) -> Any:
        self.steps.append((spec, tuple(args)))
        return "step", len(self.steps) - 1

    def apply(self, instruction: Any) -> None:
        """Add the scalar functions of an instruction, and the values that it writes."""
        pattern = instruction.pattern
        dtypes = [layout.dtype for layout in pattern.layouts]
        if any(dtype not in _DTYPES for dtype in dtypes):
            raise UnknownError
        of_elements = self.places(instruction)
        name, is_join = pattern.name, pattern.nin == 1 and len(pattern.core) in (1, 2)
        if pattern.fusible:
            self._elementwise(pattern, of_elements, dtypes)
        elif name in _JOINED and is_join and dtypes[0] == dtypes[1]:
            self._joined(pattern, of_elements, dtypes[0])
        elif isinstance(pattern.spec, ProductSpec):
            self._multiplied(pattern, of_elements, dtypes[0])
        else:
            raise UnknownError

    def places(self, instruction: Any) -> list[list[tuple[int, int]]]:
        """Return for each operand the elements over which an instruction loops."""
        pattern = instruction.pattern
        triples = zip(instruction.buffers, instruction.offsets, pattern.strides, strict=True)
        return [
            [(buffer, offset + step) for step in offsets(pattern.loop, strides)]
            for buffer, offset, strides in triples
        ]

    def _elementwise(self, pattern: Any, places: Any, dtypes: Sequence[np.dtype]) -> None:
        is_copy = pattern.name == "copy" and dtypes[0] == dtypes[-1]
        made = []
        for n in range(len(places[0])):
            args = [self.read(*places[k][n], dtype=dtypes[k]) for k in range(pattern.nin)]
            made.append(args[0] if is_copy else self._step(pattern.spec, args))
        for place, value in zip(places[-1], made, strict=True):
            self.values[place] = value, dtypes[-1]

    def _joined(self, pattern: Any, places: Any, dtype: np.dtype) -> None:
        """Expand a sum or an extremum, in the order of `numgrad.ir.pairwise`."""
        size, columns = pattern.core[0], pattern.core[1:] or (1,)
        if not 0 < size <= LEAF or dtype.kind not in "fi":
            raise UnknownError
        operator: Any = getattr(runtime.roles, _JOINED[pattern.name])
        spec = operator.spec(dtype)
        steps = pattern.layouts[0].strides[-len(pattern.core) :]
        apart = pattern.layouts[1].strides[-1:] if pattern.core[1:] else (0,)
        for (buffer, first), (out, place) in zip(places[0], places[1], strict=True):
            for column in range(columns[0]):
                begin = first + column * (steps[-1] if pattern.core[1:] else 0)
                row = [self.read(buffer, begin + n * steps[0], dtype) for n in range(size)]
                found = self._halved(spec, row)
                if pattern.name == "sum" and dtype.kind == "f":
                    found = self._step(zero_plus(dtype), (found,))
                self.values[out, place + column * apart[0]] = found, dtype

    def _halved(self, spec: Any, row: list[Any]) -> Any:
        """Return the sum or extremum of several values, joined by halves with ``spec``."""
        width = LEAF // 2
        while width:
            for n in range(max(min(len(row) - width, width), 0)):
                row[n] = self._step(spec, (row[n], row[n + width]))
            row, width = row[:width], width // 2
        return row[0]

    def _multiplied(self, pattern: Any, places: Any, dtype: np.dtype) -> None:
        """Expand a product of matrices: each element is a chain of products and sums."""
        (m, k, n), spec = pattern.core, pattern.spec
        if not 0 < k <= MOST_TERMS:
            raise UnknownError
        strides = [layout.strides[-2:] for layout in pattern.layouts]
        made = {}
        each: Any = zip(*places, strict=True)
        for (a, of_a), (b, of_b), (c, of_c) in each:
            for i, j in product(range(m), range(n)):
                value: tuple[Any, ...] = ()
                for step in range(k):
                    x = self.read(a, of_a + i * strides[0][0] + step * strides[0][1], dtype)
                    y = self.read(b, of_b + step * strides[1][0] + j * strides[1][1], dtype)
                    value = (self._step(spec, (x, y, *value)),)
                made[c, of_c + i * strides[2][0] + j * strides[2][1]] = value[0], dtype
        self.values |= made


class ProgramExpander(Expander):
    """Expands a program whose inputs are elements of arguments and constants."""

    def __init__(self, program: Program, count: int) -> None:
        super().__init__()
        self._program, self._count = program, count
        self._constants = bytearray()
        self._arrays: dict[int, np.ndarray] = {}  # those from outside, on the host
        self._are_uniform: dict[int, bool] = {}
        self._numbers: dict[tuple[bytes, np.dtype], Any] = {}
        self._zeros = AddedZeros()

    def made(self, results: Sequence[Any]) -> Expansion:
        for instruction in self._program.instructions:
            self.apply(instruction)
        outputs: list[tuple[Element, Any]] = []
        for number, ref in enumerate(results):
            outputs += self.outputs_of(number, ref)
        return self.finished(outputs)

    def outputs_of(self, number: int, ref: Any) -> list[tuple[Element, Any]]:
        """Return the elements of the result with a number, and the value of each."""
        dtype = ref.layout.dtype
        return [
            (
                Element(number, n * dtype.itemsize, dtype),
                self.read(ref.buffer, ref.offset + offset, dtype),
            )
            for n, offset in enumerate(offsets(ref.layout.shape, ref.layout.strides))
        ]

    def finished(self, outputs: Sequence[tuple[Element, Any]]) -> Expansion:
        """Return what was expanded, with numbers in place of values."""
        first = len(self.inputs)
        numbers = {("input", n): n for n in range(first)}
        numbers |= {("step", n): first + n for n in range(len(self.steps))}
        steps = [(spec, tuple([numbers[v] for v in args])) for spec, args in self.steps]
        return Expansion(
            tuple(steps), tuple(self.inputs), tuple([(e, numbers[v]) for e, v in outputs]),
            bytes(self._constants),
        )  # fmt: skip

    def outside(self, buffer: int, offset: int, dtype: np.dtype) -> Any:
        if buffer in self._program.arguments:
            return self.input(Element(self._program.arguments[buffer], offset, dtype))
        if buffer not in self._program.arrays:
            raise UnknownError
        if buffer not in self._arrays:
            self._arrays[buffer] = runtime.on_device(self._program.arrays[buffer], CPU)
        address = self._arrays[buffer].__array_interface__["data"][0] + offset
        content = string_at(address, dtype.itemsize)
        is_number = self._is_uniform(buffer, content)
        return (self._number if is_number else self._constant)(content, dtype)

    def _step(self, spec: Any, args: Sequence[Any]) -> Any:
        found = self._zeros.without(spec, args)
        if found is None:
            found = super()._step(spec, args)
            self._zeros.note_step(found, spec, args)
        return found

    def _is_uniform(self, buffer: int, element: bytes) -> bool:
        """Whether all elements of an array from outside are equal, as of a literal or of zeros."""
        if buffer not in self._are_uniform:
            content = self._arrays[buffer].tobytes()
            self._are_uniform[buffer] = content == element * (len(content) // len(element))
        return self._are_uniform[buffer]

    def _number(self, content: bytes, dtype: np.dtype) -> Any:
        """Return the value of a number that the program has wherever it is run.

        Equal numbers are one value.
        """
        if (content, dtype) not in self._numbers:
            found = self._numbers[content, dtype] = self._constant(content, dtype)
            self._zeros.note_number(found, np.frombuffer(content, dtype)[0])
        return self._numbers[content, dtype]

    def _constant(self, content: bytes, dtype: np.dtype) -> Any:
        """Return the value of a constant, given its bytes.

        The constant becomes an element of an operand. So compiled code does not depend on the bits
        of a constant, but for those that `AddedZeros` asks for.
        """
        offset = len(self._constants)
        self._constants += content.ljust(8, b"\0")
        return self.input(Element(self._count, offset, dtype))


def offsets(shape: Sequence[int], strides: Sequence[int]) -> Iterator[int]:
    """Yield the offset in bytes of each element of an array, the last axis fastest."""
    for index in product(*map(range, shape)):
        yield sum([n * stride for n, stride in zip(index, strides, strict=True)])


__all__ = [
    "MOST_STEPS", "Element", "Expander", "Expansion", "ProgramExpander", "UnknownError", "expanded",
    "is_expandable", "offsets",
]  # fmt: skip
