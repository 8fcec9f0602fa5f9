"""The compiled half of recording: computes one operation and makes its value and its node.

It does what ``engine.direct`` does for an operation on one or two values of which nothing is out of
the ordinary, and answers None, having done nothing, for any other. What new objects have in common
is copied from one that is like them. Every word that is stored in an object is a reference that the
object owns.
"""

from numba.extending import register_jitable

from .entry_words import DATA
from .interpreter import call_function
from .intrinsics import load_word, stack_words, store_word
from .noting_words import (
    ARRAY_TYPE,
    AS_ARRAY,
    CALL,
    COMPUTE,
    DROP,
    EMPTY,
    FALSE,
    FIRST,
    FLOWS,
    ITEMS,
    KEEP,
    N_CODE,
    N_INSTRUCTION,
    N_NUMBER,
    N_PARENTS,
    N_SAVED,
    N_SLOTS,
    N_VERSIONS,
    NEW,
    NEW_TUPLE,
    NIN,
    NODE,
    NODE_END,
    NONE,
    READS,
    S_VERSION,
    STORAGE,
    STORAGE_END,
    STORAGE_TYPE,
    TRUE,
    UNWRITTEN,
    V_ARRAY,
    V_EXPR,
    V_NODE,
    V_REQUIRES,
    V_SLOT,
    V_STORAGE,
    V_VIEW,
    VALUE,
    VALUE_END,
    VALUE_TYPE,
    VIEW_TYPE,
    W_BASE,
    W_EXPR,
    W_NODE,
    ZERO,
)  # fmt: skip


@register_jitable
def place(t, item, name):
    """Return what an object has in a place."""
    return load_word(item, load_word(t, name))


@register_jitable
def put(t, item, name, thing):
    """Store an object in an empty place of another one."""
    call_function(load_word(t, KEEP), (thing,))
    store_word(item, load_word(t, name), thing)


@register_jitable
def like(t, template, end):
    """Return a new object like another one; 0 if there is no memory."""
    old = load_word(t, template)
    new = call_function(load_word(t, NEW), (load_word(old, 1), 0))
    if new != 0:
        for n in range(FIRST, load_word(t, end)):
            item = load_word(old, n)
            if item != 0:
                call_function(load_word(t, KEEP), (item,))
                store_word(new, n, item)
    return new


@register_jitable
def is_plain(t, x):
    """Return 1 for a value that is computed, not written, and where it was in its graph, else 0."""
    none = load_word(t, NONE)
    if load_word(x, 1) != load_word(t, VALUE_TYPE) or place(t, x, V_ARRAY) == none:
        return 0
    requires = place(t, x, V_REQUIRES)
    leads_on = requires == load_word(t, TRUE) and place(t, x, V_NODE) != none
    if requires != load_word(t, FALSE) and not leads_on:
        return 0  # a leaf, or something else that is true
    view = place(t, x, V_VIEW)
    if view != none and load_word(view, 1) == load_word(t, VIEW_TYPE):
        base = place(t, view, W_BASE)
        node = place(t, base, V_NODE)
        if place(t, base, V_EXPR) != place(t, view, W_EXPR):
            return 0
        if node != none and node != place(t, view, W_NODE):
            return 0
    storage = place(t, x, V_STORAGE)
    if storage == none:
        return 1
    if load_word(storage, 1) != load_word(t, STORAGE_TYPE):
        return 0
    return 1 if place(t, storage, S_VERSION) == load_word(t, ZERO) else 0


@register_jitable
def computed(t, arguments, count, total, arrays):
    """Return the result as an array; 0 after an error."""
    keep, drop, call = load_word(t, KEEP), load_word(t, DROP), load_word(t, CALL)
    for n in range(count):
        array = place(t, load_word(arguments, n), V_ARRAY)
        if total > count + 3:
            array = load_word(arguments, count + 3 + n)
        call_function(keep, (array,))  # others may replace it while the kernel runs
        store_word(arrays, n, array)
    result = call_function(call, (load_word(t, COMPUTE), arrays, count, 0))
    for n in range(count):
        call_function(drop, (load_word(arrays, n),))
    if result == 0 or load_word(result, 1) == load_word(t, ARRAY_TYPE):
        return result
    store_word(arrays, 0, result)  # NumPy makes scalars of arrays without axes
    array = call_function(call, (load_word(t, AS_ARRAY), arrays, 1, 0))
    call_function(drop, (result,))
    return array


@register_jitable
def alone(t, value):
    """Return a value with the array of a new one, and a storage that both share; 0 if there is no
    memory."""
    storage = like(t, STORAGE, STORAGE_END)
    other = like(t, VALUE, VALUE_END)
    if storage == 0 or other == 0:
        return 0
    drop, at = load_word(t, DROP), load_word(t, V_STORAGE)
    put(t, other, V_ARRAY, place(t, value, V_ARRAY))
    put(t, other, V_REQUIRES, load_word(t, FALSE))
    put(t, other, V_NODE, load_word(t, NONE))
    for item in (value, other):
        call_function(drop, (load_word(item, at),))
        put(t, item, V_STORAGE, storage)
    call_function(drop, (storage,))
    return other


@register_jitable
def save(t, node, arguments, count, value, reads):
    """Keep in a node what the derivative reads; return 0 if there is no memory."""
    if reads == 0:
        put(t, node, N_SAVED, load_word(t, EMPTY))
        put(t, node, N_VERSIONS, load_word(t, EMPTY))
        return 1
    saved = call_function(load_word(t, NEW_TUPLE), (count + 1,))
    if saved == 0:
        return 0
    store_word(node, load_word(t, N_SAVED), saved)
    items = load_word(t, ITEMS)
    for n in range(count):
        item = load_word(arguments, n) if reads >> n & 1 else load_word(t, NONE)
        call_function(load_word(t, KEEP), (item,))
        store_word(saved, items + n, item)
    last = load_word(t, NONE)
    if reads >> count & 1:
        last = alone(t, value)
        if last == 0:
            return 0
    else:
        call_function(load_word(t, KEEP), (last,))
    store_word(saved, items + count, last)
    put(t, node, N_VERSIONS, load_word(t, UNWRITTEN))
    return 1


@register_jitable
def connect(t, node, arguments, count):
    """Let a node know the nodes above it; return 0 if there is no memory."""
    parents = call_function(load_word(t, NEW_TUPLE), (count,))
    slots = call_function(load_word(t, NEW_TUPLE), (count,))
    if parents == 0 or slots == 0:
        return 0
    store_word(node, load_word(t, N_PARENTS), parents)
    store_word(node, load_word(t, N_SLOTS), slots)
    keep, items = load_word(t, KEEP), load_word(t, ITEMS)
    for n in range(count):
        x = load_word(arguments, n)
        parent, slot = load_word(t, NONE), place(t, x, V_SLOT)
        if place(t, x, V_REQUIRES) == load_word(t, TRUE):
            parent = place(t, x, V_NODE)
        call_function(keep, (parent,))
        call_function(keep, (slot,))
        store_word(parents, items + n, parent)
        store_word(slots, items + n, slot)
    return 1


def note(table_object, arguments, count):
    """Apply an operator to values. Code, instruction and number of the node follow them, and arrays
    to compute with in place of theirs. Return the value of the result, None if the operation takes
    another way, 0 after an error."""
    t = load_word(table_object, DATA)
    nin = load_word(t, NIN)
    none = load_word(t, NONE)
    arrays = stack_words(2)
    plain = 1 if count == nin + 3 or count == nin + nin + 3 else 0
    for n in range(nin):
        if plain != 0:
            plain = is_plain(t, load_word(arguments, n))
    value = 0
    if plain == 0:
        value = none
        call_function(load_word(t, KEEP), (none,))
    else:
        array = computed(t, arguments, nin, count, arrays)
        if array != 0:
            value = like(t, VALUE, VALUE_END)
        if value != 0:
            store_word(value, load_word(t, V_ARRAY), array)
            wanted = 0
            for n in range(nin):
                if place(t, load_word(arguments, n), V_REQUIRES) == load_word(t, TRUE):
                    wanted += 1 << n
            if wanted == 0 or load_word(t, FLOWS) == 0:
                put(t, value, V_REQUIRES, load_word(t, FALSE))
                put(t, value, V_NODE, none)
            else:
                node = like(t, NODE, NODE_END)
                done = 0
                if node != 0:
                    done = connect(t, node, arguments, nin)
                if done != 0:
                    put(t, node, N_CODE, load_word(arguments, nin))
                    put(t, node, N_INSTRUCTION, load_word(arguments, nin + 1))
                    put(t, node, N_NUMBER, load_word(arguments, nin + 2))
                    reads = load_word(t, READS + wanted)
                    done = save(t, node, arguments, nin, value, reads)
                if done == 0:
                    value = 0
                else:
                    store_word(value, load_word(t, V_NODE), node)
                    put(t, value, V_REQUIRES, load_word(t, TRUE))
    return value
