"""SciPy's own functions on tensors: each is replaced by a function that looks for tensors among its
arguments."""
