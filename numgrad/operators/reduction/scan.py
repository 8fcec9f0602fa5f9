"""Scans: kernel operators along one axis, the last one by default, on arrays as they lie in memory.

Where the elements of the axis are not neighbours in memory, a kernel for matrices goes along all of
their columns at once. Each column has the bits of the kernel for one row.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..._declare import KeepsOrder, KernelOperator
from ...engine.graph.value import Spec
from ...ir.dtypes import FLOATING
from ...ir.memory_order import axes_in_memory, laid_like
from ...ir.program import Shape, is_contiguous


class Matrices(NamedTuple):
    """How an array of some strides is a stack of matrices along whose columns an axis goes.

    Attributes
    ----------
    order, back : tuple of int
        The axes of the array in memory order, and which of them each axis of the array is.
    sizes : tuple of int
        The sizes of the axes in memory order.
    shape : tuple of int
        The shape of the stack: the axes before the one of the scan, that axis, and those behind it
        as one.
    """

    order: Shape
    back: Shape
    sizes: Shape
    shape: Shape

    def turned(self, array: np.ndarray) -> np.ndarray:
        """Return an array with its axes in memory order."""
        return array.transpose(self.order)

    def stacked(self, array: np.ndarray) -> np.ndarray:
        """Return an array with its axes in memory order as matrices."""
        return array.reshape(self.shape)

    def seen(self, array: np.ndarray) -> np.ndarray:
        """Return an array of this shape, or a copy of an array of other strides, as matrices."""
        return self.stacked(np.ascontiguousarray(self.turned(array)))

    def restored(self, result: np.ndarray) -> np.ndarray:
        """Return matrices as an array with axes in the order of the operand's."""
        return result.reshape(self.sizes).transpose(self.back)


@lru_cache(4096)
def matrices(shape: Shape, strides: Shape, itemsize: int, axis: int) -> Matrices | None:
    """Return how an array of these strides is a stack of matrices along whose columns ``axis`` (a
    negative number) goes; None if the array has gaps, or its rows lie along the axis."""
    order = axes_in_memory(strides)
    sizes = tuple([shape[n] for n in order])
    place = order.index(len(shape) + axis)
    width = prod(sizes[place + 1 :])
    if width < 2 or not sizes[place]:
        return None
    if not is_contiguous(sizes, tuple([strides[n] for n in order]), itemsize):
        return None
    back = tuple(np.argsort(order).tolist())
    return Matrices(order, back, sizes, (prod(sizes[:place]), sizes[place], width))


class Scan(KeepsOrder, KernelOperator):
    """A kernel operator along the axis ``axis`` (a negative number), the last one by default.

    Results have the dtype of the first input. The function of ``columns`` takes matrices.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        columns: Callable[..., Any] | None,
        signature: str,
    ) -> None:
        super().__init__(function, signature)
        self.columns = columns

    def result_dtypes(self, dtypes: Sequence[np.dtype]) -> list[np.dtype]:
        return [dtypes[0]] * self.nout

    def columns_spec(self, dtypes: tuple[np.dtype, ...]) -> Any:
        """Return the kernel spec for columns of matrices of these dtypes."""
        if ("columns", *dtypes) not in self._specs:
            spec, function = self.spec(dtypes), self.columns
            assert function is not None
            self._specs["columns", *dtypes] = replace(
                spec, function=function, signature=spec.signature.replace("n", "n,m"), each=spec
            )
        return self._specs["columns", *dtypes]

    def infer(
        self, specs: Sequence[Any], static: dict[str, Any]
    ) -> list[tuple[tuple[int, ...], np.dtype]]:
        axis = static.get("axis", -1)
        if axis == -1:
            return super().infer(specs, static)
        moved = [Spec(_axis_last(spec.shape, axis), spec.dtype) for spec in specs]
        return [(_axis_back(shape, axis), dtype) for shape, dtype in super().infer(moved, static)]

    # Values
    # ---------------------------------------------------------------------------------------------

    def run(
        self, target: Any, arrays: Sequence[np.ndarray], static: dict[str, Any]
    ) -> list[np.ndarray]:
        axis = static.get("axis", -1)
        self.infer(arrays, static)
        return [np.asarray(self._function(target, tuple([a.dtype for a in arrays]), axis)(*arrays))]

    def computation(self, target: Any, inputs: Sequence[Any], static: dict[str, Any]) -> Any:
        if any(x.dtype not in FLOATING for x in inputs):
            return None  # they are converted before
        axis, dtypes = static.get("axis", -1), tuple([x.dtype for x in inputs])
        compute = self._function(target, dtypes, axis)
        return (compute, target.kernel(self.spec(dtypes)).ufunc) if axis == -1 else compute

    def _function(
        self, target: Any, dtypes: tuple[np.dtype, ...], axis: int
    ) -> Callable[..., np.ndarray]:
        """Return a function that scans arrays of these dtypes and any strides."""
        found: list[np.ufunc] = []

        def compute(*arrays: np.ndarray) -> np.ndarray:
            layouts = [(a.shape, a.strides) for a in arrays]
            layout = self._together(layouts, arrays[0].itemsize, axis)
            if layout is not None:
                found[:] = found or [target.kernel(self.columns_spec(dtypes)).ufunc]
                return layout.restored(found[0](*map(layout.seen, arrays)))
            rows = [np.ascontiguousarray(np.moveaxis(a, axis, -1)) for a in arrays]
            result = np.moveaxis(target.kernel(self.spec(dtypes)).ufunc(*rows), -1, axis)
            return laid_like(result, arrays[0])

        return compute

    def _together(
        self, layouts: Sequence[tuple[Shape, Shape]], itemsize: int, axis: int
    ) -> Matrices | None:
        """Return how operands are matrices if they lie as the first that does, see `matrices`."""
        shape = layouts[0][0]
        if self.columns is None or any(one != shape for one, _ in layouts):
            return None
        found = (matrices(shape, strides, itemsize, axis) for _, strides in layouts)
        return next((layout for layout in found if layout is not None), None)

    # Programs
    # ---------------------------------------------------------------------------------------------

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Sequence[Any], static: dict[str, Any]
    ) -> list[Any]:
        axis, dtypes = static.get("axis", -1), tuple([o.dtype for o in inputs])
        operands = [(o.shape, o.strides) for o in inputs]
        layout = self._together(operands, inputs[0].dtype.itemsize, axis)
        (spec,) = specs
        if layout is None:
            rows = [builder.contiguous(o.view(lambda a: np.moveaxis(a, axis, -1)), 1)
                    for o in inputs]  # fmt: skip
            shape = _axis_last(spec.shape, axis)
            output = builder.new(shape, spec.dtype, spec.rows)
            ncore = (1,) * (len(rows) + 1)
            builder.emit(self.spec(dtypes), rows, [output], ncore, shape[-1:], name=self.name)
            return [output.view(lambda a: np.moveaxis(a, -1, axis))]
        turned = [builder.contiguous(o.view(layout.turned)) for o in inputs]
        stacks = [o.view(layout.stacked) for o in turned]
        output = builder.new(layout.shape, spec.dtype, spec.rows)
        ncore, core = (2,) * (len(stacks) + 1), layout.shape[1:]
        builder.emit(self.columns_spec(dtypes), stacks, [output], ncore, core, name=self.name)
        return [output.view(layout.restored)]


def scan(
    columns: Callable[..., Any] | None = None, signature: str = "(n)->(n)"
) -> Callable[[Callable[..., Any]], Scan]:
    """Declare a `Scan` from a core function for rows, and one for the columns of matrices."""
    return lambda function: Scan(function, columns, signature)


def _axis_last(shape: Shape, axis: int) -> Shape:
    place = len(shape) + axis
    return (*shape[:place], *shape[place + 1 :], shape[place])


def _axis_back(shape: Shape, axis: int) -> Shape:
    place = len(shape) + axis
    return (*shape[:place], shape[-1], *shape[place:-1])


__all__ = ["Scan", "scan"]
