"""Second derivatives at kinks: NaN where there are none, and never a number that is not right."""

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

F = ng.func

TWO = np.array([[0.0, 0.0], [1.0, 2.0]])


def modulus(x):
    return np.abs(x[0] + 1j * x[1])


NOWHERE = {  # a cone of which nothing makes a smooth function
    "norm": (np.linalg.norm, np.zeros(2)),
    "vector_norm": (lambda x: ng.linalg.vector_norm(x, axis=0), np.zeros(2)),
    "Frobenius": (lambda x: np.linalg.norm(x, "fro"), np.zeros((2, 2))),
    "over axes": (lambda x: np.linalg.norm(x, axis=(0, 1), keepdims=True).sum(), np.zeros((2, 2))),
    "of complex numbers": (lambda x: np.linalg.norm(x[:1] + 1j * x[1:]), np.zeros(2)),
    "of order 3": (lambda x: np.linalg.norm(x, 3), np.zeros(2)),
    "of order 3, squared": (lambda x: np.linalg.norm(x, 3) ** 2, np.zeros(2)),
    "of order 1.5": (lambda x: np.linalg.norm(x, 1.5), np.zeros(2)),
    "of order 0.5": (lambda x: np.linalg.norm(x, 0.5), np.zeros(2)),
    "to the power 1.5": (lambda x: np.linalg.norm(x) ** 1.5, np.zeros(2)),
    "squared, and more": (lambda x: (lambda y: y**2 + y)(np.linalg.norm(x)), np.zeros(2)),
    "of order -2": (lambda x: np.linalg.norm(x, -2) ** 2, np.zeros(2)),
    "hypot": (lambda x: np.hypot(x[0], x[1]), np.zeros(2)),
    "cos of hypot": (lambda x: np.cos(np.hypot(x[0], x[1])), np.zeros(2)),
    "modulus": (modulus, np.zeros(2)),
    "log of modulus": (lambda x: np.log1p(modulus(x)), np.zeros(2)),
    "arctan2": (lambda x: np.arctan2(x[0], x[1]), np.zeros(2)),
    "angle": (lambda x: np.angle(x[0] + 1j * x[1]), np.zeros(2)),
    "std": (np.std, np.ones(3)),
    "std of complex numbers": (lambda x: np.std(x * (1 + 2j)), np.ones(2)),
    "nanstd": (lambda x: np.nanstd(np.concatenate([x, [np.nan]])), np.ones(2)),
}

def gaussian(x):
    return np.exp(-(np.linalg.norm(x) ** 2))


def mean_of_squares(x):
    return (np.eye(x.size) - 1 / x.size) * 2 / x.size


SMOOTH = {  # functions of squares, which are right: with the Hessian that they have
    "norm squared": (lambda x: np.linalg.norm(x) ** 2, np.zeros(2), 2 * np.eye(2)),
    "product": (lambda x: (lambda y: y * y)(np.linalg.norm(x)), np.zeros(2), 2 * np.eye(2)),
    "float exponent": (lambda x: np.power(np.linalg.norm(x), 2.0), np.zeros(2), 2 * np.eye(2)),
    "fourth power": (lambda x: np.linalg.norm(x) ** 4, np.zeros(2), np.zeros((2, 2))),
    "of rows": (lambda x: (np.linalg.norm(x, axis=-1) ** 2).sum(), TWO, 2 * np.eye(4)),
    "with axes": (
        lambda x: (np.linalg.norm(x, axis=1, keepdims=True) ** 2).sum(), TWO, 2 * np.eye(4)
    ),
    "Frobenius": (lambda x: np.linalg.norm(x, "fro") ** 2, np.zeros((2, 1)), 2 * np.eye(2)),
    "complex": (
        lambda x: np.linalg.norm(x[:1] + 1j * x[1:]) ** 2, np.zeros(2), 2 * np.eye(2)
    ),
    "Gaussian": (gaussian, np.zeros(2), -2 * np.eye(2)),
    "Cauchy": (lambda x: np.log1p(np.linalg.norm(x) ** 2), np.zeros(2), 2 * np.eye(2)),
    "multiquadric": (lambda x: np.sqrt(1 + np.linalg.norm(x) ** 2), np.zeros(2), np.eye(2)),
    "quotient": (
        lambda x: (lambda y: y**2 / (4 - y**2))(np.linalg.norm(x)), np.zeros(2), 0.5 * np.eye(2)
    ),
    "hypot": (lambda x: 3 * np.hypot(x[0], x[1]) ** 2, np.zeros(2), 6 * np.eye(2)),
    "modulus": (lambda x: modulus(x) ** 2, np.zeros(2), 2 * np.eye(2)),
    "std": (lambda x: np.std(x) ** 2, np.ones(3), mean_of_squares(np.ones(3))),
    "nanstd": (lambda x: np.nanstd(x) ** 2, np.ones(3), mean_of_squares(np.ones(3))),
    "std of one element": (lambda x: np.std(x, axis=1).sum(), TWO[1:].T, np.zeros((2, 2))),
}  # fmt: skip

NESTED_FORWARD = ("forward over forward", "reverse over forward")  # NaN there, as nobody sees it

HESSIANS = {
    "forward over reverse": F.hessian,
    "reverse over reverse": lambda f: F.jacrev(F.grad(f)),
    "forward over forward": lambda f: F.jacfwd(F.jacfwd(f)),
    "reverse over forward": lambda f: F.jacrev(F.jacfwd(f)),
    "captured": lambda f: ng.jit(F.hessian(f)),
    "hvp": lambda f: lambda x: by_products(lambda e: F.hvp(f, (x,), (e,))[1][0], x),
    "vhp": lambda f: lambda x: by_products(lambda e: F.vhp(f, (x,), (e,))[1][0], x),
    "mapped": lambda f: lambda x: F.vmap(F.hessian(f))(np.stack([x, x]))[1],
    "sparse": lambda f: lambda x: sparse(f, x),
}


def by_products(product, x):
    units = np.eye(x.size).reshape(x.size, *x.shape)
    return np.stack([np.asarray(product(unit)) for unit in units]).reshape(x.shape * 2)


def sparse(function, x):
    shape = x.shape
    return ng.sparse.hessian(lambda v: function(v.reshape(shape)), x.ravel()).toarray()


def hessians(function, x):
    """Return the Hessian in all ways, the graph met once and again."""
    for name, way in HESSIANS.items():
        of = way(function)
        for _ in range(2):
            yield name, np.asarray(of(x)).reshape(x.size, x.size)


@pytest.mark.parametrize("name", one_in(2, NOWHERE))
def test_second_derivatives_that_do_not_exist_are_nan_in_every_mode(name):
    function, x = NOWHERE[name]
    first = F.grad(function)(x)
    np.testing.assert_array_equal(first, np.zeros_like(x))
    for mode, found in hessians(function, x):
        assert np.isnan(found).all(), mode


@pytest.mark.parametrize("name", one_in(2, SMOOTH))
def test_functions_of_a_square_have_their_second_derivatives(name):
    function, x, expected = SMOOTH[name]
    for mode, found in hessians(function, x):
        right = np.isclose(found, expected, 1e-13, 1e-15)
        assert (right | np.isnan(found) if mode in NESTED_FORWARD else right).all(), mode


def test_a_kernel_between_points_that_coincide():
    """A Gaussian process with derivatives: the mixed second derivative of its kernel is 2."""
    kernel = lambda a, b: np.exp(-(np.linalg.norm(a - b) ** 2))  # noqa: E731
    x = np.array([0.3, 0.1])
    slope = F.grad(kernel, argnums=0)
    for of in (F.jacfwd, F.jacrev):
        np.testing.assert_allclose(of(slope, argnums=1)(x, x), 2 * np.eye(2), 1e-15)
        mapped = F.vmap(of(slope, argnums=1))(np.stack([x, x]), np.stack([x, x + 1]))
        np.testing.assert_allclose(mapped[0], 2 * np.eye(2), 1e-15)


def test_a_gradient_is_the_same_where_it_is_recorded_and_whatever_hooks_do():
    rng = np.random.default_rng(0)
    points = np.vstack([rng.standard_normal((3, 2)), np.zeros((1, 2)), [[1e-100, 0.0]]])
    for function in (
        lambda x: (np.linalg.norm(x, axis=1) ** 2).sum(),
        lambda x: (np.hypot(x[:, 0], x[:, 1]) ** 2).sum(),
        lambda x: (np.abs(x[:, 0] + 1j * x[:, 1]) ** 2).sum(),
        lambda x: np.exp(-(np.std(x, axis=1) ** 3)).sum(),
    ):
        x = ng.tensor(points, requires_grad=True)
        plain, recorded = (
            ng.grad(function(x), x, create_graph=graph)[0].detach().numpy() for graph in (0, 1)
        )
        np.testing.assert_array_equal(plain, recorded)
    x = ng.tensor(np.zeros(2), requires_grad=True)
    y = np.linalg.norm(x)
    y.register_hook(lambda g: 3 * g)
    g = ng.grad(y**2, x, create_graph=True)[0]
    np.testing.assert_array_equal(ng.grad(g[0], x)[0].numpy(), [6.0, 0.0])


def test_neighbours_of_a_kink_keep_their_derivatives():
    """Of elements, of which one is at its kink, and of numbers whose squares vanish."""
    found = F.hessian(lambda x: np.linalg.norm(x, axis=-1).sum())(TWO)
    u = TWO[1] / np.sqrt(5)
    np.testing.assert_allclose(found[1, :, 1], (np.eye(2) - np.outer(u, u)) / np.sqrt(5), 1e-14)
    assert np.isnan(found[0, :, 0]).all()
    small = np.array([3e-200, 4e-200])
    length = lambda x: np.hypot(x[0], x[1])  # noqa: E731
    np.testing.assert_allclose(F.grad(length)(small), [0.6, 0.8], 1e-15)
    expected = np.array([[0.64, -0.48], [-0.48, 0.36]]) / 5e-200
    np.testing.assert_allclose(F.hessian(length)(small), expected, 1e-14)
    square = F.hessian(lambda x: np.linalg.norm(x) ** 2)
    np.testing.assert_array_equal(square(small), 2 * np.eye(2))


def test_what_is_piecewise_linear_has_the_second_derivative_of_a_piece():
    for function in (
        lambda x: (np.abs(x) ** 2).sum(), lambda x: (np.maximum(x, 0) ** 1).sum(),
        lambda x: np.clip(x, 0, 1).sum(), lambda x: np.linalg.norm(x, 1),
        lambda x: np.linalg.norm(x, np.inf), lambda x: np.max(x),
    ):  # fmt: skip
        for mode, found in hessians(function, np.zeros(2)):
            np.testing.assert_array_equal(found, np.zeros((2, 2)), mode)


KINKS = (
    np.linalg.norm,
    lambda x: np.hypot(x[0], x[1]),
    modulus,
    lambda x: np.std(np.concatenate([x, -x])),
    lambda x: np.linalg.norm(x, 3),
    lambda x: np.linalg.norm(x + 1j * x[::-1]),
)
OUTER = (
    lambda t: t, np.square, lambda t: t**3, lambda t: t**4, lambda t: t**1.5, lambda t: t * t,
    lambda t: np.exp(-t), np.cos, np.log1p, lambda t: np.sqrt(1 + t), lambda t: t / (1 + t),
)  # fmt: skip


def drawn(rng):
    """Return a random function with a kink at 0, which may cancel."""
    kink = KINKS[rng.integers(len(KINKS))]
    steps = [OUTER[n] for n in rng.integers(len(OUTER), size=rng.integers(1, 4))]
    weight, line = rng.uniform(0.5, 2.0), rng.uniform(-1.0, 1.0, 2)

    def function(x):
        t = weight * kink(x)
        for step in steps:
            t = step(t)
        return t + (line * x).sum() ** 2

    return function


def second_differences(function, step):
    """Return the Hessian at 0 by values of NumPy."""
    units, corner = step * np.eye(2), np.array([1, -1])
    values = [[[[function(a * units[i] + b * units[j]) * a * b for a in corner] for b in corner]
               for i in range(2)] for j in range(2)]  # fmt: skip
    return np.sum(values, axis=(2, 3)) / (4 * step * step)


def test_random_functions_are_right_or_nan_at_a_kink():
    """What is a number there is that of second differences, whose limit it is."""
    rng, numbers = np.random.default_rng(5), 0
    for _ in range(20):
        function = drawn(rng)
        wide, narrow = (second_differences(function, step) for step in (2e-3, 1e-3))
        for mode in ("forward over reverse", "reverse over reverse", *NESTED_FORWARD):
            found = np.asarray(HESSIANS[mode](function)(np.zeros(2)))
            known = np.isfinite(found)
            numbers += known.all()
            np.testing.assert_allclose(found[known], narrow[known], 0.02, 0.02, err_msg=mode)
            np.testing.assert_allclose(found[known], wide[known], 0.04, 0.04, err_msg=mode)
    assert numbers > 10  # not all are NaN
