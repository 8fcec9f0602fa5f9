"""Streams: what waits for what, as the simulator's clocks see it.

The examples of right and wrong use are those of PyTorch's contract for backward passes: the
derivative of an operation runs on its stream, and a pass is like one operation of the stream that
is current when it is called.
"""

import threading
from contextlib import nullcontext

import numpy as np
import pytest

import numgrad as ng
from numgrad.targets.cuda.device import memory
from numgrad.targets.cuda.program import bound_program
from numgrad.targets.cuda_simulator.order import OrderError

X = np.linspace(0.1, 1.0, 6).reshape(2, 3)


@pytest.fixture
def side():
    return ng.cuda.Stream()


def on_device(requires_grad=True, values=X):
    return ng.tensor(values, device="cuda", requires_grad=requires_grad)


def close(tensor, expected):
    np.testing.assert_allclose(tensor.detach().cpu().numpy(), expected, 1e-12)


def launches(function):
    """Return what a function does, and the kernels that it launches: their names, which equal
    kernels share, and their streams."""
    driver = ng.cuda.current_stream()._runtime.driver
    found, launch = [], driver.launch
    driver.launch = lambda kernel, count, given, queue: (
        found.append((kernel.kernel.name, queue.number)),
        launch(kernel, count, given, queue),
    )
    try:
        return function(), found
    finally:
        del driver.launch


# The current stream ---------------------------------------------------------------------------


def test_a_block_chooses_the_stream_of_its_thread(side):
    default = ng.cuda.default_stream()
    assert ng.cuda.current_stream() is default
    with ng.cuda.stream(side):
        assert ng.cuda.current_stream() is side
        with ng.cuda.stream(None):
            assert ng.cuda.current_stream() is side
        with ng.cuda.stream(default):
            assert ng.cuda.current_stream() is default
        seen = []
        thread = threading.Thread(target=lambda: seen.append(ng.cuda.current_stream()))
        thread.start()
        thread.join()
        assert seen == [default]
    assert ng.cuda.current_stream() is default
    with pytest.raises(ZeroDivisionError), ng.cuda.stream(side):
        1 / 0  # noqa: B018
    assert ng.cuda.current_stream() is default


def test_work_goes_to_the_current_stream(side):
    x = on_device(False)
    side.wait_stream(ng.cuda.current_stream())

    def work():
        y = x + 1
        with ng.cuda.stream(side):
            return y, ng.exp(x)

    _, found = launches(work)
    numbers = [number for _, number in found]
    assert numbers == [ng.cuda.default_stream().handle.number, side.handle.number]


def test_what_has_no_order_is_an_error(side):
    x = on_device(False)
    with ng.cuda.stream(side), pytest.raises(OrderError, match=r"kernel sin.*wait_stream"):
        ng.sin(x)


@pytest.mark.parametrize("way", ["stream", "event", "host", "device", "event on the host"])
def test_ways_to_wait(way, side):
    x, default = on_device(False), ng.cuda.current_stream()
    event = default.record_event()
    {
        "stream": lambda: side.wait_stream(default),
        "event": lambda: side.wait_event(event),
        "host": default.synchronize,
        "device": ng.cuda.synchronize,
        "event on the host": event.synchronize,
    }[way]()
    with ng.cuda.stream(side):
        close(x * 2, 2 * X)


def test_an_event_is_of_the_past_only(side):
    x = on_device(False)
    event = ng.cuda.current_stream().record_event()
    y = x + 1
    side.wait_event(event)
    with ng.cuda.stream(side):
        x + 1
        with pytest.raises(OrderError):
            y + 1


def test_reading_before_a_write_has_to_be_waited_for_as_well(side):
    x = on_device(False)
    side.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(side):
        y = ng.exp(x)
    with pytest.raises(OrderError, match="reads"):
        x[0] = 0.0
    del y


def test_events_tell_times(side):
    begin, end = ng.cuda.Event(enable_timing=True), ng.cuda.Event(enable_timing=True)
    assert begin.query()
    begin.record()
    end.record()
    assert end.query()
    assert side.query()
    assert begin.elapsed_time(end) >= 0
    with pytest.raises(ValueError, match="enable_timing"):
        begin.elapsed_time(ng.cuda.Event())


def test_streams_of_others_and_of_the_processor_are_refused(side):
    assert ng.cuda.external_stream(side) is side
    with pytest.raises(ng.errors.DeviceError, match="simulator has no streams of others"):
        ng.cuda.external_stream(1234)
    with pytest.raises(ng.errors.DeviceError, match="no streams"):
        ng.cuda.Stream(device="cpu")
    assert side.__cuda_stream__() == (0, side.cuda_stream)


def test_a_stream_copies_to_a_device(side):
    x = ng.tensor(X, requires_grad=True)
    y = x.to_device("cuda", stream=side)
    with pytest.raises(OrderError):
        y + 1
    ng.cuda.current_stream().wait_stream(side)
    z = (y * y).sum()
    plain = z.detach()
    side.wait_stream(ng.cuda.current_stream())
    np.testing.assert_array_equal(plain.to_device("cpu", stream=side).numpy(), (X * X).sum())
    (gradient,) = ng.grad(z, x)
    close(gradient, 2 * X)
    for stream in (side, 1):
        with pytest.raises(ValueError, match="nothing is on a GPU"):
            x.to_device("cpu", stream=stream)


# Backward passes ------------------------------------------------------------------------------


def forward(x, side):
    """Compute a part on another stream, as PyTorch's documentation does."""
    side.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(side):
        y = ng.sin(x) * x
    ng.cuda.current_stream().wait_stream(side)
    return ng.exp(y) + x


EXPECTED = np.exp(np.sin(X) * X) * (np.sin(X) + X * np.cos(X)) + 1


def test_derivatives_are_computed_on_the_streams_of_their_operations(side):
    x = on_device()
    y = forward(x, side).sum()
    (gradient,), found = launches(lambda: ng.grad(y, x))
    close(gradient, EXPECTED)
    here, there = ng.cuda.default_stream().handle.number, side.handle.number
    # exp's; those of y, and the sum at x of what is there already; sin's, and the sum of the rest
    assert [number for _, number in found] == [here, there, there, here, there, there, here]


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("caller", ["default", "side", "third"])
def test_a_pass_is_one_operation_of_its_caller(caller, times, side):
    third = ng.cuda.Stream()
    stream = {"default": ng.cuda.default_stream(), "side": side, "third": third}[caller]
    for _ in range(times):
        x = on_device()
        y = forward(x, side).sum()
        stream.wait_stream(ng.cuda.current_stream())
        with ng.cuda.stream(stream):
            y.backward(retain_graph=True)  # the seed is made here: nothing else has to wait
            x.grad * 2  # and so is what follows
            (gradient,) = ng.grad(y, x)
        ng.cuda.current_stream().wait_stream(stream)
        close(x.grad, EXPECTED)
        close(gradient, EXPECTED)


def test_who_uses_gradients_on_another_stream_has_to_wait(side):
    x = on_device()
    y = (x * x).sum()
    side.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(side):
        (gradient,) = ng.grad(y, x)
        gradient + 1
    with pytest.raises(OrderError):
        gradient + 1


def test_a_seed_of_another_stream_has_to_be_waited_for(side):
    x = on_device()
    y = forward(x, side)
    third = ng.cuda.Stream()
    with ng.cuda.stream(third):
        seed = ng.ones((2, 3), device="cuda")
    with pytest.raises(OrderError):
        ng.grad(y, x, seed, retain_graph=True)
    ng.cuda.current_stream().wait_stream(third)
    (gradient,) = ng.grad(y, x, seed)
    close(gradient, EXPECTED)


def test_batched_passes_hooks_and_second_derivatives(side):
    x = on_device()
    side.wait_stream(ng.cuda.current_stream())
    seen = []
    with ng.cuda.stream(side):
        y = ng.sin(x)
        y.register_hook(lambda g: seen.append(ng.cuda.current_stream()) or g * 2)
    ng.cuda.current_stream().wait_stream(side)
    z = (y * x).sum()
    (first,) = ng.grad(z, x, create_graph=True)
    close(first, 2 * X * np.cos(X) + np.sin(X))
    (second,) = ng.grad(first.sum(), x, retain_graph=True)
    assert set(seen) == {side}
    close(second, 4 * np.cos(X) - 2 * X * np.sin(X))  # the hook doubles what arrives at y again
    rows = ng.tensor([1.0, 2.0], device="cuda")
    (batched,) = ng.grad(z, x, rows, is_grads_batched=True)
    close(batched, np.stack([k * (2 * X * np.cos(X) + np.sin(X)) for k in (1, 2)]))


def test_functions_of_users_run_on_the_stream_of_their_call(side):
    seen = []

    class Square(ng.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            seen.append(ng.cuda.current_stream())
            return 2 * g * ctx.saved_tensors[0]

    x = on_device()
    side.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(side):
        y = Square.apply(x)
    ng.cuda.current_stream().wait_stream(side)
    (gradient,) = ng.grad((y * y).sum(), x)
    close(gradient, 4 * X**3)
    assert seen == [side]


def test_captured_functions_run_on_the_stream_of_their_caller(side):
    function = ng.jit(lambda x: ng.sin(x) * x)
    x = on_device(False)
    expected = np.sin(X) * X
    close(function(x), expected)
    side.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(side):
        y, found = launches(lambda: function(x))
        assert {number for _, number in found} == {side.handle.number}
        close(y, expected)
    inner = ng.cuda.Stream()

    @ng.jit
    def with_a_block(x):
        with ng.cuda.stream(inner):
            y = ng.sin(x)
        return y * x

    for _ in range(3):
        y, found = launches(lambda: with_a_block(x))
        assert dict(found)["sin"] == inner.handle.number
        close(y, expected)


def test_constants_of_programs_are_there_on_every_stream(side):
    table = np.linspace(0.5, 1.5, 6).reshape(2, 3)
    function = ng.jit(lambda x: ng.sin(x) * table)
    function(on_device(False))  # where the table is copied to the device
    fresh = ng.cuda.Stream()  # knows of nothing that the others have done
    with ng.cuda.stream(fresh):
        close(function(on_device(False)), np.sin(X) * table)


# Memory ---------------------------------------------------------------------------------------


def test_memory_is_given_back_when_other_streams_have_read_it(side):
    x = on_device(False)
    side.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(side):
        y = x * 2
    del x  # its memory was made by the default stream, which does not wait by itself
    ng.cuda.current_stream().wait_stream(side)
    close(y, 2 * X)


def test_figures():
    before = ng.cuda.memory_allocated()
    ng.cuda.reset_peak_memory_stats()
    x = ng.zeros(1000, device="cuda")
    assert ng.cuda.memory_allocated() == before + 8000
    y = x + x
    assert ng.cuda.memory_allocated() == before + 16000
    del x, y
    assert ng.cuda.memory_allocated() == before
    assert ng.cuda.max_memory_allocated() >= before + 16000
    free, total = ng.cuda.mem_get_info()
    assert 0 < free <= total


# Faults that are put in: each is seen ----------------------------------------------------------


def _pass(side):
    x = on_device()
    y = forward(x, side).sum()
    (gradient,) = ng.grad(y, x)
    return gradient * 1


def test_a_missing_wait_for_a_producer_is_seen(side, monkeypatch):
    assign_lanes = bound_program.assign_lanes
    monkeypatch.setattr(
        bound_program,
        "assign_lanes",
        lambda *args: [lane._replace(waits=()) for lane in assign_lanes(*args)],
    )
    with pytest.raises(OrderError):
        _pass(side)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("which", ["at the beginning", "at the end"])
def test_a_missing_wait_for_the_caller_is_seen(which, side, monkeypatch):
    wait = ng.cuda.Stream.wait_stream
    default = ng.cuda.default_stream()
    x = on_device()
    side.wait_stream(default)
    with ng.cuda.stream(side):
        y = ng.sin(x).sum()
    waiting = side if which == "at the beginning" else default
    monkeypatch.setattr(
        ng.cuda.Stream, "wait_stream",
        lambda self, other: None if self is waiting else wait(self, other),
    )  # fmt: skip
    seed = ng.tensor(1.0, device="cuda")
    with pytest.raises(OrderError):
        ng.grad(y, x, seed)[0] * 1


def test_memory_that_is_given_back_too_early_is_seen(side, monkeypatch):
    monkeypatch.setattr(memory.Memory, "used_by", lambda self, stream: self.block)
    x = on_device(False)
    side.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(side):
        y = x * 2
    with pytest.raises(OrderError, match="giving back"):
        x.array.memory.give_back()
    del y


# Random programs on random streams ---------------------------------------------------------------


def _random_program(rng, x, enter, join):
    """Compute with random operators; ``enter(n)`` chooses one of three streams, where all that was
    made before may be used, and ``join()`` the one where the pass begins."""
    values = [x, ng.sin(x)]
    join()
    for _ in range(rng.integers(4, 10)):
        a, b = (values[rng.integers(len(values))] for _ in range(2))
        kind = rng.integers(6)
        with enter(rng.integers(3)):
            if kind == 0:
                made = a * b
            elif kind == 1:
                made = ng.tanh(a) + b[::-1]
            elif kind == 2:
                made = (a @ b.T) @ a
            elif kind == 3:
                made = ng.exp(-a * a).sum(axis=0) * b
            elif kind == 4:
                made = ng.concatenate([a[:1], b[1:]])
            else:
                made = a + 0.0
                made[0] = b[1]
                made *= 0.5
        values.append(made)
        del made, a, b
        if rng.integers(3) == 0:  # memory is given back while others may read it
            values.pop(rng.integers(len(values) - 1))
    join()
    total = values[0].sum()
    for value in values[1:]:
        total = total + (value * value).sum()
    return total


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_on_random_streams(seed):
    streams = [ng.cuda.current_stream(), ng.cuda.Stream(), ng.cuda.Stream()]

    def enter(number):
        for other in streams:
            streams[number].wait_stream(other)
        return ng.cuda.stream(streams[number])

    def join():
        for other in streams:
            streams[0].wait_stream(other)

    x, y = on_device(), ng.tensor(X, requires_grad=True)
    there = _random_program(np.random.default_rng(seed), x, enter, join)
    here = _random_program(np.random.default_rng(seed), y, lambda n: nullcontext(), lambda: None)
    with enter(seed % 3):
        (first,) = ng.grad(there, x, create_graph=True)
        (second,) = ng.grad((first * first).sum(), x)
        pairs = [(found.detach().cpu().numpy(), found) for found in (there, first, second)]
    (expected,) = ng.grad(here, y, create_graph=True)
    (twice,) = ng.grad((expected * expected).sum(), y)
    for (found, _), wanted in zip(pairs, (here, expected, twice), strict=True):
        np.testing.assert_allclose(found, wanted.detach().numpy(), 1e-9, 1e-12)


def test_a_captured_function_that_is_first_called_on_a_stream(side):
    """What it makes for later calls is made there, and is waited for on other streams."""
    gradient = ng.jit(ng.func.grad(lambda v: (ng.sin(v) * v).sum()))
    other = ng.cuda.Stream()
    for stream in (side, other, ng.cuda.default_stream(), side, other):
        with ng.cuda.stream(stream):
            found, launched = launches(lambda: gradient(on_device(False)))
            close(found, np.sin(X) + X * np.cos(X))
            assert {number for _, number in launched} == {stream.handle.number}


def test_a_mapped_function_on_a_stream_is_launched_as_on_the_default_one(side):
    function = ng.func.vmap(lambda row: ng.sin(row) * row)
    _, expected = launches(lambda: function(on_device(False)))
    with ng.cuda.stream(side):
        x = on_device(False)
        _, found = launches(lambda: function(x))
    assert [name for name, _ in found] == [name for name, _ in expected]
    assert {number for _, number in found} == {side.handle.number}
