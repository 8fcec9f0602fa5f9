"""Followers: builtin functions that recognise a graph that was met before, without Python code.

A follower walks along the track of an earlier pass, and compares all that decides the program of a
pass. The code of all followers is compiled once, see `follower_code`. Each has a table of words: the
places declared here, followed by the track.
"""

from typing import Any

import numpy as np

from ....ir.way import Types, Way
from . import object_layout
from .object_layout import OWN

(
    NODE_TYPE, LEAF_TYPE, VALUE_TYPE, LEAF_STATE_TYPE, STORAGE_TYPE, CAPTURED_TYPE, FOREIGN_TYPE,
    SLOT_TYPE,
) = range(OWN, OWN + 8)  # fmt: skip
"""Words of a follower: types of objects; a slot may be an `int` or of this last type."""

(
    N_KIND, N_PARENTS, N_SLOTS, N_NUMBER, N_EXTRAS, N_SAVED, N_VERSIONS, L_VARIABLE, V_ARRAY,
    V_STORAGE, V_LEAF, S_VERSION, H_HOOKS, K_IS_SETTLED,
) = range(SLOT_TYPE + 1, SLOT_TYPE + 15)  # fmt: skip
"""Words of a follower: places of the attributes of nodes, accumulators, values, storages, states of
leaves, and kinds."""

NODES, ARRAYS, ROOTS, TARGETS, READS, SEEDS, MASK, TAKEN = range(
    K_IS_SETTLED + 1, K_IS_SETTLED + 9
)
"""Words of a follower: how many nodes, different arrays, roots, targets, reads of saved values and
seeds there are; the last position in the hash table of the arrays, whose length is a power of two;
and how many different arrays a walk has taken so far."""

WORDS_OF_NODE = 4
WAY = TAKEN + 1
"""The first word of the track. One after the other there are

- the hash table;
- for each node its kind, whether the node is an accumulator, and the step of the walk to the node:
  an earlier node, counted from 1 on, or 0 for the roots, and the position among the parents;
- for each root its node;
- for each node the number of its parents, then for each parent its node, -1 for None; then the
  number of slots to compare, which may be 0, and the slots;
- for each target its node;
- for each read of a saved value the node and the position among its saved values, then the array as
  below;
- for each seed the array.

Nodes are counted from 0 on. An array is its number in the order of first appearance, then the number
of its strides, 0 for an array in C order, and the strides."""

_NODE = ("_kind", "parents", "slots", "number", "extras", "saved", "versions")
_VALUE = ("array", "_storage", "_leaf")


def follower(types: Types, way: Way) -> Any:
    """Return a builtin function that recognises the graphs of passes like an earlier one, or None.

    The function is ``(roots, targets, seeds)``: the nodes where the pass starts, the nodes of its
    targets or None, and the arrays of its seeds. It returns the nodes of the graph and its
    different arrays, a pair of tuples, if no saved value has been written; False if the pass is
    another one for certain; and None if Python code has to look. None in place of the function
    stands for a Python whose objects cannot be read.
    """
    places = _places(types)
    if None in places:
        return None
    count = len(set(way.numbers))
    size = 1 << (2 * count).bit_length()
    words = [id(kind) for kind in (*types[:3], types.leaf_state, *types.storages, types.slot)]
    words += [place for found in places for place in found or ()]
    words += [len(way.kinds), count, len(way.roots), len(way.targets), len(way.reads)]
    words += [len(way.numbers) - len(way.reads), size - 1, 0]
    table = np.array([*words, *(0,) * size, *_words_of(way)], np.int64)
    return object_layout.builtin("python.follower_code", "follow", table, (types, way.kinds))


def _places(types: Types) -> list[tuple[int, ...] | None]:
    described = (
        (types.node, _NODE), (types.accumulator, ("variable",)), (types.value, _VALUE),
        (types.storages[0], ("version",)), (types.leaf_state, ("hooks",)),
        (types.kind, ("is_settled",)),
    )  # fmt: skip
    return [object_layout.places(kind, *names) for kind, names in described]


def _words_of(way: Way) -> list[int]:
    """Return the words of a track that follow the hash table; see `WAY`."""
    words: list[int] = []
    for kind, is_leaf, above, position in zip(way.kinds, way.are_leaves, *way.route, strict=True):
        words += (id(kind), is_leaf, above, position)
    words += way.roots
    for n, parents in enumerate(way.parents):
        slots = () if way.slots is None else way.slots[n]
        words += (len(parents), *parents, len(slots), *slots)
    words += way.targets
    reads = [*way.reads, *[()] * (len(way.numbers) - len(way.reads))]
    for read, number, layout in zip(reads, way.numbers, way.layouts, strict=True):
        strides = () if layout is True else layout
        words += (*read, number, len(strides), *strides)
    return words
