"""Elements that a mask selects, where neither is known yet: ``x[mask]`` in a captured function.

How many there are is not known, so functions of elements compute all of them, and the mask says
which ones count. Where it does not hold there is a 1 instead of what is computed with: nothing that
becomes of it is written or added up anywhere, and no gradient comes back from there.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..._declare import Elementwise
from ..._declare.operands import Selection
from ..._tensor import Tensor
from ...engine.capture.capture import user_line
from ...engine.graph.value import ForeignStorage
from ...operators.elementwise import arithmetic as _elementwise
from ...operators.shape import reshape as _shape
from ..array.axes import kept, normalize_axis_tuple
from ..array.operands import as_tensor, is_known
from .keys import WHOLE, adjacent, expand, has_window, is_basic, plain_numbers, refuse_mask


class Part(NamedTuple):
    """What a mask that is known only later selects from: a tensor, and how many of its axes stand
    behind those of the mask."""

    whole: Tensor
    mask: Tensor
    behind: int


def part_of(x: Tensor, key: Any) -> Part | None:
    """Return what the mask in a key selects from, the view of ``x`` at the integers and slices
    beside it; None for other keys, and for those whose result has its axes in another order."""
    items = plain_numbers(key if type(key) is tuple else (key,), x.ndim)
    masks = [item for item in items if _is_late(item)]
    others = tuple([item for item in items if not _is_late(item)])
    if len(masks) != 1 or not is_basic(others) or has_window(others):
        return None
    (mask,) = masks
    full = expand([np.empty(mask.shape, bool) if i is mask else i for i in items], x.ndim)
    at = list(map(type, full)).index(np.ndarray)
    front, back = full[:at], full[at + 1 :]
    axis = len(front) - front.count(None)
    is_ahead = not {int}.issuperset(map(type, front))  # an axis of the result is before the mask's
    if x.shape[axis : axis + mask.ndim] != mask.shape or (is_ahead and not adjacent(full)):
        return None
    rest = (*front, *(WHOLE,) * mask.ndim, *back)
    whole = x if all([item == WHOLE for item in rest]) else x[rest]  # noqa: C419
    return Part(whole, mask, sum(type(item) is not int for item in back))


def _is_late(item: Any) -> bool:
    is_mask = isinstance(item, Tensor) and item.dtype.kind == "b"
    return is_mask and not is_known(item)


def spread(part: Part, x: Tensor, other: Tensor | None = None) -> Tensor:
    """Return ``x`` where the mask of a part holds, ``other`` or 1 elsewhere."""
    one = Tensor(np.ones((), x.dtype)) if other is None else other
    return _elementwise.where(spread_mask(part), x, one)


def spread_mask(part: Part) -> Tensor:
    """Return the mask of a part with the axes that stand behind its own."""
    return _shape.expand_dims(part.mask, axes=tuple(range(-part.behind, 0)))


class Selected(Selection, np.lib.mixins.NDArrayOperatorsMixin):
    """What ``x[mask]`` gives: an operand of functions of elements, together with numbers and with
    what an equal mask selects, that can be written to ``y[mask]`` and reduced to a sum."""

    def __init__(self, part: Part, values: Tensor, expr: Any = None) -> None:
        self._part, self._values, self._where = part, values, user_line()
        self._expr = part.mask.expr if expr is None else expr  # the mask may be written later

    @property
    def ndim(self) -> int:
        """The number of axes; a single axis stands for all axes of the mask."""
        return self._values.ndim - self._part.mask.ndim + 1

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the elements."""
        return self._values.dtype

    def applied(self, operator: Any, args: Sequence[Any]) -> "Selected":
        """Return the result of an elementwise operator on arguments of which one is a selection."""
        return Selected(self._part, operator(*map(self._operand, args)), self._expr)

    def reduced(
        self, function: Any, axis: Any, keepdims: Any, where: Any = True, **options: Any
    ) -> Any:
        """Return the result of a reduction: a tensor, or a selection if the axis of the selected
        elements stays."""
        if where is not True or self._part.mask.expr is not self._expr:
            self.refuse()
        axes = range(self.ndim) if axis is None else axis
        axes = normalize_axis_tuple(axes, self.ndim)
        inside = tuple([place for axis in axes for place in self._places(axis)])
        if self._axis not in axes:
            return self._with_fewer_axes(function, axes, inside, kept(keepdims), options)
        counted = spread_mask(self._part)
        y = function(self._values, axis=inside, keepdims=kept(keepdims), where=counted, **options)
        if not kept(keepdims) or self._part.mask.ndim == 1:
            return y
        gone = tuple(range(self._axis, self._axis + self._part.mask.ndim))
        return _shape.reshape(y, ncore=y.ndim, shape=self._shape_of_one(y.shape, gone))

    @property
    def _axis(self) -> int:
        """The axis along which the selected elements lie."""
        return self.ndim - 1 - self._part.behind

    def _places(self, axis: int) -> Sequence[int]:
        """Return the axes of all elements for which an axis of the selection stands."""
        axes = self._part.mask.ndim
        if axis == self._axis:
            return range(axis, axis + axes)
        return (axis if axis < self._axis else axis + axes - 1,)

    def _shape_of_one(self, shape: tuple[int, ...], gone: Sequence[int]) -> tuple[int, ...]:
        left = [size for axis, size in enumerate(shape) if axis not in gone]
        return (*left[: self._axis], 1, *left[self._axis :])

    def _with_fewer_axes(
        self, function: Any, axes: Sequence[int], inside: Sequence[int], stay: bool, options: Any
    ) -> "Selected":
        values = function(self._values, axis=inside, keepdims=stay, **options)
        gone = 0 if stay else sum(axis > self._axis for axis in axes)
        return Selected(self._part._replace(behind=self._part.behind - gone), values, self._expr)

    def product(self, other: Any) -> Tensor:
        """Return the sum of the products with what an equal mask selects."""
        if not isinstance(other, Selected) or self.ndim != 1 or other.ndim != 1:
            self.refuse()
        return (self * other).sum()

    __matmul__ = dot = product

    def written(self, part: Part | None) -> Tensor:
        """Return what a part becomes when this is written where its mask holds."""
        if part is None or not _is_same(part.mask, self._expr) or not self._is_like(part):
            self.refuse()
        values = self._values.astype(part.whole.dtype, copy=False)
        return spread(part, values, part.whole)

    def _is_like(self, part: Part) -> bool:
        return (part.behind, part.whole.ndim) == (self._part.behind, self._values.ndim)

    def _operand(self, x: Any) -> Any:
        if isinstance(x, Selected):
            is_alike = _is_same(x._expr, self._expr) and x._part.behind == self._part.behind
            return x._values if is_alike else self.refuse()
        if isinstance(x, (bool, int, float, complex)):
            return x
        late = getattr(x, "weak", None)
        x = as_tensor(x) if late is None else x.astype(np.result_type(self._values.dtype, late))
        if x.ndim > self._part.behind or self._part.mask.expr is not self._expr:
            self.refuse()
        return spread(self._part, x)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from ..tensor.numpy_table import UFUNCS  # which is made of all functions

        function = UFUNCS.get(ufunc)
        out = options.pop("out", None)
        if function is None or method != "__call__" or options:
            self.refuse()
        y = function(*inputs)
        return y if out is None else self._assigned(y, *out)

    def _assigned(self, y: Any, out: Any) -> "Selected":
        """Return ``out``, a selection like this one, with the elements of another one in place of
        its own."""
        if not isinstance(y, Selected) or not isinstance(out, Selected):
            self.refuse()
        if (y._part.behind, y._values.shape) != (out._part.behind, out._values.shape):
            self.refuse()
        if not np.can_cast(y.dtype, out.dtype, "same_kind"):
            raise TypeError(f"{y.dtype} cannot be written to elements of {out.dtype}")
        out._values = y._values.astype(out.dtype, copy=False)
        return out

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        from ..tensor.numpy_table import functions
        from ..tensor.protocols import answered

        own = functions().get(function)
        if own is None:
            self.refuse()
        return answered(f"np.{function.__name__}", function, own, args, options)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _METHODS:
            from ..tensor.numpy_table import functions

            return partial(functions()[getattr(np, name)], self)
        self.refuse()

    def refuse(self, *args: Any, **options: Any) -> NoReturn:
        """Raise for what would have a shape that is not known."""
        refuse_mask(self._part.mask.shape, self._where)

    __array__ = __bool__ = __getitem__ = __iter__ = __len__ = refuse
    __setitem__ = __float__ = __int__ = __index__ = refuse


_METHODS = frozenset({"sum", "prod", "mean", "var", "std", "max", "min", "any", "all"})
"""Methods of arrays that reduce them."""


def _is_same(one: Any, other: Any) -> bool:
    """Whether two values, or expressions, are or compute the same: functions of elements and views,
    of the same operands."""
    first, second = one.expr, other.expr
    if first is None or second is None:
        return first is second and _are_equal(one, other)
    if first is second:
        return one.expr_slot == other.expr_slot
    alike = isinstance(first.operator, Elementwise) or (
        first.operator.is_view and first.static == second.static
    )
    if first.operator is not second.operator or not alike:
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
