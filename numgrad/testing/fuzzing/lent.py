"""Draw arrays of NumPy that a random program writes to after numgrad has read them.

A derivative must use the elements that such an array had when the operation read it. The arrays are
ordinary ones, instances of a user's subclass, or memory maps of files.
"""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np

from .texts import array_text

if TYPE_CHECKING:
    from .drawing import Scope

KINDS = ("mapped", "mapped", "derived", "derived", "np.array")


class Derived(np.ndarray):
    """A subclass of ndarray, as users may have one."""


def derived(numbers: Any) -> np.ndarray:
    """Return a copy of an array as one of the class `Derived`."""
    return np.array(numbers).view(Derived)


def mapped(numbers: Any) -> np.ndarray:
    """Return a copy of an array whose memory is a file; without elements, one of `Derived`."""
    numbers = np.array(numbers)
    if not numbers.size:
        return derived(numbers)
    with TemporaryFile() as file:
        made = np.memmap(file, numbers.dtype, "w+", shape=numbers.shape)
    made[...] = numbers
    return made


def plain(numbers: Any) -> np.ndarray:
    """Return a plain copy of an array, which stands for `derived` and `mapped` in the reference."""
    return np.array(numbers)


def draw_lent(scope: Scope) -> bool:
    """Draw an array of NumPy, an operation of numgrad that reads it, and a later write to it."""
    draw, name = scope.draw, scope.draw.fresh("m")
    names = [n for n in scope.numbers() if np.ndim(scope.values[n])]
    if draw.captures or not names:  # a captured function reads an array once, at the call
        return False
    x = names[draw.pick(len(names))]
    text, use = _TEXTS[draw.pick(len(_TEXTS))](scope, x)
    if not scope.add([f"{name} = {KINDS[draw.pick(len(KINDS))]}({text})"], name, traced=False):
        return False
    scope.lent.append(name)
    result = draw.fresh()
    if not scope.add([f"{result} = {use.format(x=x, m=name)}"], result):
        return False
    return write_lent(scope, name)


def write_lent(scope: Scope, name: str) -> bool:
    """Draw a write by NumPy to an array that an operation of numgrad has read."""
    pick, kind = scope.draw.pick, scope.values[name].dtype.kind
    writes = ("{m}[...] = {m}[::-1].copy()", "{m}[0] = {m}[-1]", "np.copyto({m}, {m}[:1])")
    if kind == "f":
        writes += ("{m} *= -0.5", "{m} += 0.75", "{m}[...] = 0.3", "np.sin({m}, out={m})")
    elif kind == "b":
        writes += ("np.logical_not({m}, out={m})",)
    return scope.add([writes[pick(len(writes))].format(m=name)], name, traced=False)


def _factors(scope: Scope, x: str) -> tuple[str, str]:
    draw = scope.draw
    shape = np.shape(scope.values[x])[draw.pick(2) and -1 :]
    numbers = np.array([round(draw.rng.uniform(-1.5, 1.5), 3) for _ in range(int(np.prod(shape)))])
    uses = ("{x} * {m}", "{m} * {x}", "np.multiply({m}, {x}) + {m}", "np.sin({x}) / (2.5 + {m})",
            "np.where({m} > 0.1, {x} * {m}, {m})", "ng.asarray({m}) * {x}")  # fmt: skip
    return array_text(numbers.reshape(shape), "float64", 0), uses[draw.pick(len(uses))]


def _positions(scope: Scope, x: str) -> tuple[str, str]:
    pick, length = scope.draw.pick, len(scope.values[x])
    numbers = [pick(max(length, 1)) for _ in range(1 + pick(3))]
    return f"np.array({numbers})", "{x}[{m}] * np.cos({x}[{m}])"


def _mask(scope: Scope, x: str) -> tuple[str, str]:
    pick, length = scope.draw.pick, np.shape(scope.values[x])[-1]
    numbers = [bool(pick(2)) for _ in range(length)]
    return f"np.array({numbers}, np.bool_)", "np.where({m}, {x} * {x}, np.sin({x}))"


_TEXTS = (_factors, _factors, _factors, _positions, _mask)
