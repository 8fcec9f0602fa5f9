"""The states of a loop in files: the bits of memory, no file left behind, and errors."""

import os
import tracemalloc

import numpy as np
import pytest

import numgrad as ng
from numgrad.control.steps import Steps
from numgrad.control.storage import Storage

START, RATES = np.sin(np.arange(500.0)), np.linspace(0.1, 0.2, 500)
LENGTH = 2000
NBYTES = LENGTH * START.nbytes


def loss(u, k, length=LENGTH, **options):
    def step(carry, x):
        u, count = carry
        turned = u + k * (ng.roll(u, 1) - 2.0 * u + ng.roll(u, -1)) + 0.001 * ng.sin(u)
        return (turned, count + 1), u[0] * x

    xs = np.cos(np.arange(float(length)))
    (last, _), ys = ng.scan(step, (u, 0), xs, **options)
    return (last * last).sum() + ys.sum()


def gradients(**options):
    return ng.func.grad(lambda u, k: loss(u, k, **options), (0, 1))(START, RATES)


def test_gradients_have_the_bits_of_memory_and_no_file_stays(tmp_path):
    for storage in (tmp_path, str(tmp_path)):
        for kept, stored in zip(gradients(), gradients(storage=storage), strict=True):
            assert np.array_equal(kept, stored)
    assert os.listdir(tmp_path) == []


def test_states_take_no_memory(tmp_path):
    peaks = []
    for options in ({"storage": tmp_path}, {"checkpoint": None}):
        gradients(**options)
        tracemalloc.start()
        gradients(**options)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] < NBYTES / 8
    assert peaks[1] > NBYTES


def test_no_step_runs_a_third_time(tmp_path, monkeypatch):
    taken, run = [], Steps.run

    def counted(self, carries, xs, constants, length, *rest, **options):
        taken.append(length)
        return run(self, carries, xs, constants, length, *rest, **options)

    monkeypatch.setattr(Steps, "run", counted)
    gradients(storage=tmp_path)
    assert taken == [LENGTH, LENGTH - 1, LENGTH]  # the value, the states, the reverse
    taken.clear()
    gradients(checkpoint=LENGTH // 10)
    assert sum(taken) > 3.5 * LENGTH


def test_captured_batched_and_second_derivatives(tmp_path):
    def small(u, **options):
        return loss(u, RATES[:9], 30, **options)

    start, seeds = START[:9], np.eye(3)[:2]
    stored = ng.func.grad(lambda u: small(u, storage=tmp_path))
    kept = ng.func.grad(small)
    assert np.array_equal(ng.jit(stored)(start), kept(start))
    starts = np.stack([start, 2.0 * start, start - 1.0])
    assert np.array_equal(ng.func.vmap(stored)(starts), ng.func.vmap(kept)(starts))
    for way in (ng.func.hessian, ng.func.jacfwd):
        assert np.allclose(
            way(lambda u: small(u, storage=tmp_path))(start), way(small)(start), rtol=1e-12
        )
    x = ng.tensor(start, requires_grad=True)
    found = []
    for options in ({}, {"storage": tmp_path}):
        y = ng.scan(lambda c, _: (c * c + x[:3], c), x[:3], length=4, **options)[0]
        found.append(ng.grad(y, x, ng.tensor(seeds), is_grads_batched=True)[0].numpy())
    assert np.array_equal(*found)


def test_a_full_disk_is_an_error(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full, raising=False)
        with pytest.raises(OSError, match="No space left"):
            gradients(storage=tmp_path)
    assert os.listdir(tmp_path) == []
    assert np.isfinite(gradients(storage=tmp_path)[0]).all()


@pytest.mark.parametrize("number", [95, 22])  # not supported, and invalid
def test_a_disk_that_cannot_be_asked_serves_too(tmp_path, monkeypatch, number):
    def refused(*_):
        raise OSError(number, "refused")

    monkeypatch.setattr(os, "posix_fallocate", refused, raising=False)
    array = Storage(str(tmp_path)).empty((3, 2), np.dtype(float))
    array[...] = 1.5
    assert array.sum() == 9.0
    assert Storage(str(tmp_path)).empty((0, 2), np.dtype(float)).shape == (0, 2)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"storage": 3}, ng.errors.ArgTypeError, "path of a folder"),
        ({"storage": "nowhere/at/all"}, NotADirectoryError, "no folder"),
        ({"storage": ".", "checkpoint": 4}, ng.errors.ArgTypeError, "'auto' or None"),
    ],
)
def test_errors_say_what_to_write(options, error, words):
    with pytest.raises(error, match=words):
        ng.scan(lambda c, _: (c, None), 1.0, length=2, **options)
