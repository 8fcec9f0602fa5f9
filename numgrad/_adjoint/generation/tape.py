"""The tape: two stacks, of floats and of integers, that the caller (`Tapes` in `kernel`) lends to a
derived function.

An innermost loop of known length keeps its values side by side, one row for each value, so that it
vectorises (or one row for each step, where it does not); all others push them at the end of an
iteration. Where the tape is too short the function returns the lengths that it needs, and is called
again.
"""

from ..analyses.keep import Keeping, extents_of
from ..ssa.ir import Op, Region, Value
from ..ssa.partials import SCALARS
from .writing import Names, Writer

_STACKS = ("f", "i")


class Tape:
    """Writes the statements that push values to the tape and pop them.

    Parameters
    ----------
    keeping : Keeping
    names : Names
    writer : Writer
    leave : str
        What is returned after the lengths where the tape is too short.
    is_checked : bool
        Whether the length is checked at all.

    Attributes
    ----------
    apart : set of Op
        Loops whose steps push their values, whatever is known of them.
    is_muted : bool
        Whether nothing is kept at the moment.
    noted : dict
        Where a chunk of steps notes the lengths that it needs, by stack; empty elsewhere.
    """

    def __init__(
        self, keeping: Keeping, names: Names, writer: Writer, leave: str, is_checked: bool
    ) -> None:
        self.keeping, self.names, self.writer = keeping, names, writer
        self.leave, self.is_checked = leave, is_checked
        self.tapes = {s: names.fresh(f"tape_{s}") for s in _STACKS}
        self.tops = {s: names.fresh(f"top_{s}") for s in _STACKS}
        self._counts: dict[Op, str] = {}
        self._names_of_rows: dict[tuple[Op, str, int], str] = {}
        self._names_of_arrays: dict[Value, str] = {}
        used = {stack(v) for plan in keeping.plans.values() for v in [*plan.taped, *plan.arrays]}
        self.used = [s for s in _STACKS if s in used]
        self.apart: set[Op] = set()
        self.is_muted = False
        self.noted: dict[str, str] = {}

    def use(self, s: str) -> None:
        """Note that a stack is used."""
        self.used = [other for other in _STACKS if other == s or other in self.used]

    def start(self) -> None:
        for s in self.used:
            self.writer.line(f"{self.tops[s]} = 0")

    # Rows beside each other

    def has_rows(self, op: Op) -> bool:
        """Whether a loop keeps its values in rows."""
        plan = self.keeping.plans.get(op.body)
        if not plan or not plan.taped or plan.arrays or not op.is_for or op.body.go_on is not None:
            return False
        if op in self.apart:
            return False
        return not any(self._pushes(region) for inner in op.body.ops for region in inner.regions)

    def _pushes(self, region: Region) -> bool:
        plan = self.keeping.plans.get(region)
        if plan and (plan.taped or plan.arrays):
            return True
        return any(self._pushes(inner) for op in region.ops for inner in op.regions)

    def pushes(self, op: Op) -> bool:
        """Whether an operation or one in it uses the tape."""
        return any(self._pushes(region) for region in op.regions)

    def count(self, op: Op) -> str:
        """Return the name of the number of iterations of a loop with rows."""
        if op not in self._counts:
            self._counts[op] = self.names.fresh("count")
        return self._counts[op]

    def open(self, op: Op) -> None:
        """Write the lines before a loop of the forward sweep."""
        if self.is_muted or not self.has_rows(op):
            return
        self.writer.line(f"{self.count(op)} = {self._count_text(op)}")
        for s, rows in self._rows(op).items():
            self._require(s, _times(rows, self.count(op)))
        self._lend(op)

    def _lend(self, op: Op) -> None:
        """Name the rows of a loop as views: Numba then sees that their indices are not negative."""
        for s, rows in self._rows(op).items():
            if self._is_by_steps(op):
                if (op, s, 0) not in self._names_of_rows:
                    self._names_of_rows[op, s, 0] = self.names.fresh(f"rows_{s}")
                size = _times(rows, self.count(op))
                part = f"{self.tops[s]}:{self.tops[s]} + {size}"
                self.writer.line(f"{self._names_of_rows[op, s, 0]} = {self.tapes[s]}[{part}]")
                continue
            for row in range(rows):
                if (op, s, row) not in self._names_of_rows:
                    self._names_of_rows[op, s, row] = self.names.fresh(f"row_{s}{row}")
                skipped = f" + {_times(row, self.count(op))}" if row else ""
                start = f"{self.tops[s]}{skipped}"
                part = f"{start}:{start} + {self.count(op)}"
                self.writer.line(f"{self._names_of_rows[op, s, row]} = {self.tapes[s]}[{part}]")

    def _count_text(self, op: Op) -> str:
        from .forward import count_text  # the text of bounds

        return count_text(op, [self.text(bound) for bound in op.bounds])

    def text(self, value: Value) -> str:
        """Return the name of a value, or the number that the value is known to be."""
        return repr(value.constant) if value.constant is not None else self.names.of(value)

    def _is_by_steps(self, op: Op) -> bool:
        """Whether the values of one step lie beside each other on the tape, not the values of a
        row. This holds for a loop that calls a function, which does not vectorise anyway; one view
        is less code than many."""
        return any(o.name in SCALARS and SCALARS[o.name].heavy for o in op.body.ops)

    def _rows(self, op: Op) -> dict[str, int]:
        taped = self.keeping.plans[op.body].taped
        sizes = {s: sum(stack(v) == s for v in taped) for s in _STACKS}
        return {s: size for s, size in sizes.items() if size}

    def close(self, op: Op) -> None:
        """Write the lines after a loop of the forward sweep."""
        if self.has_rows(op) and not self.is_muted:
            for s, rows in self._rows(op).items():
                self.writer.line(f"{self.tops[s]} += {_times(rows, self.count(op))}")

    def reopen(self, op: Op) -> None:
        """Write the lines before a loop of the reverse sweep."""
        if self.has_rows(op):
            self.writer.line(f"{self.count(op)} = {self._count_text(op)}")
            for s, rows in self._rows(op).items():
                self.writer.line(f"{self.tops[s]} -= {_times(rows, self.count(op))}")
            self._lend(op)

    def _place(self, region: Region, row: int, s: str) -> str:
        """Return the element of a tape that keeps a value of an iteration."""
        op = region.owner
        if op is None or not region.is_loop or not self.has_rows(op):
            return f"{self.tapes[s]}[{_plus(self.tops[s], row)}]"
        assert region.index is not None
        start, _, step = (self.text(bound) for bound in op.bounds)
        place = self.names.of(region.index)
        if step == "-1":
            place = f"(({start}) - {place})"
        elif start != "0":
            place = f"({place} - ({start}))"
        if step not in ("1", "-1"):
            place = f"({place} // ({step}))"
        if self._is_by_steps(op):
            place = _times(self._rows(op)[s], place)
            return f"{self._names_of_rows[op, s, 0]}[{_plus(place, row)}]"
        return f"{self._names_of_rows[op, s, row]}[{place}]"

    def enough(self) -> str:
        """Return the statement that ends the function without asking for more."""
        sizes = [f"{tape}.size" for tape in self.tapes.values()]
        return f"return ({', '.join(sizes)}{self.leave})"

    def row(self, op: Op, number: int, is_element: bool = False) -> str | None:
        """Return a row of floats of a loop, or its element in an iteration; None if there is no
        such row."""
        if not self.has_rows(op) or self._is_by_steps(op):
            return None
        if number >= self._rows(op).get("f", 0):
            return None
        if is_element:
            return self._place(op.body, number, "f")
        return self._names_of_rows[op, "f", number]

    # Arrays that are kept whole

    def has_arrays(self, region: Region) -> bool:
        """Whether the steps of a loop keep arrays."""
        plan = self.keeping.plans.get(region)
        return bool(plan and plan.arrays)

    def whole(self, load: Op) -> str:
        """Return the name of the array from which a load is repeated."""
        return self._whole_name(load.array) if self.keeping.is_from_tape(load) else self.names.of(load.array)  # noqa: E501

    def _whole_name(self, array: Value) -> str:
        if array not in self._names_of_arrays:
            self._names_of_arrays[array] = self.names.fresh(f"{array.hint or 't'}_kept")
        return self._names_of_arrays[array]

    def push_arrays(self, region: Region) -> None:
        """Write, at the end of a region of the forward sweep, the arrays that are kept whole."""
        if self.is_muted or not self.has_arrays(region):
            return
        names = [self.names.of(array) for array in self.keeping.plans[region].arrays]
        self._require("f", " + ".join(f"{name}.size" for name in names))
        for name in names:
            top = self.tops["f"]
            self.writer.line(f"{top} = laid_down({self.tapes['f']}, {top}, {name})")

    def pop_arrays(self, region: Region) -> None:
        """Write, after the numbers of a region of the reverse sweep, the reads of the arrays that
        were kept whole."""
        arrays = self.keeping.plans[region].arrays if self.has_arrays(region) else []
        for array in reversed(arrays):
            lengths = [f"({self.text(extent)})" for extent in extents_of(array)]
            size = " * ".join(lengths) if lengths else f"{self.names.of(array)}.size"
            self.writer.line(f"{self.tops['f']} -= {size}")
            self.writer.line(f"{self._whole_name(array)} = {self._memory(array, size)}")

    def _memory(self, array: Value, size: str) -> str:
        """Return the part of the tape that keeps an array."""
        top, lengths = self.tops["f"], [self.text(extent) for extent in extents_of(array)]
        part = f"{self.tapes['f']}[{top}:{top} + {size}]"
        if array.type.ndim == 1:
            return part
        shape = f"({', '.join(lengths)},)" if lengths else f"{self.names.of(array)}.shape"
        return f"{part}.reshape({shape})"

    # Pushes and pops

    def _require(self, s: str, size: str) -> None:
        if not self.is_checked:
            return
        tape, top = self.tapes[s], self.tops[s]
        sizes = {other: f"{self.tapes[other]}.size" for other in _STACKS}
        sizes[s] = f"max(2 * {tape}.size, {top} + {size})"
        with self.writer.block(f"if {top} + {size} > {tape}.size:"):
            if not self.noted:
                self.ask(sizes)
                return
            for other, place in self.noted.items():
                self.writer.line(f"{place} = {sizes[other]}")
            self.writer.line("return")

    def ask(self, sizes: dict[str, str]) -> None:
        """Write a return statement with the lengths that the tapes need."""
        self.writer.line(f"return ({', '.join(sizes.values())}{self.leave})")

    def require_room(self, count: str, room: str) -> None:
        """Write that a list needs room for one more element."""
        if not self.is_checked:
            return
        sizes = [f"{self.tapes['f']}.size", f"2 * {self.tapes['i']}.size"]
        with self.writer.block(f"if {count} >= {room}:"):
            self.writer.line(f"return ({', '.join(sizes)}{self.leave})")

    def push_lengths(self, arrays: list[str]) -> None:
        """Write arrays of integers to the tape."""
        self._require("i", " + ".join(f"{name}.size" for name in arrays))
        top = self.tops["i"]
        for name in arrays:
            self.writer.line(f"{top} = laid_down({self.tapes['i']}, {top}, {name})")

    def pop_lengths(self, arrays: list[str], size: str) -> None:
        """Write that arrays of integers are parts of the tape."""
        top = self.tops["i"]
        for name in reversed(arrays):
            self.writer.line(f"{top} -= {size}")
            self.writer.line(f"{name} = {self.tapes['i']}[{top}:{top} + {size}]")

    def push(self, region: Region, taped: list[Value]) -> None:
        """Write the pushes at the end of a region of the forward sweep."""
        if self.is_muted:
            return
        rows = region.is_loop and region.owner is not None and self.has_rows(region.owner)
        for s in _STACKS:
            values = [v for v in taped if stack(v) == s]
            if not values:
                continue
            if not rows:
                self._require(s, str(len(values)))
            for row, value in enumerate(values):
                self.writer.line(f"{self._place(region, row, s)} = {self.names.of(value)}")
            if not rows:
                self.writer.line(f"{self.tops[s]} += {len(values)}")

    def pop(self, region: Region, taped: list[Value]) -> None:
        """Write the pops at the start of a region of the reverse sweep."""
        rows = region.is_loop and region.owner is not None and self.has_rows(region.owner)
        for s in _STACKS:
            values = [v for v in taped if stack(v) == s]
            if values and not rows:
                self.writer.line(f"{self.tops[s]} -= {len(values)}")
            for row, value in enumerate(values):
                kept = self._place(region, row, s)
                self.writer.line(f"{self.names.of(value)} = {given(value, kept)}")


def _plus(top: str, row: int) -> str:
    return f"{top} + {row}" if row else top


def _times(count: int, size: str) -> str:
    return size if count == 1 else f"{count} * {size}"


def stack(value: Value) -> str:
    """The stack on which a value is kept."""
    return "f" if value.type.is_real else "i"


def given(value: Value, text: str) -> str:
    """Return the text of a value on a stack, converted to the type of the value.

    What is computed again from a float32 has to be float32 again: it may be compared.
    """
    dtype = value.type.dtype
    if dtype == "bool":
        return f"{text} != 0"
    return text if dtype in ("float64", "int64") else f"np.{dtype}({text})"
