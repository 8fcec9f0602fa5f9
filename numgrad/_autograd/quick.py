"""The quick way of ``grad`` and ``backward``: no options, and a graph of a known structure.

A plan, kept from an earlier pass over a graph of this structure, computes the gradients. Each
function returns None (or False) where the general way has to do the work.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._tensor import Tensor, constant, placed
from ..engine.differentiate.repeated_pass import RepeatedPass, find_repeated_pass, ones
from ..engine.differentiate.request import Outcome
from ..engine.graph.node import Edge
from . import anomaly, delivery
from .options import Options


def grad(
    outputs: Any, inputs: Any, seeds: Any, batched: bool, retain: bool, create_graph: bool,
    allow_unused: bool,
) -> Any:  # fmt: skip
    """Return the gradients as `passes.grad` does; None where no known plan computes them."""
    items, sources = _tensors(outputs), _tensors(inputs)
    if items is None or sources is None:
        return None
    again = _found(items, sources, seeds, batched, retain, create_graph)
    if again is None or again.recalled.given is None:
        return None
    if not allow_unused and None in again.recalled.given:
        return None
    values = again.run(_seeds(items, seeds) if create_graph else ())
    if values is None:
        return None
    return tuple([None if n is None else values[n] for n in again.recalled.given])


def _tensors(items: Any) -> Sequence[Tensor] | None:
    """Return one tensor, a tuple or a list of tensors as a sequence; None for anything else."""
    if type(items) is Tensor:
        return (items,)
    if type(items) is not tuple and type(items) is not list:
        return None
    for item in items:
        if type(item) is not Tensor:
            return None
    return items


def gradients_alone(output: Tensor, inputs: Sequence[Tensor]) -> list[Any] | None:
    """Return the gradients of an output by a known plan, without recording the pass.

    Return None if there is no such plan, if an input has no gradient, or if the output may depend
    on other leaves.
    """
    again = _found((output,), inputs, None, False, True)
    if again is None or again.recalled.given is None or not again.recalled.is_closed:
        return None
    values = None if None in again.recalled.given else again.run()
    return None if values is None else [values[n] for n in again.recalled.given if n is not None]


def _seeds(outputs: Sequence[Any], seeds: Any) -> list[Tensor]:
    """Return the seeds as tensors, which nodes may save: ones in place of None, arrays as
    constants."""
    return [
        placed(np.ones(output.shape, output.dtype), output.spec.device) if seed is None
        else seed if type(seed) is Tensor
        else constant(seed)
        for output, seed in zip(outputs, _each(seeds, len(outputs)), strict=True)
    ]  # fmt: skip


def _each(seeds: Any, count: int) -> Sequence[Any]:
    """Return the seeds as a sequence, one for each output; a single output may have a bare seed."""
    if type(seeds) is tuple or type(seeds) is list:
        return seeds
    return (seeds,) if count == 1 or seeds is not None else (None,) * count


def backward(outputs: Any, seeds: Any, retain: bool, inputs: Any = None) -> bool:
    """Accumulate the gradients of all leaves, or of leaves among ``inputs``, by a known plan.

    Return False if there is none, if an input is no leaf, or if one has no gradient.
    """
    items, leaves = _tensors(outputs), None if inputs is None else _leaves(inputs)
    if items is None or (inputs is not None and leaves is None):
        return False
    again = _found(items, leaves, seeds, False, retain)
    if again is None or (leaves is not None and None in (again.recalled.given or [None])):
        return False
    values = again.run()
    if values is None:
        return False
    order = again.structure.order
    places = [Edge(order[n], slot) for n, slot in again.recalled.results]
    grads: Any = dict(zip(places, values, strict=True))
    delivery.accumulate(Outcome(grads, [], [], {}, {}, False), None, _PLAIN)
    return True


_PLAIN = Options()


def _leaves(items: Any) -> Sequence[Tensor] | None:
    """Return a leaf or leaves as a sequence; None for anything else."""
    found = _tensors(items)
    return found if found and all([x.node is None for x in found]) else None  # noqa: C419


def _found(
    outputs: Sequence[Any], inputs: Any, seeds: Any, batched: bool, retain: bool,
    create_graph: bool = False,
) -> RepeatedPass | None:  # fmt: skip
    """Return the pass over a graph of known structure, ready to run.

    Return None if there is no such pass, if a seed needs a conversion, or if anomaly detection is
    on.
    """
    each = _each(seeds, len(outputs))
    if len(each) != len(outputs) or not outputs:
        return None
    arrays = []
    for output, seed in zip(outputs, each, strict=True):
        array = _array(output, seed, batched)
        if array is None:
            return None
        arrays.append(array)
    if anomaly.checker() is not None:
        return None
    batch = None
    if batched:
        batch = len(arrays[0])
        for array in arrays:
            if len(array) != batch:
                return None
    return find_repeated_pass(outputs, arrays, inputs, batch, retain, create_graph)


def _array(output: Any, seed: Any, batched: bool) -> np.ndarray | None:
    """Return the array of a seed; None unless it has the dtype and the shape of its output."""
    if seed is None:
        return None if batched else ones(output.spec)
    array = seed if type(seed) is np.ndarray else None
    if type(seed) is Tensor and seed._view is None and seed.spec.device == output.spec.device:
        array = seed.array
    if array is None or array.dtype != output.dtype:
        return None
    shape = array.shape
    if batched:
        return array if shape and shape[1:] == output.shape else None
    return array if shape == output.shape else None
