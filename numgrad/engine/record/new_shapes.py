"""New shapes: what is learned of an elementwise operator on one shape serves all shapes of a rank.

Data whose lengths differ from call to call would need a plan for each shape, and most shapes are
met once. How an elementwise operator is recorded depends on the number of axes alone, and on which
operands have fewer of them: such kinds form a `Family`. The first one is learned as any other kind,
and each further one is a copy of it with another shape.
"""

from collections.abc import Hashable, Sequence
from math import prod
from typing import Any

import numpy as np

from ...ir.dtypes import NUMBERS
from ..graph.kind import Family, Kind, interned, keep
from ..graph.value import CPU, Shape, spec_of
from .apply import is_direct, runtime
from .operands import ArrayConverter, Converter, TensorConverter, descriptor
from .parallel_launch import MANY_ROWS
from .plan import Mixture, computation_of, plan_key

_FEW_ELEMENTS = 1 << 14
"""For fewer elements, operands of one shape are computed by a single call of a universal function;
for more, another way may be faster."""


def learn_shape(operator: Any, args: Sequence[Any]) -> bool:
    """Make the plan for arguments of a new shape from that of another shape; return whether there
    was one."""
    found = _found(args) if is_direct() else None
    if found is None:
        return False
    key, shape = found
    family = operator.kinds.get(key)
    place = plan_key(tuple(map(descriptor, args)), {})
    if family is None or place in operator.kinds:
        return False
    made: Any = _copy(family, shape)
    if family.operands is not None:
        old = family.kind.spec.shape
        made = Mixture(made, [_for_shape(operand, old, shape) for operand in family.operands])
    keep(operator, operator.kinds, place, made)
    return True


def remember_family(
    operator: Any, args: Sequence[Any], kind: Kind, operands: Sequence[Converter | None]
) -> None:
    """Keep a kind that was just learned for arguments of other shapes, if its plan serves them.

    Parameters
    ----------
    operands : sequence
        For each argument the function that converts it, see `Mixture`.
    """
    found = _found(args)
    if found is None or found[0] in operator.kinds:
        return
    key, rank = found[0], len(kind.spec.shape)
    for arg, operand in zip(args, operands, strict=True):
        if type(operand) is TensorConverter and len(arg.shape) == rank:
            return  # the plans of the conversion are those of this shape
    few = MANY_ROWS if key[1] else _FEW_ELEMENTS
    kind.family = Family(kind, tuple(operands) if any(operands) else None, few)
    keep(operator, operator.kinds, key, kind.family)


def _found(args: Sequence[Any]) -> tuple[tuple[Any, ...], Shape] | None:
    """Return the key of the family for these arguments, and the shape of the largest one.

    The result is None unless all arguments but numbers are computed values of the CPU, or arrays.
    Those with fewer axes than the largest one have its last axes, which belong to the key. The
    other axes must have several elements in all: so their shape is told from that of operands with
    axes of one element in their place.
    """
    parts: list[Hashable] = []
    shapes: list[Shape] = []
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
            parts.append(kind)
        else:
            return None
    if not shapes:
        return None
    shape, last = _split(shapes)
    if shape is None or prod(shape[: len(shape) - len(last)]) < 2:
        return None
    return (Family, last, *parts), shape


def _split(shapes: Sequence[Shape]) -> tuple[Shape | None, Shape]:
    """Return the largest of some shapes, and its last axes, which all shapes that differ from it
    have in common with it; None and no axes if the shapes are not of this kind."""
    largest = shapes[0]
    if shapes.count(largest) == len(shapes):
        return largest, ()
    largest = max(shapes, key=len)
    fixed = max([len(shape) for shape in shapes if shape != largest])
    last = largest[len(largest) - fixed :]
    fits = all([shape in (largest, last[fixed - len(shape) :]) for shape in shapes])  # noqa: C419
    return (largest, last) if fits else (None, ())


def _copy(family: Family, shape: Shape) -> Kind:
    """Return the kind of a family for a shape."""
    first = family.kind
    operator, old = first.operator, first.spec.shape
    inputs = tuple([spec_of(shape, s.dtype) if s.shape == old else s for s in first.inputs])
    kind = interned(operator, {}, inputs, (spec_of(shape, first.spec.dtype),))
    assert kind is not None, "elementwise operators have no static parameters"
    if not kind.has_plan:
        if type(first.compute) is np.ufunc and prod(shape) < family.few:
            kind.compute, kind.in_order = first.compute, None
        else:
            kind.compute, kind.in_order = computation_of(operator, {}, inputs)
        kind.reads, kind.family = first.reads, family
        kind.has_plan = kind.compute is not None  # last, as other threads look
    return kind


def _for_shape(operand: Converter | None, old: Shape, shape: Shape) -> Converter | None:
    """Return the converter that does for arguments of a new shape what ``operand`` does."""
    if isinstance(operand, ArrayConverter) and operand.spec.shape == old:
        return ArrayConverter(spec_of(shape, operand.spec.dtype), operand.is_read)
    return operand


__all__ = ["learn_shape", "remember_family"]
