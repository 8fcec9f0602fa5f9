"""The compiled half of repeated runs; `repeat` lays out the table of words."""

from ..compile.intrinsics import call_function, load_word, store_word
from . import repeat as at
from . import scratch


def again(table):
    """Run a program again and again; return how many runs are complete.

    ``table`` is the address of the table of words.
    """
    count, parts = load_word(table, at.COUNT), load_word(table, at.NPARTS)
    places, goes_on = load_word(table, at.PLACES), load_word(table, at.GOES_ON)
    start, stop = load_word(table, at.FIRST_RUN), load_word(table, at.LAST_RUN)
    rows = table + 8 * (at.HEAD + parts)
    moves = rows + 16 * count
    for run in range(start, stop):
        here = rows + 8 * count * (run & 1)
        for n in range(count):
            store_word(places, n, load_word(here, n) + run * load_word(moves, n))
        if complete(table, parts) == 0:
            return run - start
        if goes_on != 0 and load_word(goes_on, 0) == 0:
            return run - start + 1
    return stop - start


def complete(table, parts):
    """Run all parts of a program once; return 1, or 0 if a part was stopped."""
    space = load_word(table, at.SPACE)
    for part in range(parts):
        block = load_word(table, at.HEAD + part)
        store_word(space, scratch.BLOCK, block)
        if call_function(load_word(block, scratch.WORK), (space + 8 * scratch.STATES,)) != 0:
            return 0
    return 1
