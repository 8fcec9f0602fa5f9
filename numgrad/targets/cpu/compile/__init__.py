"""Compilation: Python functions become machine code, kept in the cache of kernels on disk."""
