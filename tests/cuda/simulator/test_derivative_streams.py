"""Derivatives on the streams of their operations: of captured and mapped functions, of what is
written after a node has saved it, and of what a pass makes at once.

In each test the pass is called on a stream that has waited for nothing, where the simulator's
clocks see whatever runs there too early.
"""

import numpy as np
import pytest

import numgrad as ng

X = np.linspace(0.1, 1.0, 6).reshape(2, 3)



def near(found, expected):
    np.testing.assert_allclose(found, expected, 1e-12)


def _ordered(*streams):
    """Let each of several streams wait for all the others."""
    for stream in streams:
        for other in streams:
            stream.wait_stream(other)


def _pass_elsewhere(forward, create_graph=False, batched=False):
    """Compute ``forward`` on one stream, and its gradient on another, which waits for nothing: to
    its caller a pass is one operation, whose streams wait for each other."""
    work, caller = ng.cuda.Stream(), ng.cuda.Stream()
    x = ng.tensor(X, device="cuda", requires_grad=True)
    _ordered(ng.cuda.default_stream(), work)
    with ng.cuda.stream(work):
        y = forward(x)
    with ng.cuda.stream(caller):
        ones = np.ones(y.shape)
        seed = ng.tensor(np.stack([ones, 2 * ones]) if batched else ones, device="cuda")
        (gradient,) = ng.grad(
            y, x, seed, create_graph=create_graph, is_grads_batched=batched, retain_graph=True
        )
        found = gradient.detach().cpu().numpy()
        if not create_graph:
            return found
        (second,) = ng.grad(gradient, x, ng.ones_like(gradient))
        return found, second.cpu().numpy()


SLOPE, BEND = np.cos(X) * X + np.sin(X), 2 * np.cos(X) - X * np.sin(X)
CAPTURED = {
    "jit": ng.jit(lambda x: ng.sin(x) * x), "vmap": ng.func.vmap(lambda row: ng.sin(row) * row),
    "jit of vmap": ng.jit(ng.func.vmap(lambda row: ng.sin(row) * row)),
    "vmap of jit": ng.func.vmap(ng.jit(lambda row: ng.sin(row) * row)),
    "cond": lambda x: ng.cond(x.sum() > 0, lambda: ng.sin(x) * x, lambda: x),
}  # fmt: skip


@pytest.mark.parametrize("name", CAPTURED)
def test_derivatives_of_captured_functions_are_computed_on_the_streams_of_their_calls(name):
    for _ in range(3):
        near(_pass_elsewhere(CAPTURED[name]), SLOPE)
        near(_pass_elsewhere(CAPTURED[name], batched=True), np.stack([SLOPE, 2 * SLOPE]))
        for found, expected in zip(
            _pass_elsewhere(CAPTURED[name], create_graph=True), (SLOPE, BEND), strict=True
        ):
            near(found, expected)
        first, second = _pass_elsewhere(CAPTURED[name], create_graph=True, batched=True)
        near(first, np.stack([SLOPE, 2 * SLOPE]))
        near(second, 3 * BEND)


def _write_by_index(m):
    m[[0]] = 3.0


def _write_by_out(m):
    ng.jit(lambda v: 5.0 * v)(ng.tensor(X, device="cuda"), out=m)


def _write_in_place(m):
    m *= 3.0


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("write", [_write_in_place, _write_by_index, _write_by_out])
@pytest.mark.parametrize("forward", [lambda x, m: x * m, ng.jit(lambda x, m: x * m)])
def test_what_a_node_saved_is_kept_by_a_write_on_another_stream(write, times, forward):
    """The writing stream makes the copy, and the derivative on the first stream waits for it."""
    work, writing, caller = ng.cuda.Stream(), ng.cuda.Stream(), ng.cuda.Stream()
    x, found = ng.tensor(X, device="cuda", requires_grad=True), []
    _ordered(ng.cuda.default_stream(), work, writing)
    with ng.cuda.stream(work):
        m = x.detach() * 2
    for _ in range(times):
        work.wait_stream(writing)
        with ng.cuda.stream(work):
            found.append((forward(x, m), m.cpu().numpy()))
        writing.wait_stream(work)
        with ng.cuda.stream(writing):
            write(m)
    with ng.cuda.stream(caller):
        for y, expected in found:
            (gradient,) = ng.grad(y, x, ng.ones_like(y))
            near(gradient.cpu().numpy(), expected)
