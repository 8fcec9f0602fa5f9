# pyright: basic, reportMissingImports=false
"""Find out whether a GPU can be used, how many there are, and why none can be."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from ...._errors import DeviceError

_PACKAGES = {"numba_cuda": "numba-cuda", "cuda.core": "cuda-core"}
_LIBRARIES = ("nvvm", "nvrtc", "nvJitLink")


@cache
def why_not() -> str | None:
    """Return why no GPU can be used, in one line; None if one can."""
    for module, package in _PACKAGES.items():
        if not is_installed(module):
            return f"{package} is not installed: pip install 'numgrad[cuda13]', or numgrad[cuda12]"
    try:
        count = device_count()
    except DeviceError as error:
        return str(error)
    if not count:
        return "the NVIDIA driver finds no GPU"
    return _missing_library()


def is_installed(module: str) -> bool:
    """Whether a module can be imported."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package of the module is not installed either
        return False


def _missing_library() -> str | None:
    from cuda.pathfinder import load_nvidia_dynamic_lib

    for library in _LIBRARIES:
        try:
            load_nvidia_dynamic_lib(library)
        except Exception as error:  # cuda.pathfinder has classes of errors in several modules
            line = str(error).strip().partition("\n")[0]
            advice = "pip install 'numgrad[cuda13]'"
            return f"no CUDA toolkit: {library} cannot be loaded ({line}); {advice}"
    return None


@cache
def device_count() -> int:
    """Return the number of GPUs.

    Raises
    ------
    DeviceError
        If no NVIDIA driver is installed.
    """
    if not is_installed("cuda.bindings"):
        return 0
    from cuda.bindings import driver

    try:
        require(driver.cuInit(0), "start")
        (count,) = require(driver.cuDeviceGetCount(), "count GPUs")
    except RuntimeError as error:  # cuda.bindings raises this class if there is no libcuda
        if isinstance(error, DeviceError):
            raise
        line = str(error).strip().partition("\n")[0]
        raise DeviceError(f"there is no NVIDIA driver ({line})") from error
    return count


def require(result: Sequence[Any], what: str) -> Sequence[Any]:
    """Return the results of a call of the NVIDIA driver, without the status in front.

    Raises
    ------
    DeviceError
        If the status is an error; the message says that the driver cannot do ``what``.
    """
    status, *values = result
    if int(status):
        raise DeviceError(f"the NVIDIA driver cannot {what}: {status.name}")
    return values
