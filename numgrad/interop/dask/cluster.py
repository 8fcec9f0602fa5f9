"""Tasks on a cluster: submitted a few at a time, so that results do not pile up, and awaited no
longer than a timeout."""

import itertools
import math
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..._errors import ArgTypeError, ClusterError
from ...engine.capture.capture import refuse
from ...engine.record.apply import mode
from ...func.jacobians.progress import ProgressBar, require_progress
from .work import Work, packed

_AHEAD = 4  # tasks per thread of the cluster that are submitted: one runs, the others wait
_TASKS = 64
_LARGEST = 8 << 20  # bytes of a task's results or arguments; Dask warns of more
_LOOK = 1.0  # seconds between two checks of the cluster

Task = tuple[Any, Callable[..., Any], tuple[Any, ...]]
"""The key of the result, a function, and its arguments after the work."""


class Cluster:
    """The client of a cluster, for the tasks of one call; each task gets the work as its first
    argument.

    The cluster may be without a worker, or without an answer, for ``timeout`` seconds. If the call
    is itself made in a task, the thread of that task is given to other tasks meanwhile.
    """

    def __init__(self, client: Any, what: str, timeout: float | None, progress: Any) -> None:
        if mode.capture is not None:
            refuse(
                f"{what} computes in other processes, which no replay would do again. Call it "
                f"outside of the captured function, and capture the function that it is given."
            )
        require_progress(progress, what)
        try:
            import distributed  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise ImportError(f'{what} needs Dask: pip install "numgrad[dask]"') from error
        self.dask: Any = distributed
        self.what, self.timeout, self.progress = what, timeout, progress
        self.client = self._client(client)
        self.done = "no task was done"
        self.seen = self.looked = time.monotonic()
        self.threads, self.has_seceded = 0, False

    def _client(self, client: Any) -> Any:
        try:
            client = self.dask.get_client() if client is None else client
        except ValueError as error:
            raise ClusterError(
                f"{self.what}: there is no cluster. Connect to one first, "
                f"`client = distributed.Client(address)`; without an address it starts processes "
                f"on this machine"
            ) from error
        if not isinstance(client, self.dask.Client) or client.asynchronous:
            raise ArgTypeError(
                f"{self.what}: client must be a distributed.Client that is not asynchronous, got "
                f"{client!r}"
            )
        return client

    def __enter__(self) -> "Cluster":
        with suppress(ValueError):  # outside of a task
            self.dask.get_worker()
            self.dask.secede()
            self.has_seceded = True
        return self

    def __exit__(self, *_: Any) -> None:
        if self.has_seceded:
            self.dask.rejoin()

    def send(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return the future of the work.

        It is a task, not scattered data, which would be lost with the workers that hold it.
        """
        work = packed(self.what, function, *args)
        with warnings.catch_warnings():  # a warning that advises to scatter
            warnings.filterwarnings("ignore", "Sending large graph", UserWarning)
            return self._submit(Work, work.parts, work.connected, work.token)

    def run(
        self, work: Any, tasks: Sequence[Task], total: int = 0, unit: str = ""
    ) -> Generator[tuple[Any, Any], None, None]:
        """Yield the keys and results of tasks as they come.

        A key ends with the first and the last number of the items of its task; ``total`` is the
        number of all items.
        """
        running: dict[Any, Any] = {}
        waiting, done = iter(tasks), 0
        bar = ProgressBar(self.progress if total else False, total, unit, self.what)
        try:
            while True:
                room = self._room() - len(running)
                for key, function, args in itertools.islice(waiting, max(room, 0)):
                    running[self._submit(function, work, *args)] = key
                if not running:
                    return
                for future in self._finished(list(running)):
                    key, result = running.pop(future), self._result(future)
                    del future  # which drops the copy on the worker
                    yield key, result
                    done += 1
                    self.done = f"{done} of {len(tasks)} tasks were done"
                    if total:
                        bar.advance(key[-1] - key[-2])
        finally:
            bar.close()
            if running and self.client.status == "running":
                self.client.cancel(list(running))

    def _submit(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return self.client.submit(function, *args, pure=False)
        except Exception as error:
            if self.client.status == "running":
                raise
            raise self._gone("the connection to its scheduler is closed") from error

    def _finished(self, futures: list[Any]) -> set[Any]:
        """Wait until tasks are done; raise if the cluster has been away for too long."""
        while True:
            try:
                with self.client.as_current():
                    waited: Any = self.dask.wait(futures, _LOOK, return_when="FIRST_COMPLETED")
                return waited.done
            except TimeoutError:
                self._look()
            except (self.dask.CancelledError, ValueError) as error:  # ValueError: no client
                raise self._gone("its scheduler has lost the tasks") from error

    def _result(self, future: Any) -> Any:
        if future.status == "error":
            error = future.exception()
            if isinstance(error, self.dask.KilledWorker):
                raise ClusterError(
                    f"{self.what}: several workers ended while they ran the same task; "
                    f"{self.done}. They may lack memory: take a smaller chunk_size"
                ) from error
            return future.result()  # raises the error with its traceback
        try:
            return future.result(self.timeout)
        except TimeoutError as error:
            raise self._gone(f"it did not deliver a result within {self.timeout} s") from error
        except (self.dask.CancelledError, OSError) as error:
            raise self._gone("its scheduler has lost the tasks") from error

    def _room(self) -> int:
        if not self.threads or time.monotonic() > self.looked + _LOOK:
            self._look()
        return _AHEAD * max(self.threads, 1)

    def _look(self) -> None:
        """Count the threads of the workers; raise if there have been none for too long."""
        client = self.client
        self.threads = 0
        if client.status == "running":
            with suppress(TimeoutError, OSError):  # the scheduler may answer the next time
                found = client.sync(client.scheduler.ncores, workers=None, callback_timeout=_LOOK)
                self.threads = sum(found.values())
        self.looked = time.monotonic()
        if self.threads:
            self.seen = self.looked
        if client.status not in ("running", "connecting"):
            raise self._gone("the connection to its scheduler is closed")
        if self.timeout is not None and self.looked > self.seen + self.timeout:
            raise self._gone(f"it has had no worker for {self.timeout} s")

    def _gone(self, why: str) -> ClusterError:
        return ClusterError(
            f"{self.what}: the cluster is gone, {why}; {self.done}, and what is in out= is "
            f"incomplete. Start again when there is a cluster"
        )


def spans(
    what: str, count: int, chunk_size: Any, item_bytes: int, least: int = 1
) -> list[tuple[int, int]]:
    """Return the first and last numbers of the items of each task; a single empty task if there are
    no items.

    "auto" is 64 tasks, fewer if they would have less than ``least`` items, more if they would have
    more than 8 MiB. Tasks do not depend on the workers, so no bit of a result does.
    """
    if isinstance(chunk_size, (int, np.integer)) and chunk_size > 0 and chunk_size is not True:
        size = int(chunk_size)
    elif chunk_size == "auto":
        size = max(math.ceil(count / _TASKS), least)
        size = max(min(size, _LARGEST // max(item_bytes, 1)), 1)
    else:
        raise ArgTypeError(
            f'{what}: chunk_size must be "auto" or a positive int, got {chunk_size!r}'
        )
    return [(n, min(n + size, count)) for n in range(0, count, size)] or [(0, 0)]
