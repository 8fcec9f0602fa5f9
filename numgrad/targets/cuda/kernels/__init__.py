"""Kernels for a GPU: texts of Python code around the functions of operators."""
