"""Kernels as universal functions of NumPy, and NumPy's inner loops as kernels."""
