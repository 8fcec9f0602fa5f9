"""Kernels that users wrote for CUDA, which get whole arrays and choose how to walk over them.

The arrays have one axis for the loop in front of their core dimensions. An input is copied first if
no single stride walks over the whole loop, as when it is repeated along a part of the loop.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

from ...._errors import OperatorError
from ....ir.kernel_spec import CUDAKernel, LoopSpec
from ....ir.program import Shape, contiguous_strides
from ....ir.target import Failure
from ..compile.kernel import Array, Function, Kernel
from ..launch.host_steps import is_for_host
from ..launch.steps import Blocks, Launch, LaunchSequence, Loop, Place, cores_of
from .core_loop import in_order
from .element_walk import COPY, Operand, launch

_ALIGNMENT = 256


class UserKernelStep(NamedTuple):
    """The step that copies inputs, if needed, and launches a user's kernel.

    An error in a launch is raised as one that names the operator.
    """

    own: CUDAKernel
    staged: LaunchSequence

    def run(self, runtime: Any, blocks: Blocks, stream: Any = None) -> Failure | None:
        """Launch the copies and the kernel on a stream, by default the current one; return None."""
        with _naming_operator(self.own):
            return self.staged.run(runtime, blocks, stream)


@contextmanager
def _naming_operator(own: CUDAKernel) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise OperatorError(f"{own.label}: {type(error).__name__}: {error}") from error


def lowered(pattern: Any, loop: Loop, begins: Sequence[Place], target: Any) -> UserKernelStep:
    """Return the step of an instruction whose spec has a kernel for CUDA."""
    spec, own = pattern.spec, pattern.spec.on_cuda
    if is_for_host(own.function):
        raise OperatorError(
            f"{own.label}: it, or a function that it calls, raises an exception or makes an array "
            f"of NumPy, which threads of a GPU cannot"
        )
    cores = cores_of(pattern, spec.signature, (0,) * len(pattern.layouts))
    copies, arrays, free = list[Launch](), list[tuple[Place, Shape, Shape]](), 0
    for k, (place, core, layout) in enumerate(zip(begins, cores, pattern.layouts, strict=True)):
        is_number, each = k in _numbers(spec), layout.dtype.itemsize
        shape, lies = (1 if is_number else loop.elements, *core.sizes), core.strides[0]
        along = each if is_number else _one_stride(loop.sizes, loop.strides[k])
        if along is None:
            sizes, read = (*loop.sizes, *core.sizes), (*loop.strides[k], *lies)
            source, place = Operand("x", place, layout.dtype, read), Place(-1, free)
            out = Operand("out", place, layout.dtype, contiguous_strides(sizes, each))
            copies.append(launch(COPY, sizes, [source, out], target))
            along, *lies = contiguous_strides(shape, each)
            free += -(-prod(shape) * each // _ALIGNMENT) * _ALIGNMENT
        arrays.append((place, shape, (along, *lies)))
    with _naming_operator(own):
        kernel = target.prepared(("own", own, spec.identity), lambda: _kernel(spec, own, cores))
    most = loop.elements if own.threads else max(prod(shape) for _, shape, _ in arrays)
    return UserKernelStep(
        own, LaunchSequence(free, (*copies, Launch.of(kernel, most, arrays, target)))
    )


def _numbers(spec: LoopSpec) -> range:
    """Return the positions of those inputs that are static parameters, passed as numbers."""
    nin = len(spec.in_dtypes)
    return range(nin - sum(item is None for item in spec.trailing), nin)


def _one_stride(sizes: Shape, strides: Shape) -> int | None:
    """Return the stride that walks over all axes of a loop as one axis; None if there is none."""
    inner = list(zip(sizes[1:], strides[1:], strict=True))
    if any(o != s * n for o, (n, s) in zip(strides, inner, strict=False)):
        return None
    return strides[-1] if strides else 0


def _kernel(spec: LoopSpec, own: CUDAKernel, cores: Sequence[Loop]) -> Kernel:
    names = [f"x{k}" for k in range(len(cores))]
    given = [f"{x}[0]" if k in _numbers(spec) else f"{x}[:]" for k, x in enumerate(names)]
    text = f"def kernel({', '.join(names)}):\n    own({', '.join(in_order(spec, given))})"
    dtypes = (*spec.in_dtypes, *spec.out_dtypes)
    nin = len(spec.in_dtypes)
    parameters = [
        Array(dtype, 1 + len(core.sizes), k >= nin)
        for k, (dtype, core) in enumerate(zip(dtypes, cores, strict=True))
    ]
    scope = {"own": Function(own.function, dtype=spec.in_dtypes[0])}
    return Kernel(spec.name, text, tuple(parameters), scope, own.threads)
