"""What travels to the workers: a function with its arguments, once per worker."""

import io
import pickle
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from ..._errors import ArgTypeError, DetachedError
from ..._settings import settings
from ..._tensor import Tensor
from ...engine.record import mode
from ...func.replayer import reduced
from ...func.trees import flatten


class Work:
    """A function and what it is called with, as bytes; on a worker, what has been made of them.

    One future of a cluster holds it. Dask copies it to each worker that needs it and keeps the copy
    as long as the future lives; all tasks of the worker meet the same object there. If a worker
    with the only copy is lost, the scheduler has it made again. It is ``connected`` if gradients
    are recorded where it comes from, so that a result that depends on a tensor from outside would
    lose them.
    """

    def __init__(self, parts: bytes, connected: bool) -> None:
        self.parts, self.connected = parts, connected
        self._lock = threading.Lock()
        self._made: Any = None

    def __reduce__(self) -> Any:
        return Work, (self.parts, self.connected)

    def made(self, make: Callable[..., Any]) -> Any:
        """Return what ``make`` returns for the function and its arguments; it is called once."""
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
        """Raise if a result depends on a tensor outside whose gradient would be lost."""
        if depends and self.connected:
            raise DetachedError(
                f"{what}: the result depends on a tensor that requires grad and that the function "
                f"closes over. It is computed in another process, which the graph does not reach: "
                f"close over tensor.detach(), or call {what} under ng.no_grad()"
            )


def packed(what: str, function: Callable[..., Any], *args: Any) -> Work:
    """Return a function and what it is called with as they travel."""
    import cloudpickle  # pyright: ignore[reportMissingImports]

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, obj: Any) -> Any:
            again = reduced(obj) if isinstance(obj, FunctionType) else None
            return super().reducer_override(obj) if again is None else again

    with io.BytesIO() as file:
        try:
            Pickler(file).dump((function, *args))
        except (DetachedError, MemoryError):
            raise
        except Exception as error:  # whatever the objects that are pickled raise
            raise ArgTypeError(
                f"{what}: the function and its arguments are to be sent to other processes, and "
                f"cannot be pickled: {error}"
            ) from error
        return Work(file.getvalue(), mode.grad)


class _OneThread:
    """numgrad on one thread while tasks run in this process: Dask runs one per core. A number of
    threads that was set on the worker (the flag ``threads``) is left as it is."""

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
