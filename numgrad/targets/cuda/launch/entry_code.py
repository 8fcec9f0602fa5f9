"""The compiled half of entries: check the arguments and launch all kernels of a program.

``t`` is the address of the table of words that `entry` lays out; other arguments are addresses of
objects, of words or of memory of the device.
"""

from ...cpu.compile.intrinsics import call_function, load_word, stack_words, store_word
from ...cpu.python import cpython as python
from ...cpu.python.cpython import are_same, call, give, is_a, like, place, put
from ...cpu.python.object_layout import (
    DATA,
    FALSE,
    INT_TYPE,
    ITEMS,
    LIST_ITEMS,
    LOW,
    NONE,
    SIZE,
)
from . import entry as at

_SLOTS = at.MOST + 2  # for the program's own memory, and for a result
_WORDS = at.MOST_WORDS


def integer(t, item):
    """Return the value of a Python int that fits a word; -1 for any other object."""
    overflow = stack_words(1)
    if is_a(t, item, INT_TYPE) == 0:
        return -1
    return python.number_of(item, overflow)


def add_to(t, item, name, number):
    """Add a number to the Python int in an attribute of ``item``; return the sum."""
    total = integer(t, place(t, item, name)) + number
    made = python.new_int(total)
    if made != 0:
        give(t, item, name, made)
    return total


def address_of(t, array, p):
    """Return the address of the first element of an array; 0 if the array is not as declared.

    ``p`` is the address of the words that declare the array. Memory that was made for another
    stream notes that the entry's stream uses it.
    """
    if is_a(t, array, at.ARRAY) == 0 or place(t, array, at.A_TARGET) != load_word(t, at.TARGET):
        return 0
    if place(t, array, at.A_DTYPE) != load_word(p, at.DTYPE):
        return 0
    if are_same(t, place(t, array, at.A_SHAPE), load_word(p, at.SHAPE)) == 0:
        return 0
    if are_same(t, place(t, array, at.A_STRIDES), load_word(p, at.STRIDES)) == 0:
        return 0
    offset, memory = integer(t, place(t, array, at.A_OFFSET)), place(t, array, at.A_MEMORY)
    if offset < 0 or is_a(t, memory, at.MEMORY) == 0:
        return 0
    if place(t, memory, at.M_STREAM) != load_word(t, at.STREAM) and is_noted(t, memory) == 0:
        return 0
    first = first_byte(t, memory)
    return 0 if first == 0 else first + offset


def is_noted(t, memory):
    """Note in a block of memory that the entry's stream uses the block; return 0 if the block was
    given back, else 1."""
    given = stack_words(1)
    store_word(given, 0, memory)
    block = call(load_word(t, at.USED), given, 1)
    if block == 0:
        python.clear_error()
        return 0
    python.drop(block)
    return 1


def first_byte(t, memory):
    """Return the address of a block of memory; 0 if the block was given back."""
    block = place(t, memory, at.M_BLOCK)
    if is_a(t, block, at.BLOCK) == 0 or load_word(block, SIZE) < 1:
        return 0
    address = integer(t, load_word(block, ITEMS))
    return 0 if address < 0 else address


def is_current(t):
    """Return 1 if work of the calling thread is for the entry's stream, else 0."""
    if python.length_of_dict(load_word(t, at.OTHER_MODES)) == 0:
        return load_word(t, at.IS_DEFAULT)  # no thread has chosen a stream
    stream = call(load_word(t, at.CURRENT), t, 0)
    if stream == 0:
        python.clear_error()
        return 0
    python.drop(stream)
    return 1 if stream == load_word(t, at.STREAM) else 0


def find(t, arguments, count, addresses):
    """Write the address of each argument to ``addresses``; return 0 if one is not as declared."""
    p = t + 8 * at.ARGUMENTS
    for n in range(count):
        item = load_word(arguments, n)
        if load_word(p, at.DTYPE) == 0:  # a certain object, which no kernel reads
            if item != load_word(p, at.SHAPE):
                return 0
        else:
            address = address_of(t, item, p)
            if address == 0:
                return 0
            store_word(addresses, 1 + n, address)
        p += 8 * at.DESCRIPTION
    return 1


def are_apart(t, arguments, count):
    """Return 1 if no array for a result lies in the memory of another argument, else 0."""
    first = count - load_word(t, at.NOUT)
    for n in range(first, count):
        memory = place(t, load_word(arguments, n), at.A_MEMORY)
        for k in range(n):
            other = load_word(arguments, k)
            if is_a(t, other, at.ARRAY) != 0 and place(t, other, at.A_MEMORY) == memory:
                return 0
    return 1


def is_ready(t, arguments, count, addresses):
    """Return 1 if a call can be answered, and write the addresses of the arguments; else 0."""
    if count != load_word(t, at.NARGS) or load_word(t, at.LEFT) == 0:
        return 0
    return find(t, arguments, count, addresses)


def launch_one(t, p, addresses):
    """Launch the kernel that the words at ``p`` describe; return the status of the driver."""
    pointers, values = stack_words(_WORDS), stack_words(_WORDS)
    words = p + 8 * at.LAUNCH_HEAD
    count = load_word(p, at.NWORDS)
    for n in range(count):
        store_word(pointers, n, words + 8 * n)
    patches = words + 8 * count
    for k in range(load_word(p, at.NPLACES)):
        n, slot = load_word(patches, 2 * k), load_word(patches, 2 * k + 1)
        store_word(values, k, load_word(addresses, slot) + load_word(words, n))
        store_word(pointers, n, values + 8 * k)
    status = call_function(load_word(t, at.CALL), (
        load_word(p, at.FUNCTION), load_word(p, at.GRID), 1, 1, load_word(p, at.THREADS), 1, 1,
        0, load_word(t, at.ADDRESS), pointers, 0,
    ))  # fmt: skip
    return status & LOW


def launch(t, addresses):
    """Launch all kernels in order; return the status of the first one that fails, else 0.

    Other threads may run Python meanwhile: the driver waits while too many launches are queued.
    """
    p = load_word(t, at.LAUNCHES)
    thread = python.release_lock()
    status = 0
    for _ in range(load_word(t, at.NLAUNCH)):
        status = launch_one(t, p, addresses)
        if status != 0:
            break
        p += 8 * load_word(p, at.NEXT)
    python.take_lock(thread)
    return status


def run(t, addresses):
    """Run the program; return 0, or 1 if the caller has to run it, or -1 if an exception is set."""
    if load_word(t, at.ENTER) != 0:
        done = call(load_word(t, at.ENTER), t, 0)
        if done == 0:
            return -1
        python.drop(done)
    if load_word(t, at.ALLOCATE) == 0:
        return 0 if launch(t, addresses) == 0 else 1
    memory = call(load_word(t, at.ALLOCATE), t, 0)
    if memory == 0:
        return -1
    first = 0
    if is_a(t, memory, at.MEMORY) != 0:
        first = first_byte(t, memory)
    store_word(addresses, 0, first)
    refused = 1
    if first != 0 and launch(t, addresses) == 0:
        refused = 0
    python.drop(memory)
    return refused


def elsewhere(t, arguments, count, answer):
    """Call what serves other streams than the entry's; without it return a constant of Python, the
    one of the word ``answer``."""
    others = load_word(t, at.ELSEWHERE)
    if others != 0:
        return call(others, arguments, count)
    python.keep(load_word(t, answer))
    return load_word(t, answer)


def enter(table_object, arguments, count):
    """Run a program on arguments and arrays for results; see `entry.entry_of`.

    Return the Python object None; False if the caller has to run the program; the null pointer with
    an exception set.
    """
    t, addresses = load_word(table_object, DATA), stack_words(_SLOTS)
    if is_current(t) == 0:
        return elsewhere(t, arguments, count, FALSE)
    refused = 1
    if is_ready(t, arguments, count, addresses) != 0 and are_apart(t, arguments, count) != 0:
        store_word(t, at.LEFT, load_word(t, at.LEFT) - 1)
        refused = run(t, addresses)
    if refused < 0:
        return 0
    answer = load_word(t, NONE if refused == 0 else FALSE)
    python.keep(answer)
    return answer


def kept_block(t):
    """Return a block that was kept, which the caller owns; 0 if there is none."""
    row = load_word(t, at.ROW)
    if row == 0:
        return 0
    count = load_word(row, SIZE)
    if count == 0:
        return 0
    block = load_word(load_word(row, LIST_ITEMS), count - 1)
    python.keep(block)
    python.set_slice(row, count - 1, count, 0)
    add_to(t, load_word(t, at.SMALL), at.S_KEPT, -load_word(t, at.ROUNDED))
    return block


def new_memory(t):
    """Return memory for a result, in a block that was kept if there is one; 0 after an error."""
    block = kept_block(t)
    if block == 0:
        return call(load_word(t, at.NEW), t, 0)
    memory = like(t, at.MEMORY_LIKE, at.MEMORY_END)
    if memory == 0:
        python.drop(block)
        return 0
    give(t, memory, at.M_BLOCK, block)
    usage = load_word(t, at.USAGE)
    now = add_to(t, usage, at.U_NOW, load_word(t, at.NBYTES))
    if now > integer(t, place(t, usage, at.U_PEAK)):
        put(t, usage, at.U_PEAK, place(t, usage, at.U_NOW))
    return memory


def new_array(t):
    """Return a new array for the result, which the caller owns; 0 after an error."""
    memory = new_memory(t)
    if memory == 0:
        return 0
    array = like(t, at.ARRAY_LIKE, at.ARRAY_END)
    if array == 0:
        python.drop(memory)
        return 0
    give(t, array, at.A_MEMORY, memory)
    return array


def declined(t):
    """Return the Python object None, which the caller owns."""
    python.keep(load_word(t, NONE))
    return load_word(t, NONE)


def empty(table_object, arguments, count):
    """Return a new array, or None if the caller has to make it; 0 after an error."""
    t = load_word(table_object, DATA)
    return elsewhere(t, arguments, count, NONE) if is_current(t) == 0 else new_array(t)


def compute(table_object, arguments, count):
    """Run a program of one result; return a new array, or None if the caller has to run it.

    The result is the null pointer with an exception set after an error.
    """
    t, addresses = load_word(table_object, DATA), stack_words(_SLOTS)
    if is_current(t) == 0:
        return elsewhere(t, arguments, count, NONE)
    if is_ready(t, arguments, count, addresses) == 0:
        return declined(t)
    array, refused = new_array(t), 1
    if array == 0:
        return 0
    first = first_byte(t, place(t, array, at.A_MEMORY))
    store_word(addresses, 1 + count, first)
    if first != 0:
        refused = run(t, addresses)
    if refused == 0:
        return array
    python.drop(array)
    return 0 if refused < 0 else declined(t)
