"""Work of a chosen stream that comes again is launched without Python too, by entries for that
stream; memory of other streams notes that the stream uses it."""

import gc

import numpy as np
import pytest

import numgrad as ng

from ..conftest import HOSTED
from .test_entries import OPERATIONS, TIMES, X, Y, driver, on_device, python_launches  # noqa: F401

only_hosted = pytest.mark.skipif(not HOSTED, reason="needs NUMGRAD_TEST_DRIVER=hosted")


@pytest.fixture
def side():
    """A stream that may use what the default stream has made so far."""
    made = ng.cuda.Stream()
    made.wait_stream(ng.cuda.default_stream())
    return made


@only_hosted
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("is_made_here", [True, False])
def test_eager_operations_of_a_stream(name, is_made_here, side, python_launches, driver):  # noqa: F811
    operation = OPERATIONS[name]
    expected = operation(ng, ng.tensor(X), ng.tensor(Y)).numpy()
    operands = None if is_made_here else (on_device(X), on_device(Y))
    side.wait_stream(ng.cuda.default_stream())
    with ng.cuda.stream(side):
        x, y = operands or (on_device(X), on_device(Y))
        for _ in range(6):
            operation(ng, x, y)
        del python_launches[:], driver.host.streams[:]
        found = operation(ng, x, y)
        assert not python_launches
        assert set(driver.host.streams) == {side.cuda_stream}
        np.testing.assert_allclose(found.cpu().numpy(), expected, 1e-13, 1e-13)
    assert found.array.memory.stream is side
    if not is_made_here:
        assert x.array.memory.users == {side}


def test_streams_in_turns_have_their_own_results(side):
    default = ng.cuda.default_stream()
    streams = [default, side, ng.cuda.Stream()]
    function = ng.jit(lambda x, y: ng.sin(x * y) + x - 2.5, fuse="now")
    for k in range(TIMES):
        stream = streams[k % 7 % 3]
        for other in streams:
            stream.wait_stream(other)
        with ng.cuda.stream(stream):
            x, y = on_device(X + k), on_device(Y)
            for found, expected in (
                (x * y, (X + k) * Y), (function(x, y), np.sin((X + k) * Y) + X + k - 2.5),
                (x[1:].sum(), (X + k)[1:].sum()),
            ):  # fmt: skip
                np.testing.assert_allclose(found.cpu().numpy(), expected, 1e-12)


def test_recorded_operations_note_the_stream(side):
    with ng.cuda.stream(side):
        for k in range(TIMES):
            x = on_device(X + k, requires_grad=True)
            y = ng.sin(x) * x[0]
            assert y.node.stream is side
            z = y.sum()
            assert z.node.stream is side
    (gradient,) = ng.grad(z, x)
    expected = np.cos(X + k) * (X + k)[0]
    expected[0] += np.sin(X + k).sum(axis=0)
    np.testing.assert_allclose(gradient.cpu().numpy(), expected, 1e-12)


@only_hosted
def test_captured_functions_of_a_stream(side, python_launches, driver):  # noqa: F811
    """Wherever the function was captured; numbers in it are constants of the program."""
    for first in (ng.cuda.default_stream(), side):
        function = ng.jit(lambda x: ng.sin(x) * 3.0 + 2.5 * x, fuse="now")
        for stream in (first, side, ng.cuda.default_stream(), side):
            with ng.cuda.stream(stream):
                x = on_device(X)
                for _ in range(4):
                    function(x)
                del python_launches[:], driver.host.streams[:]
                found = function(x)
                assert not python_launches
                assert driver.host.streams == [stream.cuda_stream or None]
                np.testing.assert_allclose(found.cpu().numpy(), np.sin(X) * 3.0 + 2.5 * X, 1e-12)


@only_hosted
def test_a_block_waits_for_the_entries_of_other_streams(side, driver, monkeypatch):  # noqa: F811
    waits, wait = [], driver.wait
    monkeypatch.setattr(driver, "wait", lambda *args: (waits.append(args), wait(*args)))
    with ng.cuda.stream(side):
        y = on_device(Y)
        for _ in range(4):
            y * y
    x = on_device(X)
    side.wait_stream(ng.cuda.default_stream())
    with ng.cuda.stream(side):
        for _ in range(4):
            x * y
    del waits[:]
    del x
    assert len(waits) == 1


def test_entries_of_streams_keep_no_program_alive(side):
    gc.collect()
    gc.disable()
    try:
        before = ng.cuda.memory_allocated()
        for _ in range(3):
            table = np.full((4, 3), 3.0)
            function = ng.jit(lambda x, table=table: x * table + ng.sin(x))
            with ng.cuda.stream(side):
                x = on_device(X, requires_grad=True)
                for _ in range(4):
                    ng.grad(function(x).sum(), x)
            del x, function
        gc.collect()
        assert ng.cuda.memory_allocated() <= before + 4 * X.nbytes
    finally:
        gc.enable()


def test_more_streams_than_entries_are_kept_for():
    function = ng.jit(lambda x: ng.sin(x) * x)
    for k in range(40):
        with ng.cuda.stream(ng.cuda.Stream()):
            x = on_device(X + k)
            for _ in range(3):
                found, expected = function(x).cpu().numpy(), np.sin(X + k) * (X + k)
                np.testing.assert_allclose(found, expected, 1e-12)
                np.testing.assert_allclose((x * x).cpu().numpy(), (X + k) ** 2, 1e-12)


@pytest.mark.parametrize("requires_grad", [True, False])
def test_positions_of_the_host_are_read_again_and_again(requires_grad):
    """They are an operand that is on the processor, and no number."""
    for k in range(TIMES):
        x = on_device(X + k, requires_grad)
        places = [1, k % 3]
        np.testing.assert_array_equal(x[places].detach().cpu().numpy(), (X + k)[places])
