"""The reverse of a loop as one operator: states that were not kept are computed again."""

from collections.abc import Callable, Sequence
from typing import Any

from .._declare.operator import zeros_of
from .._settings import settings
from .._tensor import Tensor
from ..process.cached_attribute import lazy
from .body import Body
from .devices.arrays import copied, zeros_like
from .loop import Loop, StepsOperator, in_all, loop_over
from .steps import Arrays, Sizes, Steps
from .storage import Storage
from .trajectory import walk_back


class Pullback(StepsOperator):
    """The operator that computes the cotangents of the wanted inputs of a loop.

    The inputs of the operator are those of the loop, followed by the cotangents of the floating
    results of the loop.

    Parameters
    ----------
    loop : Loop
    wanted : tuple of bool
        The inputs of the loop, floating ones, whose cotangents are wanted.
    """

    def __init__(self, loop: Loop, wanted: tuple[bool, ...]) -> None:
        self.loop, self.wanted = loop, wanted
        carried = loop.form.carried
        inputs = loop.input_specs
        self.places = [n for n, w in enumerate(wanted) if w]
        self._seeded = [n for n, (_, d) in enumerate(loop.out_specs) if d.kind in "fc"]
        seeds = [loop.out_specs[n] for n in self._seeded]
        count, own = len(inputs), range(carried, carried + loop.form.per_step)
        super().__init__(
            f"the gradient of {loop.name}", [*inputs, *seeds], [inputs[n] for n in self.places],
            [*own, *(count + k for k, n in enumerate(self._seeded) if n >= carried)],
            [k for k, n in enumerate(self.places) if n in own], loop.body.device,
        )  # fmt: skip
        self.declare(self._pulled, [True] * len(self.input_specs) + [False] * self.nout)

    def gradients(self, inputs: Sequence[Any], seeds: Sequence[Any]) -> tuple[Any, ...]:
        """Apply the operator; return one cotangent for each input of the loop.

        The cotangent of an input that is not wanted is None.
        """
        if not self.places:
            return (None,) * len(self.wanted)
        outputs = self(*inputs, *seeds)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        found = dict(zip(self.places, outputs, strict=True))
        return tuple([found.get(n) for n in range(len(self.wanted))])

    def from_states(
        self, inputs: Sequence[Any], seeds: Sequence[Any], states: Sequence[Any],
        starts: Callable[[int], Any] | None = None,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Return what `gradients` returns, given the states before the steps, which are not
        computed again.

        ``starts`` gives, for the number of an input that all steps read, the cotangent to which the
        steps add theirs; zeros by default.
        """
        if not self.places:
            return (None,) * len(self.wanted)
        starts = starts or (lambda n: zeros_of(inputs[n].spec))
        given = self._reordered([*inputs, *seeds], states, starts)
        outputs = self._arranged(self.backward.apply(*given))
        found = dict(zip(self.places, outputs, strict=True))
        return tuple([found.get(n) for n in range(len(self.wanted))])

    def prepare_steps(self) -> None:
        self.loop.prepare_steps()
        self.backward.prepare_steps()

    def fuse_steps(self) -> None:
        self.loop.fuse_steps()
        self.backward.fuse_steps()

    # The reverse as a loop

    @lazy
    def _groups(self) -> tuple[list[int], list[int], list[int]]:
        """Return the numbers of those arguments of the body that get cotangents, in three groups.

        The groups are the floating ones that are carried, the wanted ones with elements for each
        step, and the wanted ones that are the same for all steps.
        """
        form, specs = self.loop.form, self.loop.body.specs
        states, own, constant = form.split(list(range(len(specs))))
        return (
            [n for n in states if specs[n][1].kind in "fc"],
            [n for n in own if self.wanted[n]],
            [n for n in constant if self.wanted[n]],
        )

    @lazy
    def backward(self) -> Loop:
        """The loop over the steps in reverse."""
        return self.made_backward()

    def made_backward(self) -> Loop:
        """Return the loop over the steps in reverse.

        This loop carries cotangents of the carried arrays, and sums of cotangents of arrays that
        all steps read. Each of its steps is given the state before a step of the forward loop, the
        other arguments of that step, and the cotangents of what that step has yielded.
        """
        loop, body = self.loop, self.loop.body
        states, own, constant = self._groups
        carried, yielded = loop.form.carried, self._yielded
        first, sums = len(states), len(constant)
        count = carried + loop.form.per_step

        def step(*arguments: Tensor) -> list[Tensor]:
            given = list(arguments)
            seeds = dict(zip(states, given[:first], strict=True))
            totals = dict(zip(constant, given[first : first + sums], strict=True))
            rest = given[first + sums :]
            primal = [*rest[:count], *rest[count + len(yielded) :]]
            seeds |= dict(zip(yielded, rest[count : count + len(yielded)], strict=True))
            grads = self.of_step(primal, seeds, totals)
            return [grads[n] for n in (*states, *constant, *own)]

        specs = [
            *(body.specs[n] for n in states), *(body.specs[n] for n in constant),
            *body.specs[:count], *(body.results[n] for n in yielded), *body.specs[count:],
        ]  # fmt: skip
        sizes = Sizes(first + sums, count + len(yielded))
        made = Body.of(self.name, step, specs, body.device)
        return loop_over(made, sizes, loop.length, not loop.is_reverse, loop.snapshots)

    @lazy
    def asked(self) -> list[int]:
        """The numbers of the arguments of the body that get cotangents."""
        return sorted([n for group in self._groups for n in group])

    @lazy
    def _derivative(self) -> tuple[Any, list[int]]:
        asked, count = self.asked, len(self.loop.body.specs)
        return self.loop.body.pullback(tuple([n in asked for n in range(count)]))

    def of_step(
        self, primal: Sequence[Tensor], seeds: dict[int, Tensor], totals: dict[int, Tensor]
    ) -> dict[int, Tensor]:
        """Return the cotangents of the arguments of a step, by their numbers.

        ``seeds`` are the cotangents of results of the step, and ``totals`` the sums so far of the
        cotangents of arrays that all steps read; the sums are returned with what this step adds.
        """
        derivative, live = self._derivative
        found = derivative.mapped.apply([*primal, *[seeds[n] for n in live]])
        grads = dict(zip(self.asked, found, strict=True))
        return grads | {n: total + grads[n] for n, total in totals.items()}

    @property
    def _yielded(self) -> list[int]:
        """The numbers of the floating results that the steps yield."""
        return [n for n in self._seeded if n >= self.loop.form.carried]

    def _reordered(
        self, inputs: Sequence[Any], history: Sequence[Any], zeros: Callable[[int], Any]
    ) -> list[Any]:
        """Return the inputs of the loop over the steps in reverse, given those of this operator.

        ``history`` has the states before the steps; ``zeros`` makes the start of a sum of
        cotangents, for the number of the input.
        """
        loop, count = self.loop, len(self.loop.input_specs)
        _, xs, constants = loop.form.split(inputs[:count])
        seeds = dict(zip(self._seeded, inputs[count:], strict=True))
        states, _, constant = self._groups
        return [
            *(seeds[n] for n in states), *(zeros(n) for n in constant), *history, *xs,
            *(seeds[n] for n in self._yielded), *constants,
        ]  # fmt: skip

    def _arranged(self, found: Sequence[Any]) -> list[Any]:
        """Return the outputs of this operator, given the results of the loop over the steps in
        reverse."""
        states, own, constant = self._groups
        grads = dict(zip([*states, *constant, *own], found, strict=True))
        return [grads[n] for n in self.places]

    # Values

    def compute(
        self, arrays: Arrays, count: int | None, leads: tuple[bool, ...], places: Arrays = ()
    ) -> list[Any]:
        loop, backward, length = self.loop, self.backward, self.loop.length
        number = len(loop.input_specs)
        own = loop.step_leads(leads[:number])
        forward = loop.steps(count, own)
        given = self._reordered(arrays, [None] * loop.form.carried, lambda n: zeros_like(arrays[n]))
        back_leads = self._back_leads(own, leads[number:])
        reverse = backward.steps(count, back_leads)
        present, xs, constants = backward.form.split(given)
        states, steps, all_steps = loop.form.split(arrays[:number])
        if count is not None:
            present = _spread(present, reverse)
            states = _spread(states, forward)
        steps, carried = loop.turned(steps), loop.form.carried
        given_places = dict(zip(self.places, places, strict=False))
        ys = [given_places[n] for n in self._groups[1] if places] or reverse.yields(length)
        new = loop.snapshots.empty if isinstance(loop.snapshots, Storage) else None
        turned_xs, turned_ys = loop.turned(xs[carried:]), loop.turned(ys)

        def advance(start: int, stop: int, state: Any) -> Any:
            some = [x[start:stop] for x in steps]
            return forward.run(state, some, all_steps, stop - start)

        def record(start: int, stop: int, state: Any) -> Any:
            history = forward.history(stop - start, new)
            forward.run(state, [x[start:stop] for x in steps], all_steps, stop - start - 1,
                        history=history)  # fmt: skip
            return history

        most = self._most(forward.state_bytes)
        for start, stop, history in walk_back(length, most, states, advance, record):
            some = [x[::-1] for x in (*history, *[x[start:stop] for x in turned_xs])]
            to = [y[start:stop][::-1] for y in turned_ys]
            present = reverse.run(present, some, constants, stop - start, to)
            del history, some  # the states of the next stretch take their memory
        if not length:
            present = list(map(copied, present))
        return self._arranged([*present, *ys])

    def _back_leads(
        self, own: tuple[bool, ...], seeds: tuple[bool, ...]
    ) -> tuple[bool, ...]:
        """Return which arguments of a step in reverse have an axis of samples.

        ``own`` says that of the arguments of a forward step, and ``seeds`` of the cotangents.
        """
        if not own:
            return ()
        _, steps, constants = self.loop.form.split(own)
        given = dict(zip(self._seeded, seeds, strict=True))
        carried = self.backward.form.carried
        return (
            *[True] * (carried + self.loop.form.carried), *steps,
            *[given[n] for n in self._yielded], *constants,
        )  # fmt: skip

    def _most(self, nbytes: int) -> int:
        """Return how many states of ``nbytes`` each are kept at a time."""
        snapshots = self.loop.snapshots
        if snapshots is None or isinstance(snapshots, Storage):
            return max(self.loop.length, 1)
        if snapshots == "auto":
            granted = (settings.loop_memory << 20) * 15 // 16  # the rest is for what a step needs
            return max(granted // max(nbytes, 1), 2)
        return snapshots

    # Derivatives

    def _pulled(self, context: Any, *grads: Any) -> tuple[Any, ...]:
        """Return the cotangents of the operator's inputs, by the derivatives of two loops.

        One loop yields its states; the other one runs over the steps in reverse and reads these
        states.
        """
        loop = self.loop
        count, carried = len(loop.input_specs), loop.form.carried
        inputs = [context.input(n) for n in range(len(self.input_specs))]
        wanted = loop.floating(context.wanted[:count])
        history = loop.with_history.apply(*inputs[:count])[carried:] if carried else ()
        given = self._reordered(inputs, history, lambda n: zeros_of(inputs[n].spec))
        pulled = self._through_backward(context.wanted, wanted, given, grads)
        gone = dict(zip(backward_sources(self), pulled, strict=True))
        found: list[Any] = [gone.get(("input", n)) for n in range(len(self.input_specs))]
        states = [gone["history", n] for n in range(carried)]
        if any(wanted) and any(s is not None for s in states):
            through = loop.with_history
            seeds = [zeros_of(x.spec) for x in inputs[:carried] if x.dtype.kind in "fc"]
            seeds += [s for s in states if s is not None]
            before = through.pullback_for(wanted).gradients(inputs[:count], seeds)
            found[:count] = [_sum(a, b) for a, b in zip(found[:count], before, strict=True)]
        return tuple(found)

    def _through_backward(
        self, asked: Sequence[bool], wanted: Sequence[bool], given: Sequence[Any],
        grads: Sequence[Any],
    ) -> Sequence[Any]:  # fmt: skip
        """Return the cotangents of the inputs of the loop over the steps in reverse.

        ``grads`` are the cotangents of the outputs of this operator. ``asked`` are its inputs whose
        cotangents are wanted, and ``wanted`` those among the inputs of the forward loop. ``given``
        are the inputs of the reverse loop.
        """
        backward = self.backward
        sources = backward_sources(self)
        some = [
            (of == "input" and asked[n]) or (of == "history" and any(wanted)) for of, n in sources
        ]
        states, own, constant = self._groups
        seeds = dict(zip(self.places, grads, strict=True))
        order = [*states, *constant, *own]
        given_seeds = [
            seeds[n] if n in seeds else zeros_of(self._spec_of(given, k))
            for k, n in enumerate(order)
        ]
        return backward.pullback_for(backward.floating(some)).gradients(given, given_seeds)

    def _spec_of(self, given: Sequence[Any], number: int) -> Any:
        return given[number].spec  # what is carried has one spec before and behind the steps

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents of the cotangents that this operator computes, by the tangents of two
        loops.

        One loop yields its states; the other one runs over the steps in reverse and reads these
        states.
        """
        loop, count = self.loop, len(self.loop.input_specs)
        carried = loop.form.carried
        inputs = [context.input(n) for n in range(len(self.input_specs))]
        primal, along = (
            loop.with_history.pushed(inputs[:count], tangents[:count]) if carried else ([], [])
        )
        given = self._reordered(inputs, primal[carried:], lambda n: zeros_of(inputs[n].spec))
        moved = self._reordered(tangents, along[carried:], lambda n: None)
        found = self.backward.pushed(given, moved)[1]
        return self._arranged(found)


def backward_sources(pullback: Pullback) -> list[tuple[str, int]]:
    """Return where each input of the loop over the steps in reverse comes from.

    An item is a pair of a word and a number: ``"input"`` of the pullback, ``"history"`` for a
    state, or ``"zeros"``.
    """
    count = len(pullback.input_specs)
    named = [("input", n) for n in range(count)]
    history = [("history", n) for n in range(pullback.loop.form.carried)]
    return pullback._reordered(named, history, lambda n: ("zeros", n))


def _spread(arrays: Sequence[Any], steps: Steps) -> list[Any]:
    return [in_all(a, spec) for a, spec in zip(arrays, steps.results, strict=False)]


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return one + other
