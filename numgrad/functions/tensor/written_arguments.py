"""``np.add.at(array, key, tensor)``, ``np.copyto(array, tensor)`` and their like, where nobody but
one name has the array: the name is bound to a tensor with its elements, and the function writes
into that. See `buffers`, which does so for ``array[key] = tensor``.
"""

import sys
from collections.abc import Callable, Sequence
from functools import cache
from types import FrameType
from typing import Any

import numpy as np

from ..._settings import settings
from ..._tensor import Tensor
from ...engine.capture import stores
from ...engine.capture.bindings import can_bind, is_kept, rebind
from ...engine.capture.ownership import is_of_call, lent
from ...engine.capture.stores import LOCAL, NAME, UnreadableError
from ...engine.capture.user_call import is_users
from ...engine.graph.callsite import release
from ...engine.record.apply import mode
from ...process.reference_counts import has_exact_counts
from .buffers import can_be_tensor, kind_of, tensor_of

WRITING = frozenset({np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal})
"""NumPy's functions that write into their first argument."""


def with_tensor(way: str, args: tuple[Any, ...], caller: FrameType) -> tuple[Any, ...]:
    """Return the arguments of a function of NumPy that writes into the first one, with the tensor
    that has taken the place of an array there; the arguments themselves where none can.

    Parameters
    ----------
    way : {"at", "function"}
        By which protocol NumPy asks: for ``ufunc.at``, or for another function.
    caller : FrameType
        The frame that has called NumPy.
    """
    count = sys.getrefcount(args[0])
    values = [x for x in args[1:] if isinstance(x, Tensor)]
    is_left = settings.numpy == "never" or not has_exact_counts() or not is_users(caller)
    if is_left or not any(map(_is_to_stay, values)):
        return args
    try:
        made = _in_its_place(way, args, values, caller, count)
    except UnreadableError:
        return args
    finally:
        release(caller)
    return args if made is None else (made, *args[1:])


def _is_to_stay(value: Tensor) -> bool:
    return value.array is None or (value.requires_grad and mode.grad)


def _in_its_place(
    way: str, args: tuple[Any, ...], values: Sequence[Tensor], frame: FrameType, count: int
) -> Tensor | None:
    """Return the tensor that the name of the first argument was bound to; None where others may
    have the array."""
    place = stores.first_argument(frame.f_code, frame.f_lasti)
    if stores.read(place, frame) is not args[0] or not can_bind(place, frame):
        return None
    if count != _least(way, kind_of(place, frame)) + lent(args[0]):
        return None
    if not all(can_be_tensor(args[0], value) for value in values):
        return None
    if mode.capture is not None and not is_of_call(args[0], place, frame):
        return None
    before = args[0].copy("K")
    made = tensor_of(before, values[0])
    rebind(place, frame, made)
    expected = count - (not is_kept(place, frame))
    if sys.getrefcount(args[0]) == expected and before.tobytes() == args[0].tobytes():
        return made
    rebind(place, frame, args[0])  # another thread has taken or written it meanwhile
    return None


# The count of references --------------------------------------------------------------------------


class _Probe:
    """A value that counts the references to the array into which NumPy is to write it."""

    def __init__(self) -> None:
        self.count = -1

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> None:
        self.count = _counted(inputs)

    def __array_function__(
        self, function: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: Any
    ) -> None:
        self.count = _counted(args)


def _counted(args: tuple[Any, ...]) -> int:
    return sys.getrefcount(args[0])


@cache
def _least(way: str, kind: str) -> int:
    """Return the number of references to an array with a single name, where a function of NumPy is
    asked to write into it."""
    probe = _Probe()
    names = {"np": np, "probe": probe, "Holder": type("Holder", (), {})}
    buffer = "holder.buffer" if kind == "member" else "buffer"
    exec(_PROGRAMS[kind].format(call=_CALLS[way].format(buffer=buffer)), names)
    return probe.count


_CALLS = {"at": "np.add.at({buffer}, 0, probe)", "function": "np.copyto({buffer}, probe)"}
_PROGRAMS = {
    LOCAL: "def f():\n buffer = np.zeros(2)\n {call}\nf()",
    "shared": "def f():\n buffer = np.zeros(2)\n def g():\n  {call}\n  buffer\n g()\nf()",
    "member": "def f():\n holder = Holder()\n holder.buffer = np.zeros(2)\n {call}\nf()",
    NAME: "buffer = np.zeros(2)\n{call}",
}
"""Programs in which one name has an array, by the kind of the name."""
