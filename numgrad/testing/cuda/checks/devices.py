"""A check of several GPUs: each computes with its own memory, whichever was in use before."""

from typing import Any

import numpy as np

import numgrad as ng

from ..report import Check, Skipped, require
from ..sizes import Sizes
from .arrays import random

_ROUNDS = 130  # operations, and captured functions, are launched without Python in between


def _function(x: Any, y: Any) -> Any:
    return ng.sin(x * y) + 2.0 * x


def _several(sizes: Sizes) -> str:
    """Check operations, their derivatives and captured functions on all GPUs in turns."""
    count = ng.cuda.device_count()
    if count < 2:
        raise Skipped("there is one GPU")
    captured = ng.jit(_function, fuse="now")
    here = [random(min(sizes.elements, 1000), "float64", n) for n in range(2)]
    devices = [f"cuda:{n}" for n in range(count)]
    pairs = [[ng.tensor(a, device=device) for a in here] for device in devices]
    expected = np.sin(here[0] * here[1]) + 2.0 * here[0]
    slope = np.cos(here[0] * here[1]) * here[1] + 2.0
    for n in range(_ROUNDS):
        for device, (x, y) in zip(devices, pairs, strict=True):
            leaf = x.detach().requires_grad_()
            found = _function(leaf, y)
            (gradient,) = ng.grad(found.sum(), leaf)
            for one, other in ((captured(x, y), expected), (found, expected), (gradient, slope)):
                require(one.device == device, f"run {n}: a result of {device} is on {one.device}")
                same = np.allclose(one.detach().cpu().numpy(), other, 1e-12, 1e-12)
                require(same, f"run {n}: other numbers on {device}")
    moved = pairs[0][0].to(devices[1]) * pairs[1][1]
    require(moved.device == devices[1], "what was moved stays")
    return f"{_ROUNDS} rounds on {count} GPUs in turns"


CHECKS = (Check("several GPUs: in turns", _several),)
