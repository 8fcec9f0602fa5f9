"""Passes over graphs that are new at each call, which apply rules to arrays."""

import sys
import threading

import numpy as np
import pytest

import numgrad as ng

BIG = ng.tensor(np.ones(1 << 15), requires_grad=True)


def clipped(values, length, with_large=False):
    """Return the gradient of a sum of clipped numbers, in a graph of some length; beside a large
    array the pass builds a program."""
    x = ng.tensor(values, requires_grad=True)
    y = ng.clip(x, 0.2, 0.6).sum()
    for _ in range(length):
        y = y * 1.0
    if not with_large:
        return ng.grad(y, x)[0].numpy()
    return ng.grad(y + (BIG * 0.0).sum(), [x, BIG])[0].numpy()


@pytest.fixture
def frequent_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("frequent_switches")
def test_threads_that_need_a_rule_for_the_first_time_make_the_same():
    rng = np.random.default_rng(0)
    for n in range(60):
        values = rng.uniform(0, 1, (1 + n % 50, 2 + n // 50))
        expected = ((values >= 0.2) & (values <= 0.6)) * 1.0
        clipped(values, 0, with_large=True)  # which makes the rule, and computes nothing by it
        found, barrier = [None] * 6, threading.Barrier(6)

        def run(number, values=values, found=found, barrier=barrier):
            barrier.wait()
            found[number] = clipped(values, number)

        threads = [threading.Thread(target=run, args=(k,)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for gradient in (*found, clipped(values, 8)):
            assert gradient.dtype == np.float64
            np.testing.assert_array_equal(gradient, expected)


def test_gradients_are_arrays_of_their_own():
    x, seed = ng.tensor([1.0, 2.0], requires_grad=True), np.array([3.0, 4.0])
    given = ng.tensor(seed)
    for length in range(6):
        y, z = x + 0.0, ng.where(x > 1.5, 0.0, 1.0) * x
        for _ in range(length):
            y = y + z
        first, second = ng.grad([y, z], [x, z], [given, given])
        for gradient in (first, second):
            gradient[...] = 777.0
        np.testing.assert_array_equal(given.numpy(), seed)
        again = ng.grad((ng.where(x > 1.5, 0.0, 1.0) * x).sum(), x)[0]
        np.testing.assert_array_equal(again.numpy(), [1.0, 0.0])
