"""Followers: builtin functions that recognise a graph that was met before, without Python code.

A follower walks along the track of an earlier pass, and compares all that decides the program of a
pass. The code of all followers is compiled once, see `follower_code`. Each has a table of words,
whose places are declared here; the track follows them.
"""

from itertools import chain
from typing import Any

import numpy as np

from ....ir.way import Types, Way
from . import object_layout
from .object_layout import OWN

(
    NODE_TYPE, LEAF_TYPE, CALL_TYPE, VALUE_TYPE, LEAF_STATE_TYPE, STORAGE_TYPE, CAPTURED_TYPE,
    FOREIGN_TYPE, SLOT_TYPE, STAND_IN_TYPE, WRITER,
) = range(OWN, OWN + 11)  # fmt: skip
"""Words of a follower: types of objects, where a slot is an `int` or of the type that is named; and
the operator that writes parts of arrays."""

(
    N_KIND, N_PARENTS, N_SLOTS, N_NUMBER, N_EXTRAS, N_SAVED, N_VERSIONS, L_VARIABLE, V_ARRAY,
    V_STORAGE, V_LEAF, S_VERSION, H_HOOKS, K_IS_SETTLED, K_OPERATOR, K_BY_POSITION, I_KIND,
    I_POSITIONS,
) = range(WRITER + 1, WRITER + 19)  # fmt: skip
"""Words of a follower: places of the attributes of nodes, accumulators, values, storages, states of
leaves, kinds and stand-ins."""

NODES, ARRAYS, ROOTS, TARGETS, KEEPERS, SEEDS, INDEXED, MASK, TAKEN, STATE = range(
    I_POSITIONS + 1, I_POSITIONS + 11
)
"""Words of a follower: how many nodes, different arrays, roots, targets, keepers, seeds and
stand-ins there are; the last position in the hash table of the arrays, whose length is a power of
two; how many different arrays a walk has taken so far; and whether it has met nodes whose kinds are
to be looked up, or saved values that cannot be taken."""

NODE, LEAF, INDEXED_NODE = range(3)
"""What a node is: an accumulator, a node with a stand-in, or any other node."""

MARKED, HOOKED, KEEPS = 1, 2, 4
"""What is to be known of a node: it has extras, it is the accumulator of a leaf with hooks, or the
pass takes what it has saved: then its place among the keepers, from 1 on, times `KEEPS`."""

WAY = STATE + 1
"""The first word of the hash table. The track comes behind the table, with these parts:

- for each root its node;
- for each node its kind, what the node is, and what is to be known of it; the number of its
  parents, and for each parent its node, -1 for None; the number of slots to compare, which may be
  0, and these slots; the number of saved values that are read, and for each its position, and the
  array as below;
- for each target its node;
- for each seed the array;
- for each stand-in its node.

Nodes are counted from 0 on. An array is given as its number in the order of first appearance, the
number of its strides, 0 for an array in C order, and these strides."""

_NODE = ("_kind", "parents", "slots", "number", "extras", "saved", "versions")
_VALUE = ("array", "_storage", "_leaf")
_KIND = ("is_settled", "operator", "by_position")


def follower(types: Types, way: Way) -> Any:
    """Return a builtin function that recognises the graphs of passes like an earlier one, or None.

    The function is ``(roots, targets, seeds)``: the nodes where the pass starts, the nodes of its
    targets or None, and the arrays of its seeds. It returns three tuples: the nodes of the graph,
    the different arrays with the positions of stand-ins behind them, and what the keepers among
    the nodes have saved. None stands in place of the arrays where the kinds of some nodes, or their
    stand-ins, are to be looked up first, or where saved values were written. The function returns
    False if the pass is another one for certain, and None if Python code has to look. None in
    place of the function stands for a Python whose objects cannot be read.
    """
    places = _places(types)
    if None in places:
        return None
    count, seeds = len(set(way.numbers)), len(way.numbers) - len(way.reads)
    size = 1 << (2 * count).bit_length()  # a power of two, of which half is free
    objects = *types[:4], types.leaf_state, *types.storages, types.slot, types.stand_in, way.writer
    words = [*map(id, objects), *(place for found in places for place in found or ())]
    words += (len(way.kinds), count, *map(len, (way.roots, way.targets, way.keepers)))
    words += (seeds, len(way.indexed), size - 1, 0, 0)
    table = np.array([*words, *(0,) * size, *_track(way)], np.int64)
    return object_layout.builtin("python.follower_code", "follow", table, (objects, way.kinds))


def _places(types: Types) -> list[tuple[int, ...] | None]:
    described = (
        (types.node, _NODE), (types.accumulator, ("variable",)), (types.value, _VALUE),
        (types.storages[0], ("version",)), (types.leaf_state, ("hooks",)), (types.kind, _KIND),
        (types.stand_in, ("kind", "positions")),
    )  # fmt: skip
    return [object_layout.places(kind, *names) for kind, names in described]


def _track(way: Way) -> list[int]:
    """Return the words of a track, which follow the hash table; see `WAY`."""
    words: list[int] = []
    found = [LEAF if is_leaf else NODE for is_leaf in way.are_leaves]
    for n in way.indexed:
        found[n] = INDEXED_NODE
    watched = [0] * len(way.kinds)
    for n in way.marked:
        watched[n] |= MARKED
    for n in way.hooked:
        watched[n] |= HOOKED
    for k, n in enumerate(way.keepers):
        watched[n] += (k + 1) * KEEPS
    arrays = [
        (number, 0) if layout is True else (number, len(layout), *layout)
        for number, layout in zip(way.numbers, way.layouts, strict=True)
    ]
    reads: list[list[int]] = [[0] for _ in way.kinds]
    for (n, position), words_of_array in zip(way.reads, arrays, strict=False):
        reads[n][0] += 1
        reads[n] += (position, *words_of_array)
    words += way.roots
    for n, parents in enumerate(way.parents):
        slots = () if way.slots is None else way.slots[n]
        words += (id(way.kinds[n]), found[n], watched[n], len(parents), *parents)
        words += (len(slots), *slots, *reads[n])
    words += way.targets
    return [*words, *chain(*arrays[len(way.reads) :]), *way.indexed]
