"""Loops whose steps run again from snapshots, so that the tape holds the steps of one segment only.

The forward sweep keeps the state before some of the steps as snapshots, and writes nothing to the
tape. The reverse sweep takes the snapshots from the last one to the first one: it runs the steps
from a snapshot to the next one again, with the tape, and reverses them. For T steps, S bytes of a
snapshot and P bytes of tape for a step, segments of k steps take S * T / k + P * k.

The caller hands over an array ``control``: the bytes that snapshots may take, the most steps of a
segment, and whether to stop, which each step looks at. If the tape was too short for a segment, the
caller finds in it the number of steps of the segment, and of those for which the tape had room.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from ..analyses.keep import Keeping
from ..analyses.simplify import Liveness
from ..ssa.ir import Classes, Op, Program, Value
from .exchanges import exchanged, order
from .forward import Forward, count_text
from .tape import Tape
from .writing import Names, Writer

ROOM, MOST, STOP, STEPS, FITTED = range(5)
"""The places of ``control``."""

_READS_NOT = ("store", "view", "shape", "alloc")


@dataclass
class State:
    """The state before a step of a loop, and the names of the variables that hold snapshots of it.

    Attributes
    ----------
    arrays : list of Value
        Arrays that steps change.
    fixed : list of Value
        Arrays that steps read, and that change after the loop.
    numbers : list of Value
        The numbers that the loop carries.
    """

    arrays: list[Value]
    fixed: list[Value]
    numbers: list[Value]
    names: dict[str, str]

    def __getitem__(self, name: str) -> str:
        return self.names[name]


class Snapshots:
    """Writes the parts of both sweeps that keep and use snapshots.

    Parameters
    ----------
    program, classes, keeping, live
        The program, and what is known and needed of it.
    names : Names
    writer : Writer
    tape : Tape
    is_on : bool
        Whether there are any.

    Attributes
    ----------
    states : dict
        What is kept for each loop that has snapshots.
    control : str
        The name of the argument.
    """

    def __init__(
        self, program: Program, classes: Classes, keeping: Keeping, live: Liveness,
        names: Names, writer: Writer, tape: Tape, is_on: bool,
    ) -> None:  # fmt: skip
        self.program, self.classes, self.live = program, classes, live
        self.names, self.writer, self.tape = names, writer, tape
        self.states: dict[Op, State] = {}
        self.control = names.fresh("control") if is_on else ""
        self.forward: Forward | None = None
        self._axes: list[str] = []  # the names that count along the axes of arrays
        for place, op in enumerate(program.body.ops if is_on else []):
            if op.name == "loop" and op in live.ops and keeping.is_reversed(op):
                state = self._state(op, place) if tape.pushes(op) else None
                if state is not None:
                    self.states[op] = state
        tape.apart = set(self.states)

    # What is kept

    def _state(self, op: Op, place: int) -> State | None:
        """Return the state before the steps of a loop; None where a part of it has no name outside
        of the loop."""
        inside = [o for o in op.body.walk() if o in self.live.ops]
        after = [o for top in self.program.body.ops[place + 1 :] for o in _with_nested(top)]
        changed = self._written(inside)
        later = self._written([o for o in after if o in self.live.ops])
        arrays, fixed = [], []
        for group in self._read(inside):
            if group in changed or group in later:
                roots = self._roots(group, op, place)
                if roots is None:
                    return None
                (arrays if group in changed else fixed).extend(roots)
        phis = [phi for phi in op.body.phis if phi in self.live.values and not phi.type.is_array]
        words = ("stride", "slots", "slot", "step", "segment", "first", "steps", "j")
        return State(arrays, fixed, phis, {word: self.names.fresh(word) for word in words})

    def _written(self, ops: list[Op]) -> set[Value]:
        return {self.classes.of(o.array) for o in ops if o.name in ("store", "accum")}

    def _read(self, ops: list[Op]) -> list[Value]:
        """The classes of arrays that operations read, in order."""
        found: dict[Value, None] = {}
        for op in ops:
            if op.name not in _READS_NOT and not op.regions:
                for arg in op.args:
                    if arg.type.is_array:
                        found[self.classes.of(arg)] = None
        return list(found)

    def _roots(self, group: Value, op: Op, place: int) -> list[Value] | None:
        """Return the arrays of a class that exist before a loop; None where the loop or a branch
        makes an array of the class."""
        top = [o for o in self.program.body.ops[:place] if o.name in ("alloc", "copy")]
        roots = [v for v in self.program.parameters if v.type.is_array] + [o.result for o in top]
        roots = [v for v in roots if self.classes.of(v) is group]
        made = [o for o in self.program.body.walk() if o.name in ("alloc", "copy")]
        others = [o for o in made if self.classes.of(o.result) is group and o not in top]
        if not others:
            return roots
        own = all(o.region.is_within(op.body) for o in others)
        return [] if own and not roots else None

    # The forward sweep

    def begin(self, op: Op, bounds: list[str]) -> None:
        """Write, before a loop, the length of the segments and the memory for snapshots."""
        state, line = self.states[op], self.writer.line
        for array in state.fixed:
            line(f"{self._kept(op, array)} = {self.names.of(array)}.copy()")
        nbytes = " + ".join(
            [f"{self.names.of(array)}.nbytes" for array in state.arrays]
            + [str(8 * len(state.numbers) + 8)]
        )
        room = f"{self.control}[{ROOM}] // ({len(self.states)} * ({nbytes}))"
        stride, slots = state["stride"], state["slots"]
        if _is_counted(op):
            trips = count_text(op, bounds)
            line(f"{slots} = max({room}, 1)")
            most = f"min(int(math.sqrt({trips})), {self.control}[{MOST}])"
            line(f"{stride} = max(1, {most}, -(-({trips}) // {slots}))")
            line(f"{slots} = -(-({trips}) // {stride})")
        else:
            line(f"{stride} = 1")
            line(f"{slots} = 2 * max(1, min({room}, {1 << 22}) // 2)")
        for value in [*state.arrays, *state.numbers]:
            line(f"{self._kept(op, value)} = {self._room(op, value)}")
        line(f"{state['slot']} = 0")
        line(f"{state['step']} = 0")
        self.tape.is_muted = True

    def _kept(self, op: Op, value: Value) -> str:
        names = self.states[op].names
        key = f"kept {id(value)}"
        if key not in names:
            names[key] = self.names.fresh(f"{value.hint or 't'}_kept")
        return names[key]

    def _room(self, op: Op, value: Value) -> str:
        slots, dtype = self.states[op]["slots"], value.type.dtype
        kind = f"np.{'bool_' if dtype == 'bool' else dtype}"
        if value.type.is_array:
            return f"np.empty(({slots},) + {self.names.of(value)}.shape, {kind})"
        return f"np.empty({slots}, {kind})"

    def step(self, op: Op) -> None:
        """Write, at the start of a step, a snapshot if one is due."""
        state, line = self.states[op], self.writer.line
        self._stop()
        step, slot, stride = state["step"], state["slot"], state["stride"]
        with self.writer.block(f"if {step} == {slot} * {stride}:"):
            if not _is_counted(op):
                self._thin(op)
            for value in [*state.arrays, *state.numbers]:
                self._move(value, [self._kept(op, value), slot], [self.names.of(value)])
            line(f"{slot} += 1")
        line(f"{step} += 1")

    def _thin(self, op: Op) -> None:
        """Write the code that drops every second snapshot when the slots are full."""
        state, line = self.states[op], self.writer.line
        slot, j = state["slot"], state["j"]
        with self.writer.block(f"if {slot} == {state['slots']}:"):
            line(f"{slot} //= 2")
            line(f"{state['stride']} *= 2")
            with self.writer.branches(f"for {j} in range({slot}):"):
                for value in [*state.arrays, *state.numbers]:
                    kept = self._kept(op, value)
                    self._move(value, [kept, j], [kept, f"2 * {j}"])

    def _move(self, value: Value, to: list[str], start: list[str]) -> None:
        """Write the copy of a value, to and from a name that the place in a row of values follows.

        Loops copy the elements of an array: for an assignment of arrays Numba would compile its
        functions of strings, which a message with both shapes needs.
        """
        ndim = value.type.ndim or 0
        self._axes += [self.names.fresh("axis") for _ in range(ndim - len(self._axes))]
        axes = self._axes[:ndim]
        with contextlib.ExitStack() as loops:
            for n, axis in enumerate(axes):
                count = f"{self.names.of(value)}.shape[{n}]"
                loops.enter_context(self.writer.block(f"for {axis} in range({count}):"))
            to_text, text = (_element(value, name, axes) for name in (to, start))
            self.writer.line(f"{to_text} = {text}")

    def end(self, op: Op) -> None:
        """Write the lines after a loop."""
        self.tape.is_muted = False

    def _stop(self) -> None:
        with self.writer.block(f"if {self.control}[{STOP}] != 0:"):
            self.writer.line(self.tape.enough())

    # The reverse sweep

    @contextlib.contextmanager
    def reversed_steps(self, op: Op) -> Iterator[None]:
        """Write the loops over segments and their steps, around the lines that reverse one step."""
        state, line = self.states[op], self.writer.line
        for array in state.fixed:
            self._move(array, [self.names.of(array)], [self._kept(op, array)])
        segment, first, steps, j = (state[n] for n in ("segment", "first", "steps", "j"))
        stride, slot = state["stride"], state["slot"]
        with self.writer.block(f"for {segment} in range({slot} - 1, -1, -1):"):
            line(f"{first} = {segment} * {stride}")
            line(f"{steps} = min({stride}, {state['step']} - {first})")
            self._restore(op)
            self._again(op)
            with self.writer.block(f"for {j} in range({steps} - 1, -1, -1):"):
                self._stop()
                self._index(op)
                yield

    def _restore(self, op: Op) -> None:
        state = self.states[op]
        for value in [*state.arrays, *state.numbers]:
            kept = [self._kept(op, value), state["segment"]]
            self._move(value, [self.names.of(value)], kept)
        body = op.body
        arrays = [n for n, phi in enumerate(body.phis) if phi.type.is_array]
        phis = [self.names.of(body.phis[n]) for n in arrays]
        yields = [self.names.of(body.yields[n]) for n in arrays]
        self.writer.assign(phis, [self.names.of(op.inits[n]) for n in arrays])
        if phis != yields:
            steps = order(dict(exchanged(op)))
            with self.writer.block(f"for _ in range({state['first']} % {steps}):"):
                self.writer.assign(phis, yields)

    def _again(self, op: Op) -> None:
        """Write the steps of a segment once more, with the tape."""
        state, line = self.states[op], self.writer.line
        assert self.forward is not None
        line(f"{self.control}[{STEPS}] = {state['steps']}")
        with self.writer.block(f"for {state['j']} in range({state['steps']}):"):
            line(f"{self.control}[{FITTED}] = {state['j']}")
            self._stop()
            self._index(op)
            self.forward.again(op)
        line(f"{self.control}[{STEPS}] = 0")

    def _index(self, op: Op) -> None:
        if op.is_for:
            state = self.states[op]
            assert op.body.index is not None
            start, _, by = (self.tape.text(bound) for bound in op.bounds)
            step = f"{state['first']} + {state['j']}"
            self.writer.line(f"{self.names.of(op.body.index)} = ({start}) + ({step}) * ({by})")


def _element(value: Value, place: list[str], axes: list[str]) -> str:
    """Return the text of a number, or of an element of an array."""
    name, *index = [*place, *axes]
    if not index and not value.type.is_array:
        return name
    return f"{name}[{', '.join(index) or '()'}]"


def _is_counted(op: Op) -> bool:
    """Whether the number of steps is known before a loop."""
    return op.is_for and op.body.go_on is None


def _with_nested(op: Op) -> Iterator[Op]:
    yield op
    for region in op.regions:
        yield from region.walk()
