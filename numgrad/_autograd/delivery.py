"""Delivery of the gradients of a pass: returned as tensors, or added to ``.grad`` of leaves."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeGuard

import numpy as np

from .._declare import registry
from .._errors import HookError, UnusedInputError
from .._tensor import Tensor, placed
from ..engine.derivatives.batching import make_explicit
from ..engine.differentiate.request import Outcome
from ..engine.graph.node import Accumulator, Edge, Spec, Value
from ..engine.graph.value import CPU
from ..engine.record.apply import grad_mode, mode
from ..process.fork_locks import fork_safe_lock
from .arguments import Place

_lock = fork_safe_lock()


def check_destinations(places: Sequence[Place], set_grad: bool) -> None:
    """Raise if ``set_grad`` is true and an input cannot have a ``.grad``."""
    for index, place in enumerate(places):
        if set_grad and place.tensor is None and not isinstance(place.edge.node, Accumulator):
            raise ValueError(
                f"set_grad=True: input {index} is a GradientEdge of an intermediate value, which "
                f"has no .grad"
            )


def collect(
    places: Sequence[Place],
    outcome: Outcome,
    initial: Sequence[Value | None],
    plan: Any,
    options: Any,
    dialect: Any,
) -> list[Tensor | None]:
    """Return one result for each input: its gradient, or for an unused input zeros or ``None``."""
    results: list[Tensor | None] = []
    given: set[int] = set()
    for index, (place, start) in enumerate(zip(places, _of_each(places, initial), strict=True)):
        value = outcome.grads.get(place.edge) if place.edge not in plan.cut else None
        if value is None and start is not None:
            value = start
            if dialect.share_unused:
                results.append(start)  # type: ignore[arg-type]
                continue
            value = _explicit_rows(start, plan.batch)
        if value is None:
            results.append(_unused(index, place, plan, options))
            continue
        result = as_result(value, plan.batch, place)
        if id(result) in given or value is start:
            result = _copied(result)
        given.add(id(result))
        results.append(result)
    return results


def _of_each(places: Sequence[Place], initial: Sequence[Value | None]) -> list[Value | None]:
    """Return the initial gradient of each input; duplicates of an input share the last one given.
    """
    keys = [p.edge if p.edge.node is not None else id(p.tensor) for p in places]
    last = {key: start for key, start in zip(keys, initial, strict=True) if start is not None}
    return [last.get(key) for key in keys]


def _explicit_rows(value: Value, batch: int | None) -> Value:
    if value.rows:
        value = value.detached()
        assert batch is not None
        make_explicit(batch, [value])
    return value


def as_result(value: Value, batch: int | None, place: Place) -> Tensor:
    """Return a gradient as a tensor; in a batched pass, repeat one that is the same for all rows.
    """
    if batch is not None and len(value.shape) == len(place.spec.shape):
        expanded = registry["expand_dims"](value, axes=(-len(value.shape) - 1,))
        value = _copied(registry["broadcast"](expanded, sizes=(batch, *value.shape)))
    return value  # type: ignore[return-value]


def _copied(value: Value) -> Tensor:
    return registry["copy"](value)


def _unused(index: int, place: Place, plan: Any, options: Any) -> Tensor | None:
    if not options.allow_unused:
        raise unused_error(index, place.spec.shape)
    if not options.materialize_grads:
        return None
    if place.tensor is None:
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    unused = zeros(place.spec, plan.batch)
    return unused.requires_grad_() if options.create_graph else unused


def unused_error(index: int, shape: tuple[int, ...]) -> UnusedInputError:
    """Return the error for an input on which no output depends."""
    return UnusedInputError(
        f"The differentiated Tensor at index {index} (shape {shape}) appears to not have been used "
        f"in the graph. Set allow_unused=True if this is the desired behavior."
    )


def zeros(spec: Spec, batch: int | None) -> Tensor:
    """Return zeros of a spec; in a batched pass ``batch`` is the size of a further first axis."""
    lead = () if batch is None else (batch,)
    return placed(np.zeros((*lead, *spec.shape), spec.dtype), spec.device)


def write(
    places: Sequence[Place],
    results: Sequence[Tensor | None],
    outcome: Outcome,
    plan: Any,
    options: Any,
    dialect: Any,
) -> None:
    """Write the ``.grad`` that ``set_grad``, ``retain_grad`` and ``only_inputs=False`` ask for.

    All checks come before the first write, so that an error leaves every ``.grad`` as it was.
    """
    targets = {p.edge for p in places if p.edge.node is not None and p.edge not in plan.cut}
    others = {edge for edge in outcome.grads if edge not in targets}
    named = [place.tensor for place in places] if options.set_grad else []
    _require_inner(others, named)
    if options.retain_grad and dialect.retain_outputs:
        _retain_outputs(plan, outcome, bool(options.create_graph))
    with _lock:
        _write_retained(outcome, options)
        for edge, value in outcome.grads.items():
            if edge not in targets and _accumulates(edge.node):
                _accumulate(edge.node.variable, value, bool(options.create_graph))
        if options.set_grad:
            for place, result in zip(places, results, strict=True):
                tensor: Any = place.tensor
                if tensor is None and isinstance(place.edge.node, Accumulator):
                    tensor = place.edge.node.variable
                if tensor is not None:
                    tensor._grad = result


def _retain_outputs(plan: Any, outcome: Outcome, create_graph: bool) -> None:
    """Retain the seeds of outputs that lie on no path to an input, as gradients of these outputs.
    """
    seen = {edge for edge, _ in outcome.retained}
    with grad_mode(create_graph):
        outcome.retained.extend(
            (edge, _copied(seed))
            for edge, seed in plan.seeds
            if edge not in seen and not edge.node.is_accumulator
        )


def write_retained(outcome: Outcome, options: Any) -> None:
    """Write the ``.grad`` of tensors that retain their gradients."""
    with _lock:
        _write_retained(outcome, options)


def _write_retained(outcome: Outcome, options: Any) -> None:
    for edge, value in outcome.retained:
        node = edge.node
        assert node is not None
        if options.retain_grad:
            node.grads[edge.slot] = value
            continue
        reference = node.retained.get(edge.slot)
        tensor = reference() if reference is not None else None
        if tensor is not None:
            _accumulate(tensor, value, bool(options.create_graph))


def _require_inner(edges: Iterable[Edge], tensors: Iterable[Tensor | None]) -> None:
    """Raise, while a function is captured, if the ``.grad`` of a tensor from outside would be
    written."""
    if mode.capture is not None:
        leaves = [e.node.variable for e in edges if isinstance(e.node, Accumulator)]
        for tensor in (*leaves, *(t for t in tensors if t is not None)):
            mode.capture.require_inner(tensor, "writing .grad")


def _accumulate(tensor: Any, value: Any, create_graph: bool) -> None:
    """Add a gradient to the ``.grad`` of a tensor, in place where that is possible.

    A new tensor is made if ``.grad`` is read-only, or if it has or gets a graph.
    """
    target = tensor._grad
    if target is None:
        tensor._grad = value
    elif create_graph:
        with grad_mode(True):
            tensor._grad = registry["add"](target, value)
    elif target.requires_grad or not _is_writeable(target):
        with grad_mode(False):
            tensor._grad = registry["add"](target.detach(), value)
    elif not (_is_here(target) and _is_here(value)):  # of a captured function, or on a device
        with grad_mode(False):
            target += value
        tensor._grad = target
    else:
        np.add(target.array, value.array, out=target.array)
        target.storage.version += 1


def _is_writeable(target: Any) -> bool:
    """Whether another gradient may be added in place to the gradient ``target``."""
    return target.array is None or target.array.flags.writeable


def _is_here(value: Value) -> bool:
    """Whether a value is computed, as an array of NumPy."""
    return value.array is not None and value.spec.device == CPU


def accumulate(outcome: Outcome, destinations: Sequence[Place] | None, options: Any) -> None:
    """Add the gradients of a pass of ``backward`` to ``.grad``, then call the post-accumulation
    hooks."""
    create_graph = bool(options.create_graph)
    _require_inner(outcome.grads, [place.tensor for place in destinations or ()])
    with _lock:
        _write_retained(outcome, options)
        inner = {
            p.edge: p.tensor
            for p in destinations or ()
            if p.tensor is not None and p.tensor.node is not None
        }
        for edge, value in outcome.grads.items():
            if _accumulates(edge.node):
                _accumulate(edge.node.variable, value, create_graph)
            elif edge in inner and not inner[edge].retains_grad:
                _accumulate(inner[edge], value, create_graph)
                inner[edge].retain_grad()
    if not any([_is_followed(edge.node) for edge in outcome.grads]):  # noqa: C419  a list is faster
        return
    with grad_mode(create_graph):
        for edge, value in outcome.grads.items():
            if _accumulates(edge.node):
                _run_accumulated_hooks(edge.node, value)


def _accumulates(node: Any) -> TypeGuard[Accumulator]:
    """Whether a node is the accumulator of a leaf that still requires grad."""
    return isinstance(node, Accumulator) and node.variable.requires_grad


def _is_followed(node: Any) -> bool:
    """Whether a node is an accumulator with hooks that are called after accumulation."""
    if not _accumulates(node):
        return False
    return bool(node.variable.leaf.post_accumulate or node.post_hooks)


def _run_accumulated_hooks(node: Accumulator, value: Value) -> None:
    """Call the hooks after accumulation: those of the leaf, then the post-hooks of its accumulator.
    """
    tensor: Any = node.variable
    after = tensor.leaf.post_accumulate
    for hook in list(after.values()) if after else ():
        if hook(tensor) is not None:
            raise HookError("a post accumulate grad hook must return None")
    for hook in list(node.post_hooks.values()) if node.post_hooks else ():
        if hook((), (value,)):
            raise HookError(
                "a hook of an accumulator returned an incorrect number of values: it has no "
                "gradients to replace"
            )
