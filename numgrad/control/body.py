"""The body of a loop: the function of one step, captured once, without tensors from outside.

A user's function reads its arguments and the tensors that it closes over. Its capture finds both,
and is then recorded once more with an argument for each tensor from outside, so that a `Body` reads
nothing but its arguments. The reverse and the tangents of a body are bodies, too: they are captured
from functions that call the body.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from .._errors import CaptureError, DeviceError
from .._tensor import Tensor
from ..engine.capture.capture import Capture
from ..engine.derivatives.rules import place_of
from ..engine.graph.node import Edge, Value
from ..engine.graph.node import Spec as ValueSpec
from ..engine.graph.value import CPU, device_of, next_number
from ..engine.record.apply import changing, mode, runtime
from ..engine.rolling.columns import ColumnExpansion, in_columns
from ..engine.rolling.costs import is_faster_as_scalars
from ..engine.rolling.expansion import Expansion, expanded
from ..func.batching.batch_expressions import BatchedValue, batch_exprs, with_all_axes
from ..func.batching.sample import SampleTrace
from ..func.guards.random_guard import DrawProfiler, RandomGuard
from ..func.tracing.partition import ProgramSequence, one_program
from ..func.tracing.specialization import leaves_are_kept
from ..func.tracing.trace import placeholder, record
from ..functions.array.device_transfer import placed_on
from ..functions.array.operands import as_scalar
from ..ir.program import Program
from ..ir.recurrence import Columns
from ..process.bounded_dict import Bounded
from ..process.cached_attribute import lazy
from .compiled import CompiledLoop
from .devices.inside import DeviceLoop, device_loop
from .devices.placement import brought, devices_met, returned
from .same_bodies import is_fixed, key_of

Spec = tuple[tuple[int, ...], np.dtype]

_MOST_BODIES = 256  # of users' functions that are found again
_MOST_ATTEMPTS = 3  # to capture a function while other threads draw random numbers
_MOST_PROGRAMS = 64  # of one body: one for each size of a batch


class _BodyCapture(Capture):
    """The capture of a step; ``outside`` collects the tensors from outside that operations read."""

    ways_out = (
        "and every step has its own. Choose by value with ng.where or ng.cond, or compute outside "
        "of the loop what is the same for all steps."
    )

    def __init__(self, name: str, arguments: Sequence[Value], parent: Capture | None) -> None:
        super().__init__(arguments, parent)
        self.what = f"{name} is calling its function once for all steps"
        self.notes_all = True
        self.outside: dict[int, Value] = {}

    def note_operands(self, values: Any) -> None:
        values = list(values)
        own = {id(argument.expr) for argument in self.arguments}
        for value in values:
            is_own = value.array is None and id(value.expr) in own
            if not is_own and not self.made(value):
                self.outside.setdefault(id(value), value)
        super().note_operands(values)


class _BodyTrace(SampleTrace):
    """The trace of a step; its capture is kept until tensors from outside have become arguments."""

    def _capture(self, arguments: list[Tensor]) -> Capture:
        self.capture: Any = _BodyCapture(self.name, arguments, mode.capture)
        return self.capture


class Body:
    """A function of tensors of given specs, as a trace that reads nothing but its arguments.

    Parameters
    ----------
    trace : SampleTrace

    Attributes
    ----------
    specs, results : list of (shape, dtype)
        The specs of the arguments, and of the results.
    device : str
        Where arguments and results are.
    loops : dict
        The loops over this body, by their sizes, lengths and options.
    """

    def __init__(self, trace: SampleTrace) -> None:
        self.name, self.trace = trace.name, trace
        self.specs = [(a.shape, a.dtype) for a in trace.arguments]
        self.results = [(o.shape, o.dtype) for o in trace.outputs]
        self.device = device_of([a.spec for a in trace.arguments])
        self._programs: dict[Any, ProgramSequence] = Bounded(_MOST_PROGRAMS)
        self.loops: dict[Any, Any] = Bounded(_MOST_PROGRAMS)
        self._compiled: dict[Any, Any] = {}

    @classmethod
    def of(
        cls, name: str, function: Callable[..., Sequence[Any]], specs: Sequence[Spec],
        device: str = CPU,
    ) -> "Body":  # fmt: skip
        """Return the body of a function of numgrad's own, which closes over no tensor."""

        def call(*stands: Tensor) -> list[Tensor]:
            return [placed_on(result, device) for result in function(*stands)]

        with changing(grad=True):
            return cls(_recorded(name, call, specs, device))

    def __call__(self, *arguments: Any) -> list[Tensor]:
        """Return the results for tensors, which may have leading axes, as expressions."""
        return self.trace.mapped.apply(arguments)  # type: ignore[arg-type]

    def program(self, count: int | None = None, leads: tuple[bool, ...] = ()) -> ProgramSequence:
        """Return the programs that compute the results from arrays.

        With ``count`` the programs compute the results of that many samples. The arguments in
        ``leads`` and all results then have an axis of samples in front.
        """
        key = count, leads
        found = self._programs.get(key)
        if found is None:
            found = self._programs[key] = self._program(count, leads)
        return found

    def _program(self, count: int | None, leads: tuple[bool, ...]) -> ProgramSequence:
        trace, fuse = self.trace, "never" if self.expansion is not None else "auto"
        if count is None:
            return ProgramSequence(trace.outputs, trace.arguments, fuse, trace.storages, True)
        specs = [
            ((count, *shape) if lead else shape, dtype)
            for (shape, dtype), lead in zip(self.specs, leads, strict=True)
        ]
        stands = _placeholders(specs, self.device)
        wide = {
            a.expr: BatchedValue(s.detached(), int(lead))
            for a, s, lead in zip(trace.arguments, stands, leads, strict=True)
        }
        with changing(deferring=True, grad=False, home=mode.stream):
            found = batch_exprs(trace.exprs, trace.outputs, wide)  # type: ignore[arg-type]
            outputs = [with_all_axes(output, (count,)) for output in found]
        return ProgramSequence(outputs, stands, fuse, trace.storages, True)

    @lazy
    def expansion(self) -> Expansion | None:
        """The body as a list of scalar functions, where a kernel of these is expected to be faster
        than a program that runs for each step; None on a device."""
        given = self._unfused if self.device == CPU else None
        if given is None or not is_faster_as_scalars(given[0].patterns(), 1, True):
            return None
        return expanded(*given)

    @lazy
    def in_columns(self) -> list[ColumnExpansion]:
        """The body as lists of scalar functions for threads of a device: one column of it where
        there are columns, and all elements where these are few."""
        given = self._unfused
        if given is None or not all(map(self._is_of_device, given[0].patterns())):
            return []
        found, whole = in_columns(*given), expanded(*given)
        made = [] if found is None else [found]
        if whole is not None:
            one = Columns(1, (0,) * (len(self.specs) + len(self.results)))
            made.append(ColumnExpansion(whole, one))
        return made

    @property
    def _unfused(self) -> tuple[Program, int, list[int]] | None:
        """The program of the body, the number of arguments and the order of results; None where
        there is not one program of the arguments."""
        trace = self.trace
        found = one_program(trace.outputs, trace.arguments, trace.storages)
        return None if found is None else (found[0], len(self.specs), found[1])

    def _is_of_device(self, pattern: Any) -> bool:
        """Whether threads of the device can run the function of a pattern."""
        return not pattern.fusible or runtime.targets[self.device].can_fuse(pattern.spec)

    def compiled(self, sizes: Any) -> Any:
        """Return the loop over the body as one compiled function, or None if the body works on many
        numbers.

        ``sizes`` are the last parameters of `CompiledLoop`.
        """
        if self.device == CPU and self.expansion is None:
            return None
        if sizes not in self._compiled:
            self._compiled[sizes] = self._made_loop(sizes)
        return self._compiled[sizes]

    def _made_loop(self, sizes: Any) -> CompiledLoop | DeviceLoop | None:
        count = len(self.specs)
        if self.device != CPU:
            return device_loop(self.name, self.in_columns, count, self.device, sizes)
        assert self.expansion is not None
        return CompiledLoop(self.name, self.expansion, count, *sizes)

    def pullback(self, wanted: tuple[bool, ...]) -> tuple[SampleTrace, list[int]]:
        """Return the trace of the gradients of the wanted arguments, and the numbers of some
        results.

        The numbers are those of the results that have a derivative. The arguments of the trace are
        those of the body, followed by a cotangent for each of these results.
        """
        derivative: Any = self.trace.derivative(wanted, create_graph=True)
        return derivative, self.trace.live

    def tangents(self, moved: tuple[bool, ...]) -> tuple[SampleTrace, list[int]]:
        """Return the trace of tangents of results, and the numbers of the results that have a
        tangent.

        The arguments of the trace are those of the body, followed by a tangent for each argument
        that is ``moved``.
        """
        return self.trace.tangent_trace(moved, True), self.trace.live


def captured(
    name: str, function: Callable[..., Sequence[Any]], specs: Sequence[Spec], user: Any,
    device: str | None = CPU,
) -> tuple[Body, list[Any]]:  # fmt: skip
    """Capture a user's function; return its body and the tensors that the function closes over.

    These tensors are further arguments of the body. A function that computes the same as an earlier
    one gets the same body.

    Parameters
    ----------
    name : str
        The name of the loop, for errors.
    function : callable
        Takes tensors and returns tensors.
    specs : sequence of (shape, dtype)
        Those of the arguments.
    user : callable
        The function of the user that ``function`` calls.
    device : str, optional
        Where the arguments are. If None, any of them may be moved: they are where the tensors are
        that the function closes over.
    """
    met: set[str] = set()
    try:
        return _captured(name, function, specs, user, device or CPU, met)
    except DeviceError:
        if device is not None or len(met) != 1:
            raise
    return _captured(name, function, specs, user, met.pop(), met)


def _captured(
    name: str, function: Callable[..., Sequence[Any]], specs: Sequence[Spec], user: Any,
    device: str, met: set[str],
) -> tuple[Body, list[Any]]:  # fmt: skip
    """Capture a function whose arguments are on a device; see `captured`.

    ``met`` gets the other devices that the function has met, if it fails because of them.
    """

    def call(*stands: Tensor) -> list[Tensor]:
        return returned(function(*stands), device, name)

    with changing(grad=True):
        trace = _of_user(name, devices_met(call, met), specs, user, device)
        noted = list(trace.capture.outside.values())
        del trace.capture
        moved = _by_edge(trace, noted)
        values: list[Any] = list(moved.values())
        places = {place_of(value) for value in values}
        for value in (*trace.snapshot.constants, *trace.closed):
            if place_of(value) not in places and not is_fixed(value):
                places.add(place_of(value))
                values.append(value.detached())
        key = key_of(trace, values)
        body = _known.get(key)
        if body is None:
            closed = _closed(trace, specs, list(moved), values, device) if values else trace
            body = _known[key] = Body(closed)
    return body, brought(values, device, name)


def tried(
    name: str, function: Callable[..., None], specs: Sequence[Spec], device: str | None = CPU
) -> None:
    """Call a function on placeholders and drop what was recorded, so that only other effects
    remain.

    If ``device`` is None, the placeholders are where the tensors are that the function reads.
    """

    def call(*stands: Tensor) -> list[Tensor]:
        function(*stands)
        return []

    met: set[str] = set()
    with changing(grad=True):
        try:
            _recorded(name, devices_met(call, met), specs, device or CPU)
        except DeviceError:
            if device is not None or len(met) != 1:
                raise
            _recorded(name, call, specs, met.pop())


_known: dict[Any, Body] = Bounded(_MOST_BODIES)


def _closed(
    trace: SampleTrace, specs: Sequence[Spec], edges: Sequence[Edge], values: Sequence[Any],
    device: str,
) -> SampleTrace:  # fmt: skip
    """Return the trace with a further argument for each of ``values``, the tensors from outside.

    The first of these tensors are those to which gradients flow, at ``edges``.
    """
    further = [(value.shape, value.dtype) for value in values]
    count = len(specs)

    def call(*given: Tensor) -> list[Tensor]:
        extra = given[count:]
        instead = {place_of(v): new for v, new in zip(values, extra, strict=True)}
        ends = {e: new.edge for e, new in zip(edges, extra, strict=False)}
        return trace.mapped.apply(given[:count], instead, ends)

    return _recorded(trace.name, call, [*specs, *further], device)


def _recorded(
    name: str, function: Callable[..., Sequence[Any]], specs: Sequence[Spec], device: str
) -> Any:
    """Return the trace of a function that is called on placeholders of the given specs."""
    stands = _placeholders(specs, device)
    return record(name, lambda given: list(function(*given)), stands, "auto", _BodyTrace)


def _of_user(
    name: str, function: Callable[..., Sequence[Any]], specs: Sequence[Spec], user: Any,
    device: str,
) -> Any:  # fmt: skip
    """Return the trace of a user's function; raise if calls of the function would differ.

    Calls differ if the function draws random numbers, or makes a tensor that requires grad and
    keeps it. The function is captured again if numbers were drawn meanwhile, perhaps by another
    thread.
    """
    watch = trace = draws = None
    first = next_number()
    for _ in range(_MOST_ATTEMPTS):
        first, draws = next_number(), RandomGuard(user, ())
        with watch or nullcontext():
            trace = _recorded(name, function, specs, device)
        draws.end()
        if not draws.may_be_of_others():
            break
        if watch is not None and draws.are_by_other_threads(watch):
            return trace
        watch = DrawProfiler()
    assert trace is not None
    assert draws is not None
    draws.require_none(f"the function of {name}")
    if leaves_are_kept(trace.outputs, trace.arguments, first):
        raise CaptureError(
            f"{name}: the function makes a tensor that requires grad and keeps it, at each step "
            f"another one, and none of them would get a gradient. Make the tensor outside of the "
            f"function, or carry it."
        )
    return trace


def _by_edge(trace: SampleTrace, noted: Sequence[Value]) -> dict[Edge, Any]:
    """Return the tensors from outside to which gradients flow, by their edges.

    Raise if such a tensor is not among ``noted``, the tensors that the capture has met.
    """
    known: dict[Edge, Any] = {}
    for value in noted:
        if value.requires_grad:
            known.setdefault(value.edge, value)
    found = {}
    for edge in trace.edges[len(trace.arguments) :]:
        if edge not in known:
            raise CaptureError(
                f"{trace.name}: its function reads a tensor that requires grad in a way that a "
                f"loop cannot follow; pass that tensor in the carry or in xs"
            )
        found[edge] = known[edge]
    return found


def _placeholders(specs: Sequence[Spec], device: str) -> list[Tensor]:
    made = []
    for n, (shape, dtype) in enumerate(specs):
        value = placeholder(Tensor, n, ValueSpec(shape, dtype, False, device), dtype.kind in "fc")
        made.append(value if shape else as_scalar(value))
    return made


__all__ = ["Body", "captured", "tried"]
