"""Delivery of gradients: each gets an array of its own, on the device of the value at its edge."""

from typing import Any

from ..derivatives.rules import place_of
from ..graph.node import Edge, Value
from ..record.apply import mode, runtime
from ..record.device_launch import on_device_of


def own_results(backward_pass: Any) -> None:
    """Copy each gradient that may share its array with a seed, a saved value, a hook or another
    gradient, and move it to the device of the value at its edge."""
    given: set[Any] = set()
    request, is_immediate = backward_pass.request, backward_pass.method.is_immediate
    seeds = {id(value) for _, value in request.seeds}
    seeds |= {id(value) for value in request.initial.values()}
    others: set[int] | None = None

    def is_fresh(value: Value) -> bool:
        nonlocal others
        known = backward_pass.owned.get(id(value))
        if value.array is None or (known is not None and known() is value):
            return True
        if not is_immediate or not _may_be_own(value):
            return False
        if others is None:
            others = _given_arrays(backward_pass)
        return id(value.array) not in others

    def owned(edge: Edge, value: Value) -> Value:
        if value.spec.device != edge.node.outputs[edge.slot].device:  # type: ignore[union-attr]
            value = on_device_of(edge, value)
        if id(value) in seeds or not is_fresh(value) or place_of(value) in given:
            value = runtime.roles.copy(value)
        given.add(place_of(value))
        if mode.capture is not None and value.array is None and not request.create_graph:
            value = value.detached()  # the user may write into it, and rules have read it
        return value.as_array()

    grads = backward_pass.grads
    backward_pass.grads = {edge: owned(edge, value) for edge, value in grads.items()}
    backward_pass.retained = [(edge, owned(edge, value)) for edge, value in backward_pass.retained]


def _given_arrays(backward_pass: Any) -> set[int]:
    seeds = [value for _, value in backward_pass.request.seeds]
    values = [v for saved in backward_pass.saved.values() for v in saved if v is not None]
    return {id(value.array) for value in (*seeds, *values, *backward_pass.foreign)}


def _may_be_own(value: Value) -> bool:
    """Whether only the pass may have the array of a value, as the array is no view or constant."""
    array = value.array
    return array is not None and array.base is None and array.flags.writeable
