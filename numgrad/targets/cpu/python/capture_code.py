"""The compiled half of recorders of expressions: make an expression, its value and its node; or the
expression of a rule and the gradients.

Such a recorder does the work of `engine.record.deferred` for an operation on plain values that are
still to be computed, while a function is captured. It returns None, without any effect, for other
values. New objects are copies of a template, as in `recorder_code`.
"""

from ..compile.intrinsics import load_word, store_word
from . import cpython as python
from . import recorders as at
from .cpython import call, give, is_a, like, place, put
from .object_layout import DATA, FALSE, ITEMS, NONE, SIZE, TRUE, TUPLE_TYPE, ZERO
from .recorder_code import connect, is_current_view, set_site


def is_followed(t, x):
    """Return 1 if the expression of a value has all writes into the memory of the value, which is
    no array of the user; else 0."""
    view, storage = place(t, x, at.V_VIEW), place(t, x, at.V_STORAGE)
    if view == 0 or (is_a(t, view, at.VIEW_TYPE) != 0 and is_current_view(t, x, view) == 0):
        return 0
    if storage == load_word(t, NONE):
        return 1
    return is_a(t, storage, at.STORAGE_TYPE) | is_a(t, storage, at.CAPTURED_TYPE)


def is_expected(t, x):
    """Return 1 if ``x`` is a value that stands for the first output of an expression; else 0."""
    if is_a(t, x, at.VALUE_TYPE) == 0 or place(t, x, at.V_ARRAY) != load_word(t, NONE):
        return 0
    requires = place(t, x, at.V_REQUIRES)
    if requires != load_word(t, FALSE) and requires != load_word(t, TRUE):
        return 0  # Python code has stored another object
    if place(t, x, at.V_NODE) == 0 or place(t, x, at.V_SLOT) == 0:
        return 0
    expr, output = place(t, x, at.V_EXPR), place(t, x, at.V_OUTPUT)
    if expr == 0 or expr == load_word(t, NONE) or output != load_word(t, ZERO):
        return 0
    return is_followed(t, x)


def are_expected(t, arguments, count):
    """Return 1 if all inputs but the constants are values as in `is_expected`; else 0."""
    for n in range(count):
        is_constant = load_word(t, at.CONSTANTS) >> n & 1
        if is_constant == 0 and is_expected(t, load_word(arguments, n)) == 0:
            return 0
    return 1


def operand(t, arguments, n):
    """Return what an expression reads for an input: its expression, or a constant itself."""
    x = load_word(arguments, n)
    return x if load_word(t, at.CONSTANTS) >> n & 1 else place(t, x, at.V_EXPR)


def expression(t, inputs, site, token):
    """Return a new expression of a tuple of operands, which the expression takes over; 0 after an
    error."""
    expr = like(t, at.EXPR, at.EXPR_END)
    if expr == 0:
        python.drop(inputs)
        return 0
    give(t, expr, at.E_INPUTS, inputs)
    number = call(load_word(t, at.NEXT_NUMBER), t, 0)
    if number == 0:
        python.drop(expr)
        return 0
    give(t, expr, at.E_NUMBER, number)
    put(t, expr, at.E_SITE, site)
    put(t, expr, at.E_TOKEN, token)
    return expr


def operands(t, arguments, count):
    """Return a tuple of what an expression reads for the inputs; 0 if there is no memory."""
    inputs = python.new_tuple(count)
    if inputs != 0:
        for n in range(count):
            item = operand(t, arguments, n)
            python.keep(item)
            store_word(inputs, ITEMS + n, item)
    return inputs


def saved_value(t, n, expr):
    """Return a new value of an expression, for a node to save as its input ``n``, or as its result;
    0 if there is no memory."""
    value = like(t, at.SAVED_LIKE + n, at.VALUE_END)
    if value != 0:
        put(t, value, at.V_EXPR, expr)
    return value


def save(t, node, arguments, count, expr, reads):
    """Store in a node the values that its derivative reads; return 0 if there is no memory.

    ``reads`` has a bit for each input and one for the result, the value of ``expr``.
    """
    if reads == 0:
        return 1
    saved = python.new_tuple(count + 1)
    if saved == 0:
        return 0
    give(t, node, at.N_SAVED, saved)
    put(t, node, at.N_VERSIONS, load_word(t, at.UNWRITTEN))
    for n in range(count + 1):
        item = load_word(t, NONE)
        if reads >> n & 1 == 0:
            python.keep(item)
        elif n < count and load_word(t, at.CONSTANTS) >> n & 1:
            item = load_word(arguments, n)
            python.keep(item)
        else:
            item = saved_value(t, n, operand(t, arguments, n) if n < count else expr)
            if item == 0:
                return 0
        store_word(saved, ITEMS + n, item)
    return 1


def attach_to_graph(t, value, arguments, count, expr):
    """Make the node of a value if gradients flow from an input; return 0 after an error."""
    wanted = 0
    for n in range(count):
        if place(t, load_word(arguments, n), at.V_REQUIRES) == load_word(t, TRUE):
            wanted += 1 << n
    is_recorded = load_word(arguments, count + 2) == load_word(t, TRUE)
    if wanted == 0 or load_word(t, at.FLOWS) == 0 or not is_recorded:
        return 1
    node = like(t, at.NODE, at.NODE_END)
    if node == 0:
        return 0
    give(t, value, at.V_NODE, node)
    put(t, value, at.V_REQUIRES, load_word(t, TRUE))
    if connect(t, node, arguments, count) == 0 or set_site(t, node) == 0:
        return 0
    return save(t, node, arguments, count, expr, load_word(t, at.READS + wanted))


def record(table_object, arguments, count):
    """Apply an operator to input values; return the value of the result, still to be computed.

    The arguments are the inputs, the site and the token of the expression, and whether gradients
    are recorded. The result is None if the recorder declines, 0 after an error.
    """
    t = load_word(table_object, DATA)
    nin = load_word(t, at.NIN)
    if count != nin + 3 or are_expected(t, arguments, nin) == 0:
        python.keep(load_word(t, NONE))
        return load_word(t, NONE)
    inputs = operands(t, arguments, nin)
    if inputs == 0:
        return 0
    expr = expression(t, inputs, load_word(arguments, nin), load_word(arguments, nin + 1))
    if expr == 0:
        return 0
    value = like(t, at.VALUE, at.VALUE_END)
    if value == 0:
        python.drop(expr)
        return 0
    give(t, value, at.V_EXPR, expr)
    if attach_to_graph(t, value, arguments, nin, expr) == 0:
        python.drop(value)
        return 0
    return value


def restored(t, value):
    """Return what an expression reads for a saved value: the value itself, or its expression where
    it is still to be computed; 0 for others."""
    if is_a(t, value, at.VALUE_TYPE) == 0:
        return 0
    expr, output = place(t, value, at.V_EXPR), place(t, value, at.V_OUTPUT)
    if expr == load_word(t, NONE):
        return value
    return expr if output == load_word(t, ZERO) else 0


def is_readable(t, saved):
    """Return 1 if an object is a tuple with all saved values that the rule reads; else 0."""
    if is_a(t, saved, TUPLE_TYPE) == 0:
        return 0
    for n in range(load_word(t, at.NIN)):
        position = load_word(t, at.POSITIONS + n)
        if position >= load_word(saved, SIZE):
            return 0
        if restored(t, load_word(saved, ITEMS + position)) == 0:
            return 0
    return 1


def gradient(t, n, cotangent, expr):
    """Return the gradient of input ``n`` of a node, which the caller owns; 0 if there is no memory.

    ``expr`` is the expression of the rule, None for a rule without outputs.
    """
    item, source = load_word(t, at.GRADIENTS + n), load_word(t, at.SOURCES + n)
    if source == at.COTANGENT:
        item = cotangent
    elif source == at.FIRST:
        item = expr
    elif source == at.LATER:
        item = like(t, at.GRADIENTS + n, at.VALUE_END)
        if item != 0:
            put(t, item, at.V_EXPR, expr)
        return item
    python.keep(item)
    return item


def gradients(t, cotangent, expr):
    """Return a tuple of the gradients of all inputs of a node; 0 if there is no memory."""
    count = load_word(t, at.COUNT)
    made = python.new_tuple(count)
    for n in range(count if made != 0 else 0):
        item = gradient(t, n, cotangent, expr)
        store_word(made, ITEMS + n, item)
        if item == 0:
            python.drop(made)
            return 0
    return made


def apply(table_object, arguments, count):
    """Return the gradients of the inputs of a node by a rule, as a tuple; None if Python code has
    to make them, 0 after an error.

    The arguments are the cotangent, the saved values of the node, the site and the token.
    """
    t = load_word(table_object, DATA)
    saved, expr = load_word(arguments, 1), load_word(t, NONE)
    if count != 4 or is_readable(t, saved) == 0:
        python.keep(expr)
        return expr
    if load_word(t, at.EXPR) == 0:
        return gradients(t, load_word(arguments, 0), expr)
    inputs = python.new_tuple(load_word(t, at.NIN) + 1)
    if inputs == 0:
        return 0
    for n in range(load_word(t, at.NIN) + 1):
        item = load_word(arguments, 0)
        if n > 0:
            position = load_word(t, at.POSITIONS + n - 1)
            item = restored(t, load_word(saved, ITEMS + position))
        python.keep(item)
        store_word(inputs, ITEMS + n, item)
    expr = expression(t, inputs, load_word(arguments, 2), load_word(arguments, 3))
    if expr == 0:
        return 0
    made = gradients(t, load_word(arguments, 0), expr)
    python.drop(expr)
    return made
