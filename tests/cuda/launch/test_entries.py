"""Operations that run again and again are launched without Python: the same numbers, on the same
streams, and anything unusual goes the way that it went before."""

import gc
import threading
import weakref

import numpy as np
import pytest

import numgrad as ng

from ..conftest import HOSTED

RNG = np.random.default_rng(5)
X, Y = RNG.standard_normal((2, 4, 3))
TIMES = 130  # plans get recorders after 100 uses, entries come before

only_hosted = pytest.mark.skipif(not HOSTED, reason="needs NUMGRAD_TEST_DRIVER=hosted")


def on_device(array, requires_grad=False):
    return ng.tensor(array, device="cuda", requires_grad=requires_grad)


@pytest.fixture
def driver():
    return ng.cuda.current_stream()._runtime.driver


@pytest.fixture
def python_launches(driver, monkeypatch):
    """The launches that Python has made."""
    found, launch = [], driver.launch
    monkeypatch.setattr(driver, "launch", lambda *args: (found.append(args), launch(*args)))
    return found


OPERATIONS = {
    "two arrays": lambda np, x, y: x * y,
    "an array with itself": lambda np, x, y: x * x,
    "a number behind": lambda np, x, y: x + 1,
    "a number in front": lambda np, x, y: 2.5 - x,
    "minus zero": lambda np, x, y: x * -0.0,
    "turned": lambda np, x, y: x.T * y.T,
    "backwards": lambda np, x, y: x[::-1] - y,
    "every other": lambda np, x, y: x[:, ::2] / y[:, 1:],
    "broadcast": lambda np, x, y: x * y[0],
    "one row": lambda np, x, y: x[1] + y[2],
    "a function": lambda np, x, y: np.sin(x),
    "a sum": lambda np, x, y: x.sum(),
    "sums of rows": lambda np, x, y: x.sum(axis=1),
    "a product": lambda np, x, y: x @ y.T,
    "a choice": lambda np, x, y: np.where(x > y, x, y),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_eager_operations_are_those_of_the_processor(name):
    operation = OPERATIONS[name]
    for k in range(6):
        x, y = X + k, Y * (k + 1)
        expected = operation(ng, ng.tensor(x), ng.tensor(y)).numpy()
        found = operation(ng, on_device(x), on_device(y)).cpu().numpy()
        np.testing.assert_allclose(found, expected, 1e-13, 1e-13)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@only_hosted
@pytest.mark.parametrize("name", OPERATIONS)
def test_eager_operations_are_launched_without_python(name, python_launches):
    operation, x, y = OPERATIONS[name], on_device(X), on_device(Y)
    for _ in range(4):
        operation(ng, x, y)
    before = len(python_launches)
    operation(ng, x, y)
    assert len(python_launches) == before


def test_recorded_operations_have_their_derivatives():
    x, y = on_device(X, True), on_device(Y, True)
    here = ng.tensor(X, requires_grad=True), ng.tensor(Y, requires_grad=True)

    def function(x, y):
        return (ng.sin(x * y) * x[::-1] + 0.5 * y).sum()

    expected = [g.numpy() for g in ng.grad(function(*here), here)]
    for _ in range(TIMES):
        found = ng.grad(function(x, y), (x, y))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one.cpu().numpy(), other, 1e-13)


def test_a_recorded_operation_reads_what_was_there():
    x = on_device(X, True)
    y = on_device(Y)
    for k in range(TIMES):
        y[...] = Y + k
        z = (x * y).sum()
        y[...] = 0.0
        if k % 10 == 9:  # a pass sees that a saved value was written
            (gradient,) = ng.grad(z, x)
            np.testing.assert_allclose(gradient.cpu().numpy(), Y + k, 1e-13)


def test_views_of_a_device():
    x = on_device(X, True)
    for _ in range(TIMES):
        rows = x[1:]
    np.testing.assert_array_equal(rows.detach().cpu().numpy(), X[1:])
    (gradient,) = ng.grad((rows * rows).sum(), x)
    np.testing.assert_allclose(gradient.cpu().numpy(), np.concatenate([0 * X[:1], 2 * X[1:]]))


def test_arrays_that_were_replaced_are_refused():
    x, y = on_device(X), on_device(Y)
    for _ in range(TIMES):
        x * y
    for array in (on_device(X[:2]).array, on_device(X.astype(np.float32)).array, X[:2]):
        changed = on_device(X)
        changed.array = array
        with pytest.raises(ng.errors.NumgradError, match="has been replaced by an array"):
            changed * y


# Captured functions -------------------------------------------------------------------------------


def test_captured_functions_with_numbers():
    function = ng.jit(lambda x, step, count: (ng.sin(x) * step + x) * count, fuse="now")
    x = on_device(X)
    for step in (0.1, 0.1, -0.0, 0.0, np.float64(0.3), np.float32(0.3), float("nan")):
        for count in (1, 2, 3, 3, -7, 10**6):
            found = function(x, step, count).cpu().numpy()
            expected = (np.sin(X) * step + X) * count
            np.testing.assert_allclose(found, expected, 1e-6 if step == np.float32(0.3) else 1e-13)


def test_a_captured_function_of_numbers_takes_no_other_types():
    function = ng.jit(lambda x, number: x * number)
    x = on_device(X)
    for number in (2, 2, 2.5, 2.5, True, 1 + 2j, 1 + 2j, np.int32(3), np.int32(3), 2):
        np.testing.assert_allclose(function(x, number).cpu().numpy(), X * number, 1e-13)


@pytest.mark.parametrize("fuse", ["now", "never", "auto"])
def test_captured_functions_of_any_layout(fuse):
    @ng.jit(fuse=fuse)
    def function(pair):
        return {"sum": pair["a"] + pair["b"], "sin": ng.sin(pair["a"])}

    layouts = [lambda x: x, lambda x: x[::-1], lambda x: x[:, ::-1], lambda x: x.T.copy().T]
    for k in range(4):
        for turn in layouts:
            x, y = X + k, Y - k
            found = function({"a": turn(on_device(x)), "b": on_device(y)})
            turned = turn(x)
            np.testing.assert_allclose(found["sum"].cpu().numpy(), turned + y, 1e-13)
            np.testing.assert_allclose(found["sin"].cpu().numpy(), np.sin(turned), 1e-13)


def test_results_of_captured_functions_are_their_own():
    function = ng.jit(lambda x: (x, x + 1, x + 1), fuse="now")
    x = on_device(X)
    kept = [function(x) for _ in range(5)]
    memories = [result.array.memory for results in kept for result in results]
    assert len({id(memory) for memory in [*memories, x.array.memory]}) == 16
    for results in kept:
        for result, expected in zip(results, (X, X + 1, X + 1), strict=True):
            np.testing.assert_array_equal(result.cpu().numpy(), expected)


def test_captured_functions_read_what_they_close_over():
    weights = on_device(Y)
    function = ng.jit(lambda x: x * weights)
    without_tensors = ng.jit(lambda: weights + 1)
    for k in range(5):
        weights[...] = Y + k
        np.testing.assert_allclose(function(on_device(X)).cpu().numpy(), X * (Y + k), 1e-13)
        found = without_tensors()
        assert isinstance(found, type(weights))
        np.testing.assert_allclose(found.cpu().numpy(), Y + k + 1, 1e-13)


def test_captured_functions_are_recorded():
    function = ng.jit(lambda x, y: (ng.tanh(x) * y).sum())
    for k in range(5):
        x, y = on_device(X + k, True), on_device(Y)
        (gradient,) = ng.grad(function(x, y), x)
        np.testing.assert_allclose(gradient.cpu().numpy(), Y / np.cosh(X + k) ** 2, 1e-12)
        with ng.no_grad():
            assert not function(x, y).requires_grad


@only_hosted
def test_captured_functions_are_launched_without_python(python_launches):
    function = ng.jit(lambda x, y: (ng.sin(x * y) + x, x.sum()), fuse="now")
    x, y = on_device(X), on_device(Y)
    for _ in range(3):
        function(x, y)
    before = len(python_launches)
    found, total = function(x, y)
    with ng.no_grad():  # another entry, as the mode is another one
        function(x, y)
        after = len(python_launches)
        function(x, y)
    assert len(python_launches) == after
    assert after - before <= 4
    np.testing.assert_allclose(found.cpu().numpy(), np.sin(X * Y) + X, 1e-13)
    np.testing.assert_allclose(total.item(), X.sum(), 1e-13)


# Streams and threads ------------------------------------------------------------------------------


@only_hosted
def test_work_is_given_to_the_stream_that_was_chosen(driver):
    function = ng.jit(lambda x, y: ng.sin(x * y) + x, fuse="now")
    x, y = on_device(X), on_device(Y)
    default, side = ng.cuda.current_stream(), ng.cuda.Stream()
    used = driver.host.streams
    for n in range(TIMES):
        stream = side if n % 3 == 0 else default
        del used[:]
        side.wait_stream(default)
        with ng.cuda.stream(stream):
            found = function(x, y) * y
        default.wait_stream(side)
        assert used
        assert set(used) == {stream.cuda_stream}
        assert found.array.memory.stream is stream
        again = found + 1  # where work of another stream has made it
        assert used[-1] == default.cuda_stream
        np.testing.assert_allclose(again.cpu().numpy(), (np.sin(X * Y) + X) * Y + 1, 1e-13)


@only_hosted
def test_a_stream_of_another_thread_changes_nothing_here(driver):
    x, y = on_device(X), on_device(Y)
    for _ in range(TIMES):
        x * y
    side, begun, done = ng.cuda.Stream(), threading.Event(), threading.Event()

    def work():
        with ng.cuda.stream(side):
            begun.set()
            done.wait(60)

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait(60)
    del driver.host.streams[:]
    found = x * y
    done.set()
    thread.join()
    assert driver.host.streams == [ng.cuda.current_stream().cuda_stream]
    np.testing.assert_array_equal(found.cpu().numpy(), X * Y)


def test_threads_have_numbers_of_their_own():
    function = ng.jit(lambda x, y, n: ng.sin(x * y) + x * n, fuse="now")
    y, wrong = on_device(Y), []
    function(on_device(X), y, 1.0)

    def work(k):
        x = on_device(X + k, True)
        for n in range(40):
            found = (function(x, y, float(n)) * y + 1).sum()
            (gradient,) = ng.grad(found, x)
            expected = (np.cos((X + k) * Y) * Y + n) * Y
            if not np.allclose(gradient.cpu().numpy(), expected, 1e-12):
                wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@only_hosted
def test_a_thread_without_a_context_gets_one(driver):
    x, y = on_device(X), on_device(Y)
    for _ in range(TIMES):
        x * y
    found = []
    thread = threading.Thread(target=lambda: found.append(x * y))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(found[0].cpu().numpy(), X * Y)


@only_hosted
def test_other_threads_run_while_the_driver_waits(driver):
    library = driver.host.library
    x, y = on_device(X), on_device(Y)
    for _ in range(TIMES):
        x * y
    library.hosted_block(1)
    thread = threading.Thread(target=lambda: x * y)
    thread.start()
    while not (library.hosted_is_waiting() or library.hosted_was_overdue()):
        pass
    library.hosted_block(0)  # too late, if the launch keeps the lock of the interpreter
    thread.join()
    assert not library.hosted_was_overdue()


@only_hosted
def test_a_launch_that_fails_is_an_error_and_the_next_one_is_right(driver, monkeypatch):
    function = ng.jit(lambda x, y: ng.sin(x * y) + x, fuse="now")
    x, y = on_device(X), on_device(Y)
    for _ in range(TIMES):
        x * y
        function(x, y)
    calls = [lambda: x * y, lambda: function(x, y)]
    expected = [X * Y, np.sin(X * Y) + X]
    with monkeypatch.context() as patch:
        patch.setattr(driver.host, "kernels", {})
        for call in calls:
            with pytest.raises(KeyError):
                call()
    for call, right in zip(calls, expected, strict=True):
        np.testing.assert_allclose(call().cpu().numpy(), right, 1e-13)


# Memory -------------------------------------------------------------------------------------------


def test_memory_is_counted_as_it_is_used():
    x, y = on_device(X), on_device(Y)
    for _ in range(TIMES):
        x * y
    gc.collect()
    before = ng.cuda.memory_allocated()
    kept = [x * y for _ in range(5)]
    assert ng.cuda.memory_allocated() - before == 5 * X.nbytes
    ng.cuda.reset_peak_memory_stats()
    del kept[2:]
    assert ng.cuda.memory_allocated() - before == 2 * X.nbytes
    assert ng.cuda.max_memory_allocated() - before == 5 * X.nbytes
    ng.cuda.reset_peak_memory_stats()
    kept += [x * y for _ in range(4)]
    assert ng.cuda.max_memory_allocated() - before == 6 * X.nbytes


def test_compiled_code_makes_arrays_and_their_memory(driver, monkeypatch):
    from numgrad.targets.cuda.device.small_blocks import SmallBlocks
    from numgrad.targets.cuda.launch.entry import empty_of

    target = on_device(X).array.target
    runtime = target.runtime
    monkeypatch.setattr(driver, "launch_address", 1, raising=False)  # nothing is launched
    monkeypatch.setattr(runtime, "small", SmallBlocks(runtime.usage))
    make = empty_of(target, (2, 3), np.dtype(float))
    gc.collect()
    before = ng.cuda.memory_allocated()
    block = None
    for _ in range(5):
        array = make()
        memory = array.memory
        assert (array.shape, array.strides, array.dtype) == ((2, 3), (24, 8), np.dtype(float))
        assert (array.offset, array.base, array.writeable) == (0, None, True)
        assert array.c_contiguous
        assert array.target is target
        assert (memory.nbytes, memory.stream, memory.users) == (48, runtime.default, None)
        assert block in (None, memory.block)  # the block that was kept is taken
        assert ng.cuda.memory_allocated() == before + 48
        assert runtime.small.kept == 0
        block = memory.block
        watched = weakref.ref(array), weakref.ref(memory)
        del array, memory
        assert [watch() for watch in watched] == [None, None]
        assert runtime.small.kept == 512
        assert ng.cuda.memory_allocated() == before
    assert make().memory is not make().memory
    with ng.cuda.stream(ng.cuda.Stream()):
        assert make() is None
    runtime.forget_blocks()


@only_hosted
def test_kept_blocks_are_bounded(driver, monkeypatch):
    from numgrad.targets.cuda.device import small_blocks

    runtime = ng.cuda.current_stream()._runtime
    runtime.forget_blocks()
    assert not runtime.small.kept
    monkeypatch.setattr(small_blocks, "MOST_KEPT", 2048)
    blocks = driver.host.library.hosted_blocks
    gc.collect()
    before = blocks()
    memories = [runtime.allocate(500) for _ in range(9)]
    assert blocks() == before + 9
    del memories
    assert runtime.small.kept == 2048
    assert blocks() == before + 4
    assert runtime.forget_blocks()
    assert (blocks(), runtime.small.kept) == (before, 0)


@only_hosted
def test_without_memory_kept_blocks_are_given_back(driver, monkeypatch):
    runtime = ng.cuda.current_stream()._runtime
    runtime.allocate(500).give_back()
    assert runtime.small.kept
    allocate, given = driver.allocate, []

    def scarce(nbytes, stream):
        given.append(nbytes)
        if runtime.small.kept:
            raise MemoryError
        return allocate(nbytes, stream)

    monkeypatch.setattr(driver, "allocate", scarce)
    runtime.allocate(2 << 20)
    assert given == [2 << 20] * 2


@only_hosted
def test_blocks_of_other_streams_are_not_kept(driver):
    runtime, side = ng.cuda.current_stream()._runtime, ng.cuda.Stream()
    runtime.forget_blocks()
    runtime.allocate(500, side).give_back()
    runtime.allocate(2 << 20).give_back()
    assert not runtime.small.kept
