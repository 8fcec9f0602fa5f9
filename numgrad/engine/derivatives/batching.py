"""The batch of a pass: rows that specs of values leave out, or the first axis of the specs.

A batched pass has many seeds, one for each row. Inside the pass, a value has *rows*: its spec
describes a single row, operators see this row, and only the machine that runs a program loops over
all rows. For the user, the batch is the first axis of the same array. The functions here change
values from one form to the other.
"""

from collections.abc import Mapping, Sequence

from ..capture.capture import TO_AXIS, TO_ROWS, apply_passage, refuse
from ..graph.node import Node, Spec, Value, connect, spec_of
from ..lower.lower import pending_exprs
from ..record.apply import mode


def with_rows(value: Value) -> Value:
    """Turn the first axis of a value, the batch, into rows.

    Return the new value, which is connected to the same edge of the graph.
    """
    require_one_batch()
    if value._view is not None:
        value._view.refresh(value)
    if value.array is None:
        row = spec_of(value.shape[1:], value.dtype, True, value.spec.device)
        result = apply_passage(TO_ROWS, value, row)
    else:
        result = value.detached()
        result.reshape_spec(value.shape[1:], True)
    if value.requires_grad:
        connect(result, value.edge)
    return result


def require_one_batch() -> None:
    """Raise an error if an ensemble is being captured, as its members are a batch already."""
    if mode.capture is not None and mode.capture.has_rows:
        refuse(
            "a batched pass (is_grads_batched=True, ng.func.jacobian) or another ensemble inside "
            "of an ensemble, whose members are a batch themselves. Let a pass for each row do it "
            "(ng.func.grad, vjp or jvp in a loop), or call the function for each member."
        )


def make_explicit(batch: int, values: Sequence[Value], nodes: Sequence[Node] = ()) -> None:
    """Turn the rows of values, in place, into a first axis, as users see the batch.

    The specs that ``nodes``, the nodes recorded by a batched pass, have of their inputs and outputs
    are changed in the same way.
    """
    captured = {id(value): value for value in values if value.rows and value.array is None}
    if captured:
        _replace({id(value): value for value in values if value.rows})
    for value in captured.values():
        explicit = apply_passage(TO_AXIS, value, _explicit(value.spec, batch))
        value.expr, value.expr_slot = explicit.expr, 0
    for value in values:
        if value.rows:
            value.reshape_spec((batch, *value.shape), False)
    for node in nodes:
        inputs = tuple([_explicit(spec, batch) for spec in node.inputs])
        node.change_specs(inputs, tuple([_explicit(spec, batch) for spec in node.outputs]))


def _replace(values: Mapping[int, Value]) -> None:
    """Let pending expressions read detached copies of values whose specs are about to change.

    ``values`` has the values by their ids. The copies keep the present specs.
    """
    copies = {key: value.detached() for key, value in values.items()}
    for expr in pending_exprs(values.values()):
        if any(id(value) in copies for value in expr.inputs):
            expr.inputs = tuple([copies.get(id(value), value) for value in expr.inputs])


def batch_of(value: Value) -> int:
    """Return the number of rows of a seed; the shape of the seed does not include the rows."""
    if value.array is not None:
        return value.array.shape[0]
    assert value.expr is not None
    return value.expr.inputs[0].shape[0]


def _explicit(spec: Spec, batch: int) -> Spec:
    return spec_of((batch, *spec.shape), spec.dtype, False, spec.device) if spec.rows else spec
