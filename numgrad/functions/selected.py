"""Elements that a mask selects, where neither is known yet: ``x[mask]`` in a captured function.

How many there are is not known, so functions of elements compute all of them, and the mask says
which ones count. Where it does not hold there is a 1 instead of what is computed with: nothing that
becomes of it is written anywhere, and no gradient comes back from there.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from .._declare import Elementwise
from .._tensor import Tensor
from ..engine.capture import where
from ..engine.graph import ForeignStorage
from ..operators import elementwise as _elementwise
from ..operators import shape as _shape
from .keys import refuse_mask
from .operands import as_tensor, is_known


def is_late_mask(x: Tensor, key: Any) -> bool:
    """Whether a key is a mask of the first axes of ``x`` that is known only later."""
    is_mask = isinstance(key, Tensor) and key.dtype.kind == "b"
    return is_mask and not is_known(key) and key.shape == x.shape[: key.ndim] != ()


def spread(mask: Tensor, x: Tensor, ndim: int, other: Tensor | None = None) -> Tensor:
    """Return ``x`` where a mask of the first of ``ndim`` axes holds, ``other`` or 1 elsewhere."""
    mask = _shape.expand_dims(mask, axes=tuple(range(mask.ndim - ndim, 0)))
    return _elementwise.where(mask, x, Tensor(np.ones((), x.dtype)) if other is None else other)


class Selected(np.lib.mixins.NDArrayOperatorsMixin):
    """What ``x[mask]`` gives: an operand of functions of elements, together with numbers and with
    what an equal mask selects, that can be written to ``y[mask]``."""

    def __init__(self, mask: Tensor, values: Tensor, expr: Any = None) -> None:
        self._mask, self._values, self._where = mask, values, where()
        self._expr = mask.expr if expr is None else expr  # the mask may be written later

    def applied(self, operator: Any, args: Sequence[Any]) -> "Selected":
        """Return what a function of elements makes of arguments with such a one among them."""
        return Selected(self._mask, operator(*map(self._operand, args)), self._expr)

    def written(self, x: Tensor, key: Any) -> Tensor:
        """Return what ``x`` becomes when this is written to ``x[key]``."""
        if not is_late_mask(x, key) or not _is_same(key, self._expr) or self._values.ndim != x.ndim:
            self.refuse()
        return spread(key, self._values.astype(x.dtype, copy=False), x.ndim, x)

    def _operand(self, x: Any) -> Any:
        if isinstance(x, Selected):
            return x._values if _is_same(x._expr, self._expr) else self.refuse()
        if isinstance(x, (bool, int, float, complex)):
            return x
        late = getattr(x, "weak", None)
        x = as_tensor(x) if late is None else x.astype(np.result_type(self._values.dtype, late))
        if x.ndim > self._values.ndim - self._mask.ndim or self._mask.expr is not self._expr:
            self.refuse()
        return spread(self._mask, x, self._values.ndim)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from .tables import UFUNCS  # which is made of all functions

        function = UFUNCS.get(ufunc)
        if function is None or method != "__call__" or options.keys() - {"out"}:
            self.refuse()
        return function(*inputs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.refuse()

    def refuse(self, *args: Any, **options: Any) -> NoReturn:
        """Raise for what would have a shape that is not known."""
        refuse_mask(self._mask.shape, self._where)

    __array__ = __array_function__ = __bool__ = __getitem__ = __iter__ = __len__ = refuse
    __setitem__ = __float__ = __int__ = __index__ = refuse


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values, or expressions, are or compute the same: functions of elements, of the
    same operands."""
    first, second = one.expr, other.expr
    if first is None or second is None:
        return first is second and _are_equal(one, other)
    if first is second:
        return one.expr_slot == other.expr_slot
    if first.operator is not second.operator or not isinstance(first.operator, Elementwise):
        return False
    return all(map(_is_same, first.inputs, second.inputs))


def _are_equal(one: Tensor, other: Tensor) -> bool:
    """Whether arrays are one, or constants of the function with the same numbers."""
    if one.array is other.array:
        return True
    if any(isinstance(x.storage, ForeignStorage) for x in (one, other)):
        return False
    if one.array is None or other.array is None:
        return False
    return one.dtype == other.dtype and np.array_equal(one.array, other.array)
