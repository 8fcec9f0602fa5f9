"""Hooks on saved values: functions of the user that compress them, count them, or store them."""

from collections.abc import Callable
from contextlib import ContextDecorator
from typing import Any

from .._errors import ArgTypeError
from ..engine.record.apply import changing, mode
from ..process.interruptible import Action

Function = Callable[[Any], Any]


class saved_tensors_hooks(changing):  # noqa: N801 - torch's name
    """Save ``pack(tensor)`` instead of tensors inside the block; ``unpack`` makes a tensor of it.

    The innermost block counts. The functions run without recording.

    Parameters
    ----------
    pack : callable
        Gets a copy of a value that the graph is going to save; it must not write to the copy.
    unpack : callable
        Gets the result of `pack`, once per use, and returns a tensor of the same shape and dtype.

    Raises
    ------
    RuntimeError
        Inside `disable_saved_tensors_hooks`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0], requires_grad=True)
    >>> halve = lambda t: t.numpy().astype(np.float32)
    >>> double = lambda array: ng.tensor(array, dtype=np.float64)
    >>> with ng.graph.saved_tensors_hooks(halve, double):
    ...     y = x * x
    >>> ng.grad(y, x)[0]
    tensor([2., 4.])
    """

    def __init__(self, pack: Function, unpack: Function) -> None:
        for function in (pack, unpack):
            if not callable(function):
                raise ArgTypeError(
                    f"saved_tensors_hooks takes two functions, got {type(function).__name__}"
                )
        super().__init__()
        self._pair = pack, unpack

    def prepare(self) -> tuple[Action, Action]:
        if mode.saved_hooks_disabled is not None:
            raise RuntimeError(mode.saved_hooks_disabled)
        self.changes = {"saved_hooks": (*mode.saved_hooks, self._pair)}
        return super().prepare()


class disable_saved_tensors_hooks(ContextDecorator, changing):  # noqa: N801 - torch's name
    """Raise ``RuntimeError(error_message)`` where `saved_tensors_hooks` is used inside the block.

    Examples
    --------
    >>> import numgrad as ng
    >>> with ng.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     x = ng.tensor(1.0, requires_grad=True) * 2.0
    """

    def __init__(self, error_message: str) -> None:
        super().__init__(saved_hooks_disabled=error_message)

    def prepare(self) -> tuple[Action, Action]:
        if mode.saved_hooks:
            raise RuntimeError(self.changes["saved_hooks_disabled"])
        return super().prepare()
