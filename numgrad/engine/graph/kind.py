"""Kinds of nodes: nodes of one kind share the rule of their derivative.

A kind is found by its operator, by a key made of the static parameters, and by the specs of inputs
and outputs.
"""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from .value import Spec

_PLAIN = frozenset({int, bool, str, bytes, type(None)})


class _NotHashableError(Exception):
    """Raised for a static parameter that cannot be part of a hashable key."""


def frozen(static: Mapping[str, Any]) -> Hashable:
    """Return a hashable key of static parameters; None if one of them cannot be part of a key.

    Parameters that are equal in Python but not the same have different keys: ``1``, ``1.0`` and
    ``True``, or ``0.0`` and ``-0.0``.
    """
    try:
        return tuple([(name, _freeze(value)) for name, value in static.items()])
    except _NotHashableError:
        return None


def _freeze(value: Any) -> Hashable:
    kind = type(value)
    if kind in _PLAIN:
        return (kind, value)
    if kind is tuple:
        return tuple([_freeze(item) for item in value])
    if kind in (float, complex) or isinstance(value, np.number):
        return (kind, repr(value))
    if isinstance(value, np.dtype) or kind.__hash__ is object.__hash__ or callable(value):
        return _hashed(value)
    if kind is slice:
        return (kind, *[_freeze(item) for item in (value.start, value.stop, value.step)])
    raise _NotHashableError


def _hashed(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        raise _NotHashableError from None
    return (type(value), value)


class Kind:
    """An operator, its static parameters, and the specs of its inputs and outputs.

    Nodes of one kind are differentiated alike and differ only in their edges and saved values.
    Kinds are compared by identity: `kind_of` mostly returns the same object for equal arguments.

    Attributes
    ----------
    by_position : ByPosition, False or None
        The stand-in for nodes of this kind that takes the index as data, kept here for
        `dynamic_index`. False if there is no stand-in, None before the first look-up.
    is_small : dict or None
        For each limit of the array size whether `immediate` computes nodes of this kind at once.
        None before the first look-up.
    """

    __slots__ = ("by_position", "inputs", "is_small", "operator", "outputs", "static")

    def __init__(
        self,
        operator: Any,
        static: dict[str, Any],
        inputs: tuple[Spec, ...],
        outputs: tuple[Spec, ...],
    ) -> None:
        self.operator = operator
        self.static = static
        self.inputs = inputs
        self.outputs = outputs
        self.by_position: Any = None
        self.is_small: Any = None

    def __repr__(self) -> str:
        return f"<Kind {self.operator.name} {self.static} {self.inputs} -> {self.outputs}>"


def kind_of(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], outputs: tuple[Spec, ...]
) -> Kind | None:
    """Return the kind of a node; None if the operator has no rule, or if its static parameters have
    no hashable key."""
    if not operator.has_rule:
        return None
    parameters: Any = frozen(static) if static else ()
    if parameters is None:
        return None
    kinds: dict[Any, Kind] = operator.kinds
    key = (parameters, inputs, outputs)
    kind = kinds.get(key)
    if kind is None:
        kind = kinds[key] = Kind(operator, static, inputs, outputs)
    return kind
