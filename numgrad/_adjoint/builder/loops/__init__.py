"""Loops that stand for functions of NumPy, `cmath` and `heapq`: a call has the derivative of its
loops."""
