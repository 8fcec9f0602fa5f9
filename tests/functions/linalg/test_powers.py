"""Polar factors, powers of matrices and bases against SciPy's and differences."""

import numpy as np
import pytest
import scipy.linalg

import numgrad as ng
from numgrad.testing import gradcheck, gradgradcheck

RNG = np.random.default_rng(0)
POSITIVE = np.array([[4.0, 1.0, 0.5], [0.5, 3.0, 0.0], [0.2, 1.0, 2.0]])


@pytest.mark.parametrize("side", ["right", "left"])
def test_polar_factors_equal_those_of_scipy_and_derivatives_differences(side):
    f = lambda x: ng.linalg.polar(x, side)  # noqa: E731
    for shape in ((3, 3), (4, 2), (2, 4)):
        for is_complex in (False, True):
            x = RNG.standard_normal(shape) + (1j * RNG.standard_normal(shape) if is_complex else 0)
            for found, expected in zip(f(x), scipy.linalg.polar(x, side), strict=True):
                np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12, atol=1e-13)
            gradcheck(f, [ng.tensor(x, requires_grad=True)])
            gradgradcheck(f, [ng.tensor(x, requires_grad=True)])


def test_polar_factors_of_orthogonal_matrices_have_gradients():
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])  # equal singular values
    x = ng.tensor(turn, requires_grad=True)
    step = np.array([[1.0, 2.0], [3.0, 4.0]])
    (g,) = ng.grad((ng.linalg.polar(x)[0] * step).sum(), x)
    skew = turn.T @ step
    np.testing.assert_allclose(g.numpy(), turn @ (skew - skew.T) / 2, atol=1e-14)
    x = ng.tensor(np.zeros((2, 2)), requires_grad=True)
    total = ng.linalg.polar(x)[0].sum()
    with pytest.raises(np.linalg.LinAlgError, match="polar"):
        ng.grad(total, x)
    for side in ("both", None, [1]):
        with pytest.raises(ValueError, match="polar: side must be"):
            ng.linalg.polar(turn, side)


def test_powers_equal_those_of_scipy_and_derivatives_differences():
    power = ng.linalg.fractional_matrix_power
    for t in (0.5, -0.3, 1.7, 2, -1.0):
        expected = scipy.linalg.fractional_matrix_power(POSITIVE, t)
        np.testing.assert_allclose(power(POSITIVE, t).numpy(), expected, rtol=1e-12, atol=1e-13)
        gradcheck(lambda x, t=t: power(x, t), [ng.tensor(POSITIVE, requires_grad=True)])
    given = [ng.tensor(x, requires_grad=True) for x in (POSITIVE, 2.0)]
    gradcheck(power, given)
    gradgradcheck(power, given)
    np.testing.assert_array_equal(power(np.diag([0.0, 2.0]), 3).numpy(), np.diag([0.0, 8.0]))
    with pytest.raises(ValueError, match="fractional_matrix_power: t must be a real number"):
        power(POSITIVE, [0.5, 0.5])
    with pytest.raises(np.linalg.LinAlgError, match="fractional_matrix_power"):
        power(-np.eye(2), 0.5).numpy()


def test_bases_equal_those_of_scipy_and_projectors_have_gradients():
    for shape in ((4, 3), (3, 4)):
        flat = RNG.standard_normal((shape[0], 2)) @ RNG.standard_normal((2, shape[1]))
        for name in ("orth", "null_space"):
            found, expected = (
                np.asarray(getattr(linalg, name)(flat)) for linalg in (ng.linalg, scipy.linalg)
            )
            if name == "null_space" and shape[1] - 2 > 1:  # any two vectors of it are a basis
                np.testing.assert_allclose(found.T @ found, np.eye(2), rtol=0, atol=1e-12)
                found, expected = found @ found.T, expected @ expected.T
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)

    def projector(x, y):  # of rank 2 for all arguments
        basis = ng.linalg.orth(x @ y)
        return basis @ basis.T

    given = [ng.tensor(RNG.standard_normal(s), requires_grad=True) for s in ((4, 2), (2, 3))]
    gradcheck(projector, given)
    wide = ng.tensor(RNG.standard_normal((2, 4)), requires_grad=True)
    f = lambda x: (lambda n: n @ n.T)(ng.linalg.null_space(x))  # noqa: E731
    gradcheck(f, [wide])
    gradgradcheck(f, [wide])
    with pytest.raises(ValueError, match="orth: A must be one matrix"):
        ng.linalg.orth(np.ones((2, 2, 2)))


def test_batched_captured_and_mapped_equal_looped():
    for f in (
        lambda x: ng.linalg.polar(x)[0],
        lambda x: ng.linalg.fractional_matrix_power(x, 0.3),
    ):
        x = ng.tensor(POSITIVE, requires_grad=True)
        y, g = f(x), RNG.standard_normal((3, 3, 3))
        batched = ng.grad(y, x, g, is_grads_batched=True)[0].numpy()
        looped = [ng.grad(f(x), x, one)[0].numpy() for one in g]
        np.testing.assert_allclose(batched, looped, rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(np.asarray(ng.jit(f)(POSITIVE)), y.detach().numpy())
        stack = np.stack([POSITIVE, POSITIVE.T])
        mapped = np.asarray(ng.func.vmap(f)(stack))
        np.testing.assert_allclose(mapped[1], f(POSITIVE.T).numpy(), rtol=1e-13)


@pytest.mark.parametrize("generator", [np.random.MT19937, np.random.PCG64])
def test_logarithms_neither_draw_from_the_generator_of_the_program_nor_depend_on_it(generator):
    """SciPy's do both: norms of powers are estimated from random vectors."""
    users = np.random.get_bit_generator()
    a = np.random.default_rng(4).normal(size=(6, 6))
    a = a @ a.T + np.eye(6)
    try:
        np.random.set_bit_generator(generator(3))
        np.random.normal(size=3)  # noqa: NPY002  one more is drawn, and kept
        state = str(np.random.get_state(legacy=False))  # noqa: NPY002
        first, expected = second_derivative(a), np.random.normal(size=5)  # noqa: NPY002
        for _ in range(10):
            np.testing.assert_array_equal(second_derivative(a), first)
        np.random.set_bit_generator(generator(3))
        np.random.normal(size=3)  # noqa: NPY002
        assert str(np.random.get_state(legacy=False)) == state  # noqa: NPY002
        np.testing.assert_array_equal(np.random.normal(size=5), expected)  # noqa: NPY002
    finally:
        np.random.set_bit_generator(users)


def second_derivative(a):
    x = ng.tensor(a, requires_grad=True)
    (gradient,) = ng.grad(ng.linalg.logm(x).sum(), x, create_graph=True)
    return ng.grad(gradient.sum(), x)[0].numpy()
