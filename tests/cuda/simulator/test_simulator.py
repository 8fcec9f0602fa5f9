"""The threads that the simulator runs in turns, and the races that it finds."""

import itertools
import threading

import numpy as np
import pytest

import numgrad as ng
from numgrad.ir import program as _program
from numgrad.targets.cuda.kernels import product, reduction

from ..programs import TARGET, on_device, program_of

simulator = pytest.importorskip("numgrad.targets.cuda_simulator.driver")
blocks = pytest.importorskip("numgrad.targets.cuda_simulator.blocks")

RNG = np.random.default_rng(5)
_BARRIER = "cuda.syncthreads()"


@pytest.mark.parametrize("is_reversed", [False, True])
def test_results_depend_on_no_order_of_threads(is_reversed, monkeypatch):
    monkeypatch.setattr(simulator, "_backwards", itertools.repeat(is_reversed))
    monkeypatch.setattr(_program, "MANY_ELEMENTS", 1 << 9)
    a, b, c = RNG.standard_normal((4, 3)), RNG.standard_normal((3, 5)), RNG.standard_normal(5000)
    x, y, z = (ng.tensor(m, device="cuda") for m in (a, b, c))
    np.testing.assert_allclose((x @ y).cpu().numpy(), a @ b, 1e-12)
    np.testing.assert_allclose(z.sum().item(), c.sum(), 1e-12)


def run(kernel, is_reversed=False, threads=3):
    """Return what a kernel has told, of two blocks."""
    grid, told = blocks.grid(2, threads), []
    try:
        grid.run(lambda: kernel(grid, told.append), is_reversed)
    finally:
        assert not hasattr(grid, "block")  # nor the memory that the kernel was given
    return told


def test_threads_that_do_not_wait_run_in_the_thread_of_the_caller():
    def kernel(cuda, tell):
        tell((cuda.grid(1), threading.get_ident()))

    told = run(kernel)
    assert told == [(n, threading.get_ident()) for n in range(6)]
    assert run(kernel, is_reversed=True) == told[::-1]


def test_barriers_are_passed_when_all_have_met():
    def kernel(cuda, tell):
        for turn in range(3):
            tell((cuda.blockIdx.x, turn, cuda.threadIdx.x))
            cuda.syncthreads()

    told = run(kernel)
    assert len(set(told)) == 18
    assert [each[:2] for each in told] == sorted(each[:2] for each in told)


def test_a_thread_that_has_ended_is_not_waited_for():
    def kernel(cuda, tell):
        if cuda.threadIdx.x != 1:
            cuda.syncthreads()
            tell(cuda.threadIdx.x)

    assert sorted(run(kernel)) == [0, 0, 2, 2]


@pytest.mark.parametrize("is_reversed", [False, True])
def test_threads_of_a_warp_exchange_values(is_reversed):
    def kernel(cuda, tell):
        own = cuda.threadIdx.x
        tell((own, cuda.shfl_xor_sync(-1, own, 5), cuda.shfl_down_sync(-1, own, 8)))

    told = run(kernel, is_reversed, threads=32)
    expected = [(n, n ^ 5, n + 8 if n < 24 else n) for n in range(32)]
    assert sorted(told) == sorted(2 * expected)


def test_a_thread_that_does_not_shuffle_is_missed():
    def kernel(cuda, tell):
        if cuda.threadIdx.x != 7:
            cuda.shfl_xor_sync(-1, 0, 1)

    with pytest.raises(KeyError):
        run(kernel, threads=32)
    with pytest.raises(ng.errors.DeviceError, match="one warp"):
        run(kernel, threads=3)


def test_lines_of_two_files_share_no_array():
    scopes = [{}, {}]
    for n, scope in enumerate(scopes):
        text = "def made(shared): return shared.array(2, float)"
        exec(compile(text, f"<file {n}>", "exec"), scope)

    def kernel(cuda, tell):
        tell([scope["made"](simulator.Shared) for scope in scopes])

    one, other = zip(*run(kernel)[:3], strict=True)
    assert len({id(x) for x in one}) == len({id(x) for x in other}) == 1
    assert one[0] is not other[0]


def test_threads_vote_at_a_barrier():
    def kernel(cuda, tell):
        is_first = cuda.threadIdx.x == 0
        tell((
            cuda.syncthreads_count(is_first), cuda.syncthreads_and(is_first),
            cuda.syncthreads_or(is_first),
        ))  # fmt: skip

    assert run(kernel) == [(1, False, True)] * 6


def test_a_thread_that_has_ended_does_not_vote():
    def kernel(cuda, tell):
        cuda.syncthreads_or(True)
        if cuda.threadIdx.x != 1:
            tell(cuda.syncthreads_count(True))

    assert run(kernel) == [2] * 4


def test_no_kernel_waits_for_the_whole_grid():
    with pytest.raises(ng.errors.DeviceError, match=r"cuda\.cg is not there"):
        run(lambda cuda, tell: cuda.cg.this_grid().sync())


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_thread_that_fails_ends_those_that_wait(failing):
    def kernel(cuda, tell):
        cuda.syncthreads()
        tell(cuda.threadIdx.x)
        if cuda.threadIdx.x == failing:
            raise ValueError("a fault")
        cuda.syncthreads()
        tell("more")

    before = set(threading.enumerate())
    with pytest.raises(ValueError, match="a fault") as raised:
        run(kernel)
    assert raised.value.__notes__ == [f"in thread {failing} of block 0, simulated"]
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) <= before
    assert run(lambda cuda, tell: cuda.syncthreads()) == []


_ROWS = RNG.standard_normal((6, 5000))
_RACING = {
    "_TEXT": (lambda a, b: a @ b, _ROWS[:, :9], _ROWS[:, 9:18].T),
    "_BLOCKS": (lambda a: a.sum(), _ROWS),
    "_PARTS": (lambda a: a.sum(axis=1), _ROWS),
}


def _with_one_barrier_less():
    for name in _RACING:
        module = product if name == "_TEXT" else reduction
        text = getattr(module, name)
        for n in range(text.count(_BARRIER)):
            yield pytest.param(module, name, _without(text, n), id=f"{name}-{n}")


def _without(text, n):
    parts = text.split(_BARRIER)
    return _BARRIER.join(parts[: n + 1]) + "pass" + _BARRIER.join(parts[n + 1 :])


@pytest.mark.parametrize(("module", "name", "text"), list(_with_one_barrier_less()))
def test_every_barrier_is_missed(module, name, text, monkeypatch):
    """The simulator sees that threads race, whatever the order in which they run."""
    monkeypatch.setattr(module, name, text)
    monkeypatch.setattr(TARGET, "_prepared", {})
    monkeypatch.setattr(_program, "MANY_ELEMENTS", 1 << 9)
    program = program_of(*_RACING[name])
    with pytest.raises(Exception, match="no barrier"):
        on_device(program)
