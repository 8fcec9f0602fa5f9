"""A worker process that is asked in lines of JSON, and stopped when it does not come back."""

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from . import machine


class Remote:
    """A module of this package in a process of its own, and the pipe to it."""

    def __init__(
        self,
        module: str,
        arguments: list[str],
        threads: int,
        limit: float,
        keep_memory: bool = False,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=machine.worker_environment(dict(os.environ), threads, keep_memory),
            preexec_fn=_pin(threads),
            start_new_session=True,
        )
        self.limit = limit

    def ask(self, command: str) -> dict[str, Any]:
        """Return the worker's answer; a worker beyond the limit is stopped."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.limit)
        if not ready:
            self.close()
            return {"reason": f"stopped: no result after {self.limit:g} s"}
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"reason": f"died with {self.process.wait()}"}

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def close(self) -> None:
        """End the process and what it started (a compiler, say)."""
        if self.alive:
            os.killpg(self.process.pid, 9)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):  # what was not read by the dead process
                    pipe.close()


def _pin(threads: int) -> Callable[[], None] | None:
    """Bind a worker to as many cores as it may use threads: XLA has no other setting."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))[:threads]
    return lambda: os.sched_setaffinity(0, cores)
