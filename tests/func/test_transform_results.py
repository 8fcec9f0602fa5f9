"""What a transform returns stays what it is when its arguments are written afterwards."""

import numpy as np
import pytest

import numgrad as ng

F = ng.func
VALUES = np.array([1.0, 2.0])
RESULTS = {
    "grad": lambda x: F.grad(lambda y: (np.sum(y * y), y), has_aux=True)(x)[1],
    "value_and_grad": lambda x: F.value_and_grad(lambda y: (y.sum(), y), has_aux=True)(x)[0][1],
    "vjp": lambda x: F.vjp(lambda y: y, x)[0],
    "vjp aux": lambda x: F.vjp(lambda y: (y * y, y), x, has_aux=True)[2],
    "jvp": lambda x: F.jvp(lambda y: y, (x,), (x,))[0],
    "jvp aux": lambda x: F.jvp(lambda y: (y * y, y), (x,), (x,), has_aux=True)[2],
    "jacrev": lambda x: F.jacrev(lambda y: (y * y, y[:]), has_aux=True)(x)[1],
    "jacfwd": lambda x: F.jacfwd(lambda y: (y * y, y[::-1][::-1]), has_aux=True)(x)[1],
}


def written(result):
    """Return a function that writes its argument after it has called a transform."""

    def function(x):
        x = x * 1.0
        found = result(x)
        x[...] -= 0.5
        return found

    return function


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
class TestAnArgumentThatIsReturned:
    def test_shares_no_memory(self, result):
        for x in (VALUES.copy(), ng.tensor(VALUES), ng.tensor(VALUES, requires_grad=True) * 1.0):
            found = result(x)
            x[...] = 7.0
            np.testing.assert_array_equal(ng.tensor(found).detach(), VALUES)

    @pytest.mark.parametrize("capture", [lambda f: f, ng.jit])
    def test_is_not_written_inside_of_a_derivative(self, result, capture):
        function = capture(written(result))
        value, slope = F.jvp(function, (VALUES,), (VALUES,))
        np.testing.assert_array_equal(value, VALUES)
        np.testing.assert_array_equal(slope, VALUES)

    def test_is_not_written_in_a_captured_function(self, result):
        np.testing.assert_array_equal(ng.jit(written(result))(VALUES), VALUES)


CALLS = {
    "grad": lambda f, x: F.grad(lambda y: (np.sum(y * y), f(y)), has_aux=True)(x)[1],
    "value_and_grad": lambda f, x: F.value_and_grad(lambda y: (y[0], f(y)), has_aux=True)(x)[0][1],
    "vjp": lambda f, x: F.vjp(f, x)[0],
    "jvp": lambda f, x: F.jvp(f, (x,), (x,))[0],
    "jacrev": lambda f, x: F.jacrev(lambda y: (y * y, f(y)), has_aux=True)(x)[1],
    "jacfwd": lambda f, x: F.jacfwd(lambda y: (y * y, f(y)), has_aux=True)(x)[1],
    "jit": lambda f, x: ng.jit(f)(x),
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("returned", [
    lambda base, y: base, lambda base, y: base[:], lambda base, y: base.reshape(1, 2)[0],
])  # fmt: skip
@pytest.mark.parametrize("part", [slice(None), slice(1, None)])
class TestWhatTheArgumentIsAViewOf:
    def test_shares_no_memory(self, call, returned, part):
        for base in (VALUES.copy(), ng.tensor(VALUES), ng.tensor(VALUES, requires_grad=True) * 1.0):
            argument = base[part]
            found = call(lambda y, base=base: returned(base, y), argument)
            argument[...] = 7.0
            np.testing.assert_array_equal(ng.tensor(found).detach(), VALUES)

    @pytest.mark.parametrize("capture", [lambda f: f, ng.jit])
    def test_is_not_written_inside_of_a_derivative(self, call, returned, part, capture):
        def function(x):
            base = x * 1.0
            argument = base[part]
            found = call(lambda y: returned(base, y), argument)
            argument[...] -= 0.5
            return found

        value, slope = F.jvp(capture(function), (VALUES,), (VALUES,))
        np.testing.assert_array_equal(value, VALUES)
        np.testing.assert_array_equal(slope, VALUES)


@pytest.mark.parametrize("base", [
    lambda: VALUES.copy(), lambda: ng.tensor(VALUES),
    lambda: ng.tensor(VALUES, requires_grad=True) * 1.0,
])  # fmt: skip
@pytest.mark.parametrize("call", [
    lambda f, x, y: F.grad(lambda a, b: ((a * a).sum(), f(b)), has_aux=True)(x, y)[1],
    lambda f, x, y: F.jacrev(lambda a, b: (a * a, f(b)), has_aux=True)(x, y)[1],
    lambda f, x, y: F.value_and_grad(lambda a, b: (a[0], [f(b[0])]), has_aux=True)(x, [y])[0][1][0],
])  # fmt: skip
def test_nor_with_an_argument_that_is_not_differentiated(base, call):
    for returned in (lambda y, _: y, lambda y, _: y[:], lambda _, closed_over: closed_over):
        argument = base()
        found = call(lambda y, f=returned, a=argument: f(y, a), VALUES, argument)
        argument[...] = 7.0
        np.testing.assert_array_equal(ng.tensor(found).detach(), VALUES)


def test_the_gradient_comes_before_the_value_where_the_name_says_so():
    def f(x, y):
        return (x * x * y).sum(), {"twice": 2 * x}

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    plain = lambda x, y: f(x, y)[0]  # noqa: E731
    gradient, value = F.grad_and_value(plain)(x, y)
    assert gradient.tolist() == [6.0, 16.0]
    assert value == 19.0
    (gx, gy), (value, aux) = F.grad_and_value(f, argnums=(0, 1), has_aux=True)(x, y)
    assert gx.tolist() == [6.0, 16.0]
    assert gy.tolist() == [1.0, 4.0]
    assert value == 19.0
    assert aux["twice"].tolist() == [2.0, 4.0]
    mapped = F.vmap(F.grad_and_value(lambda a, b: a * a * b))(x, y)
    assert mapped[0].tolist() == [6.0, 16.0]
    assert mapped[1].tolist() == [3.0, 16.0]
    captured = ng.jit(F.grad_and_value(plain))(x, y)
    assert captured[0].tolist() == [6.0, 16.0]
    assert captured[1] == 19.0
    assert repr(F.grad_and_value(np.sum)) == "<grad_and_value of sum>"
