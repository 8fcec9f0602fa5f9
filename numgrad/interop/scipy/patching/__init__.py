"""SciPy's own functions on tensors: replaced by functions that look whether there is one."""
