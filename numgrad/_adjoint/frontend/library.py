"""Loops that stand for functions of NumPy: the derivative of a call is that of the loop."""

from typing import Any

import numpy as np

from ..builder import dense, rearranging, samples, spectral, sums
from ..builder.things import Lazy, Thing, Value

_LOOPS: dict[Any, Any] = {
    np.linalg.cholesky: dense.cholesky, np.linalg.inv: dense.inverse, np.linalg.norm: dense.norm,
    np.linalg.det: dense.det, np.linalg.slogdet: dense.slogdet,
    np.linalg.matrix_power: dense.matrix_power, np.linalg.eigh: spectral.eigh,
    np.linalg.eigvalsh: spectral.eigvalsh, np.linalg.svd: spectral.svd, np.linalg.qr: spectral.qr,
    np.linalg.pinv: spectral.pinv,
    np.trace: sums.trace, np.cumprod: sums.cumprod, np.nansum: sums.nansum,
    np.nanmean: sums.nanmean, np.ptp: sums.ptp, np.cross: sums.cross, np.kron: sums.kron,
    np.convolve: sums.convolve, np.count_nonzero: sums.count_nonzero,
    np.sort: rearranging.sort, np.median: rearranging.median, np.roll: rearranging.roll,
    np.diff: rearranging.diff, np.diag: rearranging.diag, np.tril: rearranging.tril,
    np.triu: rearranging.triu, np.fill_diagonal: rearranging.fill_diagonal,
    np.flip: rearranging.flip, np.flipud: rearranging.flipud, np.fliplr: rearranging.fliplr,
    np.repeat: rearranging.repeat, np.identity: rearranging.identity, np.unique: samples.unique,
    np.nanmax: samples.nanmax, np.nanmin: samples.nanmin, np.nanvar: samples.nanvar,
    np.nanstd: samples.nanstd, np.nanmedian: samples.nanmedian, np.correlate: samples.correlate,
    np.histogram: samples.histogram, np.vander: samples.vander,
    np.nonzero: rearranging.nonzero, np.flatnonzero: rearranging.flatnonzero,
}  # fmt: skip
_FLOATS = (np.linalg.cholesky, np.linalg.det, np.linalg.slogdet)
_BY_ARGUMENTS = {np.linalg.solve, np.linalg.lstsq, np.bincount, np.interp, np.sinc, np.where,
    np.percentile, np.quantile, np.cov, np.corrcoef, np.eye,
} | {
    getattr(np, name) for name in ("trapz", "trapezoid") if hasattr(np, name)
}


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
    return found if found is not None or function not in _BY_ARGUMENTS else _chosen(function, args, words)  # noqa: E501


def needs_doubles(function: Any) -> bool:
    """Whether the loops of a function take arrays of float64 only."""
    return function in _FLOATS


def _chosen(function: Any, args: list[Thing], words: dict[str, Thing]) -> Any:
    """Return the loops for the number and the kinds of the arguments."""
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
    if function in (np.cov, np.corrcoef):
        rows, two = {
            np.cov: (samples.covariance_of_rows, samples.covariance_of_two),
            np.corrcoef: (samples.correlation_of_rows, samples.correlation_of_two),
        }[function]
        return rows if len(args) == 1 else two
    if function is np.eye:
        return rearranging.eye if len(args) > 1 or set(words) - {"dtype"} else None
    if function is np.bincount:
        return sums.bincount if len(args) + len(words) == 1 else sums.weighted_bincount
    if function is np.interp:
        return sums.interp_number if _is_number(args[0]) else sums.interp_array
    if function is np.sinc:
        return sums.sinc if _is_number(args[0]) else None
    if function is np.where:
        return rearranging.nonzero if len(args) == 1 else None
    return sums.trapezoid if len(args) == 2 or "x" in words else sums.even_trapezoid


def _is_number(thing: Thing) -> bool:
    return not isinstance(thing, Lazy) and isinstance(thing, Value) and not thing.type.is_array
