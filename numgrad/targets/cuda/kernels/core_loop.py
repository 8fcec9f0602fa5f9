"""Kernels around core functions: each thread calls the function on views for one loop element."""

from collections.abc import Sequence

from ....ir.kernel_spec import Constant, LoopSpec, core_dimensions, parameter_order
from ..compile.kernel import Array, Function, Kernel, Word
from .elementwise import ElementWalk, index_type, loop, signature


def ndims(spec: LoopSpec) -> list[int]:
    """Return for each operand the number of axes of the array that the core function gets.

    The number is 0 for a scalar input that is passed by value. Other scalars, outputs among them,
    are arrays of one element.
    """
    nin = len(spec.in_dtypes)
    return [
        0 if not core and k < nin and spec.scalars else max(len(core), 1)
        for k, core in enumerate(core_dimensions(spec.signature))
    ]


def of_core(spec: LoopSpec, walk: ElementWalk) -> Kernel:
    """Return the kernel around a function with core dimensions, called for each loop element."""
    dtypes = (*spec.in_dtypes, *spec.out_dtypes)
    arguments = in_order(spec, [_element(f"x{k}", walk.axes) for k in range(len(dtypes))])
    parameters, listed = signature((), (), walk)
    for k, (dtype, ndim) in enumerate(zip(dtypes, ndims(spec), strict=True)):
        parameters += (Array(dtype, walk.axes + ndim, k >= len(spec.in_dtypes)),)
        listed.append(f"x{k}")
    body = [f"core({', '.join(arguments)})"]
    scope = {"core": _core(spec), "index_type": index_type(walk)}
    return Kernel(spec.name, loop(listed, walk, body), parameters, scope)


def in_order(spec: LoopSpec, operands: Sequence[str]) -> list[str]:
    """Return the texts of the arguments in a call of a core function, constants included.

    ``operands`` has the texts of inputs and outputs, in the order of the spec.
    """
    order = parameter_order(len(spec.in_dtypes), len(operands), spec.trailing)
    return [repr(i.value) if isinstance(i, Constant) else operands[i] for i in order]


def _core(spec: LoopSpec) -> Function:
    return Function(spec.function, dtype=spec.in_dtypes[0])


def _element(name: str, axes: int) -> str:
    return f"{name}[{', '.join(f'i{axis}' for axis in range(axes))}]"


def of_blocks(spec: LoopSpec) -> Kernel:
    """Return the kernel around a function that reduces a block of rows of its input.

    A thread calls the function for one block: ``spec.block`` elements of the first axis.
    """
    source, parts = ndims(spec)
    text = "\n".join([
        "def kernel(n, count, x0, x1):",
        "    i = cuda.grid(1)",
        "    while i < n:",
        "        stop = min((i + 1) * block, count)",
        f"        core(x0[i * block : stop], {'x1[i : i + 1]' if source == 1 else 'x1[i]'})",
        "        i += cuda.gridsize(1)",
    ])  # fmt: skip
    out = parts if source == 1 else parts + 1
    parts_of = Array(spec.out_dtypes[0], out, is_written=True)
    parameters = (Word(), Word(), Array(spec.in_dtypes[0], source), parts_of)
    scope = {"core": _core(spec), "block": spec.block}
    return Kernel(spec.name, text, parameters, scope)

