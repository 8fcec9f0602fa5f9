"""The compiled half of functions of one tensor and options: finds what they came to before.

The key of what is known is ``(spec, *options)`` as `numgrad.engine.steps` makes it: integers, None
and the ellipsis stand for themselves, a slice for its type and bounds, a tuple for its type, its
length and its items. What has no such key, or is not known, is for the general function.
"""

from numba.extending import register_jitable

from .entry_words import DATA
from .interpreter import call_function
from .intrinsics import load_word, stack_words, store_word
from .stepping_words import (
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


@register_jitable
def is_number(t, item):
    """Return 1 for an integer, None or the ellipsis, else 0."""
    if item == load_word(t, NONE) or item == load_word(t, ELLIPSIS):
        return 1
    return 1 if load_word(item, 1) == load_word(t, INT_TYPE) else 0


@register_jitable
def words_of(t, item):
    """Return how many items of a key an option takes that is no tuple; -1 if it has no key."""
    if is_number(t, item):
        return 1
    if load_word(item, 1) != load_word(t, SLICE_TYPE):
        return -1
    for n in range(S_START, S_STEP + 1):
        if is_number(t, load_word(item, load_word(t, n))) == 0:
            return -1
    return 4


@register_jitable
def length(t, arguments, count):
    """Return how many items the key of these options takes; -1 if they have none."""
    total = 0
    for n in range(count):
        item = load_word(arguments, n)
        if load_word(item, 1) == load_word(t, TUPLE_TYPE):
            total += 2
            for k in range(load_word(item, load_word(t, SIZE))):
                size = words_of(t, load_word(item, load_word(t, ITEMS) + k))
                if size < 0:
                    return -1
                total += size
        else:
            size = words_of(t, item)
            if size < 0:
                return -1
            total += size
    return total


@register_jitable
def push(t, key, at, item):
    """Put an object at a place of a key; return the next place."""
    call_function(load_word(t, KEEP), (item,))
    store_word(key, at, item)
    return at + 1


@register_jitable
def write(t, key, at, item):
    """Put an option that is no tuple at a place of a key; return the next place."""
    if load_word(item, 1) != load_word(t, SLICE_TYPE):
        return push(t, key, at, item)
    at = push(t, key, at, load_word(t, SLICE_TYPE))
    for n in range(S_START, S_STEP + 1):
        at = push(t, key, at, load_word(item, load_word(t, n)))
    return at


@register_jitable
def key_of(t, spec, arguments, count, total):
    """Return the key of a spec and options; 0 after an error."""
    key = call_function(load_word(t, NEW_TUPLE), (total + 1,))
    if key == 0:
        return 0
    at = push(t, key, load_word(t, ITEMS), spec)
    for n in range(count):
        item = load_word(arguments, n)
        if load_word(item, 1) == load_word(t, TUPLE_TYPE):
            size = load_word(item, load_word(t, SIZE))
            at = push(t, key, at, load_word(t, TUPLE_TYPE))
            store_word(key, at, call_function(load_word(t, NEW_INT), (size,)))
            at += 1
            for k in range(size):
                at = write(t, key, at, load_word(item, load_word(t, ITEMS) + k))
        else:
            at = write(t, key, at, item)
    return key


@register_jitable
def applied(t, recorders, x):
    """Return what recorders make of a value, one after the other: None if one of them does not
    answer, 0 after an error."""
    arguments = stack_words(1)
    result = x
    call_function(load_word(t, KEEP), (x,))
    for n in range(load_word(recorders, load_word(t, SIZE))):
        store_word(arguments, 0, result)
        recorder = load_word(recorders, load_word(t, ITEMS) + n)
        following = call_function(load_word(t, CALL), (recorder, arguments, 1, 0))
        call_function(load_word(t, DROP), (result,))
        result = following
        if result == 0 or result == load_word(t, NONE):
            break
    return result


def step(table_object, arguments, count):
    """Return what the function makes of a value and its options; 0 after an error."""
    t = load_word(table_object, DATA)
    recorders, x = 0, 0
    if count > 0 and call_function(load_word(t, DICT_SIZE), (load_word(t, UNUSUAL),)) == 0:
        x = load_word(arguments, 0)
        total = -1
        if load_word(x, 1) == load_word(t, VALUE_TYPE):
            total = length(t, arguments + 8, count - 1)
        if total >= 0:
            spec = load_word(x, load_word(t, V_SPEC))
            key = key_of(t, spec, arguments + 8, count - 1, total)
            if key == 0:
                return 0
            recorders = call_function(load_word(t, GET_ITEM), (load_word(t, KNOWN), key))
            call_function(load_word(t, DROP), (key,))
    if recorders != 0:
        call_function(load_word(t, KEEP), (recorders,))
        result = applied(t, recorders, x)
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
