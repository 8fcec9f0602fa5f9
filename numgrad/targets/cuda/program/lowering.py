"""Lower the instructions of a program to steps: launches of kernels, or calls on the host."""

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

from ...._declare import registry
from ....ir.kernel_spec import LibrarySpec, LoopSpec, ProductSpec, core_dimensions
from ....ir.program import Instruction, Program, Shape, contiguous_strides
from ..compile.kernel import in_elements
from ..kernels import core_loop, elementwise, gathering, user_kernel
from ..kernels.elementwise import ROWS, ElementWalk, known_strides
from ..launch.device_call import DeviceCall, device_call
from ..launch.host_steps import host_call, needs_host, require_sound
from ..launch.library_calls import LibraryCalls
from ..launch.steps import HostCall, Launch, LaunchSequence, Loop, Place, cores_of, loop_of
from . import (  # fmt: skip
    factorization_launch,
    fourier_launch,
    library_decomposition,
    loop_launch,
    reduction_launch,
    scanning_launch,
    searching_launch,
    sorting_launch,
)
from .fourier_launch import LibraryTransform
from .product_launch import LibraryProduct, of_product
from .reduction_launch import role_of

Step = (
    Launch
    | DeviceCall
    | HostCall
    | LaunchSequence
    | LibraryProduct
    | LibraryCalls
    | LibraryTransform
    | user_kernel.UserKernelStep
)
_WIDE = 1 << 31


def lowered(
    instruction: Instruction, program: Program, places: Sequence[Place], target: Any
) -> Step:
    """Return the step that runs an instruction.

    ``places`` are the places of the program's buffers by number, followed by the place of the
    program's flag.
    """
    pattern = instruction.pattern
    spec = pattern.spec
    begins = [
        Place(places[b].slot, places[b].offset + offset)
        for b, offset in zip(instruction.buffers, instruction.offsets, strict=True)
    ]
    loop = loop_of(instruction, program)
    if getattr(spec, "each", None) is not None:
        pattern, loop = scanning_launch.by_columns(pattern, loop)
        spec = pattern.spec
    role = role_of(spec.function) if isinstance(spec, LoopSpec) else None
    if role is not None:
        return reduction_launch.lowered(pattern, role, loop, begins, target)
    if pattern.block:
        return _of_blocks(pattern, begins, target)
    if _is_product(spec):
        is_outer = isinstance(spec, ProductSpec) and pattern.core[1] == 1
        return (_of_outer if is_outer else of_product)(pattern, loop, begins, target)
    if gathering.is_of_positions(spec):
        step = gathering.lowered(pattern, loop, begins, places[-1], target)
        host = partial(host_call, instruction, loop, begins)
        return step._replace(host=host) if spec.name in gathering.CHECKED else step
    if getattr(spec, "on_cuda", None) is not None:
        return user_kernel.lowered(pattern, loop, begins, target)
    if isinstance(spec, LibrarySpec):
        host = partial(host_call, instruction, loop, begins)
        return _of_library(pattern, loop, begins, places[-1], host, target)
    if searching_launch.searches(pattern):
        return searching_launch.lowered(pattern, loop, begins, target)
    if sorting_launch.sorts(spec):
        return sorting_launch.sorted_by_merging(pattern, loop, begins, target)
    if sorting_launch.moves(spec):
        return sorting_launch.moved(pattern, loop, begins, target)
    if getattr(spec, "on_device", None) is not None:
        inside = loop_launch.lowered(pattern, loop, begins, target)
        return inside or device_call(instruction, loop, begins, target)
    if needs_host(spec):
        host = partial(host_call, instruction, loop, begins)
        return _of_host(pattern, loop, begins, places[-1], host, target)
    if isinstance(spec, LoopSpec) and any(core_dimensions(spec.signature)):
        if spec.may_raise:  # true of each function of a user
            require_sound(spec)
        scan = scanning_launch.lowered(pattern, loop, begins, target)
        return scan or _of_core(pattern, loop, begins, target)
    return of_elements(spec, loop, begins, target)


def _of_library(
    pattern: Any, loop: Loop, begins: list[Place], flag: Place, host: Any, target: Any
) -> Step:
    """Return the step of a decomposition or factorization; ``host`` makes one on the host."""
    is_decomposing = pattern.spec.name in library_decomposition.DECOMPOSING
    lowering = library_decomposition if is_decomposing else factorization_launch
    step = lowering.lowered(pattern, loop, begins, flag, host, target)
    return host() if step is None else step


def _of_host(
    pattern: Any, loop: Loop, begins: list[Place], flag: Place, host: Any, target: Any
) -> Step:
    """Return the step of a function of Python that a library of the GPU may compute; ``host`` makes
    one on the host."""
    return (
        fourier_launch.lowered(pattern, loop, begins, target)
        or library_decomposition.lowered(pattern, loop, begins, flag, host, target)
        or host()
    )


def _is_product(spec: Any) -> bool:
    """Whether a kernel spec is that of a product of matrices, of whatever dtype."""
    if isinstance(spec, LoopSpec):
        matmul: Any = registry["matmul"]
        return spec.function is matmul.function
    return isinstance(spec, ProductSpec | LibrarySpec) and spec.name == "matmul"


def of_elements(spec: Any, loop: Loop, begins: Sequence[Place], target: Any) -> Launch:
    """Return the launch of scalar functions over all elements of a loop."""
    dtypes = (*spec.in_dtypes, *spec.out_dtypes)
    pairs = list(zip(loop.strides, [dtype.itemsize for dtype in dtypes], strict=True))
    is_wide = loop.elements >= _WIDE
    turns = loop.turns or ((0,) * len(loop.sizes),) * len(dtypes)
    if not loop.turns and all(strides in ((), (size,)) for strides, size in pairs):
        walk, sizes, rest = ElementWalk(0, is_wide), (), ()
        strides: list[Any] = [()] * len(dtypes)
    else:
        strides = [in_elements(*pair) for pair in pairs]
        walk, sizes = _walk_of(loop, strides, is_wide, target.runtime.driver)
        rest = () if walk.rows is None else (loop.sizes[walk.rows],)
    elements = prod(sizes) if sizes else loop.elements
    arguments: list[Any] = [elements, *sizes]
    for number, place in enumerate(begins):
        known = walk.along(number)
        given = [s for s, one in zip(strides[number], known, strict=True) if one is None]
        arguments += [place, *given, *[turn for turn in turns[number] if turn]]
    kernel = target.prepared(
        ("elementwise", spec.identity, walk), lambda: elementwise.elementwise(spec, walk)
    )
    return Launch.of(kernel, elements, (*arguments, *rest), target)


def _walk_of(
    loop: Loop, strides: Sequence[Sequence[int]], is_wide: bool, driver: Any
) -> tuple[ElementWalk, Shape]:
    """Return how threads walk over a loop, and the sizes of the loop that the kernel is given.

    ``strides`` has those of each operand in elements.
    """
    known = tuple([known_strides(one) for one in strides])
    last = [sum((n - 1) * s for n, s in zip(loop.sizes, one, strict=True)) for one in strides]
    is_narrow = not is_wide and max(last) < _WIDE and min(map(min, strides)) >= 0
    axis = _axis_of_rows(loop, known, driver)
    sizes = list(loop.sizes)
    if axis is not None:
        sizes[axis] = -(-sizes[axis] // ROWS)
    rings = tuple([tuple(map(bool, turns)) for turns in loop.turns])
    return ElementWalk(len(sizes), is_wide, known, is_narrow, axis, rings), tuple(sizes)


def _axis_of_rows(
    loop: Loop, known: Sequence[Sequence[int | None]], driver: Any
) -> int | None:
    """Return the axis along which a thread takes several elements, or None for one at a time.

    The most operands do not change along this axis. There is none unless threads that the device
    runs at once have so many elements each, and neighbouring threads still read neighbours.
    """
    is_small = loop.elements < ROWS * driver.RESIDENT or loop.sizes[-1] < driver.NEIGHBOURS
    axes = [
        axis
        for axis, size in enumerate(loop.sizes[:-1])
        if size >= ROWS and not any(turns[axis] for turns in loop.turns)
    ]
    if is_small or not axes:
        return None
    return max(axes, key=lambda axis: (sum(one[axis] == 0 for one in known), axis))


def _of_outer(pattern: Any, loop: Loop, begins: Sequence[Place], target: Any) -> Launch:
    """Return the launch of products of one term, which are multiplications: -0.0 stays so."""
    multiply: Any = registry["multiply"]
    (m, _, n), (row, _, _, column, *out) = pattern.core, pattern.core_strides
    a, b, c = loop.strides
    walk = Loop((*loop.sizes, m, n), ((*a, row, 0), (*b, 0, column), (*c, *out)))
    return of_elements(multiply.spec(pattern.layouts[0].dtype), walk, begins, target)


def _at_least_one(loop: Loop) -> Loop:
    if loop.sizes:
        return loop
    return Loop((1,), tuple([(0,)] * len(loop.strides)))


def _of_core(pattern: Any, loop: Loop, begins: Sequence[Place], target: Any) -> Launch:
    loop = _at_least_one(loop)
    spec = pattern.spec
    walk = ElementWalk(len(loop.sizes), loop.elements >= _WIDE)
    arguments: list[Any] = [loop.elements, *loop.sizes]
    cores = cores_of(pattern, spec.signature, core_loop.ndims(spec))
    for place, strides, core in zip(begins, loop.strides, cores, strict=True):
        arguments.append((place, (*loop.sizes, *core.sizes), (*strides, *core.strides[0])))
    kernel = target.prepared(("core", spec.identity, walk), lambda: core_loop.of_core(spec, walk))
    return Launch.of(kernel, loop.elements, arguments, target)


def _of_blocks(pattern: Any, begins: Sequence[Place], target: Any) -> Launch:
    spec = pattern.spec
    count, blocks = pattern.core[0], -(-pattern.core[0] // pattern.block)
    dtype = pattern.layouts[0].dtype  # the input is in C order, whatever its shape
    arrays = [
        (place, layout.shape, layout.strides)
        for place, layout in zip(begins, pattern.layouts, strict=True)
    ]
    arrays[0] = (begins[0], pattern.core, contiguous_strides(pattern.core, dtype.itemsize))
    kernel = target.prepared(("blocks", spec.identity), lambda: core_loop.of_blocks(spec))
    return Launch.of(kernel, blocks, (blocks, count, *arrays), target)
