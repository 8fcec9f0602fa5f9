"""Functions of SciPy's linear algebra, captured: values and gradients as eagerly, and those of
differences along symmetric directions."""

import numpy as np
import pytest

import numgrad as ng

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
B = np.array([1.0, 2.0, 3.0])
STEP = 1e-6
CALLS = {
    "block_diag": lambda la, a: la.block_diag(a, a[:2, :2]),
    "cho_solve": lambda la, a: la.cho_solve(la.cho_factor(a), B),
    "circulant": lambda la, a: la.circulant(a[0]),
    "expm": lambda la, a: la.expm(a),
    "geomspace": lambda la, a: ng.geomspace(a[0, 0], a[1, 1], 4),
    "hankel": lambda la, a: la.hankel(a[0], a[1]),
    "logm": lambda la, a: la.logm(a),
    "logspace": lambda la, a: ng.logspace(a[0, 2], a[1, 0], 4),
    "lu": lambda la, a: la.lu(a),
    "lu_solve": lambda la, a: la.lu_solve(la.lu_factor(a), B),
    "polydiv": lambda la, a: ng.polydiv(a[0], a[1][:2])[0],
    "solve_banded": lambda la, a: la.solve_banded((1, 1), a, B),
    "solve_circulant": lambda la, a: la.solve_circulant(a[0], B),
    "solve_continuous_lyapunov": lambda la, a: la.solve_continuous_lyapunov(a, A),
    "solve_sylvester": lambda la, a: la.solve_sylvester(a, A, A),
    "solve_toeplitz": lambda la, a: la.solve_toeplitz(a[0], B),
    "solve_triangular": lambda la, a: la.solve_triangular(a, B, lower=True),
    "solveh_banded": lambda la, a: la.solveh_banded(a[:2], B),
    "sqrtm": lambda la, a: la.sqrtm(a),
    "toeplitz": lambda la, a: la.toeplitz(a[0], a[1]),
}


@pytest.mark.parametrize("name", CALLS)
def test_value_and_gradient(name):
    def weighed(a):
        found = CALLS[name](ng.linalg, a)
        parts = [ng.real(p) for p in (found if isinstance(found, tuple) else (found,))]
        return sum((p * np.cos(np.arange(p.size)).reshape(p.shape)).sum() for p in parts)

    of_all = ng.func.value_and_grad(weighed)
    expected, found = of_all(A), ng.jit(of_all)(A)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12, atol=1e-13)
    direction = np.random.default_rng(0).standard_normal((3, 3))
    direction = direction + direction.T
    ahead, behind = (weighed(ng.tensor(A + s * direction)).item() for s in (STEP, -STEP))
    slope = (expected[1] * direction).sum()
    assert abs(slope - (ahead - behind) / (2 * STEP)) < 1e-6 * max(1.0, abs(slope))
