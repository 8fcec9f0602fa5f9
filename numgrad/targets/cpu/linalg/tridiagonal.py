"""Eigenvalues and eigenvectors of Hermitian matrices: kernels that call LAPACK; see `lapack`.

A matrix is reduced to a real tridiagonal one by unitary reflections, which takes about as long as
the eigenvalues of the latter. So the reduction is kept: eigenvalues and eigenvectors are found from
one. The routines are those that LAPACK's ``syevd`` and ``heevd`` call. All is computed in double
precision, as NumPy does.

A reduction is what LAPACK writes, a matrix by columns with the tridiagonal matrix and the
reflections in the triangle that is read, and the factors of the reflections. These lie in the other
triangle, in the first row or column. A reduction whose first element is NaN is not used: the
matrix, which has NaN then, or was reduced by another target, is reduced again.
"""

import numpy as np
from numba.core import types
from numba.extending import register_jitable

from ..compile.intrinsics import call_function, load, load_word, store, store_word
from .fortran import by_address, call_fortran, copy_elements
from .precision import narrow, read_columns, write_row

U, L, N, FROM_IDENTITY = (ord(c) for c in "ULNI")
WORK_OF_A_ROW, MORE_WORK = 64, 65 * 64
"""The most elements that LAPACK's blocked routines ask for, for each row and beside."""

SMALLEST, LARGEST = 2.0**-485, 2.0**485
"""Between these sizes squares of elements, and rounding errors of the squares, are no extremes."""


# Elements -----------------------------------------------------------------------------------------


@register_jitable
def _with_zeros(target, source, count):
    """Copy contiguous real numbers to complex ones, in double precision."""
    for k in range(count):
        store(target + 16 * k, load(source + 8 * k, types.float64))
        store(target + 16 * k + 8, 0.0)


@register_jitable
def _multiply(x, count, factor):
    """Multiply contiguous real numbers by a factor in place."""
    for k in range(count):
        store(x + 8 * k, load(x + 8 * k, types.float64) * factor)


# The reduction ------------------------------------------------------------------------------------


@register_jitable
def _power(largest):
    """Return the power of 2 by which a matrix is multiplied so that it has no extreme elements.

    ``largest`` is the size of its largest element. The power is 0 for infinite elements, which
    become NaN so, as in LAPACK.
    """
    if largest == np.inf:
        return 0.0
    power = 1.0
    while largest * power > LARGEST:
        power *= 0.5
    while 0.0 < largest * power < SMALLEST:
        power *= 2.0
    return power


@register_jitable
def _power_for(source, row, column, n, form):
    """Return the power of 2 by which the matrix at ``source`` with given strides is multiplied.

    One triangle is read. The power is 1 for a matrix that has NaN, or a single element.
    """
    is_single, parts, lower = form
    if n < 2:
        return 1.0
    largest = 0.0
    for j in range(n):
        first, last = (j, n) if lower else (0, j + 1)
        for i in range(first, last):
            for part in range(parts):
                place = source + i * row + j * column
                if is_single:
                    size = np.float64(abs(load(place + 4 * part, types.float32)))
                else:
                    size = abs(load(place + 8 * part, types.float64))
                if size != size:
                    return 1.0
                largest = max(largest, size)
    return _power(largest)


@register_jitable
def _reduce(sytrd, form, n, power, source, row, column, reduced, memory):
    """Reduce the matrix at ``source`` with given strides, multiplied by a power of 2; ``memory`` is
    what `_parts_of_memory` returns."""
    is_single, parts, lower = form
    itemsize = 8 * parts
    read_columns(reduced, source, row, column, n, n, parts, is_single)
    if power != 1.0:
        _multiply(reduced, n * n * parts, power)
    d, e, tau, work = memory
    uplo, order, info = by_address(L if lower else U), by_address(n), by_address(0)
    lwork = by_address(WORK_OF_A_ROW * n)
    call_fortran(sytrd, (uplo, order, reduced, order, d, e, tau, work, lwork, info))
    step = _step_of_factors(n, itemsize, lower)
    for k in range((n - 1) * parts):
        target = reduced + (k // parts + 1) * step + 8 * (k % parts)
        store(target, load(tau + 8 * k, types.float64))


@register_jitable
def _step_of_factors(n, itemsize, lower):
    """Return the distance of the factors of reflections, which begin that far behind the start."""
    return n * itemsize if lower else itemsize


@register_jitable
def _load(reduced, n, itemsize, lower, memory):
    """Copy the diagonal of a reduction, the one beside it, both real, and the factors."""
    d, e, tau, _ = memory
    along = (n + 1) * itemsize
    copy_elements(d, reduced, along, n, 8)
    copy_elements(e, reduced + (itemsize if lower else n * itemsize), along, n - 1, 8)
    step = _step_of_factors(n, itemsize, lower)
    copy_elements(tau, reduced + step, step, n - 1, itemsize)


@register_jitable
def _is_missing(reduced):
    return np.isnan(load(reduced, types.float64))


@register_jitable
def _parts_of_memory(start, n, itemsize):
    """Return the addresses of two diagonals, of the factors of reflections, and of memory to work
    in, which lie behind one another."""
    return start, start + 8 * n, start + 16 * n, start + 16 * n + n * itemsize


@register_jitable
def _deliver(w, values, n, power, is_single):
    """Write the eigenvalues of a matrix that was multiplied by a power of 2, undoing that."""
    if power != 1.0:
        _multiply(values, n, 1.0 / power)
    if is_single:
        narrow(w, values, n)
    else:
        copy_elements(w, values, 8, n, 8)


# The functions ------------------------------------------------------------------------------------


def hermitian_reduced(
    sytrd, malloc, free, itemsize, is_complex, one, minus, lower, adjoint,
    ptrs, count, core_dims, steps, status,
):  # fmt: skip
    """Write the reduction of each matrix."""
    n, parts = load_word(core_dims, 0), 2 if is_complex else 1
    a, reduced = load_word(ptrs, 0), load_word(ptrs, 1)
    row, column = load_word(steps, 2), load_word(steps, 3)
    if n == 0 or count == 0:
        return
    start = call_function(malloc, (16 * n + (WORK_OF_A_ROW + 1) * n * 8 * parts,))
    if start == 0:
        store_word(status, 0, 1)
        return
    memory = _parts_of_memory(start, n, 8 * parts)
    form = itemsize == 4 * parts, parts, lower
    for _ in range(count):
        power = _power_for(a, row, column, n, form)
        _reduce(sytrd, form, n, power, a, row, column, reduced, memory)
        a += load_word(steps, 0)
        reduced += load_word(steps, 1)
    call_function(free, (start,))


def eigvalsh(
    sytrd, sterf, malloc, free, itemsize, is_complex, one, minus, lower, adjoint,
    ptrs, count, core_dims, steps, status,
):  # fmt: skip
    """Write the eigenvalues of each matrix, whose reduction is given."""
    n, parts = load_word(core_dims, 0), 2 if is_complex else 1
    a, kept, w = load_word(ptrs, 0), load_word(ptrs, 1), load_word(ptrs, 2)
    row, column = load_word(steps, 3), load_word(steps, 4)
    if n == 0 or count == 0:
        return
    square = n * n * 8 * parts
    own = call_function(malloc, (square + 16 * n + (WORK_OF_A_ROW + 1) * n * 8 * parts,))
    if own == 0:
        store_word(status, 0, 1)
        return
    memory = _parts_of_memory(own + square, n, 8 * parts)
    d, e, _, _ = memory
    is_single = itemsize == 4 * parts
    form, order, info = (is_single, parts, lower), by_address(n), by_address(0)
    for index in range(count):
        power = _power_for(a, row, column, n, form)
        if _is_missing(kept):
            _reduce(sytrd, form, n, power, a, row, column, own, memory)
        else:
            _load(kept, n, 8 * parts, lower, memory)
        call_fortran(sterf, (order, d, e, info))
        if load(info, types.int32) != 0:
            store_word(status, 0, index + 1)
            break
        _deliver(w, d, n, power, is_single)
        a += load_word(steps, 0)
        kept += load_word(steps, 1)
        w += load_word(steps, 2)
    call_function(free, (own,))


@register_jitable
def _memory_of_vectors(start, n, parts):
    """Return the addresses of memory for the eigenvectors of a matrix, which begins at ``start``:
    of a reduction, of complex eigenvectors of a tridiagonal matrix, what `_parts_of_memory`
    returns, and of integers to work in; and the size of all of it."""
    square = n * n * 8 * parts
    memory = _parts_of_memory(start + 3 * square, n, 8 * parts)
    wide = max(8 * _elements_to_work_in(n), 8 * parts * (WORK_OF_A_ROW * n + MORE_WORK))
    integers = memory[3] + wide
    size = integers + 4 * _integers_to_work_in(n) - start
    return start + square, start + 2 * square, memory, integers, size


@register_jitable
def _elements_to_work_in(n):
    return 1 + 4 * n + n * n


@register_jitable
def _integers_to_work_in(n):
    return 3 + 5 * n


@register_jitable
def _tridiagonal_vectors(stedc, found, n, memory, integers):
    """Write the eigenvectors of a tridiagonal matrix and replace its diagonal by the eigenvalues;
    return what LAPACK says of it."""
    d, e, _, work = memory
    order, info, vectors = by_address(n), by_address(0), by_address(FROM_IDENTITY)
    lwork, liwork = by_address(_elements_to_work_in(n)), by_address(_integers_to_work_in(n))
    call_fortran(
        stedc, (vectors, order, d, e, found, order, work, lwork, integers, liwork, info)
    )
    return load(info, types.int32)


@register_jitable
def _reflected(ormtr, reduced, z, n, lower, memory):
    """Apply the reflections of a reduction to eigenvectors in place."""
    _, _, tau, work = memory
    order, info, side = by_address(n), by_address(0), by_address(L)
    uplo, plain = by_address(L if lower else U), by_address(N)
    lwork = by_address(WORK_OF_A_ROW * n + MORE_WORK)
    call_fortran(
        ormtr,
        (side, uplo, plain, order, order, reduced, order, tau, z, order, work, lwork, info),
    )


def hermitian_vectors(
    sytrd, stedc, ormtr, malloc, free, itemsize, is_complex, one, minus, lower, adjoint,
    ptrs, count, core_dims, steps, status,
):  # fmt: skip
    """Write the eigenvalues and the eigenvectors of each matrix, whose reduction is given.

    The eigenvectors of a tridiagonal matrix are real, also those of a complex matrix before its
    reflections.
    """
    n, parts = load_word(core_dims, 0), 2 if is_complex else 1
    a, kept, w, v = (
        load_word(ptrs, 0),
        load_word(ptrs, 1),
        load_word(ptrs, 2),
        load_word(ptrs, 3),
    )
    row, column = load_word(steps, 4), load_word(steps, 5)
    if n == 0 or count == 0:
        return
    z = call_function(malloc, (_memory_of_vectors(0, n, parts)[4],))
    if z == 0:
        store_word(status, 0, 1)
        return
    own, x, memory, integers, _ = _memory_of_vectors(z, n, parts)
    is_single = itemsize == 4 * parts
    form = is_single, parts, lower
    for index in range(count):
        power, reduced = _power_for(a, row, column, n, form), kept
        if _is_missing(kept):
            reduced = own
            _reduce(sytrd, form, n, power, a, row, column, own, memory)
        _load(reduced, n, 8 * parts, lower, memory)
        if _tridiagonal_vectors(stedc, x if is_complex else z, n, memory, integers) != 0:
            store_word(status, 0, index + 1)
            break
        if is_complex:
            _with_zeros(z, x, n * n)
        _reflected(ormtr, reduced, z, n, lower, memory)
        _deliver(w, memory[0], n, power, is_single)
        for i in range(n):
            target, source = v + i * n * itemsize, z + i * 8 * parts
            write_row(target, source, n * 8 * parts, n, parts, is_single, memory[3])
        a += load_word(steps, 0)
        kept += load_word(steps, 1)
        w += load_word(steps, 2)
        v += load_word(steps, 3)
    call_function(free, (z,))
