"""Processes that answer calls: forks of one that has only imported numgrad and the programs."""

import os
import signal
from collections.abc import Sequence
from multiprocessing import Pipe
from typing import Any, Self

from .answers import Call, Case, answer

SECONDS = 120


class Process:
    """A fork of this process; what it learns is lost when it ends."""

    def __init__(self, call: Call) -> None:
        self._ours, theirs = Pipe()
        self._number = os.fork()
        if self._number == 0:
            _serve(call, theirs)
        theirs.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._ours.close()
        os.kill(self._number, signal.SIGKILL)
        os.waitpid(self._number, 0)

    def answers(self, cases: Sequence[Case]) -> list[Any]:
        """Return the answers to calls that are made one after the other."""
        self._ours.send(cases)
        if not self._ours.poll(SECONDS):
            raise TimeoutError(f"no answer within {SECONDS} s to one of {cases}")
        return self._ours.recv()


def _serve(call: Call, theirs: Any) -> None:
    status = 1
    try:
        while True:
            theirs.send([answer(call, case) for case in theirs.recv()])
    except EOFError:
        status = 0
    finally:
        os._exit(status)
