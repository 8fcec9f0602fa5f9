"""Elementwise operators on shapes that never come again: learned once for all shapes of a rank."""

import math

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.graph.kind import Family

PATH, MATH = ng.get_flags("path")["path"], ng.get_flags("math")["math"]
LENGTHS = [2, 3, 5, 8, 13, 300, 1, 0, 20_000, 7]


def _families(operator):
    return [kind for kind in operator.kinds.values() if type(kind) is Family]


def _value_and_gradients(function, inputs):
    outputs = function(*inputs)
    seed = np.linspace(0.5, 1.5, outputs.size).reshape(outputs.shape)
    gradients = ng.grad(outputs, inputs, ng.tensor(seed))
    return [outputs.detach().numpy(), *(gradient.numpy() for gradient in gradients)]


def _inputs(shapes, dtype):
    rng = np.random.default_rng(sum(map(sum, shapes)))
    made = [rng.uniform(0.5, 2.0, shape).astype(dtype) for shape in shapes]
    return [ng.tensor(array, requires_grad=True) for array in made]


PROGRAMS = {
    "one operand": (lambda x: ng.exp(x), lambda n: [(n,)]),
    "numbers": (lambda x: 2 * x + 1.5 - x / 3, lambda n: [(n,)]),
    "a number that the derivative reads": (lambda x: x**2.5, lambda n: [(n,)]),
    "two operands": (lambda x, y: x * y - x / y, lambda n: [(n,), (n,)]),
    "the same operand twice": (lambda x: x * x, lambda n: [(n, 2)]),
    "an array of the user": (lambda x: x * np.arange(1.0, 1.0 + x.size), lambda n: [(n,)]),
    "last axes in common": (lambda x, b: x * b, lambda n: [(n, 4), (4,)]),
    "last axes in common, three operands": (
        lambda x, b, c: ng.where(x > 1, x * b, c - x), lambda n: [(n, 3, 4), (3, 4), (4,)]
    ),
    "no axes": (lambda x, s: x * s, lambda n: [(n, 2), ()]),
    "rows that differ as well": (lambda x, y: x + y, lambda n: [(2, n), (n,)]),
    "one row beside many": (lambda x, y: x * y, lambda n: [(n, 4), (1, 4)]),
    "sums that keep their axes": (lambda x, s: x / s - s, lambda n: [(n, 4), (n, 1)]),
    "all pairs": (lambda x, y: x - 2.0 * y, lambda n: [(n, 1), (3,)]),
    "another dtype": (lambda x: x * ng.tensor(np.arange(x.size)), lambda n: [(n,)]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", PROGRAMS)
def test_new_shapes_have_the_bits_of_the_reference_path(name, dtype):
    """The reference path learns nothing; a change of the path forgets what was learned before."""
    function, shapes = PROGRAMS[name]
    inputs = [_inputs(shapes(length), dtype) for length in LENGTHS]
    try:
        ng.set_flags(path="reference")
        expected = [_value_and_gradients(function, given) for given in inputs]
    finally:
        ng.set_flags(path=PATH)
    for given, known in zip(inputs, expected, strict=True):
        for _ in range(3):
            for found, wanted in zip(_value_and_gradients(function, given), known, strict=True):
                assert found.dtype == wanted.dtype
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.short_ways
def test_a_family_serves_a_new_shape():
    @ng.elementwise
    def doubled(x):
        return 2.0 * x

    doubled.partial("x")(lambda x: 2.0)
    for length in (5, 6, 7):
        doubled(ng.tensor(np.ones(length)))
    (family,) = _families(doubled)
    kinds = {id(kind): kind for kind in doubled.kinds.values() if type(kind) is not Family}
    assert len(kinds) == 3
    assert all(kind.has_plan and kind.family is family for kind in kinds.values())


def test_operands_that_are_converted_alone():
    """Of integers most functions have floating values."""
    for length in (3, 4, 5, 4):
        x = ng.tensor(np.arange(length))
        for _ in range(3):
            np.testing.assert_array_equal(ng.tanh(x), ng.tanh(x.astype(float)))
            np.testing.assert_array_equal(ng.arctan2(x, x), ng.arctan2(x.astype(float), x))


def test_a_rule_that_writes_the_shape_down_serves_that_shape_only():
    """The gradient of a bias is summed to the shape of the bias, that of a rounded number is
    zeros."""
    b = ng.tensor(np.ones(3), requires_grad=True)
    for length in (4, 9, 11, 17, 4):
        x = ng.tensor(np.ones((length, 3)), requires_grad=True)
        for _ in range(2):
            grads = ng.grad(ng.floor(x) + b, [x, b], ng.tensor(np.ones((length, 3))))
            assert grads[0].shape == (length, 3)
            np.testing.assert_array_equal(grads[1], np.full(3, float(length)))


def test_rules_that_one_element_has_made_are_not_those_of_others():
    """The slope of a sign is an array of zeros, which has one element here first."""
    for _ in range(3):
        for length in (1, 6, 1, 7):
            x = ng.tensor(np.ones(length), requires_grad=True)
            y = ng.sign(x) * 2.0 - ng.floor(x) * x
            assert ng.grad(y, x, ng.tensor(np.ones(length)))[0].tolist() == [-1.0] * length


@pytest.mark.parametrize("first", [(1, 1), (2, 2)])
def test_a_tensor_without_axes_is_no_number(first):
    """Beside one element its gradient is a product, beside several a sum of products."""
    ng.set_flags()  # forgets what other tests have met
    for shape in [first, (1, 1), (3, 2), (1, 1), (4, 2), (2, 2)] * 2:
        s = ng.tensor(0.5, requires_grad=True)
        array = np.linspace(1.0, 2.0, shape[0] * shape[1]).reshape(shape)
        gradient = ng.grad(s * array, s, ng.tensor(np.ones(shape)))[0]
        np.testing.assert_allclose(gradient, array.sum(), rtol=1e-14)


def test_a_change_of_settings_ends_a_family():
    inputs = [np.linspace(0.1, 3.0, n) for n in range(30, 60)]
    fast = [ng.sin(ng.tensor(array)).numpy() for array in inputs]
    try:
        ng.set_flags(math="libm")
        exact = [ng.sin(ng.tensor(array)).numpy() for array in inputs]
    finally:
        ng.set_flags(math=MATH)
    for array, first, second in zip(inputs, fast, exact, strict=True):
        np.testing.assert_array_equal(second, [math.sin(x) for x in array])
        np.testing.assert_array_equal(first, ng.sin(ng.tensor(array)).numpy())
    assert any(not np.array_equal(a, b) for a, b in zip(fast, exact, strict=True))


def test_a_wrong_shape_raises_as_before():
    for length in (4, 5):
        ng.tensor(np.ones((length, 3))) + ng.tensor(np.ones(3))
    with pytest.raises(ValueError, match=r"add: operands of shapes .* cannot be"):
        ng.tensor(np.ones((6, 3))) + ng.tensor(np.ones(4))
