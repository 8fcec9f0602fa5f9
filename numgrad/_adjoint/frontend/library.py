"""Which loops stand for functions of NumPy and `heapq`, by the functions and their arguments."""

import ast
import cmath
import heapq
import math
from typing import Any

import numpy as np
from numba.np import extensions
from numpy.polynomial import polynomial, polyutils

from ..builder.given import given
from ..builder.loops import (
    dense,
    of_lists,
    places,
    polynomials,
    rearranging,
    samples,
    sets,
    spectral,
    sums,
    windows,
)  # fmt: skip
from ..builder.things import Lazy, Thing, Value, is_array
from ..ssa.conventions import clip, held, kink, root, slope, tied, undefined
from ..ssa.gamma import polygamma
from ..ssa.refusal import Refusal
from .expressions import WAYS

# NumPy's and math's names of the scalar functions, by the name of the operation.
_SPELLED = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
    "arccosh": "acosh", "arctanh": "atanh", "arctan2": "atan2",
}  # fmt: skip
_SAME_NAME = [
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
    "sinh", "cosh", "tanh", "hypot", "copysign", "fmod", "degrees", "radians", "isnan", "isfinite",
    "isinf", "gamma", "lgamma", "logaddexp", "logaddexp2", "signbit", "ldexp", "erf", "erfc",
    "sign", "rint", "reciprocal", "nextafter", "spacing", *_SPELLED,
]  # fmt: skip


def _scalar_functions() -> dict[Any, tuple[str, str]]:
    found: dict[Any, tuple[str, str]] = {}
    for name in _SAME_NAME:
        for module, spelled in ((np, "np"), (math, "math")):
            other = _SPELLED.get(name, name) if module is math else name
            if function := getattr(module, other, None):
                found[function] = (name, f"{spelled}.{other}")
    more = {
        np.floor: ("floor", "np.floor"), np.ceil: ("ceil", "np.ceil"), np.trunc: ("trunc", "np.trunc"),  # noqa: E501
        math.floor: ("floor_int", "math.floor"), math.ceil: ("floor_int", "math.ceil"),
        math.trunc: ("floor_int", "math.trunc"), np.absolute: ("abs", "abs"), np.fabs: ("abs", "abs"),  # noqa: E501
        math.fabs: ("abs", "math.fabs"), abs: ("abs", "abs"), np.deg2rad: ("radians", "np.deg2rad"),
        np.rad2deg: ("degrees", "np.rad2deg"), np.square: ("square", "2"), math.pow: ("pow", ""),
        np.power: ("pow", ""), pow: ("pow", ""), np.negative: ("neg", ""), np.add: ("add", ""),
        np.subtract: ("sub", ""), np.multiply: ("mul", ""), np.divide: ("truediv", ""),
        np.maximum: ("max", "max"), np.minimum: ("min", "min"), np.floor_divide: ("floordiv", ""),
        np.remainder: ("mod", ""), np.float32: ("float32", "np.float32"), float: ("float", "float"),
        np.float64: ("float64", "np.float64"), int: ("int", "int"), bool: ("bool", "bool"),
        np.logical_not: ("not", ""), np.logical_and: ("and", ""), np.logical_or: ("or", ""),
        np.less: ("lt", ""), np.greater: ("gt", ""), np.less_equal: ("le", ""),
        np.greater_equal: ("ge", ""), np.equal: ("eq", ""), np.not_equal: ("ne", ""),
        np.where: ("select", ""), np.positive: ("pos", ""), held: ("held", "held"),
        clip: ("clip", "clip"), root: ("norm", "root"), polygamma: ("polygamma", "polygamma"),
        np.bitwise_and: ("bitand", ""),
        np.bitwise_or: ("bitor", ""), np.bitwise_xor: ("bitxor", ""), np.invert: ("invert", ""),
        np.left_shift: ("lshift", ""), np.right_shift: ("rshift", ""),
        tied: ("tied", "tied"), kink: ("kink", "kink"), slope: ("slope", ""),
        undefined: ("undefined", ""),
    }  # fmt: skip
    return found | more


SCALAR_FUNCTIONS = _scalar_functions()

_LOOPS: dict[Any, Any] = {
    np.linalg.cholesky: dense.cholesky, np.linalg.inv: dense.inverse, np.linalg.norm: dense.norm,
    np.linalg.det: dense.det, np.linalg.slogdet: dense.slogdet,
    np.linalg.cond: dense.cond, np.linalg.matrix_rank: dense.matrix_rank,
    np.linalg.matrix_power: dense.matrix_power, np.linalg.eigh: spectral.eigh,
    np.linalg.eigvalsh: spectral.eigvalsh, np.linalg.svd: spectral.svd, np.linalg.qr: spectral.qr,
    np.linalg.pinv: spectral.pinv,
    np.trace: sums.trace, np.nansum: sums.nansum,
    np.nanprod: sums.nanprod,
    np.nanmean: sums.nanmean, np.average: sums.average, np.ptp: sums.ptp,
    np.cross: sums.cross, np.kron: sums.kron,
    np.convolve: sums.convolve,
    np.sort: rearranging.sort, np.median: rearranging.median, np.roll: rearranging.roll,
    np.diff: rearranging.diff, np.diag: rearranging.diag, np.tril: rearranging.tril,
    np.triu: rearranging.triu, np.fill_diagonal: rearranging.fill_diagonal,
    np.flip: rearranging.flip, np.flipud: rearranging.flipud, np.fliplr: rearranging.fliplr,
    np.identity: rearranging.identity, np.unique: samples.unique,
    np.nanmax: samples.nanmax, np.nanmin: samples.nanmin, np.nanvar: samples.nanvar,
    np.nanstd: samples.nanstd, np.nanmedian: samples.nanmedian, np.correlate: samples.correlate,
    np.vander: samples.vander,
    np.take: rearranging.take, np.argwhere: rearranging.argwhere,
    np.extract: rearranging.extract, np.array_equal: rearranging.array_equal,
    np.ediff1d: rearranging.ediff1d, np.isclose: rearranging.isclose,
    np.allclose: rearranging.allclose, np.rot90: rearranging.rot90,
    np.digitize: samples.digitize, np.nonzero: rearranging.nonzero,
    np.flatnonzero: rearranging.flatnonzero, np.partition: sets.partition,
    np.union1d: sets.union1d, np.intersect1d: sets.intersect1d, np.setdiff1d: sets.setdiff1d,
    np.setxor1d: sets.setxor1d, np.isin: sets.isin, np.trim_zeros: sets.trim_zeros,
    np.nanargmax: sets.nanargmax, np.nanargmin: sets.nanargmin, np.bartlett: windows.bartlett,
    np.hanning: windows.hanning, np.hamming: windows.hamming, np.blackman: windows.blackman,
    np.kaiser: windows.kaiser, np.unwrap: windows.unwrap, np.resize: places.resize,
    np.take_along_axis: places.take_along_axis, np.logspace: places.logspace,
    np.geomspace: places.geomspace, np.tri: places.tri, np.tril_indices: places.tril_indices,
    np.triu_indices: places.triu_indices, np.tril_indices_from: places.tril_indices_from,
    np.triu_indices_from: places.triu_indices_from, np.indices: places.indices,
    np.diagflat: places.diagflat, np.nanpercentile: samples.nanpercentile,
    np.nanquantile: samples.nanquantile, np.cov: samples.cov, np.corrcoef: samples.corrcoef,
    polynomial.polyadd: polynomials.polyadd, polynomial.polysub: polynomials.polysub,
    polynomial.polymul: polynomials.polymul, polynomial.polydiv: polynomials.polydiv,
    polynomial.polyint: polynomials.polyint, polynomial.polyval: polynomials.polyval,
    polyutils.trimseq: polynomials.trimseq,
}  # fmt: skip
if hasattr(extensions, "cross2d"):  # which Numba has with NumPy before 2.5
    _LOOPS[extensions.cross2d] = sums.cross2d
_OF_FLOATS: dict[Any, Any] = {
    np.cumprod: sums.cumprod, np.nancumsum: sums.nancumsum, np.nancumprod: sums.nancumprod,
}  # fmt: skip
_OF_LISTS: dict[Any, Any] = {
    heapq.heappush: of_lists.heappush, heapq.heappop: of_lists.heappop,
    heapq.heapify: of_lists.heapify, heapq.heapreplace: of_lists.heapreplace,
    heapq.heappushpop: of_lists.heappushpop, heapq.nsmallest: of_lists.nsmallest,
    heapq.nlargest: of_lists.nlargest, sorted: of_lists.in_order,
}  # fmt: skip


def standing_for(function: Any) -> Any:
    """Return the function that is read in place of a function of lists, or the function itself."""
    try:
        return _OF_LISTS.get(function, function)
    except TypeError:
        return function


_BY_ARGUMENTS = {np.linalg.solve, np.linalg.lstsq, np.bincount, np.interp, np.where,
    np.percentile, np.quantile, np.eye, np.searchsorted, np.delete, np.count_nonzero, np.repeat,
    np.histogram, *_OF_FLOATS,
} | {
    getattr(np, name) for name in ("trapz", "trapezoid") if hasattr(np, name)
}


# The numbers of axes of the first argument, where the loops are not for all.
_AXES: dict[Any, range] = {
    np.tril: range(2, 3), np.triu: range(2, 3), np.trace: range(2, 3), np.kron: range(1, 3),
    np.diag: range(1, 3), np.diff: range(1, 3), np.sort: range(1, 3), np.interp: range(0, 2),
    np.flipud: range(1, 9), np.fliplr: range(2, 9), np.rot90: range(2, 3),
    np.digitize: range(1, 2), np.bincount: range(1, 2), np.convolve: range(1, 2),
    np.correlate: range(1, 2), np.vander: range(1, 2), np.partition: range(1, 3),
    np.trim_zeros: range(1, 2), np.unwrap: range(1, 3), polyutils.trimseq: range(1, 2),
    np.cov: range(1, 3), np.corrcoef: range(1, 3), np.vdot: range(1, 2),
}  # fmt: skip


def _require_axes(function: Any, args: list[Thing]) -> None:
    """Refuse an array of more or fewer axes than the loops are for."""
    ndim = getattr(getattr(args[0], "type", None), "ndim", None) if args else None
    if function in _AXES and ndim is not None and ndim not in _AXES[function]:
        name = getattr(function, "__name__", "")
        raise Refusal(f"np.{name} is not understood of an array of {ndim} axes: write the loops")


_WITH_LISTS = (
    np.take, np.delete, np.percentile, np.quantile, np.searchsorted, np.digitize, np.isin,
    np.repeat,
)  # fmt: skip


def _require_array(function: Any, args: list[Thing]) -> None:
    """Refuse a list of numbers, which the loops would take for a tuple."""
    if function in _WITH_LISTS and len(args) > 1 and isinstance(args[1], tuple):
        raise Refusal(
            f"np.{function.__name__} is understood of arrays and numbers: write np.array([...]) in "
            f"place of the list"
        )


def loops_of(function: Any, args: list[Thing], words: dict[str, Thing]) -> Any:
    """Return the loops that stand for a function of NumPy; None where there are none.

    Parameters
    ----------
    function : callable
    args : list
        What it is called with.
    words : dict
        Its arguments by keywords.
    """
    try:
        found = _LOOPS.get(function)
    except TypeError:
        return None
    _require_axes(function, args)
    _require_array(function, args)
    return found if found is not None or function not in _BY_ARGUMENTS else _chosen(function, args, words)  # noqa: E501


_SCALARS: dict[Any, Any] = {
    np.fmax: sums.fmax, np.fmin: sums.fmin, np.sinc: sums.sinc,
    np.angle: sums.angle, np.nan_to_num: sums.nan_to_num, np.float_power: sums.float_power,
    np.logical_xor: sums.logical_xor, np.isposinf: sums.isposinf, np.isneginf: sums.isneginf,
    np.gcd: sums.gcd, np.lcm: sums.lcm, math.gcd: sums.gcd, math.frexp: sums.frexp,
}  # fmt: skip


def scalars_of(function: Any) -> Any:
    """Return the function of numbers that stands for one of NumPy, or that Numba's ``vectorize``
    has made one of arrays; None where there is none."""
    if type(function).__name__ == "DUFunc":
        return getattr(getattr(function, "_dispatcher", None), "py_func", None)
    try:
        return _SCALARS.get(function)
    except TypeError:
        return None


def _chosen(function: Any, args: list[Thing], words: dict[str, Thing]) -> Any:
    """Return the loops for the number and the kinds of the arguments."""
    if function in _OF_FLOATS:
        return _OF_FLOATS[function] if args[0].type.is_real else None
    if function is np.linalg.solve:
        return dense.solve_vector if args[-1].type.ndim == 1 else dense.solve_matrix
    if function is np.linalg.lstsq:
        return spectral.lstsq_vector if args[1].type.ndim == 1 else spectral.lstsq_matrix
    if function in (np.percentile, np.quantile):
        one, several = {
            np.percentile: (samples.percentile, samples.percentiles),
            np.quantile: (samples.quantile, samples.quantiles),
        }[function]
        return one if _is_number(args[1]) else several
    if function is np.count_nonzero:
        has_axis = len(args) > 1 or "axis" in words
        return places.count_nonzero_along if has_axis else sums.count_nonzero
    if function is np.repeat:
        count = args[1] if len(args) > 1 else words["repeats"]
        return rearranging.repeat if _is_number(count) else places.repeat_each
    if function is np.histogram:
        bins = args[1] if len(args) > 1 else words.get("bins")
        is_known = bins is not None and is_array(bins)
        return samples.histogram_at if is_known else samples.histogram
    if function is np.eye:
        return rearranging.eye if len(args) > 1 or set(words) - {"dtype"} else None
    if function is np.bincount:
        has_weights = len(args) > 1 or "weights" in words
        return sums.weighted_bincount if has_weights else sums.bincount
    if function is np.interp:
        return sums.interp_number if _is_number(args[0]) else sums.interp_array
    if function is np.searchsorted:
        return samples.searchsorted if _is_number(args[1]) else samples.all_searchsorted
    if function is np.delete:
        return rearranging.delete if _is_number(args[1]) else rearranging.delete_several
    if function is np.where:
        return rearranging.nonzero if len(args) == 1 else None
    if args[0].type.ndim != 1:
        return sums.trapezoid_of_rows
    return sums.trapezoid if len(args) == 2 or "x" in words else sums.even_trapezoid


# What the readers of calls read, by the names of their methods.
NAMED: dict[Any, str] = {
    getattr(np, name): name
    for name in (
        "zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like",
        "copy", "arange", "linspace", "eye", "array", "sum", "mean", "prod", "max", "min", "var",
        "std", "any", "all", "argmax", "argmin", "argsort", "cumsum", "cumprod", "reshape",
        "ravel", "dot", "outer", "clip",
        "concatenate", "append", "stack", "vstack", "hstack", "column_stack", "expand_dims",
        "dstack", "array_split", "split", "hsplit", "vsplit", "dsplit", "broadcast_to",
        "broadcast_arrays", "broadcast_shapes", "select", "atleast_3d", "moveaxis", "divmod",
        "conj", "argpartition", "isreal", "iscomplex", "iscomplexobj", "isrealobj", "isscalar",
    )
} | {len: "len", max: "max", min: "min", round: "round", divmod: "divmod", np.amax: "max",
     np.amin: "min", np.asarray: "asarray", np.ascontiguousarray: "ascontiguousarray",
     np.asfortranarray: "asfortranarray", np.transpose: "transpose", np.vdot: "dot",
     np.nancumsum: "cumsum", np.nancumprod: "cumprod",
     np.matmul: "dot", sum: "total", given: "given", np.result_type: "result_type",
     np.real: "real", np.imag: "imag", np.shape: "shape", np.size: "size",
     np.swapaxes: "swapaxes", np.atleast_1d: "atleast_1d", np.atleast_2d: "atleast_2d",
     np.round: "around", np.around: "around", np.asarray_chkfinite: "asarray",
     cmath.rect: "rect",
     np.lib.stride_tricks.sliding_window_view: "sliding_window_view",
     **({np.vstack: "vstack"} if "row_stack" in vars(np) else {})}  # fmt: skip


def _is_number(thing: Thing) -> bool:
    return not isinstance(thing, Lazy) and isinstance(thing, Value) and not thing.type.is_array


def unknown(node: ast.Call, function: Any) -> Refusal:
    """Return the error for a function that is not understood."""
    return Refusal(f"the function `{ast.unparse(node.func)}` is not understood{_way(function)}")


def _way(function: Any) -> str:
    """Return what to write in place of an unknown function."""
    module = str(getattr(function, "__module__", None) or "")
    owner = type(getattr(function, "__self__", None)).__name__
    if module.startswith(("random", "numpy.random")) or owner in ("RandomState", "Random"):
        return (
            ": value and gradient would belong to different draws. Draw outside, and give the "
            "draws as an argument"
        )
    if function is set or function is frozenset:
        return WAYS["a set"]
    is_typed = "Dict" in (getattr(function, "__name__", ""), owner) or "numba.typed" in module
    if function is dict or is_typed:
        return WAYS["a dictionary"]
    return ": write its loop, in an @njit function"
