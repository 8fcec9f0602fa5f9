"""Which loops over ``prange`` run in chunks on several threads: those of which no step changes what
another step reads or changes, or for which each chunk has elements and sums of its own."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..analyses.dependence import are_exchanged
from ..analyses.keep import Keeping
from ..analyses.totals import is_total
from ..ssa.ir import Op, Program, Region, Value, free_values
from ..ssa.partials import SCALARS
from ..ssa.ranges import affine, is_natural
from .order import Order
from .tape import Tape

_RAISING = ("raise", "check", "enough", "room", "given")


@dataclass
class Shares:
    """What the chunks of a loop of the reverse sweep have of their own.

    Attributes
    ----------
    numbers : list of Value
        Numbers from outside of the loop to whose cotangents its steps add.
    arrays : list of Value
        Arrays to any elements of whose shadows steps add.
    apart : int
        How many steps lie between two that never add to the same element of another shadow.
    """

    numbers: list[Value]
    arrays: list[Value] = field(default_factory=list)
    apart: int = 1


@dataclass
class Access:
    """An access to an array from outside of a loop: whether its reverse adds to the shadow, reads
    it, or sets it to 0 (``"load"``, ``"accum"``, ``"store"``), and the index along each axis; None
    where the index is not known."""

    name: str
    index: list[Value | None]


class Races:
    """Answers which loops run in chunks.

    Parameters
    ----------
    program, keeping, orders, tape
        What is known of the program.
    others : set of Op
        Loops that do not.
    is_on : bool
        Whether any loop runs in chunks.
    """

    def __init__(
        self, program: Program, keeping: Keeping, orders: Order, tape: Tape, others: set[Op],
        is_on: bool = True,
    ) -> None:  # fmt: skip
        self.program, self.keeping, self.orders, self.tape = program, keeping, orders, tape
        self.classes, self.activity = keeping.classes, keeping.activity
        self.others, self.is_on = others, is_on
        self._known: dict[Op, Shares | None] = {}

    def of(self, op: Op) -> Shares | None:
        """Return what the chunks of a loop of the reverse sweep have of their own; None for a loop
        that does not run in chunks."""
        if op not in self._known:
            self._known[op] = self._sought(op) if self._is_candidate(op) else None
        return self._known[op]

    def _is_candidate(self, op: Op) -> bool:
        if not (self.is_on and op.info.get("is_parallel")) or op in self.others:
            return False
        if op.body.go_on is not None:
            return False
        if isinstance(op.bounds[2].constant, int) and op.bounds[2].constant == 1:
            around = [region.owner for region in op.region.ancestors() if region.is_loop]
            return not any(owner is not None and self.of(owner) for owner in around)
        return False

    # The reverse sweep

    def _sought(self, op: Op) -> Shares | None:
        if any(phi.type.is_array for phi in op.body.phis):
            return None
        pairs = zip(op.body.phis, op.body.yields, strict=True)
        if not all(is_total(*pair) for pair in pairs if pair[0] in self.activity):
            return None
        shares = Shares(self._numbers(op))
        accesses = self._accesses(op, self._reversed(op), "accum")
        numbers = [*shares.numbers, *(load.result for load in self.orders.kept_sums(op))]
        if any(number.type.is_complex for number in numbers) or accesses is None:
            return None
        for array, found in accesses.items():
            if not self._share(op, array, found, shares):
                return None
        return shares

    def is_pushing(self, op: Op) -> bool:
        """Whether the steps of a loop push values to the tape, whose places are not known before.
        """
        return self.tape.pushes(op) and not self.tape.has_rows(op)

    def _numbers(self, op: Op) -> list[Value]:
        inside = [v for o in op.body.ops for v in free_values(o)] + op.body.ends()
        outside = dict.fromkeys(v for v in inside if not v.region.is_within(op.body))
        return [
            v for v in outside
            if v in self.activity and not v.type.is_array and v.constant is None
        ]  # fmt: skip

    def _reversed(self, op: Op) -> list[tuple[str, Op]]:
        """Return the operations whose reverses read or change shadows, with the kind of each."""
        sums = self.orders.kept_sums(op)
        found = []
        for o in op.body.walk():
            if o.name == "load" and o.result in self.activity and o not in sums:
                found.append(("load", o))
            elif o.name in ("store", "accum") and o.array in self.activity:
                found.append((o.name, o))
            elif o.name == "copy" and o.args[0] in self.activity:
                found.append(("load", o))
        return found

    def _share(self, op: Op, array: Value, found: list[Access], shares: Shares) -> bool:
        """Add to the shares what the accesses to an array need; return whether chunks may run at
        the same time at all."""
        names = {access.name for access in found}
        apart = _apart(op, found)
        if names == {"accum"}:  # their reverses only read
            return True
        if apart == 1 or (apart is not None and names == {"load"}):
            shares.apart = max(shares.apart, apart)
            return True
        if names == {"load"} and array.type.ndim:
            shares.arrays.append(array)
            return True
        return False

    # The forward sweep

    def is_free_forward(self, op: Op, live: Sequence[Value], ops: set[Op]) -> bool:
        """Whether the steps of a loop of the forward sweep may run at the same time.

        Parameters
        ----------
        live : sequence of Value
            The numbers that the loop carries.
        ops : set of Op
            The operations of the forward sweep.
        """
        if not self._is_candidate(op) or live:
            return False
        inner = [o for o in op.body.walk() if o in ops]
        if any(o.name in _RAISING for o in inner) or any(p.type.is_array for p in op.body.phis):
            return False
        named = ("load", "store", "accum")
        kinds = [(o.name if o.name in named else "load", o) for o in inner
                 if o.name in (*named, "copy")]  # fmt: skip
        accesses = self._accesses(op, kinds, "load")
        return accesses is not None and all(
            {access.name for access in found} == {"load"} or _apart(op, found) == 1
            for found in accesses.values()
        )

    # Accesses

    def _accesses(
        self, op: Op, kinds: Sequence[tuple[str, Op]], harmless: str
    ) -> dict[Value, list[Access]] | None:
        """Return the accesses to each array from outside of a loop; None where two of the arrays
        may share memory, or it is not known which array is meant.

        Parameters
        ----------
        kinds : sequence of tuple
            The kind and the operation of each access.
        harmless : str
            The kind that changes nothing.
        """
        found: dict[Value, list[Access]] = {}
        for name, o in kinds:
            array, index = _rooted(o, op.body)
            if not array.region.is_within(op.body):
                found.setdefault(array, []).append(Access(name, index))
            elif not self._is_made_inside(array, op.body):
                return None
        for one, other in itertools.combinations(found, 2):
            is_harmless = {a.name for a in [*found[one], *found[other]]} == {harmless}
            is_same = self.classes.of(one) is self.classes.of(other)
            if is_same and not is_harmless and not are_exchanged(one, other):
                return None
        return found

    def _is_made_inside(self, array: Value, body: Region) -> bool:
        """Whether each step makes the arrays of a class anew."""
        group = self.classes.of(array)
        given = [*self.program.parameters, *self.program.global_arrays]
        makers = [o for o in self.program.body.walk() if o.name in ("alloc", "copy", "given")]
        made = [v for o in makers for v in o.results if v.type.is_array]
        own = [v for v in made if self.classes.of(v) is group]
        is_given = any(v.type.is_array and self.classes.of(v) is group for v in given)
        return bool(own) and not is_given and all(v.region.is_within(body) for v in own)

    # Work

    def work(self, op: Op, text: Callable[[Value], str], ops: set[Op] | None = None) -> str:
        """Return about how many operations a step of a loop takes, as text.

        Parameters
        ----------
        op : Op
        text : callable
            Returns the text of a value from outside of the loop.
        ops : set of Op, optional
            The operations whose arguments are there; all by default.
        """

        def outer(value: Value) -> str | None:
            if value.constant is not None or op.region.is_within(value.region):
                return text(value)
            base, shift = affine(value)  # such as n - 1, which the steps compute
            if base is None or not op.region.is_within(base.region):
                return None
            return f"{text(base)} {'-' if shift < 0 else '+'} {abs(shift)}"

        return self._work_of(op.body, outer, ops)

    def _work_of(
        self, region: Region, text: Callable[[Value], str | None], ops: set[Op] | None
    ) -> str:
        heavy = [o for o in region.ops if o.name in SCALARS and SCALARS[o.name].heavy]
        parts = [str(len(region.ops) + _UNITS * len(heavy))]
        for o in region.ops:
            for inner in o.regions:
                work = self._work_of(inner, text, ops)
                if o.name == "loop":
                    is_known = o.is_for and self.keeping.is_reversed(o)
                    is_known = is_known and (ops is None or o in ops)
                    work = f"({_steps(o, text) if is_known else _STEPS}) * ({work})"
                parts.append(work)
        return " + ".join(parts)


_UNITS = 20  # operations that a function such as the exponential takes as long as
_STEPS = 8  # of a loop of which nothing is known


def _steps(op: Op, text: Callable[[Value], str | None]) -> str:
    """Return about how many steps a loop has; one that starts at a number which differs from step
    to step of the loop around is taken to start in the middle."""
    start, stop, step = text(op.bounds[0]), text(op.bounds[1]), op.bounds[2].constant
    if stop is None or not isinstance(step, int) or step == 0:
        return str(_STEPS)
    if start is None:
        return f"abs({stop}) // 2 + 1"
    length = stop if start == "0" else f"({stop}) - ({start})"
    return f"abs({length}) + 1" if abs(step) == 1 else f"abs({length}) // {abs(step)} + 1"


def _rooted(op: Op, body: Region) -> tuple[Value, list[Value | None]]:
    """Return the array of an access, with the views that a region takes of it undone, and the index
    along each of its axes."""
    array = op.args[0]
    index: list[Value | None] = list(op.index) if op.name != "copy" else _unknown(array)
    while array.op is not None and array.op.name == "view" and array.region.is_within(body):
        spec, base = array.op.info["spec"], array.op.args[0]
        rest = iter(array.op.args[1:])
        if spec in ("T", "reshape"):
            index = index[::-1] if spec == "T" else _unknown(base)
        elif spec not in ("real", "imag"):
            index = list(_through(spec, iter(index), rest))
        array = base
    return array, index


def _through(
    spec: str, given: Iterator[Value | None], rest: Iterator[Value]
) -> Iterator[Value | None]:
    """Yield the index along each axis of the array that a view was taken of."""
    for letter in spec:
        if letter == "i":
            yield next(rest)
            continue
        position = next(given)
        for _ in range({"+": 1, "%": 2}.get(letter, 0)):
            next(rest)
        if letter != "n":
            yield position if letter == ":" else None


def _unknown(array: Value) -> list[Value | None]:
    return [None] * (array.type.ndim or 0)


def _apart(op: Op, found: Sequence[Access]) -> int | None:
    """Return how many steps lie between two that never meet: 1 where each step has elements of its
    own; None where any two steps may meet."""
    spans = []
    for axis in range(len(found[0].index)):
        places = [_place(op, access.index[axis]) for access in found]
        known = [place for place in places if place is not None]
        if len(known) == len(places) and len({factor for factor, _ in known}) == 1:
            shifts = [shift for _, shift in known]
            spans.append((max(shifts) - min(shifts)) // known[0][0] + 1)
    return min(spans, default=None)


def _place(op: Op, index: Value | None) -> tuple[int, int] | None:
    """Return a positive factor and a shift, where an index is the variable of a loop times the
    factor plus the shift, and never negative."""
    if index is None or not is_natural(index):
        return None
    base, shift = affine(index)
    if base is op.body.index:
        return 1, shift
    if base is None or base.op is None or base.op.name != "mul":
        return None
    for one, other in (base.op.args, base.op.args[::-1]):
        if one is op.body.index and isinstance(other.constant, int) and other.constant > 0:
            return int(other.constant), shift
    return None
