"""Loops of the reverse sweep that are split into several loops, each of which vectorises.

A loop that adds to neighbouring elements of one array, or to a number, is run by the processor step
by step. Where its steps commute and are cheap it is written once for each neighbour, with the lines
that it needs. What is added to a number is laid down in a row of the tape that is not needed any
more, and the row is summed by halves.
"""

import re
from collections.abc import Sequence

from ..analyses.dependence import are_exchanged
from ..analyses.keep import Keeping
from ..ssa.ir import Op
from ..ssa.partials import SCALARS
from ..ssa.ranges import affine
from .order import Order
from .tape import Tape
from .writing import Names, Writer, mentions

_LINE = re.compile(r"(\w+)(\[[^=]*\])? ([+-]?=) (.*)")
_SLOW = ("pow", "floordiv", "mod", "fmod", "hypot", "cbrt")
_ELEMENT = re.compile(r"(\w+)\[((?:[^\[\],]+, )*)[^\[\],]+\]")
_MOST_CHECKS = 8  # pairs of memory that LLVM compares before it runs a vectorised loop
_LEAST = 8  # numbers that are summed one after the other


class Fission:
    """Splits loops of the reverse sweep.

    Parameters
    ----------
    keeping, orders, tape
        What is known of the program.
    names : Names
    writer : Writer
    is_on : bool
    """

    def __init__(
        self, keeping: Keeping, orders: Order, tape: Tape, names: Names, writer: Writer, is_on: bool
    ) -> None:
        self.keeping, self.orders, self.tape = keeping, orders, tape
        self.names, self.writer, self.is_on = names, writer, is_on

    # Which loops

    def applies(self, op: Op) -> bool:
        """Whether a loop may be split."""
        if not (self.is_on and self.orders.is_free(op)) or any(o.regions for o in op.body.ops):
            return False
        inner = [o for o in op.body.ops if self.keeping.is_reversed(o)]
        return all(self._is_cheap(o, op) for o in inner) and self._are_apart(inner)

    def _is_cheap(self, op: Op, loop: Op) -> bool:
        if op.name in SCALARS:
            return not SCALARS[op.name].heavy and op.name not in _SLOW
        if op.name not in ("load", "store", "accum"):
            return False
        *others, last = [affine(value)[0] for value in op.index] or [None]
        own = {base for base in (*others, last) if base is not None and base.region is loop.body}
        return loop.body.index not in others and own <= {loop.body.index}

    def _are_apart(self, inner: Sequence[Op]) -> bool:
        """Whether the steps of a loop read no cotangent to which they add."""
        group = self.orders.dependence.classes.of
        loads = {o.array for o in inner if o.name == "load"}
        stores = {o.array for o in inner if o.name in ("store", "accum")}
        return all(group(a) is not group(b) or are_exchanged(a, b) for a in loads for b in stores)

    # The split

    def split(self, op: Op, start: int, trips: str, first: str = "0") -> None:
        """Split the loop whose header is a line of the text, and whose body are all lines after it.

        Parameters
        ----------
        op : Op
        start : int
            The number of the line of the header.
        trips : str
            How often the loop runs.
        first : str
            The first of its steps.
        """
        header, *body = self.writer.lines[start:]
        indent = header[: len(header) - len(header.lstrip())]
        lines = [line.strip() for line in body]
        parsed = [_LINE.fullmatch(line) for line in lines]
        if not all(p or line[:1] in "'\"" for p, line in zip(parsed, lines, strict=True)):
            return
        passes, sums = self._passes(op, lines)
        if len(passes) < 2:
            return
        texts = [_needed(lines, effects) for effects in passes]
        if any(_checks(text) > _MOST_CHECKS for text in texts):
            return
        del self.writer.lines[start:]
        for text in texts:
            self.writer.lines.append(header)
            self.writer.lines += [f"{indent}    {line}" for line in text]
        for name, row in sums.items():
            self._sum(name, row, trips, first)

    def _passes(self, op: Op, lines: list[str]) -> tuple[list[dict[int, str]], dict[str, str]]:
        """Return the lines with effects of each pass, and the rows that hold sums."""
        places: dict[str, list[str]] = {}
        passes: list[dict[int, str]] = [{}]
        sums: dict[str, str] = {}
        last: dict[int, str] = {}
        started: set[str] = set()
        for n, line in enumerate(lines):
            match = _LINE.fullmatch(line)
            if match is None:
                continue
            name, index, sign, text = match.groups()
            if index is not None and sign == "+=":
                *others, last_axis = index[1:-1].rsplit(", ", 1)
                known = places.setdefault(f"{name} {others}", [])
                if last_axis not in known:
                    known.append(last_axis)
                while len(passes) <= known.index(last_axis):
                    passes.append({})
                passes[known.index(last_axis)][n] = line
            elif index is not None:
                last[n] = line
            elif sign == "=":
                started.add(name)
            elif name not in started:
                last[n] = self._laid_down(op, name, sign, text, sums) or line
        passes[-1].update(last)
        return [dict(sorted(effects.items())) for effects in passes], sums

    def _laid_down(
        self, op: Op, name: str, sign: str, text: str, sums: dict[str, str]
    ) -> str | None:
        """Return the line that writes to a row the terms that are added to a number; None if there
        is no row."""
        how = "+=" if name in sums else "="
        if name not in sums:
            row = self.tape.row(op, len(sums))
            if row is None:
                return None
            sums[name] = row
        place = self.tape.row(op, list(sums).index(name), is_element=True)
        minus = "-" if sign == "-=" else ""
        return f"{place} {how} {minus}({text})"

    def _sum(self, name: str, row: str, trips: str, first: str) -> None:
        left, half, place, low, high = (
            self.names.fresh(word) for word in ("left", "half", "place", "low", "high")
        )
        line, block = self.writer.line, self.writer.block
        line(f"{left} = {trips}")
        if first != "0":
            part = self.names.fresh("part")
            line(f"{part} = {row}[{first}:{first} + {left}]")
            row = part
        with block(f"while {left} > {_LEAST}:"):
            line(f"{half} = {left} // 2")
            line(f"{left} -= {half}")
            line(f"{low} = {row}[:{half}]")
            line(f"{high} = {row}[{left}:{left} + {half}]")
            with block(f"for {place} in range({half}):"):
                line(f"{low}[{place}] += {high}[{place}]")
        with block(f"for {place} in range({left}):"):
            line(f"{name} += {row}[{place}]")


def _needed(lines: list[str], effects: dict[int, str]) -> list[str]:
    """Return the lines with the given effects, and all lines that compute their operands."""
    kept: list[str] = []
    wanted: list[str] = []
    for n in range(len(lines) - 1, -1, -1):
        match = _LINE.fullmatch(lines[n])
        if n in effects:
            kept.append(effects[n])
            wanted.append(effects[n])
        elif match is None:
            kept.append(lines[n])
        elif match[2] is None and any(mentions(text, match[1]) for text in wanted):
            kept.append(lines[n])
            wanted.append(match[4])
    return _without_loose_comments(kept[::-1])


def _checks(lines: list[str]) -> int:
    """Return the number of pairs of array rows, one of them written, that a loop compares."""
    parsed = [_LINE.fullmatch(line) for line in lines]
    texts = [p.string for p in parsed if p is not None]
    rows = {match.groups() for text in texts for match in _ELEMENT.finditer(text)}
    targets = [f"{p[1]}{p[2]}" for p in parsed if p is not None and p[2] is not None]
    written = {match.groups() for text in targets for match in _ELEMENT.finditer(text)}
    return len(written) * (len(written) - 1) // 2 + len(written) * len(rows - written)


def _without_loose_comments(lines: list[str]) -> list[str]:
    """Return the lines without comments that no line follows."""
    return [
        line
        for line, after in zip(lines, [*lines[1:], "'"], strict=True)
        if line[:1] not in "'\"" or after[:1] not in "'\""
    ]
