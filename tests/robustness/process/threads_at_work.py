"""What eight threads do at once; run as a script, under the threading layer of the environment."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import numgrad as ng
from numgrad._errors import FreedGraphError

COUNT = 8
SIZE = 96


def together(function):
    """Call ``function(n)`` in eight threads that start at the same moment; return the results."""
    gate = threading.Barrier(COUNT)

    def call(n):
        gate.wait()
        return function(n)

    with ThreadPoolExecutor(COUNT) as pool:
        return list(pool.map(call, range(COUNT)))


def model(x):
    return ng.tanh(x) * x + ng.exp(-x * x).cumsum()


def separate_graphs(rows):
    """Each thread records and differentiates a graph of its own, the kernels being new to all."""
    seeds = np.random.default_rng(1).random((rows, SIZE)) if rows else None

    def work(n):
        x = ng.tensor(np.linspace(-1, 1, SIZE) + n / 8, requires_grad=True)
        results = []
        for _ in range(5):
            y = model(x)
            results.append(ng.grad(y, x, seeds, is_grads_batched=bool(rows))[0].numpy())
        return results

    at_once = together(work)
    for n in range(COUNT):
        for got, expected in zip(at_once[n], work(n), strict=True):
            np.testing.assert_array_equal(got, expected)


def shared_graph(rows):
    """All threads differentiate one graph, which is kept."""
    x = ng.tensor(np.linspace(-1, 1, SIZE), requires_grad=True)
    y = model(x)
    seeds = np.random.default_rng(2).random((COUNT, rows or 1, SIZE))

    def work(n):
        seed = seeds[n] if rows else seeds[n, 0]
        return [
            ng.grad(y, x, seed, retain_graph=True, is_grads_batched=bool(rows))[0].numpy()
            for _ in range(5)
        ]

    at_once = together(work)
    for n in range(COUNT):
        for got, expected in zip(at_once[n], work(n), strict=True):
            np.testing.assert_array_equal(got, expected)


def second_order():
    """Passes with create_graph over one graph, and passes over what they recorded."""
    x = ng.tensor(np.linspace(-1, 1, SIZE), requires_grad=True)
    y = model(x).sum()

    def work(n):
        (g,) = ng.grad(y, x, create_graph=True)
        return ng.grad((g * float(n)).sum(), x, retain_graph=True)[0].numpy()

    at_once = together(work)
    for n in range(COUNT):
        np.testing.assert_array_equal(at_once[n], work(n))


def exactly_one_wins():
    """Of passes that free one graph, one gets its result and the others a clear error."""
    for _ in range(20):
        x = ng.tensor(np.linspace(-1, 1, SIZE), requires_grad=True)
        y = model(x)

        def work(n, x=x, y=y):
            try:
                return ng.grad(y, x, np.ones(SIZE))[0].numpy()
            except FreedGraphError:
                return None

        won = [result for result in together(work) if result is not None]
        assert len(won) == 1, len(won)
        np.testing.assert_array_equal(won[0], ng.grad(model(x), x, np.ones(SIZE))[0].numpy())


def accumulation():
    """``.grad`` is the sum of what all threads add to it."""
    x = ng.tensor(np.zeros(SIZE), requires_grad=True)

    def work(n):
        for _ in range(50):
            ng.backward(x * float(n + 1), np.ones(SIZE))

    together(work)
    np.testing.assert_array_equal(x.grad.numpy(), np.full(SIZE, 50.0 * sum(range(1, COUNT + 1))))


def modes():
    """Grad mode belongs to a thread."""
    x = ng.tensor(np.ones(3), requires_grad=True)

    def work(n):
        if n % 2:
            with ng.no_grad():
                return [(x * 2.0).requires_grad for _ in range(100)]
        return [(x * 2.0).requires_grad for _ in range(100)]

    for n, flags in enumerate(together(work)):
        assert set(flags) == {n % 2 == 0}


if __name__ == "__main__":
    separate_graphs(0)
    separate_graphs(512)
    shared_graph(0)
    shared_graph(512)
    second_order()
    exactly_one_wins()
    accumulation()
    modes()
    from numgrad.targets.cpu import CPUTarget

    print(CPUTarget().threading_layer(), sys.getswitchinterval() > 0)
