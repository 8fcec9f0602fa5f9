"""How each library runs a program: a module with ``ways(problem)``, from names of ways to calls.

A call takes the number of the call and does all that a user waits for, up to results that are
ready. What it returns, `results` turns into the value and the derivatives as NumPy arrays.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..program import Problem

LIBRARIES = {
    "numgrad": ("eager", "func", "captured", "fused"),
    "torch": ("torch", "torch.func"),
    "jax": ("jax",),
    "torch.compile": ("torch.compile",),
}
DISTRIBUTIONS = {"numgrad": "numgrad", "torch": "torch", "jax": "jax", "torch.compile": "torch"}

Call = Callable[[int], Any]


def ways(library: str, problem: Problem) -> dict[str, Call]:
    """Return the calls of one library for a problem."""
    module = importlib.import_module(f"{__name__}.{library.split('.')[0]}")
    return module.compiled(problem) if library == "torch.compile" else module.ways(problem)


def results(found: tuple[Any, Any]) -> tuple[np.ndarray | None, list[np.ndarray]]:
    """Return the value, where the way computes one, and the derivatives as NumPy arrays."""
    value, derivatives = found
    if not isinstance(derivatives, (tuple, list)):
        derivatives = [derivatives]
    return None if value is None else _numpy(value), [_numpy(d) for d in derivatives]


def _numpy(array: Any) -> np.ndarray:
    if hasattr(array, "detach"):
        array = array.detach()
    return np.array(array.numpy() if hasattr(array, "numpy") else array)
