"""A derived source in words that Numba compiles faster: the same operations, with the same bits.

The source that users read has NumPy's words. For each of them Numba infers several types, writes
code for the general case, and compiles functions of its own.
"""

from .spelling import respelled as respelled
