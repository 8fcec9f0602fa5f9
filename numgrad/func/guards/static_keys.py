"""Keys of constants of a trace: values of static arguments, and the structure of containers.

Equal keys mean equal types and equal bits. Python's own equality is not enough: it takes ``1``,
``1.0`` and ``True`` for equal, dicts with another order of items, and whatever a class declares
equal.
"""

import enum
from collections.abc import Hashable
from typing import Any

import numpy as np

from ..._errors import ArgTypeError
from ...containers import optree_calls as optree
from ...containers.registered_classes import ARGUMENTS, Rest, is_compared
from ...containers.xarray_nodes import Labels
from ...engine.graph.value import Value

_insertion_order = optree.dict_insertion_ordered(True, namespace=ARGUMENTS)
_insertion_order.__enter__()  # for the whole process: a function may iterate over a dict

_BY_VALUE = (bool, int, str, bytes, type(None), type(Ellipsis), type, np.dtype, enum.Enum)
_BY_BITS = (float, complex, np.generic)
_PLAIN = (*_BY_VALUE, *_BY_BITS)


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Return the leaves of arguments and their structure; a dict's leaves come in its own order."""
    leaves, structure = optree.tree_flatten(tree, none_is_leaf=True, namespace=ARGUMENTS)
    return leaves, structure  # type: ignore[return-value]


def structure_key(structure: Any) -> tuple[Hashable, ...]:
    """Return a key that tells apart structures which Python takes for equal.

    The key has the types of the keys of dicts, and the data that registered containers hold beside
    leaves. The key is empty if Python's comparison of the structure is exact.
    """
    if structure.num_nodes == structure.num_leaves + 3:  # no container among them
        return ()
    nodes = structure.__getstate__()[0]
    data = [item for node in nodes for item in node if item is not None and type(item) is not int]
    is_exact = all([_is_exact(item) for item in data])  # noqa: C419  a list is faster
    return () if is_exact else (frozen(nodes),)


def _is_exact(item: Any) -> bool:
    """Whether Python compares the data of a node of a structure as exactly as a key would.

    That is so for the keys of a dict that are texts. A registered class may keep anything beside
    its leaves, and so is not compared exactly unless its data say so.
    """
    if isinstance(item, list | dict | tuple):
        return set(map(type, item)) <= {str}
    if isinstance(item, Rest):
        return not item.fixed
    if isinstance(item, type):
        return issubclass(item, tuple) or is_compared(item)
    return getattr(item, "is_exact", False)  # an attribute of data whose equality is exact


def is_lasting(value: Any) -> bool:
    """Whether the key of an object always stays the same, so that the key need not be made again.

    The keys of immutable values stay, and those of objects that are compared by identity.
    """
    if isinstance(value, tuple | frozenset):
        return all(map(is_lasting, value))
    return isinstance(value, _PLAIN) or type(value).__eq__ is object.__eq__


def static_key(value: Any) -> Hashable:
    """Return the key of a static argument.

    Raises
    ------
    ArgTypeError
        If the argument is not hashable.
    """
    try:
        hash(value)
    except TypeError:
        raise ArgTypeError(
            f"jit: a static argument must be hashable, got {type(value).__name__}"
            f"{'; write @dataclass(frozen=True)' if hasattr(value, '__dataclass_fields__') else ''}"
        ) from None
    return frozen(value)


def frozen(value: Any, around: frozenset[int] = frozenset()) -> Hashable:
    """Return a key of a value that is equal only for values of the same type and the same bits.

    ``around`` holds the ids of the objects that contain the value, so that a list which contains
    itself has a key.
    """
    kind = type(value)
    if isinstance(value, _BY_BITS):
        return kind, repr(value)
    if isinstance(value, _BY_VALUE) or kind.__eq__ is object.__eq__:
        return kind, value
    if isinstance(value, Value):  # values with equal elements have different places in a graph
        return IdentityKey(value)
    if isinstance(value, Rest | Labels):
        return kind, frozen(value.described(), around)
    if isinstance(value, np.ndarray):
        return kind, value.dtype, value.shape, value.tobytes()
    if id(value) in around:
        return "a part of itself"
    around = around | {id(value)}
    if isinstance(value, tuple | list):
        return kind, tuple([frozen(item, around) for item in value])
    if isinstance(value, dict):
        return kind, tuple([(frozen(k, around), frozen(v, around)) for k, v in value.items()])
    if isinstance(value, set | frozenset):
        return kind, tuple(sorted([frozen(item, around) for item in value], key=repr))
    return kind, _state(value, around)


def _state(value: Any, around: frozenset[int]) -> Hashable:
    """Return the key of an object whose class defines ``__eq__``, made of the data that a copy
    needs.

    The key is the object itself if it cannot be copied.
    """
    try:
        parts = value.__reduce_ex__(4)
    except Exception:  # a class that cannot be pickled may raise anything
        return IdentityKey(value)
    if isinstance(parts, str):  # the name of a global object
        return IdentityKey(value)
    made = [list(part) if n > 2 and part is not None else part for n, part in enumerate(parts)]
    return tuple([frozen(part, around) for part in made])


class IdentityKey:
    """The key of one object, equal to nothing else."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IdentityKey) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


__all__ = ["IdentityKey", "flatten", "frozen", "is_lasting", "static_key", "structure_key"]
