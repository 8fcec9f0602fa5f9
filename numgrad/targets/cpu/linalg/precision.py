"""Numbers in single precision are made double ones, and back, for routines that compute in double.

NumPy computes eigenvalues and factorizations so, and gives the result in the dtype of the matrix.
"""

import numpy as np
from numba.core import types
from numba.extending import register_jitable

from ..compile.intrinsics import load, store
from .fortran import copy_elements


@register_jitable
def widen(target, source, step, count, parts):
    """Copy numbers in single precision, ``step`` bytes apart, to contiguous double ones.

    A number has ``parts`` real numbers, a complex one two.
    """
    for k in range(count):
        for part in range(parts):
            one = load(source + k * step + 4 * part, types.float32)
            store(target + 8 * (k * parts + part), np.float64(one))


@register_jitable
def narrow(target, source, count):
    """Copy contiguous real numbers in double precision to single ones."""
    for k in range(count):
        store(target + 4 * k, np.float32(load(source + 8 * k, types.float64)))


@register_jitable
def read_columns(target, source, row, column, m, n, parts, is_single):
    """Copy a matrix with given strides, by columns, in double precision."""
    for j in range(n):
        if is_single:
            widen(target + j * m * 8 * parts, source + j * column, row, m, parts)
        else:
            copy_elements(target + j * m * 8 * parts, source + j * column, row, m, 8 * parts)


@register_jitable
def write_row(target, source, step, count, parts, is_single, memory):
    """Copy numbers in double precision, ``step`` bytes apart, to contiguous ones of the result.

    ``memory`` has room for them in double precision.
    """
    if is_single:
        copy_elements(memory, source, step, count, 8 * parts)
        narrow(target, memory, count * parts)
    else:
        copy_elements(target, source, step, count, 8 * parts)
