"""Programs that run often become graphs of the device: the same numbers, whoever calls them."""

import threading

import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cuda.launch import graphs

RNG = np.random.default_rng(11)
X = RNG.standard_normal((3, 4))


def stepped(x, y):
    """Compute with so many kernels that are not joined that a graph is worth while."""
    for _ in range(8):
        x = x + 0.1 * (y @ x - ng.tanh(x))
    return x, x.sum()


def on_device(array, requires_grad=False):
    return ng.tensor(array, device="cuda", requires_grad=requires_grad)


@pytest.fixture
def replays(monkeypatch):
    """The runs of graphs."""
    found, run = [], graphs.GraphExecutable.run
    monkeypatch.setattr(
        graphs.GraphExecutable, "run", lambda self, *args: (found.append(self), run(self, *args))
    )
    return found


@pytest.mark.parametrize("turned", [False, True])
def test_results_are_those_of_the_processor(replays, turned):
    function = ng.jit(stepped, fuse="never")
    for _ in range(graphs.OFTEN + 3):
        x, y = RNG.standard_normal((3, 2)), 0.1 * RNG.standard_normal((3, 3))
        expected, total = stepped(ng.tensor(x), ng.tensor(y))
        there = on_device(x.T).T if turned else on_device(x)
        found, found_total = function(there, on_device(y))
        np.testing.assert_allclose(found.cpu().numpy(), expected.numpy(), 1e-12)
        np.testing.assert_allclose(found_total.item(), total.item(), 1e-12)
    assert len(replays) == 4


def test_results_are_arrays_of_their_own(replays):
    function = ng.jit(stepped, fuse="never")
    y = on_device(0.1 * np.eye(3))
    kept = [function(on_device(X[:, :2] * k), y)[0] for k in range(1, graphs.OFTEN + 3)]
    for k, found in enumerate(kept, 1):
        expected, _ = stepped(ng.tensor(X[:, :2] * k), ng.tensor(0.1 * np.eye(3)))
        np.testing.assert_allclose(found.cpu().numpy(), expected.numpy(), 1e-12)
    assert replays


def test_streams_take_turns(replays):
    function = ng.jit(stepped, fuse="never")
    x, y = X[:, :2], 0.1 * np.eye(3)
    expected, _ = stepped(ng.tensor(x), ng.tensor(y))
    there = on_device(x), on_device(y)
    streams = [ng.cuda.current_stream(), ng.cuda.Stream(), ng.cuda.Stream()]
    for n in range(graphs.OFTEN + 6):
        stream = streams[n % 3]
        stream.wait_stream(streams[0])
        with ng.cuda.stream(stream):
            found, _ = function(*there)
        np.testing.assert_allclose(found_on(stream, found), expected.numpy(), 1e-12)
    assert len(replays) == 7


def found_on(stream, tensor):
    with ng.cuda.stream(stream):
        return tensor.cpu().numpy()


def test_threads_share_a_graph(replays):
    function = ng.jit(stepped, fuse="never")
    y = on_device(0.1 * np.eye(3))
    for _ in range(graphs.OFTEN):
        function(on_device(X[:, :2]), y)
    wrong = []

    def work(k):
        expected, _ = stepped(ng.tensor(X[:, :2] * k), ng.tensor(0.1 * np.eye(3)))
        for _ in range(4):
            found, _ = function(on_device(X[:, :2] * k), y)
            if not np.allclose(found.cpu().numpy(), expected.numpy(), 1e-12):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(replays) == 13


def test_captured_gradients(replays):
    def function(x):
        for _ in range(8):
            x = ng.sin(x) + 0.3 * x * ng.exp(-x * x)
        return x.sum()

    gradient = ng.jit(ng.func.grad(function), fuse="never")
    for k in range(1, graphs.OFTEN + 3):
        found = gradient(on_device(X[:, :2] * k))
        expected = ng.func.grad(function)(ng.tensor(X[:, :2] * k))
        np.testing.assert_allclose(found.cpu().numpy(), expected.numpy(), 1e-9)
    assert len(replays) == 3


def test_few_launches_and_large_arrays_are_no_graphs():
    launch = graphs.Launch(None, 1, ())
    small, large = graphs.Span((4,), 8, None), graphs.Span((1 << 24,), 8, None)
    assert graphs.is_worth_while([launch] * 20, [small] * 3, 1000)
    assert not graphs.is_worth_while([launch] * 9, [small] * 3, 0)
    assert not graphs.is_worth_while([launch] * 20, [small, large], 0)
    assert not graphs.is_worth_while([launch] * 20, [small] * 3, 1 << 27)  # it would be kept
    assert not graphs.is_worth_while([*[launch] * 20, object()], [small], 0)
    assert graphs.Span((3, 2), 8, (-16, 8)).first == 32
    assert graphs.Span((0, 2), 8, None).nbytes == 0
