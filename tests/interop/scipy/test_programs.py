"""Solvers in captured and mapped functions do what they do outside, bit for bit."""

import numpy as np
import pytest
from scipy.sparse import csc_array, linalg

import numgrad as ng
from numgrad.errors import CaptureError, ConvergenceError, DetachedError
from tests.sampling import one_in

S = ng.interop.scipy
POINTS = np.array([1.5, 2.0, 2.5])
SCALES = [1.0, 3.0]
BEFORE = ng.tensor(2.0, requires_grad=True)


def fitted(x, p):
    return ng.concat([x**2 - p, x - p])


def cost(x, p):
    return ((x - p) ** 2).sum() + (x**4).sum()


def decay(t, y, p):
    return -p * y * t


def matrix(p):
    return ng.sparse.csr(ng.stack([2.0 * p, 1.0, 1.0, p]), [0, 1, 0, 1], [0, 2, 4], shape=(2, 2))


def state(p, **options):
    times, start = [1.0, 2.0], [p, 2.0]
    return S.solve_ivp(decay, (0.0, 2.0), start, t_eval=times, args=(p,), **options).y[0, -1]


def twice_solved(lu, p):
    return lu.solve(lu.solve(ng.stack([p, 1.0])), "T")[0]


KNOWN = csc_array([[2.0, 1.0], [0.5, 4.0]])
FACTORS, FACTORS_OF_SCIPY = S.splu(KNOWN), linalg.splu(KNOWN)
FACTORS_OF_A_TENSOR = S.splu(matrix(ng.tensor(1.5)))

TWICE = {
    "quad": lambda p: S.quad(lambda x: np.exp(-p * x), 0.0, p)[0],
    "brentq": lambda p: S.brentq(lambda x: x**2 - p, 0.0, 5.0),
    "newton": lambda p: S.newton(lambda x: x**2 - p, 1.0),
    "fsolve": lambda p: S.fsolve(lambda x: x**2 - p, 1.0)[0],
    "root": lambda p: S.root(lambda x, p: x**2 - p, [1.0, p], args=(p,)).x[1],
    "fixed_point": lambda p: S.fixed_point(lambda x: np.cos(0.3 * p * x), np.array([1.0]))[0],
    "minimize": lambda p: S.minimize(cost, [1.0], args=(p,)).x[0],
    "least_squares": lambda p: S.least_squares(fitted, [1.0], args=(p,)).cost,
    "solve_ivp": state,
    "spsolve": lambda p: S.spsolve(matrix(p), ng.stack([p, 1.0]))[0],
    "splu": lambda p: twice_solved(S.splu(matrix(p)), p),
    "splu of a constant": lambda p: twice_solved(S.splu(KNOWN), p),
    "splu of a constant before": lambda p: twice_solved(FACTORS, p),
    "splu of a tensor before": lambda p: twice_solved(FACTORS_OF_A_TENSOR, p),
    "splu of SciPy": lambda p: twice_solved(linalg.splu(KNOWN), p),
    "splu of SciPy before": lambda p: twice_solved(FACTORS_OF_SCIPY, p),
    "factorized": lambda p: S.factorized(matrix(p))(ng.stack([[p, 2.0], [1.0, p]]))[0, 1],
    "factorized of SciPy": lambda p: linalg.factorized(KNOWN)(ng.stack([p, 1.0]))[0],
    "eigsh": lambda p: S.eigsh(matrix(p), k=1, v0=np.ones(2))[0][0],
    "eigh": lambda p: S.eigh(ng.stack([ng.stack([p, 1.0]), ng.stack([1.0, 3.0])]))[0][0],
    "CubicSpline": lambda p: S.CubicSpline([0.0, 1.0, 2.0], ng.stack([p, 2.0, 1.0]))(0.3 * p),
}
ONCE = {
    "BDF": lambda p: state(p, method="BDF"),
    "odeint": lambda p: S.odeint(lambda y, t: -p * y, 1.0, [0.0, 1.0])[-1, 0],
}


@pytest.mark.parametrize("name", one_in(6, [*TWICE, *ONCE]))
def test_they_find_the_same_bits(name):
    f, both = (TWICE | ONCE)[name], ng.func.value_and_grad
    expected = [both(f)(p) for p in POINTS]
    values, slopes = np.array(expected).T
    captured, mapped = ng.jit(both(f)), ng.func.vmap(both(f))
    np.testing.assert_array_equal(np.array([captured(p) for p in POINTS]).T, (values, slopes))
    np.testing.assert_array_equal(mapped(POINTS), (values, slopes))
    np.testing.assert_array_equal(ng.func.grad(ng.jit(f, fuse="now"))(POINTS[0]), slopes[0])
    np.testing.assert_array_equal(ng.func.vmap(f)(POINTS), [f(ng.tensor(p)).item() for p in POINTS])
    p = ng.tensor(POINTS[0], requires_grad=True)
    (rows,) = ng.grad(ng.jit(f)(p), p, np.array(SCALES), is_grads_batched=True)
    np.testing.assert_allclose(rows, slopes[0] * np.array(SCALES), 1e-14)
    if name in TWICE:
        second = ng.func.hessian(f)(POINTS[0])
        np.testing.assert_allclose(ng.jit(ng.func.hessian(f))(POINTS[0]), second, 1e-12)
        np.testing.assert_allclose(ng.func.vmap(ng.func.hessian(f))(POINTS)[0], second, 1e-12)


def test_what_a_function_reads_in_captured_functions():
    def f(p):  # through a helper, a default and a container
        twice, pair = 2.0 * p, {"a": [p, 3.0]}
        calls = []

        def helper(x):
            calls.append(1)
            return twice * x

        value, _ = S.quad(lambda x, q=p: helper(x) * q * pair["a"][0], 0.0, 1.0)  # p**3
        return value

    for transform in (ng.jit, ng.func.vmap):
        argument = 2.0 if transform is ng.jit else np.array([2.0])
        np.testing.assert_allclose(transform(f)(argument), 8.0, 1e-14)
        np.testing.assert_allclose(transform(ng.func.grad(f))(argument), 12.0, 1e-14)

    def summed(a):  # that of all samples is one
        def solve(b):
            return S.root(lambda x: a * x - b, [1.0]).x[0]

        return ng.func.vmap(solve)(POINTS).sum()

    for call in (summed, ng.jit(summed)):
        np.testing.assert_allclose(ng.func.grad(call)(2.0), -POINTS.sum() / 4.0, 1e-12)


def test_what_has_no_value_yet_is_refused():
    class Hidden:
        def __init__(self, p):
            self.p = p

        def __call__(self, x):
            return self.p * x

    def refused(match, f, error=CaptureError):
        for transform, point in ((ng.jit, 2.0), (ng.func.vmap, POINTS)):
            with pytest.raises(error, match=match):
                transform(f)(point)

    refused(r"pass them in args: quad\(f", lambda p: S.quad(Hidden(p), 0.0, 1.0)[0])
    refused(r"pass it in args: quad\(f", lambda p: S.quad(Hidden(p), 0.0, p)[0])
    refused("full_output asks", lambda p: S.quad(lambda x: p, 0.0, 1.0, full_output=1)[0])
    refused("pass the times in t_eval", lambda p: S.solve_ivp(decay, (0, 1), [1.0], args=(p,)).y)
    refused("there are x, fun", lambda p: S.root(lambda x: x - p, [1.0]).nfev)
    refused("not converged", lambda p: S.root(lambda x: x**2 + p, [1.0]).x, ConvergenceError)
    refused("float64 tensors", lambda p: S.root(lambda x: x - p, p.astype("float32")).x)
    with pytest.raises(DetachedError, match="pass the tensor in args"):
        ng.jit(lambda p: S.quad(lambda x: BEFORE * x, 0.0, p)[0])(2.0)


def test_factors_of_a_matrix_that_a_captured_function_makes():
    def solved(k, rhs):
        lu = S.splu(ng.sparse.diags(k))
        assert lu.shape == (2, 2)
        return lu.solve(rhs)

    k, rhs = np.array([2.0, 4.0]), np.array([[2.0, 1.0], [4.0, 1.0]])
    np.testing.assert_array_equal(ng.jit(solved)(k, rhs), [[1.0, 0.5], [1.0, 0.25]])
    single = ng.jit(lambda b: FACTORS.solve(b))(np.ones(2, np.float32))
    np.testing.assert_array_equal(single, FACTORS.solve(np.ones(2)))
    with pytest.raises(ng.errors.MatrixError, match="singular"):
        ng.jit(solved)(np.array([2.0, 0.0]), rhs)
    with pytest.raises(CaptureError, match="nnz asks for what is known only when"):
        ng.jit(lambda k: k * S.splu(ng.sparse.diags(k)).nnz)(k)


def test_a_tensor_in_factors_that_were_found_before_gets_its_gradient():
    k = ng.tensor([2.0, 4.0], requires_grad=True)
    lu = S.splu(ng.sparse.diags(k))
    found = ng.jit(lambda b: lu.solve(b).sum())(np.array([4.0, 16.0]))
    np.testing.assert_array_equal(ng.grad(found, k)[0], [-1.0, -1.0])


def test_a_pass_that_solves_again_finds_the_same_signs_of_eigenvectors():
    """Where SciPy draws the start of the iteration, they were those of chance."""

    def odd(k):
        values, vectors = S.eigsh(ng.sparse.diags([k, -k[1:], -k[1:]], [0, 1, -1]), k=2)
        return values[0] + (vectors * np.arange(12.0).reshape(6, 2)).sum()

    k = np.linspace(1.0, 2.0, 6)
    expected = ng.func.grad(odd)(k)
    slopes = [(odd(k + d) - odd(k - d)).item() / 2e-6 for d in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(expected, slopes, rtol=1e-6)
    for _ in range(8):
        np.testing.assert_allclose(ng.jit(ng.func.grad(odd))(k), expected, rtol=1e-10)
    rows = ng.func.vmap(ng.func.grad(odd))(np.stack([k] * 8))
    np.testing.assert_allclose(rows, np.stack([expected] * 8), rtol=1e-10)
    drawn = S.eigsh((np.ones(3), range(3), range(4)), k=1, rng=np.random.default_rng(1))[1]
    assert drawn.shape == (3, 1)
