"""Attributes that are computed when they are first read."""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801  it is written as a decorator
    """A method without arguments as an attribute: its result is kept in the object's dictionary.

    `functools.cached_property` holds a lock before Python 3.12, one for all objects: a thread that
    computes an attribute makes all others wait, and a child that is forked meanwhile waits forever.
    Here two threads may compute the same attribute.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function, self.__doc__ = function, function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: type) -> Self | T:
        if instance is None:
            return self
        name = self.function.__name__
        return vars(instance).setdefault(name, self.function(instance))
