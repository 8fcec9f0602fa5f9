"""Graphs of a hundred thousand nodes: right, in linear time, without recursion, and without a
trace."""

import gc
import sys
import time
import tracemalloc

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

SMALL, LARGE = 20_000, 100_000
FACTOR = 1.00001


def leaf(value=0.5):
    return ng.tensor(value, requires_grad=True)


def chain(x, n):
    y = x
    for _ in range(n):
        y = y * FACTOR
    return y


def fan(x, n):
    return [x * float(k) for k in range(n)]


def seconds(function):
    """Return the result, and the time of this process that it took: other processes do not
    count."""
    gc.collect()
    began = time.process_time()
    result = function()
    return result, time.process_time() - began


def per_node(build, differentiate, n):
    x = leaf()
    y, recording = seconds(lambda: build(x, n))
    holder = [y]
    del y
    (g,), backward = seconds(lambda: differentiate(holder[0], x, n))
    _, deleting = seconds(holder.clear)
    return g.item(), np.array([recording, backward, deleting]) / n


@pytest.fixture(autouse=True)
def shallow_stack():
    """Recursion over the nodes would fail at once."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(600)
    yield
    sys.setrecursionlimit(before)


CASES = {
    "chain": (chain, lambda y, x, n: ng.grad(y, x), lambda n: FACTOR**n),
    "fan": (fan, lambda ys, x, n: ng.grad(ys, x, [1.0] * n), lambda n: n * (n - 1) / 2),
}


@pytest.mark.parametrize("case", one_in(2, CASES))
def test_large_graph_is_right_and_takes_linear_time(case):
    build, differentiate, expected = CASES[case]
    per_node(build, differentiate, 500)
    _, small = per_node(build, differentiate, SMALL)
    value, large = per_node(build, differentiate, LARGE)
    np.testing.assert_allclose(value, expected(LARGE), rtol=1e-9)
    # Quadratic time would make it five times as much.
    assert large[:2].sum() < 3 * small[:2].sum()
    assert large[2] < 3 * max(small[2], 1e-6)


def test_deep_graph_with_create_graph():
    n = SMALL
    x = leaf(2.0)
    y = x
    for _ in range(n):
        y = y * x * 0.5  # x ** (n + 1) / 2 ** n
    (g,) = ng.grad(y, x, create_graph=True)
    (h,) = ng.grad(g, x)
    np.testing.assert_allclose(g.item(), n + 1, rtol=1e-9)
    np.testing.assert_allclose(h.item(), (n + 1) * n / 2, rtol=1e-9)


def test_deep_chain_of_views_and_of_writes():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1.0
    for _ in range(2000):
        y = y[::-1]
    z = x * 1.0
    for _ in range(2000):
        z += x
    (g,) = ng.grad([y.sum(), z.sum()], x)
    assert g.tolist() == [2002.0, 2002.0]


def memory():
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("create_graph", [False, True])
def test_memory_is_returned(create_graph):
    x = leaf()

    def use(n):
        (g,) = ng.grad(chain(x, n), x, create_graph=create_graph)
        return g.item()

    use(100)
    tracemalloc.start()
    try:
        before = memory()
        use(SMALL // 2)
        assert memory() - before < 100_000  # less than ten bytes for each node
    finally:
        tracemalloc.stop()


def test_objects_die_without_the_collector():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    for name, use in USES.items():
        for _ in range(4):
            use(x)  # plans are made and kernels loaded, which leaves cycles once
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                use(x)
            found = gc.collect()
        finally:
            gc.enable()
        assert found == 0, name


class Double(ng.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 + 0 * ctx.saved_tensors[0]


def _second_order(x):
    (g,) = ng.grad((x * x * x).sum(), x, create_graph=True)
    ng.grad(g.sum(), x)


def _in_place(x):
    y = x * 1.0
    y[0] = 3.0
    y += x
    ng.grad(y.sum(), x)


def _read_and_written(x):
    y, weights = x * 1.0, ng.tensor([1.0, 2.0])
    y *= x
    z = ng.sin(y[:1]) * y * weights
    y[1:] = z[:1] * y[1:]
    z[0] = (z * z)[1]
    weights[0] = z[0]
    w = z * 2.0
    u = w * w
    with ng.no_grad():
        w[0] = 1.0
    w[1] = u[1]


def _hooks(x):
    y = x * x
    y.register_hook(lambda g: g * 2)
    y.retain_grad()
    y.sum().backward()


def _error(x):
    y = (x * x).sum()
    ng.grad(y, x)
    with pytest.raises(RuntimeError):
        ng.grad(y, x)


USES = {
    "record": lambda x: ng.sin(x) * x,
    "grad": lambda x: ng.grad((ng.sin(x) * x).sum(), x),
    "backward": lambda x: (ng.exp(x) * x).sum().backward(),
    "batched": lambda x: ng.grad(x * x, x, np.eye(2), is_grads_batched=True),
    "create_graph": lambda x: ng.grad((x * x).sum(), x, create_graph=True),
    "batched create_graph": lambda x: ng.grad(
        x * x, x, np.eye(2), True, True, is_grads_batched=True
    ),
    "second order": _second_order,
    "views": lambda x: ng.grad((x * 1.0)[::-1].reshape(2, 1).sum(), x),
    "in place": _in_place,
    "read, then written": _read_and_written,
    "hooks": _hooks,
    "function": lambda x: ng.grad(Double.apply(x).sum(), x),
    "func": lambda x: ng.func.hessian(lambda v: (v * v * v).sum())(x.detach()),
}


def test_forgotten_error_leaves_no_cycle_behind():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(8):  # a graph that comes again is remembered, and followed by compiled code
        _error(x)
    gc.collect()
    kept = len(gc.get_objects())
    _error(x)
    gc.collect()
    assert len(gc.get_objects()) - kept < 20
