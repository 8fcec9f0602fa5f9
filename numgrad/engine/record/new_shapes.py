"""New shapes: what is learned of an elementwise operator on some shapes serves all like them.

Data whose lengths differ from call to call would need a plan for each shape, and most shapes are
met once. How an elementwise operator is recorded depends on the number of axes alone, and on which
axes of the operands have one element: such kinds form a `Family`. The first one is learned as any
other kind, and each further one is a copy of it with other shapes.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...ir.dtypes import NUMBERS
from ..graph.kind import Family, Kind, interned, keep
from ..graph.value import CPU, Shape, spec_of
from .apply import is_unwatched, runtime
from .operands import Converter, NumberConverter, converter_of, descriptor
from .parallel_launch import MANY_ROWS
from .plan import Mixture, computation_of, plan_key

_FEW_ELEMENTS = 1 << 14
"""For fewer elements, operands of one shape are computed by a single call of a universal function;
for more, another way may be faster."""


def learn_shape(operator: Any, args: Sequence[Any], apply: Callable[..., Any]) -> bool:
    """Make the plan for arguments of new shapes from that of others; return whether there was one.

    ``apply`` applies the plan of a conversion to a value.
    """
    found = _found(args) if is_unwatched() else None
    if found is None or (family := operator.kinds.get(found.key)) is None:
        return False
    place = tuple(map(descriptor, args))
    if family.operands is None:
        place = plan_key(place, {})
    if place in operator.kinds:
        return False
    made: Any = _copy(family, found)
    if family.operands is not None:
        operands = _operands(family, made, args, apply)
        if operands is None:
            return False
        made = Mixture(made, operands)
    keep(operator, operator.kinds, place, made)
    return True


def remember_family(
    operator: Any, args: Sequence[Any], kind: Kind, operands: Sequence[Converter | None]
) -> None:
    """Keep a kind that was just learned for arguments of other shapes.

    Parameters
    ----------
    operands : sequence
        For each argument the function that converts it, see `Mixture`.
    """
    found = _found(args)
    if found is None or found.key in operator.kinds:
        return
    few = MANY_ROWS if found.differ else _FEW_ELEMENTS
    kind.family = Family(kind, tuple(operands) if any(operands) else None, few)
    keep(operator, operator.kinds, found.key, kind.family)


class _Shapes(NamedTuple):
    """The key of a family for some arguments, and the shapes of the operands and of the result."""

    key: tuple[Any, ...]
    operands: list[Shape]
    result: Shape
    differ: bool


def _found(args: Sequence[Any]) -> _Shapes | None:
    """Return the key of the family for these arguments, and the shapes of their operands.

    The result is None unless all arguments but numbers are computed values of the CPU or arrays,
    with at least one axis among them, and can be broadcast together.
    """
    shapes: list[Shape] = []
    parts: list[Any] = [Family]
    for arg in args:
        kind = type(arg)
        if kind is runtime.value:
            spec = arg.spec
            if arg.array is None or spec.rows or spec.device != CPU:
                return None
            shapes.append(spec.shape)
            parts += (kind, spec.dtype, len(spec.shape))
        elif kind is np.ndarray:
            shapes.append(arg.shape)
            parts += (kind, arg.dtype, arg.ndim)
        elif isinstance(arg, NUMBERS):
            shapes.append(())
            parts.append(kind)
        else:
            return None
    shape = max(shapes, key=len)
    rank = len(shape)
    if not rank:
        return None
    aligned = [s if len(s) == rank else (1,) * (rank - len(s)) + s for s in shapes]
    if all([s == shape or isinstance(a, NUMBERS) for s, a in zip(aligned, args, strict=True)]):  # noqa: C419
        return _Shapes(tuple(parts), aligned, shape, False)
    sizes = [set(axis) - {1} for axis in zip(*aligned, strict=True)]
    if any([len(found) > 1 for found in sizes]):  # noqa: C419
        return None
    parts += [tuple([n == 1 for n in s]) for s in aligned]
    result = tuple([found.pop() if found else 1 for found in sizes])
    return _Shapes(tuple(parts), aligned, result, True)


def _copy(family: Family, found: _Shapes) -> Kind:
    """Return the kind of a family for operands of other shapes."""
    first = family.kind
    operator, result = first.operator, spec_of(found.result, first.spec.dtype)
    pairs = zip(found.operands, first.inputs, strict=True)
    inputs = tuple([spec_of(shape, spec.dtype) for shape, spec in pairs])
    kind = interned(operator, {}, inputs, (result,))
    assert kind is not None, "elementwise operators have no static parameters"
    if not kind.has_plan:
        if type(first.compute) is np.ufunc and prod(found.result) < family.few:
            kind.compute, kind.in_order = first.compute, None
        else:
            kind.compute, kind.in_order = computation_of(operator, {}, inputs)
        kind.reads, kind.family = first.reads, family
        kind.has_plan = kind.compute is not None  # last, as other threads look
    return kind


def _operands(
    family: Family, kind: Kind, args: Sequence[Any], apply: Callable[..., Any]
) -> list[Converter | None] | None:
    """Return the converters of arguments of other shapes; None if one cannot be made."""
    operands: list[Converter | None] = []
    for n, (arg, known) in enumerate(zip(args, family.operands or (), strict=True)):
        made = known
        if known is not None and type(known) is not NumberConverter:
            is_read = any([reads is not None and reads[n] for reads in kind.reads])  # noqa: C419
            made = converter_of(arg, kind.inputs[n], is_read, apply, CPU)
            if made is None:
                return None
        operands.append(made)
    return operands


__all__ = ["learn_shape", "remember_family"]
