"""Callees of users' kernels, compiled for kernels alone."""
