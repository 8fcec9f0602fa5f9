"""The reverse sweep of a derived function: the statements backwards, with cotangents."""

from ..analyses.activity import Activity
from ..analyses.keep import Keeping
from ..ssa.ir import Op, Program, Region, Value, depth, free_values
from ..ssa.partials import SCALARS
from .chunks import Chunk, Chunks
from .exchanges import arrays_again, exchanged, order
from .fission import Fission
from .forward import Arrays, count_text, range_text, zero_text
from .order import Order
from .roots import Roots
from .snapshots import Snapshots
from .tape import Tape, given
from .writing import Names, Writer, number_text, scalar_text


class Reverse:
    """Writes the reverse sweep.

    Parameters
    ----------
    program, activity, keeping
        The program, and what is known of it.
    names : Names
    writer : Writer
    tape : Tape
    orders : Order
    snapshots : Snapshots
    fission : Fission
    chunks : Chunks
    roots : Roots
    """

    def __init__(
        self, program: Program, activity: Activity, keeping: Keeping, names: Names,
        writer: Writer, tape: Tape, orders: Order, snapshots: Snapshots,
        fission: Fission, chunks: Chunks, roots: Roots,
    ) -> None:  # fmt: skip
        self.orders, self.snapshots, self.fission = orders, snapshots, fission
        self.chunks, self.roots = chunks, roots
        self._sums: dict[Op, str] = {}  # the registers of loads that are one element in a loop
        self.program, self.activity, self.keeping = program, activity, keeping
        self.names, self.writer, self.tape = names, writer, tape
        self.arrays = Arrays(names)
        self._pending: dict[Value, str] = {}  # cotangents that are one expression so far
        self._started: set[Value] = set()  # cotangents that are variables
        self._region: Region = program.body
        self._line = 0
        self.again = arrays_again(program, keeping)

    # Texts

    def text(self, value: Value) -> str:
        return number_text(value.constant) if value.constant is not None else self.names.of(value)

    def shadow(self, op: Op) -> str:
        """Return the shadow of the element that an operation loads or stores."""
        index = ", ".join(self.text(i) for i in op.index)
        return f"{self.names.cotangent(op.array)}[{index or '()'}]"

    # Cotangents of numbers

    def add(self, value: Value, text: str) -> None:
        """Add to the cotangent of a number."""
        if value not in self.activity or value.constant is not None:
            return
        name = self.names.cotangent(value)
        if value in self._started:
            self.writer.line(f"{name} += {text}")
        elif value in self._pending:
            self.writer.line(f"{name} = ({self._pending.pop(value)}) + ({text})")
            self._started.add(value)
        else:
            assert value.region is self._region, "a cotangent that was not started"
            self._pending[value] = text

    def take(self, value: Value, uses: int = 2) -> str | None:
        """Return the cotangent of a number; None where it is 0 for certain."""
        if value in self._started:
            return self.names.cotangent(value)
        text = self._pending.pop(value, None)
        if text is None or uses < 2 or text.isidentifier():
            return text
        self.writer.line(f"{self.names.cotangent(value)} = {text}")
        self._started.add(value)
        return self.names.cotangent(value)

    def start(self, values: list[Value]) -> None:
        """Define variables for the cotangents to which nested regions add."""
        for value in values:
            active = value in self.activity and not value.type.is_array
            if not active or value.constant is not None or value in self._started:
                continue
            if value.region is self._region:
                text = self._pending.pop(value, zero_text(value.type))
                self.writer.line(f"{self.names.cotangent(value)} = {text}")
                self._started.add(value)

    # Regions

    def region(self, region: Region) -> None:
        """Reverse the operations of a region."""
        outer, self._region = self._region, region
        for op in reversed(region.ops):
            if self.keeping.is_reversed(op):
                self._comment(op)
                self._op(op)
        self._region = outer

    def _comment(self, op: Op) -> None:
        if op.line != self._line and not op.regions and op.line in self.program.lines:
            self._line = op.line
            self.writer.comment(f"line {op.line}: {self.program.lines[op.line]}")

    def prepare(self, region: Region) -> None:
        """Write the beginning of the reverse sweep of a region: values, views and shadows."""
        plan = self.keeping.plans.get(region)
        self.roots.begin(region)
        if plan:
            self.tape.pop(region, plan.taped)
        for op in region.ops:
            if plan and op.results and op.result in plan.again:
                self.writer.line(f"{self.names.of(op.result)} = {self._again(op)}")
            if op.name in ("view", "alloc", "copy"):
                self._prepare_array(op)
            elif op.name == "loop":
                self._prepare_exchange(op)
        self.tape.pop_arrays(region)

    def _again(self, op: Op) -> str:
        if op.name == "load":
            index = ", ".join(self.text(i) for i in op.index)
            text = f"{self.tape.whole(op)}[{index or '()'}]"
            return given(op.result, text) if self.keeping.is_from_tape(op) else text
        if op.name == "shape":
            return f"{self.names.of(op.args[0])}.shape[{op.info['axis']}]"
        texts = [self.text(arg) for arg in op.computed_from]
        return scalar_text(op.name, op.info.get("spelled") or "", texts)

    def _prepare_array(self, op: Op) -> None:
        if op.name in ("alloc", "copy"):
            if op.result in self.activity:
                numbers = [self.text(extent) for extent in op.info["extents"]]
                self.writer.line(
                    f"{self.names.cotangent(op.result)} = {self.arrays.new(op, numbers, 'zeros')}"
                )
            return
        numbers = [self.text(arg) for arg in op.args[1:]]
        extents = [self.text(extent) for extent in op.info["extents"]]
        if op.result in self.again and depth(op.region) > 0:
            text = self.arrays.view(op, self.names.of(op.args[0]), numbers, extents)
            self.writer.line(f"{self.names.of(op.result)} = {text}")
        if op.result in self.activity:
            text = self.arrays.view(op, self.names.cotangent(op.args[0]), numbers, extents)
            self.writer.line(f"{self.names.cotangent(op.result)} = {text}")

    # Loops that exchange arrays

    def _prepare_exchange(self, op: Op) -> None:
        """Rename the arrays that a loop carries to their names after the loop."""
        pairs = exchanged(op)
        is_shadowed = any(op.body.phis[n] in self.activity for n, _ in pairs)
        is_again = depth(op.region) > 0 and any(op.body.phis[n] in self.again for n, _ in pairs)
        if not pairs or not (is_shadowed or is_again):
            return
        for names, moved in self._name_kinds(op, is_shadowed, is_again):
            own = [names(op.body.phis[n]) for n, _ in moved]
            self.writer.assign(own, [names(op.inits[n]) for n, _ in moved])
        if all(n == m for n, m in pairs):
            return
        trips = f"{self._trips(op)} % {order(dict(pairs))}"
        with self.writer.block(f"for _ in range({trips}):"):
            for names, moved in self._name_kinds(op, is_shadowed, is_again):
                phis = op.body.phis
                self.writer.assign(
                    [names(phis[n]) for n, _ in moved], [names(phis[m]) for _, m in moved]
                )

    def _name_kinds(self, op: Op, is_shadowed: bool, is_again: bool):
        """The kinds of names that are exchanged, with the places of the arrays that have one."""
        pairs = exchanged(op)
        if is_again:
            yield self.names.of, pairs
        if is_shadowed:
            for phi, result in zip(op.body.phis, op.results, strict=True):
                if phi.type.is_array:
                    self.names.share_cotangent(result, phi)
            shadowed = [pair for pair in pairs if op.body.phis[pair[0]] in self.activity]
            yield self.names.cotangent, shadowed

    def _unexchange(self, op: Op) -> None:
        """Undo the exchange of an iteration."""
        pairs = exchanged(op)
        if all(n == m for n, m in pairs):
            return
        phis = op.body.phis
        is_shadowed = any(phis[n] in self.activity for n, _ in pairs)
        is_again = any(phis[n] in self.again for n, _ in pairs)
        for names, moved in self._name_kinds(op, is_shadowed, is_again):
            self.writer.assign(
                [names(phis[m]) for _, m in moved], [names(phis[n]) for n, _ in moved]
            )

    # Operations

    def _op(self, op: Op) -> None:
        if op.name in SCALARS:
            self._scalar(op)
        elif method := getattr(self, f"_{op.name}", None):
            method(op)

    def _scalar(self, op: Op) -> None:
        adds = SCALARS[op.name].adds
        active = [
            n for n, arg in enumerate(op.args) if adds[n] is not None and arg in self.activity
        ]
        reads = sum(str(adds[n]).count("{g}") for n in active)
        g = self.take(op.result, reads)
        if g is None:
            return
        places = [f"({self.text(arg)})" for arg in op.args]
        slope = self.keeping.companions.of(op)
        result = f"({self.text(op.result)})"
        known = {"r": result, "c": f"({self.text(slope)})" if slope is not None else ""}
        for n in active:
            pattern = self.roots.multiplied(op, self.keeping.companions.adds(op, n))
            text = g if pattern == "{g}" else pattern.format(*places, g=f"({g})", **known)
            self.add(op.args[n], text)

    def _load(self, op: Op) -> None:
        g = self.take(op.result, 1)
        if g is not None:
            self.writer.line(f"{self._sums.get(op) or self.shadow(op)} += {g}")

    def _store(self, op: Op) -> None:
        if op.stored in self.activity and op.stored.constant is None:
            self._add_shadow(op.stored, self.shadow(op))
        self.writer.line(f"{self.shadow(op)} = 0.0")

    def _accum(self, op: Op) -> None:
        if op.stored in self.activity and op.stored.constant is None:
            minus = "-" if op.info["sign"] == "-" else ""
            self._add_shadow(op.stored, minus + self.shadow(op))

    def _copy(self, op: Op) -> None:
        if op.args[0] in self.activity:
            shadow = self.names.cotangent(op.args[0])
            self.writer.line(f"{shadow} += {self.names.cotangent(op.result)}")

    def _add_shadow(self, value: Value, text: str) -> None:
        """Add an element of a shadow to a cotangent; the element is read at once, as it may change.
        """
        self.add(value, text)
        self.start([value])

    # Branches

    def _if(self, op: Op) -> None:
        given = [self.take(result) for result in op.results]
        self.start(free_values(op))
        wrote = len(self.writer.lines)
        for place, region in enumerate(op.regions):
            test = self.text(op.args[0])
            header = (
                f"if {test}:"
                if place == 0
                else "else:"
                if wrote < len(self.writer.lines)
                else f"if not ({test}):"
            )
            with self.writer.block(header):
                self._branch(region, given)

    def _branch(self, region: Region, given: list[str | None]) -> None:
        self.prepare(region)
        outer, self._region = self._region, region
        for g, value in zip(given, region.yields, strict=True):
            if g is not None:
                self.add(value, g)
        self._region = outer
        self.region(region)

    # Loops

    def _loop(self, op: Op) -> None:
        carried = self._carried(op)
        for _, result in carried:
            g = self.take(result)
            name = self.names.cotangent(result)
            if g != name:
                self.writer.line(f"{name} = {g or '0.0'}")
        self.start(free_values(op))
        sums = self._open_sums(op)
        self.tape.reopen(op)
        if op in self.snapshots.states:
            with self.snapshots.reversed_steps(op):
                self._iteration(op, carried)
        else:
            registers = [self._sums[load] for load in sums]
            with self.chunks.reverse(op, self._trips(op), registers) as chunk:
                self._steps(op, carried, chunk)
        if sums:  # also those that are 0, whose derivatives need not be 0: this is derived again
            with self.writer.block(f"if {self._trips(op)} > 0:"):
                for load in sums:
                    self.writer.line(f"{self.shadow(load)} += {self._sums[load]}")
        for init, (_, result) in zip(self._inits(op), carried, strict=True):
            self.add(init, self.names.cotangent(result))

    def _steps(self, op: Op, carried: list[tuple[Value, Value]], chunk: Chunk | None) -> None:
        """Write a loop that reverses all steps, or those of a chunk."""
        start = len(self.writer.lines)
        with self.writer.block(f"for {self._header(op, chunk)}:"):
            self._iteration(op, carried)
        is_empty = len(self.writer.lines) == start  # a loop that reverses nothing is left out
        if not is_empty and self.fission.applies(op):
            if chunk is None:
                self.fission.split(op, start, self._trips(op))
            else:
                self.fission.split(op, start, f"{chunk.high} - {chunk.low}", chunk.low)

    def _open_sums(self, op: Op) -> list[Op]:
        """Define registers for the cotangents of elements that are the same in all iterations;
        without an iteration such an element may not exist."""
        sums = self.orders.kept_sums(op)
        for load in sums:
            self._sums[load] = self.names.fresh(f"g{load.result.hint or load.array.hint}_sum")
            self.writer.line(f"{self._sums[load]} = 0.0")
        return sums

    def _carried(self, op: Op) -> list[tuple[Value, Value]]:
        pairs = zip(op.body.phis, op.results, strict=True)
        return [(phi, r) for phi, r in pairs if phi in self.activity and not phi.type.is_array]

    def _inits(self, op: Op) -> list[Value]:
        pairs = zip(op.body.phis, op.inits, strict=True)
        return [i for phi, i in pairs if phi in self.activity and not phi.type.is_array]

    def _yields(self, op: Op) -> list[Value]:
        pairs = zip(op.body.phis, op.body.yields, strict=True)
        return [y for phi, y in pairs if phi in self.activity and not phi.type.is_array]

    def _trips(self, op: Op) -> str:
        trips = self.keeping.trips.get(op)
        if trips is not None:
            return self.names.of(trips)
        return count_text(op, [self.text(bound) for bound in op.bounds])

    def _header(self, op: Op, chunk: Chunk | None) -> str:
        if not op.is_for:
            return f"_ in range({self._trips(op)})"
        assert op.body.index is not None
        start, stop, step = (self.text(bound) for bound in op.bounds)
        if chunk is not None:
            start, stop, step = chunk.bounds
        index = self.names.of(op.body.index)
        if self.orders.is_free(op):
            return f"{index} in {range_text([start, stop, step])}"
        if step in ("1", "-1") and self.keeping.trips.get(op) is None:
            sign = int(step)
            ends = [f"({stop}) - {sign}", f"({start}) - {sign}", str(-sign)]
            return f"{index} in {range_text(ends)}"
        last = f"({start}) + (({self._trips(op)}) - 1) * ({step})"
        return f"{index} in range({last}, ({start}) - ({step}), -({step}))"

    def _iteration(self, op: Op, carried: list[tuple[Value, Value]]) -> None:
        self._unexchange(op)
        self.prepare(op.body)
        outer, self._region = self._region, op.body
        for value, (_, result) in zip(self._yields(op), carried, strict=True):
            self.add(value, self.names.cotangent(result))
        self._region = outer
        self.region(op.body)
        outer, self._region = self._region, op.body
        given = [self.take(phi, 1) or "0.0" for phi, _ in carried]
        self._region = outer
        self.writer.assign([self.names.cotangent(result) for _, result in carried], given)
