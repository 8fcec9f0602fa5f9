"""Scalar functions in kernels: arithmetic, ``math``, `scipy.special`."""
