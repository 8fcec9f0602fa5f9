"""Jacobians and Hessians as matrices: values, options, what is refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit

import numgrad as ng
from numgrad._errors import (
    ArgTypeError,
    CaptureError,
    DetachedError,
    DtypeError,
    ImplicitGradError,
    SparsityError,
)
from numgrad.sparse.coloring import COLORINGS

from .functions import bratu, chain, differences, products, scaled
from .matrices import arrow, random_pattern

X = np.linspace(0.2, 0.9, 16)


@pytest.mark.parametrize("coloring", COLORINGS)
def test_jacobian_is_that_of_finite_differences(coloring):
    found = ng.sparse.jacobian(bratu, X, coloring=coloring)
    assert isinstance(found, sp.csr_array)
    np.testing.assert_allclose(found.toarray(), differences(bratu, X), atol=1e-8)


@pytest.mark.parametrize("coloring", COLORINGS)
def test_random_patterns(coloring):
    rng = np.random.default_rng(4)
    for _ in range(15):
        matrix = random_pattern(rng, 20) * rng.standard_normal()
        x = rng.random(matrix.shape[1])
        dense = matrix.toarray()
        found = ng.sparse.jacobian(lambda z, a=dense: a @ ng.sin(z), x, coloring=coloring)
        np.testing.assert_allclose(found.toarray(), dense * np.cos(x), rtol=1e-13)
        assert found.nnz == matrix.nnz


def bordered(x):
    return ng.concatenate([(x**2).sum()[None], x[0] * x[1:] + x[1:] ** 3])


def bordered_by_columns(x):
    return ng.concatenate([x[:1] * x[1] + x.sum(), x[0] * x[1:] + x[1:] ** 3, x[:1] ** 2])


@pytest.mark.parametrize("coloring", ["auto", "bidirectional"])
@pytest.mark.parametrize("function", [bordered, bordered_by_columns])
def test_rows_and_columns_together(function, coloring):
    prepared = ng.sparse.prepare(function, X, coloring=coloring)
    assert prepared.mode == "bidirectional"
    assert prepared.n_colors == 3
    np.testing.assert_allclose(prepared(X).toarray(), differences(function, X), atol=1e-8)


def test_arrow():
    prepared = ng.sparse.prepare(bordered, X)
    np.testing.assert_array_equal(prepared.pattern.toarray(), arrow(16).toarray())


@pytest.mark.parametrize("coloring", ["star", "acyclic"])
def test_hessian_is_that_of_finite_differences(coloring):
    expected = differences(ng.func.grad(chain), X)
    found = ng.sparse.hessian(chain, X, coloring=coloring).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("coloring", ["star", "acyclic"])
def test_hessian_of_a_random_sparse_objective(coloring):
    rng = np.random.default_rng(3)
    pairs = rng.integers(0, 40, (90, 2))

    def energy(x):
        return (ng.cos(x[pairs[:, 0]] * x[pairs[:, 1]]) * np.arange(90.0)).sum()

    x = rng.random(40)
    expected = np.zeros((40, 40))
    for weight, (i, j) in enumerate(pairs):
        p = x[i] * x[j]
        if i == j:
            expected[i, i] += weight * (-2 * np.sin(p) - 4 * p * np.cos(p))
            continue
        expected[i, i] -= weight * x[j] ** 2 * np.cos(p)
        expected[j, j] -= weight * x[i] ** 2 * np.cos(p)
        expected[i, j] -= weight * (np.sin(p) + p * np.cos(p))
        expected[j, i] -= weight * (np.sin(p) + p * np.cos(p))
    found = ng.sparse.hessian(energy, x, coloring=coloring).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_without_a_point_a_function_of_it_is_returned():
    rate = np.array([0.3])
    jacobian = ng.sparse.jacobian(lambda x, a: a * x[1:] * x[:-1] ** 2, coloring="row")
    for x in (np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.2])):
        expected = differences(lambda x: rate * x[1:] * x[:-1] ** 2, x)
        np.testing.assert_allclose(jacobian(x, rate).toarray(), expected, atol=1e-7)
    hessian = ng.sparse.hessian(lambda a, x: (a * x[1:] * x[:-1] ** 2).sum(), argnum=1)
    found = hessian(rate, np.array([1.0, 2.0])).toarray()
    np.testing.assert_allclose(found, [[1.2, 0.6], [0.6, 0.0]])
    with pytest.raises(ArgTypeError, match=r"sparse\.jacobian: expected a function"):
        ng.sparse.jacobian(2.0)


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (2, 1, 4)])
def test_arrays_of_any_shape(shape):
    x = np.linspace(0.2, 0.9, int(np.prod(shape))).reshape(shape)
    for function in (lambda z: z * z + z.sum(), lambda z: (z**2).sum(), lambda z: z[None] * 2):
        found = ng.sparse.jacobian(function, x)
        np.testing.assert_allclose(found.toarray(), differences(function, x), atol=1e-8)


def test_nothing_in_or_out():
    assert ng.sparse.jacobian(lambda x: x * 2, np.zeros(0)).shape == (0, 0)
    assert ng.sparse.jacobian(lambda x: x[:0], np.zeros(3)).shape == (0, 3)
    assert ng.sparse.hessian(lambda x: (x**2).sum(), np.zeros(0)).shape == (0, 0)
    assert ng.sparse.hessian(lambda x: x.sum(), np.zeros(3)).nnz == 0
    assert ng.sparse.prepare(lambda x: np.ones(2), np.zeros(3))(np.zeros(3)).shape == (2, 3)


def test_the_dtype_is_that_of_the_function():
    x = X.astype(np.float32)
    assert ng.sparse.jacobian(products, x).dtype == np.float32
    assert ng.sparse.prepare(products, x)(x).dtype == np.float32
    for coloring in COLORINGS:
        found = ng.sparse.jacobian(lambda z: bordered(z.astype(np.float64)), x, coloring=coloring)
        assert found.dtype == np.float64
        np.testing.assert_allclose(found.toarray(), differences(bordered, X), atol=1e-6)


def test_further_arguments():
    found = ng.sparse.jacobian(scaled, X, 3.0, np.ones(16)).toarray()
    np.testing.assert_array_equal(found, 3 * np.eye(16) + np.eye(16)[::-1])
    found = ng.sparse.jacobian(scaled, X, 3.0, np.ones(16), argnum=2).toarray()
    np.testing.assert_array_equal(found, np.diag(X[::-1]))


def test_a_pattern_may_be_given():
    exact = differences(products, X)
    full = np.ones((15, 16))
    for pattern in (exact != 0, sp.coo_array(exact), sp.csc_matrix(full)):
        found = ng.sparse.jacobian(products, X, pattern=pattern)
        np.testing.assert_allclose(found.toarray(), exact, atol=1e-8)
    upper = np.triu(differences(ng.func.grad(chain), X) != 0)
    found = ng.sparse.hessian(chain, X, pattern=upper).toarray()
    np.testing.assert_allclose(found, differences(ng.func.grad(chain), X), atol=1e-7)


@pytest.mark.parametrize("make", [ng.sparse.jacobian, ng.sparse.prepare])
@pytest.mark.parametrize("coloring", ["row", "column"])
def test_a_pattern_without_an_entry_is_refused(make, coloring):
    pattern = differences(products, X) != 0
    pattern[3, 4] = False
    with pytest.raises(SparsityError, match="lacks entries"):
        make(products, X, pattern=pattern, coloring=coloring)
    with pytest.raises(SparsityError, match=r"shape \(16, 16\)"):
        make(products, X, pattern=np.eye(16), coloring=coloring)


def test_a_hessian_pattern_without_an_entry_is_refused():
    with pytest.raises(SparsityError, match="lacks entries"):
        ng.sparse.hessian(chain, X, pattern=np.eye(16))


def test_infinite_entries_are_returned():
    def roots(x):
        return ng.sqrt(x)

    x = np.array([1.0, 0.0, 4.0, np.nan])
    for coloring in ("row", "column"):
        found = ng.sparse.jacobian(roots, x, coloring=coloring)
        np.testing.assert_array_equal(found.data, [0.5, np.inf, 0.25, np.nan])


def test_finite_entries_beside_infinite_ones_are_right():
    def mixed(x):
        return ng.sqrt(x[:-1]) + 3 * x[1:]

    x = np.linspace(0.5, 0.9, 10)
    x[4] = 0.0
    for coloring in ("row", "column"):
        data = ng.sparse.jacobian(mixed, x, coloring=coloring).data.reshape(-1, 2)
        roots = data[:, 0]
        np.testing.assert_allclose(roots[x[:-1] > 0], 0.5 / np.sqrt(x[:-1][x[:-1] > 0]))
        assert np.isin(data[:, 1][~np.isnan(data[:, 1])], 3.0).all()
        assert np.isnan(data[:, 1]).sum() <= 1


def power_kernel(x, out):
    for i in range(x.size):
        out[i] = x[i] ** 3


def power_backward(g, x, out, gx):
    for i in range(x.size):
        gx[i] = 3 * x[i] ** 2 * g[i]


def test_kernels_that_have_a_backward_kernel_alone():
    power = ng.operator("(n)->(n)")(njit(power_kernel))
    power.backward(njit(power_backward))
    x = X[:4]
    pattern = np.ones((4, 4))
    for given in (None, pattern):
        found = ng.sparse.jacobian(lambda z: power(z[None])[0], x, pattern=given)
        np.testing.assert_allclose(found.toarray(), np.diag(3 * x**2))


REFUSED = {
    "containers": (ArgTypeError, "container", lambda: ng.sparse.jacobian(lambda t: t[0], (X, X))),
    "several results": (ArgTypeError, "output", lambda: ng.sparse.jacobian(lambda x: (x, x), X)),
    "complex": (DtypeError, "complex128", lambda: ng.sparse.jacobian(lambda x: x * 1j, X)),
    "complex argument": (DtypeError, "real", lambda: ng.sparse.jacobian(products, X + 0j)),
    "integers": (DtypeError, "int64", lambda: ng.sparse.jacobian(products, np.arange(3))),
    "argnums": (ArgTypeError, "argnum", lambda: ng.sparse.jacobian(products, X, argnum=(0, 1))),
    "argnum": (ArgTypeError, "argnum=1", lambda: ng.sparse.prepare(products, X, argnum=1)),
    "prepared argnums": (ArgTypeError, "int", lambda: ng.sparse.prepare(products, X, argnum=(0,))),
    "no function": (ArgTypeError, "function", lambda: ng.sparse.jacobian(3, X)),
    "vector": (ImplicitGradError, "scalar", lambda: ng.sparse.hessian(products, X)),
    "coloring": (ArgTypeError, "one of", lambda: ng.sparse.jacobian(products, X, coloring="a")),
    "branches": (
        CaptureError, "known only", lambda: ng.sparse.prepare(lambda x: x if x[0] > 0 else -x, X)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_matrix_can_hold_is_refused(name):
    kind, words, call = REFUSED[name]
    with pytest.raises(kind, match=words):
        call()


def test_branches_are_allowed_at_one_point():
    found = ng.sparse.jacobian(lambda x: x if x[0] > 0 else -x, -X).toarray()
    np.testing.assert_array_equal(found, -np.eye(16))


def test_no_gradient_is_lost_silently():
    t = ng.tensor(X, requires_grad=True)
    weight = ng.tensor(2.0, requires_grad=True)
    prepared = ng.sparse.prepare(products, X)
    calls = [
        lambda: ng.sparse.jacobian(products, t),
        lambda: ng.sparse.jacobian(lambda x: x * weight, X),
        lambda: ng.sparse.prepare(lambda x: x * weight, X),
        lambda: prepared(t),
        lambda: ng.func.grad(lambda x: ng.sparse.jacobian(products, x).sum())(X),
    ]
    for call in calls:
        with pytest.raises(DetachedError, match="no gradient"):
            call()
    with ng.no_grad():
        np.testing.assert_array_equal(prepared(t).data, ng.sparse.jacobian(products, t).data)


def test_tensors_are_arrays_here():
    found = ng.sparse.jacobian(products, ng.asarray(X))
    np.testing.assert_array_equal(found.data, ng.sparse.jacobian(products, X).data)


SHARED = {
    "factor": (
        lambda z: ng.func.vmap(lambda s: s * ng.sin(z))(z[:2]),
        lambda z: z[:2, None] * np.sin(z),
    ),
    "matrix": (
        lambda z: ng.func.vmap(lambda row: row @ z.reshape(3, 2))(z.reshape(2, 3)) ** 2,
        lambda z: (z.reshape(2, 3) @ z.reshape(3, 2)) ** 2,
    ),
    "position": (
        lambda z: ng.func.vmap(lambda i: z[i] * ng.sin(z[i - 1]))(np.array([1, 3, 1])),
        lambda z: z[[1, 3, 1]] * np.sin(z[[0, 2, 0]]),
    ),
    "samples of samples": (
        lambda z: ng.func.vmap(
            lambda row: ng.func.vmap(lambda s: s * row[0] * z[1:3])(row)
        )(z.reshape(2, 3)),
        lambda z: (z.reshape(2, 3) * z[[0, 3], None])[..., None] * z[1:3],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHARED)
def test_second_derivatives_of_what_samples_share(name):
    mapped, closed = SHARED[name]
    z = np.array([0.3, -0.7, 1.1, 0.6, -0.4, 0.9])

    def slope(z):
        return ng.func.grad(lambda z: ng.sin(mapped(z)).sum())(z)

    def value(z):
        return np.sin(closed(z)).sum()

    h = 1e-4
    steps = h * np.eye(6)
    expected = [
        [(value(z + a + b) - value(z + a - b) - value(z - a + b) + value(z - a - b)) / (4 * h * h)
         for a in steps] for b in steps
    ]  # fmt: skip
    found = ng.sparse.jacobian(slope, z, coloring="row").toarray()
    np.testing.assert_allclose(found, expected, atol=1e-5)
    hessian = ng.sparse.hessian(lambda z: ng.sin(mapped(z)).sum(), z)
    np.testing.assert_allclose(hessian.toarray(), expected, atol=1e-5)
