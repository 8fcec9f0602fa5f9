"""Things: the values of expressions. A thing is a value of the program, a tuple of things, an
object that is known when the kernel is compiled, or an array expression whose elements are computed
later."""

from collections.abc import Callable, Iterable
from typing import Any

from ..ssa.ir import Type, Value
from ..ssa.refusal import Refusal


class Static:
    """An object that is known when a kernel is compiled: a function, a dtype, a string, None."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Poison:
    """The thing of a name without a usable value, and the reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


class Unkept(str):
    """Why a name has no value: a loop or a condition makes its array, and does not keep the array.

    Attributes
    ----------
    key : tuple or None
        What has to be in ``Program.read_later`` for the array to be kept; None where that is not
        possible.
    """

    key: Any

    def __new__(cls, reason: str, key: Any) -> "Unkept":
        made = super().__new__(cls, reason)
        made.key = key
        return made


class ReadLater(Exception):  # noqa: N818
    """Raised where an array is read that was not kept: the kernel is read again.

    Parameters
    ----------
    key : tuple
        That of the array, see `Unkept`.
    """

    def __init__(self, key: Any) -> None:
        self.key = key


class Begun:
    """An array at the beginning of a storage, of lengths that an ``if`` chooses.

    Attributes
    ----------
    storage : Value
    shape : list of Value
    """

    def __init__(self, storage: Value, shape: list[Value]) -> None:
        self.storage, self.shape = storage, shape


class Lazy:
    """An array expression whose elements are computed where they are used.

    Attributes
    ----------
    type : Type
    shape : list of Value
    at : callable
        The element at an index, a list of values.
    reads : list of Value
        The arrays that it reads.
    inside : Lazy or None
        What the expression is as a part of a larger one, where that is something else: Numba
        computes with numbers of 64 bits, and rounds them to the dtype of an array that it makes.
    """

    def __init__(
        self, dtype: str, shape: list[Value], at: Callable[[list[Value]], Value], reads: list[Value]
    ) -> None:
        self.type = Type(dtype, len(shape))
        self.shape, self.at, self.reads = shape, at, reads
        self.source: Value | None = None  # the array that this is, element by element
        self.inside: Lazy | None = None  # what this is as a part of a larger expression


class Complex:
    """A complex number or array: its real and its imaginary part."""

    def __init__(self, re: Any, im: Any) -> None:
        self.re, self.im = re, im


Thing = Any




def is_array(thing: Thing) -> bool:
    """Whether a thing is an array or an array expression."""
    if isinstance(thing, Poison):
        raise Refusal(thing.reason)
    return isinstance(thing, Lazy) or (isinstance(thing, Value) and bool(thing.type.ndim))


def tuple_like(thing: tuple, parts: Iterable[Thing]) -> tuple:
    """Return a tuple of parts, of the class of a named tuple."""
    return type(thing)(*parts) if is_named(thing) else tuple(parts)


def is_named(thing: Thing) -> bool:
    """Whether a thing is a named tuple."""
    return isinstance(thing, tuple) and hasattr(thing, "_fields") and not isinstance(thing, Type)


def described(thing: Thing) -> str:
    """Return a description of a thing, for errors."""
    if isinstance(thing, Static):
        return repr(thing.value)[:60]
    if isinstance(thing, (tuple, Complex)):
        return "a tuple" if isinstance(thing, tuple) else "a complex number or array"
    return "an array" if isinstance(thing, (Lazy, Value)) else type(thing).__name__
