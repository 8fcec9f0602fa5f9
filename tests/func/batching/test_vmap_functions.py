"""`vmap` over functions and operators of users, and what it refuses."""

import numpy as np
import pytest
from numba import njit

import numgrad as ng

F = ng.func
RNG = np.random.default_rng(5)
X = RNG.normal(size=(5, 4))
W = RNG.normal(size=(4, 3))
ONES = np.ones((5, 3))


def close(found, expected):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12, atol=1e-12)


class Fivefold(ng.Function):
    """The square, with a derivative that is not its own."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 5 * g * x


def test_functions_keep_their_derivative():
    square = Fivefold.apply
    close(F.vmap(square)(X), X**2)
    close(F.vmap(F.grad(lambda x: square(x).sum()))(X), 5 * X)
    close(F.vmap(F.jacrev(square))(X), [np.diag(5 * x) for x in X])
    close(F.grad(lambda x: F.vmap(square)(x).sum())(X), 5 * X)


def test_operators_of_kernels():
    @ng.operator("(n),(p)->(n)")
    @njit
    def rhs(u, theta, out):
        for i in range(u.size):
            out[i] = u[i] * theta[0] + theta[1] * u[i - 1]

    @rhs.backward
    @njit
    def rhs_backward(g, u, theta, out, gu, gtheta):
        gu[:] = 0
        gtheta[:] = 0
        for i in range(u.size):
            gu[i] += g[i] * theta[0]
            gu[i - 1] += g[i] * theta[1]
            gtheta[0] += g[i] * u[i]
            gtheta[1] += g[i] * u[i - 1]

    theta = np.array([0.3, 0.7])
    close(F.vmap(rhs, in_axes=(0, None))(X, theta), X * 0.3 + 0.7 * np.roll(X, 1, 1))
    one = 0.3 * np.eye(4) + 0.7 * np.roll(np.eye(4), -1, 1)
    close(F.vmap(F.jacrev(rhs), in_axes=(0, None))(X, theta), [one] * 5)
    total = F.grad(lambda t: F.vmap(lambda x: rhs(x, t))(X).sum())(theta)
    close(total, [X.sum(), X.sum()])


def test_a_choice_of_each_sample():
    def root(x):
        return ng.cond(x[0] > 0, lambda x: np.sqrt(x[0]), lambda x: 0 * x[0], x)

    first, size = X[:, 0], np.abs(X[:, 0])
    close(F.vmap(root)(X), np.where(first > 0, np.sqrt(size), 0))
    slopes = np.where(first > 0, 0.5 / np.sqrt(size), 0)
    close(F.vmap(F.grad(root))(X)[:, 0], slopes)
    close(F.grad(lambda x: F.vmap(root)(x).sum())(X)[:, 0], slopes)


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x if x[0] > 0 else -x,
        lambda x: x * float(x[0]),
        lambda x: np.require(x),
        lambda x: x[x > 0],
        lambda x: x.__setitem__(0, 1.0),
    ],
)
def test_values_of_a_sample_are_refused(function):
    match = r"vmap is calling .*test_vmap_functions.py:\d+"
    with pytest.raises(ng.errors.CaptureError, match=match):
        F.vmap(function)(X)


@pytest.mark.parametrize(
    ("options", "args", "error", "match"),
    [
        ({}, (X, 2.0), ng.errors.ArgTypeError, "float.*in_axes"),
        ({}, (X, np.ones(3)), ValueError, r"different numbers of samples: \(5, 4\)"),
        ({}, (np.array(1.0), X), ValueError, "without axes"),
        ({"in_axes": (0,)}, (X, X), ng.errors.ArgTypeError, "1 entries.*2 positional"),
        ({"in_axes": 2}, (X, X), ValueError, "axis 2 is out of bounds"),
        ({"in_axes": None}, (X, X), ng.errors.ArgTypeError, "of no argument"),
        ({"in_axes": "a"}, (X, X), ng.errors.ArgTypeError, "ints and None, got 'a'"),
        ({"in_axes": ((0, 0), 0)}, (X, X), ng.errors.ArgTypeError, "does not fit"),
        ({"out_axes": None}, (X, X), ValueError, "differs from sample to sample"),
        ({"out_axes": 3}, (X, X), ValueError, "out_axes: axis 3 is out of bounds"),
        ({"out_axes": (0, 0)}, (X, X), ng.errors.ArgTypeError, "does not fit"),
    ],
)
def test_axes_that_do_not_fit(options, args, error, match):
    with pytest.raises(error, match=match):
        F.vmap(lambda x, y: x + y, **options)(*args)


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_a_size_of_chunks_that_is_none(size):
    with pytest.raises(ng.errors.ArgTypeError, match="chunk_size"):
        F.vmap(np.sin, chunk_size=size)


def test_what_is_no_array_is_refused():
    with pytest.raises(ng.errors.ArgTypeError, match="returned a str"):
        F.vmap(lambda x: "a")(X)
    with pytest.raises(ng.errors.ArgTypeError, match="expected a function"):
        F.vmap(3)


def test_positions_of_a_gradient_in_forward_mode():
    """What is indexed has axes that positions lack, between those of the samples and its own."""

    def cubes(x, i):
        return (x[i] ** 3).sum()

    places = np.random.default_rng(0).integers(0, 4, size=(5, 4))
    counts = [np.bincount(i, minlength=4) for i in places]
    expected = [np.diag(6 * n * x) for n, x in zip(counts, X, strict=True)]
    close(F.vmap(F.jacfwd(F.jacrev(cubes)))(X, places), expected)
    shared = F.vmap(F.jacfwd(F.jacrev(cubes)), in_axes=(0, None))(X, places[0])
    close(shared, [np.diag(6 * counts[0] * x) for x in X])


def test_a_recorded_gradient_of_a_number_that_all_samples_share():
    def gradient(x):
        def mapped(y):
            part = np.zeros_like(y)[1::2]
            return ng.func.vmap(lambda _: part + x)(np.zeros(2))

        z = ng.jit(mapped)(np.zeros((3, 1)))
        return ng.grad((z * z).sum(), x, create_graph=True)[0]

    found = ng.jit(lambda a: gradient(a.detach().requires_grad_()))(np.array(0.85))
    np.testing.assert_allclose(found, 4 * 0.85)
