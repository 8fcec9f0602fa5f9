"""Followers, which recognise graphs in compiled code: what they answer; that they own nothing."""

import gc
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.differentiate import backward, repeated_pass
from numgrad.engine.differentiate.repeated_pass import ones
from numgrad.engine.graph.kind import loose_kind
from numgrad.engine.graph.node import accumulator_of, restore_saved
from numgrad.engine.replay import plan_cache
from numgrad.targets.cpu.python import object_layout

pytestmark = [
    pytest.mark.usefixtures("forgotten", "at_once"),
    pytest.mark.short_ways,
    pytest.mark.skipif(not object_layout.is_possible(), reason="objects cannot be read"),
]


@pytest.fixture
def at_once(monkeypatch):
    """Plans get their follower when they are used for the first time, after they were learned."""
    monkeypatch.setattr(plan_cache, "_OFTEN", 1)


def leaf(*numbers):
    return ng.tensor(numbers or [0.5, 1.5, 2.0], requires_grad=True)


def product(x):
    return (ng.sin(x) * ng.exp(x) * x).sum()


def follower_of(function, *xs):
    """Return the follower of the passes over the graphs of a function."""
    for _ in range(5):
        ng.grad(function(*xs), xs)
    (plan,) = plan_cache._known.values()
    assert plan.follower is not None
    return plan.follower


def asked(follower, y, *xs):
    return follower((y.node,), [accumulator_of(x) for x in xs], [ones(y.spec)])


def test_a_graph_of_the_same_structure_is_recognised():
    follower = follower_of(product, leaf())
    x = leaf(1.0, 2.0, 3.0)
    y = product(x)
    nodes, arrays, _ = asked(follower, y, x)
    assert nodes[0] is y.node
    assert nodes[-1] is accumulator_of(x)
    assert all(a.number > b.number for a, b in pairwise(nodes))
    assert any(array is x.array for array in arrays)
    assert len({id(array) for array in arrays}) == len(arrays)


def test_lists_and_tuples_are_taken_alike():
    x = leaf()
    follower = follower_of(product, x)
    y = product(x)
    targets, seeds = (accumulator_of(x),), (ones(y.spec),)
    assert follower([y.node], targets, seeds)[0] == asked(follower, y, x)[0]


OTHERS = {
    "a kind": lambda x: (ng.cos(x) * ng.exp(x) * x).sum(),
    "an edge": lambda x: (ng.sin(x) * ng.exp(x) * ng.exp(x)).sum(),
    "an order": lambda x: (lambda e: (ng.sin(x) * e * x).sum())(ng.exp(x)),
    "a shorter graph": lambda x: x.sum(),
    "a constant": lambda x: (ng.sin(x) * ng.exp(x) * x.detach()).sum(),
}


@pytest.mark.parametrize("other", OTHERS)
def test_graphs_of_another_structure_are_refused(other):
    x = leaf()
    follower = follower_of(product, x)
    for _ in range(3):  # kinds are looked up when they are met again
        y = OTHERS[other](x)
    assert asked(follower, y, x) is False


def test_other_targets_and_seeds_are_refused():
    x, z = leaf(), leaf()
    follower = follower_of(product, x)
    y = product(x)
    node, seed = accumulator_of(x), ones(y.spec)
    assert asked(follower, y, z) is False
    assert follower((y.node,), [node, node], [seed]) is False
    assert follower((y.node,), [node], [seed, seed]) is False
    assert follower((y.node, y.node), [node], [seed]) is False
    assert follower((), [node], [seed]) is False


def hooked(x):
    y = ng.sin(x)
    y.register_hook(lambda g: None)
    return (y * ng.exp(x) * x).sum()


def on_a_leaf(x):
    x.register_hook(lambda g: None)
    return product(x)


def written(x):
    middle = x * 1.0
    y = (middle * middle).sum()
    middle += 1.0
    return y


def freed(x):
    y = product(x)
    y.backward()
    return y


@pytest.mark.parametrize("function", [hooked, on_a_leaf, freed])
def test_python_looks_at_graphs_with_what_few_have(function):
    follower = follower_of(product, leaf())
    x = leaf()
    assert asked(follower, function(x), x) is None


def squared(x):
    middle = x * 1.0
    return (middle * middle).sum()


def test_saved_values_that_were_written_are_restored_first():
    x = leaf()
    follower = follower_of(squared, x)
    y = written(x)
    nodes, arrays, _ = asked(follower, y, x)
    assert arrays is None
    assert nodes[0] is y.node
    restore_saved(nodes)
    assert asked(follower, y, x)[1] is not None
    assert np.array_equal(ng.grad(y, x)[0].numpy(), 2 * x.detach().numpy())


def test_python_looks_at_saved_values_that_were_written_without_a_copy():
    x = leaf()
    follower = follower_of(squared, x)
    middle = x * 1.0
    y = (middle * middle).sum()
    with ng.no_grad():
        middle += 1.0
    nodes, arrays, _ = asked(follower, y, x)
    restore_saved(nodes)
    assert arrays is None
    assert asked(follower, y, x)[1] is None
    with pytest.raises(ng.errors.InplaceError, match="modified by an inplace operation"):
        ng.grad(y, x)


IN_PLACE = {
    "a factor": lambda x, w: x.__imul__(w),
    "a part": lambda x, w: x[1:].__imul__(w[1:]),
    "a power": lambda x, w: x.__ipow__(2) * w,
    "a quotient": lambda x, w: x.__itruediv__(w),
}


@pytest.mark.parametrize("write", IN_PLACE)
def test_passes_after_a_write_take_the_short_way(write, monkeypatch):
    def function(x, w):
        y = x * 1.0
        IN_PLACE[write](y, w)
        return (y * w).sum()

    x, w = leaf(), leaf(1.5, 2.5, 3.0)
    for _ in range(5):
        expected = ng.grad(function(x, w), (x, w))
    monkeypatch.setattr(backward.BackwardPass, "run", None)  # the general way would call it
    found = ng.grad(function(x, w), (x, w))
    assert all(np.array_equal(a.numpy(), b.numpy()) for a, b in zip(found, expected, strict=True))


def test_values_that_were_written_often_before_are_taken():
    def late(x, times=1000):
        middle = x * 1.0
        with ng.no_grad():
            for _ in range(times):
                middle += 1.0
        return (middle * middle).sum()

    x = leaf()
    follower = follower_of(late, x)
    assert asked(follower, late(x, 2000), x)


def test_layouts_and_sameness_of_arrays_are_compared():
    def weighted(x, w, v):
        return (x * w).sum() + (x * v).sum()

    matrix = np.arange(9.0).reshape(3, 3)
    strided, other = ng.tensor(matrix)[:, 1], ng.tensor(matrix)[0]
    x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    follower = follower_of(lambda x: weighted(x, strided, other), x)
    for w, v, expected in [
        (strided, other, True), (ng.tensor(matrix)[:, 2], other, True),
        (other, strided, False), (other, other, False), (strided, strided, False),
    ]:  # fmt: skip
        assert bool(asked(follower, weighted(x, w, v), x)) is expected


def loosen(node):
    """Give a node a kind of its own, as the general way does, which knows no plan."""
    kind = node.kind
    node._kind = loose_kind(kind.operator, kind.static, kind.inputs, kind.outputs)


def test_slots_are_compared():
    matrix = ng.tensor([[2.0, 0.5], [-1.0, 3.0]], requires_grad=True)

    def left(x):
        return ng.linalg.svd(x)[0].sum()

    follower = follower_of(left, matrix)
    y, other = left(matrix), ng.linalg.svd(matrix)[2].sum()
    for last in (y.node, other.node):
        loosen(last.parents[0])
    assert asked(follower, y, matrix)[1] is None  # the kind of a new node is not looked up yet
    for last in (y.node, other.node):
        assert last.parents[0].kind is not None
    assert asked(follower, y, matrix)
    assert asked(follower, other, matrix) is False


def test_many_arrays_are_told_apart():
    def added(x, factors):
        return sum([(x * factor).sum() for factor in factors])

    x = leaf()
    factors = [ng.tensor([1.0, 2.0, float(n)]) for n in range(300)]
    follower = follower_of(lambda x: added(x, factors), x)
    _, arrays, _ = asked(follower, added(x, factors), x)
    assert len(arrays) == 301
    assert asked(follower, added(x, factors[::-1]), x)
    assert asked(follower, added(x, [*factors[1:], factors[1]]), x) is False


def test_no_reference_is_kept_or_lost():
    x = leaf()
    follower = follower_of(product, x)
    y, other = product(x), OTHERS["a constant"](x)
    nodes, arrays, _ = asked(follower, y, x)
    counted = [*nodes, *arrays, None, False, other.node, x.array, follower]
    del nodes, arrays
    before = [sys.getrefcount(item) for item in counted]
    for _ in range(1000):
        asked(follower, y, x)
        asked(follower, other, x)
        follower((y.node,), [accumulator_of(x)], [np.ones(3)[::2]])
        follower()
    after = [sys.getrefcount(item) for item in counted]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 50
    gc.collect()


def test_no_reference_is_kept_where_kinds_are_looked_up_first():
    def left(x):
        return ng.linalg.svd(x)[0].sum()

    matrix = ng.tensor([[2.0, 0.5], [-1.0, 3.0]], requires_grad=True)
    follower = follower_of(left, matrix)
    y = left(matrix)
    loosen(y.node.parents[0])
    counted = [y.node, y.node.parents[0], accumulator_of(matrix), None]
    before = [sys.getrefcount(item) for item in counted]
    for _ in range(1000):
        assert asked(follower, y, matrix)[1] is None
    after = [sys.getrefcount(item) for item in counted]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 50


def test_attributes_that_were_deleted_are_left_to_python():
    x = leaf()
    follower = follower_of(product, x)
    for name in ("number", "saved", "extras", "parents"):
        y = product(x)
        delattr(y.node.parents[0], name)
        assert not asked(follower, y, x)
    for name in ("array", "_storage"):
        y = product(x)
        value = next(v for v in y.node.parents[0].saved if v is not None)
        delattr(value, name)
        assert not asked(follower, y, x)


@pytest.mark.parametrize(("nodes", "first"), [(1 << 30, 8), (1, 4)])
def test_the_first_follower_of_a_short_graph_waits_longer(nodes, first, monkeypatch):
    monkeypatch.setattr(plan_cache, "_OFTEN", 8)
    monkeypatch.setattr(plan_cache, "_SOON", 4)
    monkeypatch.setattr(plan_cache, "_MANY_NODES", nodes)
    monkeypatch.setattr(plan_cache, "_has_followers", False)
    x = leaf()

    def uses(function):
        """Return how often a new plan was used before it got its follower."""
        before = set(plan_cache._known)
        while True:
            ng.grad(function(x), x)
            for plan in (plan for key, plan in plan_cache._known.items() if key not in before):
                if plan.follower is not None:
                    return plan.uses

    assert [uses(product), uses(lambda x: (ng.cos(x) * x).sum())] == [first, 4]


def test_threads_share_a_follower():
    follower = follower_of(product, leaf())
    wrong = []

    def work(n):
        x = leaf(1.0 + n, 2.0, 3.0)
        for _ in range(300):
            expected = 1.0 + n
            y = product(x)
            _, arrays, _ = asked(follower, y, x)
            if not any(array is x.array for array in arrays) or x.array[0] != expected:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_there_is_none_where_objects_cannot_be_read(monkeypatch):
    monkeypatch.setattr(object_layout, "places", lambda kind, *names: None)
    for _ in range(6):
        x = leaf()
        found = ng.grad(product(x), x)[0].numpy()
    (plan,) = plan_cache._known.values()
    assert plan.follower is None
    assert np.all(np.isfinite(found))


def test_what_the_keepers_have_saved_is_taken_on_the_way():
    follower = follower_of(product, leaf())
    x = leaf()
    y = product(x)
    nodes, _, saved = asked(follower, y, x)
    assert saved
    assert set(map(id, saved)) == {id(node.saved) for node in nodes if node.saved}


def test_nothing_is_freed_if_another_thread_has_freed_a_node_meanwhile(monkeypatch):
    x = leaf()
    for _ in range(4):
        ng.grad(product(x), x)
    y = product(x)
    found = repeated_pass.plan_for_start

    def freeing(*start):
        known = found(*start)
        nodes = [known[0].order[n] for n in known[1].keepers]
        nodes[-1].saved = None
        others.extend(nodes[:-1])
        return known

    others = []
    monkeypatch.setattr(repeated_pass, "plan_for_start", freeing)
    with pytest.raises(ng.errors.FreedGraphError):
        ng.grad(y, x)
    assert others
    assert all(node.saved for node in others)
