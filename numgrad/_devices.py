"""The devices that there are, by name."""

from typing import Any

from ._errors import DeviceError
from .engine.graph.value import CPU
from .engine.record.apply import mode, other_modes, runtime
from .targets import cuda


def name_of(device: Any) -> str:
    """Return the name of a device that the machine has.

    Raises
    ------
    DeviceError
        For any other than ``"cpu"`` and the GPUs that there are.
    """
    name = CPU if device is None else str(device)
    name = "cuda:0" if name == "cuda" else name
    if name == CPU or name in runtime.targets:
        return name
    kind, _, index = name.partition(":")
    if kind != "cuda" or not index.isdecimal():
        raise DeviceError(f"a device is 'cpu', 'cuda' or 'cuda:0', got {device!r}")
    reason = cuda.unavailable()
    if reason is None and int(index) >= cuda.count():
        reason = f"there are {cuda.count()} GPUs, numbered from 0"
    if reason is not None:
        raise DeviceError(f"device {name!r}: {reason}")
    target = cuda.CUDATarget(int(index), lambda: mode.stream, other_modes)
    return runtime.targets.setdefault(target.name, target).name


def runtime_of(device: Any) -> Any:
    """Return the runtime of a GPU that the machine has."""
    name = name_of(device)
    if name == CPU:
        raise DeviceError("the processor has no streams: ask for those of 'cuda' or 'cuda:0'")
    return runtime.targets[name].runtime


def names() -> list[str]:
    """Return the names of all devices."""
    return [CPU, *[f"cuda:{n}" for n in range(cuda.count())]]
