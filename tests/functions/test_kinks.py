"""Second derivatives at kinks: NaN where there are none, and never a number that is not right."""

import numpy as np
import pytest

import numgrad as ng

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


@pytest.mark.parametrize("name", NOWHERE)
def test_second_derivatives_that_do_not_exist_are_nan_in_every_mode(name):
    function, x = NOWHERE[name]
    first = F.grad(function)(x)
    np.testing.assert_array_equal(first, np.zeros_like(x))
    for mode, found in hessians(function, x):
        assert np.isnan(found).all(), mode
