"""What the code of a function loads and stores by name: globals, closure cells, attributes, and
items under constant keys.

The special methods that operators and built-in functions call are attributes, too. So are the
constant texts in code that calls `getattr`, and keys are those in code that calls ``get`` of dicts.
"""

import dis
from collections.abc import Collection, Iterator
from itertools import pairwise
from types import CodeType
from typing import Any, NamedTuple

from ...process.bounded_dict import Bounded
from .special_methods import of_functions, special_methods

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_STORES_IN_CELLS = ("STORE_DEREF", "DELETE_DEREF")
_STORES_OF_ATTRIBUTES = ("STORE_ATTR", "DELETE_ATTR")
_ITEM_STORES = ("STORE_SUBSCR", "DELETE_SUBSCR", "COPY")  # a[k] += 1 keeps copies of a and k
_BY_TEXT = frozenset({"getattr", "hasattr", "attrgetter", "methodcaller"})
_BY_KEY = frozenset({"get", "pop", "setdefault"})
_STORED_BY_TEXT, _STORED_BY_KEY = frozenset({"setattr", "delattr"}), _BY_KEY - {"get"} | {"update"}
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
    writes_items: bool  # under any keys


def names_in(code: CodeType) -> Names:
    """Return the names and constant keys of a code: those loaded, those stored."""
    names = _known.get(code)
    if names is None:
        names = _known[code] = _found(code)
    return names


def _found(code: CodeType) -> Names:
    by_kind: dict[str, dict[str, None]] = {}
    special: dict[str, None] = {}
    for one in dis.get_instructions(code):
        if one.opname in _OF_NAMES:
            by_kind.setdefault(one.opname, {})[str(one.argval)] = None
        special |= dict.fromkeys(special_methods(one))
    inner = [names_in(part) for part in code.co_consts if isinstance(part, CodeType)]

    def own(kinds: tuple[str, ...]) -> dict[str, None]:
        return {name: None for kind in kinds for name in by_kind.get(kind, {})}

    called = own((*_LOADS, *_ATTRIBUTES)).keys()
    texts = {one: None for one in code.co_consts if isinstance(one, str) and one.isidentifier()}

    def texts_for(callers: frozenset[str]) -> dict[str, None]:
        return texts if callers & called else {}

    attributes = own(_ATTRIBUTES) | texts_for(_BY_TEXT) | special
    attributes |= dict.fromkeys(of_functions(called))
    return Names(
        _all(own(_LOADS), [names.loaded for names in inner]),
        _all(attributes, [names.attributes for names in inner]),
        frozenset(_all(own(_STORES), [names.stored for names in inner])),
        frozenset(_all(own(_STORES_IN_CELLS), [names.stored_in_cells for names in inner])),
        frozenset(_all(own(_STORES_OF_ATTRIBUTES) | texts_for(_STORED_BY_TEXT),
                       [names.stored_attributes for names in inner])),
        _all({**dict.fromkeys(_items(code, is_stored=False)), **texts_for(_BY_KEY)},
             [names.items for names in inner]),
        frozenset(_all({**dict.fromkeys(_items(code, is_stored=True)), **texts_for(_STORED_BY_KEY)},
                       [names.stored_items for names in inner])),
        "STORE_SUBSCR" in by_kind or any(names.writes_items for names in inner),
    )  # fmt: skip


def _all(own: dict[Any, None], more: list[Collection[Any]]) -> tuple[Any, ...]:
    """Return the names in ``own``, then those of the functions that are defined in the code."""
    return tuple(own | {name: None for names in more for name in names})


def _items(code: CodeType, is_stored: bool) -> Iterator[str | int]:
    """Give the constant keys under which code stores items, or under which code loads items."""
    for one, following in pairwise(dis.get_instructions(code)):
        if one.opname.startswith("LOAD_") and type(one.argval) in (str, int):
            loads = following.opname == "BINARY_SUBSCR" or following.argrepr == "[]"
            if following.opname in _ITEM_STORES if is_stored else loads:
                yield one.argval


_OF_NAMES = {
    "STORE_SUBSCR", *_LOADS, *_ATTRIBUTES, *_STORES, *_STORES_IN_CELLS, *_STORES_OF_ATTRIBUTES
}  # fmt: skip


__all__ = ["Names", "names_in"]
