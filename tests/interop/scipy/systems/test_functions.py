"""`function` and `linear_operator`: what SciPy gets, in which form, and what is refused."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy
import scipy.sparse
from scipy import optimize

import numgrad as ng
from numgrad.errors import DetachedError, DtypeError, ImplicitGradError, NonFiniteError
from numgrad.interop.scipy.implicit.derived import Captured

from ..differences import POINT, agree, derivative, diffusion, residuals, rosenbrock

function = ng.interop.scipy.function


@pytest.mark.parametrize("jit", [True, False])
def test_values_and_derivatives_of_a_scalar_function(jit):
    f = function(rosenbrock, jit=jit)
    for x in (POINT, POINT + 0.5, POINT):  # the second point is one of a captured program
        assert f.fun(x) == pytest.approx(optimize.rosen(x), rel=1e-14)
        agree(f.grad(x), optimize.rosen_der(x), 1e-14)
        agree(f.jac(x), optimize.rosen_der(x), 1e-14)
        agree(f.hess(x), optimize.rosen_hess(x), 1e-14)
        agree(f.hessp(x, POINT), optimize.rosen_hess_prod(x, POINT), 1e-14)
        value, gradient = f.value_and_jac(x)
        assert isinstance(value, float)
        assert type(gradient) is np.ndarray


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse", "operator"])
def test_jacobians_in_all_forms(jit, form):
    f = function(diffusion, (0.3,), jac=form, jit=jit)
    for x in (np.linspace(0.0, 1.0, 7), np.linspace(1.0, 3.0, 7)):
        value, matrix = f.value_and_jac(x)
        expected = np.diag(0.03 * np.exp(0.1 * x) - 2.0) + np.eye(7, k=1) + np.eye(7, k=-1)
        agree(value, np.diff(np.pad(x, 1), 2) + 0.3 * np.exp(0.1 * x), 1e-14)
        agree(matrix @ np.eye(7), expected, 1e-14)
        assert scipy.sparse.issparse(matrix) == (form == "sparse")
    if form == "sparse":
        assert matrix.nnz == 19


@pytest.mark.parametrize("form", ["dense", "sparse", "operator"])
def test_hessians_in_all_forms(form):
    f = function(rosenbrock, jac=form)
    agree(f.hess(POINT) @ np.eye(3), optimize.rosen_hess(POINT), 1e-13)
    weighted = function(residuals).hess(POINT, np.array([1.0, -2.0, 3.0, 4.0]))
    agree(weighted, np.diag([-20.0, 40.0, 0.0]), 1e-13)


def test_a_function_that_is_not_captured_runs_once_for_value_and_jacobian():
    calls = []

    def counted(x):
        calls.append(x.shape)
        return residuals(x)

    f = function(counted, jit=False)
    f.fun(POINT)
    f.jac(POINT.copy())
    assert len(calls) == 1
    f.jac(POINT + 1.0)
    f.fun(POINT + 1.0)
    assert len(calls) == 2
    agree(f.jac(POINT), derivative(lambda x: residuals(x).numpy(), POINT), 1e-10)


@pytest.mark.parametrize("jit", [True, False])
def test_what_is_asked_for_again_is_that_of_now(jit):
    weight, factor, x = np.ones(3), np.ones(3), np.arange(1.0, 4.0)
    for f in (
        function(lambda x, w: (w * factor * x * x).sum(), (weight,), jit=jit),
        function(lambda x, w: w * factor * x * x, (weight,), jit=jit),
    ):
        for changed in (weight, factor, weight, factor):
            expected = weight * factor * x * x
            np.testing.assert_allclose(np.sum(f.fun(x)), expected.sum())
            np.testing.assert_allclose(np.sum(f.jac(x) @ x), 2 * expected.sum())
            changed[:] *= 3.0


@pytest.mark.parametrize("jit", [True, False])
def test_sparse_matrices_follow_what_is_written(jit):
    factor, x = np.diag([1.0, 2.0, 3.0]), np.arange(1.0, 4.0)
    f = function(lambda x: factor @ x**2, jac="sparse", jit=jit)
    g = function(lambda x: (x * (factor @ x)).sum(), jac="sparse", jit=jit)
    for _ in range(2):
        np.testing.assert_allclose(f.jac(x).toarray(), 2 * factor * x)
        np.testing.assert_allclose(g.hess(x).toarray(), factor + factor.T)
        factor[0, 2] = 5.0


@pytest.mark.parametrize("form", ["dense", "sparse", "operator"])
def test_what_names_are_bound_to_later_is_read(form):
    factor, shift = 1.0, np.ones(3)
    scalar = function(lambda x: (factor * (x + shift) ** 3).sum(), jac=form)
    vector = function(lambda x: factor * (x + shift) ** 2, jac=form)
    for factor, shift in [(1.0, np.ones(3)), (3.0, np.ones(3)), (3.0, np.zeros(3))]:
        for x in (POINT, POINT + 0.5):
            at = x + shift
            agree(scalar.fun(x), factor * (at**3).sum(), 1e-14)
            agree(scalar.grad(x), 3 * factor * at**2, 1e-14)
            agree(scalar.hess(x) @ np.eye(3), np.diag(6 * factor * at), 1e-14)
            agree(scalar.hessp(x, POINT), 6 * factor * at * POINT, 1e-14)
            value, matrix = vector.value_and_jac(x)
            agree(value, factor * at**2, 1e-14)
            agree(matrix @ np.eye(3), np.diag(2 * factor * at), 1e-14)


def test_a_captured_function_is_not_called_again():
    calls = []

    def counted(x):
        calls.append(None)
        return rosenbrock(x)

    f = function(counted)
    f.value_and_jac(POINT)
    f.value_and_jac(POINT + 1.0)
    before = len(calls)
    for n in range(10):
        f.value_and_jac(POINT - n)
    assert len(calls) == before


@pytest.fixture
def runs(monkeypatch):
    """The arguments of the captured functions that are run."""
    found, run = [], Captured.__call__

    def counted(self, *args):
        found.append(args)
        return run(self, *args)

    monkeypatch.setattr(Captured, "__call__", counted)
    return found


@pytest.mark.parametrize("f", [rosenbrock, residuals])
def test_value_and_derivative_asked_for_one_by_one_share_a_run(f, runs):
    hook = function(f)
    for n in range(5):
        hook.fun(POINT + n)
        agree(hook.jac(POINT + n), function(f, jit=False).jac(POINT + n), 1e-14)
    assert len(runs) == 4  # the first point is that of the recording


def test_derivatives_that_nobody_asks_for_are_soon_not_computed(monkeypatch):
    names, run = [], function._run
    monkeypatch.setattr(
        function, "_run", lambda self, name, *args: names.append(name) or run(self, name, *args)
    )
    hook = function(lambda x: x * x)
    hook.value_and_jac(POINT)
    for n in range(1, 5):
        hook.fun(POINT + n)
    assert names == ["value_and_jacobian", "vector", "vector", "vector"]
    for n in range(5, 12):  # as many as would pay for one in vain
        hook.fun(POINT + n)
        hook.jac(POINT + n)
    assert names[4:] == ["vector", "value_and_jacobian"] * 4 + ["value_and_jacobian"] * 3


def test_values_alone_ask_for_no_gradient():
    def kinked(x):  # its gradient is not finite, and nobody wants it
        return ng.sqrt((x * x).sum())

    f = function(kinked)
    assert [f.fun(np.zeros(2)) for _ in range(3)] == [0.0] * 3


@pytest.mark.parametrize(
    "x",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0)[::2].reshape(2, 3),
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.arange(6).reshape(2, 3),
        [[0, 1, 2], [3, 4, 5]],
    ],
)
def test_any_layout_and_real_dtype(x):
    f = function(lambda x: x**2)
    value, matrix = f.value_and_jac(x)
    flat = np.ravel(np.array(x, float))
    np.testing.assert_array_equal(value, flat**2)
    np.testing.assert_array_equal(matrix, np.diag(2.0 * flat))
    assert value.dtype == matrix.dtype == np.float64


def test_read_only_points_and_points_that_are_written_later():
    f, x = function(rosenbrock), POINT.copy()
    x.flags.writeable = False
    f.fun(x)
    x = POINT.copy()
    f.value_and_jac(x)
    x += 1.0
    agree(f.grad(x), optimize.rosen_der(x), 1e-14)


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("jit", [True, False])
def test_results_may_be_written(form, jit):
    f = function(diffusion, (0.3,), jac=form, jit=jit)
    x = np.linspace(0.0, 1.0, 5)
    for _ in range(2):
        value, matrix = f.value_and_jac(x)
        value *= 0.0
        if form == "sparse":
            matrix.data *= 0.0
        else:
            matrix *= 0.0
        assert f.fun(x).all()
        assert (f.jac(x) @ np.ones(5)).any()


def test_the_function_gets_the_shape_it_asks_for_and_returns_containers():
    def f(x, offset):
        return {"a": x @ np.ones(3), "b": (x[0, 0] * x[1, 2] - offset["c"], 2.0)}

    shaped = function(f, ({"c": np.array(0.5)},), shape=(2, 3))
    for jit in (True, False):
        shaped = function(f, ({"c": np.array(0.5)},), shape=(2, 3), jit=jit)
        x = np.arange(1.0, 7.0)
        np.testing.assert_array_equal(shaped.fun(x), [6.0, 15.0, 5.5, 2.0])
        expected = [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [6, 0, 0, 0, 0, 1], [0] * 6]
        np.testing.assert_array_equal(shaped.jac(x), expected)


def test_arguments_between_point_and_args():
    f = function(lambda x, t, a: t * x ** a[0], (np.array([3.0]),))
    for t in (1.0, 2.0):
        np.testing.assert_allclose(f.jac(np.array([2.0]), t), [[12.0 * t]])
        np.testing.assert_allclose(f.fun(np.array([2.0]), t), [8.0 * t])


def branching(x):
    return (x * x).sum() if x[0] > 0 else -(x**3).sum()


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_what_cannot_be_captured_is_called(form):
    f = function(branching, jac=form)
    for x in (np.array([1.0, 2.0]), np.array([-1.0, 2.0]), np.array([3.0, 2.0])):
        agree(f.grad(x), 2.0 * x if x[0] > 0 else -3.0 * x**2, 1e-14)
        hessian = f.hess(x) @ np.eye(2)
        agree(hessian, np.diag(2.0 + 0.0 * x if x[0] > 0 else -6.0 * x), 1e-14)
    g = function(lambda x: x * x if x[0] > 0 else -x, jac=form)
    for x in (np.array([1.0, 2.0]), np.array([-1.0, 2.0]), np.array([3.0, 2.0])):
        agree(g.jac(x) @ np.eye(2), np.diag(2.0 * x) if x[0] > 0 else -np.eye(2), 1e-14)


@pytest.mark.parametrize("form", ["dense", "sparse", "operator"])
def test_it_can_be_pickled_before_and_after_calls(form):
    f = function(diffusion, (0.3,), jac=form)
    x = np.linspace(0.0, 1.0, 5)
    fresh = pickle.loads(pickle.dumps(f))
    expected = f.value_and_jac(x)
    for copy in (fresh, pickle.loads(pickle.dumps(f))):
        value, matrix = copy.value_and_jac(x)
        np.testing.assert_array_equal(value, expected[0])
        np.testing.assert_array_equal(matrix @ np.eye(5), expected[1] @ np.eye(5))


def test_scipy_is_imported_when_it_is_used():
    code = """
import sys
import numgrad as ng
f = ng.interop.scipy.function(lambda x: (x * x).sum())
f.value_and_jac([1.0])
print([name for name in ("scipy.optimize", "scipy.integrate") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_bad_forms_and_functions():
    with pytest.raises(ValueError, match="jac must be one of dense, sparse, operator"):
        function(rosenbrock, jac="banded")
    with pytest.raises(TypeError, match="expected a function"):
        function(3.0)


def test_a_gradient_needs_a_scalar():
    with pytest.raises(ImplicitGradError, match="those of one real number"):
        function(residuals).grad(POINT)


@pytest.mark.parametrize("jit", [True, False])
def test_complex_numbers_are_refused(jit):
    with pytest.raises(DtypeError, match="real arguments"):
        function(rosenbrock, jit=jit).fun(POINT * 1j)
    with pytest.raises(DtypeError, match="stack its real and imaginary part"):
        function(lambda x: x * 1j, jit=jit).fun(POINT)


WEIGHT = ng.tensor(2.0, requires_grad=True)


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("args", [(), (WEIGHT,)])
def test_a_tensor_that_requires_grad_is_refused(jit, args):
    def f(x, weight=WEIGHT):
        return weight * rosenbrock(x)

    hook = function(f, args, jit=jit)
    for _ in range(2):
        with pytest.raises(DetachedError, match="its gradient would be lost"):
            hook.value_and_jac(POINT)
    with pytest.raises(DetachedError):
        hook.hessp(POINT, POINT)
    with pytest.raises(DetachedError, match="its gradient would be lost"):
        ng.interop.scipy.linear_operator(f, POINT, args)


@pytest.mark.parametrize("jit", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_an_entry_that_is_not_finite_is_named(jit, form):
    f = function(lambda x: ng.sqrt(x) + x[::-1], jac=form, jit=jit)
    f.jac(np.array([1.0, 4.0, 9.0]))
    with pytest.raises(NonFiniteError, match=r"entry \(2, 2\) of the derivative is inf"):
        f.jac(np.array([1.0, 4.0, 0.0]))


def test_no_entry_is_named_where_the_function_is_not_finite():
    """A line search takes such a step back."""
    f = function(lambda x: -np.log(x).sum())
    value, gradient = f.value_and_jac(np.array([1.0, 0.0]))
    assert value == np.inf
    assert gradient[1] == -np.inf


MATRICES_APART = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)
"""Whether `rmatvec` of a matrix of one column warns that it will be an error."""


def test_an_operator_is_the_jacobian():
    def f(x, a):
        return {"a": a * np.sin(x) @ np.arange(3.0), "b": x[0] * x[1]}

    x = np.linspace(0.1, 0.6, 6).reshape(2, 3)
    flat = lambda v: np.concatenate([2.0 * np.sin(v) @ np.arange(3.0), v[0] * v[1]])  # noqa: E731
    expected = derivative(flat, x).reshape(5, 6)
    operator = ng.interop.scipy.linear_operator(f, x, (2.0,))
    assert operator.shape == (5, 6)
    assert operator.dtype == np.float64
    rng = np.random.default_rng(0)
    v, w = rng.normal(size=(6, 4)), rng.normal(size=(5, 4))
    agree(operator @ v, expected @ v, 1e-10)
    agree(operator @ v[:, 0], expected @ v[:, 0], 1e-10)
    agree(operator.T @ w, expected.T @ w, 1e-10)
    product = operator.rmatmat if MATRICES_APART else operator.rmatvec
    agree(product(w[:, :1]), expected.T @ w[:, :1], 1e-10)


def test_an_operator_of_float32_and_of_a_constant():
    operator = ng.interop.scipy.linear_operator(lambda x: x.astype(np.float32) * 2.0, np.ones(2))
    np.testing.assert_array_equal(operator @ np.eye(2), 2.0 * np.eye(2))
    constant = ng.interop.scipy.linear_operator(lambda x: np.ones(3), np.ones(2))
    np.testing.assert_array_equal(constant @ np.eye(2), np.zeros((3, 2)))
