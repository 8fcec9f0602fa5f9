"""The NumPy and Array-API namespace on tensors, by the same chapters as ``operators``."""

from .. import _wiring as _wiring  # before anything is computed
