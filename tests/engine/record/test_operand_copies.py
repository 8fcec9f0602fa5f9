"""Copies of the arrays that a captured function computes with are as large as the arrays are."""

import numpy as np

from numgrad.engine.record.guards import OperandCopies


def copied(array):
    copies = OperandCopies()
    assert copies.note(array) is None
    assert copies.written() is None
    return copies, sum([copy.nbytes for _, copy, _ in copies._known.values()])


def test_numbers_that_are_repeated_are_copied_once():
    number, column = np.zeros(()), np.zeros((50, 1))
    for base, shape in ((number, (400, 500)), (column, (50, 300)), (number, ())):
        view = np.broadcast_to(base, shape)
        copies, size = copied(view)
        assert size == base.nbytes
        assert copies.note(view) is None
        base += 1.0
        assert copies.note(view) is not None
        assert copies.written() is not None


def test_writes_are_seen_at_every_element():
    for array in (np.zeros((3, 4)), np.zeros((4, 6))[::2, 1::2], np.zeros((0, 3)), np.zeros(3)):
        for n in np.ndindex(array.shape):
            copies, size = copied(array)
            assert size == array.nbytes
            array[n] = -0.0 if array[n] == 0 and not np.signbit(array[n]) else 0.0
            assert copies.written() is not None
