"""First and second gradients of every function, captured: the bits that they have eagerly, also of
empty arrays, of numbers, of arrays that broadcast and where arguments are special."""

import gc
import weakref

import numpy as np
import pytest

import numgrad as ng
from numgrad.testing.scenarios import SCENARIOS
from tests.sampling import one_in

from .calls import BINARY, CALLS, UNARY

DTYPES = ("float32", "float64", "complex128")
SHAPES = {1: [((),), ((0, 3),)], 2: [((), ()), ((0, 3), (3,)), ((3, 1), (4,)), ((), (2, 3))]}
SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0)


def numbers(shape, phase):
    turns = (np.arange(1, np.prod(shape, dtype=int) + 1) * 0.618 + 0.31 * phase) % 1
    return (0.2 + 1.6 * turns).reshape(shape)


def special(shape, phase):
    found = numbers(shape, phase)
    flat = found.reshape(-1)
    flat[::2] = np.roll(np.resize(SPECIAL, flat[::2].shape), phase)
    return found


def points_of(name, shapes):
    """Yield tuples of arguments of a call."""
    for made in (numbers, special):
        yield [made(shape, n) for n, shape in enumerate(shapes)]
    if name in UNARY.split() + BINARY.split():
        for others in SHAPES[len(shapes)]:
            yield [numbers(shape, n) for n, shape in enumerate(others)]


def converted(array, dtype):
    if array.dtype.kind != "f":
        return array
    turned = 0.3j * np.cos(np.arange(array.size)).reshape(array.shape)
    return np.asarray(array + turned if dtype == "complex128" else array).astype(dtype)


def scalar(function):
    """Return the weighted sum of all that a function returns, None where that has no gradient."""

    def weighted(*args):
        results = function(*args)
        results = results if isinstance(results, tuple) else (results,)
        floating = [r for r in results if r.dtype.kind in "fc"]
        if not floating:
            return None
        return sum((part(n, r) for n, r in enumerate(floating)), np.float64(0))

    def part(n, result):
        weights = (np.cos(np.arange(result.size) + n) + 0.2).reshape(result.shape)
        weights = weights * (1 - 0.5j) if result.dtype.kind == "c" else weights
        return ng.sum(ng.real(result * weights.astype(result.dtype)))

    return weighted


def compare(function, arrays, *fuse):
    """Compare gradients, captured with each of these ways to fuse; return whether there are any."""
    wanted = [n for n, a in enumerate(arrays) if a.dtype.kind in "fc"]
    gradient = ng.func.grad(scalar(function), argnums=wanted)
    with np.errstate(all="ignore"):
        try:
            expected = gradient(*map(ng.tensor, arrays))
        except ng.errors.KernelError:
            raise
        except (TypeError, ValueError, ng.errors.NumgradError):
            return False
    for way in fuse:
        jitted = ng.jit(gradient, fuse=way)
        for found in (jitted(*arrays), jitted(*arrays)):
            for one, other in zip(found, expected, strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                what = f"fuse={way}, {[(a.dtype, a.shape) for a in arrays]}"
                np.testing.assert_array_equal(one, other.numpy(), what)
    return True


def second(function):
    """Return the gradient of a function, to be differentiated again."""
    first = scalar(function)

    def gradient(*args):
        wanted = [n for n, a in enumerate(args) if a.dtype.kind in "fc"]
        return tuple(ng.func.grad(first, argnums=wanted)(*args))

    return gradient


def compare_all(function, points, *fuse):
    for arrays in points:
        for dtype in DTYPES:
            arguments = [converted(a, dtype) for a in arrays]
            if compare(function, arguments, *fuse):
                compare(second(function), arguments, *fuse)


over_calls = pytest.mark.parametrize(
    ("name", "function", "shapes"), one_in(24, [pytest.param(*call, id=call[0]) for call in CALLS])
)
over_scenarios = pytest.mark.parametrize(
    "scenario", one_in(20, [pytest.param(s, id=s.name) for s in SCENARIOS if s.order])
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@over_calls
def test_gradients_of_calls(name, function, shapes):
    compare_all(function, points_of(name, shapes), "never", "now")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@over_scenarios
def test_gradients_of_scenarios(scenario):
    compare_all(scenario.function, (*scenario.points, *scenario.special), "never")


def test_gradients_are_compared():
    assert compare(ng.sin, [numbers((3, 4), 0)], "now")
    assert compare(second(ng.multiply), [numbers((3, 1), 0), numbers((4,), 1)], "never")
    assert not compare(ng.argsort, [numbers((3,), 0)], "now")


def test_a_gradient_of_zeros_depends_on_nothing():
    x, y = ng.tensor([1.0, 2.0]), ng.tensor([3.0, 4.0])

    def of_gradients(x, y):
        gx, gy = ng.func.grad(lambda x, y: (x * x).sum(), argnums=(0, 1))(x, y)
        return (gx * gx + gy).sum()

    for gradient in ng.func.grad(of_gradients, argnums=(0, 1))(x, y):
        assert not gradient.requires_grad


class Doubled(ng.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        return 2.0 * g * ctx.saved_tensors[0]


def hooked(x):
    y = ng.sin(x)
    y.register_hook(lambda g: 10.0 * g)
    return y


@pytest.mark.parametrize("function", [Doubled.apply, lambda x: Doubled.apply(x) * x, hooked])
@pytest.mark.parametrize("transform", [ng.func.jacobian, ng.func.jacrev, ng.func.hessian])
def test_what_python_makes_of_the_rows_of_an_argument(function, transform):
    x = numbers((3,), 0)
    whole = (lambda x: function(x).sum()) if transform is ng.func.hessian else function
    expected = transform(whole)(x)
    captured = ng.jit(transform(whole))
    np.testing.assert_array_equal(captured(x), expected)
    np.testing.assert_array_equal(captured(2.0 * x), transform(whole)(2.0 * x))


# Passes over replays are remembered like all others -----------------------------------------------


def _closing(weights, data):
    return lambda x: (weights * ng.sin(x) * data).sum() + (x[:2] * x[1:]).prod()


@pytest.mark.parametrize("transform", [
    lambda f: lambda x: ng.func.grad(f)(x),
    lambda f: lambda x: ng.func.jvp(f, (x,), (np.ones(3),))[1],
    lambda f: lambda x: ng.func.hessian(f)(x),
    lambda f: lambda x: ng.func.jacrev(lambda x: f(x) * x)(x),
    lambda f: lambda x: ng.func.jacfwd(lambda x: f(x) * x)(x),
    lambda f: lambda x: ng.func.vmap(f)(np.stack([x, 2 * x])),
])  # fmt: skip
def test_what_is_closed_over_is_read_anew_by_each_pass(transform):
    weights, data = ng.tensor([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 2.0])
    eager = _closing(weights, data)
    captured = ng.jit(eager)
    x = np.array([0.1, 0.2, 0.3])
    for step in range(4):  # the passes of the third one run what was remembered
        expected = transform(eager)(x)
        np.testing.assert_allclose(transform(captured)(x), expected, rtol=1e-13)
        data *= 1.5
        weights[step % 3] = 0.7 * step
        x = x + 0.1


def test_gradients_of_tensors_closed_over_by_forward_mode_that_is_recorded():
    weights = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x, v = np.array([0.1, 0.2, 0.3]), np.ones(3)
    captured = ng.jit(_closing(weights, np.array([0.5, 1.0, 2.0])))
    for _ in range(3):
        tangent = ng.func.jvp(captured, (ng.tensor(x, requires_grad=True),), (v,))[1]
        (found,) = ng.grad(tangent, weights)
        np.testing.assert_allclose(found, np.cos(x) * [0.5, 1.0, 2.0], rtol=1e-13)


def test_what_captured_functions_close_over_is_freed_with_them():
    alive = []
    for _ in range(4):
        data = np.ones((50, 50))
        alive.append(weakref.ref(data))
        captured = ng.jit(lambda x, data=data: ((data @ x) ** 2).sum())
        x = ng.tensor(np.ones(50), requires_grad=True)
        for _ in range(4):
            ng.grad(captured(x), x)
            ng.func.jvp(captured, (np.ones(50),), (np.ones(50),))
        del captured, data, x
        gc.collect()
    assert sum(reference() is not None for reference in alive) <= 1  # until the next is recorded
