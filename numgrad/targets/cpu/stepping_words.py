"""The words of a step's table: what `stepping` is told of a function of tensors and options."""

(
    VALUE_TYPE, INT_TYPE, SLICE_TYPE, TUPLE_TYPE, LIST_TYPE, NONE, ELLIPSIS, UNUSUAL, KNOWN,
    GENERAL, VALUE_ERROR, BOOL_TYPE,
) = range(12)  # fmt: skip
"""Objects: types and constants, a dict that must be empty, the dict of what is known, and the
function that does the rest."""

NEW_TUPLE, CALL, KEEP, DROP, GET_ITEM, DICT_SIZE, NEW_INT, MATCHES, CLEAR = range(12, 21)
"""Functions of CPython."""

V_SPEC, S_START, S_STOP, S_STEP, ITEMS, SIZE = range(21, 27)
"""Places in values, slices and tuples."""

WORDS = 27
