"""Steps of a program that run on the host: operands are copied there, and results back.

The host runs LAPACK, functions of NumPy and SciPy, and functions that make arrays or raise
exceptions. A thread of a GPU can do neither: nobody would receive the exception. The stream of the
program waits meanwhile.
"""

import dis
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from ...._declare.elementwise import Elementwise
from ...._declare.foreign import ForeignFunction
from ...._declare.source import plain_of
from ....ir.kernel_spec import ElementwiseSpec, HostSpec, LibrarySpec, LoopSpec
from ....ir.pairwise import REPLACED
from ....ir.program import Instruction
from .steps import HostCall, Loop, Place, cores_of

_MAKING = frozenset({"arange", "array", "empty", "empty_like", "full", "ones", "zeros"})


def needs_host(spec: Any) -> bool:
    """Whether a kernel spec can only be run on the host."""
    if isinstance(spec, HostSpec | LibrarySpec) or getattr(spec, "checked", False):
        return True
    return isinstance(spec, ElementwiseSpec | LoopSpec) and is_for_host(spec.function)


def require_sound(spec: LoopSpec) -> None:
    """Raise an error if a core function writes to an input or leaves an output unwritten.

    The check is that of the CPU's compiler, which compiles the function for this reason.
    """
    from ...cpu.kernels.kernel import kernel

    kernel(spec)


def host_call(instruction: Instruction, loop: Loop, begins: Sequence[Place]) -> HostCall:
    """Return the step that runs an instruction on the host, with the kernel of the CPU.

    ``begins`` are the places of the operands.
    """
    from ...cpu.kernels.kernel import kernel  # the module imports compilers

    pattern = instruction.pattern
    found = kernel(pattern.spec)
    scalars = f"{','.join(['()'] * found.nin)}->{','.join(['()'] * found.nout)}"
    signature = getattr(found.spec, "signature", scalars)
    cores = cores_of(pattern, signature, (0,) * len(pattern.layouts))
    arrays = [
        (place, (*loop.sizes, *core.sizes), (*strides, *core.strides[0]))
        for place, strides, core in zip(begins, loop.strides, cores, strict=True)
    ]
    return HostCall(instruction, found.call, tuple(arrays), len(loop.sizes), prod(pattern.loop))


@lru_cache(1024)
def is_for_host(function: Callable[..., Any]) -> bool:
    """Whether a function, or any function that is called by it, can only run on the host.

    Such a function makes an array, raises an exception, or belongs to another library.
    """
    return any(
        isinstance(one, ForeignFunction) or _makes_array_or_raises(one)
        for one in _callees(function, set())
    )


def _makes_array_or_raises(function: Any) -> bool:
    names = [(i.opname, i.argval) for i in dis.get_instructions(function)]
    if "RAISE_VARARGS" in [opname for opname, _ in names]:
        return True
    for (_, owner), (opname, name) in pairwise(names):
        is_attribute = opname in ("LOAD_ATTR", "LOAD_METHOD")
        if is_attribute and name in _MAKING and function.__globals__.get(owner) is np:
            return True
    return False


def _callees(function: Any, seen: set[int]) -> Iterator[Any]:
    """Yield a function and all that it may call, found by global names and in closures.

    What is yielded is a plain function or a `ForeignFunction`. Functions that have a replacement in
    kernels are left out, with their callees; ``seen`` holds the ids of functions met before.
    """
    if isinstance(function, ForeignFunction):
        yield function
    if isinstance(function, Elementwise):
        yield from _callees(function.complex_function, seen)
    function = plain_of(function.function if isinstance(function, Elementwise) else function)
    if function is None or function in REPLACED or id(function) in seen:
        return
    seen.add(id(function))
    yield function
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    for callee in (*named, *(cell.cell_contents for cell in function.__closure__ or ())):
        yield from _callees(callee, seen)
