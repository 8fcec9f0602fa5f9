"""Indexing with arrays: gather, scatter-add and overwriting by positions.

The axes that an index array touches are flattened to one of ``n`` elements, and the untouched ones
behind them to one of ``k``; positions count along the flat axis. ``count`` and ``tail`` are the
numbers of these axes.
"""

from math import prod
from typing import Any

import numpy as np

from ..._declare import Operator, zeros
from ...ir.broadcasting import broadcast_shapes
from ...ir.kernel_spec import LoopSpec
from ...ir.memory_order import in_miniature, laid_like, strides_of
from ..elementwise.cast import cast
from ..reduction.accumulation import SCATTERS, scatter_core

Static = dict[str, Any]

# Half precision is for storage: it is moved as integers, and nothing is added in it.
_MOVED_AS = {np.dtype(np.float16): np.dtype(np.int16)}


def gather_core(x, index, out):
    """Copy rows of ``x``. Numba looks for negative numbers in what is not unsigned: with that, and
    a loop over one element, it would take three times as long. Points in a plane and in space are
    rows of two and three, whose loops would take twice as long."""
    width = out.shape[1]
    if width == 1:
        for i in range(index.size):
            out[i, 0] = x[np.uint64(index[i]), 0]
    elif width == 2:
        for i in range(index.size):
            row = np.uint64(index[i])
            out[i, 0] = x[row, 0]
            out[i, 1] = x[row, 1]
    elif width == 3:
        for i in range(index.size):
            row = np.uint64(index[i])
            out[i, 0] = x[row, 0]
            out[i, 1] = x[row, 1]
            out[i, 2] = x[row, 2]
    else:
        for i in range(index.size):
            row = np.uint64(index[i])
            for j in range(width):
                out[i, j] = x[row, j]


def place_core(g, index, out):
    """Copy the rows of ``g``, none of which has the place of another one, into zeros."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0
    for i in range(index.size):
        row = np.uint64(index[i])
        for j in range(out.shape[1]):
            out[row, j] = g[i, j]


def overwrite_core(x, v, index, out):
    """Copy ``x``, unless ``out`` is the same memory, then write the rows of ``v``. Rows of one
    element have loops without another one inside."""
    is_copied = x.ctypes.data != out.ctypes.data
    if out.shape[1] == 1:
        for i in range(out.shape[0] if is_copied else 0):
            out[i, 0] = x[i, 0]
        for i in range(index.size):
            out[np.uint64(index[i]), 0] = v[i, 0]
        return
    for i in range(out.shape[0] if is_copied else 0):
        for j in range(out.shape[1]):
            out[i, j] = x[i, j]
    for i in range(index.size):
        row = np.uint64(index[i])
        for j in range(out.shape[1]):
            out[row, j] = v[i, j]


class _Positional(Operator):
    """What the three operators share; the last input, the positions, has no gradient."""

    function: Any
    signature: str
    _read = 0  # the first input of which all elements are read
    _reusable: tuple[int, ...] = ()  # the inputs whose memory the output may take
    _sizes = "shape"  # the parameter with the sizes that take the place of the flattened axes

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._specs: dict[Any, LoopSpec] = {}
        self._data = self.signature.partition("->")[0].count("k")
        self.reads(lambda needs: (*(False,) * self._data, any(needs), False))

    def function_of(self, static: Static) -> Any:
        """Return the function of the kernel."""
        return self.function

    def spec(self, dtype: np.dtype, function: Any) -> LoopSpec:
        """Return the kernel spec for data of ``dtype``."""
        dtype = _MOVED_AS.get(dtype, dtype)
        if (dtype, function) not in self._specs:
            inputs = (*(dtype,) * self._data, np.dtype(np.int64))
            name = function.__name__.removesuffix("_core")  # by which targets have others
            spec = LoopSpec(
                name, function, self.signature, inputs, (dtype,), reusable=self._reusable
            )
            self._specs[dtype, function] = spec
        return self._specs[dtype, function]

    def infer(self, specs: Any, static: Static) -> list[Any]:
        lead, _, last = _parts(specs[0].shape, static["count"], static["tail"])
        return [((*lead, *static[self._sizes], *last), specs[0].dtype)]

    def lower(self, builder: Any, inputs: Any, specs: Any, static: Static) -> list[Any]:
        """Append the kernel. Data and output have ``count`` and ``len(sizes)`` axes to flatten in
        turn."""
        *data, positions = inputs
        count, tail, sizes = static["count"], static["tail"], static[self._sizes]
        axes = [(count, tail), (len(sizes), tail), (count, tail)][: len(inputs)]
        data = [_flat_operand(builder, x, *a) for x, a in zip(data, axes, strict=False)]
        (spec,) = specs
        shape, dtype, rows = spec.shape, spec.dtype, spec.rows
        out = builder.new(shape, dtype, rows)
        if prod(shape):
            flat = _flat_operand(builder, out, *axes[-1])
            core = (*data[0].shape[-2:], prod(sizes))
            ncore = (*(2,) * len(data), 1, 2)
            loop = flat.shape[:-2]
            operands = [*data, builder.contiguous(positions)]
            work = prod(shape) + sum(prod(x.shape) for x in data[self._read :])
            spec = self.spec(dtype, self.function_of(static))
            builder.emit(spec, operands, [flat], ncore, core, loop, self.name, work=work)
        return [out]


def _flatten(array: np.ndarray, count: int, tail: int) -> np.ndarray:
    """Flatten ``count`` axes in front of the last ``tail``, and these."""
    lead, middle, last = _parts(array.shape, count, tail)
    return array.reshape(*lead, prod(middle), prod(last))


def _flat_operand(builder: Any, operand: Any, count: int, tail: int) -> Any:
    return builder.contiguous(operand, count + tail).view(lambda a: _flatten(a, count, tail))


def _parts(shape: Any, count: int, tail: int) -> tuple[Any, Any, Any]:
    last = len(shape) - tail
    return shape[: last - count], shape[last - count : last], shape[last:]


class Gather(_Positional):
    """The elements of ``x`` at ``positions``, which have the shape ``shape``. ``once``, where it is
    given, says that none of them comes twice: the gradient is then a copy, signs of zeros too;
    ``turned`` that they lie in memory as those at an index array in NumPy do."""

    reorders = True

    function = staticmethod(gather_core)
    signature = "(n,k),(m)->(m,k)"
    _read = 1

    def memory_order(self, operands: Any, static: Static) -> Any:
        """Return the elements of the first operand at small arrays of positions, as NumPy has them
        in memory; in C order where nobody asks for that."""
        places = np.zeros([min(size, 2) for size in static["shape"]], np.intp)
        key = (..., *[places] * static["count"], *[slice(None)] * static["tail"])
        found = operands[0][key]
        return [found if static.get("turned", False) else np.zeros(found.shape, np.int8)]

    def run(self, target: Any, arrays: Any, static: Static) -> list[np.ndarray]:
        x, positions = arrays
        ((shape, _),) = self.infer([x], static)
        flat = _flatten(x, static["count"], static["tail"])
        found = np.take(flat, positions, axis=-2).reshape(shape)
        if not static.get("turned", False) or not found.size:
            return [found]
        (order,) = self.memory_order([in_miniature(x.shape, strides_of(x))], static)
        return [laid_like(found, order)]

    def computation(self, target: Any, inputs: Any, static: Static) -> Any:
        lead, middle, last = _parts(inputs[0].shape, static["count"], static["tail"])
        flat, shape = (*lead, prod(middle), prod(last)), (*lead, *static["shape"], *last)
        if static.get("turned", False):
            whole = (prod(lead), prod(middle), prod(last))
            return (
                lambda *arrays: self.run(target, arrays, static)[0],
                # NumPy's own index array, along one axis in place of many, has its layout.
                lambda x, at: x.reshape(whole)[:, at].reshape(shape),
            )
        if lead or last:
            return lambda x, at: x.reshape(flat).take(at, -2).reshape(shape)
        return np.ndarray.take if len(shape) == 1 else lambda x, at: x.take(at).reshape(shape)


class ScatterAdd(_Positional):
    """Zeros of core shape ``sizes`` to which ``g`` is added at ``positions``. ``once``, where it is
    given, says that none of them comes twice: then it is copied, signs of zeros too."""

    function = staticmethod(scatter_core)
    signature = "(m,k),(m)->(n,k)"
    _sizes = "sizes"

    def function_of(self, static: Static) -> Any:
        return place_core if static.get("once", False) else scatter_core

    def spec(self, dtype: np.dtype, function: Any) -> LoopSpec:
        assert function is place_core or dtype not in _MOVED_AS, "see `summable`"
        if function is scatter_core:
            function = SCATTERS.get(dtype.str[1:], function)
        return super().spec(dtype, function)

    def run(self, target: Any, arrays: Any, static: Static) -> list[np.ndarray]:
        g, positions = arrays
        count, tail, sizes = static["count"], static["tail"], static["sizes"]
        ((shape, dtype),) = self.infer([g], static)
        out = np.empty(shape, dtype)
        g = np.ascontiguousarray(_flatten(g, count, tail))
        positions = np.ascontiguousarray(positions)
        kernel = target.kernel(self.spec(dtype, self.function_of(static)))
        kernel.ufunc(g, positions, out=_flatten(out, len(sizes), tail))
        return [out]


class PutAt(_Positional):
    """``x`` with the elements at ``positions`` overwritten by ``v``, one after the other; where
    positions are equal, only the last value may have a gradient. ``whole``, where it is given, says
    that the positions are known to be all of them."""

    function = staticmethod(overwrite_core)
    signature = "(n,k),(m,k),(m)->(n,k)"
    _reusable = (0,)

    def covers(self, specs: Any, static: Static) -> bool:
        return static.get("whole", False)

    def memory_order(self, operands: Any, static: Static) -> Any:
        return operands[:1]  # that of the memory that is written

    def infer(self, specs: Any, static: Static) -> list[Any]:
        x, v, _ = specs
        count, tail = static["count"], static["tail"]
        lead, middle, last = _parts(x.shape, count, tail)
        other = _parts(v.shape, len(static["shape"]), tail)[0]
        return [((*broadcast_shapes(lead, other), *middle, *last), x.dtype)]

    def run(self, target: Any, arrays: Any, static: Static) -> list[np.ndarray]:
        x, v, positions = arrays
        count, tail = static["count"], static["tail"]
        ((shape, dtype),) = self.infer(arrays, static)
        out = np.empty(shape, dtype)
        out[...] = x
        _flatten(out, count, tail)[..., positions, :] = _flatten(v, len(static["shape"]), tail)
        return [out]


gather = Gather("gather")
scatter_add = ScatterAdd("scatter_add")
put_at = PutAt("put_at")

# The positions are one vector for all that the data are looped over.
gather.ranks = scatter_add.ranks = lambda *, count, tail, **_: (count + tail, 1)
put_at.ranks = lambda *, count, tail, shape, **_: (count + tail, len(shape) + tail, 1)

put_at.is_linear = True
gather.gives_scalars = gather.reads_elements = True  # as a vector at an array without axes


def summable(g: Any) -> Any:
    """Return what can be added up: half precision as single."""
    return cast(g, np.dtype(np.float32)) if g.dtype in _MOVED_AS else g


@gather.pullback
def gather_pullback(context, g):
    count, tail, shape = (context.static[name] for name in ("count", "tail", "shape"))
    _, sizes, _ = _parts(context.input_specs[0].shape, count, tail)
    options = {"once": True} if context.static.get("once", False) else {}
    static = {"count": len(shape), "tail": tail, "sizes": sizes, **options}
    return scatter_add(g if options else summable(g), context.input(1), **static), None


@scatter_add.pullback
def scatter_add_pullback(context, g):
    count, tail, sizes = (context.static[name] for name in ("count", "tail", "sizes"))
    _, shape, _ = _parts(context.input_specs[0].shape, count, tail)
    return gather(g, context.input(1), count=len(sizes), tail=tail, shape=shape), None


@put_at.pullback
def put_at_pullback(context, g):
    positions = context.input(2)
    # The cotangent is read before its elements are overwritten, which may happen in its memory.
    gv = gather(g, positions, **context.static) if context.wanted[1] else None
    gx = None
    if context.wanted[0] and not context.static.get("whole", False):
        shape = context.input_specs[1].shape
        core = shape[len(shape) - len(context.static["shape"]) - context.static["tail"] :]
        gx = put_at(g, zeros(core, g.dtype), positions, **context.static)
    return gx, gv, None
