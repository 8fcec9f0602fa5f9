"""Write the results of a captured function to memory of the caller: ``out=`` and donated arguments.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._errors import ArgTypeError
from ..._tensor import Tensor
from ...containers import optree_calls as optree
from ...engine.graph.value import CPU
from ...engine.record.apply import mode
from .device_destinations import require_fitting, require_tensor, run_into_tensors, stand_in

_MOST_WORK = 10_000  # of the exact test for overlap, which could take long for many axes


def run_into(specialization: Any, call: Any, out: Any) -> None:
    """Run a specialization and write its results to ``out``.

    ``out`` has arrays of NumPy, and tensors for the results on a device.

    Raises
    ------
    ArgTypeError
        If ``out`` has another structure than the result, or holds anything else, or if a gradient
        would have to pass through it.
    ValueError
        If an array has another shape or dtype, is read-only, or shares memory with another one.
    DeviceError
        If a tensor is not on the device of its result.
    """
    outs = _matching(specialization, out)
    tensors = [] if specialization.as_numpy else specialization.tensors(call)
    given = (*tensors, *specialization.trace.outer)
    if specialization.trace.live and mode.grad and any(t.requires_grad for t in given):
        raise ArgTypeError(
            "jit: out= cannot hold results that require grad; call under ng.no_grad(), or without "
            "out="
        )
    arrays = specialization.arrays(call)
    stages = specialization.trace.stages
    if set(stages.devices) - {CPU}:
        run_into_tensors(stages, arrays, outs)
        return
    if stages.is_single:
        (stage,) = stages.stages
        read = [arrays[n] for n in stage.sources]
        if not _must_copy(outs, [*read, *stage.plan.bound.program.arrays.values()]):
            stage.plan.run_into(read, outs)
            return
    for array, result in zip(outs, stages(arrays), strict=True):
        array[...] = result


def run_donated(specialization: Any, call: Any) -> list[np.ndarray]:
    """Run a specialization; return the results, some of them in the memory of donated arguments."""
    stages, arrays = specialization.trace.stages, specialization.arrays(call)
    if not stages.is_single:
        return stages(arrays)
    (stage,) = stages.stages
    read = [arrays[n] for n in stage.sources]
    own = [n for n, source in enumerate(stage.sources) if source in specialization.donated]
    free = [n for n in own if _is_reusable(read[n], call.leaves[stage.sources[n]], n, read, stage)]
    bound = stage.plan.bound
    chosen = bound.reused_arguments({n: read[n].dtype for n in free})
    results = [
        read[chosen[n]].reshape(shape) if n in chosen else np.empty(shape, dtype)
        for n, (shape, dtype) in enumerate(stages.specs)
    ]
    stage.plan.run_into(read, results, bound)
    return results


def _is_reusable(
    array: np.ndarray, leaf: Any, number: int, read: Sequence[np.ndarray], stage: Any
) -> bool:
    """Whether a result may be written to an argument: a plain array that no other operand overlaps.

    ``array`` is the argument as the program of ``stage`` reads it, number ``number`` of the arrays
    ``read``. ``leaf`` is the argument as the caller has given it.
    """
    others = [a for n, a in enumerate(read) if n != number]
    others += stage.plan.bound.program.arrays.values()
    return (
        array is leaf
        and type(array) is np.ndarray
        and array.flags.writeable
        and array.flags.aligned
        and not any(np.may_share_memory(array, other) for other in others)
    )


def _matching(specialization: Any, out: Any) -> list[Any]:
    """Return the leaves of ``out``, after checking their structure, shapes, dtypes and devices."""
    leaves, structure = optree.tree_flatten(out, none_is_leaf=True)
    positions = list(range(len(leaves)))
    if structure != specialization.structure or positions != specialization.positions:
        raise ArgTypeError(
            f"jit: out has the structure {structure}, the result has {specialization.structure}"
        )
    stages = specialization.trace.stages
    for leaf, spec, device in zip(leaves, stages.specs, stages.devices, strict=True):
        if device == CPU:
            checked_destination(leaf, spec, "jit")
        else:
            require_tensor(leaf, spec, device)
    for n, leaf in enumerate(leaves):
        if any(_overlap(leaf, other) for other in leaves[:n]):
            raise ValueError("jit: arrays of out share memory")
    return leaves


def checked_destination(leaf: Any, spec: tuple[tuple[int, ...], np.dtype], what: str) -> np.ndarray:
    """Return a leaf of ``out``, after checking that the result can be written to it."""
    shape, dtype = spec
    if not isinstance(leaf, np.ndarray):
        raise ArgTypeError(f"{what}: out must hold NumPy arrays, got {type(leaf).__name__}")
    require_fitting(leaf, shape, dtype, what)
    if not leaf.flags.writeable:
        raise ValueError(f"{what}: an array of out is read-only")
    return leaf


def _overlap(a: Any, b: Any) -> bool:
    """Whether two arrays or tensors have an element in common. Two columns of one matrix have none.
    """
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        first: Any = getattr(a, "array", None)
        second: Any = getattr(b, "array", None)
        if type(a) is not type(b) or first.memory is not second.memory:
            return False
        a, b = stand_in(first), stand_in(second)
    try:
        return np.shares_memory(a, b, max_work=_MOST_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _must_copy(outs: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    """Whether results cannot be computed in ``outs``, but have to be copied there.

    Copying is needed if an array is not plain and contiguous, or may share memory with an operand.
    """
    return any(
        not out.flags.c_contiguous
        or not out.flags.aligned
        or type(out) is not np.ndarray
        or any(np.may_share_memory(out, other) for other in others)
        for out in outs
    )
