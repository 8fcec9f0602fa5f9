"""Equations of Lyapunov in discrete time against SciPy's solutions and differences."""

import numpy as np
import pytest
import scipy.linalg

import numgrad as ng
from numgrad.testing import gradcheck, gradgradcheck

RNG = np.random.default_rng(0)


def test_solutions_equal_those_of_scipy():
    for n in (0, 1, 3, 12):
        for is_complex in (False, True):
            a, q = (RNG.standard_normal((2, n, n)) + 1j * is_complex * RNG.standard_normal((n, n)))
            a = 0.7 * a / max(np.linalg.norm(a, 2), 1e-9) if n else a
            a, q = (x if is_complex else x.real for x in (a, q))
            for method in (None, "direct", "bilinear"):
                x = ng.linalg.solve_discrete_lyapunov(a, q, method).numpy()
                if n:
                    expected = scipy.linalg.solve_discrete_lyapunov(a, q, method)
                    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-12 * abs(x).max())
                assert x.shape == (n, n)
    stacked = 0.3 * RNG.standard_normal((2, 3, 3))
    found = ng.linalg.solve_discrete_lyapunov(stacked, np.eye(3)).numpy()
    expected = [scipy.linalg.solve_discrete_lyapunov(a, np.eye(3)) for a in stacked]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("method", ["direct", "bilinear"])
def test_derivatives_equal_differences_in_all_modes(method):
    a, q = 0.3 * RNG.standard_normal((3, 3)), RNG.standard_normal((3, 3))
    given = [ng.tensor(x, requires_grad=True) for x in (a, q)]
    f = lambda a, q: ng.linalg.solve_discrete_lyapunov(a, q, method)  # noqa: E731
    gradcheck(f, given)
    gradgradcheck(f, given)
    x = f(*given)
    g = RNG.standard_normal((2, 3, 3))
    gq = [scipy.linalg.solve_discrete_lyapunov(a.T, one) for one in g]
    batched = ng.grad(x, given, g, is_grads_batched=True)
    np.testing.assert_allclose(batched[1].numpy(), gq, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(np.asarray(ng.jit(f)(a, q)), x.detach().numpy(), rtol=1e-13)
    mapped = np.asarray(ng.func.vmap(f)(np.stack([a, a / 2]), np.stack([q, q])))
    np.testing.assert_allclose(mapped[1], f(a / 2, q).numpy(), rtol=1e-12)


def test_wrong_shapes_and_methods_are_refused_by_name():
    solve = ng.linalg.solve_discrete_lyapunov
    for args in ((np.ones((2, 3)), np.eye(2)), (np.eye(2), np.eye(3)), (np.eye(2), 1.0)):
        with pytest.raises(ValueError, match="solve_discrete_lyapunov: a and q must be square"):
            solve(*args)
    with pytest.raises(ValueError, match="solve_discrete_lyapunov: method"):
        solve(np.eye(2), np.eye(2), "other")
    with pytest.raises(np.linalg.LinAlgError):
        solve(np.eye(2), np.eye(2)).numpy()
