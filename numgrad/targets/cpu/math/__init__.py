"""Scalar functions that kernels call: arithmetic, ``math``, `scipy.special`."""
