"""The compiled half of recording: computes one operation and makes its value and its node.

It does what ``engine.dispatch`` does for an operation on a few values of which nothing is out of
the ordinary, and answers None, having done nothing, for any other. What new objects have in common
is copied from one that is like them. Every word that is stored in an object is a reference that the
object owns. What Python code may have changed is looked at first, see `looking`.
"""

from .entry_words import C_ORDER, DATA, FLAGS
from .interpreter import call_function
from .intrinsics import load_word, stack_words, store_word
from .looking import fits, is_a, is_plain, place
from .noting_words import (
    ABOVE,
    ACCUMULATOR_OF,
    ARRAY_TYPE,
    AS_ARRAY,
    ATTRIBUTE,
    CALL,
    CLEAR,
    CODE_NAME,
    COMPUTE,
    DEPTH,
    DROP,
    EMPTY,
    FALSE,
    FILE_NAME,
    FIRST,
    FLOWS,
    FRAME_AT,
    FROM_SCALAR,
    GET_ITEM,
    INSTRUCTION_NAME,
    IS_OURS,
    ITEMS,
    JOIN,
    KEEP,
    MOST,
    N_CODE,
    N_INSTRUCTION,
    N_NUMBER,
    N_PARENTS,
    N_SAVED,
    N_SLOTS,
    N_VERSIONS,
    NEW,
    NEW_TUPLE,
    NEXT_NUMBER,
    NIN,
    NODE,
    NODE_END,
    NONE,
    ORDERED,
    READS,
    S_KEPT,
    SCALAR_TYPE,
    STEP,
    STORAGE,
    STORAGE_END,
    STORAGE_OF,
    STORAGE_TYPE,
    TRUE,
    UNWRITTEN,
    USER_FRAME,
    V_ARRAY,
    V_EXPR,
    V_KEPT,
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
    W_CHAIN,
    W_EXPR,
    W_NODE,
    WORDS,
    ZERO,
)  # fmt: skip


def put(t, item, name, thing):
    """Store an object in an empty place of another one."""
    call_function(load_word(t, KEEP), (thing,))
    store_word(item, load_word(t, name), thing)


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


def computed(t, arguments, count, total):
    """Return the result as an array; 0 after an error."""
    arrays = stack_words(MOST)
    keep, drop, call = load_word(t, KEEP), load_word(t, DROP), load_word(t, CALL)
    for n in range(count):
        array = place(t, load_word(arguments, n), V_ARRAY)
        if total > count:
            array = load_word(arguments, count + n)
        call_function(keep, (array,))  # others may replace it while the kernel runs
        store_word(arrays, n, array)
    result = call_function(call, (load_word(t, COMPUTE), arrays, count, 0))
    for n in range(count):
        call_function(drop, (load_word(arrays, n),))
    if result == 0 or load_word(result, 1) == load_word(t, ARRAY_TYPE):
        return result
    from_scalar = load_word(t, FROM_SCALAR)  # NumPy makes scalars of arrays without axes
    if from_scalar != 0 and load_word(result, 1) == load_word(t, SCALAR_TYPE):
        array = call_function(from_scalar, (result, 0))
    else:
        store_word(arrays, 0, result)
        array = call_function(call, (load_word(t, AS_ARRAY), arrays, 1, 0))
    call_function(drop, (result,))
    return array


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


def note_saved(t, x):
    """Let the storage of a value, or the value itself, know that a node has saved it."""
    item, at = place(t, x, V_STORAGE), S_KEPT
    if is_a(t, item, STORAGE_TYPE) == 0:
        item, at = x, V_KEPT
    before = place(t, item, at)
    if before != load_word(t, TRUE):
        put(t, item, at, load_word(t, TRUE))
        if before != 0:
            call_function(load_word(t, DROP), (before,))


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
        item = load_word(t, NONE)
        if reads >> n & 1:
            item = load_word(arguments, n)
            note_saved(t, item)
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


def connect(t, node, arguments, count):
    """Let a node know the nodes above it; return 0 after an error."""
    parents = call_function(load_word(t, NEW_TUPLE), (count,))
    slots = call_function(load_word(t, NEW_TUPLE), (count,))
    if parents == 0 or slots == 0:
        return 0
    store_word(node, load_word(t, N_PARENTS), parents)
    store_word(node, load_word(t, N_SLOTS), slots)
    keep, items, none = load_word(t, KEEP), load_word(t, ITEMS), load_word(t, NONE)
    for n in range(count):
        x = load_word(arguments, n)
        slot = place(t, x, V_SLOT)
        call_function(keep, (slot,))
        store_word(slots, items + n, slot)
        parent = place(t, x, V_NODE)  # None for what needs no gradient, and for a leaf
        if place(t, x, V_REQUIRES) != load_word(t, TRUE):
            parent = none
        elif parent == none:
            parent = call_with(t, ACCUMULATOR_OF, x)
            if parent == 0:
                return 0
            store_word(parents, items + n, parent)
            continue
        if parent == 0 or slot == 0:  # another thread has deleted it meanwhile
            return 0
        call_function(keep, (parent,))
        store_word(parents, items + n, parent)
    return 1


def call_with(t, function, thing):
    """Call a function of one argument; return the result, which the caller owns."""
    arguments = stack_words(1)
    store_word(arguments, 0, thing)
    return call_function(load_word(t, CALL), (load_word(t, function), arguments, 1, 0))


def nowhere(t, node):
    """Let a node know that its place is in no code of the user's."""
    put(t, node, N_CODE, load_word(t, NONE))
    put(t, node, N_INSTRUCTION, load_word(t, ZERO))
    return 1


def locate(t, node):
    """Let a node know its number and its place in the user's code; return 0 after an error."""
    attribute, drop = load_word(t, ATTRIBUTE), load_word(t, DROP)
    number = call_function(load_word(t, CALL), (load_word(t, NEXT_NUMBER), node, 0, 0))
    if number == 0:
        return 0
    store_word(node, load_word(t, N_NUMBER), number)
    frame = call_with(t, FRAME_AT, load_word(t, DEPTH))
    if frame == 0:  # there are fewer, as in a thread that begins with a method
        call_function(load_word(t, CLEAR), ())
        return nowhere(t, node)
    while True:
        code = call_function(attribute, (frame, load_word(t, CODE_NAME)))
        file = call_function(attribute, (code, load_word(t, FILE_NAME)))
        ours = call_function(load_word(t, GET_ITEM), (load_word(t, IS_OURS), file))
        call_function(drop, (file,))
        if ours == load_word(t, FALSE):
            break
        call_function(drop, (code,))
        above = 0
        if ours == 0:  # not known yet
            above = call_with(t, USER_FRAME, frame)
        else:
            above = call_function(load_word(t, ABOVE), (frame,))
        call_function(drop, (frame,))
        if above == 0 and ours == 0:
            return 0
        if above == 0 or above == load_word(t, NONE):
            return nowhere(t, node)
        frame = above
    instruction = call_function(attribute, (frame, load_word(t, INSTRUCTION_NAME)))
    call_function(drop, (frame,))
    store_word(node, load_word(t, N_CODE), code)
    store_word(node, load_word(t, N_INSTRUCTION), instruction)
    return instruction


def link(t, x, value):
    """Make a value the view that it is of another one, or of what that is a view of; return 0 after
    an error."""
    none = load_word(t, NONE)
    storage = place(t, x, V_STORAGE)
    if is_a(t, storage, STORAGE_TYPE) == 0:
        storage = call_with(t, STORAGE_OF, x)
    else:
        call_function(load_word(t, KEEP), (storage,))
    if storage == 0:
        return 0
    call_function(load_word(t, DROP), (none,))  # what the new value had
    store_word(value, load_word(t, V_STORAGE), storage)
    view = call_function(load_word(t, NEW), (load_word(t, VIEW_TYPE), 0))
    if view == 0:
        return 0
    base, above, chain = x, place(t, x, V_VIEW), load_word(t, STEP)
    if is_a(t, above, VIEW_TYPE) != 0 and is_a(t, place(t, above, W_BASE), VALUE_TYPE) != 0:
        base = place(t, above, W_BASE)
        chain = call_function(load_word(t, JOIN), (place(t, above, W_CHAIN), chain))
    else:
        call_function(load_word(t, KEEP), (chain,))
    put(t, view, W_BASE, base)
    put(t, view, W_NODE, place(t, base, V_NODE))
    put(t, view, W_EXPR, place(t, base, V_EXPR))
    store_word(view, load_word(t, W_CHAIN), chain)
    call_function(load_word(t, DROP), (none,))
    store_word(value, load_word(t, V_VIEW), view)
    return chain


def hang(t, value, arguments, count):
    """Put a value into the graph if gradients flow from an operand; return 0 after an error."""
    wanted = 0
    for n in range(count):
        if place(t, load_word(arguments, n), V_REQUIRES) == load_word(t, TRUE):
            wanted += 1 << n
    if wanted == 0 or load_word(t, FLOWS) == 0:
        put(t, value, V_REQUIRES, load_word(t, FALSE))
        put(t, value, V_NODE, load_word(t, NONE))
        return 1
    node = like(t, NODE, NODE_END)
    if node == 0:
        return 0
    store_word(value, load_word(t, V_NODE), node)
    put(t, value, V_REQUIRES, load_word(t, TRUE))
    if connect(t, node, arguments, count) == 0 or locate(t, node) == 0:
        return 0
    return save(t, node, arguments, count, value, load_word(t, READS + wanted))


def note(table_object, arguments, count):
    """Apply an operator to values; arrays to compute with in place of theirs may follow. Return the
    value of the result, None if the operation takes another way, 0 after an error."""
    t = load_word(table_object, DATA)
    nin = load_word(t, NIN)
    plain = 1 if count == nin or count == nin + nin else 0
    p = t + 8 * WORDS
    for n in range(nin):
        if plain != 0:
            plain = is_plain(t, load_word(arguments, n))
        if plain != 0:
            plain = fits(place(t, load_word(arguments, n), V_ARRAY), p)
            p += 8 * plain
        if plain != 0 and load_word(t, ORDERED) != 0:
            plain = load_word(place(t, load_word(arguments, n), V_ARRAY), FLAGS) & C_ORDER
    if plain == 0:
        call_function(load_word(t, KEEP), (load_word(t, NONE),))
        return load_word(t, NONE)
    array = computed(t, arguments, nin, count)
    if array == 0:
        return 0
    value = like(t, VALUE, VALUE_END)
    if value == 0:
        call_function(load_word(t, DROP), (array,))
        return 0
    store_word(value, load_word(t, V_ARRAY), array)
    done = 1
    if load_word(t, STEP) != 0:
        done = link(t, load_word(arguments, 0), value)
    if done != 0:
        done = hang(t, value, arguments, nin)
    if done == 0:
        call_function(load_word(t, DROP), (value,))
        return 0
    return value
