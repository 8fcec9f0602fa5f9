"""The list or tuple from which NumPy is making an array, found from one element of the list.

NumPy asks an element for its numbers and does not say which list the element is from. So the list
is looked for among the objects that the garbage collector knows. A list that was built for NumPy
alone has fewer references than a list that the program holds.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from .stores import UnreadableError


def container_of(value: Any, is_fitting: Callable[[Any], bool]) -> Any:
    """Return the list or tuple that contains ``value`` and from which NumPy is making an array.

    Only a list or tuple that nothing but the running call holds is found. ``is_fitting`` says of
    such a list whether it may be the wanted one. UnreadableError is raised unless exactly one list
    fits.
    """
    for objects in _searched():
        found = [one for one in _outermost(value, objects) if is_fitting(one)]
        if len(found) == 1:
            return found[0]
        if found:
            break
    raise UnreadableError


def is_contained(value: Any) -> bool:
    """Whether a list or tuple holds ``value``.

    The result is also True if ``gc.freeze`` has hidden objects from the search.
    """
    return gc.get_freeze_count() > 0 or any(
        type(one) in (list, tuple) for one in gc.get_referrers(value)
    )


def _searched() -> Iterator[list[Any]]:
    """Yield the youngest generation of the collector's objects, then all objects: a collection may
    have moved the list to an older generation."""
    yield gc.get_objects(generation=0)
    yield gc.get_objects()


def _outermost(value: Any, objects: list[Any]) -> list[Any]:
    """Return those of ``objects`` that NumPy reads, that contain a value directly or in nested
    lists, and that are nested in no other list.

    ``objects`` are the objects that the garbage collector knows.
    """
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
    """Return the reference counts that a list can have while NumPy reads it and nothing else holds
    it.

    The counts are measured once, for a plain list and for a list that is nested in another one.
    """
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
