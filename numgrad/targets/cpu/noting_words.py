"""The words of a note's table: what `noting` is told of a plan, and where objects keep what.

Objects are given by address, places in them in words from their head.
"""

(
    NIN, COMPUTE, ARRAY_TYPE, AS_ARRAY, VALUE_TYPE, STORAGE_TYPE, VIEW_TYPE, NONE, TRUE, FALSE,
    ZERO,
) = range(11)  # fmt: skip
"""The number of inputs, and objects."""

NEW, NEW_TUPLE, CALL, KEEP, DROP, ATTRIBUTE, GET_ITEM, JOIN, ABOVE, CLEAR = range(11, 21)
"""Functions of CPython."""

V_ARRAY, V_VIEW, V_STORAGE, V_REQUIRES, V_NODE, V_SLOT, V_EXPR = range(21, 28)
N_PARENTS, N_SLOTS, N_NUMBER, N_SAVED, N_VERSIONS, N_CODE, N_INSTRUCTION = range(28, 35)
S_VERSION, W_BASE, W_NODE, W_EXPR, W_CHAIN = range(35, 40)
V_KEPT, S_KEPT = range(40, 42)
"""Places in values, nodes, storages and views."""

VALUE, VALUE_END, NODE, NODE_END, STORAGE, STORAGE_END = range(42, 48)
"""What new values, nodes and storages are like, and where their words end."""

FRAME_AT, DEPTH, IS_OURS, USER_FRAME, NEXT_NUMBER, ACCUMULATOR_OF, STORAGE_OF = range(48, 55)
CODE_NAME, FILE_NAME, INSTRUCTION_NAME = range(55, 58)
"""What tells the place in the user's code, and what else is done in Python."""

SCALAR_TYPE, FROM_SCALAR = range(58, 60)
"""The type of NumPy's scalars of the result's dtype, and what makes an array of one, or 0."""

ORDERED, STEP, FLOWS, EMPTY, UNWRITTEN, ITEMS, READS = range(60, 67)
"""Whether arrays must be in C order, what leads from a base to its view or 0, whether gradients
flow, two tuples, where the items of a tuple begin, and for each set of inputs that require grad
what is read of the inputs and the result, as bits."""

MOST = 4
"""Inputs of an operation."""

WORDS = READS + (1 << MOST)
"""Behind these come, for each input, its dtype, the number of its dimensions, and its sizes."""

FIRST = 2
