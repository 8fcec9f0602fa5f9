"""Kernels as NumPy's universal functions, and NumPy's inner loops in kernels."""
