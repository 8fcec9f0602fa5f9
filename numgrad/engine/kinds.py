"""Kinds of nodes: what two nodes have in common that are differentiated alike."""

from typing import Any

from .statics import frozen
from .values import Spec


class Kind:
    """An operator, its static parameters, and the specs of its inputs and outputs.

    Nodes of one kind are differentiated alike, but for their edges and saved values. Kinds are
    compared by identity: equal ones are mostly the same object. ``by_position`` is what `indices`
    has found out, ``is_small`` what `immediate` has.
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
    """Return the kind of a node; ``None`` where its derivative may depend on something else."""
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
