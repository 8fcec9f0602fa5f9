"""Hooks: places where a pass stops building and shows numbers to Python.

In a batched pass a hook is called once per row and sees what it would see in a pass of its own.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import HookError
from .graph import Accumulator, Edge, Node, Value
from .record import deferring, runtime

_keys = itertools.count()


class Handle:
    """Returned by the functions that register hooks; ``remove()`` takes the hook away again."""

    def __init__(self, table: dict[int, Any], key: int) -> None:
        self._table = table
        self.id = key

    def remove(self) -> None:
        """Remove the hook; removing it twice is harmless."""
        self._table.pop(self.id, None)

    def __enter__(self) -> "Handle":
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register(table: dict[int, Any], function: Callable[..., Any]) -> Handle:
    """Put a hook into a table of hooks."""
    key = next(_keys)
    table[key] = function
    return Handle(table, key)


def tensor_table(edge: Edge) -> dict[int, Any] | None:
    """Return the hooks of the tensor whose gradient arrives at ``edge``."""
    node = edge.node
    if isinstance(node, Accumulator):
        return node.variable.hooks
    return node.tensor_hooks.get(edge.slot) if node is not None and node.tensor_hooks else None


def run_tensor_hooks(backward_pass: Any, edge: Edge, value: Value) -> Value:
    """Pass a total cotangent through the hooks of its tensor, in order of registration."""
    table = tensor_table(edge)
    for function in list(table.values()) if table else ():
        (value,) = by_row(backward_pass, lambda g, call=function: (_replace(call(g), g),), [value])
    return value


def _replace(result: Any, g: Any) -> Any:
    """Return what a hook made of ``g``, after checking that it can stand in its place."""
    if result is None:
        return g
    if not isinstance(result, runtime.value):
        raise HookError(f"a hook must return a tensor or None, but its type is {type(result).__name__}")
    if result.shape != g.shape:
        raise HookError(f"a hook has changed the size of value: {g.shape} became {result.shape}")
    if result.dtype != g.dtype:
        raise HookError(f"a hook has changed the type of value: {g.dtype} became {result.dtype}")
    return result


def run_pre_hooks(backward_pass: Any, node: Node, cotangents: Sequence[Value | None]) -> list[Value | None]:
    """Pass the cotangents of a node through its pre-hooks."""
    for function in list(node.pre_hooks.values()) if node.pre_hooks else ():
        cotangents = by_row(
            backward_pass, lambda *gs, call=function: _replace_all(call(gs), gs), cotangents
        )
    return list(cotangents)


def run_post_hooks(
    backward_pass: Any, node: Node, gradients: Sequence[Value | None], cotangents: Sequence[Value | None]
) -> list[Value | None]:
    """Pass the computed gradients of a node through its post-hooks, which also see the cotangents."""
    count = len(gradients)
    for function in list(node.post_hooks.values()) if node.post_hooks else ():
        gradients = by_row(
            backward_pass,
            lambda *gs, call=function: _replace_all(call(gs[:count], gs[count:]), gs[:count]),
            [*gradients, *cotangents],
        )
    return list(gradients)


def _replace_all(results: Any, gs: Sequence[Any]) -> tuple[Any, ...]:
    if results is None:
        return tuple(gs)
    results = results if isinstance(results, (tuple, list)) else (results,)
    if len(results) != len(gs):
        raise HookError(f"a hook has changed the size of value: {len(gs)} gradients became {len(results)}")
    return tuple(
        g if r is None or g is None else _replace(r, g) for r, g in zip(results, gs, strict=True)
    )


def by_row(
    backward_pass: Any, function: Callable[..., Sequence[Any]], values: Sequence[Value | None]
) -> list[Value | None]:
    """Call a Python function on computed values: once, or once per row where a value has rows."""
    backward_pass.force([v for v in values if v is not None])
    with deferring(False, backward_pass.kept):
        if not any(v is not None and v.rows for v in values):
            return list(function(*values))
        batch = backward_pass.request.batch
        explicit = [v if v is None or not v.rows else _explicit(v) for v in values]
        results = [
            function(*[
                runtime.roles["select"](e, row) if e is not None and v is not None and v.rows else e
                for e, v in zip(explicit, values, strict=True)
            ])
            for row in range(batch)
        ]  # fmt: skip
        if not results:
            return _empty_rows(function, values)
        return [_stack(column) for column in zip(*results, strict=True)]


def _explicit(value: Value) -> Value:
    """Return the same value as an ordinary one whose first axis is the batch."""
    assert value.array is not None
    result = runtime.value(value.array)
    result.storage = value.storage
    if value.requires_grad:
        result.requires_grad, result.node, result.slot = True, value.node, value.slot
    return result


def _stack(column: Sequence[Any]) -> Value | None:
    if any(c is None for c in column):
        if not all(c is None for c in column):
            raise HookError("a hook or backward function returned None for some rows of a batch only")
        return None
    stacked = runtime.roles["stack"](list(column))
    stacked.shape, stacked.rows = stacked.shape[1:], True
    return stacked


def _empty_rows(function: Callable[..., Any], values: Sequence[Value | None]) -> list[Value | None]:
    """With an empty batch nothing is called but the shapes of the results are still needed."""
    zeros = [None if v is None else runtime.value(np.zeros(v.shape, v.dtype)) for v in values]
    results: list[Value | None] = []
    for result in function(*zeros):
        if result is None:
            results.append(None)
            continue
        empty = runtime.value(np.zeros((0, *result.shape), result.dtype))
        empty.shape, empty.rows = result.shape, True
        results.append(empty)
    return results
