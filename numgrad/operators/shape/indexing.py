"""Basic indexing: views of a region, and arrays with a region overwritten.

A region is what a chain of views leads to. Reading it costs nothing; writing it copies twice, so
that one operator is the gradient of every view that repeats no element, and the record of every
write in place.
"""

import functools
from collections.abc import Sequence
from math import prod
from operator import itemgetter
from typing import Any

import numpy as np

from ..._declare import StructuralOperator, view, zeros
from ...ir.broadcasting import broadcast_shapes
from .gathering import gather, put_at

Chain = tuple[tuple[Any, tuple[tuple[str, Any], ...]], ...]


def as_numpy_key(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return NumPy's key for a static one, where tuples are slices; axes count from the right."""
    return (..., *[slice(*item) if type(item) is tuple else item for item in key])


@view
def index(x, *, key):
    """Take integers, slices (as tuples) and ``None`` along the last axes, an item for each."""
    return x[as_numpy_key(key)]


@index.viewer
def index_viewer(spec, *, key):
    return itemgetter(as_numpy_key(key))


@index.pullback
def index_pullback(context, g):
    key = context.static["key"]
    ncore = sum(item is not None for item in key)
    nregion = sum(not isinstance(item, int) for item in key)
    return into_zeros(context, g, ncore, nregion, index)


def _infer_element(specs, *, key):
    (spec,) = specs
    return [(spec.shape[: len(spec.shape) - len(key)], spec.dtype)]


def _run_element(arrays, *, key):
    """Take the element at integers along the last axes: a copy."""
    return index.function(arrays[0], key=key).copy()


def _lower_element(builder, inputs, specs, *, key):
    return index.lower(builder, inputs, specs, {"key": key})


def _element_getter(inputs, *, key):
    (spec,) = inputs
    if len(key) != len(spec.shape):
        return None
    return itemgetter(key[0] if len(key) == 1 else key)  # NumPy finds a bare integer faster


element = StructuralOperator(
    "element", infer=_infer_element, run=_run_element, lower=_lower_element, prepare=_element_getter
)
element.gives_scalars = element.reads_elements = True


@element.pullback
def element_pullback(context, g):
    return into_zeros(context, g, len(context.static["key"]), 0, index)


@view
def diagonal(x, *, axes, offset):
    """Take a diagonal of the two negative ``axes``, which become the last axis of the result."""
    result = np.diagonal(x, offset, *axes)
    if x.flags.writeable:
        result.flags.writeable = True
    return result


@diagonal.pullback
def diagonal_pullback(context, g):
    ncore = -min(context.static["axes"])
    return into_zeros(context, g, ncore, ncore - 1, diagonal)


def _place_of(key: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[tuple[Any, ...], int]:
    """Return what a key has in common with those that only begin elsewhere, the last axis first,
    and the position in the array where it begins."""
    form: list[Any] = []
    first, behind, axis = 0, 1, len(shape)
    for item in reversed(key):
        if item is None:
            form.append(None)
            continue
        axis -= 1
        size = shape[axis]
        if type(item) is tuple:
            places = range(size)[slice(*item)]
            form.append((len(places), places.step))
            first += places.start * behind
        else:
            form.append(0)
            first += item % size * behind
        behind *= size
    return tuple(form), first


def _region_of(form: tuple[Any, ...], shape: tuple[int, ...], most: int) -> Any:
    """Return the static parameters and the positions with which `gather` finds the region of a form
    that begins at 0, and the elements in one of these; None where nothing is left out, or there
    would be more positions than ``most``."""
    tail, axis = 0, len(shape)
    while tail < len(form) and form[tail] is not None and form[tail] == (shape[axis - 1], 1):
        tail, axis = tail + 1, axis - 1
    touched = form[tail:]
    region = tuple([1 if item is None else item[0] for item in touched[::-1] if item != 0])
    if prod(region) > most:
        return None
    behind, positions = 1, np.zeros(1, np.int64)
    for item in touched:
        if item is None:
            continue
        if item != 0:
            along = np.arange(item[0]) * (item[1] * behind)
            positions = np.add.outer(along, positions).reshape(-1)
        axis -= 1
        behind *= shape[axis]
    count = len(shape) - tail - axis
    static = {"count": count, "tail": tail, "shape": region}
    unit = prod(shape[len(shape) - tail :]) or 1
    return (static, positions, unit) if count else None


def _place_of_read(inputs: Any, static: dict[str, Any]) -> Any:
    return _place_of(static["key"], inputs[0].shape)


def _read_by_position(inputs: Any, form: Any, most: int) -> Any:
    found = _region_of(form, inputs[0].shape, most)
    return None if found is None else (gather, {**found[0], "once": True}, *found[1:])


index.by_position = element.by_position = _place_of_read, _read_by_position


def into_zeros(context, g, ncore, nregion, operator):
    """Return the gradient of a view: ``g`` in the midst of zeros of the input's core shape."""
    shape = context.input_specs[0].shape
    around = zeros(shape[len(shape) - ncore :], g.dtype)
    chain = as_chain([(operator, context.static)])
    return put_view(around, g, ncore=ncore, nregion=nregion, chain=chain)


# Overwriting a region -----------------------------------------------------------------------------


def as_chain(views: Sequence[tuple[Any, dict[str, Any]]]) -> Chain:
    """Return view operators and their static parameters as one static parameter, hashable."""
    return tuple((operator, tuple(static.items())) for operator, static in views)


def follow(array: np.ndarray, chain: Chain) -> np.ndarray:
    """Return the region of ``array`` to which a chain of views leads."""
    for operator, static in chain:
        array = operator.function(array, **dict(static))
    return array


def _infer_put(specs, *, ncore, nregion, chain):
    x, v = specs
    return [(_put_shape(x.shape, v.shape, ncore, nregion), x.dtype)]


def _put_shape(x, v, ncore, nregion):
    """Return the shape of the result; either operand may lack leading axes of the other one."""
    lead = len(x) - ncore
    return (*broadcast_shapes(x[:lead], v[: len(v) - nregion]), *x[lead:])


def _run_put(arrays, *, ncore, nregion, chain):
    """Return ``x`` with the region to which ``chain`` leads overwritten by ``v``."""
    x, v = arrays
    out = np.empty(_put_shape(x.shape, v.shape, ncore, nregion), x.dtype)
    out[...] = x
    follow(out, chain)[...] = v
    return out


def _lower_put(builder, inputs, specs, *, ncore, nregion, chain):
    x, v = inputs
    (spec,) = specs
    shape, dtype, rows = spec.shape, spec.dtype, spec.rows
    places = _slab_of(chain, shape)
    if places is not None:
        return [_framed(builder, x, v, shape, places)]
    out = builder.new(shape, dtype, rows)
    region = out.view(lambda a: follow(a, chain))
    if prod(region.shape) < prod(shape):
        builder.copy(x, out)
    builder.copy(v, region)
    return [out]


def _slab_of(chain, shape):
    """Return where a region begins and ends along each of the last axes, if it is a box."""
    if len(chain) != 1 or chain[0][0] is not index:
        return None
    key = dict(chain[0][1])["key"]
    if None in key:
        return None
    places = []
    for size, item in zip(shape[len(shape) - len(key) :], key, strict=True):
        if isinstance(item, tuple):
            start, stop, step = slice(*item).indices(size)
            if step != 1 or stop < start:
                return None
            places.append((start, stop, False))
        else:
            start = item % size
            places.append((start, start + 1, True))
    return places


def _framed(builder, x, v, shape, places):
    """Return ``v`` with the parts of ``x`` around it, where they are."""
    lead = shape[: len(shape) - len(places)]
    dropped = tuple(n - len(places) for n, place in enumerate(places) if place[2])
    inner = tuple(stop - start for start, stop, _ in places)
    x = x.view(lambda a: np.broadcast_to(a, shape))
    v = v.view(lambda a: np.broadcast_to(np.expand_dims(a, dropped), (*lead, *inner)))

    return _around(builder, x, v, places)


def _around(builder, operand, v, places):
    """Return ``v`` with the parts of an operand around it, along as many last axes as places."""
    if not places:
        return v
    axis, (start, stop, _) = -len(places), places[0]
    size = operand.shape[axis]
    middle = _around(builder, operand.part(axis, start, stop), v, places[1:])
    return builder.join(
        axis, [operand.part(axis, 0, start), middle, operand.part(axis, stop, size)]
    )


put_view = StructuralOperator(
    "put_view",
    infer=_infer_put,
    run=_run_put,
    lower=_lower_put,
    memory_order=lambda operands, static: operands[:1],  # that of the memory that is written
)


@functools.lru_cache(maxsize=1024)
def _is_whole(core: tuple[int, ...], chain: Chain) -> bool:
    """Whether a chain of views, none of which repeats elements, leads to all of them."""
    return follow(np.empty(core, np.bool_), chain).size == prod(core)


def _put_covers(specs, static):
    shape = specs[0].shape
    return _is_whole(shape[len(shape) - static["ncore"] :], static["chain"])


put_view.covers = _put_covers
put_view.is_linear = True
put_view.ranks = lambda *, ncore, nregion, chain: (ncore, nregion)


@put_view.pullback
def put_view_pullback(context, g):
    static = context.static
    gx = gv = None
    if context.wanted[0] and not _put_covers(context.input_specs, static):
        zero = zeros((1,) * static["nregion"], g.dtype)
        gx = put_view(g, zero, **static)
    if context.wanted[1]:
        gv = g
        for operator, parameters in static["chain"]:
            gv = operator(gv, **dict(parameters))
    return gx, gv


def _place_of_write(inputs: Any, static: dict[str, Any]) -> Any:
    chain = static["chain"]
    if len(chain) != 1 or chain[0][0] is not index:
        return None
    return _place_of(chain[0][1][0][1], inputs[0].shape)


def _write_by_position(inputs: Any, form: Any, most: int) -> Any:
    x, v = inputs
    found = _region_of(form, x.shape, most)
    if found is None:
        return None
    static, positions, unit = found
    last = len(x.shape) - static["tail"]
    first = last - static["count"]
    if v.shape != (*x.shape[:first], *static["shape"], *x.shape[last:]):
        return None
    whole = positions.size == prod(x.shape[first:last])
    return put_at, {**static, "whole": whole}, positions, unit


put_view.by_position = _place_of_write, _write_by_position
