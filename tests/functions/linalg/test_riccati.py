"""Riccati's equations against SciPy's solutions, closed forms and differences."""

import numpy as np
import pytest
import scipy.linalg

import numgrad as ng
from numgrad.testing import gradcheck, gradgradcheck

RNG = np.random.default_rng(0)
NAMES = "solve_continuous_are", "solve_discrete_are"


def system(is_complex=False, n=3, m=2):
    def draw(*shape):
        x = RNG.standard_normal((2, *shape))
        return x[0] + 1j * x[1] if is_complex else x[0]

    c, d = draw(n, n), draw(m, m)
    q, r = c @ c.conj().T + np.eye(n), d @ d.conj().T + np.eye(m)
    return draw(n, n), draw(n, m), q, r, np.eye(n) + 0.2 * draw(n, n), 0.1 * draw(n, m)


def hermitian(x):
    return 0.5 * (x + ng.conj(x).T)


@pytest.mark.parametrize("name", NAMES)
def test_solutions_equal_those_of_scipy_and_derivatives_differences(name):
    own, theirs = getattr(ng.linalg, name), getattr(scipy.linalg, name)
    for is_complex in (False, True):
        for count in (4, 6):
            given = system(is_complex)[:count]
            x = own(*given).numpy()
            np.testing.assert_allclose(x, theirs(*given, balanced=False), rtol=1e-11, atol=1e-11)
            tensors = [ng.tensor(part, requires_grad=True) for part in given]
            f = lambda a, b, q, r, *es: own(a, b, hermitian(q), hermitian(r), *es)  # noqa: E731
            gradcheck(f, tensors)
            gradgradcheck(f, tensors)


def test_solutions_with_a_descriptor_matrix_solve_the_equation():
    for _ in range(30):  # SciPy's balancing loses a third of them
        a, b, q, r, e, s = system()
        x = ng.linalg.solve_continuous_are(a, b, q, r, e, s).numpy()
        k = np.linalg.solve(r, b.T @ x @ e + s.T)
        rest = a.T @ x @ e + e.T @ x @ a - (e.T @ x @ b + s) @ k + q
        assert abs(rest).max() < 1e-8 * abs(x).max() * abs(a).max()


def test_gradients_equal_closed_forms():
    q, r = (ng.tensor([[x]], requires_grad=True) for x in (3.0, 2.0))
    x = ng.linalg.solve_continuous_are([[1.0]], [[1.0]], q, r)  # r + sqrt(r**2 + q r)
    found = [x.item(), *[g.item() for g in ng.grad(x.sum(), [q, r])]]
    root = np.sqrt(10.0)
    np.testing.assert_allclose(found, [2.0 + root, 1.0 / root, 1.0 + 3.5 / root], rtol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_batched_captured_mapped_and_forward_equal_looped(name):
    f, (a, b, q, r, *_) = getattr(ng.linalg, name), system()
    given = [ng.tensor(x, requires_grad=True) for x in (a, b, q, r)]
    x, g = f(*given), RNG.standard_normal((2, 3, 3))
    batched = ng.grad(x, given, g, is_grads_batched=True)
    for k in range(2):
        for p, one in zip(batched, ng.grad(f(*given), given, g[k]), strict=True):
            np.testing.assert_allclose(p[k].numpy(), one.numpy(), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(np.asarray(ng.jit(f)(a, b, q, r)), x.detach().numpy())
    mapped = np.asarray(ng.func.vmap(f, in_axes=(0, None, None, None))(np.stack([a, -a]), b, q, r))
    np.testing.assert_array_equal(mapped[1], f(-a, b, q, r).numpy())
    step = RNG.standard_normal(a.shape)
    _, tangent = ng.func.jvp(lambda a: f(a, b, q, r), (a,), (step,))
    expected = (g[0] * np.asarray(tangent)).sum()
    np.testing.assert_allclose((batched[0][0].numpy() * step).sum(), expected, rtol=1e-10)


def test_what_has_no_solution_is_refused_by_name():
    solve = ng.linalg.solve_continuous_are
    one = np.eye(2)
    for bad, words in (
        ((one, np.ones((3, 1)), one, np.eye(1)), "b must have shape"),
        ((one, one, one, np.eye(3)), "b must have shape"),
        ((one, one, one, one, np.eye(3)), "e must have shape"),
    ):
        with pytest.raises(ValueError, match=f"solve_continuous_are: {words}"):
            solve(*bad)
    with pytest.raises(np.linalg.LinAlgError, match="solve_continuous_are"):
        solve(one, np.zeros((2, 1)), one, np.eye(1)).numpy()
    with pytest.raises(ng.errors.OperatorError, match=r"solve_continuous_are: .*symmetric"):
        solve(one, one, [[1.0, 2.0], [0.0, 1.0]], one).numpy()
