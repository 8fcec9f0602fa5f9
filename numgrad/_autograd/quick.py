"""The quick way of ``grad`` and ``backward``: no options.

A plan, kept from an earlier pass over a graph of this structure, computes the gradients; where none
is known, a pass whose options need no look. Each function returns None (or False) where the general
way has to do the work.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._tensor import Tensor, constant, placed
from ..engine.differentiate import repeated_pass
from ..engine.differentiate.backward import BackwardPass
from ..engine.differentiate.repeated_pass import (
    RepeatedPass,
    Start,
    find_repeated_pass,
    ones,
    start_of,
)
from ..engine.differentiate.request import Outcome, Request
from ..engine.graph.node import Edge, Value
from ..engine.graph.value import CPU
from . import anomaly, delivery
from .options import Options


def grad(
    outputs: Any, inputs: Any, seeds: Any, batched: bool, retain: bool, create_graph: bool,
    allow_unused: bool,
) -> Any:  # fmt: skip
    """Return the gradients as `passes.grad` does; None where the general way has to find them."""
    items, sources = _tensors(outputs), _tensors(inputs)
    if items is None or sources is None:
        return None
    start = _start(items, sources, seeds, batched, create_graph)
    if start is None:
        return None
    again = find_repeated_pass(start, retain)
    if again is None or again.is_cut:
        return None if batched else _visited(start, again, sources, seeds, retain, allow_unused)
    given = again.recalled.given
    if given is None or (not allow_unused and None in given):
        return None
    values = again.run(_seeds(start, seeds) if create_graph else ())
    return None if values is None else tuple([None if n is None else values[n] for n in given])


def _visited(
    start: Start, again: RepeatedPass | None, sources: Sequence[Tensor], seeds: Any, retain: bool,
    allow_unused: bool,
) -> Any:  # fmt: skip
    """Return the gradients by a pass that visits nodes; None if an input is given twice.

    ``again`` has the plan of a pass that visits watched nodes alone; None if no plan is known.
    """
    targets = start.targets()
    if len(set(targets)) < len(targets):
        return None
    roots = start.outputs()
    pairs = list(zip(roots, _seeds(start, seeds), strict=True))
    request = Request(pairs, targets, start.create_graph, retain)
    outcome = BackwardPass(request, None if again is None else again.known).run()
    results = [outcome.grads.get(edge) for edge in targets]
    if not allow_unused:
        for n, result in enumerate(results):
            if result is None:
                outcome.restore_saved()
                raise delivery.unused_error(n, sources[n].shape)
    if outcome.retained:
        delivery.write_retained(outcome, Options(create_graph=start.create_graph))
    return tuple(results)


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


def gradients_alone(output: Tensor, inputs: Sequence[Tensor]) -> list[np.ndarray] | None:
    """Return the arrays of the gradients of an output by a known plan, without recording the pass.

    Return None if there is no such plan, if an input has no gradient, if the output may depend on
    other leaves, or if anomaly detection is on.
    """
    return None if anomaly.checker() is not None else repeated_pass.gradients_alone(output, inputs)


def _seeds(start: Start, seeds: Any) -> list[Value]:
    """Return the seeds as tensors, which nodes may save: ones in place of None, arrays as
    constants.

    The seeds that share an array in ``start`` share one here, as plans are found by that.
    """
    default: dict[int, Tensor] = {}
    made: list[Value] = []
    each = _each(seeds, len(start.values))
    for output, seed, array in zip(start.values, each, start.seeds, strict=True):
        spec = output.spec
        if seed is None and (seed := default.get(id(array))) is None:
            seed = default[id(array)] = placed(np.ones(spec.shape, spec.dtype), spec.device)
        if type(seed) is not Tensor:  # on the host its memory stays the user's
            seed = constant(seed, None if spec.device == CPU else spec.device)
        made.append(seed)
    return made


def _each(seeds: Any, count: int) -> Sequence[Any]:
    """Return the seeds as a sequence, one for each output; a single output may have a bare seed."""
    if type(seeds) is tuple or type(seeds) is list:
        return seeds
    return (seeds,) if count == 1 or seeds is not None else (None,) * count


def backward(outputs: Any, seeds: Any, retain: bool, inputs: Any = None) -> bool:
    """Accumulate the gradients of all leaves, or of leaves among ``inputs``, as `passes.backward`
    does.

    Return False where the general way has to: if an input is no leaf or has no gradient, and if
    there are inputs, but no known plan.
    """
    items, leaves = _tensors(outputs), None if inputs is None else _leaves(inputs)
    if items is None or (inputs is not None and leaves is None):
        return False
    start = _start(items, leaves, seeds, False)
    if start is None:
        return False
    again = find_repeated_pass(start, retain)
    if again is None or again.is_cut:
        if leaves is None:
            pairs = list(zip(start.outputs(), _seeds(start, seeds), strict=True))
            request = Request(pairs, None, retain_graph=retain, accumulate=True)
            known = None if again is None else again.known
            delivery.accumulate(BackwardPass(request, known).run(), None, _PLAIN)
        return leaves is None
    if leaves is not None and None in (again.recalled.given or [None]):
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


def _start(
    outputs: Sequence[Any], inputs: Any, seeds: Any, batched: bool, create_graph: bool = False
) -> Start | None:
    """Return where a pass starts and ends.

    Return None if there are no outputs or inputs, if a value requires no gradient, if a seed needs
    a conversion, or if anomaly detection is on.
    """
    each = _each(seeds, len(outputs))
    if len(each) != len(outputs) or not outputs or (inputs is not None and not inputs):
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
    return start_of(outputs, arrays, inputs, batch, create_graph)


def _array(output: Any, seed: Any, batched: bool) -> np.ndarray | None:
    """Return the array of a seed; None unless it has the dtype and the shape of its output."""
    if seed is None:
        return None if batched else ones(output.spec)
    array = seed if type(seed) is np.ndarray else None
    if type(seed) is Tensor and seed.spec.device == output.spec.device:
        is_view = seed._view is not None and not seed.is_scalar  # which may be stale
        array = None if is_view else seed.array
    if array is None or array.dtype != output.dtype:
        return None
    shape = array.shape
    if batched:
        return array if shape and shape[1:] == output.shape else None
    return array if shape == output.shape else None
