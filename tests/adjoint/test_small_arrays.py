"""Small local arrays that the derived source has as numbers."""

import math

import numpy as np

import numgrad as ng
from numgrad._adjoint import Options, derive, type_of
from numgrad.testing.fuzzing.kernels import judging

from .kernels import CASES, arguments
from .test_kernels import along, called


def rotated(a, b):
    """A rotation by a matrix of three by three, in a function of its own."""
    r = np.zeros((3, 3))
    c, s = math.cos(a), math.sin(a)
    r[0, 0], r[0, 1], r[1, 0], r[1, 1], r[-1, -1] = c, -s, s, c, 1.0
    return r @ b


def turns(x, a):
    total = 0.0
    for i in range(len(x) - 3):
        v = rotated(a + x[i], x[i : i + 3].copy())
        for k in range(3):
            total += v[k] ** 2 * (k + 1)
    return total


def runge_kutta(x, a):
    state = np.array([x[0], x[1], x[2]])
    for _ in range(len(x)):
        k1 = flow(state, a)
        k2 = flow(state + 0.05 * k1, a)
        state = state + 0.1 * k2
    return state[0] * state[1] + state[2]


def flow(u, a):
    out = np.empty(3)
    out[0] = a * (u[1] - u[0])
    out[1] = u[0] * (1.0 - u[2]) - u[1]
    out[2] = u[0] * u[1] - 0.5 * u[2]
    return out


def triangle(x, a):
    """Loops whose ends depend on outer ones, conditions that are known, and integers."""
    total = 0.0
    order = np.array([2, 0, 1])
    for i in range(len(x)):
        m = np.eye(3)
        for j in range(3):
            for k in range(j + 1):
                if j == k:
                    m[j, k] += a * x[i]
                else:
                    m[j, k] = x[order[k]] * x[i]
        total += m[0, 0] * m[1, 1] * m[-1, 2] + m[2, order[1]] * m[2, 1]
    return total


def branches(x, a):
    """Stores in branches and in loops that end early."""
    v = np.ones(2)
    i = 0
    while i < len(x):
        if x[i] > 0.0:
            v[0] = v[0] * a + x[i]
        else:
            v[1] -= v[0] * x[i]
            if v[1] > 2.0:
                break
        i += 1
    return v[0] * v[1]


def shared(x, a):
    """Another name and a part of an array, which stay arrays."""
    v = np.zeros(3)
    w = v
    part = w[1:]
    for i in range(len(x)):
        w[i % 3] += x[i] * a
        part[0] *= 0.9
    return np.sum(v * v)


KERNELS = [turns, runge_kutta, triangle, branches, shared]


def test_small_arrays_have_the_same_gradients():
    x = np.random.default_rng(3).normal(size=7)
    for kernel in KERNELS:
        given = [x, 0.3]
        types = [type_of(part) for part in given]
        numbers = called(derive(kernel, types), given)
        arrays = called(derive(kernel, types, options=Options(small=False)), given)
        np.testing.assert_allclose(numbers[0][0], arrays[0][0], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(numbers[1], arrays[1], rtol=1e-12)
        direction = [np.cos(np.arange(7.0)), 0.7]
        slope = np.sum(numbers[0][0] * direction[0]) + numbers[1][0] * 0.7
        np.testing.assert_allclose(slope, along(kernel, given, [0, 1], direction), rtol=1e-7)


def test_small_arrays_are_numbers_in_the_source():
    types = [type_of(np.ones(5)), type_of(0.3)]
    for kernel in (turns, runge_kutta, triangle, branches):
        assert "np.zeros" not in derive(kernel, types).source
    assert "np.zeros" in derive(shared, types).source
    bundle = derive(CASES["bundle"][0], [type_of(a) for a in arguments("bundle")])
    assert "np.zeros" not in bundle.source
    assert "np.empty" not in bundle.source


def test_sine_and_cosine_are_each_the_slope_of_the_other():
    source = derive(turns, [type_of(np.ones(5)), type_of(0.3)]).source
    assert source.count("math.cos") == source.count("math.sin") == 1
    assert "np.cos" not in source
    assert "np.sin" not in source


def close(found, right):
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-15)


def test_slices_shorter_than_they_say_are_right():
    @ng.njit
    def waves(a, s):
        total = 0.0
        for i in range(a.shape[0]):
            w = a[i, 0:3] * s
            for j in range(len(w)):
                total += math.sin(w[j] * (j + 1))
        return total

    draw = np.random.default_rng(1)
    for length in (3, 2):
        a = draw.normal(size=(4, length))
        k = np.arange(1, 1 + min(length, 3))
        first, second = np.zeros_like(a), np.zeros_like(a)
        first[:, :3] = 0.7 * k * np.cos(0.7 * k * a[:, :3])
        second[:, :3] = -((0.7 * k) ** 2) * np.sin(0.7 * k * a[:, :3])
        energy = lambda x: waves(x, 0.7)  # noqa: E731
        close(ng.func.grad(energy)(ng.tensor(a)).numpy(), first)
        close(ng.adjoint(waves)(a, 0.7)[0], first)
        batch = ng.func.vmap(ng.func.grad(energy))(ng.tensor(np.stack([a, a])))
        close(batch.numpy(), np.stack([first, first]))
        hessian = ng.func.hessian(energy)(ng.tensor(a)).numpy().reshape(a.size, a.size)
        close(hessian, np.diag(second.ravel()))


def test_a_loop_that_changes_no_cotangent_is_not_split():
    text = (
        "def kernel(x, y, A, s, n, picks):\n    z = x * s\n    k = 0\n    while k < 4:\n"
        "        k += 1\n        z = z + 0.1 * y\n        y[1:] += -0.45\n"
        "    return s + np.sum(x * y) + np.sum(z)\n"
    )
    assert judging.judge(text, 3)[0] == "right"


def test_names_that_are_read_no_more_hinder_no_second_order():
    seed = 700174
    text, options = judging.text_of(seed), judging.options_of(seed)
    verdict, details = judging.judge(text, seed, options, is_second=True)
    assert verdict == "right", details
