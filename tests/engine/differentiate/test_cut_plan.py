"""Passes with hooks or functions of users follow plans, and do what passes without plans do."""

import gc
import threading
import weakref

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import FreedGraphError, HookError, InplaceError
from numgrad.engine.differentiate import cut_plan
from numgrad.engine.replay import plan_cache
from tests.engine.differentiate import watched_programs
from tests.sampling import exhaustive
from tests.user_functions import Cube, Multiply, Square

pytestmark = pytest.mark.usefixtures("forgotten")
X = np.array([0.5, 1.25, 2.0, -0.75])
TURNS = 5


@pytest.fixture
def followed(monkeypatch):
    """The passes that follow a plan, and the walks by which passes leave their plans."""
    found, left = [], []
    follow, walk = cut_plan.follow, cut_plan.walk

    def walked(run, order):
        if run.sent is None and run.recalled is not None:
            left.append(order)
        return walk(run, order)

    monkeypatch.setattr(cut_plan, "follow", lambda *a: found.append(a) or follow(*a))
    monkeypatch.setattr(cut_plan, "walk", walked)
    return found, left


def repeated(run, turns=TURNS):
    """Return what ``run(turn)`` returns for several turns, and the same on the reference path."""
    before = ng.get_flags("path")
    found = []
    try:
        for path in (before["path"], "reference"):
            ng.set_flags(path=path)
            found.append([run(turn) for turn in range(turns)])
    finally:
        ng.set_flags(**before)
    return found


def same(run, turns=TURNS):
    """Look whether plans and the reference path agree."""
    by_plans, reference = repeated(run, turns)
    for turn, (a, b) in enumerate(zip(by_plans, reference, strict=True)):
        assert a == b, turn


def text(*tensors):
    return [None if t is None else watched_programs.text(t) for t in tensors]


# Random programs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_programs_are_those_of_the_reference_path(first):
    for program in range(first, first + 20):
        same(lambda turn, program=program: watched_programs.run(program, turn))


@exhaustive
@pytest.mark.parametrize("first", range(100, 3100, 100))
def test_more_random_programs_are_those_of_the_reference_path(first):
    for program in range(first, first + 100):
        same(lambda turn, program=program: watched_programs.run(program, turn))


# Plans are taken ----------------------------------------------------------------------------------


def chain(x, count=8):
    for n in range(count):
        x = ng.sin(x) if n % 2 else x * 1.5
    return x


def hooked(x, turn):
    y = chain(x)
    y.register_hook(lambda g: g * 2.0)
    return chain(y)


def retained(x, turn):
    y = chain(x)
    y.retain_grad()
    return chain(y)


def within(x, turn):
    y = chain(x)
    y.grad_fn.register_prehook(lambda gs: (gs[0] + 1.0,))
    y.grad_fn.register_hook(lambda made, given: (made[0] * given[0], *made[1:]))
    return chain(y)


def on_leaf(x, turn):
    if not turn % 2:
        x.register_hook(lambda g: g + 1.0)
    else:
        x.register_hook(lambda g: None)
    return chain(x) * x


GRAPHS = {
    "a hook": hooked, "a retained gradient": retained, "hooks of nodes": within,
    "a hook of a leaf": on_leaf, "a function": lambda x, turn: chain(Square.apply(chain(x))),
    "two arguments": lambda x, turn: Multiply.apply(chain(x), x, 3.0) - x,
    "an output": lambda x, turn: Cube.apply(x) * Cube.apply(chain(x)),
    "only a function": lambda x, turn: Square.apply(x),
}  # fmt: skip


@pytest.mark.short_ways
@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("accumulates", [False, True])
def test_later_passes_follow_a_plan(graph, accumulates, followed):
    def run(turn):
        x = ng.tensor(X + turn, requires_grad=True)
        y = graph(x, turn)
        if not accumulates:
            return text(*ng.grad(y, x, np.ones(4)))
        y.sum().backward()
        return text(x.grad)

    same(run)
    assert len(followed[0]) >= TURNS - 2
    assert followed[1] == []


@pytest.mark.short_ways
def test_a_graph_is_found_by_a_walk(searches, followed):
    for turn in range(5):
        x = ng.tensor(X, requires_grad=True)
        ng.grad(hooked(x, turn), x, np.ones(4))
    assert len(searches) == 3


@pytest.mark.short_ways
def test_a_plan_serves_graphs_with_the_same_watchers_only(followed):
    def run(turn, watch):
        x = ng.tensor(X, requires_grad=True)
        y = chain(x)
        z = chain(y)
        watch(x, y, z)
        return text(*ng.grad(z, x, np.ones(4)))

    seen = []
    watches = {
        "nobody": lambda x, y, z: None,
        "the middle": lambda x, y, z: y.register_hook(seen.append),
        "the end": lambda x, y, z: z.register_hook(seen.append),
        "both": lambda x, y, z: (y.register_hook(seen.append), z.register_hook(seen.append)),
        "the leaf": lambda x, y, z: x.register_hook(seen.append),
        "a node": lambda x, y, z: y.grad_fn.register_prehook(lambda gs: seen.append(gs)),
    }
    for turn in range(4):
        counts = []
        for watch in watches.values():
            run(turn, watch)
            counts.append(len(seen))
            seen.clear()
        assert counts == [0, 1, 1, 2, 1, 1]
    assert followed[1] == []


@pytest.mark.short_ways
def test_compiled_walks_recognise_watched_graphs(followed, searches, monkeypatch):
    monkeypatch.setattr(plan_cache, "_OFTEN", 1)

    def run(turn):
        x = ng.tensor(X + turn, requires_grad=True)
        x.register_hook(lambda g: g * 3.0)
        y = Square.apply(chain(x))
        y.register_hook(lambda g: g - 1.0)
        return text(*ng.grad(chain(y), x, np.ones(4)))

    same(run, 8)
    plans = [plan for plan in plan_cache._known.values() if plan.is_cut]
    assert [plan.follower is not None for plan in plans] == [True]


# Plans are left -----------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["missing", "order", "written"])
def test_what_python_code_returns_may_leave_the_plan(what, followed):
    calls = []

    def hook(g, u, turn):
        calls.append(turn)
        if turn != 3:
            return None
        if what == "order":
            return ng.tensor(np.repeat(g.numpy()[:, None], 2, 1))[:, 0].detach()
        if what == "written":
            with ng.no_grad():
                u *= 2.0
        return None

    def run(turn):
        x = ng.tensor(X + turn, requires_grad=True)
        u = x * 1.0
        y = Same.apply(ng.exp(u) * u, turn == 3 and what == "missing")
        y.register_hook(lambda g: hook(g, u, turn))
        try:
            return text(*ng.grad(chain(y) + u, x, np.ones(4)))
        except InplaceError as error:
            return str(error)

    same(run)
    assert calls == [*range(TURNS)] * 2


class Same(ng.Function):
    """The identity, whose gradient is missing if that is asked for."""

    @staticmethod
    def forward(ctx, x, is_missing):
        ctx.is_missing = is_missing
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return (None if ctx.is_missing else g), None


def test_a_hook_that_registers_another_one_is_as_without_a_plan():
    def run(turn):
        seen = []
        x = ng.tensor(X, requires_grad=True)
        y = x * 2.0
        z = ng.sin(y)
        y.register_hook(lambda g: seen.append("y"))
        z.register_hook(lambda g: y.register_hook(lambda g: seen.append("late")) and None)
        z.register_hook(lambda g: x.register_hook(lambda g: seen.append("too late")) and None)
        z.register_hook(
            lambda g: z.grad_fn.register_hook(lambda a, b: seen.append("after")) and None
        )
        ng.grad(ng.exp(z), x, np.ones(4))
        return seen

    by_plans, reference = repeated(run)
    assert by_plans == reference == [["after", "y", "late"]] * TURNS


def test_errors_name_the_line_and_leave_the_graph_as_it_was(followed):
    def run(turn):
        x = ng.tensor(X, requires_grad=True)
        y = chain(Failing.apply(chain(x), turn == 3))
        try:
            ng.grad(y, x, np.ones(4))
        except ArithmeticError as error:
            (note,) = error.__notes__
            assert "in the backward of Failing recorded at" in note
            assert f"{__file__}:" in note
            Failing.fails = False
            return text(*ng.grad(y, x, np.ones(4)))
        finally:
            Failing.fails = True
        with pytest.raises(FreedGraphError):
            ng.grad(y, x, np.ones(4))
        return None

    same(run)


class Failing(ng.Function):
    fails = True

    @staticmethod
    def forward(ctx, x, fails):
        ctx.fails = fails
        return x * 2.0

    @staticmethod
    def backward(ctx, g):
        if ctx.fails and Failing.fails:
            raise ArithmeticError("on purpose")
        return g * 2.0, None


def test_results_of_hooks_are_checked_in_every_pass():
    for turn in range(TURNS):
        x = ng.tensor(X, requires_grad=True)
        y = chain(x)
        y.register_hook(lambda g, turn=turn: g[:2] if turn == 3 else None)
        if turn != 3:
            ng.grad(chain(y), x, np.ones(4))
            continue
        with pytest.raises(HookError, match="changed the size"):
            ng.grad(chain(y), x, np.ones(4))


def test_nobody_shares_the_arrays_of_results():
    kept = []
    for _ in range(TURNS):
        x = ng.tensor(X, requires_grad=True)
        y = x + 1.0
        y.register_hook(kept.append)
        seed = ng.ones(4)
        gx, gy = ng.grad(Same.apply(y, False), [x, y], seed)
        gx += 1.0
        gy += 5.0
        assert seed.numpy().tolist() == [1.0] * 4
        assert gx.numpy().tolist() == [2.0] * 4
        assert kept[-1].numpy().tolist() == [1.0] * 4


def test_a_dropped_cotangent_gives_no_gradient():
    """Also where another node of the kind has got one before."""
    for _ in range(TURNS):
        x = ng.tensor(X, requires_grad=True)
        y = ng.sin(ng.sin(x))
        y.grad_fn.register_prehook(lambda gs: (None,))
        keep = {"allow_unused": True, "retain_graph": True}
        assert ng.grad(ng.sin(y), x, np.ones(4), **keep) == (None,)
        (gx,) = ng.grad(ng.sin(y) + x, x, np.ones(4))
        np.testing.assert_array_equal(gx.numpy(), np.ones(4))


def test_a_retained_gradient_is_computed_before_a_hook_writes(monkeypatch):
    def run(turn):
        x = ng.tensor(X, requires_grad=True)
        u = x * 1.0
        y = x * 3.0
        y.register_hook(lambda g: write(u))
        z = y * 2.0
        z.retain_grad()
        (z * u.detach()).backward(np.ones(4))
        return text(z.grad, x.grad)

    def write(u):
        with ng.no_grad():
            u += 1.0

    by_plans, reference = repeated(run)
    assert by_plans == reference == [by_plans[0]] * TURNS


def test_threads_may_follow_one_plan():
    expected = []

    def run(turn, found):
        for _ in range(30):
            x = ng.tensor(X + turn, requires_grad=True)
            y = Square.apply(chain(x))
            y.register_hook(lambda g: g * 2.0)
            found.append(text(*ng.grad(chain(y), x, np.ones(4))))

    results = [[] for _ in range(4)]
    for turn in range(4):
        run(turn, expected)
    threads = [threading.Thread(target=run, args=(n, found)) for n, found in enumerate(results)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for turn, found in enumerate(results):
        assert found == [expected[30 * turn]] * 30


def test_plans_keep_no_graph_alive():
    tensors = []
    for _ in range(TURNS):
        x = ng.tensor(X, requires_grad=True)
        y = Square.apply(chain(x))
        y.register_hook(lambda g: None)
        ng.grad(chain(y), x, np.ones(4))
        tensors += map(weakref.ref, (x, y))
        del x, y
    gc.collect()
    assert [reference() for reference in tensors] == [None] * (2 * TURNS)


@pytest.mark.short_ways
def test_large_arrays_have_no_plan(followed):
    for _ in range(4):
        x = ng.tensor(np.ones(1 << 18), requires_grad=True)
        y = x * 2.0
        y.register_hook(lambda g: None)
        ng.grad(ng.sin(y), x, np.ones(1 << 18))
    assert followed[0] == []


@pytest.mark.short_ways
def test_a_profile_sees_the_pass_without_a_plan(followed):
    def run(turn):
        x = ng.tensor(X, requires_grad=True)
        return text(*ng.grad(hooked(x, turn), x, np.ones(4)))

    found = [run(turn) for turn in range(4)]
    count = len(followed[0])
    with ng.display.profile():
        assert run(4) == found[0]
    assert len(followed[0]) == count > 0
