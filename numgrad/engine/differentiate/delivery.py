"""Delivery of gradients: each gets an array of its own, on the device of the value at its edge."""

from collections.abc import Collection
from typing import Any

from ..derivatives.rules import place_of
from ..graph.node import Edge, Value
from ..record.apply import mode, runtime
from ..record.device_launch import on_device_of


def own_results(backward_pass: Any) -> None:
    """Copy each gradient that may share its array with a seed, a saved value, a hook or another
    gradient, and move it to the device of the value at its edge."""
    given: set[Any] = set()
    request = backward_pass.request
    seeds = {id(value) for _, value in request.seeds}
    seeds |= {id(value) for value in request.initial.values()}
    others = _given_arrays(backward_pass) if backward_pass.method.is_immediate else set()

    def owned(edge: Edge, value: Value) -> Value:
        if value.spec.device != edge.node.outputs[edge.slot].device:  # type: ignore[union-attr]
            value = on_device_of(edge, value)
        known = backward_pass.owned.get(id(value))
        fresh = value.array is None or (known is not None and known() is value)
        fresh = fresh or (backward_pass.method.is_immediate and _is_own(value, others))
        fresh = fresh and id(value) not in seeds
        if not fresh or place_of(value) in given:
            value = runtime.roles.copy(value)
        given.add(place_of(value))
        if mode.capture is not None and value.array is None and not request.create_graph:
            value = value.detached()  # the user may write into it, and rules have read it
        return value.as_array()

    backward_pass.grads = {edge: owned(edge, value) for edge, value in backward_pass.grads.items()}
    backward_pass.retained = [(edge, owned(edge, value)) for edge, value in backward_pass.retained]


def _given_arrays(backward_pass: Any) -> set[int]:
    seeds = [value for _, value in backward_pass.request.seeds]
    values = [v for saved in backward_pass.saved.values() for v in saved if v is not None]
    return {id(value.array) for value in (*seeds, *values, *backward_pass.foreign)}


def _is_own(value: Value, others: Collection[int]) -> bool:
    """Whether only the pass has the array of a value: it is no view, no constant, and not among the
    arrays whose ids are ``others``."""
    array = value.array
    return (
        array is not None and array.base is None and array.flags.writeable
        and id(array) not in others
    )  # fmt: skip
