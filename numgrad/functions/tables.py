"""Which numgrad function answers which NumPy function."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._tensor import Tensor
from . import (
    agreement,
    creation,
    cumulative,
    dtypes,
    elementwise,
    indexing,
    linalg,
    ranges,
    reduction,
    searching,
    shape,
    sorting,
    special,
    text,
)

UFUNCS: dict[Any, Callable[..., Any]] = {
    np.absolute: elementwise.abs,
    np.add: elementwise.add,
    np.arccos: elementwise.acos,
    np.arccosh: elementwise.acosh,
    np.arcsin: elementwise.asin,
    np.arcsinh: elementwise.asinh,
    np.arctan: elementwise.atan,
    np.arctan2: elementwise.atan2,
    np.arctanh: elementwise.atanh,
    np.bitwise_and: elementwise.bitwise_and,
    np.bitwise_or: elementwise.bitwise_or,
    np.bitwise_xor: elementwise.bitwise_xor,
    np.cbrt: elementwise.cbrt,
    np.ceil: elementwise.ceil,
    np.conjugate: elementwise.conj,
    np.copysign: elementwise.copysign,
    np.cos: elementwise.cos,
    np.cosh: elementwise.cosh,
    np.deg2rad: elementwise.deg2rad,
    np.degrees: elementwise.degrees,
    np.divide: elementwise.divide,
    np.equal: elementwise.equal,
    np.exp: elementwise.exp,
    np.exp2: elementwise.exp2,
    np.expm1: elementwise.expm1,
    np.fabs: elementwise.fabs,
    np.floor: elementwise.floor,
    np.floor_divide: elementwise.floor_divide,
    np.fmax: elementwise.fmax,
    np.fmin: elementwise.fmin,
    np.fmod: elementwise.fmod,
    np.greater: elementwise.greater,
    np.greater_equal: elementwise.greater_equal,
    np.hypot: elementwise.hypot,
    np.invert: elementwise.bitwise_invert,
    np.isfinite: elementwise.isfinite,
    np.isinf: elementwise.isinf,
    np.isnan: elementwise.isnan,
    np.left_shift: elementwise.bitwise_left_shift,
    np.less: elementwise.less,
    np.less_equal: elementwise.less_equal,
    np.log: elementwise.log,
    np.log10: elementwise.log10,
    np.log1p: elementwise.log1p,
    np.log2: elementwise.log2,
    np.logaddexp: elementwise.logaddexp,
    np.logaddexp2: elementwise.logaddexp2,
    np.logical_and: elementwise.logical_and,
    np.logical_not: elementwise.logical_not,
    np.logical_or: elementwise.logical_or,
    np.logical_xor: elementwise.logical_xor,
    np.matmul: linalg.matmul,
    np.maximum: elementwise.maximum,
    np.minimum: elementwise.minimum,
    np.multiply: elementwise.multiply,
    np.negative: elementwise.negative,
    np.not_equal: elementwise.not_equal,
    np.positive: elementwise.positive,
    np.power: elementwise.pow,
    np.rad2deg: elementwise.rad2deg,
    np.radians: elementwise.radians,
    np.reciprocal: elementwise.reciprocal,
    np.remainder: elementwise.remainder,
    np.right_shift: elementwise.bitwise_right_shift,
    np.rint: elementwise.rint,
    np.sign: elementwise.sign,
    np.signbit: elementwise.signbit,
    np.sin: elementwise.sin,
    np.sinh: elementwise.sinh,
    np.sqrt: elementwise.sqrt,
    np.square: elementwise.square,
    np.subtract: elementwise.subtract,
    np.tan: elementwise.tan,
    np.tanh: elementwise.tanh,
    np.trunc: elementwise.trunc,
    np.vecdot: linalg.vecdot,
}

# SciPy's universal functions go by name: importing scipy.special takes long.
SCIPY_UFUNCS: dict[str, Callable[..., Any]] = {
    "erf": special.erf,
    "erfc": special.erfc,
    "expit": special.expit,
    "gammaln": special.gammaln,
    "log_expit": special.log_expit,
    "logit": special.logit,
    "ndtr": special.ndtr,
    "psi": special.digamma,
    "xlogy": special.xlogy,
}


def _shape(a: Tensor) -> tuple[int, ...]:
    return creation.asarray(a).shape


def _ndim(a: Tensor) -> int:
    return len(_shape(a))


def _size(a: Tensor, axis: int | None = None) -> int:
    a = creation.asarray(a)
    return a.size if axis is None else a.shape[axis]


def _copy(a: Tensor) -> Tensor:
    return creation.asarray(a, copy=True)


def _matrix_diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    return linalg.diagonal(x, offset, axis1=-2, axis2=-1)


def _matrix_trace(x: Tensor, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    return linalg.trace(x, offset, axis1=-2, axis2=-1, dtype=dtype)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    # Creation; np.zeros(3, like=t) arrives here too
    np.array: creation.asarray,
    np.asarray: creation.asarray,
    np.arange: ranges.arange,
    np.astype: dtypes.astype,
    np.copy: _copy,
    np.empty: creation.empty,
    np.empty_like: creation.empty_like,
    np.eye: creation.eye,
    np.full: creation.full,
    np.full_like: creation.full_like,
    np.identity: creation.identity,
    np.linspace: ranges.linspace,
    np.ones: creation.ones,
    np.ones_like: creation.ones_like,
    np.zeros: creation.zeros,
    np.zeros_like: creation.zeros_like,
    # Facts
    np.allclose: agreement.allclose,
    np.array_equal: agreement.array_equal,
    np.array_equiv: agreement.array_equiv,
    np.array_repr: text.array_repr,
    np.array_str: text.array_str,
    np.can_cast: dtypes.can_cast,
    np.isclose: agreement.isclose,
    np.iscomplexobj: dtypes.iscomplexobj,
    np.isrealobj: dtypes.isrealobj,
    np.ndim: _ndim,
    np.result_type: dtypes.result_type,
    np.shape: _shape,
    np.size: _size,
    # Elementwise
    np.angle: elementwise.angle,
    np.clip: elementwise.clip,
    np.imag: elementwise.imag,
    np.nan_to_num: elementwise.nan_to_num,
    np.real: elementwise.real,
    np.round: elementwise.round,
    np.around: elementwise.round,
    np.where: elementwise.where,
    # Reductions
    np.all: reduction.all,
    np.amax: reduction.max,
    np.amin: reduction.min,
    np.any: reduction.any,
    np.argmax: reduction.argmax,
    np.argmin: reduction.argmin,
    np.count_nonzero: reduction.count_nonzero,
    np.cumprod: reduction.cumprod,
    np.cumsum: reduction.cumsum,
    np.cumulative_prod: cumulative.cumulative_prod,
    np.cumulative_sum: cumulative.cumulative_sum,
    np.diff: cumulative.diff,
    np.max: reduction.max,
    np.mean: reduction.mean,
    np.median: reduction.median,
    np.min: reduction.min,
    np.prod: reduction.prod,
    np.std: reduction.std,
    np.sum: reduction.sum,
    np.trapezoid: cumulative.trapezoid,
    np.var: reduction.var,
    # Sorting
    np.argsort: sorting.argsort,
    np.sort: sorting.sort,
    # Searching
    np.argwhere: searching.argwhere,
    np.nonzero: searching.nonzero,
    np.searchsorted: searching.searchsorted,
    np.unique_all: searching.unique_all,
    np.unique_counts: searching.unique_counts,
    np.unique_inverse: searching.unique_inverse,
    np.unique_values: searching.unique_values,
    # Shape
    np.array_split: shape.array_split,
    np.atleast_1d: shape.atleast_1d,
    np.atleast_2d: shape.atleast_2d,
    np.atleast_3d: shape.atleast_3d,
    np.broadcast_arrays: shape.broadcast_arrays,
    np.broadcast_to: shape.broadcast_to,
    np.column_stack: shape.column_stack,
    np.concatenate: shape.concat,
    np.diag: shape.diag,
    np.diagonal: shape.diagonal,
    np.dstack: shape.dstack,
    np.expand_dims: shape.expand_dims,
    np.flip: shape.flip,
    np.fliplr: shape.fliplr,
    np.flipud: shape.flipud,
    np.hstack: shape.hstack,
    np.matrix_transpose: shape.matrix_transpose,
    np.meshgrid: shape.meshgrid,
    np.moveaxis: shape.moveaxis,
    np.pad: shape.pad,
    np.ravel: shape.ravel,
    np.repeat: shape.repeat,
    np.reshape: shape.reshape,
    np.roll: shape.roll,
    np.rot90: shape.rot90,
    np.split: shape.split,
    np.squeeze: shape.squeeze,
    np.stack: shape.stack,
    np.swapaxes: shape.swapaxes,
    np.tile: shape.tile,
    np.transpose: shape.transpose,
    np.tril: shape.tril,
    np.triu: shape.triu,
    np.unstack: shape.unstack,
    np.vstack: shape.vstack,
    # Indexing
    np.take: indexing.take,
    np.take_along_axis: indexing.take_along_axis,
    # Linear algebra
    np.cross: linalg.cross,
    np.dot: linalg.dot,
    np.einsum: linalg.einsum,
    np.inner: linalg.inner,
    np.kron: linalg.kron,
    np.linalg.cholesky: linalg.cholesky,
    np.linalg.cross: linalg.cross,
    np.linalg.det: linalg.det,
    np.linalg.diagonal: _matrix_diagonal,
    np.linalg.inv: linalg.inv,
    np.linalg.matmul: linalg.matmul,
    np.linalg.matrix_norm: linalg.matrix_norm,
    np.linalg.matrix_power: linalg.matrix_power,
    np.linalg.matrix_transpose: linalg.matrix_transpose,
    np.linalg.multi_dot: linalg.multi_dot,
    np.linalg.norm: linalg.norm,
    np.linalg.outer: linalg.outer,
    np.linalg.slogdet: linalg.slogdet,
    np.linalg.solve: linalg.solve,
    np.linalg.tensordot: linalg.tensordot,
    np.linalg.trace: _matrix_trace,
    np.linalg.vecdot: linalg.vecdot,
    np.linalg.vector_norm: linalg.vector_norm,
    np.outer: linalg.outer,
    np.tensordot: linalg.tensordot,
    np.trace: linalg.trace,
    np.vdot: linalg.vdot,
}
if hasattr(np, "fix"):  # deprecated since NumPy 2.5
    FUNCTIONS[np.fix] = elementwise.fix

CONVERSIONS = frozenset({np.atleast_1d, np.atleast_2d, np.atleast_3d})
"""Functions with which libraries make arrays of NumPy of what they are given."""

RENAMED = {"a_min": "min", "a_max": "max", "M": "n_cols"}
"""Options of NumPy's functions that have another name here."""
