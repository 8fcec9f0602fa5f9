"""From a Python function to machine code, and to the cache of kernels on disk."""
