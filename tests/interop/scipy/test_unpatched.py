"""SciPy's own functions where no patch is in force: they take what SciPy refused, and nothing that
worked before changes."""

import contextlib
import multiprocessing
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import fft, integrate, interpolate, linalg, optimize, sparse, special, stats
from scipy.sparse import linalg as sparse_linalg

import numgrad as ng
from numgrad.interop import scipy as solvers
from numgrad.interop.patching import counterparts
from tests.sampling import one_in

X = np.array([0.3, 0.6, 0.9])


@pytest.fixture
def t():
    return ng.tensor(X, requires_grad=True)


# What worked before ----------------------------------------------------------------------------


def test_tensors_without_gradients_are_arrays_for_scipy(t):
    constant = ng.tensor(X)
    with ng.no_grad():
        of_leaf = special.softmax(t), linalg.norm(t), fft.fft(t), stats.norm.logpdf(t)
    of_constant = (
        special.softmax(constant), linalg.norm(constant), fft.fft(constant),
        stats.norm.logpdf(constant),
    )  # fmt: skip
    of_array = special.softmax(X), linalg.norm(X), fft.fft(X), stats.norm.logpdf(X)
    for found in (of_leaf, of_constant):
        for own, expected in zip(found, of_array, strict=True):
            assert type(own) is type(expected)
            np.testing.assert_array_equal(own, expected)


def test_objects_of_numgrad_without_gradients_are_functions_to_scipy():
    spline = solvers.CubicSpline(X, X**2)
    for f in (spline, lambda x: spline(x)):
        value, error = integrate.quad(f, 0.3, 0.9)
        assert type(value) is type(error) is float
        np.testing.assert_allclose(value, (0.9**3 - 0.3**3) / 3)


def test_a_search_by_a_users_own_gradient_is_scipys():
    leaf = ng.tensor(np.zeros(2), requires_grad=True)

    def value_and_grad(x):
        with ng.no_grad():
            leaf[...] = x
        loss = ((leaf - ng.tensor([1.0, 2.0])) ** 2).sum()
        return loss.item(), ng.grad(loss, leaf)[0].numpy()

    found = optimize.minimize(value_and_grad, np.zeros(2), jac=True, method="BFGS")
    assert type(found) is optimize.OptimizeResult
    assert type(found.x) is np.ndarray
    np.testing.assert_allclose(found.x, [1.0, 2.0], rtol=1e-6)


def test_a_users_error_comes_out_of_one_call():
    calls = []

    def f(x):
        calls.append(x)
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        integrate.quad(f, 0.0, 1.0)
    assert len(calls) == 1


def test_a_refusal_that_the_user_answers_is_not_taken_for_the_cause(t):
    def f(x):
        with contextlib.suppress(ng.errors.DetachedError):
            float(t[0])
        raise ZeroDivisionError

    with pytest.raises((ZeroDivisionError, ng.errors.DetachedError)):
        integrate.quad(f, 0.0, 1.0)
    with pytest.raises(ValueError, match="different signs"):
        optimize.brentq(lambda x: x * x + 1.0, 0.0, 1.0)


# What is new -----------------------------------------------------------------------------------


def test_what_a_function_closes_over_has_a_gradient(t):
    def area(p):
        return integrate.quad(lambda x: np.exp(-p[0] * x), 0.0, 1.0)[0]

    def root(p):
        return optimize.brentq(lambda x: x**3 - p[1], 0.0, 2.0)

    def best(p):
        return optimize.minimize_scalar(lambda x: (x - p[2]) ** 4 + x**2).x

    for program, rtol in ((area, 1e-6), (root, 1e-5), (best, 1e-3)):
        gradient = ng.grad(program(t), t)[0].numpy()
        h = 1e-5
        slopes = [(program(X + h * e) - program(X - h * e)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(gradient, slopes, rtol=rtol, atol=1e-6)


def test_functions_of_scipy_inside_of_functions_of_scipy():
    """The value is SciPy's where no gradient is wanted, and numgrad's else: equal to rounding."""

    def expected_payoff(q):
        return integrate.quad(lambda s: np.exp(-q[0] * s) * stats.norm.pdf(s, q[1], 0.5), 0, 4)[0]

    def volatility(q):
        price = lambda v: special.ndtr(q[0] / v) - stats.norm.cdf(v * q[1]) + 0.1  # noqa: E731
        return optimize.brentq(price, 0.05, 3.0, xtol=1e-14)

    q, h = np.array([0.3, 1.0]), 1e-5
    for program in (expected_payoff, volatility):
        slopes = [(program(q + h * e) - program(q - h * e)) / (2 * h) for e in np.eye(2)]
        np.testing.assert_allclose(ng.func.grad(program)(q), slopes, rtol=1e-6)


def test_a_list_that_is_too_long_to_look_at_is_taken_after_all(t):
    parts = [0.5] * 100 + [t[0]]
    found = special.logsumexp(parts)
    expected = special.softmax([0.5] * 100 + [0.3])[-1]
    np.testing.assert_allclose(ng.grad(found, t)[0].numpy(), [expected, 0.0, 0.0], rtol=1e-12)


def test_methods_and_classes_look_at_lists_of_any_length(t):
    parts = [0.5] * 100 + [t[0]]
    density = stats.norm.logpdf(parts)
    np.testing.assert_allclose(ng.grad(density.sum(), t)[0].numpy(), [-0.3, 0.0, 0.0], rtol=1e-12)
    end = interpolate.CubicSpline(np.arange(101.0), parts)(100.0)
    np.testing.assert_allclose(ng.grad(end, t)[0].numpy(), [1.0, 0.0, 0.0], rtol=1e-9)


@pytest.mark.parametrize("function", [special.logsumexp, stats.norm.logpdf, fft.dct, linalg.norm])
def test_functions_are_captured_mapped_and_differentiated(function):
    whole = lambda x: ng.asarray(function(x)).sum()  # noqa: E731
    expected = ng.func.grad(whole)(X)
    np.testing.assert_allclose(ng.jit(ng.func.grad(whole))(X), expected, rtol=1e-12)
    rows = ng.func.vmap(ng.func.grad(whole))(np.array([X, X + 1.0]))
    np.testing.assert_allclose(rows[0], expected, rtol=1e-12)
    assert type(function(X)) is not ng.Tensor


def test_factors_of_a_constant_matrix_take_tensors(t):
    A = sparse.csc_array(np.array([[4.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 5.0]]))
    lu, solve = sparse_linalg.splu(A), sparse_linalg.factorized(A)
    assert isinstance(lu, sparse_linalg.SuperLU)
    inverse = np.linalg.inv(A.toarray())
    for u, matrix in ((lu.solve(t), inverse), (lu.solve(t, "T"), inverse.T), (solve(t), inverse)):
        np.testing.assert_allclose(u.detach(), matrix @ X, rtol=1e-12)
        np.testing.assert_allclose(ng.grad(u.sum(), t)[0], matrix.sum(axis=0), rtol=1e-12)
    assert type(lu.solve(X)) is np.ndarray
    assert lu.shape == (3, 3)
    assert "perm_r" in dir(lu)


@pytest.mark.parametrize("kind", ["coo", "csr", "csc"])
@pytest.mark.parametrize("form", ["matrix", "array"])
def test_sparse_matrices_are_made_of_tensors(t, kind, form):
    made = getattr(sparse, f"{kind}_{form}")
    A = made((t, ([0, 1, 1], [0, 1, 0])), shape=(2, 2))
    u = sparse_linalg.spsolve(A.tocsc(), np.ones(2))
    x = A * np.ones(2) if form == "matrix" else A @ np.ones(2)
    inverse = np.linalg.inv([[0.3, 0.0], [0.9, 0.6]])
    w, v = inverse.T @ np.ones(2), inverse @ np.ones(2)
    np.testing.assert_allclose(x.detach(), [0.3, 1.5], rtol=1e-12)
    np.testing.assert_allclose(
        ng.grad(u.sum(), t)[0], [-w[0] * v[0], -w[1] * v[1], -w[1] * v[0]], rtol=1e-12
    )
    plain = made(np.eye(2))
    assert type(plain) is made
    assert type(pickle.loads(pickle.dumps(plain))) is made


# How intrusive it is ---------------------------------------------------------------------------


def test_classes_and_transforms_are_the_same_objects():
    kind, transform = interpolate.CubicSpline, fft.fft
    made = kind(np.arange(3.0), X)
    ng.set_flags(scipy="never")
    try:
        assert interpolate.CubicSpline is kind
        assert fft.fft is transform
    finally:
        ng.set_flags(scipy="auto")
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made) is kind
    assert pickle.loads(pickle.dumps(kind)) is kind


def test_another_backend_of_transforms_is_asked_for_the_function_that_users_call(t):
    asked = []

    class Backend:
        __ua_domain__ = "numpy.scipy.fft"

        @staticmethod
        def __ua_function__(method, args, kwargs):
            asked.append(method)
            return NotImplemented

    with fft.set_backend(Backend):
        assert isinstance(fft.fft(t), ng.Tensor)
    assert asked
    assert all(method is fft.fft for method in asked)


def test_functions_travel_to_other_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.map(special.softmax, [X, X + 1.0])
    np.testing.assert_allclose(found[0], special.softmax(X))
    for name in sorted(counterparts.MODULES & sys.modules.keys()):
        module = sys.modules[name]
        for function in counterparts.names(module):
            original = getattr(module, function)
            assert pickle.loads(pickle.dumps(original)) is original, (name, function)


def test_the_names_are_those_that_numgrad_has():
    assert set(counterparts.IMAGES) == set(solvers.ndimage.__all__)
    assert set(counterparts.DISTANCES) == set(solvers.distance.__all__)
    for name in sorted(counterparts.MODULES & sys.modules.keys()):
        for found in counterparts.names_and_classes(sys.modules[name]):
            assert callable(counterparts.counterpart(name, found)), (name, found)


ORDERS = {
    "numgrad_first": "import numgrad as ng\nfrom scipy.special import logsumexp\n",
    "scipy_first": "from scipy.special import logsumexp\nimport numgrad as ng\n",
    "module": "import numgrad as ng\nimport scipy.special\nlogsumexp = scipy.special.logsumexp\n",
    "inside": "import numgrad as ng\ndef logsumexp(x):\n"
    "    from scipy.special import logsumexp\n    return logsumexp(x)\n",
}
ENDS = """
import sys
assert len([f for f in sys.meta_path if type(f).__module__.startswith('numgrad')]) == 1
t = ng.tensor([0.0, 0.0], requires_grad=True)
print(ng.grad(logsumexp(t), t)[0].tolist())
"""


@pytest.mark.parametrize("order", one_in(2, ORDERS, 1))
def test_the_order_of_imports_does_not_matter(order):
    assert run(ORDERS[order] + ENDS) == "[0.5, 0.5]"


def test_scipy_is_left_alone_where_the_environment_says_so():
    code = (
        "import numgrad as ng, sys\nfrom scipy.special import logsumexp\n"
        "assert 'numgrad' not in logsumexp.__code__.co_filename\n"
        "try:\n    logsumexp(ng.tensor([0.0], requires_grad=True))\n"
        "except ng.errors.DetachedError as error:\n"
        "    print('ng.special.logsumexp' in str(error))\n"
    )
    assert run(code, NUMGRAD_SCIPY="never") == "True"


def test_numgrad_alone_imports_nothing_of_scipy():
    code = (
        "import sys, numgrad\nprint([m for m in sys.modules if m.partition('.')[0] == 'scipy'"
        " or m == 'numgrad.interop.patching.install'])"
    )
    assert run(code) == "[]"


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_inner_calls_of_scipy_stay_scipys(t):
    inner = {"__name__": "scipy.of_nobody"}
    exec("from scipy.special import logsumexp\ndef f(x):\n    return logsumexp(x)", inner)
    with pytest.raises(ng.errors.DetachedError):
        inner["f"](t)
