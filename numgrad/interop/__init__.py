"""Bridges to other libraries; each is imported when it is first asked for."""

import importlib
from typing import Any

_MODULES = ("dask",)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_MODULES)
