"""The compiled function by which a kernel calls an inner loop of NumPy; see `numpy_loops`."""

import numpy as np

from ..compile.intrinsics import call_function, load_word, stack_words, store, store_word
from .numpy_loops import MANY_ELEMENTS

_LOOP, _DATA, _ENSURE, _SAVE, _RESTORE, _OCCURRED, _CLEAR, _RELEASE = range(8)


def call_loop(table, itemsize, ptrs, count, core_dims, steps, status):
    """Call a loop of NumPy with the signature ``(m),()->(n)``, as a kernel does; see `numpy_loops`.

    A loop that has not enough memory raises an exception of Python's: so the calling thread gets a
    Python thread state first. Afterwards the exception is cleared, and the status is 1.
    """
    size = load_word(core_dims, 1)
    if load_word(core_dims, 0) == 0:  # loops read the first element in any case
        for k in range(count):
            for j in range(size):
                address = load_word(ptrs, 2) + k * load_word(steps, 2) + j * load_word(steps, 4)
                for part in range(itemsize // 4):
                    store(address + 4 * part, np.int32(0))
        return
    dims = stack_words(3)
    store_word(dims, 0, count)
    store_word(dims, 1, load_word(core_dims, 0))
    store_word(dims, 2, size)
    state = call_function(load_word(table, _ENSURE), ())
    saved = 0
    is_long = count * size >= MANY_ELEMENTS
    if is_long:
        saved = call_function(load_word(table, _SAVE), ())
    call_function(load_word(table, _LOOP), (ptrs, dims, steps, load_word(table, _DATA)))
    if is_long:
        call_function(load_word(table, _RESTORE), (saved,))
    if call_function(load_word(table, _OCCURRED), ()) != 0:
        call_function(load_word(table, _CLEAR), ())
        store_word(status, 0, 1)
    call_function(load_word(table, _RELEASE), (state,))
