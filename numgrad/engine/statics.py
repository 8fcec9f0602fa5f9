"""Static parameters as keys: equal keys mean the same parameters, in type and in every bit."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

_PLAIN = frozenset({int, bool, str, bytes, type(None)})


class _NotHashableError(Exception):
    """A parameter that cannot be part of a key."""


def frozen(static: Mapping[str, Any]) -> Hashable:
    """Return a key for static parameters, ``None`` where there is none.

    ``1``, ``1.0`` and ``True`` are equal in Python, as are ``0.0`` and ``-0.0``: keys are not.
    """
    try:
        return tuple([(name, _freeze(value)) for name, value in static.items()])
    except _NotHashableError:
        return None


def _freeze(value: Any) -> Hashable:
    kind = type(value)
    if kind in _PLAIN:
        return (kind, value)
    if kind is tuple:
        return tuple([_freeze(item) for item in value])
    if kind in (float, complex) or isinstance(value, np.number):
        return (kind, repr(value))
    if isinstance(value, np.dtype) or kind.__hash__ is object.__hash__ or callable(value):
        return _hashed(value)
    if kind is slice:
        return (kind, *[_freeze(item) for item in (value.start, value.stop, value.step)])
    raise _NotHashableError


def _hashed(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        raise _NotHashableError from None
    return (type(value), value)
