"""Loops that yield their states beside their results, so that the reverse need not compute them."""

from collections.abc import Sequence
from typing import Any

from .._declare.operator import arrived
from .._settings import settings
from ..engine.capture.capture import Capture
from ..engine.record.apply import mode
from .body import Body
from .loop import Loop
from .steps import Arrays
from .storage import Storage


class RecordingLoop(Loop):
    """A loop that yields the states before its steps, too, as its last results.

    Parameters
    ----------
    plain : Loop
        The loop that does not yield states.
    """

    def __init__(self, plain: Loop) -> None:
        body, carried = plain.body, plain.form.carried

        def step(*arguments: Any) -> list[Any]:
            return [*body(*arguments), *arguments[:carried]]

        made = Body.of(plain.name, step, body.specs, body.device)
        super().__init__(made, plain.form, plain.length, plain.is_reverse, plain.snapshots)
        self.plain, self._first = plain, len(plain.out_specs)
        states = [True] * carried
        self.declare(
            self._pulled, [*[True] * len(self.input_specs), *[False] * self._first, *states]
        )

    def compute(
        self, arrays: Arrays, count: int | None, leads: tuple[bool, ...], places: Arrays = ()
    ) -> list[Any]:
        if self._is_compiled:
            return super().compute(arrays, count, leads, places)
        carried, plain = self.form.carried, self.plain
        steps = plain.steps(count, self.step_leads(leads))
        ys = list(places[carried:]) or [*steps.yields(self.length), *steps.history(self.length)]
        own = self._first - carried
        return [*plain.ran(arrays, count, leads, ys[:own], ys[own:]), *ys]

    def prepare_steps(self) -> None:
        (super() if self._is_compiled else self.plain).prepare_steps()

    def fuse_steps(self) -> None:
        self.plain.fuse_steps()

    @property
    def _is_compiled(self) -> bool:
        return self._compiled is not None or not self.length

    def differentiate(
        self, backward_pass: Any, context: Any, cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the cotangents of the inputs, computed from the states.

        If the states themselves have cotangents, as in a derivative of a derivative, these are
        computed as for any loop.
        """
        if any(g is not None for g in cotangents[self._first :]):
            return super().differentiate(backward_pass, context, cotangents)
        inputs = [context.input(n) for n in range(len(self.input_specs))]
        states = [context.output(self._first + n) for n in range(self.form.carried)]
        pullback = self.plain.pullback_for(self.floating(context.wanted))
        places = [n for n, (_, dtype) in enumerate(self.plain.out_specs) if dtype.kind in "fc"]
        return pullback.from_states(inputs, arrived(context, cotangents, places), states)


def applied(loop: Loop, values: Sequence[Any]) -> Sequence[Any]:
    """Return the results of a loop for values.

    The states of the loop are kept if gradients are recorded and the states fit into the memory
    that the settings grant.
    """
    wanted = mode.grad and any(value.requires_grad for value in values)
    if not (wanted and keeps_all(loop)):
        return loop.apply(*values)
    if loop.recording is None:
        loop.recording = RecordingLoop(loop)
    return loop.recording.apply(*values)[: len(loop.out_specs)]


def keeps_all(loop: Loop) -> bool:
    """Whether a loop that is called now keeps the states before all of its steps."""
    return _fits(loop) and _is_alone()


def _fits(loop: Loop) -> bool:
    states = loop.body.results[: loop.form.carried]
    if not states or isinstance(loop.snapshots, (int, Storage)):
        return False
    nbytes = loop.length * loop.steps(None, ()).state_bytes
    return loop.snapshots is None or nbytes <= settings.loop_memory << 20


def _is_alone() -> bool:
    """Whether the loop is called neither in a mapped function nor in a step of another loop.

    Elsewhere states would be kept for each sample or each step, whose number is not known yet.
    """
    capture = mode.capture
    while capture is not None:
        if type(capture) is not Capture or capture.has_rows:
            return False
        capture = capture.parent
    return True


__all__ = ["RecordingLoop", "applied", "keeps_all"]
