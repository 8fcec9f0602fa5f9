"""Kinds of nodes: what two nodes have in common that are differentiated alike."""

from typing import Any

import numpy as np

from .values import Spec

_MOST_KINDS = 4096


class Kind:
    """An operator, its static parameters, and the specs of its inputs and outputs.

    Nodes of one kind are differentiated alike, but for their edges and saved values. Kinds are
    compared by identity: equal ones are mostly the same object.
    """

    __slots__ = ("inputs", "operator", "outputs", "static")

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

    def __repr__(self) -> str:
        return f"<Kind {self.operator.name} {self.static} {self.inputs} -> {self.outputs}>"


def kind_of(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], outputs: tuple[Spec, ...]
) -> Kind | None:
    """Return the kind of a node; ``None`` where its derivative may depend on something else."""
    kinds: dict[Any, Kind] | None = operator.kinds
    if kinds is None:
        return None
    try:
        key = (identity(static) if static else (), inputs, outputs)
    except TypeError:
        return None
    kind = kinds.get(key)
    if kind is None:
        if len(kinds) >= _MOST_KINDS:
            kinds.clear()
        kind = kinds[key] = Kind(operator, static, inputs, outputs)
    return kind


def identity(value: Any) -> Any:
    """Return what tells a static parameter from those that only compare equal: 1 from 1.0 and
    True, 0.0 from -0.0, and so on inside tuples.

    Other objects are known by their identity, so whoever keeps the result must keep them too.

    Raises
    ------
    TypeError
        For what can change: lists, dicts, arrays.
    """
    kind = type(value)
    if kind is int or kind is str or kind is bool or value is None:
        return kind, value
    if kind is tuple:
        return tuple([identity(item) for item in value])
    if kind is dict:
        return tuple([(name, identity(item)) for name, item in value.items()])
    if kind is float or kind is complex:
        return kind, repr(value)
    if isinstance(value, np.generic):
        return kind, value.tobytes()
    hash(value)
    return kind, id(value)
