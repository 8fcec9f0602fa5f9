"""Parts of floating numbers, the cardinal sine, partial orders, functions of slices."""

import mpmath
import numpy as np
import pytest

import numgrad as ng

from ..numpy_calls import cases, check_call, check_gradients

RNG = np.random.default_rng(13)
X, M = RNG.standard_normal(6), RNG.standard_normal((3, 4))
SPECIAL = np.array(
    [0.0, -0.0, 1.5, -2.25, 3, -3, np.inf, -np.inf, np.nan, 5e-324, 1e308, -1e-310]
)  # fmt: skip

PARTS = {
    "sinc": lambda np, x: np.sinc(x),
    "modf": lambda np, x: np.modf(x),
    "frexp": lambda np, x: np.frexp(x),
    "heaviside": lambda np, x: np.heaviside(x, 0.5),
    "heaviside-values": lambda np, x: np.heaviside(x, x[::-1]),
    "float_power": lambda np, x: np.float_power(x, 2),
    "divmod": lambda np, x: np.divmod(x, 2),
    "nextafter": lambda np, x: np.nextafter(x, 3),
    "nextafter-each": lambda np, x: np.nextafter(x, x[::-1]),
    "spacing": lambda np, x: np.spacing(x),
    "i0": lambda np, x: np.i0(np.clip(x, -9, 9)),
    "isneginf": lambda np, x: np.isneginf(x),
    "isposinf": lambda np, x: np.isposinf(x),
    "iscomplex": lambda np, x: np.iscomplex(x),
    "isreal": lambda np, x: np.isreal(x),
    "real_if_close": lambda np, x: np.real_if_close(x),
    "ldexp": lambda np, x: [np.ldexp(x, n) for n in (0, 3, -5, 2000, -2000, -1070, 2**30)],
    "ldexp-float": lambda np, x: np.ldexp(x, 0.5),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@cases(PARTS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_equals_numpy_at_special_points(call, dtype):
    check_call(call, SPECIAL.astype(dtype))


@pytest.mark.parametrize("name", ["modf", "frexp", "heaviside", "float_power", "divmod", "isreal"])
def test_integers(name):
    check_call(PARTS[name], np.array([0, 1, -3, 7]))


def test_integers_and_divisors():
    check_call(lambda np, n: [np.gcd(n, 12), np.lcm(n, 4)], np.array([0, 8, -18]))


@pytest.mark.parametrize("name", ["modf", "frexp"])
def test_zeros_keep_their_signs(name):
    for ours, theirs in zip(PARTS[name](ng, SPECIAL), PARTS[name](np, SPECIAL), strict=True):
        np.testing.assert_array_equal(np.signbit(ours.numpy()), np.signbit(theirs))


COMPLEX = {
    "iscomplex": lambda np, z: np.iscomplex(z),
    "isreal": lambda np, z: np.isreal(z),
    "sinc": lambda np, z: np.sinc(z),
    "real_if_close": lambda np, z: np.real_if_close(z[:2]),
    "real_if_close-far": lambda np, z: np.real_if_close(z),
    "real_if_close-tol": lambda np, z: np.real_if_close(z, 3),
    "isneginf": lambda np, z: np.isneginf(z),
    "modf": lambda np, z: np.modf(z),
}  # fmt: skip


@cases(COMPLEX)
def test_complex_numbers(call):
    check_call(call, np.array([1 + 1e-15j, 2, 3 - 2j]))


DERIVATIVES = {
    "sinc": PARTS["sinc"],
    "i0": lambda np, x: np.i0(x),
    "modf": lambda np, x: np.modf(x)[0],
    "frexp": lambda np, x: np.frexp(x + 0.1)[0],
    "ldexp": lambda np, x: np.ldexp(x, [3, 1, 0, -1, -2, 5]),
    "heaviside": lambda np, x: np.heaviside(x, 0.5) * x,
    "float_power": lambda np, x: np.float_power(abs(x), x),
    "divmod": lambda np, x: np.divmod(x, 0.3)[1],
    "partition": lambda np, x: np.sort(np.partition(x, 2)),
}  # fmt: skip


@cases(DERIVATIVES)
def test_derivatives(call):
    leaf = ng.tensor(X, requires_grad=True)
    assert ng.testing.gradcheck(lambda x: call(ng, x), (leaf,))
    assert ng.testing.gradgradcheck(lambda x: call(ng, x), (leaf,))


def test_derivatives_at_whole_numbers_and_of_the_next_number():
    x = ng.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    for y in (ng.modf(x)[0], ng.nextafter(x, 9.0)):
        np.testing.assert_array_equal(ng.grad(y.sum(), x)[0].numpy(), np.ones(3))


@pytest.mark.parametrize("order", range(1, 7))
def test_derivatives_of_sinc_are_precise_near_0_too(order):
    points = [1e-9, 1e-3, 0.3, 0.95, 1.0, 2.7, 9.3]
    x = ng.tensor(points, requires_grad=True)
    y = ng.sinc(x)
    for _ in range(order):
        (y,) = ng.grad(y.sum(), x, create_graph=True)
    with mpmath.workdps(60):
        expected = [
            float(mpmath.diff(lambda t: mpmath.sinc(mpmath.pi * t), mpmath.mpf(p), order))
            for p in points
        ]
    np.testing.assert_allclose(
        y.detach().numpy(), expected, 1e-13, 1e-15 * np.abs(expected).max() * order
    )


# Orders -------------------------------------------------------------------------------------------

N = RNG.integers(0, 4, (4, 6))
ORDERS = {
    "lexsort": lambda np, n: np.lexsort((n[0], n[1])),
    "lexsort-rows": lambda np, n: np.lexsort(n),
    "lexsort-axis": lambda np, n: np.lexsort((n, n[::-1]), 0),
    "lexsort-none": lambda np, n: np.lexsort(()),
    "flatnonzero": lambda np, n: np.flatnonzero(n),
    "sort_complex": lambda np, n: np.sort_complex(n * 1.0),
    "partition": lambda np, n: np.partition(n, [1, 3], axis=0)[[1, 3]],
    "partition-all": lambda np, n: np.partition(n, -2, axis=None)[-2],
    "partition-far": lambda np, n: np.partition(n, 6),
    "argpartition": lambda np, n: np.take_along_axis(n, np.argpartition(n, 2), -1)[:, 2],
}  # fmt: skip


@cases(ORDERS)
def test_orders_equal_numpy(call):
    check_call(call, N)


# Functions of slices and elements -----------------------------------------------------------------

FUNCTIONS = {
    "sum": lambda v: v.sum(),
    "reversed": lambda v: v[::-1] * 2,
    "matrix": lambda v: v[:, None] * v[None],
    "constant": lambda v: 3,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("axis", [0, 1, -1, 2])
def test_apply_along_axis_equals_numpy(name, axis):
    check_call(lambda np, m: np.apply_along_axis(FUNCTIONS[name], axis, m), M)
    check_call(lambda np, m: np.apply_along_axis(FUNCTIONS[name], axis, m[None] * 2), M)


def unequal(a, b):
    return a * b if a > b else a - b


APPLICATIONS = {
    "along-options": lambda np, m: np.apply_along_axis(lambda v, k, b: k * v + b, 0, m, 2, b=1),
    "along-nothing": lambda np, m: np.apply_along_axis(FUNCTIONS["sum"], 0, m[:, :0]),
    "over": lambda np, m: np.apply_over_axes(np.sum, m[None], [0, 2]),
    "over-one": lambda np, m: np.apply_over_axes(np.cumsum, m, -1),
    "over-wrong": lambda np, m: np.apply_over_axes(lambda a, n: a[..., None, None], m, 0),
}  # fmt: skip


@cases(APPLICATIONS)
def test_applications_equal_numpy(call):
    check_call(call, M)


ITERABLES = {
    "numbers": lambda np, m: np.fromiter([1, 2.5], float),
    "elements": lambda np, m: np.fromiter((v * v for v in m[0]), float),
    "as many": lambda np, m: np.fromiter((v * v for v in m[0]), np.float32, 2),
    "dtype": lambda np, m: np.fromiter((3 * v for v in m[1]), int, count=4),
    "nothing": lambda np, m: np.fromiter((), np.int16),
    "too few": lambda np, m: np.fromiter(m[0], float, 5),
}


@cases(ITERABLES)
def test_fromiter_equals_numpy(call):
    check_call(call, M, overridden=False)


def test_derivative_of_items():
    leaf = ng.tensor(M, requires_grad=True)
    assert ng.testing.gradcheck(lambda m: ng.fromiter((v * v for v in m.flat), float, 7), (leaf,))
    assert ng.fromiter((row * 2 for row in leaf), float).shape == M.shape


VECTORIZED = {
    "two": lambda np, m: np.vectorize(unequal)(m, m[:, :1]),
    "several": lambda np, m: np.vectorize(lambda a: (a, a * 2))(m),
    "excluded": lambda np, m: np.vectorize(lambda a, p: sum(p) * a, excluded=[1])(m, [1, 2]),
    "named": lambda np, m: np.vectorize(lambda a, b=2: a * b)(m, b=3),
    "otypes": lambda np, m: np.vectorize(unequal, otypes=[float])(m[:0], 1),
    "empty": lambda np, m: np.vectorize(unequal)(m[:0], 1),
    "decorator": lambda np, m: np.vectorize(otypes=["f4"])(abs)(m),
    "of vectors": lambda np, m: np.vectorize(lambda v: v @ v, signature="(n)->()")(m),
    "broadcast": lambda np, m: np.vectorize(lambda v, w: v * w.sum(), signature="(n),(k)->(n)")(
        m[:, None], m[:2, :3]
    ),
    "two results": lambda np, m: np.vectorize(
        lambda v, a: (v.sum() * a, v[1:]), signature="(n),()->(),(k)"
    )(m, m[:, 0]),
    "without a loop": lambda np, m: np.vectorize(lambda a: a.T @ a, signature="(n,k)->(k,k)")(m),
    "excluded, of vectors": lambda np, m: np.vectorize(
        lambda v, p: v[p], excluded=["p"], signature="(n)->(k)"
    )(m, p=[0, 2]),
    "no vectors": lambda np, m: np.vectorize(
        lambda v: v * 2, signature="(n)->(n)", otypes=[float]
    )(m[:0]),
}  # fmt: skip


@cases(VECTORIZED)
def test_vectorize_equals_numpy(call):
    check_call(call, M, overridden=False)


def test_derivatives_of_functions_of_slices_and_elements():
    leaf = ng.tensor(M, requires_grad=True)
    assert ng.testing.gradcheck(lambda m: VECTORIZED["two"](ng, m), (leaf,))
    check_gradients(lambda np, m: np.apply_along_axis(lambda v: v * v.sum(), 0, m), M)
    assert ng.testing.gradcheck(lambda m: VECTORIZED["two results"](ng, m), (leaf,))
    assert [index for index, _ in ng.ndenumerate(leaf)] == list(np.ndindex(3, 4))


@pytest.mark.parametrize(
    ("signature", "function", "args", "error", "text"),
    [
        ("(n)", abs, (M,), ValueError, "is not a gufunc signature"),
        ("(n)->()", abs, (M, M), TypeError, "of 1 arguments, got 2"),
        ("(n,k)->()", abs, (M[0],), ValueError, r"argument 0 has last axes \(4,\).* \(n, k\)"),
        ("(n),(n)->()", lambda a, b: 0.0, (M, M.T), ValueError, "argument 1 has last axes"),
        ("(n)->()", abs, (M,), ValueError, r"result 0 has last axes \(4,\)"),
        ("(n)->(),()", lambda v: v.sum(), (M,), ValueError, "of 2 results"),
        ("(n)->(k)", abs, (M[:0],), ValueError, "size of 'k' is not known"),
        (None, lambda a: a * np.ones(2), (M,), ValueError, "numbers alone"),
    ],
)
def test_a_signature_that_does_not_fit(signature, function, args, error, text):
    with pytest.raises(error, match=text):
        ng.vectorize(function, [float], signature=signature)(*args)
