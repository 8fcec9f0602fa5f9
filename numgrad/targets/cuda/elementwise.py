"""Kernels around scalar functions: a thread for each element, in strides of the whole grid."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._specs import ElementwiseSpec, FusedSpec, LoopSpec, real_dtype
from .kernel import Function, Kernel, Parameter, Pointer, Word

_LARGEST = {False: np.uint32, True: np.int64}


class Walk(NamedTuple):
    """How a kernel goes over its elements.

    Attributes
    ----------
    axes : int
        Of the loop; 0 where all operands are contiguous and have one shape.
    is_wide : bool
        Whether the number of elements, or what an index becomes, needs more than 31 bits.
    """

    axes: int
    is_wide: bool


def elementwise(spec: ElementwiseSpec | FusedSpec | LoopSpec, walk: Walk) -> Kernel:
    """Return the kernel of scalar functions: one, or many joined in one loop."""
    nin = len(spec.in_dtypes)
    dtypes = (*spec.in_dtypes, *spec.out_dtypes)
    names = [f"x{k}" for k in range(nin)] + [f"out{k}" for k in range(len(spec.out_dtypes))]
    scope: dict[str, Any] = {"index_type": _LARGEST[walk.is_wide]}
    body = [_loaded(k, dtype, walk) for k, dtype in enumerate(spec.in_dtypes)]
    body += _steps(spec, scope)
    results = spec.outputs if isinstance(spec, FusedSpec) else _numbers(spec)
    for k, number in enumerate(results):
        body.append(f"out{k}[{place(f'out{k}', walk)}] = v{number}")
    parameters, listed = signature(names, dtypes, walk)
    return Kernel(spec.name, loop(listed, walk, body), parameters, scope)


def _loaded(k: int, dtype: np.dtype, walk: Walk) -> str:
    """Return the line that reads an operand; compilers know booleans in memory as bytes."""
    is_byte = " != 0" if dtype.kind == "b" else ""
    return f"v{k} = x{k}[{place(f'x{k}', walk)}]{is_byte}"


def _numbers(spec: Any) -> Sequence[int]:
    nin = len(spec.in_dtypes)
    return range(nin, nin + len(spec.out_dtypes))


def _steps(spec: Any, scope: dict[str, Any]) -> list[str]:
    """Return the lines that compute the values behind the inputs."""
    nin = len(spec.in_dtypes)
    steps = spec.steps if isinstance(spec, FusedSpec) else ((spec, tuple(range(nin))),)
    lines = []
    for number, (step, arguments) in enumerate(steps):
        scope[f"f{number}"] = function_of(step)
        given = ", ".join(f"v{a}" for a in arguments)
        values = [f"v{nin + number + k}" for k in range(len(step.out_dtypes))]
        lines.append(f"{', '.join(values)} = f{number}({given})")
        if isinstance(spec, FusedSpec):  # a step rounds to its dtype, as if it were stored
            scope[f"t{number}"] = step.out_dtypes[0].type
            lines.append(f"{values[0]} = t{number}({values[0]})")
    return lines


def function_of(spec: Any) -> Function:
    """Return the scalar function of a spec."""
    if isinstance(spec, LoopSpec):
        return Function(spec.function)
    is_complex = any(d.kind == "c" for d in spec.in_dtypes)
    return Function(spec.function, real_dtype(spec.in_dtypes, spec.out_dtypes), is_complex)


# Texts --------------------------------------------------------------------------------------------


def signature(
    names: Sequence[str], dtypes: Sequence[np.dtype], walk: Walk
) -> tuple[tuple[Parameter, ...], list[str]]:
    """Return the parameters of a kernel that walks over elements, and their names: the number of
    elements, the sizes of the axes, and each operand with its strides."""
    bits = 64 if walk.is_wide else 32
    parameters: list[Parameter] = [Word(bits)] * (1 + walk.axes)
    listed = ["n", *(f"n{axis}" for axis in range(walk.axes))]
    for name, dtype in zip(names, dtypes, strict=True):
        parameters += [Pointer(dtype), *[Word()] * walk.axes]
        listed += [name, *(f"{name}_{axis}" for axis in range(walk.axes))]
    return tuple(parameters), listed


def place(name: str, walk: Walk) -> str:
    """Return the text of the index of an operand's element."""
    if not walk.axes:
        return "i"
    return " + ".join(f"i{axis} * {name}_{axis}" for axis in range(walk.axes))


def loop(listed: Sequence[str], walk: Walk, body: Sequence[str]) -> str:
    """Return the text of a kernel whose threads go over elements, the last axis fastest."""
    return "\n".join([
        f"def kernel({', '.join(listed)}):",
        "    i = index_type(cuda.grid(1))",
        "    step = index_type(cuda.gridsize(1))",
        "    while i < n:",
        *("        " + line for line in (*indices(walk), *body)),
        "        i = index_type(i + step)",
    ])  # fmt: skip


def indices(walk: Walk) -> list[str]:
    """Return the lines that split the number of an element into its indices."""
    lines, rest = [], "i"
    for axis in range(walk.axes - 1, 0, -1):
        lines += [
            f"i{axis} = index_type({rest} % n{axis})",
            f"rest{axis} = index_type({rest} // n{axis})",
        ]
        rest = f"rest{axis}"
    if walk.axes:
        lines.append(f"i0 = {rest}")
    return lines
