"""A driver for the CUDA target whose device is Numba's simulator, for experiments and tests."""
