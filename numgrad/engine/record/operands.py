"""Operands: numbers, arrays and tensors are converted before an elementwise operator is applied.

Numbers of Python and NumPy, arrays, and tensors of another dtype or with fewer axes become values
of the dtype and the number of axes that the operator computes with. How an argument is converted
depends on its `descriptor` alone, so the conversion is worked out once and kept beside the
operator's plan.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy import array as array_of  # NumPy's own, also where numgrad answers for ``np.array``

from ...ir.dtypes import FLOATING, NUMBERS
from ...process.bounded_dict import Bounded
from ..graph.kind import Kind, keep
from ..graph.value import CPU, ForeignStorage, Spec, Value, device_of, spec_of
from .apply import mode, other_modes, runtime
from .plan import Mixture, make_plan, plan_of

_MOST_CONSTANTS = 256
_new = object.__new__
_PYTHON = frozenset({bool, int, float})
_SEQUENCES = frozenset({list, tuple})
_FLOATING = frozenset(FLOATING)

ConvertedOperand = tuple[Any, np.ndarray | None]
Converter = Callable[[Any, Sequence[Any]], ConvertedOperand]
"""Converts one of several arguments: returns the value for it, and the array that the kernel reads.
The array is None for a value that is still to be computed."""


def descriptor(arg: Any) -> Hashable:
    """Return the key by which the conversion of an argument is found.

    The key is the spec of a tensor, dtype and shape of an array, or the type of any other argument.
    """
    kind = type(arg)
    if kind is runtime.value:
        return arg.spec
    return (arg.dtype, arg.shape) if kind is np.ndarray else kind


def as_value(arg: Any, other: Any) -> Any:
    """Return a list or tuple of numbers, perhaps nested, as a value; any other argument unchanged.

    Beside an operand ``other`` on a device, the list becomes an array, which is moved to the device
    later.
    """
    if type(arg) not in _SEQUENCES or not _is_of_numbers(arg):
        return arg
    array = np.asarray(arg)
    if array.dtype.kind == "O":
        return arg
    is_here = type(other) is not runtime.value or other.spec.device == CPU
    return runtime.value(array) if is_here else array


def _is_of_numbers(items: Any) -> bool:
    if _PYTHON.issuperset(map(type, items)):
        return True
    return all([type(item) in _SEQUENCES and _is_of_numbers(item) for item in items])  # noqa: C419


class NumberConverter:
    """Converts numbers of one type to operands beside values of a certain spec.

    The operand is a value with as many axes as the spec. The kernel reads an array without axes
    instead, with which NumPy calls it in half the time. On a device the array is there.
    """

    __slots__ = ("_minus_zero", "_range", "_target", "_zero", "dtype", "known", "shape")

    def __init__(self, spec: Spec, device: str = CPU) -> None:
        self.shape, self.dtype = spec.shape, spec.dtype
        self._target = None if device == CPU else runtime.targets[device]
        self._range = np.iinfo(spec.dtype) if spec.dtype.kind in "iu" else None
        self.known: dict[Any, ConvertedOperand] = Bounded(_MOST_CONSTANTS)
        self._zero, self._minus_zero = self._made(0.0), self._made(-0.0)

    def __call__(self, number: Any, args: Sequence[Any] = ()) -> ConvertedOperand:
        return self.known.get(number) or self._remembered(number)

    def _remembered(self, number: Any) -> ConvertedOperand:
        if isinstance(number, (complex, np.complexfloating)):
            return self._made(number)  # 1 + 0j and 1 - 0j are equal, and would share a key
        if number == 0:  # 0.0 and -0.0 are equal too
            return self._minus_zero if str(number)[0] == "-" else self._zero
        if self._range is not None and not self._range.min <= number <= self._range.max:
            return number, None  # an integer that is too large for the dtype may become a float
        made = self._made(number)
        if number == number:  # a NaN as a key is never found again
            self.known[number] = made
        return made

    def _made(self, number: Any) -> ConvertedOperand:
        array = np.asarray(number, self.dtype)
        array.flags.writeable = False
        value = runtime.value(array.reshape(self.shape))
        return value, array if self._target is None else self._target.constant(array)


class ArrayConverter:
    """Converts a user's array to an operand on the device of the other operands.

    An array that the derivative reads (``is_read``) is copied, as the user may write into it before
    a pass reads it.
    """

    __slots__ = ("is_read", "ndim", "spec")

    def __init__(self, spec: Spec, is_read: bool) -> None:
        self.spec, self.ndim, self.is_read = spec, len(spec.shape), is_read

    def __call__(self, array: np.ndarray, args: Sequence[Any]) -> ConvertedOperand:
        own = self.is_read and _any_requires_grad(args)  # the user may write before a pass reads it
        taken = array_of(array, self.spec.dtype, copy=own or None, ndmin=self.ndim)
        if self.spec.device != CPU:
            taken = runtime.placed(taken, self.spec.device)
        return constant(taken, self.spec), taken


def constant(array: np.ndarray, spec: Spec) -> Any:
    """Wrap an array in a value that does not require grad, as an operand of one operation.

    The value has no storage, even if the array is the user's. So nodes save the value as it is, and
    the caller must have copied the array if a node will save it.
    """
    value = _new(runtime.value)
    value.array, value.spec = array, spec
    value._requires_grad = value._kept = False
    value.node = value.expr = value._view = value._leaf = value._storage = None
    value.slot = value.expr_slot = 0
    return value


def with_constants(args: tuple[Any, ...], arrays: str) -> tuple[Any, ...]:
    """Return the arguments with a value in place of each array of floating or complex numbers.

    Nothing is changed unless there is such an array and, beside it, a value of the CPU.

    Parameters
    ----------
    arrays : {"read", "unread", "items"}
        With ``"items"`` the arrays are those in lists and tuples among the arguments, else those
        among the arguments themselves. With ``"read"`` the derivative reads the arrays, so they are
        copied: the user may write into them before a pass reads them.
    """
    if arrays == "items":
        return tuple([_constants(x, "") if type(x) in _SEQUENCES else x for x in args])
    return _constants(args, arrays)


def with_user_arrays(args: tuple[Any, ...], items: bool = False) -> tuple[Any, ...]:
    """Return the arguments of a captured operation with a value in place of each array of the user,
    which a replay reads anew.

    With ``items`` the arrays are those in lists and tuples among the arguments. Nothing is changed
    unless all tensors beside the arrays are on the CPU.
    """
    if items:
        return tuple([with_user_arrays(tuple(x)) if type(x) in _SEQUENCES else x for x in args])
    kinds = set(map(type, args))
    if np.ndarray not in kinds or runtime.value not in kinds:
        return args
    taken = [_is_plain(x) or (type(x) is np.ndarray and x.dtype == bool) for x in args]
    return tuple(map(_of_user, args)) if all(taken) else args


def _of_user(x: Any) -> Any:
    return runtime.value(x, False, ForeignStorage()) if type(x) is np.ndarray else x


def _constants(operands: Any, arrays: str) -> Any:
    kinds = {type(x) for x in operands}
    if np.ndarray not in kinds or runtime.value not in kinds or not all(map(_is_plain, operands)):
        return operands
    own = arrays == "read" and _any_requires_grad(operands)
    return type(operands)([_as_constant(x, own) for x in operands])


def _is_plain(x: Any) -> bool:
    """Whether an operand lets the arrays among all operands become constants.

    A value on a device does not, and neither does an array whose dtype is not one of ``FLOATING``.
    """
    if type(x) is runtime.value:
        return x.spec.device == CPU
    return type(x) is not np.ndarray or x.dtype in _FLOATING


def _as_constant(x: Any, own: bool) -> Any:
    if type(x) is not np.ndarray:
        return x
    return constant(x.copy() if own else x, spec_of(x.shape, x.dtype))


def _any_requires_grad(args: Sequence[Any]) -> bool:
    """Whether gradients are recorded and one of the arguments requires grad."""
    if other_modes and not mode.grad:
        return False
    kind = runtime.value
    for arg in args:  # noqa: SIM110  it is faster
        if type(arg) is kind and arg.requires_grad:
            return True
    return False


class TensorConverter:
    """Converts a tensor of another dtype or with fewer axes; the ``plans`` are those of ``astype``
    and ``expand_dims``."""

    __slots__ = ("apply", "is_view", "plans")

    def __init__(self, plans: Sequence[Kind], apply: Callable[[Kind, Value], Value]) -> None:
        self.plans, self.apply = plans, apply
        self.is_view = len(plans) == 1 and bool(plans[0].step)  # only ``expand_dims``

    def __call__(self, value: Any, args: Sequence[Any]) -> ConvertedOperand:
        for plan in self.plans:
            record = plan.recorder
            made = None if record is None or other_modes else record(value)
            value = self.apply(plan, value) if made is None else made
        return value, value.array


def learn_elementwise(
    operator: Any,
    args: Sequence[Any],
    values: tuple[Value, ...],
    apply: Callable[[Kind, Value], Value],
) -> tuple[Kind, list[Converter | None]] | None:
    """Keep a plan for applications of an elementwise operator to arguments like ``args``.

    If arguments have to be converted, a `Mixture` is kept, too. The plan is returned with the
    functions that convert the arguments, None if there is no plan.

    Parameters
    ----------
    values : tuple of Value
        The operands into which the arguments were converted.
    apply : callable
        Applies the plan of a conversion to a value.
    """
    if any([value.rows for value in values]):  # noqa: C419  a list is faster
        return None
    plan = plan_of(operator, {}, values, at_once=True)
    if plan is None:
        return None
    operands: list[Converter | None] = []
    device = device_of(plan.inputs)
    for n, (arg, value) in enumerate(zip(args, values, strict=True)):
        if arg is value and type(arg) is runtime.value:
            operands.append(None)
            continue
        is_read = any(r is not None and r[n] for r in plan.reads)
        made = converter_of(arg, value.spec, is_read, apply, device)
        if made is None:
            return None
        operands.append(made)
    if any(operands):
        keep(operator, operator.kinds, tuple(map(descriptor, args)), Mixture(plan, operands))
    return plan, operands


def converter_of(
    arg: Any, spec: Spec, is_read: bool, apply: Any, device: str
) -> Converter | None:
    """Return the function that converts an argument to an operand of a spec; None if there is none.

    ``is_read`` says whether the derivative reads the operand; ``apply`` applies the plan of a
    conversion.
    """
    kind = type(arg)
    if kind is runtime.value:
        plans = _conversions(arg.spec, spec)
        return None if plans is None else TensorConverter(plans, apply)
    if kind is np.ndarray:
        return ArrayConverter(spec, is_read)
    return NumberConverter(spec, device) if isinstance(arg, NUMBERS) else None


def _conversions(spec: Spec, wanted: Spec) -> list[Kind] | None:
    """Return plans that convert a value of one spec to another; None if one cannot be made."""
    plans = []
    if spec.dtype != wanted.dtype:
        plans.append(make_plan(runtime.roles.astype, {"dtype": wanted.dtype}, (spec,)))
        spec = plans[-1].spec if plans[-1] else spec
    missing = len(wanted.shape) - len(spec.shape)
    if missing:
        axes = tuple(range(-len(wanted.shape), missing - len(wanted.shape)))
        plans.append(make_plan(runtime.roles.expand_dims, {"axes": axes}, (spec,)))
    return None if None in plans else plans  # type: ignore[return-value]
