"""Other libraries that a report on a GPU works with: PyTorch, JAX and CuPy."""

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from .report import Skipped

NAMES = ("torch", "jax", "cupy")

left_out: set[str] = set()
"""The names of the libraries that a report is made without, though they may be installed."""


def is_there(name: str) -> bool:
    """Whether a library is installed and takes part."""
    return name not in left_out and find_spec(name) is not None


def module_of(name: str) -> Any:
    """Return the module of a library.

    Raises
    ------
    Skipped
        If the library is not installed, or was left out.
    """
    if not is_there(name):
        raise Skipped(f"{name} {'was left out' if name in left_out else 'is not installed'}")
    return import_module(name)
