"""The batch of a pass as rows of its values: shapes leave it out, and only the machine loops."""

from collections.abc import Sequence

from .graph import Node, Spec, Value, connect, spec_of


def with_rows(value: Value) -> Value:
    """Return a value whose first axis is the batch as a value with rows, in the same graph."""
    result = value.detached()
    result.reshape_spec(value.shape[1:], True)
    if value.requires_grad:
        connect(result, value.edge)
    return result


def make_explicit(batch: int, values: Sequence[Value], nodes: Sequence[Node] = ()) -> None:
    """Turn values and nodes of a batched pass into ordinary ones whose first axis is the batch."""
    for value in values:
        if value.rows:
            value.reshape_spec((batch, *value.shape), False)
    for node in nodes:
        node.inputs = tuple(_explicit(spec, batch) for spec in node.inputs)
        node.outputs = tuple(_explicit(spec, batch) for spec in node.outputs)
        node.forget_kind()


def _explicit(spec: Spec, batch: int) -> Spec:
    return spec_of((batch, *spec.shape), spec.dtype) if spec.rows else spec
