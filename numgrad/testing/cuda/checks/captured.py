"""Checks of captured functions that run repeatedly, so that their launches become a CUDA graph."""

from functools import partial
from typing import Any

import numpy as np

import numgrad as ng

from ....targets.cuda.launch.graphs import OFTEN
from ..agreement import DEVICE
from ..report import Check, require
from ..sizes import Sizes
from .arrays import random

_STEPS = 3


def _chain(x: Any) -> Any:
    """Return the value of a chain of short operations, and a gradient."""
    y = x
    for _ in range(_STEPS):
        y = ng.sin(y) * 1.5 + ng.roll(y, 1)
    (gradient,) = ng.grad((y * y).sum(), x)
    return y, gradient


def _run(fuse: str, sizes: Sizes) -> str:
    """Check that a captured function, on two streams in turns, equals its operations one by one."""
    captured = ng.jit(_chain, fuse=fuse)
    here = ng.cuda.current_stream()
    streams = [here, ng.cuda.Stream()]
    rounds = OFTEN + 4
    for n in range(rounds):
        x = ng.tensor(random(min(sizes.elements, 1000), "float64", n), device=DEVICE)
        stream = streams[n % 2]
        stream.wait_stream(here)
        with ng.cuda.stream(stream):
            found = captured(x.requires_grad_())
        here.wait_stream(stream)
        for one, other in zip(found, _chain(x), strict=True):
            same = np.array_equal(one.detach().cpu().numpy(), other.detach().cpu().numpy())
            require(same, f"run {n} has other bits than the operations one by one")
    return f"{rounds} runs on two streams, the bits of the operations one by one"


CHECKS = (
    Check("captured functions: again and again", partial(_run, "never")),
    Check("captured functions: fused", partial(_run, "now")),
)
