"""Draws of NumPy's generators, reparametrised: the same numbers, with gradients to parameters."""

import inspect

import numpy as np
import pytest
import scipy.special

import numgrad as ng

LOC, SCALE = np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 2.0])
SAME_BITS = {
    "normal": (LOC, SCALE),
    "laplace": (LOC, SCALE),
    "logistic": (LOC, SCALE),
    "gumbel": (LOC, SCALE),
    "uniform": (LOC, LOC + SCALE),
    "exponential": (SCALE,),
    "rayleigh": (SCALE,),
    "gamma": (SCALE, LOC),
    "standard_gamma": (SCALE,),
    "chisquare": (LOC,),
}
TO_ROUNDING = {
    "lognormal": (LOC, SCALE),
    "weibull": (SCALE,),
    "pareto": (SCALE,),
    "power": (SCALE,),
    "triangular": (LOC - 1, LOC, LOC + 0.3),
}
WITHOUT_PARAMETERS = ["random", "standard_normal", "standard_exponential", "standard_cauchy"]


def generator():
    return np.random.default_rng(3)


@pytest.mark.parametrize("name", SAME_BITS)
@pytest.mark.parametrize("size", [None, 3, (4, 3), (0, 3)])
def test_same_bits_as_numpy(name, size):
    actual = getattr(ng.random, name)(generator(), *SAME_BITS[name], size=size)
    expected = getattr(generator(), name)(*SAME_BITS[name], size=size)
    assert isinstance(actual, ng.Tensor)
    np.testing.assert_array_equal(actual.numpy(), expected)


@pytest.mark.parametrize("name", TO_ROUNDING)
def test_same_draws_as_numpy(name):
    actual = getattr(ng.random, name)(generator(), *TO_ROUNDING[name], size=(4, 3))
    expected = getattr(generator(), name)(*TO_ROUNDING[name], size=(4, 3))
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", WITHOUT_PARAMETERS)
@pytest.mark.parametrize("size", [None, (2, 3)])
def test_draws_without_parameters(name, size):
    actual = getattr(ng.random, name)(generator(), size)
    np.testing.assert_array_equal(actual.numpy(), getattr(generator(), name)(size))
    assert actual.shape == np.shape(getattr(generator(), name)(size))


def test_cauchy():
    actual = ng.random.cauchy(generator(), LOC, SCALE)
    np.testing.assert_array_equal(actual.numpy(), LOC + SCALE * generator().standard_cauchy(3))


SHAPES = {
    "standard_t": (3.5,),
    "beta": (1.5, 0.7),
    "f": (3.0, 7.0),
    "dirichlet": ([0.5, 2.0, 1.1],),
}


@pytest.mark.parametrize("name", SHAPES)
def test_single_draws_of_gamma_distributions_are_those_of_numpy(name):
    actual = getattr(ng.random, name)(generator(), *SHAPES[name])
    expected = getattr(generator(), name)(*SHAPES[name])
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-14)
    many = getattr(ng.random, name)(generator(), *SHAPES[name], size=(2, 4))
    assert many.shape == getattr(generator(), name)(*SHAPES[name], size=(2, 4)).shape


@pytest.mark.parametrize("a", [0.05, 0.3, 1.0, 2.7, 50.0, 1e4])
def test_slopes_of_gamma_draws_are_those_of_quantiles(a):
    """A draw stays the quantile that it is: SciPy's quantiles say how it moves."""
    leaf = ng.tensor(a, requires_grad=True)
    x = ng.random.standard_gamma(generator(), leaf, size=30)
    slopes = ng.func.jacfwd(lambda a: ng.random.standard_gamma(generator(), a, size=30))(a)
    (total,) = ng.grad(x.sum(), leaf)
    np.testing.assert_allclose(slopes.sum(), total.item(), rtol=1e-12)
    below = scipy.special.gammainc(a, x.detach().numpy())
    inner = (below > 1e-6) & (below < 0.99)
    h = 1e-4 * a

    def quantile(step):
        return scipy.special.gammaincinv(a + step, below[inner])

    expected = 8 * (quantile(h) - quantile(-h)) - (quantile(2 * h) - quantile(-2 * h))
    np.testing.assert_allclose(slopes[inner], expected / (12 * h), rtol=1e-7)


def test_gradients_of_expected_values():
    """Of the means, variances and other moments that have a closed form."""
    a, b, df = 2.3, 1.2, 9.0

    def moments(theta):
        rng = np.random.default_rng(1)
        n = 200_000
        x = ng.random.beta(rng, theta[0], theta[1], n)
        y = ng.random.standard_t(rng, theta[2], n)
        z = ng.random.dirichlet(rng, theta[:2], n)
        return ng.stack(
            [x.mean(), (y * y).mean(), z[:, 0].mean(), ng.random.f(rng, 3.0, theta[2], n).mean()]
        )

    jacobian = ng.func.jacrev(moments)(np.array([a, b, df]))
    share = np.array([b, -a]) / (a + b) ** 2
    np.testing.assert_allclose(jacobian[0, :2], share, rtol=0.01)
    np.testing.assert_allclose(jacobian[2, :2], share, rtol=0.01)
    np.testing.assert_allclose(jacobian[[1, 3], 2], -2 / (df - 2) ** 2, rtol=0.1)


def test_second_derivatives_of_gamma_draws_are_refused():
    with pytest.raises(ng.errors.NotDifferentiableError, match="slope of `gammainc`"):
        ng.func.hessian(lambda a: ng.random.standard_gamma(generator(), a))(2.0)


OF_SHAPES = ("gamma", "standard_gamma", "chisquare")  # NumPy draws other numbers for other shapes


@pytest.mark.parametrize("name", [n for n in [*SAME_BITS, *TO_ROUNDING] if n not in OF_SHAPES])
def test_gradients(name):
    """Against differences of NumPy's draws for the same state of the generator."""
    parameters = {**SAME_BITS, **TO_ROUNDING}[name]
    tensors = [ng.tensor(p, requires_grad=True) for p in parameters]
    y = getattr(ng.random, name)(generator(), *tensors, size=(5, 3))
    for place, gradient in enumerate(ng.grad(y.sum(), tensors)):

        def value(step, place=place):
            moved = [p + step * (i == place) for i, p in enumerate(parameters)]
            return getattr(generator(), name)(*moved, size=(5, 3)).sum(axis=0)

        expected = (value(1e-5) - value(-1e-5)) / 2e-5
        np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("size", [None, 4, (2, 3)])
def test_vectors(size):
    mean, cov = np.array([1.0, 2.0]), np.array([[2.0, 0.3], [0.3, 1.0]])
    expected = generator().multivariate_normal(mean, cov, size, method="cholesky")
    leaves = [ng.tensor(mean, requires_grad=True), ng.tensor(cov, requires_grad=True)]
    actual = ng.random.multivariate_normal(generator(), *leaves, size)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual.detach().numpy(), expected, rtol=1e-14)
    g = np.ones(actual.shape)
    g[..., 1] = 3
    direction = np.array([[1.0, 0.5], [0.5, -1.0]])

    def value(step):
        drawn = generator().multivariate_normal(
            mean, cov + step * direction, size, method="cholesky"
        )
        return (g * drawn).sum()

    slopes = ng.grad((actual * g).sum(), leaves)
    np.testing.assert_allclose(slopes[0].numpy(), g.reshape(-1, 2).sum(axis=0))
    expected = (value(1e-5) - value(-1e-5)) / 2e-5
    np.testing.assert_allclose((slopes[1].numpy() * direction).sum(), expected, rtol=1e-7)


def without_a_generator(name, *parameters, **given):
    """Return what a function draws as NumPy's of its name is called, after the same seed."""
    np.random.seed(5)  # noqa: NPY002  which programs call
    return getattr(ng.random, name)(*parameters, **given)


CALLS = {
    **SAME_BITS, **TO_ROUNDING, **SHAPES, **dict.fromkeys(WITHOUT_PARAMETERS, ()),
    "multivariate_normal": ([1.0, 2.0], [[2.0, 0.3], [0.3, 1.0]]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("given", [{}, {"size": (4, 3)}])
def test_without_a_generator_they_are_functions_of_numpy(name, given):
    actual = without_a_generator(name, *CALLS[name], **given)
    expected = getattr(np.random.RandomState(5), name)(*CALLS[name], **given)
    assert isinstance(actual, ng.Tensor)
    np.testing.assert_array_equal(actual.numpy(), expected)


@pytest.mark.parametrize("name", [*SAME_BITS, *TO_ROUNDING])
def test_gradients_without_a_generator_are_those_of_the_same_draws(name):
    parameters = {**SAME_BITS, **TO_ROUNDING}[name]
    leaves = [ng.tensor(p, requires_grad=True) for p in parameters]
    y = without_a_generator(name, *leaves, size=(5, 3))
    again = getattr(ng.random, name)(np.random.RandomState(5), *leaves, size=(5, 3))
    expected = getattr(np.random.RandomState(5), name)(*parameters, size=(5, 3))
    np.testing.assert_allclose(y.detach().numpy(), expected, rtol=1e-14, atol=1e-15)
    for actual, slope in zip(ng.grad(y.sum(), leaves), ng.grad(again.sum(), leaves), strict=True):
        np.testing.assert_array_equal(actual.numpy(), slope.numpy())
    if name in OF_SHAPES:
        return
    for place, leaf in enumerate(leaves):

        def value(step, place=place):
            moved = [p + step * (i == place) for i, p in enumerate(parameters)]
            return getattr(np.random.RandomState(5), name)(*moved, size=(5, 3)).sum(axis=0)

        expected = (value(1e-5) - value(-1e-5)) / 2e-5
        actual = ng.grad(without_a_generator(name, *leaves, size=(5, 3)).sum(), leaf)[0]
        np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-6, atol=1e-8)


def test_transforms_of_functions_that_draw():
    def f(theta):
        return (ng.random.weibull(generator(), theta[0], 20) * theta[1]).mean()

    theta = np.array([1.3, 0.7])
    e = generator().standard_exponential(20)
    x = e ** (1 / theta[0])
    first = [(-x * np.log(e) / theta[0] ** 2 * theta[1]).mean(), x.mean()]
    np.testing.assert_allclose(ng.func.grad(f)(theta), first, rtol=1e-13)
    np.testing.assert_allclose(ng.func.jacfwd(f)(theta), first, rtol=1e-13)
    mixed = ng.func.hessian(f)(theta)[0, 1]
    np.testing.assert_allclose(mixed, first[0] / theta[1], rtol=1e-13)


rng_of_module = np.random.default_rng(0)


@pytest.mark.parametrize(
    "function",
    [
        lambda mu: ng.random.normal(rng_of_module, mu),
        lambda mu: ng.random.normal(np.random.default_rng(0), mu),
        lambda mu: ng.random.multivariate_normal(rng_of_module, [0.0], [[1.0]]) + mu,
        lambda mu: ng.random.standard_normal(rng_of_module) + mu,
        lambda mu: ng.random.normal(mu, 1.0),
        lambda mu: ng.random.normal(size=2) + mu,
    ],
)
@pytest.mark.parametrize("around", [ng.jit, ng.func.vmap])
def test_draws_in_captured_and_mapped_functions_are_refused(function, around):
    with pytest.raises(ng.errors.CaptureError, match=r"random\.\w+: .*Draw outside"):
        around(function)(np.ones(2))


def test_draws_around_a_captured_function_are_new_at_each_call():
    step = ng.jit(lambda mu, z: mu + 0.5 * z)
    rng, again = generator(), generator()
    for _ in range(3):
        z = ng.random.standard_normal(rng, 2)
        expected = 1.0 + 0.5 * again.standard_normal(2)
        np.testing.assert_array_equal(step(np.ones(2), z).numpy(), expected)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ng.random.normal(generator(), 0.0, -1.0), ValueError, "scale < 0"),
        (lambda: ng.random.cauchy(0.0, 1.0), TypeError, r"random\.cauchy draws from"),
        (lambda: ng.random.normal(np.random, 1.0), TypeError, "Generator"),
        (lambda: ng.random.normal(generator(), LOC, size=2), ValueError, r"random\.normal.*size"),
        (lambda: ng.random.normal(generator(), size=(1,), sigma=1), TypeError, r"random\.normal"),
        (lambda: ng.random.uniform(generator(), 0, np.inf), OverflowError, "range"),
        (
            lambda: ng.random.multivariate_normal(generator(), [0.0], np.eye(2)),
            ValueError,
            r"random\.multivariate_normal",
        ),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_refused_call_leaves_the_generator_as_it_was():
    rng = generator()
    with pytest.raises(ValueError, match="scale"):
        ng.random.gumbel(rng, 0.0, -1.0)
    assert rng.normal() == generator().normal()


def test_signatures_are_those_of_numpy_after_the_generator():
    signature = inspect.signature(ng.random.normal)
    assert signature.return_annotation is ng.Tensor
    shown = str(signature.replace(return_annotation=signature.empty))
    assert shown == "(rng, loc=0.0, scale=1.0, size=None)"
    assert ng.random.normal.__doc__.startswith("Return")
