"""The names of globals, closure cells and attributes that the code of a function loads and stores.
"""

import dis
from types import CodeType
from typing import NamedTuple

from ...process.bounded_dict import Bounded

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_STORES = ("STORE_GLOBAL", "DELETE_GLOBAL")
_STORES_IN_CELLS = ("STORE_DEREF", "DELETE_DEREF")
_known: Bounded[CodeType, "Names"] = Bounded(2048)


class Names(NamedTuple):
    """The names that code loads and stores, functions that are defined in it included."""

    loaded: tuple[str, ...]
    attributes: tuple[str, ...]
    stored: frozenset[str]
    stored_in_cells: frozenset[str]


def names_in(code: CodeType) -> Names:
    """Return the names of a code: globals loaded and stored, attributes loaded, cells stored."""
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

    def of(kinds: tuple[str, ...], more: list[tuple[str, ...] | frozenset[str]]) -> dict[str, None]:
        own = {name: None for kind in kinds for name in by_kind.get(kind, {})}
        return own | {name: None for names in more for name in names}

    return Names(
        tuple(of(_LOADS, [names.loaded for names in inner])),
        tuple(of(_ATTRIBUTES, [names.attributes for names in inner])),
        frozenset(of(_STORES, [names.stored for names in inner])),
        frozenset(of(_STORES_IN_CELLS, [names.stored_in_cells for names in inner])),
    )


_OF_NAMES = {*_LOADS, *_ATTRIBUTES, *_STORES, *_STORES_IN_CELLS}


__all__ = ["Names", "names_in"]
