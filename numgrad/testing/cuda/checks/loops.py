"""Checks of loops, whose steps are launched one by one or taken within one kernel."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import numgrad as ng

from ..agreement import DEVICE
from ..report import Check, require
from ..sizes import Sizes

_STEPS = 40


def _orbit(c: Any, push: Any) -> Any:
    """A step on three numbers, whose operations have the same bits everywhere."""
    x, y, z = c[0], c[1], c[2]
    slope = ng.stack([10.0 * (y - x), x * (28.0 - z) - y, x * y - z * 8.0 / 3.0])
    return c + 0.01 * (slope + push), x * y


def _columns(c: Any, push: Any) -> Any:
    return c + 0.01 * (push - c * abs(c)), c * c


def _neighbours(c: Any, push: Any) -> Any:
    return c + 0.1 * (ng.roll(c, 1) - 2.0 * c + ng.roll(c, -1)) + push, c


def _gradients(step: Callable[..., Any], size: int, device: str) -> list[Any]:
    """Return what a scan gives, its gradients, and those of a batch of cotangents."""
    start = ng.tensor(np.linspace(0.1, 1.0, size), device=device, requires_grad=True)
    pushes = np.linspace(-1.0, 1.0, _STEPS * size).reshape(_STEPS, size)
    xs = ng.tensor(pushes, device=device, requires_grad=True)
    last, ys = ng.scan(step, start, xs)
    seeds = ng.tensor(np.stack([np.ones(size), np.linspace(0.0, 1.0, size)]), device=device)
    rows = ng.grad(last, [start, xs], seeds, is_grads_batched=True, retain_graph=True)
    return [last, ys, *rows, *ng.grad((last * last).sum() + ys.sum(), [start, xs])]


def _run(step: Callable[..., Any], large: bool, sizes: Sizes) -> str:
    size = min(sizes.elements, 1000) if large else 3
    pairs = zip(_gradients(step, size, DEVICE), _gradients(step, size, "cpu"), strict=True)
    for found, expected in pairs:
        same = np.array_equal(found.detach().cpu().numpy(), expected.detach().numpy())
        require(same, "other bits than the processor's")
    return f"{_STEPS} steps on {size} numbers and their gradients, the bits of the processor"


CHECKS = (
    Check("loops: few numbers in one kernel", partial(_run, _orbit, False)),
    Check("loops: columns in one kernel", partial(_run, _columns, True)),
    Check("loops: neighbours", partial(_run, _neighbours, True)),
)
