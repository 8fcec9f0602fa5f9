"""Call a kernel's function once more, on the calling thread, so that it raises its exception.

The kernel itself reports no more than the element of its loop at which the function raised.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numba
import numpy as np

from numgrad.ir.kernel_spec import (
    Constant,
    ElementwiseSpec,
    HostSpec,
    LoopSpec,
    core_dimensions,
    parameter_order,
    real_dtype,
)

from ...binding import bind
from ..callees import numba_passes, private_copies
from ..codegen import unwritten_marks
from ..compile.cache_keys import user_options
from ..math import scalar_math
from ..platform.numba_setup import compiler_lock
from .kernel import kernel

Again = Callable[[Sequence[np.ndarray]], dict[int, list[tuple[int, ...]]]]
"""Takes the core array of each input for one element of a kernel's loop, and calls the function of
the kernel, which may raise. Returns for each output the indices of elements that the function did
not write, if there are any; an empty dict unless the spec is ``checked``."""


def rerun(spec: Any) -> Again:
    """Return a function that calls the function of a kernel again, for one element of its loop.

    Parameters
    ----------
    spec : ElementwiseSpec, LoopSpec or HostSpec
    """
    if isinstance(spec, HostSpec):
        host: Any = kernel(spec)
        return lambda inputs: host.again(inputs) or {}
    if isinstance(spec, ElementwiseSpec):
        return _rerun_scalar(spec)
    return lambda inputs: _rerun_loop(spec, inputs)


def _rerun_scalar(spec: ElementwiseSpec) -> Again:
    complex_ = any(dtype.kind == "c" for dtype in spec.in_dtypes)
    single = real_dtype(spec.in_dtypes, spec.out_dtypes) == np.float32
    pipeline = numba_passes.SinglePipeline if single else numba_passes.ScalarPipeline
    bound = bind(spec.function, scalar_math.names, is_complex=complex_)
    function = _dispatcher(bound, pipeline, ())

    def again(inputs: Sequence[np.ndarray]) -> dict[int, list[tuple[int, ...]]]:
        function(*(x[()] for x in inputs))
        return {}

    return again


def _rerun_loop(spec: LoopSpec, inputs: Sequence[np.ndarray]) -> dict[int, list[tuple[int, ...]]]:
    cores = core_dimensions(spec.signature)
    sizes = {
        name: size
        for x, core in zip(inputs, cores, strict=False)
        for name, size in zip(core, x.shape, strict=True)
    }
    outputs = []
    if any(cores):
        outputs = [
            unwritten_marks.marked(tuple(sizes[name] for name in core) or (1,), dtype)
            for core, dtype in zip(cores[len(inputs) :], spec.out_dtypes, strict=True)
        ]
    operands = [
        x[()] if not core and spec.scalars else np.array(x, order="C", ndmin=1)
        for x, core in zip(inputs, cores, strict=False)
    ] + outputs
    order = parameter_order(len(inputs), len(operands), spec.trailing)
    function = getattr(spec.function, "py_func", spec.function)
    called = _dispatcher(function, numba_passes.CorePipeline, _options(spec))
    pipeline = private_copies.executable(numba_passes.CorePipeline)
    caller = private_copies.Caller.declared(pipeline, called.targetoptions)
    arguments = [
        private_copies.copied(k.value, caller) if isinstance(k, Constant) else operands[k]
        for k in order
    ]
    with compiler_lock, private_copies.methods(caller):
        called(*arguments)
    if not spec.checked:
        return {}
    found = {k: unwritten_marks.where(output) for k, output in enumerate(outputs)}
    return {k: indices for k, indices in found.items() if indices}


def _options(spec: LoopSpec) -> tuple[tuple[str, Any], ...]:
    """Return the options of a kernel as a hashable value."""
    options = sorted(user_options(spec).items(), key=lambda item: item[0])
    return tuple((name, _frozen(value)) for name, value in options)


def _frozen(value: Any) -> Any:
    value = tuple(value.items()) if isinstance(value, dict) else value
    return frozenset(value) if isinstance(value, set) else value


@lru_cache(maxsize=64)
def _dispatcher(function: Callable, pipeline: Any, options: tuple[tuple[str, Any], ...]) -> Any:
    thawed = {tuple: dict, frozenset: set}
    given = {name: thawed.get(type(value), lambda x: x)(value) for name, value in options}
    decorate: Any = numba.jit
    pipeline = private_copies.executable(pipeline)
    given = {**private_copies.JIT_OPTIONS, "no_cpython_wrapper": False, **given}
    return decorate(function, pipeline_class=pipeline, **given)
