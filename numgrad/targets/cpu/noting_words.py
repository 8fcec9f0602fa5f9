"""The words of a note's table: what `noting` is told of a plan, and where objects keep what.

Objects are given by address, places in them in words from their head.
"""

(
    NIN, COMPUTE, ARRAY_TYPE, AS_ARRAY, VALUE_TYPE, STORAGE_TYPE, VIEW_TYPE, NONE, TRUE, FALSE,
    ZERO, NEW, NEW_TUPLE, CALL, KEEP, DROP,
) = range(16)  # fmt: skip
"""Inputs, objects, and functions of CPython."""

V_ARRAY, V_VIEW, V_STORAGE, V_REQUIRES, V_NODE, V_SLOT, V_EXPR = range(16, 23)
N_PARENTS, N_SLOTS, N_NUMBER, N_SAVED, N_VERSIONS, N_CODE, N_INSTRUCTION = range(23, 30)
S_VERSION, W_BASE, W_NODE, W_EXPR = range(30, 34)
"""Places in values, nodes, storages and views."""

VALUE, VALUE_END, NODE, NODE_END, STORAGE, STORAGE_END = range(34, 40)
"""What new values, nodes and storages are like, and where their words end."""

FLOWS, EMPTY, UNWRITTEN, ITEMS, READS = range(40, 45)
"""Whether gradients flow, two tuples, where the items of a tuple begin, and for each set of inputs
that require grad what is read of the inputs and the result, as bits."""

WORDS = READS + 4
FIRST = 2
