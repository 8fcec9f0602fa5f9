"""Python's operators on tensors; a foreign operand gets its own turn."""

import sys
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..._declare import Elementwise, registry
from ..._declare.dtypes import is_masked
from ..._tensor import Tensor
from ...engine.capture import escapes
from ...engine.record.dispatch import binary, unary
from ...operators.elementwise import arithmetic as _operators
from ..array.operands import is_known
from ..array.pandas_operands import unframed
from ..elementwise import arithmetic, bits, comparison, powers, rounding
from ..indexing import indexing, inplace
from ..products import products, sparse

_OF_OPERANDS = (int, float, complex, np.number, np.bool_, list, tuple, Tensor)

Binary = Callable[[Any, Any], Tensor]


def is_operand(value: Any) -> bool:
    """Return whether ``value`` is a number, array or tensor, no container that may wrap tensors."""
    kind = type(value)
    if kind is Tensor or kind is float or kind is int:
        return True
    if kind is np.ndarray:
        return value.dtype.kind in "biufc"
    if isinstance(value, np.ndarray):
        return (
            type(value).__array_ufunc__ is np.ndarray.__array_ufunc__
            and value.dtype.kind in "biufc"
            and not is_masked(value)
        )
    return isinstance(value, _OF_OPERANDS)


def is_memory(value: Any) -> bool:
    """Return whether NumPy reads ``value`` as an array, and nothing else computes with it."""
    kind = type(value)
    if kind is memoryview or kind is array:
        return True
    is_read = hasattr(kind, "__array__") or hasattr(kind, "__array_interface__")
    return is_read and not any([hasattr(kind, name) for name in _OWN_ARITHMETIC])  # noqa: C419


_OWN_ARITHMETIC = ("__array_ufunc__", "__array_priority__", "__rmul__")


def _with_foreign(function: Binary, a: Any, b: Any) -> Any:
    """Return what an operator means where one operand is of pandas or sparse, or memory that NumPy
    reads; ``NotImplemented`` where any other library is to answer."""
    if is_memory(a) or is_memory(b):
        return function(a, b)
    first, second = unframed(a), unframed(b)
    if first is a and second is b:
        return sparse.combined(function, a, b)
    return function(first, second)


def _direct(operator: Elementwise, function: Binary) -> Binary:
    """Return the method of two operands whose function is an operator: the short way first."""

    def operate(self: Any, other: Any) -> Tensor:
        kind = type(other)
        if kind is Tensor or kind is float or kind is int:
            return binary(operator, self, other)
        if is_operand(other):
            return function(self, other)
        return _with_foreign(function, self, other)

    operate.__doc__ = f"The same as `{function.__name__}` of the two operands."
    return operate


def _direct_reflected(operator: Elementwise, function: Binary) -> Binary:
    def operate(self: Any, other: Any) -> Tensor:
        kind = type(other)
        if kind is float or kind is int:
            return binary(operator, other, self)
        if is_operand(other):
            return function(other, self)
        return _with_foreign(function, other, self)

    operate.__doc__ = f"The same as `{function.__name__}` of the two operands."
    return operate


def _forward(function: Binary) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Tensor:
        if is_operand(other):
            return function(self, other)
        return _with_foreign(function, self, other)

    operate.__doc__ = f"The same as `{function.__name__}` of the two operands."
    return operate


def _in_place(function: Binary) -> Binary:
    def operate(self: Any, other: Any) -> Tensor:
        other = other if is_operand(other) else unframed(other)
        is_known = is_operand(other) or is_memory(other)
        return inplace.assign(function, self, other) if is_known else NotImplemented

    operate.__doc__ = "Write the result of the operation here; gradients follow."
    return operate


def _reflected(function: Binary) -> Callable[[Any, Any], Any]:
    def operate(self: Any, other: Any) -> Tensor:
        if is_operand(other):
            return function(other, self)
        return _with_foreign(function, other, self)

    operate.__doc__ = f"The same as `{function.__name__}` of the two operands."
    return operate


_EQUAL, _NOT_EQUAL = _forward(comparison.equal), _forward(comparison.not_equal)


def _floor_and_rest(a: Any, b: Any) -> Any:
    return rounding.floor_divide(a, b), rounding.remainder(a, b)


_DIVMOD, _REFLECTED_DIVMOD = _forward(_floor_and_rest), _reflected(_floor_and_rest)


class Arithmetic:
    """What `Tensor` answers to Python's operators; ``functions.binding`` gives it to the class."""

    __slots__ = ()

    __add__ = _direct(_operators.add, arithmetic.add)
    __radd__ = _direct_reflected(_operators.add, arithmetic.add)
    __sub__ = _direct(_operators.subtract, arithmetic.subtract)
    __rsub__ = _direct_reflected(_operators.subtract, arithmetic.subtract)
    __mul__ = _direct(_operators.multiply, arithmetic.multiply)
    __rmul__ = _direct_reflected(_operators.multiply, arithmetic.multiply)
    __truediv__ = _direct(_operators.divide, arithmetic.divide)
    __rtruediv__ = _direct_reflected(_operators.divide, arithmetic.divide)
    __floordiv__ = _forward(rounding.floor_divide)
    __rfloordiv__ = _reflected(rounding.floor_divide)
    __mod__, __rmod__ = _forward(rounding.remainder), _reflected(rounding.remainder)
    __pow__, __rpow__ = _forward(powers.pow), _reflected(powers.pow)
    __matmul__, __rmatmul__ = _forward(products.matmul), _reflected(products.matmul)

    __and__, __rand__ = _forward(bits.bitwise_and), _reflected(bits.bitwise_and)
    __or__, __ror__ = _forward(bits.bitwise_or), _reflected(bits.bitwise_or)
    __xor__, __rxor__ = _forward(bits.bitwise_xor), _reflected(bits.bitwise_xor)
    __lshift__ = _forward(bits.bitwise_left_shift)
    __rlshift__ = _reflected(bits.bitwise_left_shift)
    __rshift__ = _forward(bits.bitwise_right_shift)
    __rrshift__ = _reflected(bits.bitwise_right_shift)

    __iadd__, __isub__ = _in_place(_operators.add), _in_place(_operators.subtract)
    __imul__, __itruediv__ = _in_place(_operators.multiply), _in_place(_operators.divide)
    __ipow__, __ifloordiv__ = _in_place(registry["pow"]), _in_place(registry["floor_divide"])
    __imod__, __imatmul__ = _in_place(registry["remainder"]), _in_place(products.matmul)
    __iand__, __ior__ = _in_place(bits.bitwise_and), _in_place(bits.bitwise_or)
    __ixor__ = _in_place(bits.bitwise_xor)
    __ilshift__ = _in_place(bits.bitwise_left_shift)
    __irshift__ = _in_place(bits.bitwise_right_shift)

    __lt__, __le__ = _forward(comparison.less), _forward(comparison.less_equal)
    __gt__, __ge__ = _forward(comparison.greater), _forward(comparison.greater_equal)

    def __eq__(self, other: object) -> Tensor:  # type: ignore[override]
        """Compare the elements; the result is a boolean tensor."""
        return _EQUAL(self, other)

    def __ne__(self, other: object) -> Tensor:  # type: ignore[override]
        """Compare the elements; the result is a boolean tensor."""
        return _NOT_EQUAL(self, other)

    def __hash__(self: Any) -> int:
        """Return the hash of an integer or a truth value, to be found as a key; arrays, whose
        elements may change, and other tensors go by identity."""
        is_key = self.is_scalar and self.dtype.kind in "iub"
        return hash(self.item()) if is_key else object.__hash__(self)

    def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        """Return the floor of the quotient, and the remainder."""
        return _DIVMOD(self, other)  # type: ignore[return-value]

    def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]:
        """Return the floor of the quotient, and the remainder."""
        return _REFLECTED_DIVMOD(self, other)  # type: ignore[return-value]

    def __neg__(self) -> Tensor:
        return unary(_operators.negative, self)

    def __pos__(self) -> Tensor:
        return arithmetic.positive(self)

    def __abs__(self) -> Tensor:
        return arithmetic.abs(self)

    def __invert__(self) -> Tensor:
        return bits.bitwise_invert(self)

    def __round__(self: Any, ndigits: int | None = None) -> Tensor | int:
        """Return a Python integer where no digits are asked for, as numbers of NumPy do."""
        if ndigits is None and not self.shape and self.dtype.kind != "c" and is_known(self):
            return round(self._on_host().item())
        return rounding.round(self, ndigits or 0)

    # Elements -------------------------------------------------------------------------------------

    __getitem__ = indexing.getitem

    def __setitem__(self: Any, key: Any, value: Any) -> None:
        """Write ``value`` to the elements at ``key``; gradients flow to ``value``."""
        inplace.setitem(self, key, value)

    def __len__(self: Any) -> int:
        """Return the size of the first axis."""
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        if self.requires_grad and sparse.is_for_diagonals(sys._getframe(1)):
            escapes.refuse_escape(self, "np.asarray", escapes.ARRAY)
        return self.shape[0]

    def __iter__(self: Any) -> Iterator[Tensor]:
        """Iterate over the first axis."""
        if not self.shape:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        """Return whether some element equals ``value``."""
        equal = self == value
        return bool(np.any(equal._on_host())) if isinstance(equal, Tensor) else False
