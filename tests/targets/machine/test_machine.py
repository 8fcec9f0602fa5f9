"""The machine against NumPy, on small programs encoded by hand."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from numba import types

from numgrad._settings import settings
from numgrad.targets.cpu import CPUTarget
from numgrad.targets.cpu.compile import compiler
from numgrad.targets.cpu.compile.intrinsics import KERNEL_ARGS, load, load_word, store, store_word
from numgrad.targets.cpu.machine import machine
from numgrad.targets.cpu.platform import threads

TARGET = CPUTarget()


def multiply(ptrs, n, core_dims, steps, status):
    a, b, out = load_word(ptrs, 0), load_word(ptrs, 1), load_word(ptrs, 2)
    for i in range(n):
        product = load(a + i * load_word(steps, 0), types.float64) * load(
            b + i * load_word(steps, 1), types.float64
        )
        store(out + i * load_word(steps, 2), product)


def total(ptrs, n, core_dims, steps, status):
    """The gufunc (m)->(): its core size and core stride come after the loop's."""
    x, out = load_word(ptrs, 0), load_word(ptrs, 1)
    for i in range(n):
        s = 0.0
        for j in range(load_word(core_dims, 0)):
            s += load(x + i * load_word(steps, 0) + j * load_word(steps, 2), types.float64)
        store(out + i * load_word(steps, 1), s)


def refuse_negative(ptrs, n, core_dims, steps, status):
    for i in range(n):
        if load(load_word(ptrs, 0) + i * load_word(steps, 0), types.float64) < 0:
            store_word(status, 0, 1 + i)
            return


def kernel(function):
    return compiler.load_or_compile(function, KERNEL_ARGS)


def shared(array, row_stride=0):
    return (1, array.__array_interface__["data"][0], row_stride)


def scratch(offset):
    return (0, offset, 0)


def instruction(
    function, operands, counts, strides, row_dim=-1, core_sizes=(), core_strides=(), work=0
):
    """Encode one instruction; `strides` holds a row for each loop dimension, the inner one last."""
    *outer, inner = strides
    head = [kernel(function), len(operands), len(counts), row_dim, len(core_sizes)]
    head += [len(core_strides), work or int(np.prod(counts)), 0]
    parts = [head, *operands, counts, core_sizes, *outer, inner, core_strides]
    return np.concatenate([np.asarray(part, np.int64) for part in parts])


def program(*instructions):
    sizes = [len(words) for words in instructions]
    return np.concatenate(instructions), np.cumsum([0, *sizes[:-1]])


def bind(encoded, rows=1, tile=1, arena=0, parallel=False, first=0, last=None, uses_blas=False):
    code, starts = encoded
    last = len(starts) if last is None else last
    part = (first, last, rows, tile, arena, parallel)
    return machine.Runner(code, starts, [part], uses_blas=uses_blas)


def run(encoded, rows=1, tile=1, arena=0, parallel=False, **options):
    return bind(encoded, rows, tile, arena, parallel, **options)()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def thread_count():
    """Restore the number of threads that a test sets."""
    before = settings.threads
    yield
    settings.threads = before


def square_of_product(a, b, c):
    """c = (a * b)**2 with a scratch buffer of a tile's rows between the two instructions."""
    n, step = a.shape[1], 8
    return program(
        instruction(
            multiply,
            [shared(a, n * step), shared(b), scratch(0)],
            [1, n],
            [[n * step, 0, n * step], [step] * 3],
            row_dim=0,
        ),
        instruction(
            multiply, [scratch(0), scratch(0), shared(c, n * step)], [n], [[step] * 3], row_dim=0
        ),
    )


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("tile", [1, 7, 16, 100, 1000])
def test_every_tile_size_and_both_twins_give_the_bits_of_numpy(rng, tile, parallel):
    a, b, c = rng.random((100, 33)), rng.random(33), np.zeros((100, 33))
    encoded = square_of_product(a, b, c)
    assert run(encoded, 100, tile, tile * 33 * 8, parallel) is None
    np.testing.assert_array_equal(c, (a * b) ** 2)


@pytest.mark.parametrize("n", [1, 2])
def test_number_of_threads_does_not_change_bits(rng, n):
    if n > threads.config.NUMBA_NUM_THREADS:
        pytest.skip("one thread only")
    TARGET.set_num_threads(n)
    a, b, c = rng.random((64, 10)), rng.random(10), np.zeros((64, 10))
    assert run(square_of_product(a, b, c), 64, 4, 4 * 80, parallel=True) is None
    np.testing.assert_array_equal(c, (a * b) ** 2)


def test_three_loop_dimensions_with_any_strides(rng):
    a = rng.random((4, 6, 5))[::-1, ::2]
    b = rng.random((5, 3)).T
    out = np.zeros((5, 4, 3)).transpose(1, 2, 0)
    strides = np.array([a.strides, (0, *b.strides), out.strides]).T
    encoded = program(
        instruction(multiply, [shared(a), shared(b), shared(out)], list(a.shape), strides)
    )
    assert run(encoded) is None
    np.testing.assert_array_equal(out, a * b)


def test_rows_in_an_inner_dimension(rng):
    """The row axis is in the middle: 2 x rows x 3, where each row holds one middle index."""
    a, out = rng.random((2, 10, 3)), np.zeros((2, 10, 3))
    strides = np.array([a.strides] * 3).T
    operands = [shared(a, a.strides[1]), shared(a, a.strides[1]), shared(out, a.strides[1])]
    encoded = program(instruction(multiply, operands, [2, 1, 3], strides, row_dim=1))
    assert run(encoded, rows=10, tile=4) is None
    np.testing.assert_array_equal(out, a * a)


def test_core_sizes_and_core_strides_reach_the_kernel(rng):
    x, out = rng.random((7, 4, 3)), np.zeros((7, 3))
    encoded = program(
        instruction(
            total,
            [shared(x, x.strides[0]), shared(out, out.strides[0])],
            [1, 3],
            [[x.strides[0], out.strides[0]], [x.strides[2], out.strides[1]]],
            row_dim=0,
            core_sizes=[4],
            core_strides=[x.strides[1]],
        )
    )
    assert run(encoded, rows=7, tile=2) is None
    np.testing.assert_allclose(out, x.sum(axis=1), rtol=1e-15)


@pytest.mark.parametrize("counts", [[0, 3], [3, 0]])
def test_empty_loops_call_nothing(counts):
    x = np.full(9, -1.0)
    encoded = program(instruction(refuse_negative, [shared(x)], counts, [[8], [8]]))
    assert run(encoded) is None


@pytest.mark.parametrize(("rows", "first", "last"), [(0, 0, None), (5, 1, 1), (5, 2, None)])
def test_nothing_to_run(rows, first, last):
    x = np.full(9, -1.0)
    failing = instruction(refuse_negative, [shared(x)], [9], [[8]])
    assert run(program(failing, failing), rows, 2, first=first, last=last) is None


def test_first_and_last_choose_instructions():
    x, y, z = np.full(3, 3.0), np.zeros(3), np.zeros(3)
    parts = [
        instruction(multiply, [shared(x), shared(x), shared(out)], [3], [[8] * 3]) for out in (y, z)
    ]
    assert run(program(*parts), first=1) is None
    assert (y[0], z[0]) == (0.0, 9.0)
    assert run(program(*parts), last=1) is None
    assert y[0] == 9.0


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("budget", [1, 1000, 10**9])
def test_first_failure_is_located(parallel, budget, monkeypatch):
    monkeypatch.setattr(machine, "_FIRST_BUDGET", budget)
    x = np.ones((50, 4, 6))
    x[[20, 33, 41], 2, 5] = -1.0
    ok = np.ones(1)
    encoded = program(
        instruction(refuse_negative, [shared(ok)], [1], [[8]]),
        instruction(refuse_negative, [shared(x, 192)], [1, 4, 6], [[192], [48], [8]], row_dim=0),
    )
    failure = run(encoded, 50, 3, parallel=parallel)
    assert failure == machine.Stopped(instruction=1, row=20, loop_index=2 * 6 + 5)


def test_failure_in_rows_merged_into_the_inner_loop():
    x = np.ones((50, 4))
    x[21, 3] = -1.0
    encoded = program(instruction(refuse_negative, [shared(x, 32)], [4], [[8]], row_dim=0))
    assert run(encoded, 50, 8) == machine.Stopped(0, 21, 3)


def test_after_a_failure_the_next_run_starts_afresh():
    x = np.array([-1.0])
    runner = bind(program(instruction(refuse_negative, [shared(x)], [1], [[8]])))
    assert runner() is not None
    x[0] = 1.0
    assert runner() is None


@pytest.mark.parametrize("parallel", [False, True])
def test_run_in_many_slices_is_complete(rng, parallel, monkeypatch):
    monkeypatch.setattr(machine, "_FIRST_BUDGET", 1)
    monkeypatch.setattr(machine, "_adapt", lambda block, seconds: None)
    a, b, c = rng.random((40, 9)), rng.random(9), np.zeros((40, 9))
    assert run(square_of_product(a, b, c), 40, 3, 3 * 72, parallel) is None
    np.testing.assert_array_equal(c, (a * b) ** 2)


def endless(parallel):
    """Hours of work, in instructions of some milliseconds."""
    x = np.ones(100_000)
    one = instruction(multiply, [shared(x)] * 3, [1, x.size], [[0] * 3, [8] * 3], row_dim=0)
    return bind(program(one), 10**8, 4, 0, parallel), x


@pytest.fixture
def interruptible():
    """Python's own handler of SIGINT, which a shell's background jobs are started without."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def started(thread, function):
    """Call a function after the thread that interrupts has been started: where an interrupt is
    awaited, as the present thread may have to wait for a processor."""
    thread.start()
    return function()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("parallel", [False, True])
def test_interrupt_reaches_a_long_run(parallel, interruptible):
    runner, _ = endless(parallel)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        started(timer, runner)
    assert time.perf_counter() - began < 5
    x = np.full(3, 2.0)
    assert run(program(instruction(multiply, [shared(x)] * 3, [3], [[8] * 3]))) is None
    assert x[0] == 4.0


@pytest.mark.parametrize("parallel", [False, True])
def test_python_threads_run_programs_at_once(rng, parallel):
    a, b = rng.random((200, 50)), rng.random(50)
    outs = [np.zeros_like(a) for _ in range(4)]

    def repeat(out):
        runner = bind(square_of_product(a, b, out), 200, 8, 8 * 400, parallel)
        for _ in range(50):
            runner()

    workers = [threading.Thread(target=repeat, args=(out,)) for out in outs]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for out in outs:
        np.testing.assert_array_equal(out, (a * b) ** 2)


def test_other_python_threads_run_meanwhile(interruptible):
    """ctypes releases the GIL: a Python thread counts while the machine works."""
    runner, _ = endless(parallel=False)
    counted = []

    def count():
        began = time.perf_counter()
        while time.perf_counter() - began < 0.3:
            counted.append(1)
        signal.raise_signal(signal.SIGINT)

    counter = threading.Thread(target=count)
    with pytest.raises(KeyboardInterrupt):
        started(counter, runner)
    counter.join()
    assert len(counted) > 1000


def test_tables_of_another_type_are_refused():
    code = np.zeros(8, np.int32)
    with pytest.raises(TypeError, match="int64"):
        bind((code, code))


class TestThreads:
    @pytest.mark.parametrize("n", [0, -1, 10**6])
    def test_impossible_numbers_are_refused(self, n):
        with pytest.raises(ValueError, match="is not between 1 and"):
            TARGET.set_num_threads(n)

    def test_the_flag_is_a_bound(self, monkeypatch):
        most = threads.config.NUMBA_NUM_THREADS
        for flag, number in ((0, most), (1, 1), (10**6, most)):
            monkeypatch.setattr(settings, "threads", flag)
            assert TARGET.num_threads == number

    def test_number_is_what_was_set(self):
        TARGET.set_num_threads(1)
        assert TARGET.num_threads == settings.threads == 1

    def test_layer_is_one_of_numbas(self):
        assert TARGET.threading_layer() in ("omp", "tbb", "workqueue")

    def test_blas_is_limited_while_anybody_needs_it(self):
        from threadpoolctl import threadpool_info

        def blas_threads():
            return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

        with threads.region(uses_blas=False):
            before = blas_threads()
        with threads.region(uses_blas=True):
            threads._blas._enter()
            assert blas_threads() == {1}
        assert blas_threads() == {1}
        threads._blas._leave()
        assert blas_threads() == before

    def test_run_with_blas(self, rng):
        a, b, c = rng.random((64, 10)), rng.random(10), np.zeros((64, 10))
        encoded = square_of_product(a, b, c)
        assert run(encoded, 64, 4, 320, parallel=True, uses_blas=True) is None
        np.testing.assert_array_equal(c, (a * b) ** 2)
