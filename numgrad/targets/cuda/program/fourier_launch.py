"""Fourier transforms by cuFFT as steps of a program.

The step copies what is transformed to memory of its own, row after row, with zeros behind short
rows; the library transforms all rows at once; a kernel multiplies the result by the factor of the
norm where the result belongs.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...._declare import registry
from ....ir.kernel_spec import HostSpec
from ....ir.program import contiguous_strides
from ..compile.kernel import Function
from ..kernels.element_walk import COPY, Lines, Operand, launch
from ..launch.steps import Blocks, Launch, Loop, Place
from ..libraries.fourier import MOST_ELEMENTS, Transform

_MINE = -1  # the last slot: the memory of the step
_ALIGNMENT = 256
_NAMES = ("fft", "rfft", "irfft")
_PADDED = Lines("padded", ("out[{out}] = x[{x}] if {k} < given else zero",))
_HALF = Lines("half_spectrum", (
    "value = x[{x}] if {k} < given else zero",
    "out[{out}] = zero + value.real if {k} == 0 or 2 * {k} == size else value",
))  # fmt: skip
"""The first number of half a spectrum, and the middle one, are real; see the operator `irfft`."""


class LibraryTransform(NamedTuple):
    """A step in which cuFFT transforms rows.

    Attributes
    ----------
    transform : Transform
    nbytes : tuple of int
        The bytes of the rows in the memory of the step, and those of all of it; the results lie
        behind the rows.
    before, after : Launch
        The copies to that memory, and from there, with the factor.
    """

    transform: Transform
    nbytes: tuple[int, int]
    before: Launch
    after: Launch

    def run(self, runtime: Any, blocks: Blocks, stream: Any = None) -> None:
        """Let cuFFT transform the rows on a stream, by default the current one."""
        stream = stream or runtime.current()
        behind, nbytes = self.nbytes
        memory = runtime.allocate(nbytes, stream)
        try:
            given = [*blocks, (memory, 0)]
            self.before.run(runtime, given, stream)
            block = memory.used_by(stream)
            pointers = (block, 0), (block, behind)
            runtime.driver.fourier.transform(self.transform, pointers, stream.handle)
            self.after.run(runtime, given, stream)
        finally:
            memory.give_back()


def lowered(
    pattern: Any, loop: Loop, begins: Sequence[Place], target: Any
) -> LibraryTransform | None:
    """Return the step of an instruction that is a Fourier transform.

    The result is None for other instructions, and where the transform is left to the host.
    """
    spec = pattern.spec
    if not isinstance(spec, HostSpec) or not any(_is(spec, name) for name in _NAMES):
        return None
    if target.runtime.driver.fourier is None:  # asked last, as the answer may load the library
        return None
    if spec.name == "rfft" and pattern.layouts[0].dtype.kind == "c":
        return None
    rows, size = loop.elements, dict(spec.options)["n"]
    if not 0 < rows * size <= MOST_ELEMENTS or not pattern.core[0]:
        return None
    return _Transformed(pattern, loop, begins, target).step()


def _is(spec: HostSpec, name: str) -> bool:
    operator: Any = registry[name]
    return spec.function in (operator.function, operator._scaled)


class _Transformed:
    """The copies around a transform, and its memory."""

    def __init__(self, pattern: Any, loop: Loop, begins: Sequence[Place], target: Any) -> None:
        self._pattern, self._loop, self._begins, self._target = pattern, loop, begins, target
        options = dict(pattern.spec.options)
        self._name, self._size = pattern.spec.name, options["n"]
        self._norm = options["norm"]
        self._is_inverse = options.get("inverse", self._name == "irfft")
        self._out = pattern.layouts[-1].dtype
        self._given = np.result_type(self._out, np.complex64)
        if self._name == "rfft":
            self._given = np.finfo(self._out).dtype
        self._read = self._size // 2 + 1 if self._name == "irfft" else self._size
        self._made = pattern.core[1]
        nbytes = loop.elements * self._read * self._given.itemsize
        self._behind = -(-nbytes // _ALIGNMENT) * _ALIGNMENT

    def step(self) -> LibraryTransform:
        rows = self._loop.elements
        transform = Transform(self._size, rows, self._given, self._out, self._is_inverse)
        nbytes = self._behind + rows * self._made * self._out.itemsize
        return LibraryTransform(transform, (self._behind, nbytes), self._before(), self._after())

    def _own(self, name: str, offset: int, count: int, dtype: np.dtype) -> Operand:
        """Return rows in the memory of the step, as an operand of a kernel."""
        lies = contiguous_strides((*self._loop.sizes, count), dtype.itemsize)
        return Operand(name, Place(_MINE, offset), dtype, lies)

    def _before(self) -> Launch:
        """Return the launch that copies what is transformed, with zeros behind short rows."""
        dtype, along = self._pattern.layouts[0].dtype, self._pattern.core_strides[0]
        operands = [
            Operand("k", None, None, (*(0,) * len(self._loop.sizes), 1)),
            Operand("x", self._begins[0], dtype, (*self._loop.strides[0], along)),
            self._own("out", 0, self._read, self._given),
        ]
        numbers = {"given": self._pattern.core[0]}
        what = _PADDED
        if self._name == "irfft":
            what, numbers = _HALF, numbers | {"size": self._size}
        return launch(what, (*self._loop.sizes, self._read), operands, self._target, numbers)

    def _after(self) -> Launch:
        """Return the launch that copies the result, times the factor of the norm."""
        along = (*self._loop.strides[-1], self._pattern.core_strides[-1])
        operands = [
            self._own("x", self._behind, self._made, self._out),
            Operand("out", self._begins[-1], self._out, along),
        ]
        what = _scaled(self._out, self._norm, self._is_inverse)
        numbers = {} if what is COPY else {"size": self._size}
        return launch(what, (*self._loop.sizes, self._made), operands, self._target, numbers)


def _scaled(dtype: np.dtype, norm: str, inverse: bool) -> Lines:
    """Return the lines that multiply a result by the factor of a norm."""
    real = np.finfo(dtype).dtype
    scope: tuple[tuple[str, Any], ...] = (("real", real.type), ("one", real.type(1)))
    if norm == "ortho":
        scope = (*scope, ("root", Function(_root, real)))
        return Lines("scaled", ("out[{out}] = x[{x}] * (one / root(real(size)))",), scope)
    if norm == ("backward" if inverse else "forward"):
        return Lines("scaled", ("out[{out}] = x[{x}] * (one / real(size))",), scope)
    return COPY


def _root(x):
    return math.sqrt(x)
