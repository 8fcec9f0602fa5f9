"""The compiled half of an entry: it looks at the arguments and runs the program."""

from .entry_words import (
    ARRAY,
    BITS,
    BUSY,
    COUNTED,
    DATA,
    DIGIT,
    DTYPE,
    FALSE,
    FLAGS,
    HEAD,
    INTEGER,
    LAUNCH,
    LEFT,
    LOCK,
    LOW,
    NARGS,
    NDIM,
    NEGATIVE,
    NONE,
    NPARTS,
    OBJECT,
    POSITIVE,
    SAME,
    SIGNALS,
    SIZES,
    SPACE,
    STATE,
    TABLE,
    UNLOCK,
    WORK,
    ZERO,
)  # fmt: skip
from .interpreter import call_function
from .intrinsics import load_word, store_word
from .words import BLOCK, FAILED, MODE, RESUME, START, START_ALONE, UNFINISHED, WORKERS


def overlap(bases, p):
    """Return 1 if an array to write shares memory with another one or with a constant, else 0."""
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
    """Run the parts with Python's lock in hand; return 0, or 1 where that was not possible."""
    space, state, parts = load_word(table, SPACE), load_word(table, STATE), load_word(table, NPARTS)
    part = refused = 0
    while part < parts and refused == 0:
        store_word(space, BLOCK, load_word(table, HEAD + 2 * part))
        refused = call_function(load_word(table, WORK), (state,))
        part += 1
    return refused


def run_unlocked(table):
    """Run the parts on as many threads as they are for, while other threads run Python.

    Returns 0, 1 where that was not possible, or -1 with a Python exception set.
    """
    space, parts = load_word(table, SPACE), load_word(table, NPARTS)
    store_word(table, BUSY, 1)
    thread = call_function(load_word(table, UNLOCK), ())
    part = refused = 0
    while part < parts and refused == 0:
        store_word(space, BLOCK, load_word(table, HEAD + 2 * part))
        workers = load_word(table, HEAD + 2 * part + 1)
        store_word(space, WORKERS, workers)
        store_word(space, MODE, START if workers > 1 else START_ALONE)
        refused = work_on(table, workers)
        while refused != 0 and load_word(space, FAILED) == 0:
            # Time is up, so that Python can look at its signals.
            call_function(load_word(table, LOCK), (thread,))
            raised = call_function(load_word(table, SIGNALS), ()) & LOW
            thread = call_function(load_word(table, UNLOCK), ())
            store_word(space, UNFINISHED, 0)
            store_word(space, MODE, RESUME)
            if raised != 0:
                refused = -1
                break
            refused = work_on(table, workers)
        part += 1
    store_word(space, MODE, START_ALONE)
    call_function(load_word(table, LOCK), (thread,))
    store_word(table, BUSY, 0)
    return refused


def work_on(table, workers):
    """Work on a part until it is done, has failed or time is up; return 0 where it is done."""
    if workers > 1:
        return call_function(load_word(table, LAUNCH), (load_word(table, SPACE),))
    return call_function(load_word(table, WORK), (load_word(table, STATE),))


def integer(table, item, place):
    """Write the number of an int of at most one digit; return 1 for others, else 0."""
    size = load_word(item, OBJECT) & load_word(table, BITS)
    digit = load_word(item, OBJECT + 1) & DIGIT
    store_word(place, 0, 0)
    if size == load_word(table, POSITIVE):
        store_word(place, 0, digit)
    elif size == load_word(table, NEGATIVE):
        store_word(place, 0, -digit)
    elif size != load_word(table, ZERO):
        return 1
    return 0


def enter(table_object, arguments, count):
    """Check the arguments, fill in the bases, run; return None, False if that was not possible, or
    nothing at all with an exception set."""
    table = load_word(table_object, DATA)
    bases, parts = load_word(table, TABLE), load_word(table, NPARTS)
    left = load_word(table, LEFT)
    # The memory of the run is that of the call that works.
    refused = 1 if count != load_word(table, NARGS) or left == 0 or load_word(table, BUSY) else 0
    p = table + 8 * (HEAD + 2 * parts)
    i = 0
    while i < count and refused == 0:
        item = load_word(arguments, i)
        ndim, slots = load_word(p, 4), load_word(p, 5)
        address = item + 8 * OBJECT
        if load_word(item, 1) != load_word(p, 0):
            refused = 1
        elif load_word(p, 1) == SAME:
            refused = 1 if item != load_word(p, 2) else 0
        elif load_word(p, 1) == INTEGER:
            refused = integer(table, item, p + 16)
            address = p + 16
        elif load_word(p, 1) == ARRAY:
            flags = load_word(p, 3)
            address = load_word(item, DATA)
            if (
                load_word(item, DTYPE) != load_word(p, 2)
                or load_word(item, NDIM) & LOW != ndim
                or load_word(item, FLAGS) & flags != flags
            ):
                refused = 1
            else:
                sizes = load_word(item, SIZES)
                for d in range(ndim):
                    if load_word(sizes, d) != load_word(p, 6 + d):
                        refused = 1
        for k in range(slots):
            store_word(bases, load_word(p, 6 + ndim + k), address)
        p += 8 * (6 + ndim + slots)
        i += 1
    if refused == 0:
        refused = overlap(bases, p)
    if refused == 0:
        store_word(table, LEFT, left - 1)
        refused = run(table) if load_word(table, UNLOCK) == 0 else run_unlocked(table)
    if refused < 0:
        return 0
    answer = load_word(table, NONE if refused == 0 else FALSE)
    store_word(answer, 0, load_word(answer, 0) + load_word(table, COUNTED))
    return answer
