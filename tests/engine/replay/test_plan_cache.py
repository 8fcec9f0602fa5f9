"""What is kept of passes: enough for an index that differs from call to call, and within bounds."""

from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.lower.lower import lower
from numgrad.engine.replay import plan_cache

N = 320
RNG = np.random.default_rng(0)
V, M = RNG.standard_normal(N), RNG.standard_normal((N, 4))
WORK = {
    "elements": (lambda x, n: x[n] ** 2, V, lambda x, n: 2 * x[n]),
    "elements from the end": (lambda x, n: ng.sin(x[~n]), V, lambda x, n: np.cos(x[~n])),
    "rows": (lambda x, n: (x[n] ** 2).sum(), M, lambda x, n: 2 * x[n]),
    "windows": (lambda x, n: (x[n : n + 3] ** 2).sum(), V, None),
    "elements of a pair": (lambda x, n: x[n, n % 4] * 3.0, M, None),
}  # fmt: skip


pytestmark = pytest.mark.usefixtures("forgotten")


def reference(work, array, slope, n):
    found = np.zeros(array.shape)
    if slope is not None:
        found[~n if "end" in work else n] = slope(array, n)
    elif work == "windows":
        found[n : n + 3] = 2 * array[n : n + 3]
    else:
        found[n, n % 4] = 3.0
    return found


@pytest.mark.short_ways
@pytest.mark.parametrize("name", WORK)
def test_an_index_that_differs_from_call_to_call(name, searches):
    function, array, slope = WORK[name]
    x = ng.tensor(array, requires_grad=True)
    for _ in range(4):
        searches.clear()
        for n in RNG.permutation(N):
            found = ng.grad(function(x, int(n)), x)[0].numpy()
            np.testing.assert_allclose(found, reference(name, array, slope, n), 1e-14)
    assert not searches


@pytest.mark.short_ways
def test_what_is_kept_has_bounds(monkeypatch):
    monkeypatch.setattr(plan_cache, "_MOST_KEPT", 100)
    x = ng.tensor(V, requires_grad=True)
    for _ in range(3):
        for n in range(20):
            for _ in range(3):
                slope = ng.grad(x[n] ** 2, x)[0].numpy()
                np.testing.assert_array_equal(slope, np.where(np.arange(N) == n, 2 * V, 0))
            known = list(plan_cache._known.values())
            sizes = [k.size for k in known]
            assert plan_cache._total == sum(sizes) <= 100 + max(sizes)
            kept = {id(k) for k in known}
            assert all(id(k) in kept for track in plan_cache._tracks.values() for k in track)
            assert all(plan_cache._tracks.values())
            shortcuts = plan_cache.shortcuts
            plans = *shortcuts.latest.values(), *shortcuts.closed.values()
            assert all(id(k) in kept for k in plans)


@pytest.mark.short_ways
def test_the_largest_plan_stays_beside_others(monkeypatch, searches):
    monkeypatch.setattr(plan_cache, "_MOST_KEPT", 100)
    x = ng.tensor(V, requires_grad=True)

    def long():
        y = x
        for _ in range(300):
            y = ng.sin(y)
        return ng.grad(y.sum(), x)[0].numpy()

    slope = long()
    for n in range(40):  # in all 2 000 kB
        for _ in range(3):
            ng.grad((x[n : n + 2] ** 2).sum(), x)
        if n < 3:
            np.testing.assert_array_equal(long(), slope)
    searches.clear()
    np.testing.assert_array_equal(long(), slope)
    assert not searches
    monkeypatch.setattr(plan_cache, "_LARGEST_KEPT", 100)
    plan_cache.forget()
    made = []
    monkeypatch.setattr(plan_cache, "lower", lambda *args: made.append(1) or lower(*args))
    for _ in range(4):
        np.testing.assert_array_equal(long(), slope)
    assert not plan_cache._known
    assert len(made) == 1  # no program that runs only once


class Key:
    """The key of a structure, which is long: each look-up goes through it."""

    looked_up = 0

    def __hash__(self):
        Key.looked_up += 1
        return id(self)


def kept(size):
    plan = plan_cache.KnownPlan((), (), {}, [])
    plan.size = size
    key = Key()
    plan_cache.keep_plan(SimpleNamespace(key=key), plan)
    return key


def test_room_is_made_without_a_look_at_all_plans(monkeypatch):
    monkeypatch.setattr(plan_cache, "_MOST_KEPT", 1000)
    plan_cache.forget()
    kept(1)
    large = kept(200)
    small = [kept(1) for _ in range(1000)]
    Key.looked_up = 0
    small += [kept(1) for _ in range(1000)]
    assert Key.looked_up < 20_000
    assert list(plan_cache._known) == [large, *small[-1000:]]
    larger = kept(300)
    assert list(plan_cache._known) == [*small[-1000:], larger]
    plan_cache._drop(larger)
    plan_cache._total -= 300
    newest = [kept(2) for _ in range(100)]
    assert list(plan_cache._known) == [*small[-802:], *newest]
    plan_cache.forget()


@pytest.mark.short_ways
def test_only_the_latest_graphs_are_expected_again(monkeypatch):
    monkeypatch.setattr(plan_cache, "_MOST_SEEN", 5)
    x = ng.tensor(V, requires_grad=True)
    for n in range(50):
        ng.grad(x[n] ** 2, x)
        assert len(plan_cache._seen) <= 5
    assert len(plan_cache._known) == 1  # that for all indices


@pytest.mark.short_ways
def test_no_plans_are_made_that_are_dropped_before_they_run(monkeypatch):
    """More graphs in turn than are kept: a plan for each would cost more than it gives."""
    made, lower = [], plan_cache.lower
    monkeypatch.setattr(plan_cache, "_MOST_KEPT", 400)
    monkeypatch.setattr(plan_cache, "lower", lambda *args: made.append(args) or lower(*args))
    x = ng.tensor(V, requires_grad=True)
    for _ in range(6):
        for n in range(N):
            ng.grad(x[n] ** 2, x)
    assert 0 < len(made) < N
