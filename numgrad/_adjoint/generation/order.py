"""The order in which the steps of a loop are reversed: steps that commute are reversed upwards,
which vectorises; sums of cotangents stay in registers."""

from ..analyses.activity import Activity
from ..analyses.dependence import EQUAL, LATER, Dependence, are_exchanged
from ..analyses.totals import uses
from ..ssa.ir import Op, Region
from .tape import Tape

_WRITES = ("store", "accum")


class Order:
    """Answers in which orders the steps of a loop may be reversed.

    Parameters
    ----------
    activity, dependence, tape
        What is known of the program.
    is_on : bool
        Whether another order than the reverse one is ever taken.
    """

    def __init__(
        self, activity: Activity, dependence: Dependence, tape: Tape, is_on: bool = True
    ) -> None:
        self.activity, self.dependence, self.tape, self.is_on = activity, dependence, tape, is_on

    def is_free(self, op: Op) -> bool:
        """Whether the steps of a loop commute: each only adds to cotangents, or has elements of its
        own."""
        if not self.is_on or not op.is_for or op.body.go_on is not None:
            return False
        if self.tape.has_arrays(op.body) or any(self.tape.pushes(inner) for inner in op.body.ops):
            return False
        if any(o.name == "copy" and o.result in self.activity for o in op.body.walk()):
            return False
        if not all(self._is_sum(op, place) for place in range(len(op.results))):
            return False
        return self._have_own_elements(op)

    def _is_sum(self, op: Op, place: int) -> bool:
        """Whether a carried value has no cotangent, or the steps only add to it."""
        body = op.body
        phi, given = body.phis[place], body.yields[place]
        if phi.type.is_array:
            return given is phi
        if phi not in self.activity:
            return True
        made = given.op
        if (
            made is None
            or made.region is not body
            or made.name not in ("add", "sub")
            or made.args[0] is not phi
        ):
            return False
        return uses(body, phi) == 1 and uses(body, given) == 1

    def _have_own_elements(self, op: Op) -> bool:
        """Whether no step changes the cotangent of an element that another step reads or adds to.
        """
        inner = [o for o in op.body.walk() if o.name in (*_WRITES, "load") and self._is_active(o)]
        around = {region: EQUAL for region in op.region.ancestors() if region.is_loop}
        directions = {**around, op.body: LATER}
        for n, one in enumerate(inner):
            for other in inner[n:]:
                if self._conflict(one, other) and self._may_meet(one, other, directions):
                    return False
        return True

    def _is_active(self, op: Op) -> bool:
        if op.name == "load":
            return op.result in self.activity
        return op.array in self.activity

    def _conflict(self, one: Op, other: Op) -> bool:
        """Whether the reverses of two accesses do not commute if both are of the same element."""
        same_class = self.dependence.classes.of(one.array) is self.dependence.classes.of(
            other.array
        )
        names = {one.name, other.name}
        return same_class and names not in ({"load"}, {"accum"})

    def _may_meet(self, one: Op, other: Op, directions: dict[Region, str]) -> bool:
        if are_exchanged(one.array, other.array):
            return False
        within = dict(directions)
        for region in [*one.region.ancestors(), *other.region.ancestors()]:
            if region.is_loop:
                within.setdefault(region, "*")
        meet = self.dependence.may_meet
        return meet(one, other, within) or meet(other, one, within)

    def kept_sums(self, op: Op) -> list[Op]:
        """Return the loads of a loop that are of the same element in all steps: their cotangents
        are summed in a register."""
        if not self.is_on:
            return []
        body = op.body
        written = {self.dependence.classes.of(o.array) for o in body.walk() if o.name in _WRITES}
        return [
            o
            for o in body.ops
            if o.name == "load"
            and o.result in self.activity
            and self.dependence.classes.of(o.array) not in written
            and not any(v.region.is_within(body) for v in o.args)
        ]
