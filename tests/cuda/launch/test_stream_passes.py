"""Passes and captured functions on a chosen stream: launches and waits are as few as they can be,
and memory is used again only behind the work that uses it."""

from contextlib import nullcontext

import numpy as np
import pytest

import numgrad as ng

X = np.linspace(0.1, 1.0, 6).reshape(2, 3)
TIMES = 4  # plans are made when a pass is met again


class Counted:
    """What the driver is asked for inside of a block: launches with their streams, and waits."""

    def __init__(self):
        self.driver = ng.cuda.current_stream()._runtime.driver
        self.host = getattr(self.driver, "host", None)  # of the hosted driver, which sees them all
        self.launches, self.waits = [], 0

    def __enter__(self):
        self._begin = 0 if self.host is None else len(self.host.streams)
        if self.host is None:
            self._replace("launch", lambda k, n, a, queue: self.launches.append(queue.number))
        self._replace("wait", self._count)
        return self

    def _count(self, *_):
        self.waits += 1

    def _replace(self, name, note):
        function = getattr(self.driver, name)

        def noted(*arguments):
            note(*arguments)
            return function(*arguments)

        setattr(self.driver, name, noted)

    def __exit__(self, *_):
        if self.host is None:
            del self.driver.launch
        else:
            self.launches = self.host.streams[self._begin :]
        del self.driver.wait

    def only_on(self, stream):
        address = stream.handle.number if self.host is None else stream.cuda_stream or None
        return {address} == {number or None for number in self.launches}


def joined(*streams):
    """Let each of several streams wait for what the others were asked for so far."""
    for stream in streams:
        for other in streams:
            stream.wait_stream(other)


def steps(x):
    y = ng.sin(x) * x
    return (ng.exp(y) - y).sum()


def derivative(values):
    y, slope = np.sin(values) * values, np.sin(values) + values * np.cos(values)
    return (np.exp(y) - 1) * slope


def passes(stream, forward, times=TIMES):
    """Return the gradients of passes on a stream, and what the last of them asked the driver for.
    """
    found = []
    for n in range(times):
        x = ng.tensor(X + n, device="cuda", requires_grad=True)
        y = forward(x)
        with Counted() as counted:
            (gradient,) = ng.grad(y, x)
        found.append((gradient.cpu().numpy(), derivative(X + n)))
    return found, counted


def require_near(pairs, tolerance=1e-12):
    for found, expected in pairs:
        np.testing.assert_allclose(found, expected, tolerance)


def test_a_pass_on_a_stream_is_launched_as_on_the_default_one():
    default, side = ng.cuda.default_stream(), ng.cuda.Stream()
    pairs, expected = passes(default, steps)
    require_near(pairs)
    assert not expected.waits
    with ng.cuda.stream(side):
        pairs, counted = passes(side, steps)
    require_near(pairs)
    assert len(counted.launches) == len(expected.launches)
    assert counted.only_on(side)
    assert not counted.waits


def test_a_plan_serves_passes_on_any_stream():
    for stream in (ng.cuda.Stream(), ng.cuda.default_stream(), ng.cuda.Stream()):
        with ng.cuda.stream(stream):
            pairs, counted = passes(stream, steps, 3)
        require_near(pairs)
        assert counted.only_on(stream)
        assert not counted.waits


@pytest.mark.parametrize("caller", ["default", "side", "third"])
def test_a_pass_on_several_streams_is_fused_for_each(caller):
    default, side = ng.cuda.default_stream(), ng.cuda.Stream()
    stream = {"default": default, "side": side, "third": ng.cuda.Stream()}[caller]

    def forward(x):
        joined(default, side, stream)
        with ng.cuda.stream(side):
            y = ng.sin(x) * x
        joined(default, side, stream)
        with ng.cuda.stream(default):
            z = (ng.exp(y) - y).sum()
        joined(default, side, stream)
        return z

    with ng.cuda.stream(stream):
        pairs, counted = passes(stream, forward)
        require_near(pairs)
        _, alone = passes(stream, steps)
    streams = 3 if caller == "third" else 2
    assert len(set(counted.launches)) == streams
    # Each stream has a kernel, and the sum at the leaf is the caller's.
    assert len(counted.launches) <= len(alone.launches) + streams
    assert counted.waits <= 4 * streams


def test_the_streams_of_a_pass_are_part_of_its_plan():
    """A graph of another stream has another plan, and its own streams."""
    default, sides = ng.cuda.default_stream(), [ng.cuda.Stream(), ng.cuda.Stream()]
    for _ in range(3):
        for side in (*sides, default):
            def forward(x, side=side):
                joined(default, side)
                with ng.cuda.stream(side):
                    y = ng.sin(x) * x
                joined(default, side)
                return (ng.exp(y) - y).sum()

            pairs, counted = passes(default, forward, 1)
            require_near(pairs)
            others = len(set(counted.launches)) - 1
            assert others == (side is not default)


def test_batched_and_forward_passes_on_a_stream():
    side = ng.cuda.Stream()
    for stream in (None, side):
        with nullcontext() if stream is None else ng.cuda.stream(stream):
            for n in range(3):
                x = ng.tensor(X + n, device="cuda", requires_grad=True)
                seeds = ng.tensor([1.0, 2.0], device="cuda")
                (rows,) = ng.grad(steps(x), x, seeds, is_grads_batched=True)
                expected = np.stack([k * derivative(X + n) for k in (1, 2)])
                require_near([(rows.cpu().numpy(), expected)])
                _, tangent = ng.func.jvp(steps, (x,), (ng.ones_like(x),))
                require_near([(tangent.detach().cpu().numpy(), derivative(X + n).sum())])


def test_hooks_see_the_stream_of_a_pass():
    side, seen = ng.cuda.Stream(), []
    with ng.cuda.stream(side):
        for _ in range(3):
            x = ng.tensor(X, device="cuda", requires_grad=True)
            y = ng.sin(x) * x
            y.register_hook(lambda g: seen.append(ng.cuda.current_stream()) or g * 2)
            (gradient,) = ng.grad((ng.exp(y) - y).sum(), x)
            require_near([(gradient.cpu().numpy(), 2 * derivative(X))])
    assert seen == [side] * 3


def test_captured_functions_on_a_stream():
    function, side = ng.jit(lambda x: ng.exp(ng.sin(x) * x) - x, fuse="now"), ng.cuda.Stream()
    expected = np.exp(np.sin(X) * X) - X
    for stream in (ng.cuda.default_stream(), side, ng.cuda.default_stream()):
        with ng.cuda.stream(stream):
            x = ng.tensor(X, device="cuda")
            for _ in range(TIMES):
                with Counted() as counted:
                    y = function(x)
                require_near([(y.cpu().numpy(), expected)])
            assert counted.only_on(stream)
            assert (len(counted.launches), counted.waits) == (1, 0)


def test_captured_functions_with_streams_are_fused_for_each():
    inner = ng.cuda.Stream()

    @ng.jit(fuse="now")
    def function(x):
        with ng.cuda.stream(inner):
            y = ng.sin(x) * x
            y = ng.exp(y) - y
        return y * x + x

    x = ng.tensor(X, device="cuda")
    y = np.sin(X) * X
    for _ in range(TIMES):
        with Counted() as counted:
            found = function(x)
        require_near([(found.cpu().numpy(), (np.exp(y) - y) * X + X)])
    assert len(counted.launches) == 2


def test_a_block_of_memory_waits_for_the_streams_that_have_used_it():
    """A block that another stream reads is not used again before that stream has been waited for.
    """
    default, side = ng.cuda.default_stream(), ng.cuda.Stream()
    x = ng.tensor(X, device="cuda")
    side.wait_stream(default)
    with ng.cuda.stream(side):
        y = ng.sin(x)
    block = x.array.memory.block
    with Counted() as counted:
        del x
    assert counted.waits == 1  # the default stream's, which would get the block again
    again = ng.tensor(X + 1, device="cuda")
    if counted.host is not None:
        assert again.array.memory.block is block
    default.wait_stream(side)
    require_near([(y.cpu().numpy(), np.sin(X))])


def test_blocks_of_other_streams_are_not_kept_for_the_default_stream():
    side = ng.cuda.Stream()
    with ng.cuda.stream(side):
        x = ng.tensor(X, device="cuda")
        block = x.array.memory.block
        with Counted() as counted:
            del x
    assert not counted.waits
    assert ng.tensor(X, device="cuda").array.memory.block is not block
