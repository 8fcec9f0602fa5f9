"""``grad`` and ``backward``: one pass of the engine for every option of the five gradient APIs."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._tensor import Tensor, placed
from ..engine.differentiate.backward import BackwardPass
from ..engine.differentiate.request import Outcome, Request
from ..engine.graph.node import Edge, Value
from . import anomaly, arguments, delivery, dump, quick
from .arguments import Place
from .options import CORE, Dialect, Options


@dataclass
class Plan:
    """The checked arguments of one pass.

    ``outputs`` are the places of the outputs, and ``seeds`` are cotangents with the edges at which
    they start; ``batch`` is the number of rows of a batched pass, or None. No cotangent passes
    through the edges in ``cut``; the cotangents in ``initial`` are added at their edges.
    """

    outputs: list[Place]
    seeds: list[tuple[Edge, Value]]
    batch: int | None
    cut: set[Edge] = field(default_factory=set)
    initial: dict[Edge, Value] = field(default_factory=dict)


def grad(
    outputs: Any,
    inputs: Any = None,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
    *,
    no_grad_vars: Any = None,
    grad_inputs: Any = None,
    set_grad: bool = False,
    retain_grad: bool = False,
    loss_scale: float | None = None,
    enable_double_backprop: bool | None = None,
    backward_strategy: Any = None,
    sort_sum_gradient: bool | None = None,
    dump_backward_graph_path: str | None = None,
) -> Any:
    """Compute and return the sum of gradients of outputs with respect to inputs.

    Parameters
    ----------
    outputs : Tensor, GradientEdge or iterable of them
        What is differentiated; the gradients of duplicates are summed.
    inputs : Tensor, GradientEdge, iterable or dict of them
        What the gradients are taken with respect to: leaves or intermediate values.
    grad_outputs : Tensor, array_like or iterable of them, optional
        The vector of the vector-Jacobian product: one entry per output, of the shape of the output.
        ``None`` entries mean ones.
    retain_graph : bool, optional
        Keep what the graph saved, so that another pass can run. Default: the value of
        `create_graph`.
    create_graph : bool
        Record the gradients themselves, so that they can be differentiated again.
    only_inputs : bool
        If false, every other leaf of the graph accumulates its gradient in ``.grad`` as well.
    allow_unused : bool, optional
        Return ``None`` for an input that the outputs do not depend on. Default: the value of
        `materialize_grads`.
    is_grads_batched : bool
        Whether the first axis of every entry of `grad_outputs` is that of a batch of vectors. The
        results then have the same first axis.
    materialize_grads : bool
        Return zeros instead of ``None`` for unused inputs.
    no_grad_vars : Tensor, GradientEdge or iterable of them, optional
        No gradient flows through these in this pass.
    grad_inputs : Tensor or sequence, optional
        Gradients that are added to those of the inputs, and flow on from there to the leaves.
    set_grad : bool
        Also put each result in its input's ``.grad`` (replacing it).
    retain_grad : bool
        Also put the gradient of every intermediate tensor on the way in its ``.grad`` (replacing
        it).
    loss_scale : float, optional
        Factor on every seed.
    enable_double_backprop : bool, optional
        Another name of `create_graph`.
    backward_strategy : BackwardStrategy, optional
        An object with an attribute ``sort_sum_gradient``.
    sort_sum_gradient : bool, optional
        Add seeds last where contributions are summed. Default:
        ``set_flags(sort_sum_gradient=...)``.
    dump_backward_graph_path : str, optional
        Directory for the graph in DOT format and the call stacks.

    Returns
    -------
    tuple of (Tensor or None)
        One gradient per input, of its shape and dtype (with the batch in front); a dict for a dict.

    Raises
    ------
    UnusedInputError, NoGradError, GradShapeError, GradDtypeError, GradCountError, EmptyInputError,
    FreedGraphError
        See the table of errors in the documentation; no ``.grad`` has changed then.

    Notes
    -----
    With seeds :math:`v_k` the result is :math:`\\sum_k v_k^T \\partial y_k / \\partial x_i` (for
    complex values the
    conjugate convention of torch: the gradient of a real :math:`L` is :math:`\\partial L/\\partial
    \\Re x + i\\,
    \\partial L/\\partial \\Im x`).

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> y = x * x
    >>> ng.grad(y, x)[0]
    tensor([2., 4., 6.])
    """
    if (
        type(create_graph) is bool and only_inputs is True and materialize_grads is False
        and type(is_grads_batched) is bool and (retain_graph is None or type(retain_graph) is bool)
        and (allow_unused is None or type(allow_unused) is bool)
        and no_grad_vars is grad_inputs is loss_scale is enable_double_backprop is None
        and set_grad is retain_grad is False
        and backward_strategy is sort_sum_gradient is dump_backward_graph_path is None
    ):  # fmt: skip
        retain = create_graph if retain_graph is None else retain_graph
        how = is_grads_batched, retain, create_graph, bool(allow_unused)
        result = quick.grad(outputs, inputs, grad_outputs, *how)
        if result is not None:
            return result
    options = Options(
        retain_graph, create_graph, only_inputs, allow_unused, is_grads_batched,
        materialize_grads, no_grad_vars,
        grad_inputs, set_grad, retain_grad, loss_scale, enable_double_backprop, backward_strategy,
        sort_sum_gradient,
        dump_backward_graph_path,
    )  # fmt: skip
    return run_grad(outputs, inputs, grad_outputs, options, CORE)


def run_grad(
    outputs: Any, inputs: Any, grad_outputs: Any, options: Options, dialect: Dialect
) -> Any:
    """Return the result of ``grad`` for given options, in the dialect of numgrad or of a front-end.
    """
    options.settle()
    out_items = arguments.as_sequence(outputs, "outputs")
    in_items, keys = arguments.input_items(inputs, "grad()")
    seeds = arguments.seed_items(grad_outputs, len(out_items))
    if options.only_inputs is not None and not options.only_inputs and options.is_grads_batched:
        raise ValueError(
            "only_inputs=False accumulates in .grad and cannot be combined with "
            "is_grads_batched=True"
        )
    plan = make_plan(out_items, seeds, options, dialect)
    in_places = arguments.places(in_items, "inputs", check=not dialect.skip_inputs)
    delivery.check_destinations(in_places, options.set_grad)
    plan.cut = _cut(options.no_grad_vars, plan.outputs, dialect)
    initial = _initial(options.grad_inputs, in_places, plan, dialect)
    writer = dump.prepare(options.dump_path)
    targets = [p.edge for p in in_places if p.edge.node is not None and p.edge not in plan.cut]
    outcome = _run(plan, targets, options, extra_leaves=not options.only_inputs)
    with _undone_on_error(outcome):
        results = delivery.collect(in_places, outcome, initial, plan, options, dialect)
        if writer is not None:
            writer.write([edge for edge, _ in plan.seeds], outcome)
    delivery.write(in_places, results, outcome, plan, options, dialect)
    return dict(zip(keys, results, strict=True)) if keys is not None else tuple(results)


def _run(
    plan: Plan,
    targets: list[Edge] | None,
    options: Options,
    extra_leaves: bool = False,
    accumulate: bool = False,
) -> Outcome:
    request = Request(
        plan.seeds,
        targets,
        create_graph=bool(options.create_graph),
        retain_graph=bool(options.retain_graph),
        extra_leaves=extra_leaves,
        initial=plan.initial,
        cut=plan.cut,
        batch=plan.batch,
        seeds_last=bool(options.sort_sum_gradient),
        retain_all=bool(options.retain_grad),
        accumulate=accumulate,
        check=anomaly.checker(),
    )
    return BackwardPass(request).run()


@contextmanager
def _undone_on_error(outcome: Outcome) -> Iterator[None]:
    """Run a block that delivers results; if the block fails, give the graph its saved values back.
    """
    try:
        yield
    except BaseException:
        outcome.restore_saved()
        raise


def make_plan(
    items: Sequence[Any], seeds: Sequence[Any], options: Options, dialect: Dialect,
    name: str = "outputs",
) -> Plan:  # fmt: skip
    """Check outputs and seeds, and return a plan with them; outputs without a graph get no seed.

    Errors call the outputs ``name``, as the parameter of the caller is called.
    """
    batched = bool(options.is_grads_batched)
    places = arguments.places(items, name, check=not dialect.skip_outputs)
    chosen: list[tuple[Edge, Value]] = []
    for index, (place, seed) in enumerate(zip(places, seeds, strict=True)):
        explicit = seed is not None
        scale = options.loss_scale if dialect.scale_explicit or not explicit else None
        if explicit:
            value = arguments.cotangent(
                seed, place.spec, "grad_output", index, batched, scale, f"grad_{name}"
            )
        else:
            value = arguments.implicit_seed(place.spec, index, dialect.scalar_seeds, batched, scale)
        if place.edge.node is None:
            continue
        if dialect.last_seed_wins:
            chosen = [(edge, v) for edge, v in chosen if edge != place.edge]
        chosen.append((place.edge, value))
    batch = arguments.batch_size([value for _, value in chosen]) if batched else None
    return Plan(places, chosen, batch)


def _cut(no_grad_vars: Any, outputs: Sequence[Place], dialect: Dialect) -> set[Edge]:
    if no_grad_vars is None:
        return set()
    items = arguments.as_sequence(no_grad_vars, "no_grad_vars")
    cut = {
        p.edge
        for p in arguments.places(items, "no_grad_vars", check=False)
        if p.edge.node is not None
    }
    for index, place in enumerate(outputs):
        if place.edge in cut:
            if not dialect.output_in_cut:
                raise ValueError(
                    f"output {index} is also in no_grad_vars, so nothing would be differentiated"
                )
            cut.discard(place.edge)
    return cut


def _initial(
    grad_inputs: Any, places: Sequence[Place], plan: Plan, dialect: Dialect
) -> list[Value | None]:
    """Check ``grad_inputs`` and put them into the plan; return one, or None, for each input.

    Those of inputs without a graph are not put into the plan.
    """
    if grad_inputs is None:
        return [None] * len(places)
    items = arguments.seed_items(grad_inputs, len(places), "grad_inputs")
    values: list[Value | None] = []
    for index, (item, place) in enumerate(zip(items, places, strict=True)):
        if item is None:
            values.append(None)
            continue
        value = arguments.cotangent(item, place.spec, "grad_inputs", index, plan.batch is not None)
        values.append(value)
        if place.edge.node is None:
            continue
        if place.edge in plan.initial and not dialect.last_initial_wins:
            raise ValueError(
                f"input {index} is a duplicate and has more than one entry in grad_inputs"
            )
        plan.initial[place.edge] = value
        if dialect.replace_seed:
            zero: Any = placed(np.zeros(value.shape, value.dtype), value.spec.device)
            plan.seeds = [(e, s if e != place.edge else zero) for e, s in plan.seeds]
    if plan.batch is not None:
        plan.batch = arguments.batch_size([*(seed for _, seed in plan.seeds), *values])
    return values


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    *,
    create_graph: bool = False,
    inputs: Any = None,
    no_grad_vars: Any = None,
    loss_scale: float | None = None,
    retain_grad: bool = False,
    sort_sum_gradient: bool | None = None,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Accumulate the gradients of tensors in the ``.grad`` of the leaves they depend on.

    Parameters
    ----------
    tensors : Tensor, GradientEdge or iterable of them
        What is differentiated; the gradients of duplicates are summed.
    grad_tensors : Tensor, array_like or iterable of them, optional
        One seed per tensor; ``None`` means ones.
    retain_graph, create_graph
        As in `grad`. With `create_graph` the new ``.grad`` is a new tensor with a graph.
    inputs : Tensor, GradientEdge, iterable or dict of them, optional
        The only tensors whose gradients are accumulated; one that is no leaf gets a ``.grad``, too.
    no_grad_vars, loss_scale, retain_grad, sort_sum_gradient, dump_backward_graph_path
        As in `grad`.

    Raises
    ------
    NoGradError, GradShapeError, GradDtypeError, GradCountError, EmptyInputError, FreedGraphError
        As in `grad`; no ``.grad`` has changed then.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> ng.backward((x * x).sum())
    >>> x.grad
    tensor([2., 4.])
    """
    if (
        create_graph is retain_grad is False
        and no_grad_vars is loss_scale is sort_sum_gradient is None
        and dump_backward_graph_path is None
        and (retain_graph is None or type(retain_graph) is bool)
        and quick.backward(tensors, grad_tensors, bool(retain_graph), inputs)
    ):
        return
    options = Options(
        retain_graph, create_graph, no_grad_vars=no_grad_vars, retain_grad=retain_grad,
        loss_scale=loss_scale,
        sort_sum_gradient=sort_sum_gradient, dump_path=dump_backward_graph_path,
    )  # fmt: skip
    run_backward(tensors, grad_tensors, inputs, options, CORE)


def method_backward(
    self: Tensor,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
    *,
    dump_backward_graph_path: str | None = None,
) -> None:
    """Accumulate the gradients of this tensor in the ``.grad`` of the leaves it depends on; see
    `numgrad.backward`.

    Parameters
    ----------
    gradient : Tensor or array_like, optional
        The seed, of the tensor's shape; ones by default.
    retain_graph, create_graph, inputs, dump_backward_graph_path
        As in `numgrad.backward`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> (x * x).backward()
    >>> x.grad
    tensor([2., 4.])
    """
    backward(
        self, None if gradient is None else [gradient], retain_graph, create_graph=create_graph,
        inputs=inputs,
        dump_backward_graph_path=dump_backward_graph_path,
    )  # fmt: skip


Tensor.backward = method_backward


def run_backward(
    tensors: Any, grad_tensors: Any, inputs: Any, options: Options, dialect: Dialect
) -> None:
    """Run ``backward`` with given options, in the dialect of numgrad or of a front-end."""
    options.settle()
    items = arguments.as_sequence(tensors, "tensors")
    seeds = arguments.seed_items(grad_tensors, len(items), "grad_tensors")
    plan = make_plan(items, seeds, options, dialect, "tensors")
    destinations = None
    if inputs is not None:
        destinations = arguments.places(arguments.input_items(inputs, "backward()")[0], "inputs")
    plan.cut = _cut(options.no_grad_vars, plan.outputs, dialect)
    writer = dump.prepare(options.dump_path)
    targets = (
        None if destinations is None else [p.edge for p in destinations if p.edge not in plan.cut]
    )
    outcome = _run(plan, targets, options, accumulate=True)
    with _undone_on_error(outcome):
        if writer is not None:
            writer.write([edge for edge, _ in plan.seeds], outcome)
    delivery.accumulate(outcome, destinations, options)


__all__ = ["CORE", "Dialect", "Options", "backward", "grad", "run_backward", "run_grad"]
