"""Symbolic floats: Python's float and complex arguments of a captured function.

The value of a symbolic float is known when the function runs. Until then it promotes like a number
of Python.
"""

from collections.abc import Callable
from typing import Any, NoReturn

from ..._tensor import Tensor
from ...engine.capture.capture import refuse
from ...functions.array.operands import like
from ...functions.tensor.python_operators import Arithmetic


def _refuse_as_key(number: Any) -> NoReturn:
    refuse(
        "a number among the arguments is a key, or looked for in a set, and is known only when the "
        "function is replayed. Name it in static_argnums or static_argnames."
    )


class PythonFloat(Tensor):
    """A symbolic Python float, with which an array keeps its dtype in arithmetic."""

    __slots__ = ()
    weak = 1.0
    __class__ = property(lambda self: float)  # type: ignore[assignment]  what `isinstance` asks for
    __hash__ = _refuse_as_key  # type: ignore[assignment]


class PythonComplex(Tensor):
    """A symbolic Python complex number."""

    __slots__ = ()
    weak = 1j
    __class__ = property(lambda self: complex)  # type: ignore[assignment]
    __hash__ = _refuse_as_key  # type: ignore[assignment]


def _numbers_stay_numbers(name: str) -> Callable[..., Any]:
    """Return the method ``name`` of symbolic Python floats, for a Python operator.

    The result is a symbolic Python number, too, if all operands are Python numbers.
    """
    operate = getattr(Arithmetic, name)

    def method(self: Any, *others: Any) -> Any:
        result = operate(self, *others)
        if isinstance(result, Tensor) and all(map(is_number, others)):
            kind = PythonComplex if result.dtype.kind == "c" else PythonFloat
            return like(kind, result) if result.dtype.kind in "fc" else result
        return result

    return method


def is_number(value: Any) -> bool:
    """Whether a value is a number of Python, or stands for one."""
    return type(value) in (int, float, complex, bool) or getattr(value, "weak", None) is not None


def _refusing(what: str) -> Callable[..., NoReturn]:
    """Return a method of symbolic floats that raises, since its result would depend on the value.

    ``what`` names the result in the error.
    """

    def refuse_value(*_: Any) -> NoReturn:
        refuse(
            f"{what} of a number among the arguments needs the number, which is known only when "
            f"the function is replayed. Name it in static_argnums or static_argnames, or compute "
            f"with ng.round, ng.trunc and the like, whose results are tensors."
        )

    return refuse_value


IN_PLACE = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
"""Operators whose in-place forms return another number."""
OPERATORS = (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv",
    "mod", "rmod", "pow", "rpow", "neg", "pos", "abs",
)  # fmt: skip
"""Operators whose results are Python numbers if all operands are."""

for _kind in (PythonFloat, PythonComplex):
    for _name in OPERATORS:
        setattr(_kind, f"__{_name}__", _numbers_stay_numbers(f"__{_name}__"))
    for _name in IN_PLACE:
        setattr(_kind, f"__i{_name}__", getattr(_kind, f"__{_name}__"))
    _kind.__repr__ = _refusing("the text")  # type: ignore[method-assign]
PythonFloat.conjugate = lambda self: self  # type: ignore[method-assign]
PythonFloat.real = property(lambda self: self)  # type: ignore[assignment]
PythonFloat.imag = property(lambda self: 0.0)  # type: ignore[assignment]
PythonFloat.__divmod__ = lambda self, other: (self // other, self % other)  # type: ignore
for _name in ("round", "trunc"):
    setattr(PythonFloat, f"__{_name}__", _refusing(f"{_name}()"))
for _name in ("is_integer", "as_integer_ratio", "hex"):
    setattr(PythonFloat, _name, _refusing(f"{_name}()"))
