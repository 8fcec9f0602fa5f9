"""Index tables, grids, pieces written as slices, ranges on logarithmic scales."""

import numpy as np
import pytest

import numgrad as ng

from ..numpy_calls import cases, check_call, check_gradients, flat

RNG = np.random.default_rng(12)
X, M = RNG.standard_normal(3), RNG.standard_normal((3, 4))

TABLES = {
    "tri": lambda np: np.tri(3, 4, 1),
    "tri-dtype": lambda np: np.tri(2, dtype=int),
    "tril_indices": lambda np: np.tril_indices(3, -1, 4),
    "triu_indices": lambda np: np.triu_indices(3, k=1),
    "diag_indices": lambda np: np.diag_indices(3, 3),
    "mask_indices": lambda np: np.mask_indices(3, np.triu),
    "indices": lambda np: np.indices((2, 3)),
    "indices-sparse": lambda np: np.indices((2, 3), sparse=True),
    "unravel_index": lambda np: np.unravel_index([5, 2], (2, 3)),
    "unravel_index-bad": lambda np: np.unravel_index(9, (2, 3)),
    "ravel_multi_index": lambda np: np.ravel_multi_index(([1, 0], [2, 1]), (2, 3)),
    "ix_": lambda np: np.ix_([0, 1], [True, False]),
    "windows": lambda np: [getattr(np, n)(5) for n in ("bartlett", "blackman", "hamming")],
    "kaiser": lambda np: [np.kaiser(5, 2.0), np.hanning(4)],
    "mgrid": lambda np: [np.mgrid[0:3], np.mgrid[0:3, 1:2:5j], np.mgrid[-1:1:0.5, 0:2]],
    "ogrid": lambda np: [np.ogrid[0:3], np.ogrid[0:3, 1:2:5j]],
    "fromfunction": lambda np: np.fromfunction(lambda i, j: 10 * i + j, (2, 3)),
    "fromfunction-dtype": lambda np: np.fromfunction(lambda i: i, (2,), dtype=int),
    "meshgrid": lambda np: np.meshgrid([1, 2], [3.0, 4, 5], indexing="ij", sparse=True),
    "broadcast_shapes": lambda np: np.broadcast_shapes((2, 1), (3,)),
    "ndindex": lambda np: list(np.ndindex(2, 2)),
}  # fmt: skip


@cases(TABLES)
def test_tables_equal_numpy(call):
    check_call(call, overridden=False)


OF_ARRAYS = {
    "tril_indices_from": lambda np, m: np.tril_indices_from(m, 1),
    "triu_indices_from": lambda np, m: np.triu_indices_from(m),
    "triu_indices_from-vector": lambda np, m: np.triu_indices_from(m[0]),
    "diag_indices_from": lambda np, m: np.diag_indices_from(m[:, :3]),
    "diag_indices_from-other": lambda np, m: np.diag_indices_from(m),
    "meshgrid": lambda np, m: np.meshgrid(m[0], m[1], m[2]),
}  # fmt: skip


@cases(OF_ARRAYS)
def test_tables_of_arrays_equal_numpy(call):
    check_call(call, M)


def test_indices_of_tables_index_tensors():
    m = ng.tensor(M, requires_grad=True)
    upper = m[ng.triu_indices_from(m)]
    np.testing.assert_array_equal(upper.detach().numpy(), M[np.triu_indices_from(M)])
    np.testing.assert_array_equal(ng.grad(upper.sum(), m)[0].numpy(), np.triu(np.ones((3, 4))))


S = np.s_
KEYS = [
    S[0.0, X, 1:3], S[X, X], S["0,2", X, X], S["1,2,0", X, X], S[M, M], S["-1", M, M],
    S[-1:1:6j], S[1, 2, 3], S[X.astype("f4"), 1.5], S["0,3,1", M, M], S[2], S["1,3", M, M],
    S[1:3, 5],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=range(len(KEYS)))
@pytest.mark.parametrize("name", ["r_", "c_"])
def test_pieces_equal_numpy(name, key):
    check_call(lambda np: getattr(np, name)[key], overridden=False)


def test_pieces_have_derivatives():
    check_gradients(lambda np, x, m: np.r_[x, 1.0, m[0], 1:3], X, M)
    check_gradients(lambda np, x, m: np.c_[x, m, x], X, M)


def test_ranges_between_tensors_have_derivatives():
    check_gradients(lambda np, a: ng.r_[a : a + 2 : 5j], np.array(1.5))


SPACED = {
    "mgrid": lambda np, a, b: np.mgrid[0:a:3j],
    "mgrid-plane": lambda np, a, b: np.mgrid[a : a + 2 : 5j, 0:3],
    "mgrid-step": lambda np, a, b: np.mgrid[0:2:a, b : b + 2],
    "ogrid": lambda np, a, b: np.ogrid[0:a:3j],
    "ogrid-plane": lambda np, a, b: np.ogrid[a:b:4j, 0:3:2],
    "kaiser": lambda np, a, b: np.kaiser(6, a + b),
    "kaiser-odd": lambda np, a, b: np.kaiser(5, a),
    "kaiser-short": lambda np, a, b: [np.kaiser(n, a) for n in (1, 0)],
}


@cases(SPACED)
def test_grids_and_windows_have_derivatives(call):
    a, b = np.array(0.7), np.array(1.9)
    leaves = [ng.tensor(value, requires_grad=True) for value in (a, b)]
    for got, expected in zip(flat(call(ng, *leaves)), flat(call(np, a, b)), strict=True):
        np.testing.assert_allclose(got, expected, 1e-13)
        assert got.shape == expected.shape
    assert ng.testing.gradcheck(lambda a, b: call(ng, a, b), leaves)


def test_captured_grids_have_derivatives():
    def loss(a):
        return (ng.mgrid[0:a:3j, 0:2] * ng.kaiser(2, a)).sum() + ng.ogrid[0:2, a:3:2j][1].sum()

    gradient, a = ng.func.grad(loss), np.array(0.7)
    np.testing.assert_allclose(ng.jit(gradient)(a), gradient(a), 1e-13)


def test_sizes_of_windows_and_tables_are_no_numbers_to_differentiate():
    for name in ("hanning", "tri"):
        with pytest.raises(ng.errors.DetachedError, match=f"ng.{name} of a tensor"):
            ng.func.grad(lambda n, name=name: getattr(ng, name)(n).sum())(np.array(4.0))


RANGES = [
    (1, 8, 4), (1, 8, 4, False), (-1, -8, 3), (1, [8, 16], 3), (0, 1, 3), (1j, 8j, 4), (1, 8, 1),
    (1, 8, 0), (np.float32(1), np.float32(5), 4),
]  # fmt: skip


@pytest.mark.parametrize("name", ["geomspace", "logspace"])
@pytest.mark.parametrize("ends", RANGES, ids=str)
def test_ranges_equal_numpy(name, ends):
    check_call(lambda np: getattr(np, name)(*ends), overridden=False)
    first, last = (np.asarray(end) * np.float32(1) for end in ends[:2])
    traced = tuple(ng.tensor(end, requires_grad=True) for end in (first, last))
    call = lambda np: getattr(np, name)(*(traced if np is ng else (first, last)), *ends[2:])  # noqa: E731
    check_call(call, overridden=False)


def test_options_of_ranges():
    a, b = np.array([1.0, 2.0]), np.array(8.0)
    check_gradients(lambda np, a, b: np.geomspace(a, b, 4, axis=-1), a, b)
    check_gradients(lambda np, a, b, c: np.logspace(a, b, 4, base=c), a, b, np.array([2.0, 3.0]))
    check_call(lambda np: np.logspace([0.0, 1], 2, 3, base=[2.0, 3], dtype=int), overridden=False)
