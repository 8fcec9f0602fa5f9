"""What the Array API standard asks of a namespace: how to find it, and facts about it."""

import sys
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from ... import _devices
from ..._errors import ArgTypeError
from ...engine.capture import advice

__array_api_version__ = "2025.12"
_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", __array_api_version__)


def array_namespace(api_version: str | None = None) -> ModuleType:
    """Return the namespace of functions on tensors: the module ``numgrad``.

    Raises
    ------
    ValueError
        For a version of the standard that is not supported.
    """
    if api_version not in (None, *_VERSIONS):
        raise ValueError(
            f"version {api_version!r} of the Array API is not among {', '.join(_VERSIONS)}"
        )
    return sys.modules[__name__.partition(".")[0]]


def require_alone(caller: FrameType) -> None:
    """Raise where `array_api_compat`, which asks each array for its namespace, has arrays of NumPy
    beside tensors: it would refuse these, and could not say what to write instead."""
    if caller.f_code.co_name != "array_namespace":
        return
    given = caller.f_locals.get("xs")
    others = given if isinstance(given, tuple) else ()
    if not any(isinstance(x, (np.ndarray, np.generic)) for x in others):
        return
    typed, at = advice.typed()
    is_of_scipy = caller.f_globals.get("__name__", "").startswith("scipy.")
    patched = " or, for SciPy's functions, `with ng.interop.scipy.patch():` around it"
    raise ArgTypeError(
        f"{typed or 'a function'} computes with tensors or with arrays of NumPy, not with both, "
        f"{at}: write ng.asarray(...) of the arrays{patched if is_of_scipy else ''}"
    )


class NamespaceInfo:
    """Answers the standard's questions about devices and dtypes."""

    def __init__(self) -> None:
        self._numpy = np.__array_namespace_info__()

    def capabilities(self) -> dict[str, Any]:
        """Return which optional behaviours the namespace has."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Return the device on which tensors are made."""
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """Return all devices."""
        return tuple(_devices.names())

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Return the dtypes of results made without one."""
        _devices.name_of(device)
        return dict(self._numpy.default_dtypes())

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """Return the dtypes by name, those of one kind or of several when asked for."""
        _devices.name_of(device)
        return dict(self._numpy.dtypes(kind=kind))


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807 - the standard's name
    """Return what the standard lets libraries ask about devices and dtypes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.__array_namespace_info__().default_device()
    'cpu'
    """
    return NamespaceInfo()
