"""The function and the arguments of a call, sent to each worker once."""

import pickle
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..._errors import ArgTypeError, DetachedError
from ..._settings import settings
from ..._tensor import Tensor
from ...engine.record.apply import mode
from ...func.pytree import flatten


class Work:
    """A function and its arguments, as bytes; on a worker also the object made from them.

    One future of a cluster holds it. Dask copies it to each worker that needs it; all tasks of the
    worker meet the same object there. Dask's memory manager drops copies between the tasks of a
    worker and sends them again, so a worker keeps works that it has used a short time ago. If a
    worker with the only copy is lost, the scheduler has the work made again. A work is
    ``connected`` if gradients are recorded in the process of the caller, so that a result that
    depends on a tensor from outside would lose them. Copies of a work have the same ``token``.
    """

    def __init__(self, parts: bytes, connected: bool, token: str) -> None:
        self.parts, self.connected, self.token = parts, connected, token
        self._lock = threading.Lock()
        self._made: Any = None

    def __reduce__(self) -> Any:
        return arrived, (self.parts, self.connected, self.token)

    def made(self, make: Callable[..., Any]) -> Any:
        """Return the result of ``make`` for the function and its arguments, computed once."""
        recent.use(self)
        with self._lock:
            if self._made is None:
                self._made = make(*pickle.loads(self.parts))
            return self._made

    def plain(self, tree: Any, what: str) -> Any:
        """Return a container with arrays in place of tensors."""
        leaves, rebuild = flatten(tree)
        return rebuild([self._array(leaf, what) for leaf in leaves])

    def _array(self, leaf: Any, what: str) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        self.require_unconnected(leaf.requires_grad, what)
        return leaf.detach().numpy()

    def require_unconnected(self, depends: bool, what: str) -> None:
        """Raise if a result depends on a tensor from outside whose gradient would be lost."""
        if depends and self.connected:
            raise DetachedError(
                f"{what}: the result depends on a tensor that requires grad and that the function "
                f"closes over. It is computed in another process, which the graph does not reach: "
                f"close over tensor.detach(), or call {what} under ng.no_grad()"
            )


class Recent:
    """The works that tasks of this process have used a short time ago."""

    seconds = 30.0

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[str, tuple[Work, float]] = {}

    def use(self, work: Work) -> None:
        """Keep a work for some seconds from now on."""
        with self._lock:
            if not self._used:
                self._look_later()
            self._used[work.token] = work, time.monotonic()

    def get(self, token: str) -> Work | None:
        """Return the work with a token, if it is here."""
        with self._lock:
            return self._used.get(token, (None, 0.0))[0]

    def _look_later(self) -> None:
        timer = threading.Timer(self.seconds, self._drop)
        timer.daemon = True
        timer.start()

    def _drop(self) -> None:
        with self._lock:
            first = time.monotonic() - self.seconds
            self._used = {token: kept for token, kept in self._used.items() if kept[1] > first}
            if self._used:
                self._look_later()


recent = Recent()


def arrived(parts: bytes, connected: bool, token: str) -> Work:
    """Return a received work: the copy that is here already, or a new one."""
    return recent.get(token) or Work(parts, connected, token)


def packed(what: str, function: Callable[..., Any], *args: Any) -> Work:
    """Return a function and its arguments as a work, pickled."""
    import cloudpickle  # pyright: ignore[reportMissingImports]

    try:
        parts = cloudpickle.dumps((function, *args))
    except (DetachedError, MemoryError):
        raise
    except Exception as error:  # objects that are pickled may raise anything
        raise ArgTypeError(
            f"{what}: the function and its arguments are to be sent to other processes, and "
            f"cannot be pickled: {error}"
        ) from error
    return Work(parts, mode.grad, uuid.uuid4().hex)


class _OneThread:
    """Run numgrad on one thread while tasks run in this process, since Dask runs one task per core.

    A number of threads that was set on the worker (the flag ``threads``) is left alone.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.is_ours = False

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def _count(self, step: int) -> None:
        with self.lock:
            before, self.users = self.users, self.users + step
            if not before:
                self.is_ours = settings.threads == 0
            if self.is_ours and 0 in (before, self.users):
                settings.threads = int(self.users > 0)
                settings.entries += 1


one_thread = _OneThread()
