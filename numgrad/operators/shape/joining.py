"""Joining and shifting: results that are put together from pieces of their inputs."""

from operator import itemgetter

import numpy as np

from ..._declare import StructuralOperator
from ...ir.broadcasting import broadcast_shapes
from ...ir.memory_order import as_kept
from .indexing import index


def _slab(axis, start, stop, step=None):
    """Return the static key of a slice along a negative axis."""
    return ((start, stop, step), *((None,),) * (-axis - 1))


def _shape_of_join(shapes, axis):
    """Return the shape of the result; leading axes broadcast, as an input may lack a batch axis."""
    others = [(*s[:axis], 1, *s[len(s) + axis + 1 :]) for s in shapes]
    shape = list(broadcast_shapes(*others))
    shape[axis] = sum(s[axis] for s in shapes)
    return tuple(shape)


def _infer_concat(specs, *, axis):
    return [(_shape_of_join([s.shape for s in specs], axis), specs[0].dtype)]


def _run_concat(arrays, *, axis):
    """Join arrays of equal dtype along the negative axis ``axis``."""
    first = arrays[0].shape
    if not all(a.shape[:axis] == first[:axis] for a in arrays):
        shape = _shape_of_join([a.shape for a in arrays], axis)
        tails = [a.shape[a.ndim + axis :] for a in arrays]
        arrays = [
            np.broadcast_to(a, (*shape[:axis], *t)) for a, t in zip(arrays, tails, strict=True)
        ]
    return np.concatenate(arrays, axis)


def _lower_concat(builder, inputs, specs, *, axis):
    (spec,) = specs
    shape, dtype, rows = spec.shape, spec.dtype, spec.rows
    if all(x.shape[:axis] == shape[:axis] and len(x.shape) == len(shape) for x in inputs):
        return [builder.join(axis, inputs)]
    out = builder.new(shape, dtype, rows)
    start = 0
    for operand in inputs:
        stop = start + operand.shape[axis]
        if stop > start:
            builder.copy(operand, out.part(axis, start, stop))
        start = stop
    return [out]


def _prepare_concat(specs, *, axis):
    if any(s.shape[:axis] != specs[0].shape[:axis] for s in specs):
        return None
    return lambda *arrays: np.concatenate(arrays, axis)


def _as_run(run):
    """Return what tells the order of a result by joining small arrays."""
    return lambda operands, static: [run(operands, **static)]


concat = StructuralOperator(
    "concat",
    infer=_infer_concat,
    run=_run_concat,
    lower=_lower_concat,
    prepare=_prepare_concat,
    memory_order=_as_run(_run_concat),
)


concat.is_linear = True


@concat.pullback
def concat_pullback(context, g):
    axis = context.static["axis"]
    gradients = []
    start = 0
    for spec, wanted in zip(context.input_specs, context.wanted, strict=True):
        stop = start + spec.shape[axis]
        gradients.append(index(g, key=_slab(axis, start, stop)) if wanted else None)
        start = stop
    return tuple(gradients)


# A new axis ---------------------------------------------------------------------------------------


def _infer_stack(specs, *, axis):
    shape = broadcast_shapes(*[s.shape for s in specs])
    place = len(shape) + 1 + axis
    return [((*shape[:place], len(specs), *shape[place:]), specs[0].dtype)]


def _run_stack(arrays, *, axis):
    """Join arrays of equal dtype along a new axis, ``axis`` of the result (negative)."""
    return _run_concat([np.expand_dims(a, a.ndim + 1 + axis) for a in arrays], axis=axis)


def _lower_stack(builder, inputs, specs, *, axis):
    rows = [x.view(lambda a: np.expand_dims(a, a.ndim + 1 + axis)) for x in inputs]
    return _lower_concat(builder, rows, specs, axis=axis)


def _prepare_stack(specs, *, axis):
    if any(s.shape != specs[0].shape for s in specs):
        return None
    place = len(specs[0].shape) + 1 + axis
    row = itemgetter((*(slice(None),) * place, None, ...))

    def general(*arrays):
        return np.concatenate([row(a) for a in arrays], axis)

    if place or not specs[0].shape:
        return general
    rows = len(specs) * specs[0].shape[0], *specs[0].shape[1:]
    shape, dtype = (len(specs), *specs[0].shape), specs[0].dtype

    def in_order(*arrays):
        """Join along the first axis, into an array of one more."""
        made = np.empty(shape, dtype)
        np.concatenate(arrays, out=made.reshape(rows))
        return made

    return general, in_order


stack = StructuralOperator(
    "stack",
    infer=_infer_stack,
    run=_run_stack,
    lower=_lower_stack,
    prepare=_prepare_stack,
    memory_order=_as_run(_run_stack),
)


stack.is_linear = True


@stack.pullback
def stack_pullback(context, g):
    behind = ((None,),) * (-context.static["axis"] - 1)
    return tuple(
        index(g, key=(n, *behind)) if wanted else None for n, wanted in enumerate(context.wanted)
    )


# Shifting -----------------------------------------------------------------------------------------


def _infer_roll(specs, *, shifts, axes):
    return [(specs[0].shape, specs[0].dtype)]


def _run_roll(arrays, *, shifts, axes):
    """Shift elements along the negative ``axes``; what leaves at one end enters at the other."""
    return np.roll(arrays[0], shifts, axes)


def _lower_roll(builder, inputs, specs, *, shifts, axes):
    (operand,) = inputs
    return [_rolled(builder, operand, list(zip(axes, shifts, strict=True)))]


def _rolled(builder, operand, moves):
    """Return an operand of two halves along each axis, exchanged."""
    if not moves:
        return operand
    (axis, shift), *rest = moves
    size = operand.shape[axis]
    split = -shift % size if size else 0
    halves = [operand.part(axis, split, size), operand.part(axis, 0, split)]
    return builder.join(axis, [_rolled(builder, half, rest) for half in halves])


_FEW = 1024  # elements that are moved fastest by their positions


def _prepare_roll(specs, *, shifts, axes):
    (spec,) = specs
    shape = spec.shape
    if len(shape) == 1 and shape[0] <= _FEW:
        places = np.roll(np.arange(shape[0]), sum(shifts))
        return lambda x: x.take(places)
    moves = [((), ())]
    for n, size in enumerate(shape):
        shift = sum(s for s, a in zip(shifts, axes, strict=True) if a == n - len(shape))
        shift = shift % size if size else 0
        halves = [(slice(shift, None), slice(0, size - shift))]
        if shift:
            halves.append((slice(0, shift), slice(size - shift, None)))
        moves = [((*to, a), (*source, b)) for to, source in moves for a, b in halves]

    def rolled(x):
        out = np.empty_like(x)
        for to, source in moves:
            out[to] = x[source]
        return out

    return rolled


roll = StructuralOperator(
    "roll",
    infer=_infer_roll,
    run=_run_roll,
    lower=_lower_roll,
    prepare=_prepare_roll,
    memory_order=as_kept,
)


@roll.pullback
def roll_pullback(context, g):
    shifts = tuple(-s for s in context.static["shifts"])
    return roll(g, shifts=shifts, axes=context.static["axes"])
