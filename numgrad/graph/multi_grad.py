"""Hooks that wait for the gradients of several tensors."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .._errors import ArgTypeError, NoGradError
from .._tensor import Tensor
from ..engine.differentiate.hooks import Handle, expects
from ..engine.graph.node import Edge
from ..engine.record.apply import mode


class MultiHandle:
    """The handle of a hook on several tensors."""

    def __init__(self, handles: Sequence[Handle]) -> None:
        self._handles = tuple(handles)

    def remove(self) -> None:
        """Remove the hook from all its tensors; removing it twice is harmless."""
        for handle in self._handles:
            handle.remove()

    def __enter__(self) -> "MultiHandle":
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all"
) -> MultiHandle:
    """Call ``fn`` once in each pass that computes these gradients (in a batched one: per row).

    Parameters
    ----------
    tensors : sequence of Tensor
        Tensors that require grad.
    fn : callable
        With ``mode="all"`` it gets a list, one entry per tensor, when the last of the gradients
        that the pass computes has arrived; ``None`` stands for a gradient that it does not compute.
        With ``mode="any"`` it gets the first gradient that arrives.

    Raises
    ------
    ValueError
        For another mode.
    NoGradError
        If a tensor does not require grad.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor(2.0, requires_grad=True)
    >>> y = ng.tensor(3.0, requires_grad=True)
    >>> handle = ng.graph.register_multi_grad_hook([x, y], print)
    >>> ng.backward(x * y)
    [tensor(3.), tensor(2.)]
    """
    kinds: dict[str, type[_Waiting]] = {"all": _All, "any": _Any}
    if mode not in kinds:
        raise ValueError(f"register_multi_grad_hook: mode must be 'all' or 'any', got {mode!r}")
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise ArgTypeError(
                f"register_multi_grad_hook: all tensors have to be Tensors, but got "
                f"{type(tensor).__name__} at position {index}"
            )
        if not tensor.requires_grad:
            raise NoGradError(f"register_multi_grad_hook: tensor {index} does not require grad")
    waiting = kinds[mode]([tensor.edge for tensor in tensors], fn)
    return MultiHandle(
        [t.register_hook(partial(waiting.arrive, index)) for index, t in enumerate(tensors)]
    )


class _Waiting:
    """A hook that waits for gradients of several tensors; each pass has notes of its arrivals.

    In a batched pass the hook of one tensor is called for all rows before the hook of the next
    tensor: the number of its calls so far is the row.
    """

    def __init__(self, edges: Sequence[Edge], fn: Callable[[Any], None]) -> None:
        self.edges = edges
        self.fn = fn

    def arrive(self, index: int, gradient: Any) -> None:
        raise NotImplementedError


class _Any(_Waiting):
    def arrive(self, index: int, gradient: Any) -> None:
        calls = mode.showing.notes.setdefault(self, [0] * len(self.edges))
        first = calls[index] == max(calls)
        calls[index] += 1
        if first:
            self.fn(gradient)


class _All(_Waiting):
    def arrive(self, index: int, gradient: Any) -> None:
        backward_pass = mode.showing
        if self not in backward_pass.notes:
            expected = sum(expects(backward_pass, edge) for edge in self.edges)
            backward_pass.notes[self] = _Arrivals(len(self.edges), expected)
            backward_pass.at_end.append(partial(self._give_up_waiting, backward_pass))
        arrivals = backward_pass.notes[self]
        row = arrivals.calls[index]
        arrivals.calls[index] += 1
        if row == len(arrivals.rows):
            arrivals.rows.append([None] * len(self.edges))
            arrivals.missing.append(arrivals.expected)
        arrivals.rows[row][index] = gradient
        arrivals.missing[row] -= 1
        if arrivals.missing[row] == 0:
            self.fn(arrivals.rows[row])

    def _give_up_waiting(self, backward_pass: Any) -> None:
        """Call the hook for rows in which a gradient is missing, because a function returned
        ``None`` for it."""
        arrivals = backward_pass.notes[self]
        for gradients, missing in zip(arrivals.rows, arrivals.missing, strict=True):
            if missing > 0:
                self.fn(gradients)


class _Arrivals:
    """The arrivals in one pass: for each row the gradients, and the number of missing ones."""

    def __init__(self, count: int, expected: int) -> None:
        self.calls = [0] * count
        self.expected = expected
        self.rows: list[list[Any]] = []
        self.missing: list[int] = []
