"""Factorizations of small matrices, and their systems, as steps of a program.

Larger matrices are left to the host; see `numgrad.targets.cuda.launch.host_steps`.
"""

from collections.abc import Callable
from typing import Any

from ....ir.kernel_spec import LibrarySpec
from ..compile.kernel import in_elements
from ..kernels import small_matrices
from ..kernels.element_walk import WIDE
from ..kernels.elementwise import ElementWalk
from ..kernels.small_matrices import Form
from ..launch.steps import HostCall, Launch, LaunchSequence, Loop, Place

_BY_COLUMNS = {"lu_factor": "out", "lu_solve": "a"}
"""For the name of a kernel the operand that holds the factors of an elimination, which LAPACK
stores by columns on the host."""


def factorizes(pattern: Any) -> bool:
    """Whether an instruction is about matrices that are small enough for a kernel of the device."""
    spec = pattern.spec
    is_of_matrices = isinstance(spec, LibrarySpec) and spec.name != "matmul"
    return is_of_matrices and 0 < pattern.core[0] <= small_matrices.MOST and 0 not in pattern.core


def lowered(
    pattern: Any, loop: Loop, begins: list[Place], flag: Place, host: Callable[[], HostCall],
    target: Any,
) -> LaunchSequence:  # fmt: skip
    """Return the step of an instruction that factorizes matrices or solves systems.

    The kernel sets ``flag`` where LAPACK might fail; ``host`` returns the step that finds out.
    """
    spec, threads = pattern.spec, target.runtime.driver.REDUCING
    form = Form(spec.name, spec.dtype, spec.lower, spec.adjoint)
    walk = ElementWalk(len(loop.sizes), loop.elements >= WIDE)
    arguments: list[Any] = [loop.elements, *loop.sizes]
    along: list[int] = []
    left = list(pattern.core_strides)
    for k, (name, ndim, dtype) in enumerate(form.operands):
        arguments += [begins[k], *in_elements(loop.strides[k], dtype.itemsize)]
        own, left = left[:ndim], left[ndim:]
        is_turned = name == _BY_COLUMNS.get(spec.name)
        along += in_elements(own[::-1] if is_turned else own, dtype.itemsize)
    kernel = target.prepared(
        ("small matrices", form, walk), lambda: small_matrices.small_matrices(form, walk, threads)
    )
    size, *columns = pattern.core
    words, blocks = _shares(form, size, columns[0] if columns else size, loop.elements, threads)
    flags = (flag,) if form.may_fail else ()
    launch = Launch.of(kernel, blocks, (*arguments, *along, *words, *flags), target)
    return LaunchSequence(0, (launch,), host if form.may_fail else None)


def _shares(
    form: Form, size: int, columns: int, matrices: int, threads: int
) -> tuple[tuple[int, ...], int]:
    """Return the numbers `small_matrices.WORDS`, and the number of blocks of threads."""
    chunks = -(-columns // size) if form.solves else 1
    apart, lanes = size | 1, min(size, threads)
    group = min(threads // lanes, small_matrices.room(form.dtype) // (size * apart))
    return (size, columns, chunks, apart, lanes, group), -(-matrices * chunks // group)
