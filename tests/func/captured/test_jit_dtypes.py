"""Every function in every dtype: what it takes eagerly it takes captured, and with the same bits,
dtype and shape."""

import types
import warnings

import numpy as np
import pytest

import numgrad as ng
from numgrad import Tensor
from tests.sampling import one_in

from .calls import CALLS, WITHOUT
from .test_jit_arrays import NOT_CALLED
from .test_jit_numpy import CAPTURED

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128")


def numbers(dtype, shape, phase):
    """Return different numbers, of both signs where there are two."""
    turns = (np.arange(1, np.prod(shape) + 1) * 0.618 + 0.31 * phase) % 1
    real = {"b": turns > 0.4, "u": turns * 7, "i": turns * 14 - 7}
    found = real.get(dtype.kind, turns * 4 - 2)
    found = found + 1j * (turns**2 * 3 - 1) if dtype.kind == "c" else found
    return found.astype(dtype).reshape(shape)


def limits(dtype, shape, phase):
    """Return numbers at which functions have their exceptions."""
    if dtype.kind == "b":
        chosen = [False, True]
    elif dtype.kind in "iu":
        ends = np.iinfo(dtype)
        chosen = [ends.min, ends.max, 0, 1, 2, 3, 7, 40, *([-1, -3] if ends.min else [])]
    else:
        most = float(np.finfo(dtype).max)
        chosen = [np.nan, np.inf, -np.inf, -0.0, 0.0, most, 1e-5, 65504.0, -1.0]
    if dtype.kind == "c":
        chosen = [complex(*pair) for pair in zip(chosen, chosen[3:] + chosen[:3], strict=True)]
    return np.random.default_rng(phase).choice(np.array(chosen, dtype), shape)


def arrays_of(results):
    results = results if isinstance(results, tuple) else (results,)
    return [np.asarray(r.detach() if isinstance(r, Tensor) else r) for r in results]


def eagerly(function, arrays):
    """Return the results, or None where the function is not defined for these arguments."""
    try:
        return arrays_of(function(*map(ng.tensor, arrays)))
    except ng.errors.KernelError:
        raise
    except (TypeError, ValueError, ng.errors.NumgradError):
        return None


def compare(function, shapes, values, fuse):
    compared = []
    for dtype in map(np.dtype, DTYPES):
        arrays = [values(dtype, shape, n) for n, shape in enumerate(shapes)]
        with np.errstate(all="ignore"):
            expected = eagerly(function, arrays)
        if expected is None:
            continue
        compared.append(dtype)
        found = arrays_of(ng.jit(function, fuse=fuse)(*arrays))
        what = f"{values.__name__} in {dtype}, fuse={fuse}"
        assert [(a.dtype, a.shape) for a in found] == [(a.dtype, a.shape) for a in expected], what
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other, what)
    assert compared


over_calls = pytest.mark.parametrize(
    ("function", "shapes"), one_in(30, [pytest.param(*call[1:], id=call[0]) for call in CALLS])
)


@over_calls
def test_values_and_values_at_limits_in_fused_programs(function, shapes):
    compare(function, shapes, numbers, "never")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        compare(function, shapes, limits, "now")


def test_all_functions_are_called():
    named = {name.partition("-")[0] for name, *_ in CALLS} | {*WITHOUT.split(), *CAPTURED}
    named |= set(" ".join(NOT_CALLED.values()).split())
    called = {getattr(ng, name, None) for name in named}
    public = {name: f for name, f in vars(ng).items() if isinstance(f, types.FunctionType)}
    public = {name: f for name, f in public.items() if f.__module__.startswith("numgrad")}
    assert [n for n, f in public.items() if not n.startswith("_") and f not in called] == []
