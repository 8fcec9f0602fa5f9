"""How each system does a task in general: a table of names and functions.

A system takes a `Task` and returns a function without arguments. That function does the whole work
of a call and returns when it is done; `numpy_results` turns what it returned into NumPy arrays.
Each module imports its library when it is first needed, so that none has to be installed.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from ..task import Call, Task

# Name in the tables: (module, function, distribution that has to be installed).
SYSTEMS: dict[str, tuple[str, str, str]] = {
    "numgrad": ("numgrad", "batched", "numgrad"),
    "numgrad unfused": ("numgrad", "batched_unfused", "numgrad"),
    "numgrad fused": ("numgrad", "batched_fused", "numgrad"),
    "numgrad eager": ("numgrad", "eager", "numgrad"),
    "numgrad jit": ("numgrad", "captured", "numgrad"),
    "numgrad jit unfused": ("numgrad", "captured_unfused", "numgrad"),
    "numgrad jit fused": ("numgrad", "captured_fused", "numgrad"),
    "torch is_grads_batched": ("torch", "is_grads_batched", "torch"),
    "torch eager": ("torch", "eager", "torch"),
    "torch.func": ("torch", "func", "torch"),
    "torch.compile": ("torch", "compiled", "torch"),
    "jax": ("jax", "jitted", "jax"),
    "jax eager": ("jax", "eager", "jax"),
    "jax jacfwd": ("jax", "jacfwd", "jax"),
    "autograd": ("autograd", "reverse", "autograd"),
    "pytensor": ("pytensor", "compiled", "pytensor"),
}

CAPTURED = ("numgrad jit unfused", "numgrad jit fused")
BATCHED = ("numgrad unfused", "numgrad fused")


def prepare(system: str, task: Task) -> Call:
    """Return the function without arguments that is timed."""
    module, function, _ = SYSTEMS[system]
    chosen: Callable[[Task], Call] = getattr(
        importlib.import_module(f"{__name__}.{module}"), function
    )
    return chosen(task)


def numpy_results(results: Any) -> tuple[np.ndarray, ...]:
    """Return the results of any system as a tuple of NumPy arrays."""
    if not isinstance(results, (tuple, list)):
        results = (results,)
    return tuple(np.asarray(_detached(result)) for result in results)


def _detached(result: Any) -> Any:
    if hasattr(result, "detach"):
        result = result.detach()
    return result.numpy() if hasattr(result, "numpy") else result
