"""Captured functions of loops that run without Python: same bits, unusual calls included."""

import threading
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit as plain_njit
from numba.core.runtime import rtsys

import numgrad as ng
from numgrad import njit
from numgrad.loops import lent_tapes
from numgrad.targets.cpu.kernels.python_kernel import HostKernel
from tests.sampling import one_in

pytestmark = pytest.mark.short_ways


class Pair(NamedTuple):
    energy: float
    force: np.ndarray


@njit
def several(x, k):
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = k * x[i] ** 2
    return y.sum(), y, len(x), k > 1.0


@njit
def named(x):
    force = np.zeros((2, len(x)))
    energy = 0.0
    for i in range(len(x)):
        energy += x[i] ** 3
        force[1, i] = -3 * x[i] ** 2
    return Pair(energy, force)


@njit
def itself(x):
    x[0] += 1.0
    return x


@njit
def of_tuple(state, scale):
    (a, b), c = state
    for _ in range(3):
        a = a * b + scale * c[0]
    return a


@njit
def chosen(x, name):
    if name == "square":
        return x[0] * x[0]
    return x[1]


@njit
def walk(x, steps):
    h = 0.1
    for i in range(steps):
        h = np.tanh(x[i % len(x)] * h + 1.0)
    return h


@njit
def guarded(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0.0:
            raise ValueError("a negative concentration")
        total += np.sqrt(x[i])
    return total


@pytest.fixture
def callbacks(monkeypatch):
    """Count the calls of the machine that Python serves."""
    served = []
    operands = HostKernel._operands

    def counted(self, *arguments):
        served.append(self.name)
        return operands(self, *arguments)

    monkeypatch.setattr(HostKernel, "_operands", counted)
    return served


def often(function, *arguments, times=120):
    for _ in range(times):
        found = function(*arguments)
    return found


def same(one, other):
    for a, b in zip(flat(one), flat(other), strict=True):
        assert np.array_equal(a, b)
        assert np.asarray(a).dtype == np.asarray(b).dtype


def flat(thing):
    if isinstance(thing, tuple | list):
        return [leaf for part in thing for leaf in flat(part)]
    return [thing]


CALLS = {
    "numbers and arrays": (lambda x, k: several(x, k), (np.array([1.0, -2.0, 3.0]), 1.5)),
    "single precision": (lambda x, k: several(x, k), (np.ones(3, np.float32), np.float32(0.5))),
    "complex": (lambda x, k: several(x, k)[:3], (np.array([1.0 + 2.0j, 3.0]), 2.0)),
    "a named tuple": (lambda x: named(x), (np.array([0.5, 2.0]),)),
    "nothing to loop over": (lambda x: named(x), (np.zeros(0),)),
    "an argument that is written": (lambda x: itself(x + 0.0), (np.array([1.0, 2.0]),)),
    "tuples": (lambda a, c: of_tuple(((a, 2.0), c), 3), (0.5, np.array([1.0, 2.0]))),
    "text": (lambda x: chosen(x, "square"), (np.array([3.0, 4.0]),)),
}


@pytest.mark.parametrize("name", one_in(2, CALLS, 1))
def test_values_have_the_bits_of_calls_through_python(name, callbacks):
    function, arguments = CALLS[name]
    captured = ng.jit(function)
    first = captured(*arguments)
    often(captured, *arguments)
    callbacks.clear()
    same(captured(*arguments), first)
    assert not callbacks


@pytest.mark.parametrize(
    ("function", "arguments"),
    one_in(2, [
        pytest.param(
            lambda x, k: several(x, k)[0] + several(x, k)[1][0], (np.array([1.0, -2.0, 3.0]), 1.5)
        ),
        pytest.param(lambda x: (named(x).force ** 2).sum(), (np.array([0.5, 2.0]),)),
        pytest.param(
            lambda x, k: several(x, k)[1].sum(), (np.ones(3, np.float32), np.float32(0.5))
        ),
        pytest.param(lambda a, c: of_tuple(((a, 2.0), c), 3), (0.5, np.array([1.0, 2.0]))),
        pytest.param(lambda x: walk(x, 500), (np.array([0.3, -0.2, 0.1]),)),
        pytest.param(lambda x: itself(x + 0.0)[0] ** 2, (np.array([1.0, 2.0]),)),
    ], 1),
)  # fmt: skip
def test_gradients_have_the_bits_of_calls_through_python(function, arguments, callbacks):
    gradient = ng.func.grad(function, argnums=tuple(range(len(arguments))))
    first = gradient(*arguments)
    captured = ng.jit(gradient)
    often(captured, *arguments)
    callbacks.clear()
    same(captured(*arguments), first)
    assert not callbacks
    often(gradient, *arguments)
    same(gradient(*arguments), first)


def test_exceptions_are_those_of_the_user_and_the_next_call_is_right():
    captured = ng.jit(ng.func.value_and_grad(guarded))
    good, bad = np.array([4.0, 1.0]), np.array([4.0, -1.0])
    first = often(captured, good)
    for _ in range(3):
        with pytest.raises(ValueError, match="a negative concentration") as caught:
            captured(bad)
        assert "in guarded" in caught.value.__notes__[0]
        same(captured(good), first)


def test_a_longer_tape_is_lent_after_the_first_call_that_needs_it(callbacks):
    x = np.array([0.3, -0.2, 0.1])
    gradient = ng.func.grad(walk)
    captured = ng.jit(gradient)
    often(captured, x, np.int64(10))
    callbacks.clear()
    first, served = captured(x, np.int64(50_000)), len(callbacks)
    same(captured(x, np.int64(50_000)), first)
    assert (served, len(callbacks)) == (1, 1)
    same(gradient(x, 50_000), first)


def test_a_call_whose_tape_is_large_is_served_by_python(callbacks, monkeypatch):
    monkeypatch.setattr(lent_tapes, "_MOST", 100)

    @njit
    def product(x):
        h = 0.1
        for i in range(len(x)):
            h = np.tanh(h * x[i] + 1.0)
        return h

    captured = ng.jit(ng.func.grad(product))
    x = np.linspace(0.1, 0.9, 200)
    first = captured(x)
    often(captured, x)
    callbacks.clear()
    same(captured(x), first)
    assert len(callbacks) == 1


def test_operands_in_another_order_are_served_by_python(callbacks):
    @njit
    def total(a):
        s = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                s += (i + 1) * a[i, j] ** 2
        return s

    captured = ng.jit(ng.func.grad(lambda a: total(a.T)))
    a = np.arange(6.0).reshape(2, 3)
    first = captured(a)
    same(often(captured, a), first)
    same(first, 2 * a * np.arange(1.0, 4.0))


def test_rows_are_those_of_single_calls():
    rows = np.random.default_rng(0).normal(size=(5, 3))
    gradient = ng.func.grad(lambda x: walk(x, 50))
    mapped = ng.jit(ng.func.vmap(gradient))
    single = ng.jit(gradient)
    often(single, rows[0])
    same(often(mapped, rows), np.stack([single(row) for row in rows]))


def test_threads_take_turns():
    x = np.random.default_rng(1).normal(size=(4, 3))
    captured = ng.jit(ng.func.grad(lambda x: walk(x, 3000)))
    wanted = [captured(row) for row in x]
    often(captured, x[0])
    failed = []

    def work(n):
        for _ in range(200):
            if not np.array_equal(captured(x[n]), wanted[n]):
                failed.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_what_is_counted_by_the_runtime_of_numba_is_freed():
    from numba.core.runtime import _nrt_python

    captured = ng.jit(lambda x: several(x, 2.0)[1])
    x = np.ones(10)
    often(captured, x)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    often(captured, x, times=50)
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free == 50
    assert after.alloc - before.alloc == after.free - before.free


def test_a_dispatcher_of_numba_is_called_in_the_same_way(callbacks):
    @plain_njit
    def half(x):
        return 0.5 * x[0]

    captured = ng.jit(half)
    often(captured, np.ones(2))
    callbacks.clear()
    assert captured(np.ones(2)) == 0.5
    assert not callbacks


def test_parallel_functions_stay_with_python():
    from numba import prange

    @njit(parallel=True)
    def total(x):
        s = 0.0
        for i in prange(len(x)):
            s += x[i] ** 2
        return s

    captured = ng.jit(total)
    x = np.arange(4.0)
    assert often(captured, x) == captured(x) == 14.0
