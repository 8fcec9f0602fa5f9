"""Everything that every operator must satisfy, at the scenarios of the catalogue."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import door, registry
from numgrad._errors import InplaceError
from numgrad._tensor import Tensor
from numgrad.engine.derivatives import rules
from numgrad.engine.graph.value import ForeignStorage
from numgrad.engine.lower.lower import force
from numgrad.engine.record.apply import deferring
from numgrad.testing import gradcheck, gradgradcheck, invariants
from numgrad.testing.layouts import layouts
from numgrad.testing.operators import check_precision
from numgrad.testing.scenarios import NONDIFFERENTIABLE, SCENARIOS, scenarios_of
from numgrad.testing.scenarios.scenario import smooth_points
from numgrad.testing.subject import Subject, random_like

DIFFERENTIABLE = [s for s in SCENARIOS if s.order]
HALF = [s for s in SCENARIOS if s.half]


def over(scenarios):
    return pytest.mark.parametrize("scenario", [pytest.param(s, id=s.name) for s in scenarios])


def evaluate(scenario, arrays):
    """Return the outputs as a tuple of arrays."""
    with ng.no_grad():
        result = scenario.function(*[Tensor(a, False, ForeignStorage()) for a in arrays])
    results = result if isinstance(result, tuple) else (result,)
    return tuple(r.numpy() for r in results)


def subject_of(scenario, dtype="float64", number=0):
    return Subject(scenario.function, scenario.at(scenario.points[number], dtype), scenario.name)


# The catalogue is complete ------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(registry))
def test_every_operator_has_a_scenario(name):
    assert scenarios_of(name), (
        f"add a scenario of {name} to its chapter in numgrad/testing/scenarios"
    )


def test_names_of_scenarios_are_unique():
    names = [s.name for s in SCENARIOS]
    assert len(names) == len(set(names))


def test_operators_without_derivative_are_listed():
    assert {
        name for name, operator in registry.items() if not operator.differentiable
    } == NONDIFFERENTIABLE


@over(SCENARIOS)
def test_a_scenario_applies_its_operators(scenario, monkeypatch):
    applied = set()
    apply = door.apply

    def noted(operator, inputs, static):
        applied.add(operator.name)
        return apply(operator, inputs, static)

    monkeypatch.setattr(door, "apply", noted)
    monkeypatch.setattr(rules, "_rules", {})  # derivatives are applied when their rules are made
    ng.set_flags()  # plans, which lead past what is noted here, are forgotten
    with ng.graph.saved_tensors_hooks(*[lambda value: value] * 2):  # no short way leads past apply
        for number, _ in smooth_points(scenario):
            if scenario.order:
                second_gradient(scenario, number)
            else:
                evaluate(scenario, scenario.points[number])
    assert set(scenario.operators) <= applied


def second_gradient(scenario, number):
    subject = subject_of(scenario, scenario.dtypes[-1], number)
    variables, outputs = subject.call()
    rng = np.random.default_rng(0)
    seeds = [Tensor(random_like(rng, o), True) for o in outputs]
    live = [(o, s) for o, s in zip(outputs, seeds, strict=True) if o.requires_grad]
    gradients = ng.grad(
        [o for o, _ in live],
        variables,
        [s for _, s in live],
        create_graph=True,
        allow_unused=True,
        materialize_grads=True,
    )
    live = [g for g in gradients if g.requires_grad]
    if live and scenario.order > 1:
        ng.grad(live, [*variables, *seeds], allow_unused=True)


# Values -------------------------------------------------------------------------------------------


@over(SCENARIOS)
def test_value(scenario):
    if scenario.reference is None:
        pytest.skip("no function of NumPy or SciPy")
    for dtype in scenario.dtypes:
        for point in scenario.points:
            arrays = scenario.at(point, dtype)
            with np.errstate(all="ignore"):
                expected = scenario.reference(*arrays)
            expected = expected if isinstance(expected, tuple) else (expected,)
            found = evaluate(scenario, arrays)
            assert len(found) == len(expected)
            for a, b in zip(found, map(np.asarray, expected), strict=True):
                check_value(a, b, np.finfo(dtype).eps * scenario.tolerance)


def check_value(found, expected, tolerance):
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    scale = np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))
    np.testing.assert_allclose(found, expected, tolerance, tolerance * scale)


@over(HALF)
def test_half_precision_is_stored_and_computed_in_single(scenario):
    point = scenario.at(scenario.points[0], "float16")
    single = scenario.at(point, "float32")
    for a, b in zip(evaluate(scenario, point), evaluate(scenario, single), strict=True):
        assert a.dtype == (np.float16 if b.dtype == np.float32 else b.dtype)
        np.testing.assert_allclose(a, b, 2e-3, 2e-3)
    variables = [Tensor(a, True) if a.dtype.kind == "f" else Tensor(a) for a in point]
    output = scenario.function(*variables)
    output = output[0] if isinstance(output, tuple) else output
    if output.requires_grad:
        wanted = [v for v in variables if v.requires_grad]
        gradients = ng.grad(output, wanted, materialize_grads=True)
        assert all(g.dtype == np.float16 for g in gradients)


@over(SCENARIOS)
def test_value_in_a_program(scenario):
    """A forward program runs the kernels of an eager call."""
    for dtype in scenario.dtypes:
        for point in scenario.points:
            arrays = scenario.at(point, dtype)
            try:
                with ng.no_grad(), deferring(True):
                    result = scenario.function(*map(Tensor, arrays))
            except InplaceError:
                pytest.skip("writes in place, which a recorded function cannot do")
            results = result if isinstance(result, tuple) else (result,)
            force([r for r in results if r.array is None])
            for a, b in zip(results, evaluate(scenario, arrays), strict=True):
                assert invariants.agree(a.array, b, scenario.exact)


@over(SCENARIOS)
def test_value_of_every_layout(scenario):
    for name, same, arrays in layouts(scenario.points[0]):
        if name != "broadcast" or scenario.broadcast:
            kept = [a.copy() for a in arrays]
            for a, b in zip(evaluate(scenario, arrays), evaluate(scenario, same), strict=True):
                assert invariants.agree(a, b, scenario.exact), name
            assert all(
                np.array_equal(a, k, equal_nan=a.dtype.kind in "fc")
                for a, k in zip(arrays, kept, strict=True)
            )


# Derivatives --------------------------------------------------------------------------------------


@over(DIFFERENTIABLE)
def test_first_derivative(scenario):
    for dtype in {"float64", "complex128"} & set(scenario.dtypes):
        for _, point in smooth_points(scenario):
            gradcheck(scenario.function, scenario.at(point, dtype))


@over([s for s in DIFFERENTIABLE if s.order > 1])
def test_second_derivative(scenario):
    for dtype in {"float64", "complex128"} & set(scenario.dtypes):
        for _, point in smooth_points(scenario):
            gradgradcheck(scenario.function, scenario.at(point, dtype))


@over(DIFFERENTIABLE)
def test_single_precision(scenario):
    for single, double in (("float32", "float64"), ("complex64", "complex128")):
        if single in scenario.dtypes:
            subjects = [subject_of(scenario, dtype) for dtype in (double, single)]
            check_precision(*subjects, np.random.default_rng(0))


@over(DIFFERENTIABLE)
def test_gradient_without_elements(scenario):
    rng = np.random.default_rng(0)
    for number, point in enumerate(scenario.points):
        if not all(a.size for a in point):
            for dtype in scenario.dtypes:
                subject = subject_of(scenario, dtype, number)
                seeds = [random_like(rng, o) for o in subject.values(subject.arrays)]
                for gradient, array in zip(subject.gradients(seeds), subject.arrays, strict=True):
                    assert (gradient.shape, gradient.dtype) == (array.shape, array.dtype)
                invariants.check_batched(subject, rng, (0, 2), exact=scenario.exact)


# All ways to compute a gradient agree -------------------------------------------------------------


@over(DIFFERENTIABLE)
def test_batched_equals_looped(scenario):
    for dtype in scenario.dtypes:
        invariants.check_batched(
            subject_of(scenario, dtype), np.random.default_rng(0), exact=scenario.exact
        )
    for number, _ in smooth_points(scenario):
        subject = subject_of(scenario, scenario.dtypes[-1], number)
        invariants.check_batched(subject, np.random.default_rng(0), (3,), exact=scenario.exact)


@over(DIFFERENTIABLE)
def test_threads_and_tiles(scenario):
    invariants.check_schedules(
        subject_of(scenario, scenario.dtypes[-1]), np.random.default_rng(0), scenario.exact
    )


@over(DIFFERENTIABLE)
def test_gradient_of_every_layout(scenario):
    subject = subject_of(scenario, scenario.dtypes[-1])
    invariants.check_layouts(subject, np.random.default_rng(0), scenario.exact, scenario.broadcast)


@over(DIFFERENTIABLE)
def test_recorded_gradient_equals_plain(scenario):
    for dtype in scenario.dtypes:
        invariants.check_create_graph(
            subject_of(scenario, dtype), np.random.default_rng(0), exact=scenario.exact
        )
