"""Elementwise kernels that are called on device arrays at once, outside of a program."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ....ir.device_array import DeviceArray
from ....ir.kernel_spec import ElementwiseSpec
from ..launch.steps import Place, loop_over
from ..program.lowering import of_elements


class ArrayKernel(NamedTuple):
    """The kernel of an elementwise spec, called like a ufunc of NumPy.

    Attributes
    ----------
    spec : ElementwiseSpec
    target
        The CUDA target on whose GPU the kernel runs.
    """

    spec: ElementwiseSpec
    target: Any

    def ufunc(self, *arrays: Any, out: DeviceArray) -> None:
        """Compute all elements of ``out`` from the inputs, in one launch.

        ``out`` may be a view of any strides. Inputs of the device or the host are broadcast. An
        input whose memory the launch would overwrite is copied first.
        """
        operands = [*[self._operand(array, out) for array in arrays], out]
        strides = zip(*[array.strides for array in operands], strict=True)
        loop = loop_over(list(zip(out.shape, strides, strict=True)), len(operands))
        if loop.elements:
            begins = [Place(slot, 0) for slot in range(len(operands))]
            blocks = [(array.memory, array.offset) for array in operands]
            of_elements(self.spec, loop, begins, self.target).run(self.target.runtime, blocks)

    def _operand(self, array: Any, out: DeviceArray) -> DeviceArray:
        if type(array) is not DeviceArray:
            array = self.target.constant(np.asarray(array))
        spread = array.spread(out.shape)
        return self.target.copy(array).spread(out.shape) if _changes(spread, out) else spread


def _changes(array: DeviceArray, out: DeviceArray) -> bool:
    """Whether writes to ``out`` may change elements of ``array`` that other threads still read."""
    if array.memory is not out.memory or not out.size:
        return False
    if (array.offset, array.strides, array.dtype) == (out.offset, out.strides, out.dtype):
        return False
    (low, high), (first, end) = array.bounds(), out.bounds()
    return low < end and first < high


@cache
def copy_spec(dtype: np.dtype) -> ElementwiseSpec:
    """Return the spec of the kernel that copies elements of a dtype.

    Elements of float16 are copied as uint16.
    """
    moved = np.dtype(np.uint16) if dtype == np.float16 else dtype
    return ElementwiseSpec("copy", _same, (moved,), (moved,))


def _same(x: Any) -> Any:
    return x
