"""Transforms inside transforms: every pair, closures and arguments, captured and not, compared with
the exact derivatives of polynomials."""

import itertools

import numpy as np
import pytest

import numgrad as ng
from tests.func.polynomials import Polynomial
from tests.func.transforms import AUX, REDUCTIONS, TAPES
from tests.sampling import one_in

POINTS = np.array([[0.5, -0.75], [1.25, 0.5], [-0.5, 1.5]])
LINKS = ("closure", "argument", "both")
INNER = {**REDUCTIONS, **TAPES}


def base(u, v, w):
    """A scalar of three vectors of two, of degree 3 in the first; also of polynomials."""
    return (
        u[0] * u[0] * u[1] * v[0] + u[1] * u[1] * v[1] * v[1] * w[0] + u[0] * v[0] * v[1] * w[1]
        + u[0] * u[1] * w[0] * w[0] + u[0] * u[0] * u[0] * w[1] + v[0] * v[0] * w[1] * w[1]
    )  # fmt: skip


def program(names, links, tables, wrap):
    """Return the nested function of the outermost vector.

    ``names`` are the transforms from the inside, and ``links`` say where each is evaluated: at a
    NumPy array, while its function closes over the vectors further out, or at a vector that depends
    on the next one.
    """

    def level(depth, outer):
        # The function of vector number `depth`, where those further out are known.
        if depth == 0:
            return lambda u: base(*([u, *outer] + [POINTS[2]] * 2)[:3])

        def function(x):
            inner = level(depth - 1, [x, *outer])
            link = links[depth - 1]
            point = {"closure": POINTS[depth - 1], "argument": x, "both": x * POINTS[depth - 1]}
            return tables[names[depth - 1]].program(inner, point[link])

        return wrap(function) if depth == len(names) else function

    return level(len(names), [])


def expected(names, links, tables):
    """Return the polynomial that the nested function is."""
    vectors = [[2 * n, 2 * n + 1] for n in range(3)]
    u, v, w = [[Polynomial.variable(n) for n in vector] for vector in vectors]
    p = base(u, v, w)
    for n in range(len(names) + 1, 3):
        for index, value in zip(vectors[n], POINTS[2], strict=True):
            p = p.substitute(index, Polynomial.constant(value))
    for n, (name, link) in enumerate(zip(names, links, strict=True)):
        p = tables[name].formula(p, vectors[n])
        for index, outer, value in zip(vectors[n], vectors[n + 1], POINTS[n], strict=True):
            further = Polynomial.variable(outer)
            point = {
                "closure": Polynomial.constant(value), "argument": further, "both": further * value
            }  # fmt: skip
            p = p.substitute(index, point[link])
    return p, vectors[len(names)]


OUTERMOST = {
    "func.grad": lambda f: ng.func.grad(f),
    "tape": lambda f: lambda x: on_tape(f, x),
    "jit of grad": lambda f: ng.jit(ng.func.grad(f)),
    "grad of jit": lambda f: ng.func.grad(ng.jit(f)),
    "jacrev of jit": lambda f: ng.func.jacrev(ng.jit(f)),
    "tape of jit": lambda f: lambda x: on_tape(ng.jit(f), x),
}


def on_tape(function, x):
    leaf = ng.tensor(x, requires_grad=True)
    (gradient,) = ng.grad((leaf * leaf).sum() + function(leaf), leaf)
    return gradient.numpy() - 2 * x


def check(names, links, outermost, tables=INNER):
    point = POINTS[1]
    function = program(names, links, tables, lambda f: f)
    polynomial, variables = expected(names, links, tables)
    values = np.zeros(Polynomial.COUNT)
    values[variables] = point
    right = [polynomial.derivative(n)(values) for n in variables]
    found = np.asarray(OUTERMOST[outermost](function)(point))
    scale = max(map(abs, right)) + 1
    np.testing.assert_allclose(found, right, rtol=1e-11, atol=1e-11 * scale)


@pytest.mark.parametrize("name", INNER)
@pytest.mark.parametrize("outermost", OUTERMOST)
def test_one_transform_inside_a_derivative(name, outermost):
    for link in LINKS:
        check([name], [link], outermost)


@pytest.mark.parametrize("name", AUX)
@pytest.mark.parametrize("outermost", OUTERMOST)
def test_auxiliary_values_inside_a_derivative(name, outermost):
    for link in LINKS:
        check([name], [link], outermost, AUX)


@pytest.mark.parametrize("first", one_in(6, INNER, 1))
@pytest.mark.parametrize("second", one_in(2, INNER))
def test_two_transforms_inside_a_derivative(first, second):
    ways = list(itertools.product(LINKS, LINKS, ["func.grad", "tape", "jit of grad"]))
    start = sum(map(ord, first + second))  # another third of the ways for each pair
    for links in ways[start % 3 :: 3]:
        check([first, second], links[:2], links[2])


@pytest.mark.parametrize("first", one_in(5, REDUCTIONS))
@pytest.mark.parametrize("second", one_in(2, REDUCTIONS))
def test_captured_functions_inside_transforms(first, second):
    captured = {
        name: reduction._replace(
            program=lambda f, x, call=reduction.program: call(ng.jit(f), x)
        )
        for name, reduction in INNER.items()
    }
    number = sum(map(ord, first + second))  # another way for each pair
    check([first, second], [LINKS[number % 3], "closure"], "tape", captured)
    check([first, second], ["closure", LINKS[number // 3 % 3]], "func.grad", captured)


def test_no_graph_outside_is_followed_where_none_is_recorded():
    w = ng.tensor([2.0, 3.0], requires_grad=True)
    gradient = ng.func.grad(lambda x: (w * x * x).sum())
    assert gradient(np.ones(2)).requires_grad
    with ng.no_grad():
        found = gradient(np.ones(2))
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, [4.0, 6.0])
        value, pull = ng.func.vjp(lambda x: w * x, w)
        assert not value.requires_grad
        np.testing.assert_array_equal(pull(np.ones(2))[0].numpy(), [4.0 - 2.0, 6.0 - 3.0])


def test_tangents_of_a_captured_function_that_applies_a_linear_map():
    """The derivative of the call has expressions that stand for rules, here of the map."""
    w = ng.tensor([1.5], requires_grad=True)

    def function(x):
        push = ng.func.linearize(lambda y: y * y, np.array([1.25]))[1]
        return x * x * np.sum(w) * np.sum(push(np.array([2.0])))

    x, v = np.array([0.5, 2.0]), np.array([1.0, -3.0])
    value, tangent = ng.func.jvp(ng.jit(function), (x,), (v,))
    np.testing.assert_allclose(value.detach(), 7.5 * x * x)
    np.testing.assert_allclose(tangent.detach(), 15.0 * x * v)
