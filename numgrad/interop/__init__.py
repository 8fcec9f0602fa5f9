"""Other libraries: their solvers with exact derivatives, and clusters that run numgrad.

A module is imported when its name is first read, and its library when it is used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import dask as dask
    from . import scipy as scipy

__all__ = ["dask", "scipy"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f".{name}", __name__)


def __dir__() -> list[str]:
    return __all__
