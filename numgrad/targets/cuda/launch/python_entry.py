"""Entries in Python, for programs and arguments that cannot be launched without."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

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


class EntryWithNumbers:
    """An entry that takes numbers, whose copies on the device another entry takes.

    Parameters
    ----------
    entry : callable
        The entry that takes arrays alone.
    target : CUDATarget
    numbers : dict
        By the position of each number: its type, its least and its greatest value or nothing, and
        the dtype with which the program reads the number.
    """

    __slots__ = ("__weakref__", "_constant", "_entry", "_numbers")

    def __init__(
        self, entry: Callable[..., Any], target: Any, numbers: dict[int, tuple[Any, Any, np.dtype]]
    ) -> None:
        self._entry, self._constant = entry, target.constant
        self._numbers = [(n, *declared) for n, declared in numbers.items()]

    def __call__(self, *given: Any) -> Any:
        """Call the other entry; return False for a number of another type, or beyond its limits."""
        arrays = list(given)
        for n, kind, limits, dtype in self._numbers:
            number = arrays[n]
            if type(number) is not kind or (limits and not limits[0] <= number <= limits[1]):
                return False
            arrays[n] = self._constant(np.asarray(number, dtype))
        return self._entry(*arrays)
