"""The NumPy and Array-API namespace on tensors, by the same chapters as ``operators``."""
