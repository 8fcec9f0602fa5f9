"""The compiled half of an entry: functions that check the arguments and run the program.

``table`` is the address of the entry's table of words, which `entry` lays out.
"""

from ..compile.intrinsics import call_function, load_word, stack_words, store_word
from ..python.cpython import check_signals, fits, is_a, keep, number_of, release_lock, take_lock
from ..python.object_layout import DATA, FALSE, INT_TYPE, LOW, NONE, OBJECT, TYPE
from . import entry as at
from . import scratch


def overlap(bases, p):
    """Return 1 if an array that is written shares memory with another array or a constant; else 0.

    ``bases`` is the address of the table of bases, and ``p`` that of the words that tell which
    slots are written, which are read, and where constants lie.
    """
    outputs, inputs = load_word(p, 0), load_word(p, 1)
    constants = p + 8 * (2 + 2 * (outputs + inputs))
    for i in range(outputs):
        start = load_word(bases, load_word(p, 2 + 2 * i))
        end = start + load_word(p, 3 + 2 * i)
        for j in range(i + 1, outputs + inputs):
            other = load_word(bases, load_word(p, 2 + 2 * j))
            if start < other + load_word(p, 3 + 2 * j) and other < end:
                return 1
        for j in range(load_word(constants, 0)):
            if start < load_word(constants, 2 + 2 * j) and load_word(constants, 1 + 2 * j) < end:
                return 1
    return 0


def run(table):
    """Run all parts; return 0, or 1 if the run stopped, or -1 if a Python exception is set.

    A run stops if a kernel fails, or if an entry that keeps the GIL has used up its budget of work.
    An entry that releases the GIL runs each part on its number of threads, while other threads may
    run Python.
    """
    space, parts = load_word(table, at.SPACE), load_word(table, at.NPARTS)
    part = refused = thread = 0
    store_word(space, scratch.BASES, load_word(table, at.BASES))  # entries may share the space
    if load_word(table, at.UNLOCKED) != 0:
        store_word(table, at.BUSY, 1)
        thread = release_lock()
    while part < parts and refused == 0:
        store_word(space, scratch.BLOCK, load_word(table, at.HEAD + 2 * part))
        workers = load_word(table, at.HEAD + 2 * part + 1)
        store_word(space, scratch.WORKERS, workers)
        store_word(space, scratch.MODE, scratch.START if workers > 1 else scratch.START_ALONE)
        refused = work_on(table, workers)
        while refused != 0 and thread != 0 and load_word(space, scratch.FAILED) == 0:
            # The budget is used up: Python handles its signals between two slices.
            take_lock(thread)
            raised = check_signals()
            thread = release_lock()
            store_word(space, scratch.UNFINISHED, 0)
            store_word(space, scratch.MODE, scratch.RESUME)
            if raised != 0:
                refused = -1
                break
            refused = work_on(table, workers)
        store_word(space, scratch.MODE, scratch.START_ALONE)
        part += 1
    if thread != 0:
        take_lock(thread)
        store_word(table, at.BUSY, 0)
    return refused


def work_on(table, workers):
    """Run a part until it is complete, fails or has used up its budget; return 0 if complete, else
    1."""
    space = load_word(table, at.SPACE)
    if workers > 1:
        return call_function(load_word(table, at.LAUNCH), (space,))
    return call_function(load_word(table, at.WORK), (space + 8 * scratch.STATES,))


def write_integer(item, place):
    """Write the value of a Python int to the word at ``place``; return whether it is within limits.

    The least and the greatest value are in the next two words. The result is 1 or 0.
    """
    overflow = stack_words(1)
    number = number_of(item, overflow)
    store_word(place, 0, number)
    is_within = load_word(place, 1) <= number <= load_word(place, 2)
    return 1 if is_within and load_word(overflow, 0) & LOW == 0 else 0


def find(table, item, p):
    """Return the address at which a program reads an argument; 0 if it is not as declared.

    ``item`` is the address of the Python object, and ``p`` that of the words that declare the
    argument.
    """
    kind, place = load_word(p, at.KIND), p + 8 * at.DESCRIPTION
    if kind == at.ARRAY:
        return load_word(item, DATA) if fits(table, item, place) != 0 else 0
    if kind == at.SAME:
        return item if item == load_word(place, 0) else 0
    if kind == at.INTEGER:
        if is_a(table, item, INT_TYPE) == 0 or write_integer(item, place) == 0:
            return 0
        return place
    return item + 8 * OBJECT if load_word(item, TYPE) == load_word(place, 0) else 0


def fill(table, arguments, count):
    """Write the address of the data of each argument to the table of bases.

    Return the address after the words that declare the arguments; 0 if an argument is not exactly
    as declared.
    """
    bases = load_word(table, at.BASES)
    p = table + 8 * (at.HEAD + 2 * load_word(table, at.NPARTS))
    for n in range(count):
        address = find(table, load_word(arguments, n), p)
        if address == 0:
            return 0
        slots = p + 8 * (at.DESCRIPTION + load_word(p, at.LENGTH))
        for k in range(load_word(p, at.NSLOTS)):
            store_word(bases, load_word(slots, k), address)
        p = slots + 8 * load_word(p, at.NSLOTS)
    return p


def enter(table_object, arguments, count):
    """Check the arguments, write their addresses to the table of bases, and run the program.

    Return the Python object None; False if an argument is not as declared or the run stopped; the
    null pointer with an exception set. This is the function that Python calls, with the entry's
    table as an array, the arguments and their number.
    """
    table = load_word(table_object, DATA)
    left, refused = load_word(table, at.LEFT), 1
    # A call on another thread, if there is one, uses the memory of the run.
    if count == load_word(table, at.NARGS) and left != 0 and load_word(table, at.BUSY) == 0:
        p = fill(table, arguments, count)
        if p != 0 and overlap(load_word(table, at.BASES), p) == 0:
            store_word(table, at.LEFT, left - 1)
            refused = run(table)
    if refused < 0:
        return 0
    answer = load_word(table, NONE if refused == 0 else FALSE)
    keep(answer)
    return answer
