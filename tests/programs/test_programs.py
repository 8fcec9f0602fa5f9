"""Programs of NumPy run with tensors, eagerly and captured, with the right gradients."""

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

from . import (  # noqa: F401  they collect their programs
    arrays,
    data,
    dynamics,
    engineering,
    estimation,
    fields,
    geometry,
    mechanics,
    models,
    numerics,
    recognition,
    signals,
    simulations,
    statistics,
)
from .collection import PROGRAMS

STEP = 1e-5


def weighted(output):
    """Return a number that depends on all elements of what a program returns."""
    weights = np.cos(np.arange(np.size(output))).reshape(np.shape(output))
    return (output * weights).sum()


def floats(program):
    return [i for i, x in enumerate(program.inputs) if np.asarray(x).dtype.kind == "f"]


def slope(program, direction):
    """Return the derivative of the program of NumPy in a direction, by differences of values."""

    def value(step):
        inputs = list(program.inputs)
        for i, d in direction.items():
            inputs[i] = inputs[i] + step * d
        return weighted(program.function(np, *inputs))

    if program.analytic:
        return value(1e-30j).imag / 1e-30
    near, far = (value(s) - value(-s) for s in (STEP, 2 * STEP))
    return (8 * near - far) / (12 * STEP)


def check(program, gradients):
    rng = np.random.default_rng(0)
    for _ in range(3):
        direction = {i: rng.normal(size=np.shape(program.inputs[i])) for i in floats(program)}
        expected = slope(program, direction)
        parts = [np.ravel(g * d) for g, d in zip(gradients, direction.values(), strict=True)]
        terms = np.concatenate(parts)
        tolerance = 1e-11 if program.analytic else 1e-7
        tolerance *= np.abs(terms).sum() + abs(expected)
        np.testing.assert_allclose(terms.sum(), expected, rtol=0, atol=tolerance)


def differentiated(program, namespace):
    """Return the loss and its gradients as a function of the inputs."""
    where = floats(program)

    def run(*inputs):
        return ng.func.value_and_grad(
            lambda *given: weighted(program.function(namespace, *given)), argnums=tuple(where)
        )(*inputs)

    return run


def variants(programs):
    for program in programs:
        name = program.function.__name__
        yield pytest.param(program, ng, id=f"{name}-numgrad")
        if not program.allocates:
            yield pytest.param(program, np, id=f"{name}-numpy")


@pytest.mark.parametrize(("program", "namespace"), list(variants(PROGRAMS)))
def test_values_and_gradients(program, namespace):
    copies = [np.copy(x) for x in program.inputs]
    value, gradients = differentiated(program, namespace)(*program.inputs)
    expected = weighted(program.function(np, *program.inputs))
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-13)
    check(program, gradients)
    for x, before in zip(program.inputs, copies, strict=True):
        np.testing.assert_array_equal(x, before)


DECIDING = [pytest.param(p, id=p.function.__name__) for p in PROGRAMS if p.decides]


@pytest.mark.parametrize("program", DECIDING)
def test_programs_that_branch_on_values_refuse_to_be_captured(program):
    with pytest.raises(ng.errors.CaptureError, match=r"programs/.* in \w+"):
        ng.jit(differentiated(program, np))(*program.inputs)


ALLOCATING = [pytest.param(p, id=p.function.__name__) for p in PROGRAMS if p.allocates]


@pytest.mark.parametrize("program", ALLOCATING)
def test_programs_that_keep_numpys_arrays_are_right_or_refused(program):
    try:
        value, gradients = differentiated(program, np)(*program.inputs)
    except (TypeError, ValueError, ng.errors.DetachedError) as error:
        texts = [str(e) for e in (error, error.__cause__)]
        assert any("graph" in text or "an array has no gradients" in text for text in texts)
    else:
        np.testing.assert_allclose(value, weighted(program.function(np, *program.inputs)), 1e-12)
        check(program, gradients)


CAPTURED = [p for p in PROGRAMS if not p.decides]


@pytest.mark.parametrize(("program", "namespace"), one_in(5, variants(CAPTURED)))
def test_captured(program, namespace):
    run = ng.jit(differentiated(program, namespace))
    changed = [x * 1.001 if np.asarray(x).dtype.kind == "f" else x for x in program.inputs]
    run(*changed)
    value, gradients = run(*program.inputs)  # replayed with other numbers
    expected = weighted(program.function(np, *program.inputs))
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-13)
    check(program, gradients)


@pytest.mark.parametrize(
    "program", one_in(8, [pytest.param(p, id=p.function.__name__) for p in CAPTURED])
)
def test_other_transforms_agree(program):
    """Forward mode, second derivatives against differences of first ones, maps over samples."""
    where, inputs = floats(program), program.inputs

    def loss(*given):
        return weighted(program.function(ng, *given))

    gradient = ng.func.grad(loss, argnums=tuple(where))
    rng = np.random.default_rng(0)
    tangents = tuple(rng.normal(size=np.shape(x)) for x in inputs)
    first = gradient(*inputs)
    terms = np.concatenate([np.ravel(g * d) for g, d in zip(first, tangents, strict=True)])
    _, slope = ng.func.jvp(loss, inputs, tangents)
    np.testing.assert_allclose(slope, terms.sum(), rtol=0, atol=1e-12 * np.abs(terms).sum())
    _, products = ng.func.hvp(loss, inputs, tangents)
    ends = [
        gradient(*(x + s * 1e-5 * d for x, d in zip(inputs, tangents, strict=True)))
        for s in (1, -1)
    ]
    for product, high, low in zip(products, *ends, strict=True):
        scale = np.abs(product).max() + 1e-3 * np.abs(high).max()
        np.testing.assert_allclose(product, (high - low) / 2e-5, rtol=0, atol=1e-4 * scale + 1e-7)
    mapped = ng.func.vmap(gradient)(*(np.stack([x, 1.001 * x]) for x in inputs))
    for row, expected in zip(mapped, first, strict=True):
        np.testing.assert_allclose(row[0], expected, rtol=1e-8, atol=1e-10)
