"""``grad`` and ``backward`` of one output without options, over a graph that was met before."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._tensor import Tensor, constant
from ..engine.again import Again, find, ones
from ..engine.graph import Edge
from ..engine.request import Outcome
from . import anomaly, delivery
from .options import Options


def grad(
    output: Any, inputs: Any, seed: Any, batched: bool, retain: bool, create_graph: bool
) -> Any:
    """Return what `passes.grad` returns; None where that is left to it."""
    items = (inputs,) if type(inputs) is Tensor else inputs
    if type(output) is not Tensor or (type(items) is not tuple and type(items) is not list):
        return None
    for item in items:
        if type(item) is not Tensor:
            return None
    again = _found(output, items, seed, batched, retain, create_graph)
    if again is None or again.recalled.given is None:
        return None
    values = again.run([_seed(output, seed)] if create_graph else ())
    return None if values is None else tuple([values[n] for n in again.recalled.given])


def gradients_alone(output: Tensor, inputs: Sequence[Tensor]) -> list[Any] | None:
    """Return the gradients, as new arrays without graphs, of an output that is known to depend on
    nothing else that requires grad; None where that must be found out."""
    again = _found(output, inputs, None, False, True)
    if again is None or again.recalled.given is None or not again.recalled.is_closed:
        return None
    values = again.run()
    return None if values is None else [values[n] for n in again.recalled.given]


def _seed(output: Any, seed: Any) -> Tensor:
    """Return a seed as a value that nodes may keep."""
    (seed,) = seed if type(seed) in (tuple, list) else (seed,)
    if seed is None:
        return Tensor(np.ones(output.shape, output.dtype))
    return seed if type(seed) is Tensor else constant(seed)


def backward(output: Any, seed: Any, retain: bool) -> bool:
    """Accumulate the gradients of all leaves; return whether that was done."""
    again = _found(output, None, seed, False, retain) if type(output) is Tensor else None
    if again is None:
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


def _found(
    output: Any, inputs: Any, seed: Any, batched: bool, retain: bool, create_graph: bool = False
) -> Again | None:
    """Return the pass if the seed needs no conversion and nothing looks at gradients."""
    if (type(seed) is tuple or type(seed) is list) and len(seed) == 1:
        seed = seed[0]
    if seed is None:
        array = None if batched else ones(output.spec)
    else:
        array = seed if type(seed) is np.ndarray else None
        if type(seed) is Tensor and seed._view is None:
            array = seed.array
    if array is None or array.dtype != output.dtype or anomaly.checker() is not None:
        return None
    shape = array.shape
    if not batched:
        if shape != output.shape:
            return None
        return find(output, array, inputs, None, retain, create_graph)
    if not shape or shape[1:] != output.shape:
        return None
    return find(output, array, inputs, shape[0], retain, create_graph)
