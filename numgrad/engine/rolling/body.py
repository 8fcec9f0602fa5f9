"""The body of a loop as scalar functions, and the kernel that repeats it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.kernel_spec import RolledSpec
from ...ir.program import Instruction
from .expansion import Expander, UnknownError
from .loop_instruction import BYTE, Place, looping
from .turns import Source, Turns, Unlike

ADDRESS = 8  # bytes of an address in a table


class Body(Expander):
    """The scalar functions of one turn of a loop.

    An instruction of the body may use a different buffer at each turn, while the source of each
    operand (see `turns`) is the same at all turns. So values are found by the numbers of sources,
    in place of the numbers of buffers.

    Parameters
    ----------
    turns : Turns
    instructions : sequence of Instruction
        The instructions of the program, in order.
    most : int
        The most scalar functions; more raise an error.

    Attributes
    ----------
    numbers : dict
        The number of each source.
    """

    def __init__(self, turns: Turns, instructions: Sequence[Instruction], most: int) -> None:
        super().__init__()
        self.numbers: dict[Source, int] = {}
        self._sources: list[Source] = []
        at = turns.run.first + turns.middle * turns.run.period
        column = 0
        for instruction in instructions[at : at + turns.run.period]:
            count = len(instruction.buffers)
            sources = turns.sources[column : column + count]
            numbers = tuple([self._number(source) for source in sources])
            self.apply(Instruction(instruction.pattern, numbers, instruction.offsets, None))
            column += count
            if len(self.steps) > most:
                raise UnknownError
        self._add_earlier()
        self._elements: dict[int, dict[int, tuple[Any, np.dtype]]] = {}
        for (number, offset), item in self.values.items():
            self._elements.setdefault(number, {})[offset] = item

    def _number(self, source: Source) -> int:
        number = self.numbers.setdefault(source, len(self.numbers))
        if number == len(self._sources):
            self._sources.append(source)
        return number

    def outside(self, buffer: int, offset: int, dtype: np.dtype) -> Any:
        source = self._sources[buffer]
        if source.kind in ("own", "filled"):
            raise UnknownError  # not all of the buffer is written before it is read
        return self.input((source, offset, dtype))

    def _add_earlier(self) -> None:
        """Add the inputs that carry values over several turns.

        A turn that reads a value of three turns before needs it of one and of two turns before,
        too: each turn hands these on to the next.
        """
        for source, offset, dtype in list(self.inputs):
            for place in range(1, source.place if source.kind == "before" else 0):
                self.input((source._replace(place=place), offset, dtype))

    def following(self, source: Source, offset: int, dtype: np.dtype) -> Any:
        """Return the value that a turn hands on as the carried input ``source`` of the next turn.

        For an input that the next turn reads as written three turns before, that is the input which
        this turn reads as written two turns before. For an input written one turn before, it is
        what this turn writes.
        """
        if source.place > 1:
            return self.inputs[source._replace(place=source.place - 1), offset, dtype]
        found = self.values.get((self._number(Source("own", source.buffer)), offset))
        if found is None or found[1] != dtype:
            raise UnknownError
        return found[0]

    def written(self, value: int, nbytes: int) -> dict[int, tuple[Any, np.dtype]]:
        """Return what a turn writes into a buffer: by offset, the scalar value and its dtype.

        ``value`` is the number of the buffer in `Turns.values`. Raise an error unless the elements
        together fill the buffer, of ``nbytes`` bytes.
        """
        number = self._number(Source("own", value))
        return _all_of(self._elements.get(number, {}), nbytes)

    def filled(self, source: Source) -> list[tuple[int, int, dict[int, tuple[Any, np.dtype]]]]:
        """Return the stretches of a buffer that an operand writes at each turn.

        Each stretch is an offset from where the operand begins, a number of bytes, and the elements
        by their offsets in the stretch. An operand has several stretches if it has gaps between its
        elements, as a column of a matrix does.
        """
        stretches: list[tuple[int, int, dict[int, tuple[Any, np.dtype]]]] = []
        end = None
        for offset, item in sorted(self._elements[self._number(source)].items()):
            if offset != end:
                stretches.append((offset - source.place, 0, {}))
            begin, nbytes, elements = stretches[-1]
            elements[nbytes] = item
            stretches[-1] = begin, nbytes + item[1].itemsize, elements
            end = offset + item[1].itemsize
        return stretches


class Kernel:
    """The kernel of a loop in the making: its operands, and the elements there that it accesses.

    Parameters
    ----------
    body : Body
    turns : Turns

    Attributes
    ----------
    count : int
        The number of turns.
    inputs : dict
        For each source that is an operand the range of bytes that is read there.
    outputs : list of (Place, int)
        The operands that are written, each with the bytes that a turn writes.
    """

    def __init__(self, body: Body, turns: Turns) -> None:
        self._body = body
        self.count = turns.stop - turns.first
        keys = list(body.inputs)
        carried = [key for key in keys if key[0].kind == "before"]
        self._read = [key for key in keys if key[0].kind != "before"]
        order = [*self._read, *carried]
        numbers = {body.inputs[key]: n for n, key in enumerate(order)}
        numbers |= {("step", n): len(order) + n for n in range(len(body.steps))}
        self._numbers, self._carried = numbers, carried
        self.inputs = _ranges(order)
        self._places = {source: n for n, source in enumerate(self.inputs)}
        self.outputs: list[tuple[Place, int]] = []
        self._stored: list[tuple[int, int, np.dtype, int]] = []
        self._finals: list[tuple[int, int, np.dtype, int]] = []

    def store(
        self, place: Place, nbytes: int, elements: Mapping[int, tuple[Any, np.dtype]]
    ) -> None:
        """Let the kernel store elements of the body, ``nbytes`` in all, at a place.

        The elements are given by their offsets. They are stored at each turn or, at a place that
        does not move, after the last turn.
        """
        operand = len(self.inputs) + len(self.outputs)
        kept = self._stored if place.move else self._finals
        for offset, (found, dtype) in elements.items():
            kept.append((operand, offset, dtype, self._numbers[found]))
        self.outputs.append((place, nbytes))

    def instruction(self, inputs: Sequence[Place], rows: Sequence[bool], site: Any) -> Instruction:
        """Return the instruction that runs the loop.

        ``inputs`` has the places of the operands that are read, and ``rows`` says for each buffer
        of the program whether it has rows.
        """
        if not self.outputs:
            raise Unlike
        spec = self._spec(len(inputs))
        sizes = [end - low for low, end in self.inputs.values()]
        given = list(zip(inputs, sizes, strict=True))
        return looping(spec, given, self.outputs, self.count, rows, site)

    def _spec(self, count: int) -> RolledSpec:
        body, numbers = self._body, self._numbers

        def at(source: Source, offset: int) -> tuple[int, int]:
            low = 0 if source.kind == "table" else self.inputs[source][0]
            return self._places[source], offset - low

        read = tuple([
            (*at(source, offset), dtype, _way(source))
            for source, offset, dtype in self._read
        ])
        carries = tuple([
            (*at(source, offset), dtype, numbers[body.following(source, offset, dtype)])
            for source, offset, dtype in self._carried
        ])
        steps = tuple([(spec, tuple([numbers[v] for v in args])) for spec, args in body.steps])
        names = list(dict.fromkeys([spec.name for spec, _ in steps]))
        shown = " ".join(names[:4]) + (" ..." if len(names) > 4 else "")
        return RolledSpec(
            f"loop[{len(steps)}: {shown}]", steps, read, carries, tuple(self._stored),
            tuple(self._finals), (BYTE,) * count, (BYTE,) * len(self.outputs),
        )  # fmt: skip


def _all_of(
    elements: dict[int, tuple[Any, np.dtype]], nbytes: int
) -> dict[int, tuple[Any, np.dtype]]:
    """Return elements by their offsets if they are all bytes of a value."""
    if sum([dtype.itemsize for _, dtype in elements.values()]) != nbytes:
        raise UnknownError
    return elements


def _ranges(keys: Sequence[tuple[Source, int, np.dtype]]) -> dict[Source, tuple[int, int]]:
    """Return for each source the first byte that is read of its buffer, and the byte after the
    last.

    A source that is a table has an address for each turn; the bytes are those of one address.
    """
    found: dict[Source, tuple[int, int]] = {}
    for source, offset, dtype in keys:
        if source.kind == "table":
            found[source] = 0, ADDRESS
            continue
        low, end = found.get(source, (offset, offset))
        found[source] = min(low, offset), max(end, offset + dtype.itemsize)
    return found


def _way(source: Source) -> str:
    """Return how the kernel reads an input, ``"fixed"``, ``"moving"`` or ``"table"``.

    See `RolledSpec`.
    """
    if source.kind == "table":
        return "table"
    return "moving" if source.move else "fixed"
