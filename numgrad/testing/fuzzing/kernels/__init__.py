"""Random kernels of Numba, whose derived adjoints are compared with an exact oracle."""
