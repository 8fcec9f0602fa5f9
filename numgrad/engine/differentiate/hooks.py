"""Hooks: functions of users to which a pass shows computed cotangents and gradients.

In a batched pass a hook is called once for each row, and sees the cotangent of a pass for this row
alone.

The derivative of a node may read the node's own output, as that of `exp` does. If a recorded pass
is differentiated, that use of the output sends a cotangent to the output, too. Hooks do not see
this cotangent: hooks are on the user's tensor, not on the value that the derivative has read.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from ..._errors import HookError, HookTypeError
from ..derivatives.batching import make_explicit, with_rows
from ..graph.hook_table import Handle as Handle
from ..graph.hook_table import register as register
from ..graph.node import Accumulator, Edge, Node, OwnSlot, Spec, Value, connect
from ..record.apply import changing, mode, runtime


def tensor_table(edge: Edge) -> dict[int, Any] | None:
    """Return the hooks of the tensor whose gradient arrives at ``edge``."""
    node = edge.node
    if isinstance(node, Accumulator):
        return node.variable.hooks
    return node.tensor_hooks.get(edge.slot) if node is not None and node.tensor_hooks else None


def run_tensor_hooks(backward_pass: Any, table: dict[int, Any], value: Value) -> Value:
    """Pass a total cotangent through the hooks of its tensor, in order of registration."""
    for hook in list(table.values()):
        given = [value]
        (result,) = by_row(backward_pass, partial(_call_hook, hook), given, [value.spec])
        assert result is not None
        value = result
    return value


def run_on_array(backward_pass: Any, table: dict[int, Any], array: Any, spec: Spec) -> Value:
    """Do what `run_tensor_hooks` does in a pass whose cotangents are arrays, with fewer steps: no
    array has rows, and nothing is captured.

    ``spec`` is that of the tensor, which the array mostly has, too.
    """
    backward_pass.watch_saved()
    value: Any = None
    for hook in list(table.values()):
        given = copy_of_array(array, spec) if value is None else _copy(value)
        value = _replace(hook(given), given)
        backward_pass.foreign.append(value)
    return value


def copy_of_array(array: Any, spec: Spec) -> Any:
    """Return a copy of a cotangent as a value that a function of the user may write; ``spec`` is
    that of the cotangent's tensor, which the array mostly has, too."""
    is_usual = array.shape == spec.shape and array.dtype is spec.dtype
    if is_usual and type(array) is np.ndarray and array.flags.c_contiguous:
        return runtime.value.of_spec(array.copy(), spec)
    return _copy(runtime.value(array))


def _call_hook(hook: Callable[..., Any], g: Any) -> tuple[Any]:
    return (_replace(hook(g), g),)


def run_pre_hooks(
    backward_pass: Any, node: Node, cotangents: Sequence[Value | None]
) -> list[Value | None]:
    """Pass the cotangents of a node through its pre-hooks."""
    return _run_hooks(
        backward_pass, node.pre_hooks, cotangents, lambda hook, gs, _: _replace_all(hook(gs), gs)
    )


def run_post_hooks(
    backward_pass: Any,
    node: Node,
    gradients: Sequence[Value | None],
    cotangents: Sequence[Value | None],
) -> list[Value | None]:
    """Pass the gradients that a node computed through its post-hooks."""
    return _run_hooks(
        backward_pass, node.post_hooks, gradients,
        lambda hook, gs, others: _replace_all(hook(gs, others), gs), cotangents,
    )  # fmt: skip


def run_accumulator_pre_hooks(backward_pass: Any, node: Node) -> None:
    """Pass the gradient of a leaf through the pre-hooks of its accumulator."""
    edge = Edge(node, 0)
    if edge in backward_pass.grads:
        (value,) = run_pre_hooks(backward_pass, node, [backward_pass.grads.pop(edge)])
        if value is not None:
            backward_pass.grads[edge] = value


def is_past_hooks(edge: Edge) -> bool:
    """Whether the cotangents that arrive by an edge are kept from the hooks.

    That is so if the edge comes from a derivative that has read the output of its own node, and the
    node has hooks.
    """
    return type(edge.slot) is OwnSlot and edge.node is not None and edge.node.is_watched


def past_hooks(edge: Edge) -> Edge:
    """Return the key under which a pass sums the cotangents at ``edge`` that hooks do not see.

    The key is an edge of the same node with a negative slot.
    """
    return Edge(edge.node, ~edge.slot)


def expects(backward_pass: Any, edge: Edge) -> bool:
    """Whether a gradient is going to arrive at ``edge`` in a pass."""
    notes, request = backward_pass.notes, backward_pass.request
    if "expected" not in notes:
        arriving = {edge for edge, _ in request.seeds} | set(request.initial)
        for node, mask in backward_pass.wanted.items():
            sent = [e for e, want in zip(node.edges, mask, strict=True) if want]
            arriving.update(edge for edge in sent if not is_past_hooks(edge))
        notes["expected"] = arriving
    visited = edge in backward_pass.targets or edge.node in backward_pass.wanted
    return visited and edge in notes["expected"]


def arrive_past(backward_pass: Any, node: Node) -> list[Value | None] | None:
    """Take the cotangents that hooks do not see; return their sum for each output of a node.

    None for an output without such cotangents, and in place of the list if there are none at all.
    If an output is a target of the pass, the sum is added to the output's gradient, too.
    """
    pending = backward_pass.pending
    totals = [pending.pop((node, ~slot), None) for slot in range(len(node._kind.outputs))]
    if all([total is None for total in totals]):  # noqa: C419  a list is faster
        return None
    arrived: list[Value | None] = []
    for slot, total in enumerate(totals):
        edge = Edge(node, slot)
        if total is None:
            arrived.append(None)
            continue
        value = backward_pass.evaluator.value(total)
        backward_pass.uncomputed.pop(past_hooks(edge), None)
        if edge in backward_pass.targets:
            present = backward_pass.grads.get(edge)
            total = value if present is None else runtime.roles.add(present, value)
            backward_pass.grads[edge] = total
            if total.array is None:
                backward_pass.uncomputed[edge] = total
        arrived.append(value)
    return arrived


def _run_hooks(
    backward_pass: Any,
    table: dict[int, Any] | None,
    values: Sequence[Value | None],
    call: Callable[..., Sequence[Any]],
    others: Sequence[Value | None] = (),
) -> list[Value | None]:
    """Pass values through the hooks of a table; ``call(hook, values, others)`` calls one hook."""
    count = len(values)
    for hook in list(table.values()) if table else ():
        values = by_row(
            backward_pass,
            lambda *gs, hook=hook: call(hook, gs[:count], gs[count:]),
            [*values, *others],
            [None if g is None else g.spec for g in values],
        )
    return list(values)


def _replace(result: Any, g: Any) -> Any:
    """Return the result of a hook, ``g`` for None; raise where it cannot replace ``g``."""
    if result is None:
        return g
    if not isinstance(result, runtime.value):
        raise HookTypeError(
            f"a hook must return a tensor or None, but its type is {type(result).__name__}"
        )
    if result.shape != g.shape:
        raise HookError(f"a hook has changed the size of value: {g.shape} became {result.shape}")
    if result.dtype != g.dtype:
        raise HookError(f"a hook has changed the type of value: {g.dtype} became {result.dtype}")
    if result.spec.device != g.spec.device:
        raise HookError(
            f"a hook has changed the device of value: {g.spec.device} became {result.spec.device}"
        )
    return result


def _replace_all(results: Any, gs: Sequence[Any]) -> tuple[Any, ...]:
    """Return the gradients after a hook: its results, or ``gs`` if it returned None; raise where a
    result cannot replace a gradient. A None among the results removes a gradient."""
    if results is None:
        return tuple(gs)
    results = results if isinstance(results, (tuple, list)) else (results,)
    if len(results) != len(gs):
        raise HookError(
            f"a hook has changed the size of value: it returned an incorrect number of values "
            f"(got {len(results)}, but expected {len(gs)})"
        )
    for result, g in zip(results, gs, strict=True):
        if g is None and result is not None:
            raise HookError("a hook can't replace a None gradient by a tensor: its type is None")
    return tuple(
        None if result is None else _replace(result, g)
        for result, g in zip(results, gs, strict=True)
    )


def by_row(
    backward_pass: Any,
    function: Callable[..., Sequence[Any]],
    values: Sequence[Value | None],
    results: Sequence[Spec | None],
    writes: bool = True,
) -> list[Value | None]:
    """Call a Python function on computed values: once, or once per row where a value has rows.

    Parameters
    ----------
    results
        The specs of the function's results for one row; ``None`` where it returns ``None``.
    writes
        Whether the function may write into the values: it gets copies then, for seeds and other
        nodes share the values.
    """
    backward_pass.show([value for value in values if value is not None])
    with _calling_user(backward_pass):
        if not any([value is not None and value.rows for value in values]):  # noqa: C419
            given = [None if v is None else _copy(v) for v in values] if writes else values
            return _returned(backward_pass, function(*given))
        if writes:
            function = _on_copies(function)
        joined = _each_row(function, values, results, backward_pass.request.batch)
        backward_pass.note_owned(value for value in joined if value is not None)
        return joined


def by_block(
    backward_pass: Any,
    function: Callable[..., Sequence[Any]],
    values: Sequence[Value | None],
) -> list[Value | None]:
    """Call a Python function on computed values once; if a value has rows, all values and results
    have the batch as their first axis."""
    function = _on_copies(function)
    backward_pass.show([value for value in values if value is not None])
    with _calling_user(backward_pass):
        if not any(value is not None and value.rows for value in values):
            return _returned(backward_pass, function(*values))
        batch = backward_pass.request.batch
        whole = [None if value is None else _with_batch(value, batch) for value in values]
        return [None if result is None else with_rows(result) for result in function(*whole)]


def _returned(backward_pass: Any, results: Sequence[Value | None]) -> list[Value | None]:
    """Return the results of a function of the user, and note that the user may keep their arrays.
    """
    backward_pass.foreign.extend([value for value in results if value is not None])
    return list(results)


def _on_copies(function: Callable[..., Sequence[Any]]) -> Callable[..., Sequence[Any]]:
    return lambda *values: function(*[None if value is None else _copy(value) for value in values])


def _copy(value: Value) -> Value:
    """Return a copy of a value, which is recorded where its gradients are."""
    array = value.array
    is_noted = value.requires_grad or mode.trace is not None or mode.capture is not None
    if is_noted or value.rows or type(array) is not np.ndarray or not array.flags.c_contiguous:
        return runtime.roles.copy(value)
    return runtime.value.of_spec(array.copy(), value.spec)


def _calling_user(backward_pass: Any) -> Any:
    """Return a context manager that computes the operations of a user's function at once, and in
    which the function finds the pass that calls it, as ``mode.showing``.

    In a captured pass the operations become expressions instead. The pass does not keep their nodes
    then, so that the function may write through views of its own results.
    """
    captured = mode.capture is not None
    is_program = backward_pass.request.create_graph and not backward_pass.method.is_immediate
    kept = backward_pass.kept if is_program and not captured else None
    if mode.deferring == captured and mode.kept is kept:
        return _NO_CHANGE if mode.showing is backward_pass else changing(showing=backward_pass)
    return changing(deferring=captured, kept=kept, showing=backward_pass)


_NO_CHANGE = nullcontext()


def refuse_retained(backward_pass: Any) -> None:
    """Raise where a batched gradient would go to the ``.grad`` of an unbatched tensor."""
    for node in backward_pass.order:
        for slot, reference in (node.retained or {}).items():
            if reference() is not None and expects(backward_pass, Edge(node, slot)):
                raise ValueError(
                    f"retain_grad() was called on the result of {node.name()}{node.where()}, "
                    f"or backward(inputs=) asked for its gradient, and a batched gradient does "
                    f"not have the shape of the tensor. Ask for the gradient with ng.grad "
                    f"instead, or let the batched pass end before it"
                )


def run_at_end(backward_pass: Any) -> None:
    """Call the functions that wait for the end of a pass."""
    if not backward_pass.at_end:
        return
    with _calling_user(backward_pass):
        for function in backward_pass.at_end:
            function()


def _each_row(
    function: Callable[..., Sequence[Any]],
    values: Sequence[Value | None],
    results: Sequence[Spec | None],
    batch: int,
) -> list[Value | None]:
    columns = [_rows(value, batch) for value in values]
    made = [function(*[column[row] for column in columns]) for row in range(batch)]
    return [_join([row[position] for row in made], spec) for position, spec in enumerate(results)]


def _rows(value: Value | None, batch: int) -> Sequence[Value | None]:
    """Return the value of each row, connected to the graph of the value with rows."""
    if value is None or not value.rows:
        return [value] * batch
    return runtime.roles.split_rows(_batch_as_axis(value, batch))


def _batch_as_axis(value: Value, batch: int) -> Value:
    """Turn the rows of a value into a first axis, the batch.

    Return the new value, which is connected to the same edge of the graph.
    """
    if value.array is None:
        whole = value.detached()
        make_explicit(batch, [whole])
    else:
        whole = runtime.value(value.array)
        whole.storage = value.storage
    if value.requires_grad:
        connect(whole, value.edge)
    return whole


def _with_batch(value: Value, batch: int) -> Value:
    """Return a value with the batch as its first axis, repeated where it has no rows."""
    if value.rows:
        return _batch_as_axis(value, batch)
    return runtime.roles.join_rows([value] * batch)


def _join(column: Sequence[Value | None], spec: Spec | None) -> Value | None:
    """Join the results of the single rows, ``column``, to one value with rows.

    None among the results counts as zeros. If all are None, return None.
    """
    if spec is None or (column and all(result is None for result in column)):
        return None
    filled = [_zeros(spec.shape, spec) if r is None else r for r in column]
    if filled:
        joined = runtime.roles.join_rows(filled)
    else:
        joined = _zeros((0, *spec.shape), spec)
    if joined.array is None:
        return with_rows(joined)
    joined.reshape_spec(joined.shape[1:], True)
    return joined


def _zeros(shape: tuple[int, ...], spec: Spec) -> Value:
    """Return zeros of a shape, with the dtype and the device of a spec."""
    return runtime.value(runtime.placed(np.zeros(shape, spec.dtype), spec.device))
