"""Grad modes: whether the operations of a thread are recorded as nodes."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from .._errors import ArgTypeError
from ..engine.record.apply import changing, grad_mode, mode
from ..process.interruptible import Action
from ..process.transformed_function import Transformed

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Return whether operations are recorded in this thread.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.is_grad_enabled()
    True
    """
    return mode.grad


class _GradMode(changing):
    """A grad mode: a re-entrant context manager, and a decorator."""

    enabled = True

    def __init__(self) -> None:
        super().__init__(grad=self.enabled)

    def __call__(self, function: F) -> F:
        return _within(function, self.enabled)  # type: ignore[return-value]


def _within(function: Callable[..., Any], enabled: bool) -> Transformed:
    """Return a function that runs ``function`` in a grad mode, generators included."""

    def inside(*args: Any, **kwargs: Any) -> Any:
        with grad_mode(enabled):
            return function(*args, **kwargs)

    call = _generator(function, enabled) if inspect.isgeneratorfunction(function) else inside
    what = "enable_grad" if enabled else "no_grad"
    return Transformed(call, function, what, _within, (function, enabled))


def _generator(function: Callable[..., Any], enabled: bool) -> Callable[..., Any]:
    """Return a generator function whose body runs in a grad mode.

    Between two items, the caller has the mode that it had before.
    """

    def inside(*args: Any, **kwargs: Any) -> Any:
        body = function(*args, **kwargs)
        step, given = body.send, None
        while True:
            try:
                with grad_mode(enabled):
                    item = step(given)
            except StopIteration as end:
                return end.value
            try:
                step, given = body.send, (yield item)
            except BaseException as error:  # thrown or closed from outside: passed to the body
                step, given = body.throw, error

    return inside


class _BareDecorator(_GradMode):
    """A grad mode that decorates without parentheses, too: ``@no_grad`` as well as ``@no_grad()``.
    """

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        instance = super().__new__(cls)
        if function is None:
            return instance
        instance.__init__()
        return instance(function)


class no_grad(_BareDecorator):  # noqa: N801 - torch's name
    """Do not record operations inside the block or the decorated function.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor(1.0, requires_grad=True)
    >>> with ng.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    enabled = False


class enable_grad(_BareDecorator):  # noqa: N801 - torch's name
    """Record operations inside the block or the decorated function, also within ``no_grad``.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor(1.0, requires_grad=True)
    >>> with ng.no_grad(), ng.enable_grad():
    ...     y = x * 2
    >>> y.requires_grad
    True
    """


class set_grad_enabled(_GradMode):  # noqa: N801 - torch's name
    """Switch recording on or off in this thread, at once; the end of a ``with`` undoes it.

    Examples
    --------
    >>> import numgrad as ng
    >>> with ng.set_grad_enabled(False):
    ...     ng.is_grad_enabled()
    False
    """

    def __init__(self, mode_: bool) -> None:
        if not isinstance(mode_, (bool, int)):
            raise ArgTypeError(f"set_grad_enabled: mode must be a bool, got {type(mode_).__name__}")
        self.enabled = bool(mode_)
        super().__init__()
        self._outer = mode.grad
        mode.set(grad=self.enabled)

    def prepare(self) -> tuple[Action, Action]:
        mode.set(grad=self._outer)  # the mode that the end of the block restores
        return super().prepare()

    def __call__(self, function: F) -> F:
        mode.set(grad=self._outer)  # a decorator changes the mode inside the function only
        return super().__call__(function)
