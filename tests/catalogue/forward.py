"""Judges of forward mode: against reverse mode, which is judged against differences."""

import numpy as np

import numgrad as ng
from numgrad.testing.forward import (
    check_forward_batched,
    check_forward_mode,
    check_forward_recorded,
)

from .case import several
from .judge import (
    differentiable,
    first,
    first_in_one,
    judge,
    smooth_in_double,
    smooth_in_one,
    twice,
)


@judge(first, smooth_in_one, when=differentiable)
def forward(case):
    check_forward_mode(case.subject, np.random.default_rng(case.number))


@judge(first, when=differentiable)
def batched_tangents(case):
    """A batch of tangents is a loop over them."""
    check_forward_batched(case.subject, np.random.default_rng(0), exact=case.exact)


@judge(smooth_in_double, when=twice)
def orders_of_modes(case):
    """Second derivatives agree, whichever mode comes first."""
    check_forward_recorded(case.subject, np.random.default_rng(case.number))


@judge(first_in_one, when=differentiable)
def captured_tangents(case):
    """Tangents in a captured function are those that are computed at once."""
    point, places = [np.array(a) for a in case.arrays], case.floating
    angles = [np.cos(np.arange(point[n].size)).reshape(point[n].shape) for n in places]
    directions = [d.astype(point[n].dtype) for n, d in zip(places, angles, strict=True)]
    called = case.scenario.function

    def along(tangents):
        arrays = [ng.asarray(a) for a in point]

        def function(*given):
            values = list(arrays)
            for n, x in zip(places, given, strict=True):
                values[n] = x
            return called(*values)

        return ng.func.jvp(function, tuple(arrays[n] for n in places), tuple(tangents))[1]

    expected = several(along([ng.asarray(d) for d in directions]))
    found = several(ng.jit(along)(directions))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(a), b.numpy(), rtol=0 if case.exact else 1e-5)


JUDGES = (forward, batched_tangents, orders_of_modes, captured_tangents)
