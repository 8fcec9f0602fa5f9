"""The compiled half of recorders: compute one operation and make its value and its node.

A recorder does the work of `engine.record.dispatch` for an operation on a few plain values, see
`is_plain`, and returns None, without any effect, for other values. New objects are copies of a
template. Every word stored in an object is a reference that the object owns.
"""

from ..compile.intrinsics import call_function, load_word, stack_words, store_word
from . import cpython as python
from . import recorders as at
from .cpython import are_same, call, fits, give, is_a, like, place, put
from .object_layout import (
    ARRAY_TYPE,
    C_ORDER,
    DATA,
    FALSE,
    FLAGS,
    ITEMS,
    NONE,
    TRUE,
    ZERO,
)

_MOST_INPUTS = at.MOST_INPUTS


def is_current_view(t, x, view):
    """Return 1 if the base of the view ``x`` is still what it was when the view was made; else 0.

    When the view was made, ``view`` noted the expression and the node of its base. The base must
    still have that expression; its node must be the noted one or None, and then the base may not
    require grad unless the view does.
    """
    base = place(t, view, at.W_BASE)
    if is_a(t, base, at.VALUE_TYPE) == 0 or place(t, view, at.W_CHAIN) == 0:
        return 0
    node = place(t, base, at.V_NODE)
    if node == 0 or place(t, base, at.V_EXPR) != place(t, view, at.W_EXPR):
        return 0
    if node != load_word(t, NONE):
        return 1 if node == place(t, view, at.W_NODE) else 0
    requires = place(t, base, at.V_REQUIRES)
    return 1 if requires == load_word(t, FALSE) or requires == place(t, x, at.V_REQUIRES) else 0


def is_plain(t, x):
    """Return 1 if ``x`` is a value of the memory of its own graph, and a view of what its base is
    now; else 0."""
    if is_a(t, x, at.VALUE_TYPE) == 0:
        return 0
    requires, view = place(t, x, at.V_REQUIRES), place(t, x, at.V_VIEW)
    if requires != load_word(t, FALSE) and requires != load_word(t, TRUE):
        return 0  # Python code has stored another object
    if view == 0 or place(t, x, at.V_NODE) == 0 or place(t, x, at.V_SLOT) == 0:
        return 0
    if is_a(t, view, at.VIEW_TYPE) != 0 and is_current_view(t, x, view) == 0:
        return 0
    storage = place(t, x, at.V_STORAGE)
    if storage == load_word(t, NONE):
        return 1
    if is_a(t, storage, at.STORAGE_TYPE) == 0:
        return 0
    return 1 if place(t, storage, at.S_VERSION) != 0 else 0


def version_of(t, x):
    """Return the number of writes into the memory of a plain value, a borrowed Python int."""
    storage = place(t, x, at.V_STORAGE)
    if is_a(t, storage, at.STORAGE_TYPE) != 0:
        return place(t, storage, at.S_VERSION)
    return load_word(t, ZERO)


def is_in_order(t, array):
    """Return 1 if an object is an array in C order, else 0."""
    return is_a(t, array, ARRAY_TYPE) & (load_word(array, FLAGS) & C_ORDER)


def computed(t, arguments, count, total):
    """Compute an operation on the arrays of the inputs; return an array, or 0 after an error.

    There are ``count`` inputs among ``total`` arguments. Any other arguments are arrays to compute
    with in place of those of the inputs.
    """
    arrays, compute = stack_words(_MOST_INPUTS), load_word(t, at.IN_ORDER)
    for n in range(count):
        array = place(t, load_word(arguments, n), at.V_ARRAY)
        if total > count:
            array = load_word(arguments, count + n)
        if load_word(t, at.TARGET) == 0 and is_in_order(t, array) == 0:
            compute = 0
        python.keep(array)  # others may replace it while the kernel runs
        store_word(arrays, n, array)
    result = load_word(t, NONE)
    python.keep(result)
    if compute != 0:
        python.drop(result)
        result = call(compute, arrays, count)
    if result == load_word(t, NONE):
        python.drop(result)
        result = call(load_word(t, at.COMPUTE), arrays, count)
    for n in range(count):
        python.drop(load_word(arrays, n))
    if result == 0 or is_a(t, result, ARRAY_TYPE) | is_a(t, result, at.DEVICE_ARRAY) != 0:
        return result
    from_scalar = load_word(t, at.FROM_SCALAR)  # NumPy makes scalars of arrays without axes
    if from_scalar != 0 and is_a(t, result, at.SCALAR_TYPE) != 0:
        array = call_function(from_scalar, (result, 0))
    else:
        array = call_with(t, at.AS_ARRAY, result)
    python.drop(result)
    return array


def with_shared_storage(t, value):
    """Return a second value with the array of ``value``, and give both values one storage.

    The result is 0 if there is no memory. The node of ``value`` saves the second value: to save
    ``value`` itself would make a reference cycle.
    """
    storage = like(t, at.STORAGE, at.STORAGE_END)
    other = like(t, at.VALUE, at.VALUE_END)
    if storage == 0 or other == 0:
        return 0
    put(t, other, at.V_ARRAY, place(t, value, at.V_ARRAY))
    put(t, other, at.V_STORAGE, storage)
    give(t, value, at.V_STORAGE, storage)
    return other


def note_saved(t, x):
    """Mark a value as saved by a node: in its storage, or in the value if it has no storage."""
    storage = place(t, x, at.V_STORAGE)
    if is_a(t, storage, at.STORAGE_TYPE) != 0:
        put(t, storage, at.S_KEPT, load_word(t, TRUE))
    else:
        put(t, x, at.V_KEPT, load_word(t, TRUE))


def save(t, node, arguments, count, value, reads):
    """Store in a node the values that its derivative reads; return 0 if there is no memory.

    ``reads`` has a bit for each input and one for the result, which is ``value``.
    """
    if reads == 0:
        return 1
    saved, written = python.new_tuple(count + 1), 0
    if saved == 0:
        return 0
    give(t, node, at.N_SAVED, saved)
    put(t, node, at.N_VERSIONS, load_word(t, at.UNWRITTEN))
    for n in range(count):
        item = load_word(t, NONE)
        if reads >> n & 1:
            item = load_word(arguments, n)
            if version_of(t, item) != load_word(t, ZERO):
                written, item = 1, call_with(t, at.SAVED, item)
            else:
                note_saved(t, item)
                python.keep(item)
        else:
            python.keep(item)
        store_word(saved, ITEMS + n, item)
        if item == 0:
            return 0
    if written != 0 and set_versions(t, node, saved, count) == 0:
        return 0
    last = load_word(t, NONE)
    if reads >> count & 1:
        last = with_shared_storage(t, value)
    else:
        python.keep(last)
    store_word(saved, ITEMS + count, last)
    return last


def set_versions(t, node, saved, count):
    """Store in a node the versions of the inputs that the node saves; return 0 after an error."""
    versions = python.new_tuple(count + 1)
    if versions == 0:
        return 0
    give(t, node, at.N_VERSIONS, versions)
    for n in range(count + 1):
        version = load_word(t, ZERO)  # that of the result, which nobody has written yet
        if n < count and is_a(t, load_word(saved, ITEMS + n), at.VALUE_TYPE) != 0:
            version = version_of(t, load_word(saved, ITEMS + n))
        if version == 0:  # another thread has deleted the version
            return 0
        python.keep(version)
        store_word(versions, ITEMS + n, version)
    return 1


def parent_of(t, x):
    """Return the node where the cotangent of a value arrives, which the caller owns.

    The result is None where no gradient flows, 0 after an error.
    """
    parent = load_word(t, NONE)
    if place(t, x, at.V_REQUIRES) == load_word(t, TRUE):
        parent = place(t, x, at.V_NODE)
        if parent == load_word(t, NONE):  # a leaf
            return call_with(t, at.ACCUMULATOR_OF, x)
    python.keep(parent)
    return parent


def connect(t, node, arguments, count):
    """Store in a node its parents, the nodes that made its inputs; return 0 after an error.

    The slots, which are stored too, say which output of its parent each input is. The template of
    the node has slots that are all 0, and all nodes made of the template share them.
    """
    parents, others = python.new_tuple(count), 0
    if parents == 0:
        return 0
    give(t, node, at.N_PARENTS, parents)
    for n in range(count):
        x = load_word(arguments, n)
        if place(t, x, at.V_SLOT) != load_word(t, ZERO):
            others = 1
        parent = parent_of(t, x)
        store_word(parents, ITEMS + n, parent)
        if parent == 0:
            return 0
    return 1 if others == 0 else set_slots(t, node, arguments, count)


def set_slots(t, node, arguments, count):
    """Store in a node which output of its parent each input is; return 0 after an error."""
    slots = python.new_tuple(count)
    if slots == 0:
        return 0
    give(t, node, at.N_SLOTS, slots)
    for n in range(count):
        slot = place(t, load_word(arguments, n), at.V_SLOT)
        if slot == 0:  # another thread has deleted the slot
            return 0
        python.keep(slot)
        store_word(slots, ITEMS + n, slot)
    return 1


def call_with(t, function, thing):
    """Call a function of one argument; return the result, which the caller owns."""
    arguments = stack_words(1)
    store_word(arguments, 0, thing)
    return call(load_word(t, function), arguments, 1)


def set_site(t, node):
    """Store in a node its number and the line of the user's code; return 0 after an error."""
    number = call(load_word(t, at.NEXT_NUMBER), node, 0)
    if number == 0:
        return 0
    give(t, node, at.N_NUMBER, number)
    frame = call_with(t, at.FRAME_AT, load_word(t, at.DEPTH))
    if frame == 0:  # the stack is not so deep, as in a thread that begins with a method
        python.clear_error()
    while frame != 0:
        code = python.code_of(frame)
        file = python.get_attribute(code, load_word(t, at.FILE_NAME))
        ours = python.get_item(load_word(t, at.IS_OURS), file)
        python.drop(file)
        python.drop(ours)
        if ours == load_word(t, FALSE):
            instruction = python.new_int(python.instruction_of(frame))
            python.drop(frame)
            give(t, node, at.N_CODE, code)
            give(t, node, at.N_INSTRUCTION, instruction)
            return instruction
        python.drop(code)
        above = python.frame_above(frame) if ours != 0 else 0
        python.drop(frame)
        if ours == 0:
            return 0
        frame = above
    return 1


def make_view(t, x, value):
    """Make ``value`` a view of ``x``, or of the base of ``x``; return 0 after an error."""
    storage = place(t, x, at.V_STORAGE)
    if is_a(t, storage, at.STORAGE_TYPE) != 0:
        python.keep(storage)
    else:
        storage = call_with(t, at.STORAGE_OF, x)
    if storage == 0:
        return 0
    give(t, value, at.V_STORAGE, storage)
    view = python.new_object(load_word(t, at.VIEW_TYPE), 0)
    if view == 0:
        return 0
    give(t, value, at.V_VIEW, view)
    base, above, chain = 0, place(t, x, at.V_VIEW), load_word(t, at.STEP)
    if is_a(t, above, at.VIEW_TYPE) != 0:
        base = place(t, above, at.W_BASE)
    if is_a(t, base, at.VALUE_TYPE) != 0:
        chain = python.join(place(t, above, at.W_CHAIN), chain)
    else:
        base = x
        python.keep(chain)
    put(t, view, at.W_BASE, base)
    put(t, view, at.W_NODE, place(t, base, at.V_NODE))
    put(t, view, at.W_EXPR, place(t, base, at.V_EXPR))
    give(t, view, at.W_CHAIN, chain)
    return chain


def attach_to_graph(t, value, arguments, count):
    """Make the node of a value if gradients flow from an input; return 0 after an error."""
    wanted = 0
    for n in range(count):
        if place(t, load_word(arguments, n), at.V_REQUIRES) == load_word(t, TRUE):
            wanted += 1 << n
    if wanted == 0 or load_word(t, at.FLOWS) == 0:
        return 1
    node = like(t, at.NODE, at.NODE_END)
    if node == 0:
        return 0
    give(t, value, at.V_NODE, node)
    put(t, value, at.V_REQUIRES, load_word(t, TRUE))
    if connect(t, node, arguments, count) == 0 or set_site(t, node) == 0:
        return 0
    reads = load_word(t, at.READS + wanted) if count <= at.MOST else 0
    return save(t, node, arguments, count, value, reads)


def is_declared(t, array, p):
    """Return the length of the description at ``p`` if an object is an array as described; else 0.
    """
    if load_word(p, 0) != 0:
        return fits(t, array, p)
    if is_a(t, array, at.DEVICE_ARRAY) == 0:
        return 0
    if place(t, array, at.D_TARGET) != load_word(t, at.TARGET):
        return 0
    if place(t, array, at.D_DTYPE) != load_word(p, 1):
        return 0
    return 3 * are_same(t, place(t, array, at.D_SHAPE), load_word(p, 2))


def are_plain(t, arguments, count):
    """Return 1 if the inputs are plain values whose arrays are as declared, else 0."""
    p = t + 8 * at.INPUTS
    for n in range(count):
        x = load_word(arguments, n)
        if is_plain(t, x) == 0:
            return 0
        words = is_declared(t, place(t, x, at.V_ARRAY), p)
        if words == 0:
            return 0
        p += 8 * words
    return 1


def record(table_object, arguments, count):
    """Apply an operator to input values; return the value of the result.

    The arguments are the inputs, and then possibly as many arrays, to compute with in place of
    those of the inputs. The result is None if the recorder declines, 0 after an error.
    """
    t = load_word(table_object, DATA)
    nin = load_word(t, at.NIN)
    if (count != nin and count != nin + nin) or are_plain(t, arguments, nin) == 0:
        python.keep(load_word(t, NONE))
        return load_word(t, NONE)
    array = computed(t, arguments, nin, count)
    if array == 0:
        return 0
    value = like(t, at.VALUE, at.VALUE_END)
    if value == 0:
        python.drop(array)
        return 0
    give(t, value, at.V_ARRAY, array)
    done = 1
    if load_word(t, at.STEP) != 0:
        done = make_view(t, load_word(arguments, 0), value)
    if done != 0:
        done = attach_to_graph(t, value, arguments, nin)
    if done == 0:
        python.drop(value)
        return 0
    return value
