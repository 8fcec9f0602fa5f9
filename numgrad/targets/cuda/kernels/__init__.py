"""Kernels for a GPU, written as texts around the functions of operators."""
