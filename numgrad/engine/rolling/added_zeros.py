"""Zeros that a derivative adds, which need not be added.

The cotangent of an element is that of its array, with zeros elsewhere, so the sum of several
cotangents has terms that are zero. ``x + 0.0`` has the bits of ``x`` for each number but -0.0, and
a sum is -0.0 only if both of its terms are.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from ...ir.kernel_spec import ElementwiseSpec
from ..graph.runtime import runtime


@cache
def zero_plus(dtype: np.dtype) -> ElementwiseSpec:
    """Return the function that adds a number to 0.0, where a kernel that sums begins: a sum of
    nothing but -0.0 is 0.0."""
    return ElementwiseSpec("zero_plus", _zero_plus, (dtype,), (dtype,))


def _zero_plus(x):  # type: ignore[no-untyped-def]  # compiled
    return 0.0 + x


class AddedZeros:
    """What is known of values: some are 0.0, and some are never -0.0."""

    def __init__(self) -> None:
        self._zeros: set[Any] = set()
        self._never_negative_zeros: set[Any] = set()

    def note_number(self, value: Any, number: np.generic) -> None:
        """Note that a value is always a certain number."""
        if number.dtype.kind != "f":
            return
        is_zero, is_negative = bool(number == 0), bool(np.signbit(number))
        if is_zero and not is_negative:
            self._zeros.add(value)
        if not is_zero or not is_negative:
            self._never_negative_zeros.add(value)

    def note_step(self, value: Any, spec: Any, args: Sequence[Any]) -> None:
        """Note a value as the result of a function of other values."""
        is_sum = self._is_sum(spec) and not self._never_negative_zeros.isdisjoint(args)
        if is_sum or spec.name == "zero_plus":
            self._never_negative_zeros.add(value)

    def without(self, spec: Any, args: Sequence[Any]) -> Any:
        """Return the value to which a function adds zero; None for any other function."""
        if spec.name == "zero_plus":
            return args[0] if args[0] in self._never_negative_zeros else None
        if not self._is_sum(spec):
            return None
        one, other = args
        if other in self._zeros and one in self._never_negative_zeros:
            return one
        return other if one in self._zeros and other in self._never_negative_zeros else None

    def _is_sum(self, spec: Any) -> bool:
        add: Any = runtime.roles.add
        return spec.name == add.name and spec is add.spec(spec.in_dtypes[0])


__all__ = ["AddedZeros", "zero_plus"]
