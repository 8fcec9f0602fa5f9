"""The compiled half of functions of tensors and options: finds what they came to before.

The key of what is known is made as `numgrad.engine.steps` makes it: a value stands for its spec,
integers, None and the ellipsis for themselves, a boolean for its type and itself, a slice for its
type and bounds, a tuple or a list for the type of a tuple, its length and its items. What has no
such key, or is not known, is for the general function.
"""

from .entry_words import DATA
from .interpreter import call_function
from .intrinsics import load_word, stack_words, store_word
from .noting_words import MOST
from .stepping_words import (
    BOOL_TYPE,
    CALL,
    CLEAR,
    DICT_SIZE,
    DROP,
    ELLIPSIS,
    GENERAL,
    GET_ITEM,
    INT_TYPE,
    ITEMS,
    KEEP,
    KNOWN,
    LIST_TYPE,
    MATCHES,
    NEW_INT,
    NEW_TUPLE,
    NONE,
    S_START,
    S_STEP,
    SIZE,
    SLICE_TYPE,
    TUPLE_TYPE,
    UNUSUAL,
    V_SPEC,
    VALUE_ERROR,
    VALUE_TYPE,
)  # fmt: skip

_LOW = 0xFFFFFFFF  # a C int is the lower half of a word
_COLLECTED = MOST + 1  # words for values and their number


def is_number(t, item):
    """Return 1 for an integer, None or the ellipsis, else 0."""
    if item == load_word(t, NONE) or item == load_word(t, ELLIPSIS):
        return 1
    return 1 if load_word(item, 1) == load_word(t, INT_TYPE) else 0


def words_of(t, item):
    """Return how many items of a key an option takes that is no sequence; -1 if it has no key."""
    if is_number(t, item):
        return 1
    if load_word(item, 1) == load_word(t, BOOL_TYPE):
        return 2
    if load_word(item, 1) != load_word(t, SLICE_TYPE):
        return -1
    for n in range(S_START, S_STEP + 1):
        if is_number(t, load_word(item, load_word(t, n))) == 0:
            return -1
    return 4


def is_sequence(t, item):
    """Return 1 for a tuple or a list, else 0."""
    kind = load_word(item, 1)
    return 1 if kind == load_word(t, TUPLE_TYPE) or kind == load_word(t, LIST_TYPE) else 0


def items_of(t, sequence):
    """Return where the items of a tuple or a list lie."""
    if load_word(sequence, 1) == load_word(t, LIST_TYPE):
        return load_word(sequence, load_word(t, SIZE) + 1)
    return sequence + 8 * load_word(t, ITEMS)


def gather(t, arguments, count, values, outer):
    """Return how many items the key of these arguments takes, without those in sequences, which
    only ``outer`` ones may be; -1 if they have none. Values are collected, behind their number."""
    total = 0
    for n in range(count):
        item, size = load_word(arguments, n), 1
        if load_word(item, 1) == load_word(t, VALUE_TYPE):
            known = load_word(values, 0) + 1
            if known > MOST or load_word(item, load_word(t, V_SPEC)) == 0:  # Python can delete it
                return -1
            store_word(values, 0, known)
            store_word(values, known, item)
        elif outer != 0 and is_sequence(t, item):
            size = 2
        else:
            size = words_of(t, item)
        if size < 0:
            return -1
        total += size
    return total


def length(t, arguments, count, values):
    """Return how many items the key of these arguments takes; -1 if they have none, or there are no
    values or too many."""
    store_word(values, 0, 0)
    total = gather(t, arguments, count, values, 1)
    for n in range(count):
        item = load_word(arguments, n)
        if total >= 0 and is_sequence(t, item):
            inner = gather(t, items_of(t, item), load_word(item, load_word(t, SIZE)), values, 0)
            total = total + inner if inner >= 0 else -1
    return total if load_word(values, 0) > 0 else -1


def push(t, key, at, item):
    """Put an object at a place of a key; return the next place."""
    call_function(load_word(t, KEEP), (item,))
    store_word(key, at, item)
    return at + 1


def write(t, key, at, item):
    """Put an argument that is no sequence at a place of a key; return the next place."""
    if load_word(item, 1) == load_word(t, VALUE_TYPE):
        return push(t, key, at, load_word(item, load_word(t, V_SPEC)))
    if load_word(item, 1) == load_word(t, BOOL_TYPE):
        at = push(t, key, at, load_word(t, BOOL_TYPE))
    if load_word(item, 1) != load_word(t, SLICE_TYPE):
        return push(t, key, at, item)
    at = push(t, key, at, load_word(t, SLICE_TYPE))
    for n in range(S_START, S_STEP + 1):
        at = push(t, key, at, load_word(item, load_word(t, n)))
    return at


def fill(t, arguments, count, key):
    """Put the items of its arguments into a key."""
    at = load_word(t, ITEMS)
    for n in range(count):
        item = load_word(arguments, n)
        if is_sequence(t, item):
            size = load_word(item, load_word(t, SIZE))
            at = push(t, key, at, load_word(t, TUPLE_TYPE))
            store_word(key, at, call_function(load_word(t, NEW_INT), (size,)))
            at += 1
            for k in range(size):
                at = write(t, key, at, load_word(items_of(t, item), k))
        else:
            at = write(t, key, at, item)


def found(t, arguments, count, values):
    """Return what is known of arguments, which the caller owns; 0 if that is nothing. Their values
    are collected."""
    total = length(t, arguments, count, values)
    if total < 0:
        return 0
    key = call_function(load_word(t, NEW_TUPLE), (total,))
    if key == 0:
        call_function(load_word(t, CLEAR), ())
        return 0
    recorders = 0
    # Where memory is taken, objects may be collected, and lists be written by their finalizers.
    if length(t, arguments, count, values) == total:
        fill(t, arguments, count, key)
        recorders = call_function(load_word(t, GET_ITEM), (load_word(t, KNOWN), key))
        if recorders != 0 and load_word(recorders, 1) != load_word(t, TUPLE_TYPE):
            recorders = 0
        call_function(load_word(t, KEEP), (recorders,))
    call_function(load_word(t, DROP), (key,))
    return recorders


def each(t, function, items, count):
    """Call a function of CPython with each of some objects."""
    for n in range(count):
        call_function(load_word(t, function), (load_word(items, n),))


def applied(t, recorders, values):
    """Return what recorders make of values, one after the other: None if one of them does not
    answer, 0 after an error. The values are owned meanwhile: who else has a list of them may
    write it in another thread."""
    count, result = load_word(values, 0), load_word(values, 1)
    each(t, KEEP, values + 8, count)
    for n in range(load_word(recorders, load_word(t, SIZE))):  # there may be none
        recorder = load_word(recorders, load_word(t, ITEMS) + n)
        result = call_function(load_word(t, CALL), (recorder, values + 8, count, 0))
        each(t, DROP, values + 8, count)
        if result == 0 or result == load_word(t, NONE):
            break
        store_word(values, 1, result)
        count = 1
    return result


def step(table_object, arguments, count):
    """Return what the function makes of its arguments; 0 after an error."""
    t = load_word(table_object, DATA)
    recorders, values = 0, stack_words(_COLLECTED)
    if call_function(load_word(t, DICT_SIZE), (load_word(t, UNUSUAL),)) == 0:
        recorders = found(t, arguments, count, values)
    if recorders != 0:
        result = applied(t, recorders, values)
        call_function(load_word(t, DROP), (recorders,))
        if result == 0:  # an array that cannot be viewed in this way, or a true error
            if call_function(load_word(t, MATCHES), (load_word(t, VALUE_ERROR),)) & _LOW == 0:
                return 0
            call_function(load_word(t, CLEAR), ())
        elif result != load_word(t, NONE):
            return result
        else:
            call_function(load_word(t, DROP), (result,))
    return call_function(load_word(t, CALL), (load_word(t, GENERAL), arguments, count, 0))
