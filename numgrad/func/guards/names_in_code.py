"""What the code of a function loads and stores by name: globals, closure cells, attributes, and
items under constant keys.
"""

import dis
from collections.abc import Iterator
from itertools import pairwise
from types import CodeType
from typing import NamedTuple

from ...process.bounded_dict import Bounded

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_STORES_IN_CELLS = ("STORE_DEREF", "DELETE_DEREF")
_STORES_OF_ATTRIBUTES = ("STORE_ATTR", "DELETE_ATTR")
_ITEM_STORES = ("STORE_SUBSCR", "DELETE_SUBSCR", "COPY")  # a[k] += 1 keeps copies of a and k
_known: Bounded[CodeType, "Names"] = Bounded(2048)


class Names(NamedTuple):
    """The names that code loads and stores, functions that are defined in it included."""

    loaded: tuple[str, ...]
    attributes: tuple[str, ...]
    stored: frozenset[str]
    stored_in_cells: frozenset[str]
    stored_attributes: frozenset[str]
    items: tuple[str | int, ...]
    stored_items: frozenset[str | int]


def names_in(code: CodeType) -> Names:
    """Return the names and constant keys of a code: those loaded, those stored."""
    names = _known.get(code)
    if names is None:
        names = _known[code] = _found(code)
    return names


def _found(code: CodeType) -> Names:
    by_kind: dict[str, dict[str, None]] = {}
    for one in dis.get_instructions(code):
        if one.opname in _OF_NAMES:
            by_kind.setdefault(one.opname, {})[str(one.argval)] = None
    inner = [names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    items = dict.fromkeys(_items(code, is_stored=False))
    stored_items = dict.fromkeys(_items(code, is_stored=True))

    def of(kinds: tuple[str, ...], more: list[tuple[str, ...] | frozenset[str]]) -> dict[str, None]:
        own = {name: None for kind in kinds for name in by_kind.get(kind, {})}
        return own | {name: None for names in more for name in names}

    return Names(
        tuple(of(_LOADS, [names.loaded for names in inner])),
        tuple(of(_ATTRIBUTES, [names.attributes for names in inner])),
        frozenset(of(_STORES, [names.stored for names in inner])),
        frozenset(of(_STORES_IN_CELLS, [names.stored_in_cells for names in inner])),
        frozenset(of(_STORES_OF_ATTRIBUTES, [names.stored_attributes for names in inner])),
        (*items, *[key for names in inner for key in names.items]),
        frozenset([*stored_items, *[key for names in inner for key in names.stored_items]]),
    )


def _items(code: CodeType, is_stored: bool) -> Iterator[str | int]:
    """Give the constant keys under which code stores items, or under which code loads items."""
    for one, following in pairwise(dis.get_instructions(code)):
        if one.opname.startswith("LOAD_") and type(one.argval) in (str, int):
            loads = following.opname == "BINARY_SUBSCR" or following.argrepr == "[]"
            if following.opname in _ITEM_STORES if is_stored else loads:
                yield one.argval


_OF_NAMES = {*_LOADS, *_ATTRIBUTES, *_STORES, *_STORES_IN_CELLS, *_STORES_OF_ATTRIBUTES}


__all__ = ["Names", "names_in"]
