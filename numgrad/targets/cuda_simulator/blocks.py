"""Blocks of simulated threads, of which one runs at a time, from one barrier to the next.

A kernel without barriers runs in the calling thread of Python, one simulated thread after the
other. A simulated thread that waits at a barrier keeps its thread of Python, and another thread of
Python runs the next simulated one. (Numba's own simulator starts a thread of Python for each, and
polls them.) The order in which the threads of a block run is reversed at each launch and at each
barrier, so that kernels cannot rely on an order.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from numba.cuda.simulator import kernel as kernel_module
from numba.cuda.simulator.kernelapi import Dim3, FakeCUDAModule

from ..._errors import DeviceError
from .scalar_math import multiplied_and_added


class _Abandoned(BaseException):
    """Ends a simulated thread after another thread of its block has failed."""


class SimulatedThread:
    """A simulated thread of a block.

    Attributes
    ----------
    threadIdx, blockIdx : Dim3
    barriers : int
        The number of barriers that the thread has come to so far.
    turn : Lock or None
        The lock on which the thread waits at barriers; None before the first barrier.
    """

    __slots__ = ("barriers", "blockIdx", "threadIdx", "turn")

    def __init__(self, block: int, number: int) -> None:
        self.blockIdx, self.threadIdx = Dim3(block, 0, 0), Dim3(number, 0, 0)
        self.barriers = 0
        self.turn: Any = None

    def __repr__(self) -> str:
        return f"thread {self.threadIdx.x} of block {self.blockIdx.x}"


class Block:
    """A block of simulated threads, which take turns: one runs until a barrier or its end.

    Attributes
    ----------
    running : SimulatedThread
        The thread whose turn it is.
    shared : dict
        The arrays of shared memory, by the file and line of the kernel that ask for them.
    votes : dict
        For each barrier, by number, the values that threads have given to ``syncthreads_count``,
        ``shfl_xor_sync`` and the like, by the number of the thread.
    """

    def __init__(self, run: Callable[[], Any], threads: Sequence[SimulatedThread]) -> None:
        self._run, self._ready = run, deque(threads)
        self._met: list[SimulatedThread] = []
        self._is_over = threading.Lock()
        self._failure: BaseException | None = None
        self.running = threads[0]
        self.shared: dict[Any, Any] = {}
        self.votes: dict[int, dict[int, Any]] = {}

    def run_all(self) -> None:
        """Run all threads of the block to their ends, or raise the first exception of a thread."""
        self._is_over.acquire()
        self._carry(self._ready.popleft())
        self._wait(self._is_over)
        if self._failure is not None:
            raise self._failure

    def meet(self) -> None:
        """Let the running thread wait at a barrier for all other threads of the block."""
        thread = self.running
        thread.barriers += 1
        thread.turn = thread.turn or _taken()
        self._met.append(thread)
        following = self._next()
        if following is not thread:
            self._pass_on(following)
            self._wait(thread.turn)
            self.running = thread
        if self._failure is not None:
            raise _Abandoned

    def _carry(self, thread: SimulatedThread | None) -> None:
        """Run a simulated thread, and those after it, in the calling thread of Python.

        The method returns when it is the turn of a simulated thread that waits at a barrier, or
        when all have ended.
        """
        while thread is not None:
            self.running = thread
            try:
                self._run()
            except _Abandoned:
                pass
            except BaseException as error:
                error.add_note(f"in {thread!r}, simulated")
                self._failure = self._failure or error
            thread = self._next()
            if thread is not None and thread.turn is not None:
                thread.turn.release()
                return
        self._is_over.release()

    def _next(self) -> SimulatedThread | None:
        """Return the thread whose turn is next, or None if all have ended.

        If all threads wait at the barrier, the barrier opens: the threads go on in reverse order.
        """
        if self._failure is not None and self._ready:
            self._ready = deque(t for t in self._ready if t.turn is not None)
        if not self._ready:
            self._ready, self._met = deque(reversed(self._met)), []
        return self._ready.popleft() if self._ready else None

    def _pass_on(self, thread: Any) -> None:
        if thread.turn is not None:
            thread.turn.release()
        else:
            threading.Thread(target=self._carry, args=(thread,), daemon=True).start()

    def _wait(self, lock: Any) -> None:
        try:
            lock.acquire()
        except BaseException as error:  # Ctrl-C: the other threads have to end first
            self._failure = self._failure or error
            lock.acquire()


def _taken() -> Any:
    lock = threading.Lock()
    lock.acquire()
    return lock


class Grid(FakeCUDAModule):
    """A simulated launch: the object that kernels call ``cuda``, with the functions of that module.

    Attributes
    ----------
    block : Block
        The block whose threads run now.
    """

    block: Block

    def __init__(self, blocks: int, threads: int) -> None:
        super().__init__((blocks, 1, 1), (threads, 1, 1), 0)

    def run(self, run: Callable[[], Any], is_reversed: bool) -> None:
        """Call ``run``, the kernel with its arguments, once for each thread of all blocks.

        With ``is_reversed`` blocks and threads run in reverse order.
        """
        step = -1 if is_reversed else 1
        try:
            with kernel_module._push_kernel_context(self):
                for number in range(self.gridDim.x)[::step]:
                    threads = [SimulatedThread(number, n) for n in range(self.blockDim.x)]
                    self.block = Block(run, threads[::step])
                    self.block.run_all()
        finally:
            del self.block  # which refers to the memory that the kernel was given

    @property
    def threadIdx(self) -> Dim3:  # noqa: N802
        return self.block.running.threadIdx

    @property
    def blockIdx(self) -> Dim3:  # noqa: N802
        return self.block.running.blockIdx

    @property
    def laneid(self) -> int:
        return self.threadIdx.x % self.warpsize

    @property
    def cg(self) -> Any:
        raise DeviceError("kernels cannot wait for the whole grid: cuda.cg is not there")

    def syncthreads(self) -> None:
        self.block.meet()

    def syncthreads_count(self, val: Any) -> int:
        return sum(map(bool, self._votes(val).values()))

    def syncthreads_and(self, val: Any) -> bool:
        return all(self._votes(val).values())

    def syncthreads_or(self, val: Any) -> bool:
        return any(self._votes(val).values())

    def fma(self, a: Any, b: Any, c: Any) -> Any:
        """Return ``a * b + c``, rounded once."""
        return multiplied_and_added(a, b, c)

    def shfl_xor_sync(self, mask: int, value: Any, lane_mask: int) -> Any:
        return self._exchanged(value, self.laneid ^ lane_mask)

    def shfl_down_sync(self, mask: int, value: Any, delta: int) -> Any:
        lane = self.laneid + delta
        return self._exchanged(value, lane if lane < self.warpsize else self.laneid)

    def _exchanged(self, value: Any, lane: int) -> Any:
        """Return the value that another thread of the warp gives: all of them meet first."""
        if self.blockDim.x != self.warpsize:
            raise DeviceError("simulated threads exchange values in blocks of one warp alone")
        return self._votes(value)[lane]

    def _votes(self, value: Any) -> dict[int, Any]:
        thread = self.block.running
        votes = self.block.votes.setdefault(thread.barriers, {})
        votes[thread.threadIdx.x] = value
        self.block.meet()
        return votes


@cache
def grid(blocks: int, threads: int) -> Grid:
    """Return the launch of so many blocks of so many threads, the same object at each call.

    One object is enough, as the simulator runs one kernel at a time.
    """
    return Grid(blocks, threads)
