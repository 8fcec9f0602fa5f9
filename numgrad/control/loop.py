"""Loops as operators: one operation for all steps, whose derivatives are loops.

A `Loop` carries arrays from step to step of its body. Its reverse is a `Loop` over the steps in
reverse, whose body is the derivative of the body at the state before the step. This loop carries
the cotangents of the carried arrays, and sums of the cotangents of arrays that all steps read. The
tangent of a `Loop` is a `Loop` over the same steps, which carries states and their tangents. So
every order and every mode of derivatives, batches included, is a matter of bodies, which
`numgrad.control.body` makes of a captured function.

The reverse needs the states before the steps. Where gradients are recorded and all states fit into
memory, the loop yields them beside its results (`numgrad.control.recording`). Else the reverse is
one operator, `Pullback`, which computes the states again from the first one, and keeps as many at a
time as memory allows. The derivative of a `Pullback` is that of the two loops that it stands for: a
loop that yields its states, followed by a loop that reads them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._declare.kernel import elements
from .._declare.operator import Specs, zeros_of
from .._declare.typed_host import TypedHostOperator
from .._tensor import Tensor
from ..engine.graph.node import Value
from ..engine.graph.value import CPU
from ..ir.broadcasting import broadcast_shapes
from ..ir.recurrence import Loop as Recurring
from ..process.bounded_dict import Bounded
from ..process.cached_attribute import lazy
from .body import Body
from .compiled import in_machine
from .devices.arrays import (  # fmt: skip
    computing_on,
    copied,
    in_order,
    is_on_device,
    joined,
    spread,
    with_moved_axis,
    write,
)
from .steps import Arrays, Sizes, Steps

Spec = tuple[tuple[int, ...], np.dtype]

_MOST_STEPS = 64  # of one loop: one for each size of a batch


class StepsOperator(TypedHostOperator):
    """An operator of arrays of given specs, which runs steps of bodies.

    Parameters
    ----------
    name : str
    inputs, outputs : sequence of (shape, dtype)
    per_step : sequence of int
        The inputs whose first axis is that of the steps.
    outputs_per_step : sequence of int
        The outputs whose first axis is that of the steps.
    device : str
        Where the bodies compute.
    """

    def __init__(
        self, name: str, inputs: Sequence[Spec], outputs: Sequence[Spec], per_step: Sequence[int],
        outputs_per_step: Sequence[int], device: str,
    ) -> None:  # fmt: skip
        self.input_specs, self.out_specs = list(inputs), list(outputs)
        self._per_step, self._outputs_per_step = set(per_step), set(outputs_per_step)
        super().__init__(
            name, [_core(shape) for shape, _ in inputs], [_core(shape) for shape, _ in outputs],
            [dtype for _, dtype in inputs], [dtype for _, dtype in outputs],
        )  # fmt: skip
        self.of_rows, self.fuse = self._of_rows, self.fuse_steps
        self.on_device = None if device == CPU else self._on_device

    def sizes(self, shapes: Sequence[tuple[int, ...]], static: dict[str, Any]) -> dict[str, int]:
        known = self.core_sizes(shapes)
        return known | {f"d{n}": n for shape, _ in self.out_specs for n in shape}

    def compute(
        self, arrays: Arrays, count: int | None, leads: tuple[bool, ...], places: Arrays = ()
    ) -> list[Any]:
        """Return the results for arrays, for all steps and ``count`` samples (None: no axis of
        samples).

        An input or output that has elements for each step has the steps as its first axis. The next
        axis is that of the samples in all results, and in the inputs in ``leads``. Results with
        elements for each step are made in those arrays of ``places``, if there are any, that are
        for them.
        """
        raise NotImplementedError

    def single(self, *arrays: Any, places: Arrays = ()) -> list[Any]:
        given = [in_order(a) if is_on_device(a) else np.asarray(a, order="C") for a in arrays]
        return self.compute(given, None, (), places)

    def _on_device(self, inputs: Arrays, results: Arrays, stream: Any) -> None:
        """Write the results for arrays of a device to other arrays there, by work of a stream."""
        with computing_on(stream, inputs):
            if inputs[0].ndim > self.ncore[0]:
                found = self._of_rows(*inputs)
            else:
                are_plain = all(place.c_contiguous for place in results)
                found = self.single(*inputs, places=results if are_plain else ())
            for place, result in zip(results, found, strict=True):
                if result is not place:
                    write(place, result)

    def into(self, places: Arrays, *arrays: Any) -> Any:
        """Return the results of `function`; a result that was written to its array in ``places`` is
        that array."""
        lead = arrays[0].ndim - self.ncore[0]
        all_arrays = (*arrays, *places)
        if lead != 1 or not all([len(a) == 1 and a.flags.c_contiguous for a in all_arrays]):  # noqa: C419
            return self.function(*arrays)
        ends = [place[0, ...] for place in places]
        found = self.single(*[a[0, ...] for a in arrays], places=ends)
        pairs = zip(places, ends, found, strict=True)
        made = [place if result is end else result[None] for place, end, result in pairs]
        return tuple(made) if self.nout > 1 else made[0]

    def _of_rows(self, *arrays: Any) -> list[Any]:
        lead = arrays[0].ndim - self.ncore[0]
        if lead == 1 and all([len(a) == 1 for a in arrays]):  # noqa: C419  a list is faster
            return [result[None] for result in self.single(*[a[0, ...] for a in arrays])]
        loop = broadcast_shapes(*[a.shape[:lead] for a in arrays])
        if in_machine() and not is_on_device(arrays[0]):
            return self._row_by_row(arrays, loop)
        count = int(np.prod(loop))
        leads = tuple([_differs(a, lead) for a in arrays])
        given = [
            self._sampled(n, a, loop, lead) if differs else a[(*(0,) * lead, ...)]
            for n, (a, differs) in enumerate(zip(arrays, leads, strict=True))
        ]
        if not any(leads):
            found = self.single(*given)
            return [copied(spread(r, (*loop, *r.shape))) for r in found]
        found = self.compute(list(map(in_order, given)), count, leads)
        made = []
        for n, result in enumerate(found):
            result = with_moved_axis(result, 1, 0) if n in self._outputs_per_step else result
            made.append(in_order(result).reshape(*loop, *result.shape[1:]))
        return made

    def _row_by_row(self, arrays: Arrays, loop: tuple[int, ...]) -> list[np.ndarray]:
        """Return the results, computed for one sample after the other.

        A thread of a running program takes this way, as it can run only programs that were made
        before.
        """
        whole = [np.empty((*loop, *shape), dtype) for shape, dtype in self.out_specs]
        for index, cores in elements(arrays, self.ncore[: len(arrays)]):
            for place, result in zip(whole, self.single(*cores), strict=True):
                place[index] = result
        return whole

    def prepare_steps(self) -> None:
        """Make the programs of the steps now, since a thread of a running program cannot make them.
        """
        raise NotImplementedError

    def fuse_steps(self) -> None:
        """Fuse the programs of the steps now."""
        raise NotImplementedError

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        self.prepare_steps()
        return super().lower(builder, inputs, specs, static)

    def _sampled(self, number: int, array: Any, loop: tuple[int, ...], lead: int) -> Any:
        whole = joined(spread(array, (*loop, *array.shape[lead:])), len(loop))
        return with_moved_axis(whole, 1, 0) if number in self._per_step else whole


class Loop(StepsOperator):
    """A loop over a body.

    The results are the carried arrays at the end, followed by the arrays that the steps yield.

    Parameters
    ----------
    body : Body
        Its arguments and results are ordered as `Sizes` says.
    sizes : Sizes
    length : int
        The number of steps.
    reverse : bool
        Whether the first step gets the last elements of the arrays with elements for each step.
    snapshots : int or None or "auto" or Storage
        How many states a reverse sweep keeps; None for all, ``"auto"`` for as many as fit into the
        memory that the settings grant, a `Storage` for all of them in files.
    """

    def __init__(
        self, body: Body, sizes: Sizes, length: int, reverse: bool, snapshots: Any = "auto"
    ) -> None:
        self.body, self.form, self.length = body, sizes, length
        self.is_reverse, self.snapshots = reverse, snapshots
        carried, count = sizes.carried, sizes.per_step
        states, own, constant = sizes.split(body.specs)
        yielded = [((length, *shape), dtype) for shape, dtype in body.results[carried:]]
        super().__init__(
            body.name,
            [*states, *(((length, *shape), dtype) for shape, dtype in own), *constant],
            [*body.results[:carried], *yielded],
            range(carried, carried + count), range(carried, len(body.results)), body.device,
        )  # fmt: skip
        self.declare(self._pulled, [True] * len(self.input_specs) + [False] * self.nout)
        self._pullbacks: dict[tuple[bool, ...], Any] = {}
        self._tangents: dict[tuple[bool, ...], Loop] = {}
        self._steps: dict[Any, Steps] = Bounded(_MOST_STEPS)
        self.recording: Loop | None = None  # the loop that yields its states, too
        self.is_folded = False  # whether it stands for operations of a captured function

    def as_loop(self) -> Recurring | None:
        """Return the loop as one that a kernel has inside; None for a body on many numbers, and for
        so many steps that Ctrl-C has to be heard in between."""
        loop, length = self._compiled, self.length
        if loop is None or not loop.fits_inside(length):
            return None
        replaces = len(loop.of.recurrence.steps) * length if self.is_folded else 0
        return Recurring(loop.of, length, self.is_reverse, replaces)

    def apply(self, *values: Any) -> tuple[Any, ...]:
        """Return the results of the loop for values, as a tuple even if there is one."""
        found = self(*values)
        return found if self.nout > 1 else (found,)

    # Values

    def compute(
        self, arrays: Arrays, count: int | None, leads: tuple[bool, ...], places: Arrays = ()
    ) -> list[Any]:
        steps = self.steps(count, self.step_leads(leads))
        ys = list(places[self.form.carried :]) or steps.yields(self.length)
        return [*self.ran(arrays, count, leads, ys), *ys]

    def ran(
        self, arrays: Arrays, count: int | None, leads: tuple[bool, ...], ys: Arrays,
        history: Arrays = (),
    ) -> list[Any]:  # fmt: skip
        """Run the loop; return the carried arrays at the end.

        What the steps yield is written to ``ys``, and the states before the steps to ``history`` if
        that is given. The other parameters are those of `compute`.
        """
        states, xs, constants = self.form.split(arrays)
        steps = self.steps(count, self.step_leads(leads))
        if count is not None:
            states = [in_all(a, s) for a, s in zip(states, steps.results, strict=False)]
        return steps.run(
            states, self.turned(xs), constants, self.length, self.turned(ys), self.turned(history)
        )

    def steps(self, count: int | None, leads: tuple[bool, ...]) -> Steps:
        """Return the steps for arrays with ``count`` samples or, if that is None, with no axis of
        samples."""
        found = self._steps.get((count, leads))
        if found is None:
            found = self._steps[count, leads] = Steps(
                self.body, self.form, count, leads, self._compiled
            )
        return found

    def prepare_steps(self) -> None:
        if self.body.device == CPU or self.as_loop() is None:
            self.steps(None, ()).prepare()

    def fuse_steps(self) -> None:
        if self._compiled is None:
            self.steps(None, ()).fuse()

    @property
    def _compiled(self) -> Any:
        """The loop as compiled code, or None; a device takes a single step, as that of
        `checkpoint`, by the kernels of its operations."""
        is_single = self.length == 1 and self.body.device != CPU
        return None if is_single else self.body.compiled(self.form)

    def step_leads(self, leads: tuple[bool, ...]) -> tuple[bool, ...]:
        """Return which arguments of a step have an axis of samples, given which inputs of the loop
        have.

        All carried arguments have one, as they may differ from the first step on.
        """
        return leads and (*[True] * self.form.carried, *leads[self.form.carried :])

    def turned(self, arrays: Sequence[Any]) -> list[Any]:
        """Return arrays with elements for each step in the order in which the steps run."""
        return [a[::-1] for a in arrays] if self.is_reverse else list(arrays)

    # Derivatives

    def pullback_for(self, wanted: tuple[bool, ...]) -> Any:
        """Return the operator that computes the cotangents of the wanted inputs."""
        from .pullback import Pullback  # which is made of loops

        if wanted not in self._pullbacks:
            self._pullbacks[wanted] = Pullback(self, wanted)
        return self._pullbacks[wanted]

    def floating(self, wanted: Sequence[bool]) -> tuple[bool, ...]:
        """Return which of the wanted inputs have derivatives."""
        return tuple([w and d.kind in "fc" for w, (_, d) in zip(wanted, self.input_specs,
                                                                strict=True)])  # fmt: skip

    def _pulled(self, context: Any, *grads: Any) -> tuple[Any, ...]:
        """Return the cotangents of the loop's inputs, given those of its floating results."""
        inputs = [context.input(n) for n in range(len(self.input_specs))]
        pullback = self.pullback_for(self.floating(context.wanted))
        return pullback.gradients(inputs, [g for g in grads if g.dtype.kind in "fc"])

    @lazy
    def with_history(self) -> "Loop":
        """The loop that yields the states before its steps, and nothing else."""
        count = self.form.carried

        def step(*arguments: Tensor) -> list[Tensor]:
            return [*self.body(*arguments)[:count], *arguments[:count]]

        body = Body.of(self.name, step, self.body.specs, self.body.device)
        return loop_over(body, self.form, self.length, self.is_reverse, self.snapshots)

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents of the loop's results, given those of its inputs."""
        inputs = [context.input(n) for n in range(len(self.input_specs))]
        return self.pushed(inputs, tangents)[1]

    def pushed(
        self, inputs: Sequence[Value], tangents: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """Return the results and their tangents; a result that is no floating number has None as
        tangent."""
        moved = self.floating([t is not None or n < self.form.carried
                               for n, t in enumerate(tangents)])  # fmt: skip
        pairs = zip(inputs, tangents, strict=True)
        along = [zeros_of(x.spec) if t is None else t for x, t in pairs]
        parts = [_chosen(part, some) for part, some in zip(
            self.form.split(along), self.form.split(moved), strict=True)]  # fmt: skip
        states, xs, constants = self.form.split(inputs)
        loop = self._tangent_loop(moved)
        found = loop.apply(*states, *parts[0], *xs, *parts[1], *constants, *parts[2])
        return self._parted(found)

    def _parted(self, found: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Split the results of the loop of tangents into the results of this loop, and their
        tangents."""
        carried = self.form.carried
        left, primal, along = iter(found), [], []
        for group in (self.out_specs[:carried], self.out_specs[carried:]):
            primal += [next(left) for _ in group]
            along += [next(left) if d.kind in "fc" else None for _, d in group]
        return primal, along

    def _tangent_loop(self, moved: tuple[bool, ...]) -> "Loop":
        """Return the loop that carries states and tangents, for tangents of the inputs in
        ``moved``."""
        if moved not in self._tangents:
            self._tangents[moved] = self._made_tangent_loop(moved)
        return self._tangents[moved]

    def _made_tangent_loop(self, moved: tuple[bool, ...]) -> "Loop":
        body, form, count = self.body, self.form, len(self.body.specs)
        groups = [list(zip(s, m, strict=True)) for s, m in zip(
            form.split(list(range(count))), form.split(moved), strict=True)]  # fmt: skip
        order: list[tuple[bool, int]] = []  # whether an argument is a tangent, and of which one
        for group in groups:
            order += [(False, n) for n, _ in group] + [(True, n) for n, m in group if m]
        along, live = body.tangents(moved)

        def step(*arguments: Tensor) -> list[Tensor]:
            given = dict(zip(order, arguments, strict=True))
            primal = [given[False, n] for n in range(count)]
            tangents = [given[True, n] for n in range(count) if moved[n]]
            found = dict(zip(live, along.mapped.apply([*primal, *tangents]), strict=True))
            values = body(*primal)
            made: list[Tensor] = []
            for part in (range(form.carried), range(form.carried, len(values))):
                made += [values[n] for n in part]
                made += [
                    found[n] if n in found else Tensor(np.zeros(*body.results[n]))
                    for n in part if body.results[n][1].kind in "fc"
                ]  # fmt: skip
            return made

        specs = [body.specs[n] for _, n in order]
        sizes = Sizes(*[sum(1 + m for _, m in group) for group in groups[:2]])
        name = f"the tangents of {self.name}"
        made = Body.of(name, step, specs, body.device)
        return loop_over(made, sizes, self.length, self.is_reverse, self.snapshots)


def loop_over(
    body: Body, sizes: Sizes, length: int, reverse: bool, snapshots: Any = "auto"
) -> Loop:
    """Return the loop over a body; calls with the same arguments return the same object."""
    key = sizes, length, reverse, snapshots
    found = body.loops.get(key)
    if found is None:
        found = body.loops[key] = Loop(body, sizes, length, reverse, snapshots)
    return found


def _core(shape: tuple[int, ...]) -> tuple[str, ...]:
    """Return names for the core dimensions of a shape, each named after its size."""
    return tuple([f"d{n}" for n in shape])


def _differs(array: Any, lead: int) -> bool:
    """Whether an operand differs along its first ``lead`` axes, those of the samples."""
    axes = zip(array.shape[:lead], array.strides[:lead], strict=True)
    return not all(size == 1 or stride == 0 for size, stride in axes)


def in_all(array: Any, spec: Spec) -> Any:
    """Return a carried array in the shape of ``spec``, repeated for all samples if it lacks their
    axis."""
    shape = spec[0]
    return array if array.shape == shape else copied(spread(array, shape))


def _chosen(part: Sequence[Any], some: Sequence[bool]) -> list[Any]:
    return [value for value, want in zip(part, some, strict=True) if want]
