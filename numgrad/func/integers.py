"""Integers among the arguments of a captured function that differ from call to call: values known
later, as long as Python asks for no number."""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from .._tensor import Tensor
from ..engine.capture import refuse
from ..functions.arithmetic import Arithmetic, is_operand
from ..functions.operands import like
from .scalars import IN_PLACE, PythonComplex, PythonFloat, is_number

MOST = 1 << 30
"""The magnitude from which on a Python integer is part of the recording."""
_EXACT = 1 << 62  # sums and products of Python integers below are those of 64 bits


class Integer(Tensor):
    """An integer that is known when the function is replayed.

    Attributes
    ----------
    numbers : frozenset of int
        The arguments that it was computed from.
    asked : set of int
        The arguments of the recording whose numbers Python has asked for.
    bound : int
        The largest magnitude of a Python integer.
    """

    __slots__ = ("asked", "bound", "numbers")

    def ask(self, *_: Any) -> NoReturn:
        """Refuse what needs the number: the argument becomes part of the recording."""
        asked = getattr(self, "asked", None)
        if asked is not None:
            asked.update(self.numbers)
        refuse("the number of an integer is asked for, which differs from call to call")


class PythonInt(Integer):
    """A Python integer that is known when the function is replayed: arrays keep their dtype with
    it."""

    __slots__ = ()
    weak = 1
    __class__ = property(lambda self: int)  # type: ignore[assignment]  what `isinstance` asks for

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Tensor:
        """Convert; where NumPy refuses numbers that are too large, the number is asked for."""
        if np.dtype(dtype).kind in "iu" and np.dtype(dtype) != np.int64:
            self.ask()
        return Tensor.astype(self, dtype, *args, **options)


class NumpyInt(Integer):
    """An integer of NumPy that is known when the function is replayed."""

    __slots__ = ()
    __class__ = property(lambda self: self.dtype.type)  # type: ignore[assignment]


def of_argument(value: Any, number: int, asked: set[int]) -> Any:
    """Complete the placeholder of an argument."""
    value.numbers, value.asked, value.bound = frozenset((number,)), asked, MOST
    return value


_ASKING = (
    "and", "array", "bool", "ceil", "complex", "divmod", "float", "floor", "format", "hash",
    "index", "int", "invert", "lshift", "matmul", "or", "rand", "rdivmod", "repr", "rlshift",
    "rmatmul", "ror", "round", "rrshift", "rshift", "rxor", "str", "trunc", "xor",
)  # fmt: skip
_COMPARING = ("eq", "ge", "gt", "le", "lt", "ne")
_BOUNDS: dict[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "pow": lambda a, b: a**b,
    "floordiv": lambda a, b: a + 1,
    "mod": lambda a, b: b,
    "neg": lambda a: a,
    "pos": lambda a: a,
    "abs": lambda a: a,
}  # fmt: skip


def _is_refused(name: str, others: tuple[Any, ...]) -> bool:
    """Whether an operation with numbers may be another one than that of arrays: it divides by zero,
    or has an exponent that decides about the dtype. Arrays have rules for exponents they know."""
    if name == "rpow":
        return not all([type(x) is float and x > 0 for x in others])  # noqa: C419
    if not all(map(is_number, others)):
        return False
    if name in ("truediv", "floordiv", "mod"):
        return not all([type(x) in (int, float) and x != 0 for x in others])  # noqa: C419
    if name == "pow":
        return not all([type(x) is int and x >= 0 for x in others])  # noqa: C419
    return name in ("rtruediv", "rfloordiv", "rmod")


def _is_array_or_number(value: Any) -> bool:
    """Whether Python's operators do the same with it as with an array: a list is repeated."""
    return is_operand(value) and not isinstance(value, (list, tuple))


def _method(name: str) -> Callable[..., Any]:
    """Return an operator of Python whose result is a Python number if all operands are."""
    operate = getattr(Arithmetic, f"__{name}__")

    def method(self: Any, *others: Any) -> Any:
        if not all(map(_is_array_or_number, others)) or _is_refused(name, others):
            self.ask()
        result = operate(self, *others)
        if self.weak is None or not all(map(is_number, others)):
            return result
        if result.dtype.kind in "fc":
            return like(PythonComplex if result.dtype.kind == "c" else PythonFloat, result)
        return _integer(self, name, others, result)

    return method


def _integer(self: Any, name: str, others: tuple[Any, ...], result: Tensor) -> Any:
    """Return the result of an operation as an integer, if no result of it can be too large."""
    integers = [x for x in others if type(x) is PythonInt]
    magnitudes = [x.bound if type(x) is PythonInt else abs(x) for x in others]
    made: Any = like(PythonInt, result)
    made.asked = self.asked
    made.numbers = self.numbers.union(*(x.numbers for x in integers))
    made.bound = _BOUNDS[name.removeprefix("r")](self.bound, *magnitudes)
    if made.bound >= _EXACT:
        made.ask()
    return made


def _comparison(name: str) -> Callable[..., Any]:
    """Return a comparison: with arrays it is one of theirs, with numbers it decides at once."""
    compare = getattr(Arithmetic, f"__{name}__")

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray) or (isinstance(other, Tensor) and other.weak is None):
            return compare(self, other)
        return self.ask()

    return method


for _name in _ASKING:
    setattr(Integer, f"__{_name}__", Integer.ask)
for _name in _COMPARING:
    setattr(PythonInt, f"__{_name}__", _comparison(_name))
for _name in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv",
    "mod", "rmod", "pow", "rpow", "neg", "pos", "abs",
):  # fmt: skip
    setattr(Integer, f"__{_name}__", _method(_name))
for _name in IN_PLACE:
    setattr(Integer, f"__i{_name}__", getattr(Integer, f"__{_name}__"))
