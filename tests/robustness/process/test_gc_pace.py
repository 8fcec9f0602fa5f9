"""Older garbage collections wait while a graph grows, but not for ever, nor for other objects."""

import gc
import itertools
import sys
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad.process import gc_pace

pytestmark = pytest.mark.skipif(not gc_pace.HAS_GENERATIONS, reason="no generations")


class Circle:
    """An object that only the garbage collector frees."""

    def __init__(self, *held):
        self.itself, self.held = self, held


@pytest.fixture
def fulls():
    """Return a list that grows at each full collection, with the usual thresholds."""
    found, before = [], gc.get_threshold()

    def note(phase, info):
        if phase == "stop" and info["generation"] == 2:
            found.append(len(found))

    gc.collect()
    gc.set_threshold(700, 10, 10)
    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.collect()
    gc.set_threshold(*before)


@pytest.fixture
def middles(fulls):
    """Return a list that grows at each collection of the containers that outlived one."""
    found = []

    def note(phase, info):
        if phase == "stop" and info["generation"] == 1:
            found.append(len(found))

    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


@pytest.fixture
def frozen():
    """Take all objects so far out of the collector's sight, so that few new ones count as many."""
    before = gc.get_freeze_count()
    gc.freeze()
    yield
    if not before:
        gc.unfreeze()


def chain(x, count):
    for _ in range(count):
        x = x * 0.999
    return x


def leaf():
    return ng.tensor(np.ones(1), requires_grad=True)


def objects(count):
    """Return objects that the collector tracks, as many as a chain of ``count`` nodes makes."""
    return [[[]] for _ in range(count)]


def test_a_graph_is_not_walked_over_while_it_grows(frozen, fulls):
    y = chain(leaf(), 60_000)
    few, y = len(fulls), None
    fulls.clear()
    kept = objects(90_000)
    assert few <= 2
    assert len(fulls) > few
    del kept, y


def test_a_graph_that_is_small_beside_the_process_is_walked_over_once(middles):
    blocks = [bytes(600) for _ in range(400_000)]  # which the collector does not look at
    gc.collect()
    y = chain(leaf(), 40_000)
    few, y = len(middles), None
    middles.clear()
    kept = objects(60_000)
    assert few <= 2
    assert len(middles) > 5
    del kept, y, blocks


def test_garbage_that_outlived_a_collection_does_not_wait_for_ever(frozen, fulls, monkeypatch):
    """Each turn leaves an object that was looked at once, while it was in use.

    The object is found after as many new containers as the process has blocks of memory; here it
    seems to have 300 000, whatever tests ran before.
    """
    blocks, others = sys.getallocatedblocks, sys.getallocatedblocks() - 300_000
    seen = SimpleNamespace(getallocatedblocks=lambda: blocks() - others)
    monkeypatch.setattr(gc_pace, "sys", seen)
    gc.collect()
    x, alive, most = leaf(), weakref.WeakSet(), 0
    for _ in range(600):
        circle = Circle(np.ones(3))
        alive.add(circle)
        y = chain(x, 2_000)
        del circle, y
        most = max(most, len(alive))
    assert 2 * 700 * most < 1.2 * 300_000  # two collections of 700 in each turn


def test_collections_come_as_usual_when_the_graph_is_complete(frozen, fulls):
    y = chain(leaf(), 40_000)
    fulls.clear()
    kept = objects(60_000)
    assert fulls
    assert gc.get_threshold() == (700, 10, 10)
    del kept, y


def test_garbage_of_the_user_does_not_wait_for_ever(frozen, fulls):
    """Each turn leaves an array that nothing but a full collection frees."""
    x, alive, most = leaf(), weakref.WeakSet(), 0
    for _ in range(60):
        y = chain(x, 10_000)
        circle = Circle(np.ones(3))
        alive.add(circle)
        gc.collect(1)  # so that the circle is old
        del circle, y
        most = max(most, len(alive))
    assert most < 40


def test_garbage_that_holds_graphs_takes_no_more_memory_than_all_else(frozen, fulls):
    x, alive, most = leaf(), weakref.WeakSet(), 0
    for _ in range(40):
        circle = Circle(chain(x, 20_000))
        alive.add(circle)
        del circle
        most = max(most, len(alive))
    assert most < 20


def test_thresholds_of_the_user_are_kept(fulls):
    x = leaf()
    y = chain(x, 30_000)
    raised = gc.get_threshold()
    gc.set_threshold(600, 9, 8)
    y = chain(y, 30_000)
    gc.collect()
    assert gc.get_threshold() == (600, 9, 8)
    gc.set_threshold(*raised)  # as a program does that has asked before
    gc.collect()
    assert gc.get_threshold() == (700, 10, 10)
    del y


@pytest.mark.parametrize("last", [1 << 30, (1 << 31) - 1])
def test_a_large_threshold_of_the_user_is_left_alone(fulls, last):
    gc.set_threshold(700, 10, last)
    y = chain(leaf(), 30_000)
    gc.collect()
    assert gc.get_threshold() == (700, 10, last)
    del y


def test_gradients_are_those_without_a_collector():
    x = leaf()
    (found,) = ng.grad(chain(x, 30_000).sum(), x)
    gc.disable()
    try:
        (expected,) = ng.grad(chain(x, 30_000).sum(), x)
    finally:
        gc.enable()
    np.testing.assert_array_equal(found, expected)


def test_numbers_are_read_without_taking_one():
    numbers = itertools.count(5)
    assert gc_pace._next(numbers) == 5
    assert next(numbers) == 5
