"""A driver for the CUDA target whose device is Numba's simulator, for trying and testing."""
