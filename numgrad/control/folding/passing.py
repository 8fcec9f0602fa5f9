"""Loops that hand on the arrays that all steps read, so that cotangents add up as without a loop.

Where a parameter is read at each turn of a loop of Python, and once more behind the loop, its
cotangents are added one after the other: that from behind the loop first, then those of the last
turn, and so on. A loop operator that returned the sum of its own turns would add in another order.
A `PassingLoop` has the parameter as a result, too, which is read behind the loop in the
parameter's place. Its reverse begins with the cotangent of this result, and adds to it.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._declare.operator import arrived, zeros_of
from ..._tensor import Tensor
from ...engine.graph.value import CPU
from ...process.cached_attribute import lazy
from ..body import Body
from ..devices.arrays import copied
from ..loop import Loop, StepsOperator, in_all
from ..pullback import Pullback
from ..recording import RecordingLoop
from ..steps import Arrays


class PassingLoop(StepsOperator):
    """A loop that yields the states before its steps, and returns arrays that all steps read.

    Parameters
    ----------
    plain : Loop
        The loop without these results.
    through : Body
        The body of the loop with a further result for each array that is handed on: the argument.
    passed : sequence of int
        The numbers of these inputs of the loop.
    """

    def __init__(self, plain: Loop, through: Body, passed: Sequence[int]) -> None:
        self.plain, self.through, self.passed = plain, through, list(passed)
        self.recording = RecordingLoop(plain)
        self.recording.is_folded = True
        inner, carried = self.recording, plain.form.carried
        self._first, self._states = len(plain.out_specs), len(inner.out_specs)
        count = len(inner.input_specs)
        super().__init__(
            plain.name, inner.input_specs,
            [*inner.out_specs, *[inner.input_specs[n] for n in passed]],
            range(carried, carried + plain.form.per_step), range(carried, self._states), CPU,
        )  # fmt: skip
        states = range(self._first, self._states)
        reads = [n in states for n in range(self.nout)]
        self.declare(self._pulled, [*[True] * count, *reads])
        self._reverses: dict[tuple[bool, ...], PassingPullback] = {}

    def apply(self, *values: Any) -> Sequence[Any]:
        """Return the results for values: those of the loop, its states, the arrays handed on."""
        found = self(*values)
        return found if isinstance(found, tuple) else (found,)

    def prepare_steps(self) -> None:
        self.recording.prepare_steps()

    def fuse_steps(self) -> None:
        self.recording.fuse_steps()

    def compute(
        self, arrays: Arrays, count: int | None, leads: tuple[bool, ...], places: Arrays = ()
    ) -> list[Any]:
        found = self.recording.compute(arrays, count, leads, places)
        lead = () if count is None else (count,)
        for n in self.passed:
            shape, dtype = self.input_specs[n]
            found.append(copied(in_all(arrays[n], ((*lead, *shape), dtype))))
        return found

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Any, static: dict[str, Any]
    ) -> list[Any]:
        pairs = zip(inputs, self.input_specs, strict=True)
        if any([len(x.shape) != len(shape) for x, (shape, _) in pairs]):  # noqa: C419
            return super().lower(builder, inputs, specs, static)
        found = self.recording.lower(builder, inputs, specs[: self._states], static)
        return [*found, *[inputs[n] for n in self.passed]]

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the cotangents of the inputs, computed from the states.

        If the states themselves have cotangents, as in a derivative of a derivative, these are
        computed as for any loop.
        """
        if any(g is not None for g in cotangents[self._first : self._states]):
            return super().differentiate(backward_pass, context, cotangents)
        pullback = self.reverse_for(context.wanted)
        inputs = [context.input(n) for n in range(len(self.input_specs))]
        states = [context.output(n) for n in range(self._first, self._states)]
        seeds = arrived(context, cotangents, self._floating(self._first))
        begun = dict(zip(self.passed, cotangents[self._states :], strict=True))

        def start(number: int) -> Any:
            found = begun.get(number)
            return zeros_of(inputs[number].spec) if found is None else found

        found = pullback.from_states(inputs, seeds, states, start)
        return [
            begun.get(n) if grad is None and want else grad
            for n, (grad, want) in enumerate(zip(found, context.wanted, strict=True))
        ]

    def _pulled(self, context: Any, *grads: Any) -> Sequence[Any]:
        """Return the cotangents of the inputs if the states have cotangents."""
        inputs = [context.input(n) for n in range(len(self.input_specs))]
        seeds = [grads[n] for n in self._floating(self._states)]
        wanted = self.recording.floating(context.wanted)
        found = list(self.recording.pullback_for(wanted).gradients(inputs, seeds))
        for n, more in zip(self.passed, grads[self._states :], strict=True):
            if context.wanted[n]:
                found[n] = more if found[n] is None else found[n] + more
        return found

    def _floating(self, stop: int) -> list[int]:
        return [n for n, (_, d) in enumerate(self.out_specs[:stop]) if d.kind in "fc"]

    def reverse_for(self, wanted: Sequence[bool]) -> "PassingPullback":
        """Return the operator of the cotangents of the wanted inputs."""
        key = self.plain.floating(wanted)
        if key not in self._reverses:
            self._reverses[key] = PassingPullback(self.plain, key, self.through, self.passed)
        return self._reverses[key]

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        inputs = [context.input(n) for n in range(len(self.input_specs))]
        found = self.recording.pushed(inputs, tangents)[1]
        return [*found, *[tangents[n] for n in self.passed]]


class PassingPullback(Pullback):
    """The reverse of a loop whose steps add to the cotangents of the arrays that are handed on.

    Parameters
    ----------
    loop, wanted
        As for `Pullback`.
    through, passed
        As for `PassingLoop`.
    """

    def __init__(
        self, loop: Loop, wanted: tuple[bool, ...], through: Body, passed: Sequence[int]
    ) -> None:
        super().__init__(loop, wanted)
        self._through, self._passed = through, list(passed)

    @lazy
    def backward(self) -> Loop:
        found = self.made_backward()
        found.is_folded = True
        return found

    def of_step(
        self, primal: Sequence[Tensor], seeds: dict[int, Tensor], totals: dict[int, Tensor]
    ) -> dict[int, Tensor]:
        through, first = self._through, len(self.loop.body.results)
        asked = tuple([n in self.asked for n in range(len(through.specs))])
        derivative, live = through.pullback(asked)
        begun = {first + k: totals.get(n) for k, n in enumerate(self._passed)}
        given = seeds | {
            n: Tensor(np.zeros(*through.results[n])) if total is None else total
            for n, total in begun.items()
        }
        found = derivative.mapped.apply([*primal, *[given[n] for n in live]])
        grads = dict(zip(self.asked, found, strict=True))
        others = {n: total + grads[n] for n, total in totals.items() if n not in self._passed}
        return grads | others


__all__ = ["PassingLoop"]
