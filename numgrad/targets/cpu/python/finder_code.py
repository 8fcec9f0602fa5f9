"""The compiled half of finders: look up the recorders of earlier calls with such arguments.

The key of recorders is made as in `engine.record.options`: a value contributes its spec, and its
marks where they count; integers, strings, None and the ellipsis themselves; a boolean or a float
its type and itself; a slice its type and bounds; a tuple or a list the type of a tuple, its length
and its items. Without a key, or without recorders for it, the general function is called.

Keys and values are collected in rows on the stack: a number of objects, then the objects, each with
a reference that the row owns.
"""

from ..compile.intrinsics import load_word, stack_words, store_word
from . import cpython as python
from . import object_layout
from . import recorders as at
from .cpython import call, is_a, place

_MOST = 256  # items of a key
_LISTED = _MOST + 1  # words for them and their number
_OPERANDS = at.MOST_INPUTS
_MOST_VALUES = at.MOST_INPUTS + at.MOST_CONSTANTS + at.MOST_STEPS
_COLLECTED = _MOST_VALUES + 1  # words for values and their number

_MINUS_ZERO = -(1 << 63)  # the bits of floats
_WITHOUT_SIGN = (1 << 63) - 1
_INFINITY = 0x7FF << 52


def push(row, most, item):
    """Append an object to a row that holds at most ``most``; return 1, or 0 if the row is full."""
    count = load_word(row, 0)
    if count == most:
        return 0
    python.keep(item)
    store_word(row, 0, count + 1)
    store_word(row, count + 1, item)
    return 1


def drop_all(row):
    """Empty a row, and release the objects that it owned."""
    for n in range(load_word(row, 0)):
        python.drop(load_word(row, n + 1))
    store_word(row, 0, 0)


def stands_for_itself(t, item):
    """Return 1 for an integer, a string, None or the ellipsis, else 0."""
    if item == load_word(t, object_layout.NONE) or item == load_word(t, object_layout.ELLIPSIS):
        return 1
    return is_a(t, item, object_layout.INT_TYPE) | is_a(t, item, object_layout.STR_TYPE)


def is_found_again(number):
    """Return 1 for a float that a key can hold: 0 for a NaN, which is equal to nothing, and for
    -0.0, which is equal to 0.0."""
    bits = load_word(number, object_layout.OBJECT)
    return 1 if bits != _MINUS_ZERO and (bits & _WITHOUT_SIGN) <= _INFINITY else 0


def add_marks(t, key, values, x):
    """Append the marks of the last one of ``values`` to a key: whether gradients flow to the value,
    whether it is a scalar, and the type and number of each one before it that is the same value.

    Return 1, or 0 where the general function has to look: if the array is not in C order, or is
    that of another value.
    """
    array, requires = place(t, x, at.F_ARRAY), place(t, x, at.F_REQUIRES)
    if is_a(t, array, object_layout.ARRAY_TYPE) == 0 or requires == 0:
        return 0
    if load_word(array, object_layout.FLAGS) & object_layout.C_ORDER == 0:
        return 0
    mark = object_layout.FALSE
    if is_a(t, place(t, x, at.F_VIEW), at.SCALAR_MARK) != 0:
        mark = object_layout.TRUE
    done = push(key, _MOST, requires) & push(key, _MOST, load_word(t, mark))
    for n in range(load_word(values, 0) - 1):
        other = load_word(values, n + 1)
        if other == x:
            number = python.new_int(n)
            if number == 0:
                return 0
            done &= push(key, _MOST, load_word(x, object_layout.TYPE)) & push(key, _MOST, number)
            python.drop(number)
        elif place(t, other, at.F_ARRAY) == array:
            return 0
    return done


def add(t, key, values, item):
    """Append what an argument contributes to a key; if it is a value, append it to ``values`` too.

    Of a tuple or a list the caller passes the items. Return 1, or 0 for an argument that cannot be
    part of a key.
    """
    if is_a(t, item, at.VALUE_TYPE) != 0:
        spec = place(t, item, at.V_SPEC)
        if spec == 0:  # Python code may have deleted the spec
            return 0
        done = push(values, _OPERANDS, item) & push(key, _MOST, spec)
        if done == 0 or load_word(t, at.SCALAR_MARK) == 0:
            return done
        return add_marks(t, key, values, item)
    if stands_for_itself(t, item) != 0:
        return push(key, _MOST, item)
    done = push(key, _MOST, load_word(item, object_layout.TYPE))
    if is_a(t, item, object_layout.BOOL_TYPE) != 0:
        return done & push(key, _MOST, item)
    if is_a(t, item, object_layout.FLOAT_TYPE) != 0:
        return done & is_found_again(item) & push(key, _MOST, item)
    if is_a(t, item, object_layout.SLICE_TYPE) == 0:
        return 0
    for n in range(object_layout.SLICE, object_layout.SLICE_END):
        bound = load_word(item, n)
        if stands_for_itself(t, bound) == 0:
            return 0
        done &= push(key, _MOST, bound)
    return done


def items_of(t, item):
    """Return the address of the items of a tuple or a list; 0 for any other object."""
    if is_a(t, item, object_layout.TUPLE_TYPE) != 0:
        return item + 8 * object_layout.ITEMS
    if is_a(t, item, object_layout.LIST_TYPE) != 0:
        return load_word(item, object_layout.LIST_ITEMS)
    return 0


def make_key(t, arguments, count, key, values):
    """Append what all arguments contribute to a key; return the number of values, 0 if there is no
    key."""
    for n in range(count):
        item, size = load_word(arguments, n), 1
        items = items_of(t, item)
        if items == 0:
            items = arguments + 8 * n
        else:
            size = load_word(item, object_layout.SIZE)
            number = python.new_int(size)
            kind = load_word(t, object_layout.TUPLE_TYPE)
            head = push(key, _MOST, kind) & push(key, _MOST, number)
            python.drop(number)
            if number == 0 or head == 0:
                return 0
        for k in range(size):
            if add(t, key, values, load_word(items, k)) == 0:
                return 0
    return load_word(values, 0)


def known(t, key):
    """Return the tuple of recorders for a key, which the caller owns; 0 if there is none.

    The row of the key is empty afterwards.
    """
    count = load_word(key, 0)
    whole = python.new_tuple(count)
    if whole == 0:
        return 0
    for n in range(count):
        store_word(whole, object_layout.ITEMS + n, load_word(key, n + 1))
    store_word(key, 0, 0)
    recorders = python.look_up(load_word(t, at.KNOWN), whole)
    if is_a(t, recorders, object_layout.TUPLE_TYPE) == 0:
        recorders = 0
    python.keep(recorders)
    python.drop(whole)
    return recorders


def operands_of(step, values, operands, overflow):
    """Collect the operands of a recorder in ``operands``; return their number.

    ``step`` is a tuple of the recorder and of the numbers of its operands. A number below 0 is
    ``~n`` for the n-th value.
    """
    count = load_word(step, object_layout.SIZE) - 1
    for k in range(count):
        number = python.number_of(load_word(step, object_layout.ITEMS + 1 + k), overflow)
        store_word(operands, k, load_word(values, 1 + (number if number >= 0 else ~number)))
    return count


def let_go(t, step, values, overflow):
    """Release the values that no recorder after ``step`` reads: those with a number below 0."""
    for k in range(load_word(step, object_layout.SIZE) - 1):
        number = python.number_of(load_word(step, object_layout.ITEMS + 1 + k), overflow)
        if number < 0:
            value = load_word(values, 1 + ~number)
            python.keep(load_word(t, object_layout.NONE))
            store_word(values, 1 + ~number, load_word(t, object_layout.NONE))
            python.drop(value)


def applied_to_numbered(t, steps, values):
    """Call recorders with the values whose numbers follow each of them in its tuple; return the
    result of the last one.

    The row of values gets the constants, which come first among the ``steps``, and then all
    results. The result is None if one declines, 0 after an error.
    """
    operands, overflow = stack_words(_OPERANDS), stack_words(1)
    constants, result = load_word(steps, object_layout.ITEMS), load_word(t, object_layout.NONE)
    for n in range(load_word(constants, object_layout.SIZE)):
        push(values, _MOST_VALUES, load_word(constants, object_layout.ITEMS + n))
    python.keep(result)
    for n in range(1, load_word(steps, object_layout.SIZE)):
        step = load_word(steps, object_layout.ITEMS + n)
        count = operands_of(step, values, operands, overflow)
        python.drop(result)  # the row owns it, too
        result = call(load_word(step, object_layout.ITEMS), operands, count)
        if result == 0 or result == load_word(t, object_layout.NONE):
            break
        push(values, _MOST_VALUES, result)
        let_go(t, step, values, overflow)
    drop_all(values)
    return result


def applied(t, recorders, values):
    """Call recorders one after the other; return the result of the last one.

    The first recorder gets the values, and every later recorder the result of the recorder before.
    Or there is a tuple of constants first, and then for each recorder a tuple, with the numbers of
    its operands. The result is None if a recorder declines, 0 after an error.
    """
    first = 0
    if load_word(recorders, object_layout.SIZE) != 0:
        first = load_word(recorders, object_layout.ITEMS)
    if is_a(t, first, object_layout.TUPLE_TYPE) != 0:
        return applied_to_numbered(t, recorders, values)
    result = load_word(values, 1)
    for n in range(load_word(recorders, object_layout.SIZE)):  # there may be none
        recorder = load_word(recorders, object_layout.ITEMS + n)
        result = call(recorder, values + 8, load_word(values, 0))
        drop_all(values)
        if result == 0 or result == load_word(t, object_layout.NONE):
            break
        store_word(values, 0, 1)
        store_word(values, 1, result)
    store_word(values, 0, 0)  # the caller owns the result
    return result


def step(table_object, arguments, count):
    """Apply the recorders that are known for the arguments, or else call the general function.

    Return the result, or 0 after an error. This is the function that Python calls.
    """
    t = load_word(table_object, object_layout.DATA)
    recorders, key, values = 0, stack_words(_LISTED), stack_words(_COLLECTED)
    store_word(key, 0, 0)
    store_word(values, 0, 0)
    # Rows own their objects: Python code that runs meanwhile, in a recorder or where memory is
    # taken, may change a list among the arguments.
    if python.length_of_dict(load_word(t, at.OTHER_MODES)) == 0:
        if make_key(t, arguments, count, key, values) != 0:
            recorders = known(t, key)
        drop_all(key)
    if recorders == 0:
        drop_all(values)
        python.clear_error()
        return call(load_word(t, at.GENERAL), arguments, count)
    result = applied(t, recorders, values)
    python.drop(recorders)
    if result == 0:  # an array that cannot be viewed in this way, or a true error
        if python.is_error(load_word(t, at.VALUE_ERROR)) == 0:
            return 0
        python.clear_error()
    elif result != load_word(t, object_layout.NONE):
        return result
    python.drop(result)
    return call(load_word(t, at.GENERAL), arguments, count)
