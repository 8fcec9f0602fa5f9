"""Functions of loops in ``ng.jit`` and ``vmap``: instructions with the bits of single calls."""

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

from .kernels import cubes, heat, looked_up, padded, positives, silent, spring, squared_into

X = np.array([0.3, 1.0, -0.4, 0.9, 0.2])
ROWS = np.linspace(-1.0, 1.0, 35).reshape(7, 5) ** 3


def value(u):
    return heat(u, 0.2, 6)


def loss(x):
    out = 2.0 * ng.ones(5)
    squared_into(x, out)
    return (out * out).sum() + ng.sin(cubes(x, 2.0)).sum()


def rows_of(f, rows):
    return np.array([f(row) for row in rows])


@pytest.mark.parametrize("f", one_in(2, [loss, value]))
def test_captured_functions_have_the_bits_of_eager_ones(f):
    assert np.array_equal(ng.jit(f)(X), f(ng.tensor(X)).numpy())
    for transform in (ng.func.grad, ng.func.hessian):
        expected = transform(f)(X)
        assert np.array_equal(ng.jit(transform(f))(X), expected)
        assert np.array_equal(transform(ng.jit(f))(X), expected)


@pytest.mark.parametrize("f", one_in(2, [loss, value], 1))
def test_mapped_functions_have_the_bits_of_single_ones(f):
    for g in (lambda x: f(ng.tensor(x) if isinstance(x, np.ndarray) else x), ng.func.grad(f)):
        single = rows_of(lambda row: np.asarray(g(row)), ROWS)  # noqa: B023
        assert np.array_equal(ng.func.vmap(g)(ROWS), single)
    gradients = rows_of(ng.func.grad(f), ROWS)
    assert np.array_equal(ng.func.grad(lambda r: ng.func.vmap(f)(r).sum())(ROWS), gradients)
    assert np.array_equal(ng.jit(ng.func.vmap(ng.func.grad(f)))(ROWS), gradients)
    hessians = rows_of(ng.func.hessian(f), ROWS[:2])
    assert np.array_equal(ng.func.vmap(ng.func.hessian(f))(ROWS[:2]), hessians)


def test_some_arguments_are_mapped_and_others_are_not():
    factors = np.array([0.5, 2.0])
    single = np.array([spring(X, k) for k in factors])
    assert np.array_equal(ng.func.vmap(lambda k: spring(X, k))(factors), single)
    both = ng.func.vmap(spring)(np.stack([X, 2 * X]), factors)
    assert np.array_equal(both, [spring(X, 0.5), spring(2 * X, 2.0)])
    twice = ng.func.vmap(ng.func.vmap(spring))(ROWS[:4].reshape(2, 2, 5), np.ones((2, 2)))
    assert np.array_equal(twice.ravel(), rows_of(lambda row: spring(row, 1.0), ROWS[:4]))
    assert ng.func.vmap(spring)(np.ones((0, 5))).shape == (0,)


def test_batched_passes_have_the_bits_of_single_ones():
    x = ng.tensor(X, requires_grad=True)
    y = cubes(x, 2.0)
    (rows,) = ng.grad(y, x, ng.eye(5), is_grads_batched=True, retain_graph=True)
    looped = [ng.grad(y, x, row, retain_graph=True)[0].numpy() for row in np.eye(5)]
    assert np.array_equal(rows.numpy(), looped)
    np.testing.assert_allclose(rows.numpy(), np.diag(6 * X**2))


def test_tangents_are_exact():
    v = np.linspace(1.0, 2.0, 5)
    out, tangent = ng.func.jvp(lambda x: cubes(x, 2.0), (X,), (v,))
    np.testing.assert_allclose(tangent, 6 * X**2 * v, rtol=1e-14)
    assert np.array_equal(out, cubes(X, 2.0))
    along_k = ng.func.jvp(cubes, (X, 2.0), (v, 1.0))[1]
    np.testing.assert_allclose(along_k, 6 * X**2 * v + X**3, rtol=1e-14)
    jacobian = ng.func.jacfwd(lambda x: cubes(x, 2.0))(X)
    np.testing.assert_allclose(jacobian, np.diag(6 * X**2), rtol=1e-14)
    product = ng.func.jvp(ng.func.grad(spring), (X,), (v,))[1]
    np.testing.assert_allclose(product, ng.func.hessian(spring)(X) @ v, rtol=1e-13)
    written = ng.func.jvp(loss, (X,), (v,))[1]
    np.testing.assert_allclose(written, ng.func.grad(loss)(X) @ v, rtol=1e-13)


def test_third_derivatives():
    third = ng.func.grad(lambda x: ng.func.hessian(lambda y: cubes(y, 2.0).sum())(x).sum())(X)
    np.testing.assert_allclose(third, np.full(5, 12.0), rtol=1e-13)


def test_numbers_of_the_captured_function_are_arguments_of_the_loops():
    captured = ng.jit(heat)
    for k, steps in ((0.2, 6), (0.1, 3)):
        assert captured(X, k, steps) == heat(X, k, steps)
    gradient = ng.jit(ng.func.grad(heat, argnums=(0, 1)))(X, 0.2, 6)
    expected = ng.func.grad(heat, argnums=(0, 1))(X, 0.2, 6)
    assert np.array_equal(gradient[0], expected[0])
    assert gradient[1] == expected[1]


def test_single_precision_stays_single():
    x = X.astype(np.float32)
    expected = ng.func.grad(spring)(x)
    assert expected.dtype == np.float32
    assert np.array_equal(ng.jit(ng.func.grad(spring))(x), expected)
    assert ng.func.vmap(ng.func.grad(spring))(np.stack([x, x])).dtype == np.float32


def test_shapes_of_results_follow_from_shapes_and_integers():
    expected = ng.func.grad(lambda x: padded(x, 2)[2:4].sum())(X)
    assert np.array_equal(expected, [2 * X[0], 2 * X[1], 0, 0, 0])
    captured = ng.jit(ng.func.grad(lambda x: padded(x, 2)[2:4].sum()))
    assert np.array_equal(captured(X), expected)
    assert ng.func.vmap(lambda x: padded(x, 1))(ROWS).shape == (7, 7)


def test_shapes_that_depend_on_elements_are_refused_with_their_line():
    said = r"kernels.py, line \d+, in positives: the shape .* depends on `n`"
    for call in (lambda: ng.jit(positives)(X), lambda: ng.func.vmap(positives)(ROWS)):
        with pytest.raises(ng.errors.CaptureError, match=said):
            call()
    assert len(positives(ng.tensor(X))) == 4


def test_what_a_captured_call_cannot_do_is_refused():
    out = np.ones(5)
    with pytest.raises(ng.errors.CaptureError, match="argument out, an array of NumPy"):
        ng.jit(lambda x: squared_into(x, out))(X)
    assert np.array_equal(out, np.ones(5))
    with pytest.raises(ng.errors.CaptureError, match=r"kernels.py, line \d+, in looked_up"):
        ng.jit(looked_up)(X)
    with pytest.raises(ng.errors.CaptureError, match="returns nothing and writes no argument"):
        ng.jit(silent)(X)
    shared = ng.ones(5)
    with pytest.raises(ng.errors.NotDifferentiableError, match="share memory"):
        squared_into(shared, shared)


def test_rows_are_those_of_single_calls_on_any_number_of_threads():
    rows = np.random.default_rng(2).normal(size=(400, 5))
    gradient = ng.jit(ng.func.vmap(ng.func.grad(value)))
    expected = rows_of(ng.func.grad(value), rows)
    assert np.array_equal(gradient(rows), expected)


def test_long_tapes_of_rows_give_way_to_snapshots():
    expected = rows_of(ng.func.grad(lambda u: heat(u, 0.2, 3000)), ROWS)
    try:
        ng.set_flags(tape_memory=0)
        mapped = ng.func.vmap(ng.func.grad(lambda u: heat(u, 0.2, 3000)))(ROWS)
    finally:
        ng.set_flags(tape_memory=64)
    np.testing.assert_allclose(mapped, expected, rtol=1e-12, atol=1e-300)


def test_sparse_jacobians_of_loops_are_blocks_of_samples():
    found = ng.sparse.jacobian(lambda rows: ng.func.vmap(lambda x: cubes(x, 2.0))(rows))(ROWS[:2])
    assert found.nnz == 2 * 25
    np.testing.assert_allclose(found.toarray(), np.diag(6 * ROWS[:2].ravel() ** 2), rtol=1e-14)
