"""Memory of large results comes back when nobody refers to it, and not before."""

import pickle
import sys
from collections import deque

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower import output_pool

F8 = np.dtype(np.float64)


@pytest.fixture(autouse=True)
def own_pool(monkeypatch):
    monkeypatch.setattr(output_pool, "pool", output_pool._Pool(output_pool.MOST_KEPT))


def address(array):
    return array.__array_interface__["data"][0]


def large():
    return output_pool.empty((300, 300), F8)


def test_memory_is_used_again_once_nobody_refers_to_it():
    array = large()
    where = address(array)
    assert where % 64 == 0
    view = array[::-1, 3:]
    del array
    other = large()
    assert address(other) != where
    del view
    assert address(large()) == where


def test_arrays_are_ordinary_ones():
    array = large()
    array[...] = 1.0
    assert type(array) is np.ndarray
    assert array.flags.writeable
    assert array.flags.c_contiguous
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array)), array)
    assert output_pool.empty((3,), F8).base is None


def test_a_queue_that_others_write_meanwhile_takes_no_block(monkeypatch):
    """Without the GIL a copy may notice that; a destructor must not complain."""

    class Written(deque):
        def copy(self):
            raise RuntimeError("deque mutated during iteration")

    array = large()
    monkeypatch.setattr(output_pool.pool, "returned", Written())
    del array
    assert not output_pool.pool.returned


@pytest.mark.parametrize(("count", "kept"), [(1, False), (2, False), (6, True)])
def test_what_results_of_a_run_come_to_together_counts(count, kept):
    def f(x):
        return tuple(x * k for k in range(count))

    captured = ng.jit(f)
    x = np.arange(16000.0)
    for _ in range(3):
        found = captured(x)
    assert [isinstance(y.base, output_pool._Lease) for y in found] == [kept] * count
    y = ng.tensor(x, requires_grad=True)
    gradients = ng.grad([z.sum() for z in f(y)], [y])
    assert gradients[0].array.base is None


def test_small_results_beside_large_ones_are_ordinary():
    both = ng.jit(lambda x: (x + 1, x[:5] * 2))(np.arange(40000.0))
    assert [isinstance(y.base, output_pool._Lease) for y in both] == [True, False]


def test_a_bound_on_what_is_kept(monkeypatch):
    monkeypatch.setattr(output_pool, "pool", output_pool._Pool(2_000_000))
    arrays = [large() for _ in range(5)]
    arrays.clear()
    kept = large()
    assert sum(block.nbytes for block in output_pool.pool.blocks) <= 2_000_000
    huge = output_pool.empty((600, 600), F8)
    del huge, kept
    large()
    assert all(block.nbytes <= 2_000_000 for block in output_pool.pool.blocks)


def test_what_comes_back_is_bounded_before_anything_is_taken(monkeypatch):
    monkeypatch.setattr(output_pool, "pool", output_pool._Pool(2_000_000))
    arrays = [large() for _ in range(8)]
    arrays.clear()
    assert 0 < sum(block.nbytes for block in output_pool.pool.returned) <= 2_000_000


def test_more_than_there_is_raises_and_leaves_nothing(monkeypatch):
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    with pytest.raises(MemoryError):
        output_pool.empty((1 << 20, 1 << 20, 1 << 10), F8)
    assert not ignored


def test_results_that_are_held_never_change():
    f = ng.jit(lambda x: (x * 2.0, x + 1.0))
    x = np.arange(100_000.0)
    held = [f(x + n) for n in range(4)]
    for n, (double, more) in enumerate(held):
        np.testing.assert_array_equal(double, 2.0 * (x + n))
        np.testing.assert_array_equal(more, x + n + 1.0)
    t = ng.tensor(x, requires_grad=True)
    gradients = [ng.grad((t * t * float(n)).sum(), t)[0] for n in range(5)]
    for n, gradient in enumerate(gradients):
        np.testing.assert_array_equal(gradient.numpy(), 2.0 * x * n)


@pytest.mark.parametrize("leaves", [1, 2])
@pytest.mark.parametrize("wrap", [np.asarray, ng.tensor])
def test_a_replay_writes_over_results_that_are_gone(leaves, wrap):
    f = ng.jit(lambda x: (x * 2.0, x + 1.0)[:leaves] if leaves > 1 else x * 2.0)
    x = wrap(np.arange(60_000.0))

    def addresses():
        made = f(x)
        made = made if leaves > 1 else (made,)
        return {address(np.asarray(m)) for m in made}

    first = [addresses() for _ in range(3)][-1]
    assert all(addresses() == first for _ in range(5))
    assert len(output_pool.pool.returned) == leaves
    ng.jit(lambda x: x * 2.0)(wrap(np.arange(3.0)))
    assert len(output_pool.pool.returned) == leaves  # a small one is no such result
