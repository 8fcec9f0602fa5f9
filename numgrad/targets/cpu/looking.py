"""What the compiled half of recording looks at before it follows a word of an object.

Python code may delete what an object keeps, or replace it by anything: a word is compared with 0,
and the type of what it leads to is compared, before that is looked into.
"""

from .entry_words import DTYPE, LOW, NDIM, SIZES
from .intrinsics import load_word
from .noting_words import (
    ARRAY_TYPE,
    FALSE,
    NONE,
    S_VERSION,
    STORAGE_TYPE,
    TRUE,
    V_ARRAY,
    V_EXPR,
    V_NODE,
    V_REQUIRES,
    V_SLOT,
    V_STORAGE,
    V_VIEW,
    VALUE_TYPE,
    VIEW_TYPE,
    W_BASE,
    W_CHAIN,
    W_EXPR,
    W_NODE,
    ZERO,
)  # fmt: skip


def place(t, item, name):
    """Return what an object has in a place."""
    return load_word(item, load_word(t, name))


def is_a(t, item, kind):
    """Return 1 for an object that is exactly of a type, 0 for any other or none at all."""
    return 1 if item != 0 and load_word(item, 1) == load_word(t, kind) else 0


def is_where_it_was(t, view):
    """Return 1 unless the base of a view has been written, or a word is missing."""
    base = place(t, view, W_BASE)
    if is_a(t, base, VALUE_TYPE) == 0 or place(t, view, W_CHAIN) == 0:
        return 0
    node = place(t, base, V_NODE)
    if node == 0 or place(t, base, V_EXPR) != place(t, view, W_EXPR):
        return 0
    return 1 if node == load_word(t, NONE) or node == place(t, view, W_NODE) else 0


def is_plain(t, x):
    """Return 1 for a value that is computed, not written, and where it was in its graph, else 0."""
    if is_a(t, x, VALUE_TYPE) == 0 or is_a(t, place(t, x, V_ARRAY), ARRAY_TYPE) == 0:
        return 0
    requires, view, storage = place(t, x, V_REQUIRES), place(t, x, V_VIEW), place(t, x, V_STORAGE)
    if requires != load_word(t, FALSE) and requires != load_word(t, TRUE):
        return 0  # something else that is true
    if view == 0 or place(t, x, V_NODE) == 0 or place(t, x, V_SLOT) == 0:
        return 0
    if is_a(t, view, VIEW_TYPE) != 0 and is_where_it_was(t, view) == 0:
        return 0
    if storage == load_word(t, NONE):
        return 1
    if is_a(t, storage, STORAGE_TYPE) == 0:
        return 0
    return 1 if place(t, storage, S_VERSION) == load_word(t, ZERO) else 0


def fits(array, p):
    """Return how many words an input takes that begin at one, 0 if an array is not of its dtype and
    shape."""
    ndim = load_word(p, 1)
    if load_word(array, DTYPE) != load_word(p, 0) or load_word(array, NDIM) & LOW != ndim:
        return 0
    sizes = load_word(array, SIZES)
    for d in range(ndim):
        if load_word(sizes, d) != load_word(p, 2 + d):
            return 0
    return 2 + ndim
