"""Operators alone on large arrays: computed at once, as programs of their own, on all threads."""

from collections.abc import Hashable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..._settings import settings
from ...ir import program
from ...process.bounded_dict import Bounded
from ..graph.kind import frozen
from ..graph.value import CPU, Expr, Value, spec_of
from ..lower.executable import Executable
from ..lower.lower import lower
from .apply import runtime

# A program of its own costs some microseconds, and waits for threads: as much as so many times
# `MANY_ELEMENTS`, of operators that compute long and of those that wait for memory.
_TIMES = {True: 4, False: 16}
_plans: dict[Hashable, Executable] = Bounded(256)


def alone(
    operator: Any, arrays: Sequence[np.ndarray], static: dict[str, Any], is_dear: bool = False
) -> list[np.ndarray] | None:
    """Return what an operator makes of arrays, with the bits that it has in any other program; None
    where they are small, nobody shares the work, or an operator goes about the order of their
    elements better itself.
    """
    if not is_many(arrays, is_dear) or runtime.target.num_threads == 1:
        return None
    places = {id(array): n for n, array in enumerate(arrays)}
    kinds = tuple([(places[id(array)], array.shape, array.dtype) for array in arrays])
    key = (operator, frozen(static), kinds, settings.version)
    if key[1] is None or not all(array.flags.c_contiguous for array in arrays):
        return None
    plan = _plans.get(key)
    if plan is None:
        plan = _plans[key] = made_alone(operator, arrays, static, places)
    return plan(arrays)


def is_many(operands: Sequence[Any], is_dear: bool = False) -> bool:
    """Whether one of some arrays or specs has so many elements that threads share them; fewer are
    enough where it takes long to compute each."""
    many = _TIMES[is_dear] * program.MANY_ELEMENTS
    return any(prod(operand.shape) >= many for operand in operands)


def made_alone(
    operator: Any,
    arrays: Sequence[Any],
    static: dict[str, Any],
    places: dict[int, int],
    device: str = CPU,
) -> Executable:
    """Return the program of one operator on a device, where arrays have these places."""
    inputs = tuple([runtime.value(array) for array in arrays])
    made = operator.infer(inputs, static)
    specs = tuple([spec_of(shape, dtype, False, device) for shape, dtype in made])
    expr = Expr(operator, static, inputs, specs)
    outputs: list[Value] = [
        runtime.value.deferred(expr, slot, spec) for slot, spec in enumerate(specs)
    ]
    target = runtime.target_of(specs)
    return Executable(lower(outputs, target, None, places), target, "never")
