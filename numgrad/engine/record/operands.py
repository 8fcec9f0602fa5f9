"""Operands of every kind: what each becomes before an elementwise operator is applied to it.

Numbers of Python and NumPy, arrays, and tensors of another dtype or with fewer axes become values
of the dtype and the number of axes that the operator computes with. What has to be done depends on
the `descriptor` of an operand alone, so it is worked out once and kept beside the operator's plan.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from ..._declare.dtypes import NUMBERS
from ..._declare.operator import FLOATING
from ...process.bounded_dict import Bounded
from ..graph.value import CPU, Spec, Value, spec_of
from .apply import mode, runtime, unusual
from .plan import Mixture, Plan, keep, make_plan, plan_of

_MOST_CONSTANTS = 256
_new = object.__new__
_PYTHON = frozenset({bool, int, float})
_SEQUENCES = frozenset({list, tuple})
_FLOATING = frozenset(FLOATING)

Taken = tuple[Any, np.ndarray | None]
Operand = Callable[[Any, Sequence[Any]], Taken]
"""Returns, for one of several arguments, the value that stands for it and the array that the kernel
reads; that is None for what is still to be computed."""


def descriptor(arg: Any) -> Hashable:
    """Return what decides what becomes of an argument: its spec, the dtype and shape of an array,
    or the type of a number."""
    kind = type(arg)
    if kind is runtime.value:
        return arg.spec
    return (arg.dtype, arg.shape) if kind is np.ndarray else kind


def as_value(arg: Any, other: Any) -> Any:
    """Return nested lists and tuples of numbers as a value, for which plans are kept, or as an
    array beside another operand on a device, which takes it there; others as they are."""
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


class Number:
    """The operands that numbers of one type stand for beside values of a certain spec.

    An operand goes with an array of no axes: NumPy calls a kernel with it in half the time.
    """

    __slots__ = ("_minus_zero", "_zero", "dtype", "known", "shape")

    def __init__(self, spec: Spec) -> None:
        self.shape, self.dtype = spec.shape, spec.dtype
        self.known: dict[Any, Taken] = Bounded(_MOST_CONSTANTS)
        self._zero, self._minus_zero = self._made(0.0), self._made(-0.0)

    def __call__(self, number: Any, args: Sequence[Any] = ()) -> Taken:
        return self.known.get(number) or self._remembered(number)

    def _remembered(self, number: Any) -> Taken:
        if isinstance(number, (complex, np.complexfloating)):
            return self._made(number)  # 1 + 0j and 1 - 0j would be one key
        if number == 0:  # as 0.0 and -0.0 are
            return self._minus_zero if str(number)[0] == "-" else self._zero
        made = self._made(number)
        if number == number:  # a NaN would not be found again
            self.known[number] = made
        return made

    def _made(self, number: Any) -> Taken:
        array = np.asarray(number, self.dtype)
        array.flags.writeable = False
        return runtime.value(array.reshape(self.shape)), array


class Array:
    """The operand that an array of the user's stands for, where the others are; a copy of it where
    a derivative reads it."""

    __slots__ = ("is_read", "ndim", "spec")

    def __init__(self, spec: Spec, is_read: bool) -> None:
        self.spec, self.ndim, self.is_read = spec, len(spec.shape), is_read

    def __call__(self, array: np.ndarray, args: Sequence[Any]) -> Taken:
        own = self.is_read and _flow(args)  # the user may write to it before it is read
        taken = np.array(array, self.spec.dtype, copy=own or None, ndmin=self.ndim)
        if self.spec.device != CPU:
            taken = runtime.placed(taken, self.spec.device)
        return _constant(taken, self.spec), taken


def _constant(array: np.ndarray, spec: Spec) -> Any:
    """Return an operand of one operation. It has no storage, even over an array of the user: a
    saved value is a copy."""
    value = _new(runtime.value)
    value.array, value.spec = array, spec
    value._requires_grad = value._kept = False
    value.node = value.expr = value._view = value._leaf = value._storage = None
    value.slot = value.expr_slot = 0
    return value


def with_constants(args: Sequence[Any], is_read: bool) -> Sequence[Any]:
    """Return the arguments with constants in place of arrays of floating or complex numbers, as
    well inside a list or a tuple; the arguments themselves where there are none, or no value of
    the CPU is beside them.

    A derivative that reads operands is given copies: the user may write into an array before.
    """
    is_flat = _SEQUENCES.isdisjoint(map(type, args))
    flat = args if is_flat else [x for arg in args for x in _items(arg)]
    kinds = {type(x) for x in flat}
    if np.ndarray not in kinds or runtime.value not in kinds or not all(map(_is_plain, flat)):
        return args
    own = is_read and _flow(flat)
    if is_flat:
        return [_as_constant(x, own) for x in args]
    return [
        type(arg)([_as_constant(x, own) for x in arg]) if type(arg) in _SEQUENCES else arg
        for arg in args
    ]


def _items(arg: Any) -> Sequence[Any]:
    return arg if type(arg) in _SEQUENCES else (arg,)


def _is_plain(x: Any) -> bool:
    """Whether a constant can be made beside an operand, and from it if it is an array."""
    if type(x) is runtime.value:
        return x.spec.device == CPU
    return type(x) is not np.ndarray or x.dtype in _FLOATING


def _as_constant(x: Any, own: bool) -> Any:
    if type(x) is not np.ndarray:
        return x
    return _constant(x.copy() if own else x, spec_of(x.shape, x.dtype))


def _flow(args: Sequence[Any]) -> bool:
    """Whether gradients flow from one of the arguments."""
    if unusual and not mode.grad:
        return False
    kind = runtime.value
    for arg in args:  # noqa: SIM110  it is faster
        if type(arg) is kind and arg.requires_grad:
            return True
    return False


class Converted:
    """The operand that a tensor of another dtype, or with fewer axes, stands for."""

    __slots__ = ("apply", "plans")

    def __init__(self, plans: Sequence[Plan], apply: Callable[[Plan, Value], Value]) -> None:
        self.plans, self.apply = plans, apply

    def __call__(self, value: Any, args: Sequence[Any]) -> Taken:
        for plan in self.plans:
            value = self.apply(plan, value)
        return value, value.array


def learn(
    operator: Any,
    args: Sequence[Any],
    values: tuple[Value, ...],
    apply: Callable[[Plan, Value], Value],
) -> None:
    """Remember an application of an elementwise operator to ``args``, which have been converted to
    ``values``; ``apply`` applies the plan of a conversion."""
    if any([value.rows for value in values]):  # noqa: C419  a list is faster
        return
    plan = plan_of(operator, {}, values, at_once=True)
    if plan is None or values[-1].dtype.kind not in "fc":  # an integer may become a float
        return
    operands = []
    for n, (arg, value) in enumerate(zip(args, values, strict=True)):
        if arg is value and type(arg) is runtime.value:
            operands.append(None)
            continue
        made = _operand(arg, value.spec, any(r is not None and r[n] for r in plan.reads), apply)
        if made is None:
            return
        operands.append(made)
    if any(operands):
        keep(operator, operator.plans, tuple(map(descriptor, args)), Mixture(plan, operands))


def _operand(arg: Any, spec: Spec, is_read: bool, apply: Any) -> Operand | None:
    kind = type(arg)
    if kind is runtime.value:
        plans = _conversions(arg.spec, spec)
        return None if plans is None else Converted(plans, apply)
    if kind is np.ndarray:
        return Array(spec, is_read)
    return Number(spec) if isinstance(arg, NUMBERS) else None


def _conversions(spec: Spec, wanted: Spec) -> list[Plan] | None:
    """Return the plans that lead from one spec to the other."""
    plans = []
    if spec.dtype != wanted.dtype:
        plans.append(make_plan(runtime.roles["astype"], {"dtype": wanted.dtype}, (spec,)))
        spec = plans[-1].spec if plans[-1] else spec
    missing = len(wanted.shape) - len(spec.shape)
    if missing:
        axes = tuple(range(-len(wanted.shape), missing - len(wanted.shape)))
        plans.append(make_plan(runtime.roles["expand_dims"], {"axes": axes}, (spec,)))
    return None if None in plans else plans  # type: ignore[return-value]
