"""Prepared matrices: computed again at other points, with nothing found anew."""

import pickle
import threading
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import numgrad as ng
from numgrad._errors import ArgTypeError, SparsityError
from numgrad.sparse import problem

from ..robustness.processes import run
from .functions import bidiagonal, bratu, chain, differences, products, scaled

X = np.linspace(0.2, 0.9, 16)


@pytest.mark.parametrize("coloring", ["auto", "column", "row"])
def test_other_points(coloring):
    prepared = ng.sparse.prepare(bratu, np.zeros(16), coloring=coloring)
    for x in (X, X[::-1] - 2, ng.asarray(X)):
        expected = differences(bratu, np.asarray(x))
        np.testing.assert_allclose(prepared(x).toarray(), expected, atol=1e-8)


def test_value_and_matrix_of_one_evaluation():
    prepared = ng.sparse.prepare(bratu, X)
    value, matrix = prepared.value_and_jacobian(X)
    assert type(value) is np.ndarray
    np.testing.assert_allclose(value, bratu(ng.asarray(X)).numpy(), rtol=1e-14)
    np.testing.assert_array_equal(matrix.toarray(), prepared(X).toarray())


@pytest.mark.parametrize("coloring", ["star", "acyclic"])
def test_value_gradient_and_hessian(coloring):
    prepared = ng.sparse.prepare_hessian(chain, np.ones(16), coloring=coloring)
    value, gradient, matrix = prepared.value_gradient_hessian(X)
    np.testing.assert_allclose(value, chain(ng.asarray(X)).numpy())
    np.testing.assert_allclose(gradient, differences(chain, X)[0], atol=1e-8)
    np.testing.assert_allclose(matrix.toarray(), differences(ng.func.grad(chain), X), atol=1e-7)
    assert prepared.n_colors <= 5
    assert prepared.mode == coloring
    assert repr(prepared).startswith("<PreparedHessian 16 x 16, 74 entries")


def test_what_it_tells():
    prepared = ng.sparse.prepare(products, X, coloring="column")
    assert (prepared.mode, prepared.n_colors, prepared.shape) == ("column", 2, (15, 16))
    np.testing.assert_array_equal(prepared.pattern.toarray(), differences(products, X) != 0)
    assert prepared.colors.shape == (16,)
    assert repr(prepared) == "<Prepared 15 x 16, 30 entries, column, 2 colors>"


def test_nothing_is_found_twice(monkeypatch):
    prepared = ng.sparse.prepare(bidiagonal, X)

    def never(*args):
        raise AssertionError("found again")

    monkeypatch.setattr(problem.Problem, "record", never)
    np.testing.assert_allclose(prepared(X + 1).toarray(), differences(bidiagonal, X + 1), atol=1e-7)


def test_a_call_allocates_the_entries_alone():
    x = np.linspace(0.0, 1.0, 20_000)
    prepared = ng.sparse.prepare(bidiagonal, x)
    prepared(x)
    tracemalloc.start()
    matrix = prepared(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < matrix.data.nbytes + 20_000


def test_matrices_share_their_structure_and_keep_it():
    prepared = ng.sparse.prepare(bidiagonal, X)
    first, second = prepared(X), prepared(X + 1)
    assert np.shares_memory(first.indices, second.indices)
    assert not np.shares_memory(first.data, second.data)
    with pytest.raises(ValueError, match="read-only"):
        first.indices[0] = 1
    own = first.copy()
    own.eliminate_zeros()
    first.data[:] = 0
    np.testing.assert_allclose(second.toarray(), differences(bidiagonal, X + 1), atol=1e-7)


def test_further_arguments_have_other_values():
    prepared = ng.sparse.prepare(scaled, X, 2.0, np.ones(16))
    found = prepared(X, 5.0, np.arange(16.0)).toarray()
    turned = np.diag(np.arange(16.0))[:, ::-1]
    np.testing.assert_array_equal(found, 5 * np.eye(16) + turned)


def test_other_shapes_and_dtypes_are_refused():
    prepared = ng.sparse.prepare(products, X)
    for other in (X[:15], X.reshape(4, 4), X.astype(np.float32), 1.0, [1.0, 2.0]):
        with pytest.raises(SparsityError, match=r"prepared for an array of shape \(16,\)"):
            prepared(other)
    with pytest.raises(ArgTypeError, match="got 0 arguments"):
        prepared()


def test_another_graph_is_refused():
    def weighted(x, rows):
        return (rows * x[1:]).reshape(-1) if rows.ndim > 1 else x[:-1] * x[1:] * rows

    prepared = ng.sparse.prepare(weighted, X, np.ones(15))
    with pytest.raises(SparsityError, match="another graph"):
        prepared(X, np.ones((2, 15)))


def test_positions_that_are_written_are_seen():
    at = np.array([2, 0, 1])
    prepared = ng.sparse.prepare(lambda x: x[at] ** 2, np.ones(4))
    np.testing.assert_array_equal(prepared(np.arange(4.0)).indices, [2, 0, 1])
    at[:] = [3, 2, 1]
    with pytest.raises(SparsityError, match="another graph"):
        prepared(np.arange(4.0))


def test_zeros_of_a_matrix_that_are_written_are_seen():
    matrix = np.eye(16)
    prepared = ng.sparse.prepare(lambda x: matrix @ x**2, X)
    assert prepared.n_colors == 1
    matrix[3, 3] = 5.0
    np.testing.assert_allclose(prepared(X).toarray(), 2 * matrix * X)
    matrix[0, 7] = 1.0
    with pytest.raises(SparsityError, match="another graph"):
        prepared(X)


def test_operands_that_are_written_are_read_anew():
    factor = np.ones(15)
    prepared = ng.sparse.prepare(lambda x: products(x) * factor, X)
    factor[:] = 3
    np.testing.assert_allclose(prepared(X).toarray(), 3 * differences(products, X), atol=1e-8)


def test_what_names_are_bound_to_later_is_read():
    factor, shift = 1.0, np.ones(16)

    def f(x):
        return (factor * (x + shift) ** 3).sum()

    prepared = ng.sparse.prepare(lambda x: factor * (x + shift) ** 2, X)
    hessian = ng.sparse.prepare_hessian(f, X)
    for factor, shift in [(3.0, np.ones(16)), (3.0, np.zeros(16)), (1.0, np.ones(16))]:
        value, matrix = prepared.value_and_jacobian(X)
        np.testing.assert_allclose(value, factor * (X + shift) ** 2)
        np.testing.assert_allclose(matrix.toarray(), np.diag(2 * factor * (X + shift)))
        np.testing.assert_allclose(hessian(X).toarray(), np.diag(6 * factor * (X + shift)))


def test_pickled_ones_make_no_groups(monkeypatch):
    text = pickle.dumps(ng.sparse.prepare(bratu, X))
    hessian = pickle.dumps(ng.sparse.prepare_hessian(chain, X, coloring="acyclic"))

    def never(*args):
        raise AssertionError("found again")

    monkeypatch.setattr(problem, "plan_jacobian", never)
    monkeypatch.setattr(problem, "plan_hessian", never)
    again = pickle.loads(text)
    np.testing.assert_allclose(again(X).toarray(), differences(bratu, X), atol=1e-8)
    np.testing.assert_allclose(
        pickle.loads(hessian)(X).toarray(), differences(ng.func.grad(chain), X), atol=1e-7
    )


FACTOR = np.eye(16)


def times_factor(x):
    return FACTOR @ x**2


@pytest.mark.parametrize("written", ["before", "after"])
def test_zeros_that_are_written_are_seen_by_pickled_ones(monkeypatch, written):
    factor = np.eye(16)
    monkeypatch.setitem(globals(), "FACTOR", factor)
    text = pickle.dumps(ng.sparse.prepare(times_factor, X))
    if written == "after":
        again = pickle.loads(text)
        np.testing.assert_allclose(again(X).toarray(), 2 * factor * X)
        factor[0, 7] = 1.0
    else:
        factor[0, 7] = 1.0
        again = pickle.loads(text)
    with pytest.raises(SparsityError, match="another graph"):
        again(X)


SECOND = """
import numpy as np
import numgrad as ng
from numgrad.targets.cpu.compile.disk_cache import cache_info

def f(x):
    return ng.concatenate([(x**2).sum()[None], x[0] * x[1:] + x[1:] ** 3])

def h(x):
    return (x[1:] * x[:-1] ** 2).sum()

x = np.linspace(0.0, 1.0, 9)
ng.sparse.prepare(f, x)(x)
for coloring in ("star", "acyclic"):
    ng.sparse.prepare_hessian(h, x, coloring=coloring)(x)
for order in ("natural", "largest_first", "smallest_last", "incidence_degree", "saturation"):
    ng.sparse.jacobian(f, x, order=order)
print(cache_info().compiled)
"""


def test_a_second_process_compiles_nothing():
    run(SECOND)
    assert run(SECOND) == "0"


def test_threads_share_one():
    prepared = ng.sparse.prepare(bratu, X)
    points = [X + k for k in range(8)]
    found: dict[int, np.ndarray] = {}

    def work(k):
        for _ in range(20):
            found[k] = prepared(points[k]).data

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, x in enumerate(points):
        np.testing.assert_array_equal(found[k], prepared(x).data)


def test_functions_with_choices_and_captured_parts():
    inner = ng.jit(lambda a: a * ng.sin(a))

    def chosen(x):
        y = ng.cond(x.sum() > 0, lambda x: x**2, lambda x: x[::-1] * 3.0, x)
        return y + inner(x)

    prepared = ng.sparse.prepare(chosen, X)
    for x in (X, -X):
        np.testing.assert_allclose(prepared(x).toarray(), differences(chosen, x), atol=1e-7)
    hessian = ng.sparse.prepare_hessian(lambda x: chosen(x).sum(), X)
    expected = np.diag(2 + 2 * np.cos(X) - X * np.sin(X))
    np.testing.assert_allclose(hessian(X).toarray(), expected, atol=1e-12)
    one = ng.sparse.hessian(lambda x: inner(x).sum(), X)
    np.testing.assert_allclose(one.toarray(), np.diag(2 * np.cos(X) - X * np.sin(X)), atol=1e-12)
    assert one.nnz == 16


@pytest.mark.parametrize("kind", [np.asarray, ng.tensor])
def test_entries_are_the_callers_own(kind):
    """Damping of a Hessian writes them; the next matrix is not the one that was written."""
    x = kind(X)
    hessian = ng.sparse.prepare_hessian(chain, X)
    jacobian = ng.sparse.prepare(bratu, X)
    for compute in (
        lambda: ng.sparse.hessian(chain, x),
        lambda: ng.sparse.jacobian(bratu, x),
        lambda: ng.sparse.jacobian(bratu, x, coloring="row"),
        lambda: hessian(x),
        lambda: jacobian(x),
        lambda: hessian.value_gradient_hessian(x)[2],
        lambda: jacobian.value_and_jacobian(x)[1],
    ):
        matrix, expected = compute(), compute().toarray()
        matrix.setdiag(matrix.diagonal() + 1.0)
        matrix *= 2
        np.testing.assert_array_equal(matrix.toarray(), 2 * (expected + np.eye(16)))
        np.testing.assert_array_equal(compute().toarray(), expected)
    for part in (*jacobian.value_and_jacobian(x)[:1], *hessian.value_gradient_hessian(x)[:2]):
        part += 1.0


def test_the_places_of_entries_are_not_those_of_a_given_pattern():
    pattern = sparse.csr_array(np.eye(16, dtype=bool))
    for matrix in (
        ng.sparse.jacobian(lambda x: x * x, X, pattern=pattern),
        ng.sparse.hessian(lambda x: (x * x).sum(), X, pattern=pattern),
    ):
        matrix.indices[...] = 0
        matrix.indptr[...] = 0
    prepared = ng.sparse.prepare(lambda x: x * x, X, pattern=pattern)
    with pytest.raises(ValueError, match="read-only"):
        prepared(X).indices[...] = 0
    np.testing.assert_array_equal(pattern.toarray(), np.eye(16))
    np.testing.assert_array_equal(prepared(X).toarray(), np.diag(2 * X))
