"""Fusion: elementwise instructions of a program become few kernels."""
