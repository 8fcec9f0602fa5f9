"""``grad`` and ``backward`` of one output without options, over a graph that was met before."""

from typing import Any

import numpy as np

from .._tensor import Tensor
from ..engine.again import Again, find, ones
from ..engine.graph import Edge
from ..engine.request import Outcome
from . import anomaly, delivery
from .options import Options


def grad(output: Any, inputs: Any, seed: Any, batched: bool, retain: bool) -> Any:
    """Return what `passes.grad` returns; None where that is left to it."""
    items = (inputs,) if type(inputs) is Tensor else inputs
    if type(output) is not Tensor or (type(items) is not tuple and type(items) is not list):
        return None
    for item in items:
        if type(item) is not Tensor:
            return None
    again = _found(output, items, seed, batched, retain)
    if again is None or again.recalled.given is None:
        return None
    arrays = again.run()
    return None if arrays is None else tuple([Tensor(arrays[n]) for n in again.recalled.given])


def backward(output: Any, seed: Any, retain: bool) -> bool:
    """Accumulate the gradients of all leaves; return whether that was done."""
    again = _found(output, None, seed, False, retain) if type(output) is Tensor else None
    if again is None:
        return False
    arrays = again.run()
    if arrays is None:
        return False
    order = again.structure.order
    grads: Any = {
        Edge(order[n], slot): Tensor(array)
        for (n, slot), array in zip(again.recalled.results, arrays, strict=True)
    }
    delivery.accumulate(Outcome(grads, [], [], {}, {}, False), None, _PLAIN)
    return True


_PLAIN = Options()


def _found(output: Any, inputs: Any, seed: Any, batched: bool, retain: bool) -> Again | None:
    """Return the pass if the seed needs no conversion and nothing looks at gradients."""
    if (type(seed) is tuple or type(seed) is list) and len(seed) == 1:
        seed = seed[0]
    if seed is None:
        array = None if batched else ones(output.spec)
    else:
        array = seed if type(seed) is np.ndarray else None
        if type(seed) is Tensor and seed.view is None:
            array = seed.array
    if array is None or array.dtype != output.dtype or anomaly.checker() is not None:
        return None
    shape = array.shape
    if not batched:
        return find(output, array, inputs, None, retain) if shape == output.shape else None
    if not shape or shape[1:] != output.shape:
        return None
    return find(output, array, inputs, shape[0], retain)
