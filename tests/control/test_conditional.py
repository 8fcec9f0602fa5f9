"""Loops that end by a condition, or at an integer."""

import numpy as np
import pytest

import numgrad as ng

from .bodies import assert_close, assert_equal

TWO = np.array(2.0)


def root(a):
    return ng.while_loop(lambda x: abs(x * x - a) > 1e-13, lambda x: (x + a / x) / 2, a)


DERIVATIVES = {
    "value": (lambda f: f, 2**0.5),
    "gradient": (ng.func.grad, 0.5 * 2**-0.5),
    "forward": (ng.func.jacfwd, 0.5 * 2**-0.5),
    "second": (lambda f: ng.func.grad(ng.func.grad(f)), -0.25 * 2**-1.5),
    "forward over reverse": (lambda f: ng.func.jacfwd(ng.func.grad(f)), -0.25 * 2**-1.5),
    "forward twice": (lambda f: ng.func.jacfwd(ng.func.jacfwd(f)), -0.25 * 2**-1.5),
    "third": (lambda f: ng.func.grad(ng.func.grad(ng.func.grad(f))), 0.375 * 2**-2.5),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_of_newtons_root_are_those_of_the_root(name):
    transform, expected = DERIVATIVES[name]
    found = np.asarray(transform(root)(TWO))
    assert abs(found - expected) < 1e-7
    assert_equal(ng.jit(transform(root))(TWO), found)


def test_samples_end_each_by_itself():
    a = np.array([1.0, 2.0, 9.0, 1e4])  # the first takes no step
    g = ng.func.grad(root)
    assert_equal(ng.func.vmap(root)(a), np.array([root(x).numpy() for x in a]))
    assert_equal(ng.func.vmap(g)(a), np.array([g(x) for x in a]))


def test_closed_over_tensors_and_containers():
    k = ng.tensor(0.5, requires_grad=True)

    def halved(x):
        n, x = ng.while_loop(lambda c: c[1] > 1, lambda c: (c[0] + 1, c[1] * k), (0, x))
        return n, x

    n, x = halved(ng.tensor(9.0))
    assert_equal((n, x), (np.array(4), np.array(0.5625)))
    assert_close(ng.grad(x, k), (np.array(9 * 4 * 0.5**3),))
    n, x = ng.jit(halved)(ng.tensor(9.0))
    assert_close(ng.grad(x, k), (np.array(9 * 4 * 0.5**3),))


def powers(x, first, last):
    return ng.fori_loop(first, last, lambda i, t: t * 0.5 + ng.asarray(x)[i] ** 2 * i, 0.0)


def test_integers_are_counted():
    x = np.array([1.0, 2.0, 3.0])
    expected = np.array([0.0, 2.0, 12.0])
    assert_equal(powers(x, 0, 3), np.array(20.0))
    assert_equal(powers(x, 2, 1), np.array(0.0))
    assert_equal(ng.func.grad(lambda x: powers(x, 0, 3))(x), expected)
    f = ng.jit(lambda x, n: ng.func.grad(lambda x: powers(x, 0, n))(x))
    assert_equal(f(x, 3), expected)
    assert_equal(f(x, 2), np.array([0.0, 4.0, 0.0]))


def test_bounds_that_are_known_when_a_program_runs():
    x = np.array([1.0, 2.0, 3.0])
    f = ng.jit(lambda x, n: ng.func.grad(lambda x: powers(x, 0, n[0]))(x))
    assert_equal(f(x, np.array([3])), np.array([0.0, 2.0, 12.0]))
    assert_equal(f(x, np.array([2])), np.array([0.0, 4.0, 0.0]))


def test_errors_say_what_is_wrong():
    for call, words in (
        (lambda: ng.while_loop(lambda c: c, lambda c: c, 1.0), "one boolean"),
        (lambda: ng.while_loop(lambda c: c.sum() < 1, lambda c: c[:1], np.zeros(2)), "shape"),
        (lambda: ng.while_loop(lambda c: True, lambda c: c, None), "no array"),
        (lambda: ng.fori_loop(0, 1.5, lambda i, c: c, 1.0), "upper"),
        (lambda: ng.while_loop(1, lambda c: c, 1.0), "cond_fun"),
    ):
        with pytest.raises(Exception, match=words):
            call()


INDEXED = {
    "product": lambda i, c: c * i + 1,
    "sum": lambda i, c: i + c,
    "quotient": lambda i, c: c / (i + 1),
    "float": lambda i, c: c * (2 - i * 0.1),
    "power": lambda i, c: c**i + 1,
    "base": lambda i, c: 2**i * c,
    "remainder": lambda i, c: c + (i % 2) * c - i // 2,
    "maximum": lambda i, c: np.maximum(c, abs(-i)),
    "comparison": lambda i, c: np.where(i > 1, c * 2, c * (i == 1) + c),
    "number": lambda i, c: c + np.float32(2) * i,
    "array": lambda i, c: c + np.float32([2.0])[0] * i,
}


@pytest.mark.parametrize("name", INDEXED)
@pytest.mark.parametrize("start", [np.float32([0.5, 2.0]), np.float32(1.5), np.complex64([1 + 2j])])
@pytest.mark.parametrize("way", ["eager", "captured", "length", "mapped"])
def test_arrays_keep_their_dtype_with_the_index_as_with_an_integer_of_python(name, start, way):
    body, expected = INDEXED[name], start
    if name == "maximum" and start.dtype.kind == "c":
        pytest.skip("complex numbers have no order")
    for i in range(1, 5):
        expected = np.asarray(body(i, expected))
    assert expected.dtype == start.dtype
    run = lambda c, last=5: ng.fori_loop(1, last, body, c)  # noqa: E731
    captured = ng.jit(run)
    found = {
        "eager": lambda: run(start),
        "captured": lambda: captured(start),
        "length": lambda: [captured(start, last) for last in (3, 6, 5)][-1],
        "mapped": lambda: ng.func.vmap(run)(np.stack([start, start]))[1],
    }[way]()
    found = np.asarray(found)
    assert found.dtype == start.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_augmented_assignment_makes_of_the_index_is_another_number():
    def body(i, c):
        j = i
        j += 1
        j *= 2.0
        return c + j * i

    np.testing.assert_array_equal(ng.fori_loop(0, 4, body, np.float32(0)), np.float32(40.0))
