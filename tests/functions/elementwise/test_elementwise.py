"""The NumPy namespace of elementwise functions: names, aliases, static parameters, refusals."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import DtypeError

X = np.array([-2.5, -0.5, 0.0, 0.5, 1.5, 2.5])


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("absolute", "abs"), ("arccos", "acos"), ("arccosh", "acosh"), ("arcsin", "asin"),
        ("arcsinh", "asinh"), ("arctan", "atan"), ("arctan2", "atan2"), ("arctanh", "atanh"),
        ("around", "round"), ("bitwise_not", "bitwise_invert"), ("conjugate", "conj"),
        ("degrees", "rad2deg"), ("left_shift", "bitwise_left_shift"), ("mod", "remainder"),
        ("power", "pow"), ("radians", "deg2rad"), ("true_divide", "divide"),
    ],
)  # fmt: skip
def test_names_of_numpy_are_aliases(alias, name):
    assert getattr(ng, alias) is getattr(ng, name)
    assert hasattr(np, alias)


@pytest.mark.parametrize("argument", [1.5, [1.5], np.array([1.5]), ng.tensor([1.5])])
def test_numbers_sequences_arrays_and_tensors_are_accepted(argument):
    result = ng.multiply(argument, 2)
    assert isinstance(result, ng.Tensor)
    assert result.numpy() == 3


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "bool"])
def test_absolute_values_and_roundings_of_integers_are_floats(dtype):
    x = np.array([-128, 0, 1]).astype(dtype)
    for name in ("fabs", "rint"):
        result = getattr(ng, name)(ng.tensor(x))
        assert result.dtype == np.float64, name
        np.testing.assert_array_equal(result.numpy(), getattr(np, name)(x.astype(float)))


def test_square_serves_the_exponent_two():
    x = ng.tensor(X, requires_grad=True)
    assert ng.pow(x, 2).grad_fn.name() == "square"
    np.testing.assert_array_equal(ng.pow(np.arange(3), 2).numpy(), [0, 1, 4])


@pytest.mark.parametrize(
    ("exponent", "name"),
    [(3, "cube"), (3.0, "cube"), (2.0, "square"), (4, "square"), (6, "square"), (5, "pow"),
     (-1, "reciprocal"), (-2.0, "square"), (0.5, "sqrt"), (np.float64(3.0), "pow")],
)  # fmt: skip
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_some_exponents_need_no_logarithm(exponent, name, dtype):
    points = np.array([-1.5, 0.3, 1.0, 2.5, 1e-10], dtype)
    points = points if exponent != 0.5 else abs(points).astype(dtype)
    x = ng.tensor(points, requires_grad=True)
    y = x**exponent
    assert y.grad_fn.name() == name
    assert y.dtype == (points**exponent).dtype
    np.testing.assert_allclose(y.detach().numpy(), points**exponent, 4 * np.finfo(dtype).eps)
    (slope,) = ng.grad(y.sum().real, x)
    expected = np.conj(exponent * points ** (exponent - 1))
    np.testing.assert_allclose(slope.numpy(), expected, 8 * np.finfo(dtype).eps)


def test_short_exponents_of_integers_are_those_of_numpy():
    with pytest.raises(ValueError, match="negative integer powers"):
        ng.tensor([1, 2]) ** -1
    np.testing.assert_array_equal((ng.tensor([1, 2]) ** 3).numpy(), [1, 8])
    np.testing.assert_array_equal((ng.tensor([1, 4]) ** 0.5).numpy(), [1.0, 2.0])


@pytest.mark.parametrize("bounds", [(-1.0, None), (None, 1.0), (-1.0, 1.0), (1.0, -1.0), (0, 1)])
def test_clip(bounds):
    np.testing.assert_array_equal(ng.clip(X, *bounds).numpy(), np.clip(X, *bounds))


def test_clip_keeps_dtypes():
    x = np.array([-3, 5])
    for bounds in [(0, None), (None, 2), (0, 2)]:
        result = ng.clip(x, *bounds).numpy()
        np.testing.assert_array_equal(result, np.clip(x, *bounds))
        assert result.dtype == x.dtype
    assert ng.clip(X.astype(np.float32), 0.0).dtype == np.float32
    assert ng.clip(x, 0.5, None).dtype == np.float64


def test_clip_without_limits_copies():
    x = ng.tensor(X, requires_grad=True)
    np.testing.assert_array_equal(ng.grad(ng.clip(x), x)[0].numpy(), np.ones(6))


@pytest.mark.parametrize("bounds", [(-1, None), (None, 1), (-1, 1), (1, -1), (None, None)])
@pytest.mark.parametrize(
    "options",
    [
        {"where": X > 0.3},
        {"dtype": np.float32},
        {"dtype": np.int64, "casting": "unsafe"},
        {"dtype": np.float32, "where": X > 0.3},
    ],
    ids=str,
)
def test_clip_takes_the_options_of_universal_functions(bounds, options):
    results = []
    for namespace, x in ((np, X), (np, ng.tensor(X)), (ng, X)):
        into = {"out": namespace.full_like(x, 7.0)} if "where" in options else {}
        results.append(np.array(namespace.clip(x, *bounds, **into, **options)))
    for result in results[1:]:
        assert result.dtype == results[0].dtype
        np.testing.assert_array_equal(result, results[0])


def test_clip_where_keeps_the_gradients_of_both():
    x = ng.tensor(X, requires_grad=True)
    into = 3 * x
    result = np.clip(x, -1, 1, out=into, where=X > 0)
    expected = np.where(X > 0, abs(X) <= 1, 3.0)
    np.testing.assert_array_equal(ng.grad(result.sum(), x)[0].numpy(), expected)


@pytest.mark.parametrize("namespace", [np, ng])
def test_clip_casts_to_what_it_is_written_to(namespace):
    into = ng.zeros(6, dtype=np.int64)
    assert namespace.clip(ng.tensor(X), -1, 1, out=into, casting="unsafe") is into
    np.testing.assert_array_equal(into.numpy(), np.clip(X, -1, 1).astype(np.int64))


def test_clip_refuses_a_dtype_that_loses_too_much():
    with pytest.raises(TypeError, match="int64"):
        ng.clip(X, 0, 1, dtype=np.int64)


@pytest.mark.parametrize("decimals", [0, 2, -1])
@pytest.mark.parametrize("x", [np.array([12.345, -0.555, 15.0]), np.array([12, 15, -25])])
def test_round(x, decimals):
    result = ng.round(x, decimals).numpy()
    np.testing.assert_array_equal(result, np.round(x, decimals))
    assert result.dtype == x.dtype


def test_nan_to_num():
    x = np.array([np.nan, np.inf, -np.inf, 1.5])
    np.testing.assert_array_equal(ng.nan_to_num(x).numpy(), np.nan_to_num(x))
    options = {"nan": 7.0, "posinf": 8.0, "neginf": 9.0}
    np.testing.assert_array_equal(ng.nan_to_num(x, **options).numpy(), [7, 8, 9, 1.5])
    single = x.astype(np.float32)
    assert ng.nan_to_num(single).dtype == np.float32
    z = np.array([complex(np.nan, 1.0), complex(2.0, np.inf)])
    np.testing.assert_array_equal(ng.nan_to_num(z).numpy(), np.nan_to_num(z))


def test_parts_of_complex_and_of_real_numbers():
    z = np.array([1 + 2j, -1 + 0j, 0j])
    for name in ("real", "imag", "angle", "sign", "conj", "abs"):
        for x in (z, X, np.arange(3)):
            result, expected = getattr(ng, name)(x).numpy(), getattr(np, name)(x)
            np.testing.assert_allclose(result, expected, rtol=1e-15)
            assert result.dtype == expected.dtype, (name, x.dtype)
    assert ng.angle(1j, deg=True).numpy() == 90


def test_gradients_through_parts():
    z = ng.tensor([3 + 4j, 0j], requires_grad=True)
    expected = {
        "real": [1, 1],
        "imag": [1j, 1j],
        "abs": [0.6 + 0.8j, 0],
        "angle": [-0.16 + 0.12j, 0],
    }
    for name, gradient in expected.items():
        np.testing.assert_allclose(ng.grad(getattr(ng, name)(z), z)[0].numpy(), gradient)


def test_where_broadcasts_and_takes_weak_numbers():
    x = ng.tensor(np.ones((2, 3), np.float32), requires_grad=True)
    y = ng.where(np.array([True, False, True]), x, 0.0)
    assert y.dtype == np.float32
    np.testing.assert_array_equal(ng.grad(y, x)[0].numpy(), [[1, 0, 1]] * 2)


def test_bits():
    a, b = np.array([6, 5]), np.array([3, 1])
    for name in [
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "bitwise_left_shift",
        "bitwise_right_shift",
    ]:
        np.testing.assert_array_equal(getattr(ng, name)(a, b).numpy(), getattr(np, name)(a, b))
    np.testing.assert_array_equal(ng.bitwise_invert(np.array([True, False])).numpy(), [False, True])
    with pytest.raises(DtypeError, match="bitwise_and"):
        ng.bitwise_and(a, 1.0)


@pytest.mark.parametrize("name", ["deg2rad", "rad2deg", "fabs", "floor", "less", "maximum"])
def test_complex_numbers_are_refused_where_undefined(name):
    arguments = [1j] * (2 if name in ("less", "maximum") else 1)
    with pytest.raises(DtypeError):
        getattr(ng, name)(*arguments)


def test_logaddexp2_has_digits_where_the_larger_one_is_zero():
    x1, x2 = np.array([-104.0, -700.5, 0.0, -1.0]), np.array([0.0, 0.0, -1000.25, -1.0])
    np.testing.assert_allclose(ng.logaddexp2(x1, x2).numpy(), np.logaddexp2(x1, x2), rtol=1e-15)


@pytest.mark.parametrize("function", [ng.logaddexp, ng.logaddexp2])
def test_second_derivatives_of_logarithms_of_sums_vanish_far_away(function):
    points = [-np.inf, -1e300, -1e4, -2000.0, 0.0, 2000.0, 1e4, 1e300]
    x = ng.tensor(points, requires_grad=True)
    y = function(x, 0.0)
    (first,) = ng.grad(y.sum(), x, create_graph=True)
    (second,) = ng.grad(first.sum(), x, create_graph=True)
    (third,) = ng.grad(second.sum(), x)
    slope = 1.0 if function is ng.logaddexp else np.log(2)
    np.testing.assert_array_equal(first.detach().numpy(), [0, 0, 0, 0, 0.5, 1, 1, 1])
    np.testing.assert_allclose(second.detach().numpy(), [0, 0, 0, 0, slope / 4, 0, 0, 0])
    np.testing.assert_array_equal(third.numpy(), 0.0)


def test_second_derivative_of_log_expit_far_away():
    x = ng.tensor([-1e4, 0.0, 1e4, np.inf], requires_grad=True)
    (first,) = ng.grad(ng.special.log_expit(x).sum(), x, create_graph=True)
    (second,) = ng.grad(first.sum(), x)
    np.testing.assert_array_equal(second.numpy(), [0.0, -0.25, 0.0, 0.0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_slope_of_a_power_of_zero_at_tiny_bases(dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    x = ng.tensor(np.array([tiny, -3 * tiny, 0.0, 2.0, np.inf], dtype), requires_grad=True)
    exponents = ng.tensor(np.zeros(5, dtype), requires_grad=True)
    (slope,) = ng.grad(ng.pow(x, exponents).sum(), x, create_graph=True)
    np.testing.assert_array_equal(slope.detach().numpy(), 0.0)
    (mixed,) = ng.grad(slope[3], exponents)
    assert mixed.numpy()[3] == 0.5


def test_fmod_keeps_the_sign_of_zero():
    for function in (ng.fmod, ng.jit(ng.fmod)):
        found = np.asarray(function(np.array([-0.0, 0.0, -6.0]), np.array([1.0, 1.0, 3.0])))
        np.testing.assert_array_equal(np.signbit(found), [True, False, True])


def test_logaddexp2():
    x1, x2 = np.array([1.0, 1000.0]), np.array([2.0, 0.0])
    np.testing.assert_allclose(ng.logaddexp2(x1, x2).numpy(), np.logaddexp2(x1, x2), rtol=1e-15)


def test_comparisons_have_no_gradient():
    x = ng.tensor(X, requires_grad=True)
    assert not ng.less(x, 0.0).requires_grad
    assert not ng.isnan(x).requires_grad


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64"])
@pytest.mark.parametrize("number", [300, -1, 2**70, -(2**70), 2**63, 3])
def test_integers_of_any_size_are_compared_with(dtype, number):
    x = np.array([0, 3, np.iinfo(dtype).max], dtype)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        function = getattr(ng, name)
        for call in (function, ng.jit(function, static_argnums=1)):
            np.testing.assert_array_equal(call(ng.tensor(x), number), getattr(np, name)(x, number))
        np.testing.assert_array_equal(function(number, ng.tensor(x)), getattr(np, name)(number, x))
    assert (number in ng.tensor(x)) == (number in x)


def test_heaviside_refuses_complex_numbers():
    with pytest.raises(DtypeError, match="must be real"):
        ng.heaviside(ng.tensor([1.0]), 1j)
