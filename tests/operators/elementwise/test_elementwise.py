"""Elementwise operators against NumPy, and their partials against differences of values."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad._errors import DtypeError

NUMPY_NAMES = {
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atan2": "arctan2", "atanh": "arctanh", "direction": "sign", "pow": "power",
}  # fmt: skip

ANYWHERE = np.array([-2.55, -1.25, -0.6, -0.3, 0.2, 0.7, 0.9, 1.3, 2.4, 3.1])
OTHER = np.roll(ANYWHERE, 3) + 0.05
INSIDE = np.array([-0.99, -0.7, -0.3, 0.01, 0.2, 0.5, 0.6, 0.9, 0.98, -0.5])
POSITIVE = np.abs(ANYWHERE) + 0.1
DOMAINS = {
    "acos": [INSIDE], "acosh": [POSITIVE + 1], "asin": [INSIDE], "atanh": [INSIDE],
    "log": [POSITIVE], "log10": [POSITIVE], "log1p": [INSIDE], "log2": [POSITIVE],
    "pow": [POSITIVE, OTHER], "sqrt": [POSITIVE],
}  # fmt: skip
UNARY = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cbrt",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "log",
    "log10",
    "log1p",
    "log2",
    "negative",
    "reciprocal",
    "round",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
BINARY = [
    "add",
    "atan2",
    "copysign",
    "divide",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "logaddexp",
    "maximum",
    "minimum",
    "multiply",
    "pow",
    "remainder",
    "subtract",
]
TESTS = ["isfinite", "isinf", "isnan", "logical_not", "signbit"]
COMPARISONS = [
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "not_equal",
]
COMPLEX = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "conj",
    "cos",
    "cosh",
    "direction",
    "exp",
    "exp2",
    "expm1",
    "imag",
    "log",
    "log10",
    "log1p",
    "log2",
    "negative",
    "real",
    "reciprocal",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
]
EXTREMES = np.array(
    [-np.inf, -1e300, -50, -1.5, -1, -0.5, -0.0, 0, 1e-300, 0.5, 1, 1.5, 700, np.inf, np.nan]
)


def domain(name):
    return DOMAINS.get(name, [ANYWHERE] if name in UNARY else [ANYWHERE, OTHER])


def numpy_function(name):
    return getattr(np, NUMPY_NAMES.get(name, name))


def value(name, *arrays):
    return registry[name](*arrays).numpy()


def same(actual, expected, rtol):
    assert actual.dtype == expected.dtype
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=0)


# Values


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", UNARY + TESTS)
def test_unary_equals_numpy_at_extremes(name):
    same(value(name, EXTREMES), numpy_function(name)(EXTREMES), 3e-15)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", BINARY + COMPARISONS)
def test_binary_equals_numpy_at_extremes(name):
    x1, x2 = np.meshgrid(EXTREMES, EXTREMES)
    same(value(name, x1, x2), numpy_function(name)(x1, x2), 3e-15)


@pytest.mark.parametrize("name", ["cbrt", "exp2", "expm1", "hypot", "log1p", "pow", "sign", "tanh"])
def test_float32_is_computed_in_float32(name):
    arrays = [a.astype(np.float32) for a in domain(name)]
    same(value(name, *arrays), numpy_function(name)(*arrays), 2e-6)


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_equals_numpy(name):
    z = ANYWHERE + 1j * OTHER
    same(value(name, z), numpy_function(name)(z), 1e-14)


@pytest.mark.parametrize("name", ["expm1", "log1p"])
def test_complex_functions_are_precise_near_zero(name):
    z = np.array([1e-9 + 2e-9j, -3e-12 + 1e-5j])
    series = {"expm1": z + z * z / 2 + z**3 / 6, "log1p": z - z * z / 2 + z**3 / 3}
    same(value(name, z), series[name], 1e-15)


def test_complex_powers_of_zero():
    powers = value("pow", np.zeros(4, complex), np.array([2, 0, -1, 1 + 1j]))
    np.testing.assert_array_equal(powers, [0, 1, np.nan, 0])


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_slopes_of_complex_powers_of_zero(dtype, create_graph):
    exponents = np.array([0, 1, 2, 2 + 1j, 3.5 - 2j, 1.5], dtype)
    x = ng.tensor(np.zeros(6, dtype), requires_grad=True)
    (g,) = ng.grad((x**exponents).sum(), x, create_graph=create_graph)
    np.testing.assert_array_equal(g.detach(), [0, 1, 0, 0, 0, 0])


@pytest.mark.parametrize("name", ["add", "floor_divide", "maximum", "multiply", "remainder"])
def test_integers_are_computed_by_numpy(name):
    x1, x2 = np.array([-7, 2**62 + 1, 5]), np.array([3, 2, -4])
    same(value(name, x1, x2), numpy_function(name)(x1, x2), 0)


def test_integers_become_float64_where_numpy_has_no_integer_result():
    assert value("sin", np.arange(3, dtype=np.int8)).dtype == np.float64
    assert value("divide", np.array([1]), np.array([2])) == 0.5


def test_float16_is_storage():
    x = np.array([0.5, 1.5], np.float16)
    same(value("exp", x), np.exp(x), 1e-3)


@pytest.mark.parametrize(
    "name", ["cbrt", "atan2", "hypot", "maximum", "less", "floor", "remainder", "sign"]
)
def test_undefined_for_complex_is_refused(name):
    operator = registry[name]
    with pytest.raises(DtypeError, match=name):
        operator(*[np.ones(2, complex)] * len(operator.parameters))


@pytest.mark.parametrize("name", ["sin", "hypot"])
def test_strided_reversed_broadcast_and_empty_arrays(name):
    base = np.linspace(-2, 2, 24).reshape(4, 6)
    layouts = [base[::-1, ::2], base.T, base[:0], base[1, 2], np.broadcast_to(base[0], (3, 6))]
    for x in layouts:
        arrays = [x] * len(registry[name].parameters)
        np.testing.assert_array_equal(
            value(name, *arrays), value(name, *[np.array(a) for a in arrays])
        )


# Derivatives


def derivatives(name, arrays, weights):
    """First derivatives, then those of their sum weighted with ``weights``."""
    inputs = [ng.tensor(a, requires_grad=True) for a in arrays]
    first = ng.grad(registry[name](*inputs), inputs, create_graph=True)
    total = sum((f * w).sum() for f, w in zip(first, weights, strict=True) if f.requires_grad)
    if not isinstance(total, ng.Tensor):
        return first, [np.zeros(a.shape) for a in arrays]
    return first, [h.numpy() for h in ng.grad(total, inputs, materialize_grads=True)]


def differences(function, arrays, step):
    """Central differences of an elementwise function with respect to each argument."""
    for n, array in enumerate(arrays):
        ends = [function(*arrays[:n], array + sign * step, *arrays[n + 1 :]) for sign in (1, -1)]
        yield (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize("name", UNARY + BINARY)
def test_partials_of_first_and_second_order(name):
    arrays = domain(name)
    weights = [0.7, -1.3][: len(arrays)]
    first, second = derivatives(name, arrays, weights)
    for g, expected in zip(first, differences(numpy_function(name), arrays, 1e-6), strict=True):
        np.testing.assert_allclose(g.detach().numpy(), expected, rtol=1e-7, atol=1e-7)

    def weighted(*points):
        inputs = [ng.tensor(p, requires_grad=True) for p in points]
        gradients = ng.grad(registry[name](*inputs), inputs)
        return sum(g.numpy() * w for g, w in zip(gradients, weights, strict=True))

    for h, expected in zip(second, differences(weighted, arrays, 1e-6), strict=True):
        np.testing.assert_allclose(h, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", [*COMPLEX, "pow", "divide"])
def test_complex_gradients(name):
    """The gradient of a real loss is dL/dRe + i dL/dIm."""
    z = ANYWHERE + 1j * OTHER
    arrays = [z] if name in COMPLEX else [z, np.roll(z, 2)]
    c = 0.3 - 0.8j

    def loss(*points):
        return (c * numpy_function(name)(*points)).real

    inputs = [ng.tensor(a, requires_grad=True) for a in arrays]
    output = registry[name](*inputs)
    seed = np.full(z.shape, np.conj(c) if output.dtype.kind == "c" else c.real)
    gradients = ng.grad(output, inputs, ng.tensor(seed))
    # A step along the imaginary axis divides the difference by i.
    steps = (differences(loss, arrays, 1e-6), differences(loss, arrays, 1e-6j))
    for g, along, across in zip(gradients, *steps, strict=True):
        np.testing.assert_allclose(g.numpy(), along - across, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", UNARY + BINARY)
def test_batched_equals_looped(name):
    inputs = [ng.tensor(a, requires_grad=True) for a in domain(name)]
    output = registry[name](*inputs)
    seeds = np.linspace(-1, 1, 3 * output.size).reshape(3, -1)
    batched = ng.grad(output, inputs, ng.tensor(seeds), is_grads_batched=True, retain_graph=True)
    for row, seed in enumerate(seeds):
        looped = ng.grad(output, inputs, ng.tensor(seed), retain_graph=True)
        for b, g in zip(batched, looped, strict=True):
            np.testing.assert_array_equal(b.numpy()[row], g.numpy())


# Special points


def gradients(name, *arrays):
    inputs = [ng.tensor(a, requires_grad=True) for a in arrays]
    return [g.tolist() for g in ng.grad(registry[name](*inputs), inputs)]


@pytest.mark.parametrize(
    ("name", "arrays", "expected"),
    [
        ("abs", [[0.0, -0.0]], [[0, 0]]),
        ("abs", [[0j, 2j]], [[0, 1j]]),
        ("sqrt", [[0.0]], [[np.inf]]),
        ("asin", [[1.0, -1.0]], [[np.inf, np.inf]]),
        ("maximum", [[1.0, 2.0], [1.0, 1.0]], [[0.5, 1], [0.5, 0]]),
        ("minimum", [[1.0, 2.0], [1.0, 1.0]], [[0.5, 0], [0.5, 1]]),
        ("fmax", [[np.nan, 1.0], [1.0, np.nan]], [[0, 1], [1, 0]]),
        ("hypot", [[0.0], [0.0]], [[0], [0]]),
        ("atan2", [[0.0, 1e-200], [0.0, 1e-200]], [[0, 5e199], [0, -5e199]]),
        ("pow", [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0]], [[0, 1, 0], [0, 0, 0]]),
        ("logaddexp", [[-np.inf, 800.0], [-np.inf, -800.0]], [[0.5, 1], [0.5, 0]]),
        ("clip", [[-1.0, 0.0, 1.0], [0.0] * 3, [1.0] * 3], [[0, 1, 1], [1, 0, 0], [0, 0, 0]]),
    ],
)  # fmt: skip
def test_special_points(name, arrays, expected):
    for g, e in zip(gradients(name, *arrays), expected, strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-15)


def test_integer_powers_of_negative_numbers():
    x = ng.tensor([-2.0, 0.0], requires_grad=True)
    (g,) = ng.grad(ng.pow(x, 3), x, create_graph=True)
    assert g.tolist() == [12, 0]
    assert ng.grad(g, x)[0].tolist() == [-12, 0]


def test_mixed_second_derivative_of_a_power_with_exponent_zero():
    x, n = (ng.tensor([v], requires_grad=True) for v in (2.0, 0.0))
    (g,) = ng.grad(ng.pow(x, n), x, create_graph=True)
    np.testing.assert_allclose(ng.grad(g, n)[0].numpy(), [0.5])


@pytest.mark.parametrize("name", ["hypot", "atan2"])
def test_second_derivatives_that_do_not_exist_are_nan(name):
    inputs = [ng.tensor([0.0], requires_grad=True) for _ in range(2)]
    first = ng.grad(registry[name](*inputs), inputs, create_graph=True)
    assert np.isnan(ng.grad(first[0], inputs[0])[0].numpy()).all()


def test_an_infinite_cotangent_does_not_leak_into_what_was_not_chosen():
    x = ng.tensor([-1.0, 4.0], requires_grad=True)
    for chosen in (ng.maximum(x, 0.0), ng.clip(x, 0.0), ng.where(x > 0, x, 0.0)):
        assert ng.grad(ng.sqrt(chosen), x)[0].tolist() == [0, 0.25]


def test_zero_derivatives_are_zero_for_infinite_cotangents():
    x = ng.tensor([0.0], requires_grad=True)
    assert ng.grad(ng.sqrt(ng.floor(x)), x)[0].tolist() == [0]


def test_expm1_has_a_precise_derivative_far_below_zero():
    x = ng.tensor([-40.0], requires_grad=True)
    np.testing.assert_allclose(ng.grad(ng.expm1(x), x)[0].numpy(), np.exp([-40.0]), rtol=1e-15)


def test_a_traced_partial_keeps_float32():
    x = ng.tensor(np.array([1.0, 2.0], np.float32), requires_grad=True)
    (g,) = ng.grad(ng.copysign(x, -1.0), x, create_graph=True)
    assert g.dtype == np.float32


def test_repeated_operands_leave_the_buffers_of_numpy_alone():
    before = np.getbufsize()
    column, row = np.arange(200.0)[:, None], np.arange(300.0)
    for _ in range(3):
        found = (ng.tensor(column) * ng.tensor(row[None])).numpy()
        assert np.array_equal(found, column * row)
    assert np.getbufsize() == before
