"""Checks of numgrad on streams of other installed libraries, and on memory shared with them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import numgrad as ng

from ....targets.cuda import is_simulated
from ..agreement import DEVICE
from ..other_libraries import is_there, module_of
from ..report import Check, Skipped, require
from ..sizes import Sizes
from .arrays import random


def library(name: str) -> Any:
    """Return the module of another library that can use the GPU.

    Raises
    ------
    Skipped
        If the library is not installed, was left out, or finds no GPU.
    """
    if is_there(name) and is_simulated():
        raise Skipped(f"{name} knows nothing of a simulated GPU")
    module = module_of(name)
    if not module.cuda.is_available():
        raise Skipped(f"{name} finds no GPU")
    return module


def _stream(name: str, make: Callable[[Any], Any], sizes: Sizes) -> str:
    """Check work of numgrad on a stream of another library."""
    other = make(library(name))
    values = random(sizes.elements, "float64")
    x = ng.tensor(values, requires_grad=True, device=DEVICE)
    expected = ng.grad((x * x * x).sum(), x)[0].cpu().numpy()
    stream = ng.cuda.external_stream(other)
    stream.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(other):
        (gradient,) = ng.grad((x * x * x).sum(), x)
    ng.cuda.current_stream().wait_stream(stream)
    found = gradient.cpu().numpy()
    require(np.array_equal(found, expected), f"work on a stream of {name} has other bits")
    return "work on a stream of its own"


def _memory(name: str, sizes: Sizes) -> str:
    """Check memory that a tensor of numgrad and an array of another library share."""
    module = library(name)
    values = random(sizes.elements, "float64")
    x = ng.tensor(values, device=DEVICE)
    theirs = module.from_dlpack(x)
    require(float(abs(theirs).max()) == np.abs(values).max(), f"{name} reads other elements")
    back = ng.from_dlpack(theirs * 2)
    require(back.device == DEVICE, "what came back is not on the device")
    require(np.array_equal(back.cpu().numpy(), values * 2), "what came back is not the same")
    return "through DLPack, there and back"


_STREAMS: dict[str, Callable[[Any], Any]] = {
    "torch": lambda torch: torch.cuda.Stream(),
    "cupy": lambda cupy: cupy.cuda.Stream(non_blocking=True),
}
CHECKS = tuple(
    check
    for name, make in _STREAMS.items()
    for check in (
        Check(f"{name}: streams", partial(_stream, name, make)),
        Check(f"{name}: memory", partial(_memory, name)),
    )
)
