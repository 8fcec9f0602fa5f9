"""The functions of optree that numgrad calls.

The C++ code of optree releases Python's lock and takes it again, and daemon threads are stopped
there while the interpreter ends. Dataclasses and similar classes are registered with optree when
the first object of the class is met.
"""

from collections.abc import Callable, Sequence
from typing import Any

import optree

from ..process.interpreter_exit import uncut
from .registered_classes import CALLS, Rest, has_fields, open_new

dict_insertion_ordered = optree.dict_insertion_ordered
tree_unflatten = uncut(optree.tree_unflatten)
_flatten = uncut(optree.tree_flatten)


def tree_flatten(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None, *, none_is_leaf: bool = False,
    namespace: str = CALLS,
) -> tuple[list[Any], Any]:  # fmt: skip
    """Return the leaves of a container, and its structure."""
    options = {"none_is_leaf": none_is_leaf, "namespace": namespace}
    leaves, structure = _flatten(tree, is_leaf, **options)  # type: ignore[arg-type]
    while open_new(set(map(type, leaves))):
        leaves, structure = _flatten(tree, is_leaf, **options)  # type: ignore[arg-type]
    return leaves, structure


def tree_leaves(tree: Any, **options: Any) -> list[Any]:
    """Return the leaves of a container."""
    return tree_flatten(tree, **options)[0]


def tree_structure(tree: Any, **options: Any) -> Any:
    """Return the structure of a container."""
    return tree_flatten(tree, **options)[1]


def tree_paths(tree: Any, **options: Any) -> Sequence[tuple[Any, ...]]:
    """Return the keys, numbers and names that lead to each leaf of a container."""
    return tree_flatten(tree, **options)[1].paths()


def tree_map(function: Callable[[Any], Any], tree: Any, **options: Any) -> Any:
    """Return a container of the results of a function on each leaf."""
    leaves, structure = tree_flatten(tree, **options)
    return tree_unflatten(structure, map(function, leaves))


def settings_of(structure: Any) -> list[tuple[str, Any]]:
    """Return the names and values of the fields that a container holds beside its leaves."""
    data = [item for node in structure.__getstate__()[0] for item in node if type(item) is Rest]
    return [pair for rest in data for pair in rest.fixed]


def broadcast_prefix(prefix: Any, tree: Any, namespace: str) -> list[Any]:
    """Return the leaves of a prefix of a container, each repeated for all leaves at its place; None
    is a leaf.

    A dataclass has a prefix for each field that holds leaves in the container, whatever its other
    fields are.

    Raises
    ------
    ValueError
        If ``prefix`` is no prefix of the container.
    """
    options: dict[str, Any] = {"none_is_leaf": True, "namespace": namespace}
    parts, structure = tree_flatten(prefix, lambda x: x is not prefix, **options)
    if parts and parts[0] is prefix:
        return [prefix] * len(tree_leaves(tree, **options))
    children, expected = tree_flatten(tree, lambda x: x is not tree, **options)
    if type(prefix) is type(tree) and has_fields(type(tree)):
        parts = [getattr(prefix, name) for name in expected.entries()]
    elif structure != expected:
        raise ValueError(f"expected {_said(tree)}, got {_said(prefix)}")
    pairs = zip(parts, children, strict=True)
    return [leaf for pair in pairs for leaf in broadcast_prefix(*pair, namespace)]


def _said(tree: Any) -> str:
    """Return the class of a container and its number of items, for errors."""
    count = f" of {len(tree)}" if isinstance(tree, (tuple, list, dict)) else ""
    return f"a {type(tree).__name__}{count}"
