"""Programs of NumPy run with tensors, eagerly and captured, with the right gradients."""

import numpy as np
import pytest

import numgrad as ng

from . import arrays, dynamics, fields, geometry, numerics, signals, statistics  # noqa: F401
from .collection import PROGRAMS

STEP = 1e-4


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


CAPTURED = [p for p in PROGRAMS if not p.decides]


@pytest.mark.parametrize(("program", "namespace"), list(variants(CAPTURED)))
def test_captured(program, namespace):
    run = ng.jit(differentiated(program, namespace))
    changed = [x * 1.001 if np.asarray(x).dtype.kind == "f" else x for x in program.inputs]
    run(*changed)
    value, gradients = run(*program.inputs)  # replayed with other numbers
    expected = weighted(program.function(np, *program.inputs))
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-13)
    check(program, gradients)
