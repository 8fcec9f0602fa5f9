"""Sparse arrays whose stored numbers are a tensor: made, combined and multiplied as in SciPy."""
