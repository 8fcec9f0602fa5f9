"""The list or tuple that NumPy is about to make an array of, and that nothing else holds: it is
found among the objects that the collector knows, by the count of its references."""

import gc
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from .stores import UnreadableError


def container_of(value: Any, is_fitting: Callable[[Any], bool]) -> Any:
    """Return the list or tuple that NumPy reads as it asks a value in it for its elements; raises
    UnreadableError where none is fitting, or several are.

    Lists and tuples that have been built for NumPy alone are found.
    """
    for objects in _searched():
        found = [one for one in _outermost(value, objects) if is_fitting(one)]
        if len(found) == 1:
            return found[0]
        if found:
            break
    raise UnreadableError


def is_contained(value: Any) -> bool:
    """Whether a list or tuple holds a value."""
    return gc.get_freeze_count() > 0 or any(
        type(one) in (list, tuple) for one in gc.get_referrers(value)
    )


def _searched() -> Iterator[list[Any]]:
    """Yield the young objects, and then all: the collector may have run meanwhile."""
    yield gc.get_objects(generation=0)
    yield gc.get_objects()


def _outermost(value: Any, objects: list[Any]) -> list[Any]:
    """Return the lists and tuples that NumPy reads and that hold a value, directly or not, but are
    not held by others."""
    held, found, seen = [value], [], {id(value)}
    objects = [one for one, count in _counted(objects) if count in _counts()]
    while held:
        one = held.pop()
        outer = [other for other in objects if any(item is one for item in other)]
        if not outer and one is not value:
            found.append(one)
        held += [other for other in outer if id(other) not in seen]
        seen.update(map(id, outer))
    return found


def _counted(objects: list[Any]) -> list[tuple[Any, int]]:
    return [(one, sys.getrefcount(one)) for one in objects if type(one) in (list, tuple)]


@cache
def _counts() -> frozenset[int]:
    """Return the numbers of references to lists that NumPy reads, and to lists in these."""
    found: set[int] = set()

    class Item:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            counted = _counted(gc.get_objects())
            found.update(count for one, count in counted if _holds(one, self))
            return np.zeros((), dtype)

        def __float__(self) -> float:
            return 0.0

    np.zeros(1)[:] = [Item()]
    np.zeros((1, 1))[:] = [[Item()]]
    return frozenset(found)


def _holds(holder: Any, value: Any) -> bool:
    inner = [one for one in holder if type(one) is list]
    return any(one is value for items in (holder, *inner) for one in items)
