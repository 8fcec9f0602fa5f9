"""One call with NumPy on arrays, with numgrad on tensors, and with NumPy's functions on tensors."""

import warnings

import numpy as np
import pytest

import numgrad as ng

TOLERANCES = {"float16": 1e-2, "float32": 3e-6, "complex64": 3e-6}


def outcome(call):
    """Return the results of a call as a flat list, or the exception that it raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numgrad has no warnings of NumPy's
        try:
            return list(flat(call()))
        except Exception as error:
            return error


def flat(items):
    """Yield the arrays in nested tuples and lists."""
    if isinstance(items, (tuple, list)):
        for item in items:
            yield from flat(item)
    else:
        yield items.detach().numpy() if isinstance(items, ng.Tensor) else np.asarray(items)


def check_call(call, *arrays, overridden=True):
    """Check that ``call(np, *arrays)`` is the same with numgrad: values, dtypes, shapes, errors."""
    expected = outcome(lambda: call(np, *arrays))
    for library in (ng, np) if overridden else (ng,):
        actual = outcome(lambda library=library: call(library, *[ng.tensor(a) for a in arrays]))
        if isinstance(expected, Exception):
            assert isinstance(actual, type(expected)), f"{expected!r} of NumPy, {actual!r} here"
            continue
        assert not isinstance(actual, Exception), repr(actual)
        for ours, theirs in zip(actual, expected, strict=True):
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
            tolerance = TOLERANCES.get(theirs.dtype.name, 1e-12)
            np.testing.assert_allclose(ours, theirs, tolerance, tolerance)


def check_gradients(call, *arrays, order=2):
    """Check derivatives by finite differences, and the captured function against the eager one."""
    function = lambda *xs: call(ng, *xs)  # noqa: E731
    leaves = tuple(ng.tensor(a, requires_grad=True) for a in arrays)
    assert ng.testing.gradcheck(function, leaves)
    if order == 2:
        assert ng.testing.gradgradcheck(function, leaves)
    eager, captured = list(flat(function(*leaves))), list(flat(ng.jit(function)(*arrays)))
    for one, other in zip(eager, captured, strict=True):
        np.testing.assert_allclose(one, other, 1e-12, 1e-12)


def cases(calls):
    """Return the parametrization of a test over a table of calls."""
    return pytest.mark.parametrize("call", calls.values(), ids=calls)
