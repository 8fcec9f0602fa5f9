"""Entries in Python, for programs that cannot be launched without."""

from collections.abc import Callable, Sequence
from typing import Any

from ....ir.device_array import DeviceArray
from .entry import described


class PythonEntry:
    """An entry that checks its arguments and runs a program; see `Bound.entry`.

    Parameters
    ----------
    run : callable
        Runs the program on the arrays of its arguments, then those for its results.
    target : CUDATarget
    declared : sequence
        For each argument, then for each result, dtype and shape as for `entry.entry_of`.
    read : sequence of int
        For each array that the program takes its position in a call.
    """

    __slots__ = ("__weakref__", "_declared", "_read", "_run", "_target")

    def __init__(
        self, run: Callable[..., Any], target: Any, declared: Sequence[Any], read: Sequence[int]
    ) -> None:
        self._run, self._target = run, target
        self._declared = [described(*item) for item in declared]
        self._read = list(read)

    def __call__(self, *given: Any) -> bool | None:
        """Run the program; return None after a run, and False if the caller has to run it."""
        if len(given) != len(self._declared):
            return False
        for item, (dtype, shape, strides) in zip(given, self._declared, strict=True):
            if dtype is None:
                if item is not shape:
                    return False
            elif (
                type(item) is not DeviceArray
                or item.target is not self._target
                or item.dtype != dtype
                or item.shape != shape
                or item.strides != strides
            ):
                return False
        return None if self._run([given[n] for n in self._read]) is None else False
