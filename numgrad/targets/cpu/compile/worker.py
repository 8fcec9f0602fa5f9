"""A process that finishes fused kernels, so that a time limit and Ctrl-C reach LLVM.

LLVM runs in C, where no signal is handled, and for some loops its optimiser takes longer than
anybody waits. So LLVM runs in the compiler's process, which can be ended without harm; LLVM may
even abort that process, for want of memory say. The compiler's process starts with the first fused
kernel that is not in the cache, and ends with the user's process. To start it takes as long as to
compile a few kernels.

Where no process can be started, LLVM runs in the user's process. Kernels of single operators are
always compiled there, as they are little work.
"""

import atexit
import marshal
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite

from ..platform import interrupts
from . import optimize
from .optimize import Job

LIMIT = 10.0
"""The most seconds for a kernel; kernels of hundreds of operators take a fifth of a second."""

_SLICE = 0.05
_NAMES = ("python", "pypy")  # a program that embeds Python may do anything when it is started


class UnavailableError(Exception):
    """The compiler's process cannot be started, or has ended."""


class CompilerProcess:
    """A process that runs LLVM on one kernel after the other."""

    def __init__(self) -> None:
        program = optimize.__file__
        name = Path(sys.executable or "").name.lower()
        is_python = name.startswith(_NAMES) and not getattr(sys, "frozen", False)
        if not is_python or not Path(program).exists():
            raise UnavailableError
        folder = str(Path(llvmlite.__file__).parent.parent)
        apart: dict[str, Any] = (  # Ctrl-C at a terminal is for this process alone
            {"creationflags": 0x200} if sys.platform == "win32" else {"start_new_session": True}
        )
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-I", "-S", program, folder], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **apart,
            )  # fmt: skip
        except OSError:
            raise UnavailableError from None
        self.owner = os.getpid()
        self.is_ready = False

    def finish(self, job: Job) -> tuple[bytes, tuple[str, ...], bool]:
        """Return the result of `optimize.finish` for a job.

        Raises
        ------
        UnavailableError
            If the process never became ready.
        TimeoutError, RuntimeError
            If the job takes too long, or fails.
        """
        exchange = _Exchange(self, job)
        try:
            exchange.wait(time.monotonic() + LIMIT)
        except BaseException:
            self.end()
            raise
        answer = exchange.answer
        if answer is None:
            status = self.end()
            if not self.is_ready:
                raise UnavailableError
            raise RuntimeError(f"LLVM ended its process with the status {status}")
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer

    def is_alive(self) -> bool:
        """Whether the compiler's process runs, and was started by this process.

        After a fork, the process that the parent has started does not count.
        """
        return self.owner == os.getpid() and self.process.poll() is None

    def end(self) -> int | None:
        """End the process; return its exit status, or None if it belongs to another process."""
        if self.owner != os.getpid():  # it belongs to the process from which this one was forked
            self.process.returncode = 0
            return None
        status = self.process.poll()
        if status is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):  # bytes that the process had not read are lost
                if stream is not None:
                    stream.close()
        return status if status is not None else self.process.returncode


class _Exchange:
    """Sends a job and reads the answer, in a thread of its own, as either may block."""

    def __init__(self, helper: CompilerProcess, job: Job) -> None:
        self.helper, self.job = helper, job
        self.answer: Any = None
        self.done = threading.Event()
        threading.Thread(target=self._run, daemon=True, name="numgrad-compile").start()

    def _run(self) -> None:
        process = self.helper.process
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            if not self.helper.is_ready:
                self.helper.is_ready = marshal.load(process.stdout) == optimize.READY
            if self.helper.is_ready:
                process.stdin.write(marshal.dumps(tuple(self.job)))
                process.stdin.flush()
                self.answer = marshal.load(process.stdout)
        except (EOFError, OSError, ValueError, TypeError):
            self.answer = None  # the process has ended
        finally:
            self.done.set()

    def wait(self, deadline: float) -> None:
        """Wait for the answer; raise a `TimeoutError` at the deadline.

        Signal handlers run meanwhile, and what they raise ends the wait.
        """
        while not self.done.wait(_SLICE):
            interrupts.deliver()
            if time.monotonic() > deadline:
                raise TimeoutError(f"LLVM did not finish a kernel within {LIMIT:.0f} s")


class _InProcess:
    """Does jobs in this process: the stand-in for a `CompilerProcess` that cannot be started."""

    def is_alive(self) -> bool:
        return True

    finish = staticmethod(optimize.finish)


_current: CompilerProcess | _InProcess | None = None


def finish(job: Job) -> tuple[bytes, tuple[str, ...], bool]:
    """Return the result of `optimize.finish` for a job, computed in the compiler's process.

    The process is started if need be; where that fails, this process does the job. The caller holds
    the compiler lock.
    """
    global _current
    try:
        if _current is None or not _current.is_alive():
            close()
            _current = CompilerProcess()
        return _current.finish(job)
    except UnavailableError:
        _current = _InProcess()
        return _current.finish(job)


@atexit.register
def close() -> None:
    """End the compiler's process, if one was started."""
    global _current
    helper, _current = _current, None
    if isinstance(helper, CompilerProcess):
        helper.end()
