"""SciPy's own functions on tensors: where SciPy would refuse one, the counterpart answers."""
