"""``grad`` of one function time and again: plans that are known do not cut what lies outside."""

import numpy as np
import pytest

import numgrad as ng

TIMES = 4  # the third call runs a plan that is known


def differentiate(scale, x, transform=ng.func.grad):
    return transform(lambda x: (ng.sin(x) * scale * x).sum())(x)


@pytest.mark.parametrize("transform", [ng.func.grad, ng.func.value_and_grad])
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_what_is_closed_over_keeps_its_gradient(transform):
    x = np.linspace(0.1, 1, 5)
    for _ in range(TIMES):
        constant = differentiate(ng.tensor(2.0), x, transform)
    for _ in range(TIMES):  # the same graph, of which nothing outside is wanted
        with ng.no_grad():
            differentiate(ng.tensor(2.0, requires_grad=True), x, transform)
    for _ in range(TIMES):
        scale = ng.tensor(2.0, requires_grad=True)
        found = differentiate(scale, x, transform)
        if transform is ng.func.value_and_grad:
            (value, slope), (_, expected) = found, constant
            assert ng.grad(value, scale, retain_graph=True)[0].item() == pytest.approx(
                np.sum(np.sin(x) * x)
            )
        else:
            slope, expected = found, constant
        np.testing.assert_array_equal(slope.detach().numpy(), expected)
        outer = ng.grad(slope.sum(), scale)[0].item()
        assert outer == pytest.approx(np.sum(np.cos(x) * x + np.sin(x)))


def test_an_argument_of_an_outer_derivative_keeps_its_gradient():
    x = ng.tensor([0.3, 0.7], requires_grad=True)
    for _ in range(TIMES):
        with ng.no_grad():
            differentiate(2.0, x)
    for _ in range(TIMES):
        outer = ng.grad(differentiate(2.0, x).sum(), x)[0].numpy()
        numbers = x.detach().numpy()
        expected = 4.0 * np.cos(numbers) - 2.0 * np.sin(numbers) * numbers
        np.testing.assert_allclose(outer, expected, rtol=1e-14)


def test_an_argument_that_is_differentiated_by_twice():
    x = np.array([0.3, 0.7])
    for _ in range(TIMES):
        a, b = ng.func.grad(lambda x: (x * x).sum(), argnums=(0, 0))(x)
        np.testing.assert_array_equal(a, 2 * x)
        np.testing.assert_array_equal(b, 2 * x)


OFTEN = 120  # a plan that is used more often gets compiled code that recognises its graphs


@pytest.mark.parametrize("transform", [ng.func.jacrev, ng.func.jacfwd, ng.func.hessian])
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_a_graph_that_was_closed_is_told_from_one_that_is_not(transform):
    def f(x, w):
        y = ng.sin(x) * w * x
        return y.sum() if transform is ng.func.hessian else y

    x, w = np.array([0.3, 0.7]), np.array([2.0, 3.0])
    for _ in range(OFTEN):
        expected = transform(f, argnums=(0, 1))(x, w)[0]
    expected = expected[0] if transform is ng.func.hessian else expected
    for _ in range(OFTEN):
        inside = transform(lambda x: f(x, ng.tensor(w)))(x)
        assert type(inside) is np.ndarray
        assert inside.flags.writeable
        np.testing.assert_allclose(inside, expected, rtol=1e-14)
    for _ in range(TIMES):
        outer = ng.tensor(w, requires_grad=True)
        found = transform(lambda x, outer=outer: f(x, outer))(x)
        assert found.requires_grad
        np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-14)
        assert ng.grad(found.sum(), outer)[0].shape == (2,)


@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_results_are_arrays_of_their_own():
    x, matrix = np.array([0.3, 0.7]), np.array([[1.0, 2.0], [3.0, 4.0]])
    constant = ng.tensor(matrix)
    for transform in (ng.func.jacrev, ng.func.jacfwd):
        for _ in range(TIMES):
            found = transform(lambda x: constant @ x)(x)
            np.testing.assert_array_equal(found, matrix)
            found[...] = 0.0
            np.testing.assert_array_equal(constant.numpy(), matrix)
    for _ in range(TIMES):
        given = np.array([1.0, 2.0])
        (slope,) = ng.func.vjp(lambda x: x + 1.0, x)[1](given)
        slope[...] = 0.0
        np.testing.assert_array_equal(given, [1.0, 2.0])


@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_an_auxiliary_output_keeps_its_graph():
    x = np.array([0.3, 0.7])
    for _ in range(TIMES):
        scale = ng.tensor(2.0, requires_grad=True)

        def both(x, scale=scale):
            y = ng.sin(x)
            return (y * y).sum(), (y * scale).sum()

        slope, aux = ng.func.grad(both, has_aux=True)(x)
        np.testing.assert_allclose(slope, np.sin(2 * x))
        assert ng.grad(aux, scale)[0].item() == pytest.approx(np.sin(x).sum())


@pytest.mark.parametrize("size", [3, 1 << 17])  # the memory of large arrays is used again
def test_results_belong_to_the_caller(size):
    x = np.linspace(0.1, 1.0, size)
    kept = [ng.func.grad(lambda x: (x * x).sum())(x) for _ in range(TIMES)]
    for n, slope in enumerate(kept):
        slope += n
    for n, slope in enumerate(kept):
        np.testing.assert_array_equal(slope, 2 * x + n)
        assert not any(np.shares_memory(slope, other) for other in (x, *kept[:n]))
    np.testing.assert_array_equal(x, np.linspace(0.1, 1.0, size))


def test_a_function_may_write_what_its_argument_was_made_of():
    x = np.linspace(0.1, 1.0, 1 << 17)
    start = x.copy()

    def squares(y):
        result = (y * y).sum()
        x[:] = 0.0
        return result

    for _ in range(TIMES):
        x[:] = start
        np.testing.assert_array_equal(ng.func.grad(squares)(x), 2 * start)
