"""Draw statements that write to arrays, and other ones: loops, lists, operators of users.

A function that draws adds statements to a scope, and returns whether it could; see `drawing.Scope`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .texts import key_text
from .words import range_of

if TYPE_CHECKING:
    from .drawing import Scope

def draw_writes(scope: Scope) -> bool:
    """Draw some writes to an array that the program has made, or makes for them."""
    draw = scope.draw
    if not scope.own or draw.pick(3) == 0:
        names = [n for n in scope.numbers() if n in scope.traced and np.ndim(scope.values[n])]
        if not names:
            return False
        target, name = draw.fresh("t"), names[draw.pick(len(names))]
        made = (f"{name} * 1.0", f"np.zeros_like({name} * 1.0)", f"np.copy({name} + 0.5)")
        if not scope.add([f"{target} = {made[draw.pick(len(made))]}"], target):
            return False
        scope.own.append(target)
    target = scope.own[-1]
    return sum(_draw_write(scope, target) for _ in range(1 + draw.pick(3))) > 0


def _draw_write(scope: Scope, target: str) -> bool:
    draw, array = scope.draw, scope.values[target]
    pick = draw.pick
    names = scope.numbers()
    if array.dtype.kind != "c":
        names = [name for name in names if np.asarray(scope.values[name]).dtype.kind != "c"]
    value = names[pick(len(names))] if pick(5) else str(round(draw.rng.uniform(-1, 1), 2))
    kind = pick(10)
    own = np.shares_memory(array, np.asarray(scope.values.get(value, 0.0)))
    sign = ("=", "+=", "-=", "*=")[pick(3 if own else 4)]  # y *= y is refused
    if kind == 0:
        return scope.add([f"{target} {sign if sign != '=' else '+='} {value}"], target)
    if kind == 1 and len(array) > 1:
        return scope.add([f"{target}[0], {target}[-1] = {target}[-1], {target}[0]"], target)
    if kind == 2:
        part = draw.fresh("t")
        key = key_text(tuple([range_of(pick, size) for size in array.shape]))
        if not scope.add([f"{part} = {target}[{key}]"], part):
            return False
        scope.own.append(part)
        return scope.add([f"{part}[...] {sign} {value}"], target)
    if kind == 3 and len(array) > 1:
        step = f"    {target}[i] = {target}[i - 1] * 0.5 + np.sin({target}[i])"
        return scope.add([f"for i in range(1, {len(array)}):", step], target)
    if own:
        value = f"np.copy({value})"  # with a mask NumPy reads what it has just written
    return scope.add([f"{target}[{_draw_place(scope, array)}] {sign} {value}"], target)


def _draw_place(scope: Scope, array: np.ndarray) -> str:
    """Draw the text of an index to write at: a slice, positions, or a mask."""
    pick = scope.draw.pick
    kept = [name for name, v in scope.values.items() if isinstance(v, np.ndarray)]
    kept = [name for name in kept if scope.values[name].dtype.kind in "bi"]
    if kept and pick(2):
        return kept[pick(len(kept))]
    if pick(4) == 0:
        return literal_positions(pick, len(array))
    if pick(6) == 0:
        return f"np.real({_any(scope)}) > 0.05" if not scope.draw.captures else "..."
    return key_text(tuple([range_of(pick, size) for size in array.shape]))


def literal_positions(pick: Any, length: int) -> str:
    return str([pick(length) for _ in range(1 + pick(3))]) if length else "..."


def _any(scope: Scope) -> str:
    names = scope.numbers()
    return names[scope.draw.pick(len(names))]


def draw_other(scope: Scope) -> bool:
    """Draw a statement that is not in the vocabulary.

    It has a loop or `sum` of Python, a list, a number, or a user's operator.
    """
    draw = scope.draw
    pick, x = draw.pick, _any(scope)
    lists = [name for name, value in scope.values.items() if isinstance(value, list)]
    kept = [name for name, v in scope.values.items() if isinstance(v, np.ndarray)]
    kept = [name for name in kept if scope.values[name].dtype.kind in "bi"]
    texts = [
        f"softplus(np.real({x}), 1.5)",
        f"softplus(np.real({x}), np.real({_any(scope)}) * 0.25 + 2.0)",
        f"sum([{x}, {_any(scope)}, 1.0])",
        f"np.stack([{x}, {x} * 0.5])",
        f"sum(row * 0.5 for row in {x})",
        f"np.array({[round(draw.rng.uniform(-1, 1), 2) for _ in range(1 + pick(3))]}) * {x}",
        f"{pick(3) + 1} * {x}",
        f"{x} + np.float32(0.5)",
        f"np.sum({x}) * {_any(scope)}",
    ]
    texts += [f"{x} * {name}" for name in lists]
    texts += [f"{x}[{name}]" for name in kept] * 2
    result = draw.fresh()
    return scope.add([f"{result} = {texts[pick(len(texts))]}"], result)
