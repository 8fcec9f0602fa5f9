"""Folding: the long graph that a loop of Python leaves in a captured function becomes one operator.

A plain loop of 10 000 steps is captured as all operations of all steps. Where the same operations
repeat, what follows (the derivative, lowering, fusing, compiling) need see them once only: the
repeated operations are recorded anew as the body of a `Loop`, as `ng.scan` would have them, and
what depends on their results is recorded anew after it. Numbers and gradients have the same bits.
Where anything is met that a loop operator cannot have, the graph stays as it is.
"""

from collections.abc import Sequence
from typing import Any

from ..._declare import registry
from ..._settings import accelerator
from ...engine.graph.value import next_number
from ...engine.lower.fallback import attempt
from ...engine.record.apply import changing
from ...engine.rolling.periods import Run, runs
from ...functions.array.operands import as_scalar
from ...process.gc_pause import paused
from .alike import Alike, with_fewest_carried
from .folded_loop import FoldedLoop, WideError
from .recorded import CONSTANT, NOWHERE, NotFoldableError, Recorded, applied_to, are_plain
from .stacked import Stacked

_FEWEST = 1 << 15  # nodes and expressions of a function that is looked at
_FEWEST_TURNS = 32  # of a loop
_EXPRESSIONS = 256  # of one step, where a turn works on many numbers
_LEAST_SHARE = 0.5  # of the expressions, which loops have to replace


def folded(outputs: Sequence[Any], first: int) -> list[Any]:
    """Return the outputs of a captured function with loop operators for operations that repeat.

    ``first`` is the creation number from before the call of the function.
    """
    if next_number() - first < _FEWEST:
        return list(outputs)
    return _folded(outputs) or list(outputs)


@accelerator
def _folded(outputs: Sequence[Any]) -> list[Any] | None:
    def made() -> list[Any] | None:
        try:
            return _recorded_anew(outputs)
        except NotFoldableError:
            return None

    with paused(), changing(grad=True):
        return attempt("fold a loop", f"{len(outputs)} results", made)


def _recorded_anew(outputs: Sequence[Any]) -> list[Any]:
    """Return the outputs recorded anew, several turns at a time where a turn is on many numbers."""
    recorded = Recorded(outputs)
    found, wide = runs(recorded.codes, _FEWEST_TURNS), set[int]()
    repeated = sum([run.stop - run.first for run in found])
    if repeated < _LEAST_SHARE * len(recorded.exprs) or not are_plain(recorded.exprs):
        raise NotFoldableError
    recorded.find_operands(outputs)
    while True:
        try:
            return Folder(recorded, outputs, found, wide).outputs()
        except WideError as error:
            if error.run in wide:
                raise NotFoldableError from None
            wide.add(error.run)


class Folder:
    """Records the expressions behind some outputs anew, with loops for what repeats.

    Parameters
    ----------
    recorded : Recorded
    outputs : sequence of Value
    found : sequence of Run
        What repeats among the expressions.
    wide : set of int
        The numbers of the runs whose turns are on many numbers: several of them become one step.

    Attributes
    ----------
    loops : list of FoldedLoop
        In the order of the expressions that they replace.
    done : list of FoldedLoop
        The loops that have been recorded.
    passed : dict
        What these loops hand on, by `Recorded.key`.
    """

    def __init__(
        self, recorded: Recorded, outputs: Sequence[Any], found: Sequence[Run], wide: set[int]
    ) -> None:
        self.recorded, self._outputs = recorded, outputs
        loops = [self._loop_of(n, run, n in wide) for n, run in enumerate(found)]
        self.loops = [loop for loop in loops if loop is not None]
        replaced = sum([loop.stop - loop.begin for loop in self.loops])
        if replaced < _LEAST_SHARE * len(recorded.exprs):
            raise NotFoldableError
        self._new: dict[int, Sequence[Any]] = {}
        self._first = self.loops[0].begin
        self.done: list[FoldedLoop] = []
        self.passed: dict[Any, Any] = {}

    def _loop_of(self, number: int, run: Run, is_wide: bool) -> FoldedLoop | None:
        """Return the loop for a run; None where too few turns are alike."""
        if is_wide:
            times = max(_EXPRESSIONS // run.period, 1)
            run = run._replace(period=run.period * times)
            if run.turns < 3:
                return None
        run = with_fewest_carried(self.recorded, run)
        alike = Alike(self.recorded, run)
        fewest = 2 if is_wide else _FEWEST_TURNS
        if alike.stop - alike.first < fewest:
            return None
        return FoldedLoop(self, alike, number, is_wide)

    def outputs(self) -> list[Any]:
        """Return the outputs, recorded anew."""
        for loop in self.loops:
            loop.narrow()
            loop.find_yields(self._outputs)
        begins = [*[loop.begin for loop in self.loops[1:]], len(self.recorded.exprs)]
        for loop, end in zip(self.loops, begins, strict=True):
            loop.run()
            self.done.append(loop)
            for number in range(loop.stop, end):
                self._record(number)
        return list(map(self._output, self._outputs))

    def _record(self, number: int) -> None:
        """Record an expression anew.

        All behind the first loop are recorded anew, so that cotangents arrive in the former order.
        """
        recorded = self.recorded
        places = range(int(recorded.starts[number]), int(recorded.starts[number + 1]))
        expr = recorded.exprs[number]
        if expr.operator is registry["stack"]:
            self._new[number] = [Stacked(self, places).along(expr.static["axis"])]
            return
        inputs = tuple(map(self.operand, places))
        if not inputs:  # such as an argument
            self._new[number] = [recorded.result(number, n) for n in range(len(expr.specs))]
            return
        self._new[number] = applied_to(expr, inputs)

    def loop_at(self, number: int) -> FoldedLoop | None:
        """Return the loop that replaces an expression, None for an expression that stays."""
        if number == CONSTANT:
            return None
        return next((loop for loop in self.loops if loop.begin <= number < loop.stop), None)

    def begun(self) -> list[int]:
        """Return the numbers of the expressions that are read as first states of loops."""
        return [number for loop in self.done for number in loop.begun()]

    def operand(self, place: int) -> Any:
        """Return an operand as the new expressions read it."""
        recorded = self.recorded
        number, flow = int(recorded.sources[place]), int(recorded.flows[place])
        found = self.passed.get(recorded.key(place)) if flow != NOWHERE else None
        if found is not None:
            return found
        slot = int(recorded.slots[place])
        if number == CONSTANT or not self._is_read_anew(number, slot):
            return recorded.value(place)
        if flow < NOWHERE:
            raise NotFoldableError
        value = self.result(number, slot)
        return value.detached() if flow == NOWHERE else value

    def _is_read_anew(self, number: int, slot: int) -> bool:
        return number >= self._first or any([loop.begins_with(number, slot) for loop in self.done])  # noqa: C419

    def result(self, number: int, slot: int) -> Any:
        """Return a result of an expression as the new expressions read it."""
        # A state before the first turn of a loop is read as that loop yields it.
        begun = [loop for loop in self.done if loop.begins_with(number, slot)]
        if begun:
            return begun[-1].result(number, slot)
        found = self._new.get(number)
        if found is not None:
            return found[slot]
        loop = self.loop_at(number)
        return self.recorded.result(number, slot) if loop is None else loop.result(number, slot)

    def _output(self, output: Any) -> Any:
        recorded = self.recorded
        number = CONSTANT if output.array is not None else recorded.number[output.expr]
        if number == CONSTANT or not self._is_read_anew(number, output.expr_slot):
            return output
        value = self.result(number, output.expr_slot)
        if not output.requires_grad:
            value = value.detached()
        elif output.node is not recorded.nodes[number]:
            raise NotFoldableError
        if value.spec != output.spec:
            raise NotFoldableError
        return as_scalar(value) if output.is_scalar else value


__all__ = ["Folder", "folded"]
