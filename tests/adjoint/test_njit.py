"""``ng.njit``: loops as users write them are Numba's for arrays, operations for tensors."""

import functools
import pickle
from typing import NamedTuple

import numba
import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

from .kernels import CASES, arguments
from .test_kernels import along

USERS = (
    "heat", "nbody", "lorenz", "kalman", "thomas", "asian_option", "time_warping", "softmax",
    "cholesky", "interpolation",
)  # fmt: skip


@functools.cache
def user_kernel(name):
    """Return a kernel under ``ng.njit`` and its arguments."""
    return ng.njit(CASES[name][0]), arguments(name, 6)


@pytest.mark.parametrize("name", one_in(4, USERS))
def test_gradients_of_loops_are_those_of_differences(name):
    function, args = user_kernel(name)
    floats = [n for n, a in enumerate(args) if np.asarray(a).dtype.kind == "f"]
    places = floats if name in ("nbody", "lorenz", "interpolation") else floats[:1]
    value, grads = ng.func.value_and_grad(function, argnums=tuple(places))(*args)
    assert value == CASES[name][0](*args)
    draw = np.random.default_rng(1)
    direction = [draw.normal(size=np.shape(args[n])) for n in places]
    total = sum(np.sum(g * d) for g, d in zip(grads, direction, strict=True))
    expected = along(function.py_func, args, places, direction)
    np.testing.assert_allclose(total, expected, rtol=1e-6, atol=1e-8)


@ng.njit
def spring(x, k=0.5):
    total = 0.0
    for i in range(1, len(x)):
        total += k * (x[i] - x[i - 1]) ** 4
    return total


@ng.njit
def stretched(x, k):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] ** 3 * k
    return y, len(x), y[0] * k


@ng.njit
def square(x):
    return x * x


@numba.njit
def quartic(x):
    return x**4


@ng.njit
def trapezoidal(f, a, b, n):
    h = (b - a) / n
    total = 0.5 * (f(a) + f(b))
    for i in range(1, n):
        total += f(a + i * h)
    return total * h


class Given(NamedTuple):
    x: np.ndarray
    k: float


@ng.njit
def named(way, pair, n, scale):
    return scale * pair.k * pair.x[0] * (2.0 if way == "twice" else n)


X = np.array([1.0, 2.0, 4.0])


def test_gradients_of_an_adjoint_stand_where_the_arguments_stand():
    way, (gx, gk), n, scale = ng.adjoint(named)("twice", Given(X, 3.0), 5, 7.0)
    assert (way, gk, n, scale) == (None, 14.0, None, 6.0)
    np.testing.assert_array_equal(gx, [42.0, 0.0, 0.0])


@pytest.mark.parametrize("f", [square, quartic], ids=["own", "numba"])
def test_a_compiled_function_is_an_argument(f):
    """The integral ends where the derivative is that of the integrand, but for the rule's error."""
    length = np.array([0.3, 0.6])
    power = 2 if f is square else 4

    def slope(b):  # of h * (sum of (i h)^p), with h = b / 4
        inner = sum(i**power for i in range(1, 4)) + 0.5 * 4**power
        return (power + 1) * b**power * inner / 4 ** (power + 1)

    def integral(b):
        return trapezoidal(f, 0.0, b, 4)

    of_one = ng.func.grad(integral)
    np.testing.assert_allclose(of_one(0.3), slope(0.3), rtol=1e-13)
    np.testing.assert_allclose(ng.func.grad(trapezoidal, 2)(f, 0.0, 0.3, 4), slope(0.3), rtol=1e-13)
    np.testing.assert_allclose(ng.jit(of_one)(0.6), slope(0.6), rtol=1e-13)
    np.testing.assert_allclose(ng.func.vmap(of_one)(length), slope(length), rtol=1e-13)
    np.testing.assert_allclose(ng.func.grad(of_one)(0.3), power * slope(0.3) / 0.3, rtol=1e-12)
    np.testing.assert_allclose(ng.adjoint(trapezoidal)(f, 0.0, 0.3, 4)[2], slope(0.3), rtol=1e-13)


@pytest.mark.parametrize("name", one_in(2, ["nbody", "time_warping"]))
def test_second_derivatives_are_those_of_differences_of_gradients(name):
    function, args = user_kernel(name)
    gradient = ng.func.grad(function)
    hessian = ng.func.hessian(function)(*args)
    d = np.random.default_rng(4).normal(size=args[0].shape)
    expected = along(gradient, args, [0], [d])
    square = hessian.reshape(d.size, d.size)
    np.testing.assert_allclose(square @ d.ravel(), expected.ravel(), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(square, square.T, rtol=1e-9, atol=1e-9)


@ng.njit
def pairs(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            total += (x[i] - x[j]) ** 2
    return total


def test_second_derivatives_where_the_first_are_zero():
    expected = 2.0 * (3.0 * np.eye(3) - 1.0)
    for transform in (ng.func.hessian, lambda f: ng.func.jacrev(ng.func.grad(f))):
        np.testing.assert_allclose(transform(pairs)(np.ones(3)), expected)


def test_arrays_and_numbers_take_the_way_of_numba():
    plain = numba.njit(spring.py_func)
    assert spring(X) == plain(X)
    assert spring(X, k=2.0) == plain(X, 2.0)
    assert isinstance(spring(X), float)
    assert spring.signatures == plain.signatures


def test_arguments_by_name_and_by_default():
    np.testing.assert_allclose(ng.func.grad(spring)(X), [-2, -14, 16])
    np.testing.assert_allclose(ng.func.grad(spring)(X, k=1.0), [-4, -28, 32])
    assert ng.func.grad(spring, argnums=1)(X, 0.5) == 17


def test_results_are_tensors_where_they_are_floats():
    x = ng.tensor(X, requires_grad=True)
    y, n, first = stretched(x, 2.0)
    assert n == 3
    assert type(n) is int
    np.testing.assert_allclose(ng.grad(y.sum() + first, x)[0].numpy(), [6 * 3, 24, 96])
    with ng.no_grad():
        y, n, first = stretched(x, 2.0)
    assert isinstance(y, ng.Tensor)
    assert not y.requires_grad
    assert first.ndim == 0


def test_jacobians_and_batched_passes():
    expected = np.diag(6 * X**2)
    np.testing.assert_allclose(ng.func.jacrev(lambda x: stretched(x, 2.0)[0])(X), expected)
    np.testing.assert_allclose(ng.func.jacfwd(lambda x: stretched(x, 2.0)[0])(X), expected)
    x = ng.tensor(X, requires_grad=True)
    y = stretched(x, 2.0)[0]
    (rows,) = ng.grad(y, x, ng.eye(3), is_grads_batched=True, retain_graph=True)
    looped = [ng.grad(y, x, row, retain_graph=True)[0].numpy() for row in np.eye(3)]
    assert np.array_equal(rows.numpy(), looped)


def test_single_precision_stays_single():
    x = ng.tensor(X.astype(np.float32), requires_grad=True)
    (g,) = ng.grad(spring(x), x)
    assert g.dtype == np.float32
    np.testing.assert_allclose(g.numpy(), [-2, -14, 16])


class Pair(NamedTuple):
    position: object
    stiffness: object


def test_tuples_of_tensors_are_arguments():
    @ng.njit
    def energy(pair):
        x, k = pair
        return 0.5 * k * np.sum(x * x)

    x, k = ng.tensor(X, requires_grad=True), ng.tensor(3.0, requires_grad=True)
    gx, gk = ng.grad(energy((x, k)), (x, k))
    assert np.array_equal(gx.numpy(), 3 * X)
    assert gk.item() == 10.5


@ng.njit
def squared_into(x, out):
    for i in range(len(x)):
        out[i] = out[i] * x[i] * x[i]


def test_a_tensor_that_is_written_has_the_new_elements_and_their_gradient():
    def loss(x):
        out = 2.0 * ng.ones(3)
        squared_into(x, out)
        return (out * out).sum()

    np.testing.assert_allclose(ng.func.grad(loss)(X), 16 * X**3)
    np.testing.assert_allclose(ng.func.hessian(loss)(X), np.diag(48 * X**2))
    out = ng.ones(3)
    squared_into(ng.tensor(X), out)
    assert np.array_equal(out.numpy(), X**2)


def test_an_array_through_which_gradients_would_flow_is_refused_by_name():
    with pytest.raises(ng.errors.ArgTypeError, match="argument out, an array of NumPy"):
        squared_into(ng.tensor(X, requires_grad=True), np.ones(3))
    out = np.ones(3)
    squared_into(ng.tensor(X), out)  # no gradient is to flow
    assert np.array_equal(out, X**2)


def test_a_statement_that_is_not_understood_is_refused_with_its_line():
    @ng.njit
    def counted(x):
        kept = [x[0]]
        kept.append(x[1])
        return kept[0] * kept[1] * kept.count(x[0])

    assert counted(X) == 2
    assert counted(ng.tensor(X)).item() == 2  # no gradient is asked for
    where = r"test_njit.py, line \d+, in counted"
    with pytest.raises(ng.errors.NotDifferentiableError, match=where):
        ng.func.grad(counted)(X)


@ng.njit
def neighbours(x):
    pairs, values = [], []
    for i in range(len(x)):
        for j in range(i):
            if abs(x[i] - x[j]) < 1.5:
                pairs.append((i, j))
                values.append(x[i] * x[j])
    order = np.argsort(np.array(values))
    total = values[order[0]] ** 3
    for i, j in pairs:
        total += (x[i] - x[j]) ** 3
    return total


def test_lists_that_grow_have_derivatives_in_all_ways():
    x = np.array([0.3, 1.2, 2.9])
    gradient = ng.func.grad(neighbours)
    along = np.array([0.2, -0.5, 0.4])

    def difference(function, h=1e-4):
        step = lambda h: (function(x + h * along) - function(x - h * along)) / (2 * h)  # noqa: E731
        return (4 * step(h / 2) - step(h)) / 3

    np.testing.assert_allclose(gradient(x) @ along, difference(neighbours), rtol=1e-8)
    second = ng.func.hessian(neighbours)(x) @ along
    np.testing.assert_allclose(second, difference(gradient), rtol=1e-6)
    rows = np.stack([x, x[::-1]])
    mapped = ng.jit(ng.func.vmap(gradient))(rows)
    np.testing.assert_array_equal(mapped, [gradient(row) for row in rows])


@ng.njit
def long_list(x):
    kept = [0.0]
    for _ in range(2000):
        for v in x:
            kept.append(0.99 * kept[-1] + v)
    return kept[-1]


def test_list_longer_than_the_tape_makes_that_longer():
    powers = 0.99 ** np.arange(6000)[::-1]
    expected = powers.reshape(2000, 3).sum(0)
    np.testing.assert_allclose(ng.func.grad(long_list)(np.ones(3)), expected, rtol=1e-12)


def test_other_functions_of_numba_call_it_and_it_is_pickled():
    @numba.njit
    def twice(x):
        return 2.0 * spring(x, 0.5)

    assert twice(X) == 17
    np.testing.assert_allclose(ng.func.grad(ng.njit(twice))(X), [-4, -28, 32])
    loaded = pickle.loads(pickle.dumps(spring))
    np.testing.assert_allclose(ng.func.grad(loaded)(X), [-2, -14, 16])


def test_signatures_and_options_are_those_of_numba():
    @ng.njit("float64(float64[:], float64)")
    def scaled(x, k):
        return x[0] * x[1] * k

    assert scaled(X, 2) == 4
    np.testing.assert_allclose(ng.func.grad(scaled)(X, k=3.0), [6, 3, 0])
    with pytest.raises(TypeError, match="No matching definition"):
        scaled("text", 2.0)

    @ng.njit(fastmath=True, boundscheck=True)
    def third(x, i):
        return x[i]

    assert third.targetoptions["fastmath"]
    assert ng.njit(third).targetoptions["boundscheck"]
    with pytest.raises(IndexError):
        third(X, 3)


def test_adjoints_on_their_own():
    gx, gk = ng.adjoint(spring)(X, 0.5)
    np.testing.assert_allclose([*gx, gk], [-2, -14, 16, 17])
    assert ng.adjoint_source(spring, X).startswith("def spring_adjoint(x, k, gx, g, tape_f")


# Lambda expressions -------------------------------------------------------------------------------

SCALE = 3.0
PAIR = ng.njit(lambda x: x[0] ** 2 * x[1]), ng.njit(lambda x: x[0] + x[1] ** 2)
INNER = [ng.njit(lambda x: (lambda y: 2 * y)(x[0])), ng.njit(lambda x: (lambda y: 3 * y)(x[0]))]
NESTED = (lambda: ng.njit(lambda x: x[0] * x[1] ** 3))()


def scaled(factor):
    return ng.njit(
        lambda x: factor * x[0] ** 2
        + SCALE * x[1]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("function", "expected"),
    [(PAIR[0], [12, 4]), (PAIR[1], [1, 6]), (INNER[0], [2, 0]), (INNER[1], [3, 0]),
     (NESTED, [27, 54]), (scaled(5.0), [20, 3])],
)  # fmt: skip
def test_lambda_expressions_are_found_among_others_in_their_line(function, expected):
    np.testing.assert_array_equal(ng.func.grad(function)(np.array([2.0, 3.0])), expected)


@ng.njit
def least_product(x, y):
    p = x[0]
    for i in range(3):
        x[i] = p * x[i + 1]
        p = np.sin(np.min(y * x))
    return p


def test_what_is_compared_in_float32_is_compared_in_float32_backwards():
    """What is computed again from the tape, which holds float64, must not have more digits."""
    rng = np.random.default_rng(0)
    gradient = ng.func.grad(lambda x, y: least_product(x + 0, y), argnums=(0, 1))
    for _ in range(5):
        x, y = rng.normal(size=(2, 5)).astype(np.float32)
        found, wanted = gradient(x, y), gradient(x.astype(float), y.astype(float))
        for single, double in zip(found, wanted, strict=True):
            assert single.dtype == np.float32
            np.testing.assert_allclose(single, double, rtol=1e-4, atol=1e-5)
