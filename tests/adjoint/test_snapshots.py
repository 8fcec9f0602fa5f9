"""Outer loops that run again from snapshots, where the tape may not be as long as it would be."""

import signal
import threading
import time

import numpy as np
import pytest

import numgrad as ng
from numgrad._adjoint import derive, type_of
from numgrad._adjoint.sparing import run_sparing

from .kernels import CASES, arguments
from .test_kernels import called


@pytest.fixture
def tape_memory():
    before = ng.get_flags("tape_memory")
    yield lambda mebibytes: ng.set_flags(tape_memory=mebibytes)
    ng.set_flags(**before)


@ng.njit
def decay(x, steps):
    for _ in range(steps):
        x = x - 1e-6 * x * x
    return x


@pytest.mark.parametrize("name", CASES)
def test_gradient_is_the_same_with_little_memory(name):
    kernel, args = CASES[name][0], arguments(name, 12)
    derived = derive(kernel, [type_of(a) for a in args])
    if derived.sparing is None:
        assert not derived.source.count("top_f += 1")  # nothing that each step of a loop adds to
        return
    expected, slopes, _ = called(derived, args)
    for memory in (64, 1000, 20_000):
        found = {n: np.zeros_like(args[n]) for n in derived.shadows}
        given = list(found.values())
        numbers = run_sparing(derived.sparing, args, given, [1.0], memory, derived.sparing.plain)
        np.testing.assert_allclose(numbers, slopes, rtol=1e-10)
        for n, shadow in found.items():
            np.testing.assert_allclose(shadow, expected[n], rtol=1e-10, atol=1e-13)


def test_setting_bounds_the_tape(tape_memory):
    expected = ng.adjoint(decay)(1.5, 200_000)[0]
    tape_memory(1)
    bounded = ng.adjoint(decay)
    np.testing.assert_allclose(bounded(1.5, 200_000)[0], expected)
    assert bounded.derived((1.5, 200_000)).exceeding == [(), 200_000]


def test_second_derivative_of_a_bounded_call_has_all_steps(tape_memory):
    def slope(x):
        return ng.func.grad(decay)(x, 2000)

    expected = ng.func.grad(slope)(1.5)
    tape_memory(0)
    np.testing.assert_allclose(ng.func.grad(slope)(1.5), expected, rtol=1e-12)
    difference = (slope(1.5 + 1e-4) - slope(1.5 - 1e-4)) / 2e-4
    np.testing.assert_allclose(expected, difference, rtol=1e-6)


def test_interrupt_ends_a_long_pass(tape_memory):
    tape_memory(1)
    adjoint = ng.adjoint(decay)
    adjoint(1.5, 200_000)  # compiled
    sent = []

    def interrupt():
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(0.5, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        adjoint(1.5, 100_000_000_000)
    assert time.perf_counter() - sent[0] < 5.0
