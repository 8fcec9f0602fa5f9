"""Graphs that are met again: recognised where they are the same, and nowhere else."""

import inspect
import itertools
import sys
import threading

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.differentiate.repeated_pass import RepeatedPass
from numgrad.engine.differentiate.saved_values import freeing
from numgrad.engine.lower.executable import Executable
from numgrad.engine.replay import plan_cache

pytestmark = pytest.mark.usefixtures("forgotten", "walk")


@pytest.fixture(params=["in Python", "compiled"])
def walk(request, monkeypatch):
    """How graphs are recognised from the first time on, after their tracks were learned."""
    uses = 1 if request.param == "compiled" else 1 << 30
    monkeypatch.setattr(plan_cache, "_OFTEN", uses)
    monkeypatch.setattr(plan_cache, "_SOON", uses)


def leaf(*numbers):
    return ng.tensor(numbers or [0.5, 1.5, 2.0], requires_grad=True)


def gradient(function, *xs, **options):
    y = function(*xs)
    return [None if g is None else g.numpy() for g in ng.grad(y, xs, np.ones(y.shape), **options)]


def known(function, *xs):
    """Meet a graph until it is recognised, by a follower too."""
    for _ in range(5):
        gradient(function, *xs, allow_unused=True)


@pytest.mark.short_ways
def test_a_known_graph_is_not_searched(searches):
    x = leaf()
    known(lambda x: ng.sin(x) * x + x[1:].sum(), x)
    searches.clear()
    y = leaf(3.0, 4.0, 5.0)
    found = gradient(lambda x: ng.sin(x) * x + x[1:].sum(), y)[0]
    assert not searches
    plan_cache.forget()
    assert np.array_equal(found, gradient(lambda x: ng.sin(x) * x + x[1:].sum(), y)[0])


SEEDS = {
    "none": lambda y, z: (None,),
    "each": lambda y, z: ([np.full(3, 2.0), ng.tensor(3.0)],),
    "some": lambda y, z: ((None, np.float64(3.0)),),
    "tensors": lambda y, z: ((ng.tensor([1.0, 2.0, 3.0]), None),),
}


@pytest.mark.short_ways
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("seeds", SEEDS)
def test_passes_from_several_outputs_are_found_alike(seeds, create_graph, searches):
    def gradients(x):
        y, z = ng.sin(x) * x, (x * x).sum()
        given = SEEDS[seeds](y, z)
        found = ng.grad([y, z, y], [x], *[g and [*g, g[0]] for g in given],
                        create_graph=create_graph)  # fmt: skip
        more = ng.grad(found, x)[0] if create_graph else ng.tensor(0.0)
        return found[0].detach().numpy(), more.numpy()

    for numbers in [(0.5, 1.5, 2.0), (1.0, 2.0, 3.0), (2.0, 3.0, 4.0), (3.0, 4.0, 5.0)]:
        searches.clear()
        found = gradients(leaf(*numbers))
    assert not searches
    plan_cache.forget()
    for a, b in zip(found, gradients(leaf(*numbers)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.short_ways
def test_inputs_that_are_not_in_the_graph(searches):
    unused = leaf(7.0)
    for n in range(5):
        x, y = leaf(1.0 + n, 2.0), leaf(3.0, 4.0 + n)
        searches.clear()
        found = ng.grad((x * y).sum(), [unused, x, y], allow_unused=True)
        assert found[0] is None
        np.testing.assert_array_equal(found[1], y.detach())
        np.testing.assert_array_equal(found[2], x.detach())
    assert not searches
    with pytest.raises(ng.errors.UnusedInputError):
        ng.grad((x * y).sum(), [unused, x, y])
    assert not ng.grad((x * y).sum(), [unused, x], materialize_grads=True)[0].any()
    found = ng.grad((x * y).sum(), [x, unused, y], allow_unused=True)
    np.testing.assert_array_equal(found[2], x.detach())
    found = ng.grad((x * y).sum(), [y, x, x], allow_unused=True)  # none of them unused
    np.testing.assert_array_equal(found[0], x.detach())
    np.testing.assert_array_equal(found[1], found[2])
    found = ng.grad((unused * y).sum(), [unused, x, y], allow_unused=True)
    assert found[1] is None
    np.testing.assert_array_equal(found[0], y.detach().sum())


def test_batched_seeds_of_several_outputs_are_found_alike():
    g = np.arange(6.0).reshape(2, 3)
    for _ in range(5):
        x = leaf()
        outputs = [x * x, ng.sin(x)]
        found = ng.grad(outputs, x, [g, g + 1], is_grads_batched=True, retain_graph=True)[0]
        rows = [ng.grad(outputs, x, [g[n], g[n] + 1], retain_graph=True)[0] for n in range(2)]
        np.testing.assert_array_equal(found, np.stack(rows))
        with pytest.raises(ng.errors.GradShapeError):
            ng.grad(outputs, x, [g, g[:1]], is_grads_batched=True, retain_graph=True)
        with pytest.raises(ng.errors.GradCountError):
            ng.grad(outputs, x, [g], is_grads_batched=True, retain_graph=True)


ALIKE = [
    lambda x, y: (x * y) + (x * y),
    lambda x, y: (x * y) + (y * x),
    lambda x, y: (x * x) + (y * y),
    lambda x, y: (lambda p: p + p)(x * y),
    lambda x, y: (lambda p: p + p)(x * x),
    lambda x, y: (x.detach() * y) + (x * y),
    lambda x, y: (x * y.detach()) + (x * y),
    lambda x, y: (x * 2.0 * y) + (x * y),
    lambda x, y: (lambda p, q: p * q + q * p)(x * 1.0, y * 1.0),
    lambda x, y: (lambda p, q: p * q + p * q)(x * 1.0, y * 1.0),
    lambda x, y: (lambda p, q: p * p + q * q)(x * 1.0, y * 1.0),
    lambda x, y: (lambda q, p: p * p + q * q)(y * 1.0, x * 1.0),
]


@pytest.mark.parametrize("before", range(len(ALIKE)))
def test_graphs_that_are_alike_are_told_apart(before):
    x, y = leaf(), leaf(2.0, 0.25, 3.0)
    known(ALIKE[before], x, y)
    for function in ALIKE:
        found = gradient(function, x, y, allow_unused=True)
        kept = plan_cache._tracks.copy()
        plan_cache._tracks.clear()
        plan_cache._known.clear()
        for a, b in zip(found, gradient(function, x, y, allow_unused=True), strict=True):
            assert (a is None) == (b is None)
            assert a is None or np.array_equal(a, b)
        plan_cache._tracks.update(kept)


@pytest.mark.parametrize("before", range(2))
def test_outputs_of_one_operation_are_told_apart(before):
    matrix = ng.tensor([[2.0, 0.5], [-1.0, 3.0]], requires_grad=True)
    weights = ng.tensor([[1.0, 2.0], [3.0, 5.0]])

    def gradient_of(n):
        factors = ng.linalg.svd(matrix)[::2]
        return ng.grad((factors[n] * weights).sum(), matrix)[0].numpy()

    expected = gradient_of(1 - before)
    for _ in range(5):
        assert not np.allclose(gradient_of(before), expected)
    np.testing.assert_array_equal(gradient_of(1 - before), expected)


def test_an_output_given_twice_is_no_pair_of_outputs():
    x, other = leaf(), ng.tensor([3.0, 1.0, 2.0])
    seeds = [np.ones(3), np.full(3, 2.0)]

    def gradient_of(is_twice):
        outputs = [ng.sin(x * other), ng.sin(x * (other + 1.0))]
        return ng.grad([outputs[0]] * 2 if is_twice else outputs, x, seeds)[0].numpy()

    expected = gradient_of(False)
    for _ in range(5):
        assert not np.allclose(gradient_of(True), expected)
    np.testing.assert_array_equal(gradient_of(False), expected)


def test_sums_keep_the_order_in_which_operations_were_recorded(searches):
    def early(x):
        a, b, c = x * 1e16, x * 1.0, x * -1e16
        return a + b + c

    def late(x):
        c, b, a = x * -1e16, x * 1.0, x * 1e16
        return a + b + c

    x = leaf()
    known(early, x)
    searches.clear()
    gradient(late, x)
    assert searches


def test_hooks_are_run_on_a_known_graph():
    def function(x):
        return (x * x).sum()

    x = leaf()
    known(function, x)
    product = x * x
    seen = []
    product.register_hook(lambda g: seen.append(1))
    ng.grad(product.sum(), x)
    assert seen
    x.register_hook(lambda g: g * 2.0)
    assert np.allclose(gradient(function, x)[0], 4.0 * x.detach().numpy())


def test_errors_are_those_of_a_graph_that_is_new():
    x = leaf()
    known(lambda x: x * x, x)
    y = x * x
    ng.grad(y, x, np.ones(3))
    with pytest.raises(RuntimeError, match="second time"):
        ng.grad(y, x, np.ones(3))
    z = x * 1.0
    known(lambda z: z * z, z)
    w = z * z
    with ng.no_grad():
        z += 1.0
    with pytest.raises(RuntimeError, match="inplace"):
        ng.grad(w, x, np.ones(3))


def test_layouts_and_sameness_of_saved_arrays_matter():
    x = ng.tensor(np.arange(9.0).reshape(3, 3), requires_grad=True)
    constants = [np.arange(9.0).reshape(3, 3), np.arange(9.0).reshape(3, 3).T, np.ones((3, 3))]
    for first in constants:
        plan_cache.forget()
        a = ng.tensor(first)
        known(lambda x: x * a * a, x)  # noqa: B023
        for second in constants:
            b = ng.detach(ng.tensor(second).T) if hasattr(ng, "detach") else ng.tensor(second).T
            found = gradient(lambda x: x * a * b, x)[0]  # noqa: B023
            assert np.array_equal(found, a.numpy() * b.numpy())


@pytest.mark.short_ways
def test_a_known_graph_with_strided_values_is_not_searched(searches):
    x = ng.tensor(np.arange(9.0).reshape(3, 3), requires_grad=True)
    narrow, wide = (ng.tensor(np.arange(3.0 * n).reshape(3, n))[:, :1] for n in (3, 4))
    known(lambda x: x * narrow, x)
    for factor, times in ((narrow, 0), (wide, 1)):
        searches.clear()
        found = gradient(lambda x: x * factor, x)[0]  # noqa: B023
        assert np.array_equal(found, np.broadcast_to(factor.numpy(), (3, 3)))
        assert len(searches) == times


def test_tracks_hold_no_arrays():
    import gc
    import weakref

    x = leaf()
    known(lambda x: ng.sin(x) * x, x)
    y = ng.sin(x) * x
    node = weakref.ref(y.node)
    ng.grad(y, x, np.ones(3))
    del y
    gc.collect()
    assert node() is None


@pytest.mark.parametrize("retain", [False, True])
def test_backward_over_a_known_graph(retain):
    x, y = leaf(), leaf(2.0, 3.0, 4.0)
    for n in range(1, 6):
        z = (x * y).sum()
        z.backward(retain_graph=retain)
        assert np.array_equal(x.grad.numpy(), n * y.detach().numpy())
        if retain:
            assert ng.grad(z, y)[0].tolist() == x.tolist()
        else:
            with pytest.raises(RuntimeError, match="second time"):
                z.backward()


def test_results_are_not_shared():
    x = leaf()
    ones = np.ones(3)
    for _ in range(5):
        y = x + 1.0
        first, second = ng.grad(y, x, ones)[0], ng.grad(y, x)[0]
        assert first.tolist() == second.tolist() == [1.0, 1.0, 1.0]
        assert first.array is not ones
        first += 1.0
        assert ones.tolist() == [1.0, 1.0, 1.0]


def test_batched_seeds_of_several_lengths():
    x = leaf()
    for _ in range(4):
        for count in (1, 2, 5):
            (g,) = ng.grad(x * x, x, np.ones((count, 3)), is_grads_batched=True)
            assert np.array_equal(g.numpy(), np.tile(2.0 * x.detach().numpy(), (count, 1)))


@pytest.mark.short_ways
@pytest.mark.parametrize("size", [5, 5000])  # positions come from a table, or from an operator
def test_other_indices_are_not_scheduled_again(size, monkeypatch):
    made = []
    lower = plan_cache.lower
    monkeypatch.setattr(plan_cache, "lower", lambda *args: made.append(args) or lower(*args))
    rng = np.random.default_rng(0)
    x = ng.tensor(rng.standard_normal((size, 2)), requires_grad=True)
    for _ in range(8):
        index = rng.integers(-size, size, 30)
        (g,) = ng.grad((x[index] * x[:, [1, 0]][index]).sum(), x)
        expected = np.zeros(x.shape)
        np.add.at(expected, index, 2.0 * x.detach().numpy()[index, ::-1])
        np.testing.assert_allclose(g.numpy(), expected, 1e-12, 1e-12)
    assert len(made) == 1


def test_a_failing_pass_frees_nothing(monkeypatch):
    from numgrad.engine.lower import executable

    x = leaf()
    known(lambda x: x * x, x)
    y = x * x

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(executable.Executable, "__call__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ng.grad(y, x, np.ones(3))
    monkeypatch.undo()
    assert np.array_equal(ng.grad(y, x, np.ones(3))[0].numpy(), 2.0 * x.detach().numpy())


_SOURCE, _FIRST = inspect.getsourcelines(RepeatedPass.run)
WITH = _FIRST + next(n for n, line in enumerate(_SOURCE) if "with freeing" in line)


def interrupted_at(step, function):
    """Call a function; Ctrl-C comes at a step of `RepeatedPass.run`. Return whether it has that
    step."""
    left, lines = step, []

    def watch(frame, event, argument):
        nonlocal left
        if frame.f_code is not RepeatedPass.run.__code__:
            return None
        if event == "line":
            lines.append(frame.f_lineno)
            # Signals are not looked at where `with` is about to release its lock.
            if lines[-1] == WITH and WITH in lines[:-1]:
                return watch
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return watch

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        function()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def is_free(lock):
    """Whether another thread can take a lock."""
    taken = []

    def take():
        if lock.acquire(timeout=1):
            taken.append(True)
            lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return taken == [True]


@pytest.mark.short_ways
def test_an_interrupted_pass_frees_nothing():
    x = leaf()
    known(lambda x: ng.sin(x) * x * ng.exp(x), x)
    step, expected = 1, None
    while True:
        y = ng.sin(x) * x * ng.exp(x)
        if not interrupted_at(step, lambda y=y: ng.grad(y, x, np.ones(3))):
            break
        assert is_free(freeing)
        found = ng.grad(y, x, np.ones(3))[0].numpy()
        expected = found if expected is None else expected
        assert np.array_equal(found, expected)
        step += 1
    assert step > 20


def test_a_failing_pass_does_not_give_back_what_another_one_has_freed(monkeypatch):
    x = leaf()
    known(lambda x: ng.sin(x) * x, x)
    y = ng.sin(x) * x
    run = Executable.__call__

    def fails(self, *args):
        monkeypatch.setattr(Executable, "__call__", run)
        ng.grad(y, x, np.ones(3))
        raise RuntimeError("out of luck")

    monkeypatch.setattr(Executable, "__call__", fails)
    with pytest.raises(RuntimeError, match="out of luck"):
        ng.grad(y, x, np.ones(3), retain_graph=True)
    with pytest.raises(ng.errors.FreedGraphError):
        ng.grad(y, x, np.ones(3))


OUTPUTS = {
    "leaves": lambda xs: xs,
    "results": lambda xs: [x * x for x in xs],
    "outputs of one operation": lambda xs: [
        *ng.linalg.eigh(xs[0] * xs[0][:, None]), ng.linalg.eigh(xs[1] * xs[1][:, None])[0],
    ],
}  # fmt: skip


@pytest.mark.parametrize("make", OUTPUTS)
@pytest.mark.parametrize("create_graph", [False, True])
def test_outputs_that_are_listed_twice_are_told_from_others(make, create_graph):
    def gradients(places, target):
        xs = [leaf(0.5, 1.5, 2.0), leaf(2.5, 3.0, 4.5), leaf(3.5, 4.0, 1.0)]
        ys = OUTPUTS[make](xs)
        seeds = [np.full(ys[n].shape, 10.0**k) for k, n in enumerate(places)]
        options = {"allow_unused": True, "create_graph": create_graph}
        (found,) = ng.grad([ys[n] for n in places], [xs[target]], seeds, **options)
        return None if found is None else found.detach().numpy()

    expected = {}
    for call in itertools.product(itertools.product(range(3), repeat=2), range(3)):
        plan_cache.forget()
        expected[call] = gradients(*call)
    for call, numbers in list(expected.items()) * 3:
        np.testing.assert_equal(gradients(*call), numbers)
