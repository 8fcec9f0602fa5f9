"""The forward sweep of a derived function: the part of the kernel that the adjoint needs, and
writes to the tape."""

import contextlib
from typing import TYPE_CHECKING

from ..analyses.keep import Keeping, extents_of
from ..analyses.simplify import Liveness
from ..builder.bases import values_of
from ..ssa.ir import Op, Program, Region, Type, Value
from ..ssa.partials import SCALARS
from ..ssa.ranges import is_natural
from .tape import Tape
from .writing import Names, Writer, number_text, scalar_text

if TYPE_CHECKING:
    from .chunks import Chunks
    from .snapshots import Snapshots


class Arrays:
    """Writes elements, views and new arrays as text.

    Parameters
    ----------
    names : Names
    """

    def __init__(self, names: Names) -> None:
        self.names = names

    def view(self, op: Op, base: str, numbers: list[str], extents: list[str]) -> str:
        """Return a view of an array or of its shadow."""
        spec = op.info["spec"]
        if spec in ("T", "real", "imag"):
            return f"{base}.{spec}"
        if spec == "reshape":
            return f"{base}.reshape(({', '.join(extents)},))"
        rest, lengths, parts = iter(numbers), iter(extents), []
        for letter in spec:
            parts.append(self._axis(letter, rest, lengths))
        return f"{base}[{', '.join(parts)}]"

    def _axis(self, letter: str, rest, lengths) -> str:
        if letter == "i":
            return next(rest)
        length = next(lengths)
        if letter in "n:r":
            return {"n": "None", ":": ":", "r": "::-1"}[letter]
        start = next(rest)
        if letter == "+":
            return f"({start}):({start}) + ({length})"
        step = next(rest)
        return f"({start}):({start}) + ({length}) * ({step}):({step})"

    def new(self, op: Op, numbers: list[str], fill: str) -> str:
        """Return a new array."""
        shape = f"({', '.join(numbers)},)" if len(numbers) != 1 else numbers[0]
        return f"np.{fill}({shape}{dtype_text(op.result.type)})"


def dtype_text(type: Type) -> str:  # noqa: A002
    """Return the argument that says the dtype of a new array."""
    if type.dtype == "float64":
        return ""
    return f", np.{'bool_' if type.dtype == 'bool' else type.dtype}"


class Forward:
    """Writes the forward sweep.

    Parameters
    ----------
    program, keeping, live
        The program, and what is known and needed of it.
    names : Names
    writer : Writer
    tape : Tape
    snapshots : Snapshots
    chunks : Chunks
    """

    def __init__(
        self, program: Program, keeping: Keeping, live: Liveness,
        names: Names, writer: Writer, tape: Tape, snapshots: "Snapshots", chunks: "Chunks",
    ) -> None:  # fmt: skip
        self.snapshots, self.chunks = snapshots, chunks
        self.program, self.keeping, self.live = program, keeping, live
        self.names, self.writer, self.tape = names, writer, tape
        self.arrays = Arrays(names)
        self._pending: dict[Value, tuple[str, bool]] = {}
        self._uses: dict[Value, list[Region]] = {}
        self._count(program.body)
        self._named = set(keeping.needed)
        for plan in keeping.plans.values():
            self._named.update(plan.taped)
            self._named.update(v for array in plan.arrays for v in extents_of(array))
        for op in program.body.walk():
            if op.name == "loop" and (tape.has_rows(op) or op in snapshots.states):
                self._named.update(op.bounds)

    def _count(self, region: Region) -> None:
        """Count in which regions values are used."""
        for op in region.ops:
            if op not in self.live.ops:
                continue
            used = op.computed_from if op.name != "loop" else op.bounds + self._live_inits(op)
            if op.name == "view":
                used = [*used, *op.info["extents"]]
            for value in used:
                self._uses.setdefault(value, []).append(op.region)
            for inner in op.regions:
                self._count(inner)
                for value in inner.ends():
                    self._uses.setdefault(value, []).append(inner)

    def _live_inits(self, op: Op) -> list[Value]:
        return [i for i, phi in zip(op.inits, op.body.phis, strict=True) if phi in self.live.values]

    # Texts

    def use(self, value: Value) -> str:
        """Return the text of a value: its name, or its expression if the value is used once."""
        if value.constant is not None:
            return number_text(value.constant)
        if value in self._pending:
            return self._pending.pop(value)[0]
        return self.names.of(value)

    def _give(self, value: Value, text: str, loads: bool = False) -> None:
        """Name a value; of a value that is used once, in its own region, keep the text instead."""
        uses = self._uses.get(value, [])
        if (
            len(uses) == 1
            and uses[0] is value.region
            and value not in self._named
            and len(text) < 120
        ):
            self._pending[value] = (text, loads)
        else:
            self.writer.line(f"{self.names.of(value)} = {text}")

    def _settle(self) -> None:
        """Name the loads that were kept as text, because memory is about to change."""
        for value, (text, loads) in list(self._pending.items()):
            if loads:
                del self._pending[value]
                self.writer.line(f"{self.names.of(value)} = {text}")

    def _loads(self, args: list[Value]) -> bool:
        return any(self._pending[arg][1] for arg in args if arg in self._pending)

    # Operations

    def run(self) -> None:
        """Write the sweep."""
        stores = [op.array for op in self.live.ops if op.name in ("store", "accum")]
        written = set().union(*map(values_of, stores))
        for parameter in self.program.parameters:
            if parameter in written:
                name = self.names.of(parameter)
                self.writer.line(f"{name} = {name}.copy()")
        self._define_all()
        self.region(self.program.body)

    def _define_all(self) -> None:
        """Write zeros for the numbers of nested regions that the reverse sweep reads: Numba refuses
        some names that only one branch defines."""
        trips = list(self.keeping.trips.values())
        results = [value for op in self.program.body.walk() for value in op.results]
        lines = [
            f"{self.names.of(value)} = {zero_text(value.type)}"
            for value in [*results, *trips]
            if value in self.keeping.needed
            and (value in self.live.values or value in trips)
            and value.region is not self.program.body
            and not value.type.is_array
        ]
        for line in lines:
            self.writer.line(line)

    def region(self, region: Region) -> None:
        for op in region.ops:
            if op in self.live.ops:
                self.op(op)

    def op(self, op: Op) -> None:
        method = self._scalar if op.name in SCALARS else getattr(self, f"_{op.name}")
        method(op)

    def _scalar(self, op: Op) -> None:
        loads = self._loads(op.computed_from)
        texts = [self.use(arg) for arg in op.computed_from]
        text = scalar_text(op.name, op.info.get("spelled") or "", texts)
        self._give(op.result, text, loads)

    def element(self, op: Op) -> str:
        """Return the element that an operation loads or stores."""
        index = ", ".join(self.use(i) for i in op.index)
        return f"{self.names.of(op.array)}[{index or '()'}]"

    def _load(self, op: Op) -> None:
        self._give(op.result, self.element(op), True)

    def _store(self, op: Op) -> None:
        value, element = self.use(op.stored), self.element(op)
        self._settle()
        self.writer.line(f"{element} = {value}")

    def _accum(self, op: Op) -> None:
        value, element = self.use(op.stored), self.element(op)
        self._settle()
        self.writer.line(f"{element} {op.info['sign']}= {value}")

    def _shape(self, op: Op) -> None:
        self._give(op.result, f"{self.names.of(op.args[0])}.shape[{op.info['axis']}]")

    def _alloc(self, op: Op) -> None:
        numbers = [self.use(arg) for arg in op.args]
        self.writer.line(
            f"{self.names.of(op.result)} = {self.arrays.new(op, numbers, op.info['fill'])}"
        )

    def _copy(self, op: Op) -> None:
        self.writer.line(f"{self.names.of(op.result)} = {self.names.of(op.array)}.copy()")

    def _given(self, op: Op) -> None:
        args = [self.use(arg) for arg in op.args]
        names = ", ".join(self.names.of(result) for result in op.results)
        self.writer.line(f"{names} = {op.info['text'].format(*args)}")

    def _view(self, op: Op) -> None:
        numbers = [self.use(arg) for arg in op.args[1:]]
        extents = [self._extent(extent) for extent in op.info["extents"]]
        text = self.arrays.view(op, self.names.of(op.args[0]), numbers, extents)
        self.writer.line(f"{self.names.of(op.result)} = {text}")

    def _extent(self, extent: Value) -> str:
        if extent in self._pending:
            text = self._pending.pop(extent)[0]
            self.writer.line(f"{self.names.of(extent)} = {text}")
        return self.use(extent)

    def _check(self, op: Op) -> None:
        one, other = (self.use(arg) for arg in op.args)
        with self.writer.block(f"if ({one}) != ({other}):"):
            self.writer.line(f"raise ValueError({op.info['message']!r})")

    def _room(self, op: Op) -> None:
        self.writer.line(f"{self.names.of(op.result)} = {self.tape.tapes['i']}.size")

    def _enough(self, op: Op) -> None:
        count, room = (self.use(arg) for arg in op.args)
        self.tape.require_room(count, room)

    def _raise(self, op: Op) -> None:
        self.writer.line(op.info["text"])

    def _if(self, op: Op) -> None:
        test = self.use(op.args[0])
        self._settle()
        for place, region in enumerate(op.regions):
            header = f"if {test}:" if place == 0 else "else:"
            with self.writer.branches(header):
                self.region(region)
                self._push(region)
                self._yield_if(op, region)
                self._settle()
        if self.writer.lines[-1].strip() == "pass" and self.writer.lines[-2].strip() == "else:":
            del self.writer.lines[-2:]

    def _yield_if(self, op: Op, region: Region) -> None:
        names = [self.names.of(r) for r in op.results if r in self.live.values]
        kept = [y for r, y in zip(op.results, region.yields, strict=True) if r in self.live.values]
        self.writer.assign(names, [self.use(y) for y in kept])

    def _push(self, region: Region) -> None:
        plan = self.keeping.plans.get(region)
        self.tape.push_arrays(region)
        if plan and plan.taped:
            self.tape.push(region, plan.taped)

    def _loop(self, op: Op) -> None:
        body = op.body
        live = [phi for phi in body.phis if phi in self.live.values]
        apart = [(r, phi) for phi, r in zip(body.phis, op.results, strict=True) if r in self._named]
        for phi, result in zip(body.phis, op.results, strict=True):
            if (result, phi) not in apart:
                self.names.share(result, phi)
        bounds = [self.use(bound) for bound in op.bounds]
        starts = [self.use(init) for init in self._live_inits(op)]
        self._settle()
        self.writer.assign([self.names.of(phi) for phi in live], starts)
        trips = self.keeping.trips.get(op)
        if trips is not None:
            self.writer.line(f"{self.names.of(trips)} = 0")
        is_apart = op in self.snapshots.states
        if is_apart:
            self.snapshots.begin(op, bounds)
        self.tape.open(op)
        around = (
            contextlib.nullcontext(bounds)
            if is_apart
            else self.chunks.forward(op, bounds, live)
        )
        with around as own, self.writer.branches(self._header(op, own)):
            if is_apart:
                self.snapshots.step(op)
            self._iteration(op, live, trips)
        self.tape.close(op)
        if is_apart:
            self.snapshots.end(op)
        for result, phi in apart:  # the reverse sweep gives the phi other values
            self.writer.line(f"{self.names.of(result)} = {self.names.of(phi)}")

    def again(self, op: Op) -> None:
        """Write a step of a loop that goes on after it for certain, or has no more steps."""
        live = [phi for phi in op.body.phis if phi in self.live.values]
        self._iteration(op, live, None, False)

    def _header(self, op: Op, bounds: list[str]) -> str:
        if not op.is_for:
            return f"while {self.names.of(op.body.phis[0])}:"
        assert op.body.index is not None
        return f"for {self.names.of(op.body.index)} in {range_text(bounds)}:"

    def _iteration(
        self, op: Op, live: list[Value], trips: Value | None, may_end: bool = True
    ) -> None:
        body = op.body
        self.region(body)
        self._push(body)
        if trips is not None:
            self.writer.line(f"{self.names.of(trips)} += 1")
        go_on = self.use(body.go_on) if body.go_on is not None and may_end else None
        if go_on is not None and body.go_on is not None and not go_on.isidentifier():
            self.writer.line(f"{self.names.of(body.go_on)} = {go_on}")
            go_on = self.names.of(body.go_on)
        kept = [y for phi, y in zip(body.phis, body.yields, strict=True) if phi in self.live.values]
        self.writer.assign([self.names.of(phi) for phi in live], [self.use(y) for y in kept])
        if go_on is not None:
            with self.writer.block(f"if not ({go_on}):"):
                self.writer.line("break")


def zero_text(type: Type) -> str:  # noqa: A002
    """Return the zero of a type of numbers."""
    if type.is_real:
        return "0j" if type.is_complex else "0.0"
    return "False" if type.dtype == "bool" else "0"


def range_text(bounds: list[str]) -> str:
    """Return the shortest text of a range."""
    start, stop, step = bounds
    if step != "1":
        return f"range({start}, {stop}, {step})"
    return f"range({stop})" if start == "0" else f"range({start}, {stop})"


def count_text(op: Op, bounds: list[str]) -> str:
    """Return the text of the number of steps of a range."""
    start, stop, step = bounds
    if step == "-1":
        return f"max({start}, 0)" if stop == "0" else f"max(({start}) - ({stop}), 0)"
    if step != "1":
        return f"len(range({start}, {stop}, {step}))"
    if start == "0":
        return stop if is_natural(op.bounds[1]) else f"max({stop}, 0)"
    return f"max(({stop}) - ({start}), 0)"
