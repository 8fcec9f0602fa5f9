"""Dtypes of floating point, and the types of numbers in NumPy and Python."""

import numpy as np

FLOATING = tuple(map(np.dtype, ("float32", "float64", "complex64", "complex128")))
"""The dtypes in which kernels compute derivatives."""

NUMBERS = (bool, int, float, complex, np.generic)
"""The types of numbers, which cannot be written as arrays can."""

WEAK = (bool, int, float, complex)
"""The types of Python's numbers, whose dtype gives way to that of an array."""
