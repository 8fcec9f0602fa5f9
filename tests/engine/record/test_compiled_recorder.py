"""Recorders, which make values and nodes in compiled code: what Python makes, and owned alike."""

import _thread
import gc
import sys
import threading
import weakref
from collections import deque

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.engine.graph.node import Node, View
from numgrad.engine.record import dispatch
from numgrad.functions.shape import joining
from numgrad.targets.cpu.python import recorders

pytestmark = pytest.mark.usefixtures("often")


def middle(*shape):
    return ng.tensor(np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)) * 1.0


def leaf(*shape):
    return ng.tensor(np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape), requires_grad=True)


def graph(*shape):
    return leaf(*shape) * 1.0


OPERATIONS = [
    lambda x, y: x * y,
    lambda x, y: x * x,
    lambda x, y: x * y.detach(),
    lambda x, y: x.detach() * y,
    lambda x, y: x / 3.0,
    lambda x, y: 3 - y,
    lambda x, y: -x,
    lambda x, y: ng.exp(x),
    lambda x, y: ng.sqrt(y),
    lambda x, y: x[1:],
    lambda x, y: x[1],
    lambda x, y: x[1:] * y[1:],
    lambda x, y: x.T,
    lambda x, y: x.reshape(-1),
    lambda x, y: x.sum(),
    lambda x, y: x.sum(0),
    lambda x, y: ng.roll(x, 1, 0),
    lambda x, y: x > y,
    lambda x, y: ng.maximum(x, y),
    lambda x, y: x[1:][..., 0],
    lambda x, y: x[0, ::-1],
    lambda x, y: x.sum(1, keepdims=True),
    lambda x, y: ng.broadcast_to(x, (4, 3, 2)),
    lambda x, y: ng.where(x > 1.0, x, y),
    lambda x, y: ng.where(x > 1.0, x, 0.0),
    lambda x, y: ng.clip(x, 0.7, y),
    lambda x, y: ng.concat([x, y, x.detach()]),
    lambda x, y: ng.stack([x, y]),
    lambda x, y: ng.exp(leaf(3, 2)),
    lambda x, y: leaf(3, 2) * y,
    lambda x, y: leaf(3, 2)[1:],
    lambda x, y: x @ leaf(2),
    lambda x, y: leaf(3) @ x,
    lambda x, y: x[0] @ y[1],
    lambda x, y: written(x) @ y[1],
    lambda x, y: written(x) * y,
    lambda x, y: x * written(y),
    lambda x, y: ng.exp(written(x)),
    lambda x, y: ng.sin(written(x)),
    lambda x, y: written(x)[1:],
    lambda x, y: written(x)[0, 1],
    lambda x, y: ng.sin(written(x)[1:]),
    lambda x, y: ng.where(x > 1.0, written(x), y),
    lambda x, y: ng.clip(written(x), 0.7, y),
    lambda x, y: written(x) + y,
    lambda x, y: written(x.detach()) * y,
]


def written(x):
    y = x * 1.0
    y[0] += 1.0
    return y


def slots_of(item):
    names = [name for kind in type(item).__mro__ for name in getattr(kind, "__slots__", ())]
    return {name: getattr(item, name) for name in names if name != "__weakref__"}


@pytest.mark.short_ways
@pytest.mark.parametrize("operate", OPERATIONS)
def test_what_is_made_is_what_python_makes(operate, monkeypatch):
    x, y = graph(3, 2), graph(3, 2)
    made = []
    for kept in (True, False):
        ng.set_flags()
        if not kept:
            monkeypatch.setattr(dispatch, "recorder_of", lambda plan, depth: None)
        made.append([operate(x, y) for _ in range(3)][2])
    ours, theirs = slots_of(made[0]), slots_of(made[1])
    own = ("array", "node", "_view", "_storage")
    assert np.array_equal(ours["array"], theirs["array"])
    assert {k: v for k, v in ours.items() if k not in own} == {
        k: v for k, v in theirs.items() if k not in own
    }
    for name in own:
        assert type(ours[name]) is type(theirs[name])
    if isinstance(made[0]._view, View):
        assert made[0]._view.chain == made[1]._view.chain
        for item in made:
            base = item._view.base
            assert (item._view.node, item._view.expr) == (base.node, base.expr)
            assert base._view is None
            assert np.shares_memory(base.array, item.array)
            assert base.storage is item.storage
    if made[0].node is None:
        return
    ours, theirs = slots_of(made[0].node), slots_of(made[1].node)
    for name in ("number", "saved"):
        one, other = ours.pop(name), theirs.pop(name)
        assert type(one) is type(other)
        if name == "saved":
            for a, b in zip(one, other, strict=True):
                assert (a is None) == (b is None)
                assert a is None or np.array_equal(a.array, b.array)
                assert a is None or (a._storage is None) == (b._storage is None)
            for slots in (ours, theirs):  # those of a node without written values may be longer
                slots["versions"] = slots["versions"][: len(one)]
    above = [[p and (p.kind, p.number) for p in nodes.pop("parents")] for nodes in (ours, theirs)]
    if above[0] != above[1]:  # parents were made as well
        above = [[p and p[0] for p in parents] for parents in above]
    assert above[0] == above[1]
    assert ours == theirs


@pytest.mark.locked
@pytest.mark.short_ways
def test_written_operands_are_recorded_without_python(monkeypatch):
    x = graph(3)
    x += 1.0
    for _ in range(3):
        ng.sin(x)
    monkeypatch.setattr(dispatch, "_recorded_one", None)
    y = ng.sin(x)
    assert y.node.versions == (1, 0)
    monkeypatch.undo()
    x += 1.0
    assert np.array_equal(y.node.saved[0].numpy() + 1.0, x.detach().numpy())


@pytest.mark.locked
@pytest.mark.short_ways
def test_recorders_are_used():
    x = graph(3)
    x * x * x
    assert callable(registry["multiply"].kinds[x.spec].recorder)


@pytest.mark.parametrize("operate", OPERATIONS)
def test_nodes_know_the_users_line(operate):
    x, y = graph(3, 2), graph(3, 2)
    for _ in range(4):
        node = operate(x, y).node
        assert node is None or node.site.code is operate.__code__


def test_threads_that_begin_with_a_method():
    x, y = graph(3), graph(3)
    for _ in range(4):
        x * y, ng.sum(x)
    for function, arguments in ((type(x).__mul__, (x, y)), (ng.sum, (x,))):
        found, done = [], threading.Lock()
        done.acquire()

        def keep(result, found=found, done=done):
            found.append(result)
            done.release()

        # A list of bound calls: the frames of the thread are numgrad's alone.
        _thread.start_new_thread(deque, (map(keep, map(function, *zip(arguments))), 0))
        assert done.acquire(timeout=10)
        assert found[0].node.code is None


def test_references_are_counted():
    x, y = graph(4), graph(4)
    start, part, matrix = leaf(4), x[1:], graph(3, 4)
    operations = [
        lambda: x * y, lambda: ng.exp(x), lambda: x[1:], lambda: x * 2.0, lambda: x > y,
        lambda: start * x, lambda: part[1:], lambda: x[1::2], lambda: x.reshape((2, 2)),
        lambda: ng.where(y, x, y), lambda: x.sum(0, keepdims=True), lambda: start[..., None],
        lambda: matrix @ x, lambda: x @ y,
    ]  # fmt: skip
    things = [
        None, True, False, 0, (), x, y, x.node, x.array, x.spec, x.shape, x.dtype, Node, ng.Tensor,
        registry["multiply"], dispatch.UNWRITTEN, test_references_are_counted.__code__, ..., slice,
        start, start.storage, part, part._view, part._view.chain, x.storage, tuple, "f_code", int,
        matrix, matrix.node, 1, 2, 3,
    ]  # fmt: skip
    for operation in operations * 3:
        operation()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in things]
    for operation in operations:
        for _ in range(500):
            operation()
    gc.collect()
    after = [sys.getrefcount(thing) for thing in things]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 20


def test_nothing_outlives_its_graph():
    x = graph(4)
    for _ in range(3):
        ng.exp(x) * x
    y = ng.exp(x) * x
    references = [weakref.ref(y), weakref.ref(y.node), weakref.ref(y.node.parents[0])]
    y.node.metadata["cycle"] = y
    del y
    gc.collect()
    assert [r() for r in references] == [None] * 3


def test_a_node_saves_a_value_of_its_own_for_a_written_operand():
    leaf = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = leaf * 1.0
    for _ in range(3):
        x * x
    x += 1.0
    y = x * x
    assert y.node.versions == (1, 1, 0)
    assert y.node.saved[0] is not x
    assert y.node.saved[0].node is None
    with ng.no_grad():
        x += 1.0
    with pytest.raises(RuntimeError, match="inplace"):
        ng.grad(y.sum(), leaf)


def test_a_view_sees_writes_to_its_base():
    x = graph(3)
    v = x[1:]
    for _ in range(3):
        v * v
    x *= 3.0
    y = v * v
    assert np.array_equal(y.detach().numpy(), v.detach().numpy() ** 2)
    assert y.node.parents[0] is v.node
    assert v.node.parents[0] is x.node


def test_errors_of_a_users_function_come_through():
    @ng.elementwise
    def careful(x):
        if x > 1.0:
            raise ValueError("too large")
        return x * x

    small, large = middle(3) * 0.25, middle(3) * 4.0
    for _ in range(3):
        careful(small)
    with pytest.raises(ng.errors.OperatorError, match="too large"):
        careful(large)
    with pytest.raises(ng.errors.OperatorError, match="too large"):
        careful(large)


def test_results_without_axes_are_arrays():
    x = graph(2)[0]
    for _ in range(3):
        assert type((x * x).array) is np.ndarray
        assert (x * x).array.shape == ()


def test_modes_are_respected():
    x = graph(3)
    for _ in range(3):
        assert (x * x).requires_grad
        with ng.no_grad():
            assert not (x * x).requires_grad
            assert (x * x).node is None
    with ng.graph.saved_tensors_hooks(lambda t: t.numpy(copy=True), ng.tensor):
        y = x * x
    assert not isinstance(y.node.saved[0], ng.Tensor)


@pytest.mark.parametrize("flag", [1, np.True_, True])
def test_whatever_is_true_asks_for_gradients(flag):
    x = ng.tensor([1.0, 2.0])
    for _ in range(3):
        x * x, ng.exp(x)
    x.requires_grad = flag
    assert x.requires_grad is True
    assert (x * x).requires_grad
    assert ng.exp(x).requires_grad
    x = type(x)(np.ones(2), flag)
    assert (x * x).requires_grad
    assert ng.exp(x).requires_grad


def test_stacks_are_kept_where_they_are_asked_for():
    x = graph(3)
    for _ in range(3):
        x * x
    ng.set_flags(call_stack_level=3)
    try:
        for _ in range(3):
            assert "test_stacks_are_kept" in (x * x).node.stack
    finally:
        ng.set_flags(call_stack_level=1)


@pytest.mark.parametrize("dtype", [np.int64, bool, np.float64])
def test_operands_beyond_those_of_a_recorder_are_right_and_their_plan_has_none(dtype):
    """A recorder has room for so many arrays. Plans of integers have no derivative, so the number
    of inputs that it would read says nothing there."""
    most = recorders.MOST_INPUTS
    for count in (5, 7, 9, 33, most, most + 1, most + 9):
        arrays = [np.arange(3).astype(dtype) + dtype(n % 2) for n in range(count)]
        tensors = [ng.tensor(array) for array in arrays]
        for _ in range(4):
            y = ng.concat(tensors)
            assert y.numpy().tolist() == np.concatenate(arrays).tolist()
    plans = [p for p in registry["concat"].kinds.values() if len(p.inputs) > most]
    plans += [p for found in joining._joined.plans.values() for p in found]
    assert all(p.recorder is None for p in plans if len(p.inputs) > most)
    assert any(len(p.inputs) > recorders.MOST for p in plans)


@pytest.mark.locked
@pytest.mark.short_ways
@pytest.mark.parametrize("join", [ng.concat, ng.stack, lambda xs: ng.stack(xs, axis=-1)])
@pytest.mark.parametrize("count", [5, 16, 63, 64])
def test_many_operands_are_recorded_without_python(join, count, monkeypatch):
    """Of many operands none may be read by the derivative. Some of these require grad, one is the
    second result of its node, and one comes twice."""

    def operands():
        w, v = ng.linalg.eigh(ng.tensor(np.diag([1.0, 2.0, 3.0]), requires_grad=True))
        x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
        return x, [w, x, x, v[0], *[ng.tensor([float(n), 0.0, 1.0]) for n in range(count - 4)]]

    def gradient(x, tensors):
        y = join(tensors)
        weights = np.cos(np.arange(y.size)).reshape(y.shape)
        return y, ng.grad(ng.sum(y * weights), x)[0].numpy()

    for _ in range(3):
        x, tensors = operands()
        first, g = gradient(x, tensors)
    x, tensors = operands()
    monkeypatch.setattr(dispatch, "_apply_many", None)
    y = join(tensors)
    monkeypatch.undo()
    assert y.detach().numpy().tobytes() == first.detach().numpy().tobytes()
    assert y.node.saved == ()
    assert len(y.node.parents) == count
    assert y.node.slots[3] == tensors[3].slot
    assert [p is None for p in y.node.parents] == [not t.requires_grad for t in tensors]
    assert gradient(x, tensors)[1].tobytes() == g.tobytes()


@pytest.mark.locked
@pytest.mark.short_ways
@pytest.mark.parametrize("reduce", [lambda x: x.sum(), lambda x: ng.cumsum(x, 0), ng.prod])
def test_arrays_in_any_order_are_recorded_without_python(reduce, monkeypatch):
    """A plan may have a faster function for arrays in C order, which others do not get."""
    x = graph(4, 4)
    arrays = [x.T.diagonal(), x[1:, 2], x[1], x[::-1, 0]]
    expected = [reduce(a).detach().numpy() for a in arrays]
    for a in arrays:
        for _ in range(3):
            reduce(a)
    monkeypatch.setattr(dispatch, "_recorded_one", None)
    for a, right in zip(arrays, expected, strict=True):
        assert np.array_equal(reduce(a).detach().numpy(), right)
        assert reduce(a).node is not None
