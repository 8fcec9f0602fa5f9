"""Forward mode of every operator: against reverse mode, which is tested against differences."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.testing import forward
from numgrad.testing.scenarios import SCENARIOS
from numgrad.testing.scenarios.scenario import smooth_points
from numgrad.testing.subject import Subject

DIFFERENTIABLE = [s for s in SCENARIOS if s.order]


def over(scenarios):
    return pytest.mark.parametrize("scenario", [pytest.param(s, id=s.name) for s in scenarios])


def subject_of(scenario, dtype, number=0):
    return Subject(scenario.function, scenario.at(scenario.points[number], dtype), scenario.name)


@over(DIFFERENTIABLE)
def test_forward_agrees_with_reverse(scenario):
    for dtype in scenario.dtypes:
        forward.check_forward_mode(subject_of(scenario, dtype), np.random.default_rng(0))
    for number, _ in smooth_points(scenario):
        subject = subject_of(scenario, scenario.dtypes[-1], number)
        forward.check_forward_mode(subject, np.random.default_rng(number))


@over(DIFFERENTIABLE)
def test_batched_tangents_equal_looped_ones(scenario):
    for dtype in scenario.dtypes:
        subject = subject_of(scenario, dtype)
        forward.check_forward_batched(subject, np.random.default_rng(0), exact=scenario.exact)


@over([s for s in DIFFERENTIABLE if s.order > 1])
def test_second_derivatives_agree_in_all_orders_of_modes(scenario):
    for dtype in {"float64", "complex128"} & set(scenario.dtypes):
        for number, _ in smooth_points(scenario):
            subject = subject_of(scenario, dtype, number)
            forward.check_forward_recorded(subject, np.random.default_rng(number))


@over(DIFFERENTIABLE)
def test_tangents_in_a_captured_function(scenario):
    point = [np.array(a) for a in scenario.at(scenario.points[0], scenario.dtypes[-1])]
    floating = [n for n, a in enumerate(point) if a.dtype.kind in "fc"]
    directions = [np.cos(np.arange(point[n].size)).reshape(point[n].shape) for n in floating]
    directions = [d.astype(point[n].dtype) for n, d in zip(floating, directions, strict=True)]

    def along(arrays, tangents):
        def function(*given):
            values = list(arrays)
            for n, x in zip(floating, given, strict=True):
                values[n] = x
            return scenario.function(*values)

        return ng.func.jvp(function, tuple(arrays[n] for n in floating), tuple(tangents))[1]

    expected = along([ng.asarray(a) for a in point], [ng.asarray(d) for d in directions])
    found = ng.jit(lambda tangents: along([ng.asarray(a) for a in point], tangents))(directions)
    expected = expected if isinstance(expected, tuple) else (expected,)
    found = found if isinstance(found, tuple) else (found,)
    for a, b in zip(found, expected, strict=True):
        tolerance = 0 if scenario.exact else 1e-5
        np.testing.assert_allclose(np.asarray(a), b.numpy(), rtol=tolerance)
