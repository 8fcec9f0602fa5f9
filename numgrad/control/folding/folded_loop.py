"""Folded loops: a loop operator takes the place of turns that are alike."""

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._tensor import Tensor
from ...engine.graph.value import CPU
from ...functions.shape.joining import concat
from ..body import Body
from ..loop import Loop
from ..recording import keeps_all
from ..steps import Sizes
from .alike import Alike, Source, span_around, stacked
from .passing import PassingLoop
from .recorded import CONSTANT, NOWHERE, NotFoldableError, applied_to, is_settled

_FEWEST = 3  # turns, of which the last one may be left out
_MOST_SINGLE = 64  # results of single turns that are read behind a loop, but for the carried ones


class Carry(NamedTuple):
    """A result that a turn reads of an earlier one: its expression in a turn, slot, and how long
    ago."""

    place: int
    slot: int
    turns: int


class WideError(Exception):
    """Raised for a loop whose steps are on so many numbers that no kernel loops over them.

    ``run`` is the number of the run.
    """

    def __init__(self, run: int) -> None:
        super().__init__(run)
        self.run = run


class FoldedLoop:
    """One loop in the place of turns that are alike.

    Parameters
    ----------
    folder : Folder
    alike : Alike
    number : int
        The number of the run.
    is_wide : bool
        Whether a program may run for each step; else a body on many numbers raises an error.

    Attributes
    ----------
    begin, stop : int
        The range of the expressions that the loop replaces.
    """

    def __init__(self, folder: Any, alike: Alike, number: int, is_wide: bool) -> None:
        # No cycle: else only the garbage collector, after a look at all of it, freed the recording.
        self._folder, self._alike = weakref.proxy(folder), alike
        self._number, self._is_wide = number, is_wide
        self._recorded, self.period = folder.recorded, alike.run.period
        self._first, self._last = alike.first, alike.stop
        self._carried = list(dict.fromkeys([
            Carry(s.place, s.slot, n + 1)
            for s in alike.sources if s.kind == "before" for n in range(s.turns)
        ]))  # fmt: skip
        self._yields: dict[tuple[int, int], Any] = {}
        self._results: list[Any] = []

    @property
    def begin(self) -> int:
        return self._at(self._first)

    @property
    def stop(self) -> int:
        return self._at(self._last)

    def _at(self, turn: int, place: int = 0) -> int:
        """Return the number of an expression in a turn."""
        return self._alike.run.first + turn * self.period + place

    def _turn_of(self, numbers: Any) -> tuple[Any, Any]:
        """Return the turns of expressions, and their places within a turn."""
        return np.divmod(numbers - self._alike.run.first, self.period)

    def narrow(self) -> None:
        """Leave out turns that read results of an earlier loop which that loop does not have."""
        alike, folder = self._alike, self._folder
        for column, source in enumerate(alike.sources):
            numbers = self._recorded.sources[alike.places[:, column]]
            if source.kind != "moving" or numbers[alike.middle] == CONSTANT:
                continue
            loop = folder.loop_at(int(numbers[alike.middle]))
            if loop is None or loop is self:
                raise NotFoldableError
            is_there = (numbers >= loop.begin) & (numbers < loop.stop)
            first, last = span_around(alike.middle, is_there)
            self._first, self._last = max(self._first, first), min(self._last, last)
        if self.turns < _FEWEST:
            raise NotFoldableError

    # What is read behind the loop --------------------------------------------------------------

    def find_yields(self, outputs: Sequence[Any]) -> None:
        """Find which results of the turns are read behind the loop.

        What only the last turn has is left to expressions behind the loop. A carried result is
        yielded by the turn that reads it, not by the one that makes it: so its cotangent from
        behind the loop arrives before those of the turn that reads it, as without a loop.
        """
        numbers, slots = self._reads(outputs)
        turns, places = self._turn_of(numbers)
        is_last = turns == self._last - 1
        last = zip(places[is_last].tolist(), slots[is_last].tolist(), strict=True)
        if any([Carry(*pair, 1) not in self._carried for pair in last]):  # noqa: C419
            self._last -= 1
            numbers, slots = self._reads(outputs)
            turns, places = self._turn_of(numbers)
        known = set(self._carried)
        for turn, place, slot in zip(turns.tolist(), places.tolist(), slots.tolist(), strict=True):
            is_carried = Carry(place, slot, 1) in known
            if turn < self._first and not is_carried:
                continue
            if turn < self._first - 1 or (turn < self._first and Carry(place, slot, 2) in known):
                raise NotFoldableError
            if not (is_carried and Carry(place, slot, self._last - turn) in known):
                self._yields.setdefault((place, slot))

    def _reads(self, outputs: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and slots of results that are read behind the loop: of its turns, and
        of those right before them."""
        recorded = self._recorded
        most = max([c.turns for c in self._carried], default=0)
        first, behind = max(self._at(self._first - most), 0), int(recorded.starts[self.stop])
        sources, slots = recorded.sources[behind:], recorded.slots[behind:]
        is_ours = (sources >= first) & (sources < self.stop)
        ends = [(recorded.number[o.expr], o.expr_slot) for o in outputs if o.array is None]
        ends = [end for end in ends if first <= end[0] < self.stop]
        found = np.array(ends, np.int64).reshape(-1, 2)
        return (
            np.concatenate([sources[is_ours], found[:, 0]]),
            np.concatenate([slots[is_ours], found[:, 1]]),
        )

    def begins_with(self, number: int, slot: int) -> bool:
        """Whether the loop yields a result of the turn before its first one, as a state."""
        turn, place = self._turn_of(number)
        key = int(place), slot
        return turn == self._first - 1 and Carry(*key, 1) in self._carried and key in self._yields

    def begun(self) -> list[int]:
        """Return the numbers of the results for which `begins_with` is true."""
        places = [place for place, slot in self._yields if Carry(place, slot, 1) in self._carried]
        return [self._at(self._first - 1, place) for place in places]

    def result(self, number: int, slot: int) -> Any:
        """Return the result of an expression that the loop replaces."""
        turn, place = self._turn_of(number)
        carry = Carry(int(place), slot, int(self._last - turn))
        if carry in self._carried:
            return self._results[self._carried.index(carry)]
        self._singles += 1
        whole = self._yields.get((int(place), slot))
        if whole is None or self._singles > _MOST_SINGLE:
            raise NotFoldableError
        return whole[int(turn) - self._begin_of(int(place), slot)]

    def _begin_of(self, place: int, slot: int) -> int:
        """Return the turn whose result is the first of a series."""
        return self._first - (Carry(place, slot, 1) in self._carried)

    def series(self, numbers: np.ndarray, slot: int) -> Any:
        """Return results of one expression at turns in steps of equal size, as one array.

        ``numbers`` are the numbers of the expression at these turns.
        """
        turns, places = self._turn_of(numbers)
        steps, place = np.diff(turns), int(places[0])
        if (places != place).any() or (steps != steps[0]).any():
            raise NotFoldableError
        if (place, slot) not in self._yields:
            raise NotFoldableError
        whole, begin = self._yields[place, slot], self._begin_of(place, slot)
        if begin < self._first:  # the last one is the carried result
            final = self._results[self._carried.index(Carry(place, slot, 1))]
            whole = concat([whole, final[None]])
        first, step = int(turns[0]) - begin, int(steps[0])
        stop = first + step * len(turns)
        return whole[first : (None if stop < 0 else stop) : step]

    # The loop ----------------------------------------------------------------------------------

    def run(self) -> None:
        """Record the loop."""
        alike, folder = self._alike, self._folder
        self._singles = 0
        self._operands: list[Any] = [None] * len(alike.sources)
        self._moving: list[Any] = []  # arrays with an element for each turn
        self._constants: dict[Any, tuple[int, int, Any]] = {}
        self._series: set[Any] = set()
        self._indices = {p: self._add_moving(self._indexed(p)) for p in alike.in_order()}
        skipped = {int(self._recorded.starts[self._at(alike.middle, p)]) for p in self._indices}
        for column, source in enumerate(alike.sources):
            if int(alike.places[alike.middle, column]) not in skipped:
                self._operands[column] = self._operand(column, source)
        first = [folder.result(self._at(self._first - c.turns, c.place), c.slot)
                 for c in self._carried]  # fmt: skip
        constants = [value for _, _, value in self._constants.values()]
        specs = [(v.shape, v.dtype) for v in first]
        specs += [(v.shape[1:], v.dtype) for v in self._moving]
        specs += [(v.shape, v.dtype) for v in constants]
        sizes = Sizes(len(first), len(self._moving))
        body = Body.of("loop", self._step, specs, CPU)
        if body.results[: len(first)] != specs[: len(first)]:
            raise NotFoldableError
        loop = Loop(body, sizes, self.turns, False)
        loop.is_folded = True
        self._require_narrow(loop)
        self._results = self._applied(loop, [*first, *self._moving, *constants], specs)
        for key, series in zip(self._yields, self._results[len(first) :], strict=False):
            self._yields[key] = series

    @property
    def turns(self) -> int:
        return self._last - self._first

    def _applied(self, loop: Loop, values: list[Any], specs: list[Any]) -> list[Any]:
        """Return the results of the loop for values, connected to the graph.

        Arrays that all turns read are handed on to what follows where gradients flow to them.
        """
        if not any([value.requires_grad for value in values]):  # noqa: C419  a list is faster
            return list(loop.apply(*values))
        if not keeps_all(loop):
            raise NotFoldableError
        begin = len(values) - len(self._constants)
        passed = [n for n in range(begin, len(values)) if values[n].requires_grad]

        def through(*arguments: Any) -> list[Any]:
            return [*self._step(*arguments), *[arguments[n] for n in passed]]

        passing = PassingLoop(loop, Body.of("loop", through, specs, CPU), passed)
        self._require_narrow(passing.reverse_for([v.requires_grad for v in values]).backward)
        results = list(passing.apply(*values))
        handed = dict(zip(passed, results[len(results) - len(passed) :], strict=True))
        for number, place, _ in self._constants.values():
            if begin + number in handed:
                self._folder.passed[self._recorded.key(place)] = handed[begin + number]
        return results[: len(loop.out_specs)]

    def _require_narrow(self, loop: Loop) -> None:
        if loop.as_loop() is None and not self._is_wide:
            raise WideError(self._number)

    def _add_moving(self, array: Any) -> tuple[str, int]:
        self._moving.append(array)
        return "moving", len(self._moving) - 1

    def _indexed(self, place: int) -> Any:
        """Return the elements at an index that moves from turn to turn, along a first axis."""
        index = self._alike.indices[place]
        column = int(self._recorded.starts[self._at(0, place)] - self._alike.places[0, 0])
        source = self._alike.sources[column]
        if source.kind != "same":
            raise NotFoldableError
        at = int(self._alike.places[self._first, column])
        base = self._folder.operand(at)
        self._series.add(self._recorded.key(at))
        return index.elements(base, self._first, self._last)

    def _operand(self, column: int, source: Source) -> tuple[Any, ...]:
        """Return where a step finds an operand: its kind, and a number or value."""
        if source.kind in ("own", "before"):
            return source.kind, source
        recorded = self._recorded
        places = self._alike.places[self._first : self._last, column]
        operand = recorded.operands[int(places[0])]
        is_constant = int(recorded.sources[places[0]]) == CONSTANT
        if source.kind == "moving":
            found = self._stacked(places) if is_constant else self._of_earlier_loop(places)
            if found is not None:
                return found
        if is_constant and is_settled(operand) and not recorded.flows[places[0]]:
            return "fixed", operand
        return self._add_constant(int(places[0]))

    def _stacked(self, places: np.ndarray) -> tuple[Any, ...] | None:
        """Return where a step finds arrays that nobody can write, another one at each turn; None
        for arrays that are all equal."""
        operands = [self._recorded.operands[place] for place in places.tolist()]
        if not all(map(is_settled, operands)) or self._recorded.flows[places].any():
            raise NotFoldableError
        whole = stacked(operands)
        return None if whole is None else self._add_moving(Tensor(whole))

    def _add_constant(self, place: int) -> tuple[str, int]:
        key = self._recorded.key(place)
        if key in self._series and self._recorded.flows[place]:
            raise NotFoldableError  # cotangents of parts and of the whole would mix
        if key not in self._constants:
            self._constants[key] = len(self._constants), place, self._folder.operand(place)
        return "constant", self._constants[key][0]

    def _of_earlier_loop(self, places: np.ndarray) -> tuple[str, int]:
        """Return where a step finds results of an earlier loop, one at each turn."""
        recorded = self._recorded
        numbers, slot = recorded.sources[places], int(recorded.slots[places[0]])
        loop = self._folder.loop_at(int(numbers[0]))
        if np.isin(numbers, self._folder.begun()).any():
            raise NotFoldableError
        flow = int(recorded.flows[places[0]])
        _, place = loop._turn_of(int(numbers[0]))
        key = id(loop), int(place), slot
        if flow and key in self._series:
            raise NotFoldableError  # cotangents of two readers would be added before others
        self._series.add(key)
        series = loop.series(numbers, slot)
        return self._add_moving(series.detached() if flow == NOWHERE else series)

    def _step(self, *arguments: Any) -> list[Any]:
        """Return what one step hands on and yields, for its arguments."""
        recorded, middle = self._recorded, self._alike.middle
        carried, moving, constants = Sizes(len(self._carried), len(self._moving)).split(arguments)
        before = dict(zip(self._carried, carried, strict=True))
        own: dict[tuple[int, int], Any] = {}
        groups = {"moving": moving, "constant": constants}
        base = int(self._alike.places[middle, 0])
        for place in range(self.period):
            number = self._at(middle, place)
            expr = recorded.exprs[number]
            index = self._indices.get(place)
            if index is not None:
                own[place, 0] = self._alike.indices[place].rest(moving[index[1]])
                continue
            inputs = []
            for at in range(int(recorded.starts[number]), int(recorded.starts[number + 1])):
                kind, item = self._operands[at - base]
                if kind == "own":
                    value = own[item.place, item.slot]
                elif kind == "before":
                    value = before[Carry(item.place, item.slot, item.turns)]
                else:
                    value = item if kind == "fixed" else groups[kind][item]
                flows = int(recorded.flows[at]) != NOWHERE
                inputs.append(value if flows or kind == "fixed" else value.detached())
            for slot, value in enumerate(applied_to(expr, tuple(inputs))):
                own[place, slot] = value
        following = [
            own[c.place, c.slot] if c.turns == 1 else before[c._replace(turns=c.turns - 1)]
            for c in self._carried
        ]
        states = [before.get(Carry(*key, 1)) for key in self._yields]
        yields = zip(self._yields, states, strict=True)
        return [*following, *[own[key] if state is None else state for key, state in yields]]


__all__ = ["FoldedLoop"]
