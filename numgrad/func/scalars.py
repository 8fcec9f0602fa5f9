"""Python numbers among the arguments of a captured function: values known later that promote like
the numbers they are."""

from collections.abc import Callable
from typing import Any

from .._tensor import Tensor
from ..functions.arithmetic import Arithmetic


class PythonFloat(Tensor):
    """A Python float that is known when the function is replayed: arrays keep their dtype with
    it."""

    __slots__ = ()
    weak = 1.0


class PythonComplex(Tensor):
    """A Python complex number that is known when the function is replayed."""

    __slots__ = ()
    weak = 1j


def _numbers_stay_numbers(name: str) -> Callable[..., Any]:
    """Return an operator of Python whose result is a Python number if all operands are."""
    operate = getattr(Arithmetic, name)

    def method(self: Any, *others: Any) -> Any:
        result = operate(self, *others)
        if isinstance(result, Tensor) and all(map(_is_number, others)):
            kind = PythonComplex if result.dtype.kind == "c" else PythonFloat
            return like(kind, result) if result.dtype.kind in "fc" else result
        return result

    return method


def _is_number(value: Any) -> bool:
    return type(value) in (PythonFloat, PythonComplex, int, float, complex, bool)


def like(kind: type[Tensor], value: Tensor) -> Tensor:
    """Return ``value`` as a tensor of a class of this module, at the same place in the graph."""
    result = kind.deferred(value.expr, value.expr_slot, value.spec)  # type: ignore[arg-type]
    if value.requires_grad:
        result.move(value.node, value.slot, True)
    return result  # type: ignore[return-value]


for _name in (
    "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv",
    "mod", "rmod", "pow", "rpow", "neg", "pos", "abs",
):  # fmt: skip
    for _kind in (PythonFloat, PythonComplex):
        setattr(_kind, f"__{_name}__", _numbers_stay_numbers(f"__{_name}__"))
