"""Symbolic integers: arguments of a captured function that differ from call to call.

Python does not ask for the value of a symbolic integer, so one trace serves for all values.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..._tensor import Tensor
from ...engine.capture.capture import refuse
from ...functions.array.operands import like, plain
from ...functions.tensor.python_operators import Arithmetic, is_operand
from .symbolic_floats import IN_PLACE, OPERATORS, PythonComplex, PythonFloat, is_number

MOST = 1 << 30
"""The magnitude from which on a Python integer is a constant of the trace."""
_EXACT = 1 << 62  # below that, sums and products of Python integers are exact in 64 bits


@dataclass
class IntegerUses:
    """How a trace uses the symbolic integers among its arguments.

    Attributes
    ----------
    given : dict
        The values of the captured call, by argument.
    asked : set of int
        The arguments whose values Python has asked for.
    limits : dict
        The least and the greatest value of an argument for which the trace holds.
    is_outside : bool
        Whether the captured call itself is beyond such limits.
    """

    given: dict[int, int] = field(default_factory=dict)
    asked: set[int] = field(default_factory=set)
    limits: dict[int, tuple[int, int]] = field(default_factory=dict)
    is_outside: bool = False

    def limit(self, argument: int, low: int, high: int) -> bool:
        """Restrict the trace to values of an argument between two numbers, both included.

        Return whether the argument of the captured call is between them; the trace is useless if it
        is not.
        """
        if not low <= self.given[argument] <= high:
            self.is_outside = True
            return False
        before = self.limits.get(argument, (1 - MOST, MOST - 1))
        self.limits[argument] = max(low, before[0]), min(high, before[1])
        return True


class Affine(NamedTuple):
    """An integer as an affine function of one argument: ``factor * argument + offset``."""

    argument: int
    factor: int
    offset: int

    def holds(self, uses: IntegerUses, low: int, high: int) -> bool:
        """Restrict the trace to arguments for which this integer is between two numbers, both
        included.

        Return whether the integer of the captured call is between them.
        """
        bounds = low - self.offset, high - self.offset
        if self.factor < 0:
            bounds = -bounds[1], -bounds[0]
        factor = abs(self.factor)
        return uses.limit(self.argument, -(-bounds[0] // factor), bounds[1] // factor)


def _affine(name: str, x: Affine | None, y: "Affine | int | None" = None) -> Affine | None:
    """Return the result of an operation on integers as an affine function of one argument.

    ``name`` is the operator, ``x`` and ``y`` are its operands; None for an operand that is not
    affine. Return None if the result is not affine.
    """
    if x is None:
        return None
    if type(y) is int:
        if name in ("mul", "rmul") and y:
            return Affine(x.argument, x.factor * y, x.offset * y)
        if name in ("add", "radd", "sub"):
            return x._replace(offset=x.offset + (-y if name == "sub" else y))
        return Affine(x.argument, -x.factor, y - x.offset) if name == "rsub" else None
    if name == "neg":
        return Affine(x.argument, -x.factor, -x.offset)
    if type(y) is not Affine or y.argument != x.argument or name not in ("add", "sub"):
        return None
    sign = 1 if name == "add" else -1
    factor = x.factor + sign * y.factor
    return Affine(x.argument, factor, x.offset + sign * y.offset) if factor else None


class SymbolicInteger(Tensor):
    """A symbolic integer, whose value is known when the captured function runs.

    Attributes
    ----------
    numbers : frozenset of int
        The indices of the arguments from which the integer was computed.
    uses : IntegerUses
        How the trace uses these arguments.
    bound : int
        An upper bound on the magnitude of a Python integer.
    form : Affine, optional
        The integer as a multiple of one argument plus a constant, if it has that form.
    """

    __slots__ = ("bound", "form", "numbers", "uses")

    def refuse_value(self, *_: Any) -> NoReturn:
        """Raise, as an operation needs the value: the argument has to become a constant of the
        trace."""
        uses = getattr(self, "uses", None)
        if uses is not None:
            uses.asked.update(self.numbers)
        refuse("the number of an integer is asked for, which differs from call to call")

    def window(self, item: slice, size: int) -> Tensor | None:
        """Return the indices of a slice that begins at this integer, along an axis of ``size``
        elements.

        Return None unless the length of the slice is the same for all values of the integer. The
        trace then holds only for slices within the axis.
        """
        start, stop = self.form, getattr(item.stop, "form", None)
        step = 1 if item.step is None else item.step
        if start is None or stop is None or type(step) is not int or step < 1:
            return None
        length = stop.offset - start.offset
        is_alike = start[:2] == stop[:2] and length > 0
        if not is_alike or not start.holds(self.uses, 0, size - length):
            return None
        return plain(self) + np.arange(0, length, step)


class PythonInt(SymbolicInteger):
    """A symbolic Python integer, with which an array keeps its dtype in arithmetic."""

    __slots__ = ()
    weak = 1
    __class__ = property(lambda self: int)  # type: ignore[assignment]  what `isinstance` asks for

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Tensor:
        """Convert to a dtype; raise if the result depends on the value, as small integer dtypes may
        overflow."""
        if np.dtype(dtype).kind in "iu" and np.dtype(dtype) != np.int64:
            self.refuse_value()
        return Tensor.astype(self, dtype, *args, **options)


class NumpyInt(SymbolicInteger):
    """A symbolic integer of a NumPy type."""

    __slots__ = ()
    __class__ = property(lambda self: self.dtype.type)  # type: ignore[assignment]


def bind_argument(value: Any, number: int, given: Any, uses: IntegerUses) -> Any:
    """Give the placeholder of an integer argument the attributes of a symbolic integer."""
    uses.given[number] = int(given)
    value.numbers, value.uses, value.bound = frozenset((number,)), uses, MOST
    value.form = Affine(number, 1, 0) if value.dtype == np.int64 else None
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
    """Whether an operation with Python numbers needs the value of a symbolic integer.

    That is so if Python's result may differ from the result for arrays: Python raises an error for
    a division by zero, and the sign of an exponent decides whether the result is an integer.
    """
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
    """Whether Python's operators treat a value like an array; ``n * list`` repeats the list
    instead."""
    return is_operand(value) and not isinstance(value, (list, tuple))


def _method(name: str) -> Callable[..., Any]:
    """Return the method of symbolic integers for the Python operator ``name``.

    The result is a symbolic Python number, too, if all operands are Python numbers.
    """
    operate = getattr(Arithmetic, f"__{name}__")

    def method(self: Any, *others: Any) -> Any:
        if not all(map(_is_array_or_number, others)) or _is_refused(name, others):
            self.refuse_value()
        result = operate(self, *others)
        if type(self) is NumpyInt and all([type(x) in (int, NumpyInt) for x in others]):  # noqa: C419
            form = _form(self, name, others)
            return result if form is None else _made(NumpyInt, result, self, others, form)
        if self.weak is None or not all(map(is_number, others)):
            return result
        if result.dtype.kind in "fc":
            return like(PythonComplex if result.dtype.kind == "c" else PythonFloat, result)
        return _integer(self, name, others, result)

    return method


def _integer(self: Any, name: str, others: tuple[Any, ...], result: Tensor) -> Any:
    """Return the result of an operation as a symbolic Python integer; raise if a value might
    overflow."""
    magnitudes = [x.bound if type(x) is PythonInt else abs(x) for x in others]
    made = _made(PythonInt, result, self, others, _form(self, name, others))
    made.bound = _BOUNDS[name.removeprefix("r")](self.bound, *magnitudes)
    if made.bound >= _EXACT:
        made.refuse_value()
    return made


def _made(
    kind: Any, result: Tensor, self: Any, others: tuple[Any, ...], form: Affine | None
) -> Any:
    """Return the result of an operation as a symbolic integer of class ``kind``."""
    made: Any = like(kind, result)
    made.uses, made.form = self.uses, form
    made.numbers = self.numbers.union(
        *(x.numbers for x in others if isinstance(x, SymbolicInteger))
    )
    return made


def _form(self: Any, name: str, others: tuple[Any, ...]) -> Affine | None:
    return _affine(
        name, self.form, *[x.form if isinstance(x, SymbolicInteger) else x for x in others]
    )


def _comparison(name: str) -> Callable[..., Any]:
    """Return a method that compares a symbolic integer: elementwise with an array.

    With a number the method raises, since Python would need the value of the symbolic integer.
    """
    compare = getattr(Arithmetic, f"__{name}__")

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, np.ndarray) or (isinstance(other, Tensor) and other.weak is None):
            return compare(self, other)
        return self.refuse_value()

    return method


for _name in _ASKING:
    setattr(SymbolicInteger, f"__{_name}__", SymbolicInteger.refuse_value)
for _name in _COMPARING:
    setattr(PythonInt, f"__{_name}__", _comparison(_name))
for _name in OPERATORS:
    setattr(SymbolicInteger, f"__{_name}__", _method(_name))
for _name in IN_PLACE:
    setattr(SymbolicInteger, f"__i{_name}__", getattr(SymbolicInteger, f"__{_name}__"))
