"""An array in single precision beside a number: the dtype is NumPy's, also of a captured function
whose argument the number is."""

import numpy as np
import pytest

import numgrad as ng

X = np.array([0.25, 0.5, 1.5], np.float32)
NUMBERS = (2.0, 2, np.float64(2), np.float32(2), np.array(2, np.float32), np.array(2.0))

BETWEEN = """add subtract multiply divide power maximum minimum fmax fmin hypot fmod remainder
floor_divide arctan2 logaddexp logaddexp2 copysign nextafter heaviside float_power divmod greater
isclose append"""
CALLS = {
    "choose": lambda np, x, a: np.choose((x > 0.3).astype(int), [x, a]),
    "clip": lambda np, x, a: np.clip(x, 0, a),
    "clip-number": lambda np, x, a: np.clip(a, x, x + 1),
    "ediff1d": lambda np, x, a: np.ediff1d(x, a),
    "full_like": lambda np, x, a: np.full_like(x, a),
    "insert": lambda np, x, a: np.insert(x, 1, a),
    "interp": lambda np, x, a: np.interp(a, x, x),
    "linspace": lambda np, x, a: np.linspace(x, a, 3),
    "multiply-dtype": lambda np, x, a: np.multiply(x, a, dtype=np.float64),
    "nan_to_num": lambda np, x, a: np.nan_to_num(x, nan=a, posinf=a, neginf=a),
    "pad": lambda np, x, a: np.pad(x, 1, constant_values=a),
    "percentile": lambda np, x, a: np.percentile(x, a * 10),
    "nanquantile": lambda np, x, a: np.nanquantile(x, a / 4),
    "select": lambda np, x, a: np.select([x > 0.3], [x], a),
    "sum": lambda np, x, a: np.sum(x, initial=a),
    "trapezoid": lambda np, x, a: np.trapezoid(x, dx=a),
    "where": lambda np, x, a: np.where(x > 0.3, x, a),
}


def dtypes(result):
    return [part.dtype for part in (result if isinstance(result, tuple) else (result,))]


def check(call, number):
    expected = call(np, X, number)
    found = call(ng, ng.tensor(X, requires_grad=True), number)
    captured = ng.jit(lambda x, a: call(ng, x, a))(X, number)
    assert dtypes(found) == dtypes(captured) == dtypes(expected)
    np.testing.assert_allclose(captured, expected, rtol=1e-6)


@pytest.mark.parametrize("number", NUMBERS, ids=lambda n: f"{type(n).__name__}-{np.ndim(n)}")
@pytest.mark.parametrize("name", CALLS)
def test_dtypes_beside_a_number(name, number):
    check(CALLS[name], number)


@pytest.mark.parametrize("name", BETWEEN.split())
def test_dtypes_of_functions_of_two_arguments(name):
    for number in NUMBERS:
        check(lambda np, x, a: getattr(np, name)(x, a), number)
        check(lambda np, x, a: getattr(np, name)(a, x), number)


def test_a_quantile_whose_number_is_known_later_is_that_of_numpy_or_nan():
    quantile = ng.jit(ng.quantile)
    for q in (0.3, 0.5, 1.0):
        np.testing.assert_allclose(quantile(X, q), np.quantile(X, q), rtol=1e-6)
    assert np.isnan(quantile(X, 1.5))
    assert np.isnan(quantile(X, -0.5))


@pytest.mark.parametrize("number", [2.0, np.float64(2)], ids=["float", "float64"])
@pytest.mark.parametrize("call", [
    lambda x, a: np.linalg.norm(x, ord=a), lambda x, a: np.var(x, ddof=a)
], ids=["norm", "var"])  # fmt: skip
def test_a_number_that_has_to_be_known_is_refused_with_what_to_write(call, number):
    with pytest.raises(ng.errors.CaptureError, match="make the argument static"):
        ng.jit(call)(X, number)
    static = ng.jit(call, static_argnums=1)
    np.testing.assert_allclose(static(X, number), call(X, number), rtol=1e-6)


def test_the_line_of_a_refusal_is_the_user_s_where_scipy_reads_a_value():
    with pytest.raises(ng.errors.CaptureError, match=r"at .*test_jit_scalars\.py:\d+ in <lambda>"):
        ng.jit(lambda x: ng.stats.skewnorm.ppf(x, 1.2))(np.array([0.3, 0.4]))


def test_complex_numbers_replace_no_real_ones():
    with pytest.raises(TypeError, match="nan_to_num: elements of float32"):
        ng.nan_to_num(ng.tensor(X), nan=1j)
