"""Factorizations and their systems as steps of a program: which of them are the device's.

Small matrices have a kernel, large ones may have a library. The others are left to the host; see
`numgrad.targets.cuda.launch.host_steps`.
"""

from collections.abc import Callable
from typing import Any

from ..compile.kernel import in_elements
from ..kernels import small_matrices
from ..kernels.element_walk import WIDE
from ..kernels.elementwise import ElementWalk
from ..kernels.small_matrices import Form
from ..launch.library_calls import LibraryCalls
from ..launch.steps import HostCall, Launch, LaunchSequence, Loop, Place
from . import library_factorization

_BY_COLUMNS = {"lu_factor": "out", "lu_solve": "a"}
"""For the name of a kernel the operand that holds the factors of an elimination, which LAPACK
stores by columns on the host."""


def lowered(
    pattern: Any, loop: Loop, begins: list[Place], flag: Place, host: Callable[[], HostCall],
    target: Any,
) -> LaunchSequence | LibraryCalls | None:  # fmt: skip
    """Return the step of an instruction that factorizes matrices or solves systems.

    The result is None if the step is left to the host: matrices that have too many rows for a
    kernel, if there is no library, or so many of them that the library, which takes them one after
    the other, would leave the device idle. The step sets ``flag`` where LAPACK might fail; ``host``
    returns the step that finds out.
    """
    spec, driver = pattern.spec, target.runtime.driver
    form = Form(spec.name, spec.dtype, spec.lower, spec.adjoint)
    check = host if form.may_fail else None
    if 0 in pattern.core:
        return None
    if pattern.core[0] <= small_matrices.MOST:
        return LaunchSequence(0, (_of_small(form, pattern, loop, begins, flag, target),), check)
    if driver.solver is None or not 0 < loop.elements <= driver.PROCESSORS:
        return None
    return library_factorization.lowered(form, pattern, loop, begins, flag, check, target)


def _of_small(
    form: Form, pattern: Any, loop: Loop, begins: list[Place], flag: Place, target: Any
) -> Launch:
    """Return the launch of the kernel for small matrices."""
    threads = target.runtime.driver.REDUCING
    walk = ElementWalk(len(loop.sizes), loop.elements >= WIDE)
    arguments: list[Any] = [loop.elements, *loop.sizes]
    along: list[int] = []
    left = list(pattern.core_strides)
    for k, (name, ndim, dtype) in enumerate(form.operands):
        arguments += [begins[k], *in_elements(loop.strides[k], dtype.itemsize)]
        own, left = left[:ndim], left[ndim:]
        is_turned = name == _BY_COLUMNS.get(form.name)
        along += in_elements(own[::-1] if is_turned else own, dtype.itemsize)
    kernel = target.prepared(
        ("small matrices", form, walk), lambda: small_matrices.small_matrices(form, walk, threads)
    )
    size, *columns = pattern.core
    words, blocks = _shares(form, size, columns[0] if columns else size, loop.elements, threads)
    flags = (flag,) if form.may_fail else ()
    return Launch.of(kernel, blocks, (*arguments, *along, *words, *flags), target)


def _shares(
    form: Form, size: int, columns: int, matrices: int, threads: int
) -> tuple[tuple[int, ...], int]:
    """Return the numbers `small_matrices.WORDS`, and the number of blocks of threads."""
    chunks = -(-columns // size) if form.solves else 1
    apart, lanes = size | 1, min(size, threads)
    group = min(threads // lanes, small_matrices.room(form.dtype) // (size * apart))
    return (size, columns, chunks, apart, lanes, group), -(-matrices * chunks // group)
