"""Functions that kernels of users call, compiled for the kernels alone."""
