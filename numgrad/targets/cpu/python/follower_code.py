"""The compiled half of followers: walk along a track, and compare the graph with an earlier one.

A follower only reads the graph: it makes the tuples that it returns, and changes nothing else. No
Python code runs between the first look at the graph and the last, so the graph cannot change
meanwhile.

``p`` is the address of the words that describe what comes next, see `followers.WAY`; ``nodes``,
``arrays`` and ``kept`` are tuples that get what was found. A function that compares returns `YES`,
`NO` if the graph is another one, or `UNKNOWN` where Python code has to look, as few graphs have
what it met. `LOOSE` stands for nodes whose kinds are still to be looked up: those of new nodes may
be. `WRITTEN` stands for a saved value whose memory was written since. Functions that read a
description return the address behind it in place of `YES`.
"""

from ..compile.intrinsics import load_word, stack_words, store_word
from . import cpython as python
from . import followers as at
from .cpython import is_a, place
from .object_layout import (
    ARRAY_TYPE,
    C_ORDER,
    DATA,
    FALSE,
    FLAGS,
    INT_TYPE,
    ITEMS,
    LIST_ITEMS,
    LIST_TYPE,
    LOW,
    NDIM,
    NONE,
    SIZE,
    STRIDES,
    TUPLE_TYPE,
)

YES, NO, UNKNOWN, LOOSE, WRITTEN = 1, -1, -2, -3, -4
_ARGUMENTS = 3


def item_of(t, row, n):
    """Return item ``n`` of a tuple or a list, a borrowed object; 0 if there is none."""
    if is_a(t, row, TUPLE_TYPE) != 0 and n < load_word(row, SIZE):
        return load_word(row, ITEMS + n)
    if is_a(t, row, LIST_TYPE) != 0 and n < load_word(row, SIZE):
        return load_word(load_word(row, LIST_ITEMS), n)
    return 0


def length_of(t, row):
    """Return the length of a tuple or a list; -1 for another object."""
    if is_a(t, row, TUPLE_TYPE) + is_a(t, row, LIST_TYPE) == 0:
        return -1
    return load_word(row, SIZE)


def node_at(nodes, n):
    """Return a node that was found, by its number."""
    return load_word(nodes, ITEMS + n)


def add(row, n, item):
    """Store an object in a new tuple; the tuple gets a reference of its own."""
    python.keep(item)
    store_word(row, ITEMS + n, item)


def is_whole(t, item):
    """Return 1 if an object is an integer that `number_of` takes, else 0."""
    return is_a(t, item, INT_TYPE) | is_a(t, item, at.SLOT_TYPE)


def number_of(item):
    """Return the number that an integer stands for."""
    return python.number_of(item, stack_words(1))


def is_leaf(t, node, is_hooked):
    """Look whether a node is the accumulator of a leaf, without hooks or with a table of hooks."""
    variable = place(t, node, at.L_VARIABLE)
    if is_a(t, variable, at.VALUE_TYPE) == 0:
        return UNKNOWN
    state = place(t, variable, at.V_LEAF)
    if state == load_word(t, NONE):
        return YES if is_hooked == 0 else UNKNOWN
    if is_a(t, state, at.LEAF_STATE_TYPE) == 0:
        return UNKNOWN
    has_hooks = place(t, state, at.H_HOOKS) != load_word(t, NONE)
    return YES if has_hooks == (is_hooked != 0) else UNKNOWN


def is_kind(t, node, kind):
    """Compare the kind of a node with ``kind``."""
    found = place(t, node, at.N_KIND)
    if found == kind:
        return YES
    if found == 0:
        return UNKNOWN
    # There may be a shared kind in its place.
    return LOOSE if place(t, found, at.K_IS_SETTLED) == load_word(t, FALSE) else NO


def stand_in_of(t, node):
    """Return the stand-in of a node, see `engine.replay.dynamic_index`; None if nobody has asked
    for it yet, False if there is none."""
    return place(t, place(t, node, at.N_KIND), at.K_BY_POSITION)


def has_stand_in(t, node, kind):
    """Compare the kind of the stand-in of a node with ``kind``."""
    parent = item_of(t, place(t, node, at.N_PARENTS), 0)
    if parent == 0 or place(t, node, at.N_KIND) == 0:
        return UNKNOWN
    if parent != load_word(t, NONE):
        above = place(t, parent, at.N_KIND)
        if above == 0 or place(t, above, at.K_OPERATOR) == load_word(t, at.WRITER):
            return UNKNOWN
    seen = stand_in_of(t, node)
    if seen == load_word(t, NONE):
        return LOOSE
    if is_a(t, seen, at.STAND_IN_TYPE) == 0:
        return NO
    return YES if place(t, seen, at.I_KIND) == kind else NO


def is_node(t, node, p):
    """Compare a node with its description."""
    if node == 0 or node == load_word(t, NONE):
        return NO
    kind, what, accumulates = load_word(p, 0), load_word(p, 1), is_a(t, node, at.LEAF_TYPE)
    if accumulates | is_a(t, node, at.NODE_TYPE) | is_a(t, node, at.CALL_TYPE) == 0:
        return UNKNOWN
    if (accumulates == 0) == (what == at.LEAF):
        return NO
    watched = load_word(p, 2)
    has_extras = place(t, node, at.N_EXTRAS) != load_word(t, NONE)
    if has_extras != (watched & at.MARKED != 0):
        return UNKNOWN
    if accumulates != 0 and is_leaf(t, node, watched & at.HOOKED) != YES:
        return UNKNOWN
    return is_kind(t, node, kind) if what != at.INDEXED_NODE else has_stand_in(t, node, kind)


def meet(t, nodes, n, found):
    """Note an object as node ``n`` where none was noted before; return 0 if it is another one.

    ``n`` is -1 where there is to be None.
    """
    if n < 0:
        return 1 if found == load_word(t, NONE) else 0
    if node_at(nodes, n) == 0 and found != 0:
        add(nodes, n, found)
    return 1 if node_at(nodes, n) == found and found != 0 else 0


def are_nodes(t, row, count, nodes, p):
    """Compare the items of a tuple or a list with ``count`` nodes; note those that are new."""
    if length_of(t, row) != count:
        return NO
    for n in range(count):
        if meet(t, nodes, load_word(p, n), item_of(t, row, n)) == 0:
            return NO
    return p + 8 * count


def are_slots(t, slots, p):
    """Compare the slots of a node with those that are described."""
    count = load_word(p, 0)
    for n in range(count):
        slot = item_of(t, slots, n)
        if is_whole(t, slot) == 0:
            return UNKNOWN
        if number_of(slot) != load_word(p, 1 + n):
            return NO
    return p + 8 * (1 + count)


def is_new(t, array):
    """Put an object into the hash table; return 1 if it was not there, else 0."""
    h = (array >> 4) & load_word(t, at.MASK)
    while load_word(t, at.WAY + h) != 0:
        if load_word(t, at.WAY + h) == array:
            return 0
        h = (h + 1) & load_word(t, at.MASK)
    store_word(t, at.WAY + h, array)
    return 1


def has_layout(array, p):
    """Return 1 if an array has the strides that are described, or is in C order if there are none;
    else 0."""
    count, in_order = load_word(p, 0), load_word(array, FLAGS) & C_ORDER
    if count == 0 or in_order != 0:
        return 1 if count == 0 and in_order != 0 else 0
    if load_word(array, NDIM) & LOW != count:
        return 0
    for d in range(count):
        if load_word(load_word(array, STRIDES), d) != load_word(p, 1 + d):
            return 0
    return 1


def take(t, array, arrays, p):
    """Compare an array with its description; add the array to ``arrays`` if it is a new one."""
    if is_a(t, array, ARRAY_TYPE) == 0:
        return UNKNOWN
    number, taken = load_word(p, 0), load_word(t, at.TAKEN)
    if has_layout(array, p + 8) == 0:
        return NO
    if number < taken:
        if load_word(arrays, ITEMS + number) != array:
            return NO
    elif is_new(t, array) == 0:
        return NO
    else:
        add(arrays, taken, array)
        store_word(t, at.TAKEN, taken + 1)
    return p + 8 * (2 + load_word(p, 1))


def is_unwritten(t, value, version):
    """Look whether the memory of a value has the version with which the value was saved."""
    storage = place(t, value, at.V_STORAGE)
    if storage == load_word(t, NONE):
        return YES
    known = is_a(t, storage, at.STORAGE_TYPE) | is_a(t, storage, at.FOREIGN_TYPE)
    if known | is_a(t, storage, at.CAPTURED_TYPE) == 0:
        return UNKNOWN
    present = place(t, storage, at.S_VERSION)
    if is_a(t, present, INT_TYPE) & is_a(t, version, INT_TYPE) == 0:
        return UNKNOWN
    return YES if number_of(present) == number_of(version) else WRITTEN


def take_read(t, node, arrays, p):
    """Compare and take the array of a saved value, which nobody may have written since."""
    position = load_word(p, 0)
    value = item_of(t, place(t, node, at.N_SAVED), position)
    if is_a(t, value, at.VALUE_TYPE) == 0:
        return UNKNOWN  # packed by a hook, or freed
    found = is_unwritten(t, value, item_of(t, place(t, node, at.N_VERSIONS), position))
    return take(t, place(t, value, at.V_ARRAY), arrays, p + 8) if found == YES else found


def take_saved(t, node, arrays, p):
    """Compare and take the arrays of all saved values of a node that are read, up to the first one
    of the graph that cannot be taken. The graph may still turn out to be another one."""
    count = load_word(p, 0)
    p += 8
    for _ in range(count):
        after = p + 8 * (3 + load_word(p, 2))
        if load_word(t, at.STATE) in (YES, LOOSE):
            found = take_read(t, node, arrays, p)
            if found == NO:
                return NO
            if found < 0:
                store_word(t, at.STATE, found)
        p = after
    return p


def keep_saved(t, node, kept, n):
    """Store all that a node has saved in ``kept``, at place ``n``."""
    saved = place(t, node, at.N_SAVED)
    if is_a(t, saved, TUPLE_TYPE) != 0:
        add(kept, n, saved)
    else:
        store_word(t, at.STATE, UNKNOWN)  # freed


def look_at(t, node, nodes, arrays, kept, p):
    """Compare a node, its edges and what it has saved; note its parents.

    All is done at once, as in a long graph no cache of the processor has a node twice.
    """
    found, place_kept = is_node(t, node, p), load_word(p, 2) // at.KEEPS
    if found == LOOSE and load_word(t, at.STATE) == YES:
        store_word(t, at.STATE, LOOSE)
    elif found != YES and found != LOOSE:
        return found
    p = are_nodes(t, place(t, node, at.N_PARENTS), load_word(p, 3), nodes, p + 32)
    if p >= 0:
        p = are_slots(t, place(t, node, at.N_SLOTS), p)
    if p >= 0:
        p = take_saved(t, node, arrays, p)
    if p >= 0 and place_kept != 0:
        keep_saved(t, node, kept, place_kept - 1)
    return p


def find_nodes(t, roots, nodes, arrays, kept, p):
    """Walk to all nodes, and compare them, and the order in which they were made."""
    latest, p = 0, are_nodes(t, roots, load_word(t, at.ROOTS), nodes, p)
    if p < 0:
        return p
    for n in range(load_word(t, at.NODES)):
        node = node_at(nodes, n)
        p = look_at(t, node, nodes, arrays, kept, p)
        if p < 0:
            return p
        number = place(t, node, at.N_NUMBER)
        if is_whole(t, number) == 0:
            return UNKNOWN
        made = number_of(number)
        if n != 0 and made >= latest:
            return NO
        latest = made
    return p


def take_seeds(t, seeds, arrays, p):
    """Compare and take the arrays of the seeds."""
    count = load_word(t, at.SEEDS)
    if length_of(t, seeds) != count:
        return NO
    for n in range(count):
        p = take(t, item_of(t, seeds, n), arrays, p)
        if p < 0:
            return p
    return p


def take_positions(t, nodes, arrays, p):
    """Take the positions of all stand-ins, which follow the other arrays."""
    for k in range(load_word(t, at.INDEXED)):
        positions = place(t, stand_in_of(t, node_at(nodes, load_word(p, k))), at.I_POSITIONS)
        if is_a(t, positions, ARRAY_TYPE) == 0:
            return UNKNOWN
        add(arrays, load_word(t, at.ARRAYS) + k, positions)
    return YES


def recognise(t, arguments, nodes, arrays, kept):
    """Compare the graph of a pass, and take its nodes and arrays, and what its nodes have saved."""
    for h in range(load_word(t, at.MASK) + 1):
        store_word(t, at.WAY + h, 0)
    store_word(t, at.TAKEN, 0)
    store_word(t, at.STATE, YES)
    roots, targets, seeds = (
        load_word(arguments, 0), load_word(arguments, 1), load_word(arguments, 2)
    )  # fmt: skip
    p = t + 8 * (at.WAY + load_word(t, at.MASK) + 1)
    p = find_nodes(t, roots, nodes, arrays, kept, p)
    if p >= 0 and targets == load_word(t, NONE):
        p += 8 * load_word(t, at.TARGETS)
    elif p >= 0:
        p = are_nodes(t, targets, load_word(t, at.TARGETS), nodes, p)
    if p >= 0 and load_word(t, at.STATE) != YES:
        return load_word(t, at.STATE)
    if p >= 0:
        p = take_seeds(t, seeds, arrays, p)
    return p if p < 0 else take_positions(t, nodes, arrays, p)


def follow(table_object, arguments, count):
    """Return three tuples: the nodes of a graph, its arrays, and what its keepers have saved; with
    None in place of the arrays as long as kinds are to be looked up, or saved values to be
    restored. Return False or None in place of the tuples; see `followers.follower`.

    The arguments are the roots, the targets and the seeds. The result is 0 after an error.
    """
    t = load_word(table_object, DATA)
    found, nodes = python.new_tuple(3), python.new_tuple(load_word(t, at.NODES))
    arrays = python.new_tuple(load_word(t, at.ARRAYS) + load_word(t, at.INDEXED))
    kept = python.new_tuple(load_word(t, at.KEEPERS))
    if found == 0 or nodes == 0 or arrays == 0 or kept == 0:
        return 0  # there is no memory
    store_word(found, ITEMS, nodes)
    store_word(found, ITEMS + 1, arrays)
    store_word(found, ITEMS + 2, kept)
    p = UNKNOWN if count != _ARGUMENTS else recognise(t, arguments, nodes, arrays, kept)
    if p in (LOOSE, WRITTEN):
        add(found, 1, load_word(t, NONE))
        python.drop(arrays)
    if p >= 0 or p in (LOOSE, WRITTEN):
        return found
    python.drop(found)
    answer = load_word(t, FALSE if p == NO else NONE)
    python.keep(answer)
    return answer
