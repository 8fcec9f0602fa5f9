"""NumPy's functions that write files: they take the values of tensors."""

import inspect
from typing import Any

import numpy as np

from ..._tensor import Tensor
from ...engine.capture import escapes

_FILE = "Write what the function returns. A file has no gradients."


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write the values of a tensor to a file in NumPy's format; refused where gradients flow."""
    np.save(file, _values("np.save", arr), allow_pickle)


def savez(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write the values of several tensors to one file, as `save` does."""
    arrays, named = (_values("np.savez", data) for data in (args, kwds))
    np.savez(file, *arrays, allow_pickle=allow_pickle, **named)


def savez_compressed(file: Any, *args: Any, allow_pickle: bool = True, **kwds: Any) -> None:
    """Write the values of several tensors to one compressed file, as `save` does."""
    arrays, named = (_values("np.savez_compressed", data) for data in (args, kwds))
    np.savez_compressed(file, *arrays, allow_pickle=allow_pickle, **named)


def savetxt(fname: Any, X: Any, *args: Any, **options: Any) -> None:
    """Write the values of a tensor to a file as text, as `save` does."""
    np.savetxt(fname, _values("np.savetxt", X), *args, **options)


savetxt.__signature__ = inspect.signature(np.savetxt)  # type: ignore[attr-defined]


def _values(called: str, data: Any) -> Any:
    """Return what is to be written with arrays in place of tensors, also of those in containers."""
    if isinstance(data, dict):
        return {key: _values(called, item) for key, item in data.items()}
    if isinstance(data, (list, tuple)):
        return [_values(called, item) for item in data]
    if not isinstance(data, Tensor):
        return data
    escapes.refuse_escape(data, called, _FILE, "x.detach().numpy()")
    return data._on_host()
