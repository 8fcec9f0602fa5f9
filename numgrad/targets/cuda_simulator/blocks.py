"""Blocks of simulated threads, of which one runs at a time, from one barrier to the next.

A kernel without barriers runs in the calling thread, one simulated thread after the other; where
they meet at a barrier, each of them gets a thread of Python, and passes the turn on. Numba's own
simulator starts a thread of Python for each, and polls them. The order in which threads run is the
reverse of that before in each launch, and behind each barrier.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from numba.cuda.simulator import kernel as kernel_module
from numba.cuda.simulator.kernelapi import Dim3, FakeCUDAModule

from ..._errors import DeviceError


class _Abandoned(BaseException):
    """Another thread of the block has failed."""


class SimulatedThread:
    """A thread of a block.

    Attributes
    ----------
    threadIdx, blockIdx : Dim3
    barriers : int
        The number of barriers that it has met.
    turn : Lock or None
        What it waits for at barriers; None if it has met none.
    """

    __slots__ = ("barriers", "blockIdx", "threadIdx", "turn")

    def __init__(self, block: int, number: int) -> None:
        self.blockIdx, self.threadIdx = Dim3(block, 0, 0), Dim3(number, 0, 0)
        self.barriers = 0
        self.turn: Any = None

    def __repr__(self) -> str:
        return f"thread {self.threadIdx.x} of block {self.blockIdx.x}"


class Block:
    """The turns of a block's threads.

    Attributes
    ----------
    running : SimulatedThread
        The one whose turn it is.
    shared : dict
        The arrays that threads share, by the lines that ask for them.
    votes : dict
        What threads have said at each barrier.
    """

    def __init__(self, run: Callable[[], Any], threads: Sequence[SimulatedThread]) -> None:
        self._run, self._ready = run, deque(threads)
        self._met: list[SimulatedThread] = []
        self._is_over = threading.Lock()
        self._failure: BaseException | None = None
        self.running = threads[0]
        self.shared: dict[Any, Any] = {}
        self.votes: dict[int, list[Any]] = {}

    def run_all(self) -> None:
        """Run all threads; raise the first exception of one."""
        self._is_over.acquire()
        self._carry(self._ready.popleft())
        self._wait(self._is_over)
        if self._failure is not None:
            raise self._failure

    def meet(self) -> None:
        """Wait for the other threads of the block."""
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
        """Run threads that have not begun in this thread of Python, as long as none has to wait."""
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
        """Return the thread whose turn it is; where all have met, the barrier opens."""
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
        except BaseException as error:  # Ctrl-C: the others have to end first
            self._failure = self._failure or error
            lock.acquire()


def _taken() -> Any:
    lock = threading.Lock()
    lock.acquire()
    return lock


class Grid(FakeCUDAModule):
    """A launch: what kernels call ``cuda``, where one thread runs at a time.

    Attributes
    ----------
    block : Block
        The one that runs.
    """

    block: Block

    def __init__(self, blocks: int, threads: int) -> None:
        super().__init__((blocks, 1, 1), (threads, 1, 1), 0)

    def run(self, run: Callable[[], Any], is_reversed: bool) -> None:
        """Run a kernel in all threads of all blocks."""
        step = -1 if is_reversed else 1
        try:
            with kernel_module._push_kernel_context(self):
                for number in range(self.gridDim.x)[::step]:
                    threads = [SimulatedThread(number, n) for n in range(self.blockDim.x)]
                    self.block = Block(run, threads[::step])
                    self.block.run_all()
        finally:
            del self.block  # and the memory that the kernel was given

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
        return sum(map(bool, self._votes(val)))

    def syncthreads_and(self, val: Any) -> bool:
        return all(self._votes(val))

    def syncthreads_or(self, val: Any) -> bool:
        return any(self._votes(val))

    def _votes(self, value: Any) -> list[Any]:
        votes = self.block.votes.setdefault(self.block.running.barriers, [])
        votes.append(value)
        self.block.meet()
        return votes


@cache
def grid(blocks: int, threads: int) -> Grid:
    """Return the launch of so many blocks, of which there is one at a time."""
    return Grid(blocks, threads)
