"""Patterns of functions whose Jacobians are known entry by entry."""

import numpy as np
import pytest
from numba import njit
from scipy.sparse import csr_array

import numgrad as ng
from numgrad._errors import DeclarationError, SparsityError

from ..user_functions import Square
from .functions import bratu, chain, differences
from .matrices import banded, five_point

N = 12
PLACES = np.array([3, 1, 4, 1, 5])
STORED = csr_array(np.eye(N)[[3, 0, 0, 7, 11, 2, 5, 5, 1, 9, 8, 4]])


def pattern(function, size=N):
    return ng.sparse.jacobian_pattern(function, np.linspace(0.3, 0.9, size)).toarray()


def written(z):
    y = ng.zeros(N)
    y[1:-1] = z[2:] * z[:-2]
    y[0] = z[0]
    y[3:5] *= z[8:10]
    return y


def placed(z):
    y = ng.zeros(6)
    y[PLACES] = z[:5] ** 2
    return y


def places(shape, *pairs):
    matrix = np.zeros(shape, bool)
    for i, j in pairs:
        matrix[i, j] = True
    return matrix


EXACT = {
    "elementwise": (lambda z: ng.exp(z) * z, np.eye(N)),
    "broadcast": (
        lambda z: (z[:3, None] * z[3:7]).reshape(-1),
        np.hstack([np.repeat(np.eye(3), 4, 0), np.tile(np.eye(4), (3, 1)), np.zeros((N, 5))]),
    ),
    "slices": (lambda z: z[2::3] - z[1::3], np.eye(N)[2::3] + np.eye(N)[1::3]),
    "transpose": (
        lambda z: z.reshape(3, 4).T.reshape(-1),
        np.eye(N)[np.arange(N).reshape(3, 4).T.reshape(-1)],
    ),
    "roll": (lambda z: ng.roll(z, 2), np.roll(np.eye(N), 2, 0)),
    "gather": (lambda z: z[PLACES] ** 2, np.eye(N)[PLACES]),
    "put": (placed, places((6, N), (3, 0), (4, 2), (1, 3), (5, 4))),
    "writes": (
        written,
        places((N, N), (0, 0), (3, 8), (4, 9))
        | (np.eye(N, k=1) + np.eye(N, k=-1) > 0) & places((N, N), (slice(1, -1), slice(N))),
    ),
    "sum of rows": (lambda z: z.reshape(3, 4).sum(1), np.repeat(np.eye(3), 4, 1)),
    "product of rows": (lambda z: ng.prod(z.reshape(3, 4), axis=0), np.tile(np.eye(4), 3)),
    "cumulative": (lambda z: ng.cumsum(z), np.tril(np.ones((N, N)))),
    "stored rows": (lambda z: STORED @ z, STORED.toarray()),
    "stored columns": (lambda z: STORED.tocsc() @ z, STORED.toarray()),
    "stored, from the right": (
        lambda z: (z.reshape(2, 6) @ STORED[:6]).reshape(-1),
        np.kron(np.eye(2), STORED.toarray()[:6].T),
    ),
    "stored elements": (
        lambda z: ng.sparse.matmul(STORED, np.ones((2, N, 1)), data=z).reshape(-1),
        np.tile(np.eye(N), (2, 1)),
    ),
    "matmul": (
        lambda z: (z.reshape(3, 4) @ np.ones((4, 2))).reshape(-1),
        np.kron(np.eye(3), np.ones((2, 4))),
    ),
    "constant matrix": (lambda z: np.eye(N, k=2) @ z, np.eye(N, k=2)),
    "from the right": (
        lambda z: (z.reshape(3, 4) @ np.eye(4)[:, :2]).reshape(-1),
        np.kron(np.eye(3), np.eye(4)[:2]),
    ),
    "stacks of matrices": (
        lambda z: (np.array([np.eye(3), np.eye(3)[::-1]]) @ z.reshape(2, 3, 2)).reshape(-1),
        np.kron(np.diag([1, 0]), np.eye(6))
        + np.kron(np.diag([0, 1]), np.kron(np.eye(3)[::-1], np.eye(2))),
    ),
    "einsum": (
        lambda z: ng.einsum("ij,ij->i", z.reshape(3, 4), np.ones((3, 4))),
        np.repeat(np.eye(3), 4, 1),
    ),
    "condition": (lambda z: ng.where(z[::-1] > 0.5, z, 0.0), np.eye(N)),
    "both branches": (lambda z: ng.where(z > 0.5, z, z[::-1]), np.eye(N) + np.eye(N)[::-1]),
    "rounded": (lambda z: ng.floor(z) + ng.sign(z) * z[0], places((N, N), (slice(N), 0))),
    "detached": (lambda z: z.detach() * z[::-1], np.eye(N)[::-1]),
    "constant": (lambda z: np.arange(3.0), np.zeros((3, N))),
    "joined": (lambda z: ng.concatenate([z[:2] * z[2:4], z[9:]]), np.vstack(
        [np.eye(N)[:2] + np.eye(N)[2:4], np.eye(N)[9:]])),
    "samples": (
        lambda z: ng.func.vmap(lambda r: r[:2] * r[2:])(z.reshape(3, 4)).reshape(-1),
        np.kron(np.eye(3), np.hstack([np.eye(2), np.eye(2)])),
    ),
    "samples that share": (
        lambda z: ng.func.vmap(lambda r: r[0] * z[:2])(z[6:].reshape(3, 2)).reshape(-1),
        np.hstack([np.tile(np.eye(2), (3, 1)), np.zeros((6, 4)), np.kron(np.eye(3), [[1, 0]] * 2)]),
    ),
    "gradients of samples": (
        lambda z: ng.func.vmap(ng.func.grad(lambda r: r[0] * r[1] ** 2))(z.reshape(6, 2)).ravel(),
        np.kron(np.eye(6), [[0, 1], [1, 1]]),
    ),
    "sorted": (lambda z: ng.sort(z[::-1]), np.eye(N)),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_patterns_are_exact(name):
    function, expected = EXACT[name]
    np.testing.assert_array_equal(pattern(function), expected.astype(bool))


def test_bratu_has_five_points():
    np.testing.assert_array_equal(pattern(bratu, 49), five_point(7).toarray())


def test_hessian_has_the_nonlinear_pairs():
    found = ng.sparse.hessian_pattern(chain, np.ones(N)).toarray()
    np.testing.assert_array_equal(found, banded(N, 2).toarray())


def test_linear_terms_have_no_second_derivatives():
    found = ng.sparse.hessian_pattern(lambda x: (3 * x).sum() + x[0] * x[5], np.ones(N))
    np.testing.assert_array_equal(found.toarray(), places((N, N), (0, 5), (5, 0)))


def test_values_do_not_matter():
    x = np.array([np.nan, 0.0, np.inf, 1.0, 0.0])
    found = ng.sparse.jacobian_pattern(lambda x: x[1:] * x[:-1], x).toarray()
    np.testing.assert_array_equal(found, np.eye(4, 5) + np.eye(4, 5, 1) > 0)


def test_captured_functions_are_looked_into():
    inner = ng.jit(lambda a: a * a[::-1])
    np.testing.assert_array_equal(
        pattern(lambda z: inner(z) + z), np.eye(N) + np.eye(N)[::-1] > 0
    )


def test_prepared_patterns_of_sorted_values_hold_for_all_orders():
    prepared = ng.sparse.prepare(lambda z: ng.sort(z) ** 2, np.arange(4.0))
    assert prepared.pattern.toarray().all()
    x = np.array([3.0, 1.0, 4.0, 2.0])
    np.testing.assert_allclose(prepared(x).toarray(), differences(lambda z: ng.sort(z) ** 2, x))


def test_prepared_patterns_of_positions_from_values_hold_for_all_values():
    def by_size(z):
        at = ng.argsort(z[:4])
        y = z[4:] + 0
        y[at] = z[:4] * 2
        return y + ng.take(z, at)

    for x in (np.arange(8.0), np.array([3.0, 1, 2, 0, 5, 6, 7, 8])):
        prepared = ng.sparse.prepare(by_size, np.arange(8.0))
        np.testing.assert_allclose(prepared(x).toarray(), differences(by_size, x), atol=1e-8)


def row_scale(x, a, out):
    for i in range(x.size):
        out[i] = a * x[i] * x[i]


def row_scale_backward(g, x, a, out, gx, ga):
    ga[0] = 0.0
    for i in range(x.size):
        gx[i] = 2 * a * x[i] * g[i]
        ga[0] += x[i] * x[i] * g[i]


def declared():
    scale = ng.operator("(n),()->(n)")(njit(row_scale))
    scale.backward(njit(row_scale_backward))
    return scale


def scaled_rows(operator):
    return lambda z: operator(z[:9].reshape(3, 3), z[9:]).reshape(-1)


def test_kernels_are_dense_in_their_cores():
    expected = np.hstack([np.kron(np.eye(3), np.ones((3, 3))), np.repeat(np.eye(3), 3, 0)])
    np.testing.assert_array_equal(pattern(scaled_rows(declared())), expected > 0)


def test_kernels_may_declare_a_pattern():
    operator = declared()
    operator.sparsity(lambda n: {"x": np.eye(n, dtype=bool)})
    function, x = scaled_rows(operator), np.linspace(0.3, 0.9, N)
    expected = np.hstack([np.eye(9), np.repeat(np.eye(3), 3, 0)])
    np.testing.assert_array_equal(pattern(function), expected > 0)
    found = ng.sparse.jacobian(function, x).toarray()
    np.testing.assert_allclose(found, differences(function, x), atol=1e-8)


def test_declared_patterns_have_the_shape_of_the_cores():
    operator = declared()
    operator.sparsity(lambda n: {"x": np.eye(n + 1)})
    with pytest.raises(DeclarationError, match=r"shape \(4, 4\).* 3 and 3 elements"):
        pattern(scaled_rows(operator))


def test_of_custom_functions_nothing_is_known():
    assert pattern(lambda z: ng.concatenate([Square.apply(z[:3]), z[3:]]))[:3, :3].all()


def test_what_is_dense_by_far_is_refused():
    with pytest.raises(SparsityError, match="not sparse"):
        ng.sparse.jacobian_pattern(lambda z: z / z.sum(), np.ones(100_000))
