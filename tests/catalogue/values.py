"""Judges of values: against NumPy and SciPy, in every dtype, layout and way to compute them."""

import numpy as np

import numgrad as ng
from numgrad._tensor import Tensor
from numgrad.engine.lower.lower import force
from numgrad.engine.record.apply import deferring
from numgrad.testing import invariants
from numgrad.testing.layouts import layouts

from .case import evaluate, several
from .judge import everywhere, first_as_given, first_in_half, judge


def has_reference(scenario):
    return scenario.reference is not None


def has_half(scenario):
    return scenario.half


@judge(everywhere, when=has_reference)
def value(case):
    """The value is that of NumPy or SciPy."""
    with np.errstate(all="ignore"):
        expected = several(case.scenario.reference(*case.arrays))
    tolerance = np.finfo(case.dtype).eps * case.scenario.tolerance
    for a, b in zip(case.values, map(np.asarray, expected), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        scale = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
        np.testing.assert_allclose(a, b, tolerance, tolerance * scale)


@judge(first_in_half, when=has_half)
def half(case):
    """Half precision is stored, and computed in single precision."""
    scenario, single = case.scenario, case.scenario.at(case.arrays, "float32")
    for a, b in zip(case.values, evaluate(scenario, single), strict=True):
        assert a.dtype == (np.float16 if b.dtype == np.float32 else b.dtype)
        np.testing.assert_allclose(a, b, 2e-3, 2e-3)
    variables = [Tensor(a, a.dtype.kind == "f") for a in case.arrays]
    output = several(scenario.function(*variables))[0]
    if output.requires_grad:
        wanted = [v for v in variables if v.requires_grad]
        gradients = ng.grad(output, wanted, materialize_grads=True)
        assert all(g.dtype == np.float16 for g in gradients)


@judge(everywhere)
def program(case):
    """A forward program runs the kernels of an eager call."""
    with ng.no_grad(), deferring(True):
        results = several(case.scenario.function(*map(Tensor, case.arrays)))
    force([r for r in results if r.array is None])
    for a, b in zip(results, case.values, strict=True):
        assert invariants.agree(a.array, b, case.exact), (a.array, b)


@judge(first_as_given)
def layout(case):
    """The value does not depend on how arguments lie, and none is written."""
    for name, same, arrays in layouts(case.arrays):
        if name != "broadcast" or case.scenario.broadcast:
            kept = [a.copy() for a in arrays]
            found, expected = evaluate(case.scenario, arrays), evaluate(case.scenario, same)
            for a, b in zip(found, expected, strict=True):
                assert invariants.agree(a, b, case.exact), (name, a, b)
            for a, k in zip(arrays, kept, strict=True):
                assert np.array_equal(a, k, equal_nan=a.dtype.kind in "fc"), name


JUDGES = (value, half, program, layout)
