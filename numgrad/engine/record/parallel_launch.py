"""Apply a single operator at once as a program: to large arrays, on all threads, and to arrays of
short rows."""

from collections.abc import Callable, Hashable, Sequence
from math import prod
from typing import Any

import numpy as np

from ..._settings import settings
from ...ir import program
from ...ir.broadcasting import broadcast_shapes
from ...process.bounded_dict import Bounded
from ..graph.kind import frozen
from ..graph.value import CPU, Expr, Value, spec_of
from ..lower.executable import Executable
from ..lower.lower import lower
from .apply import runtime

# A program costs some microseconds and has to wait for threads. It pays from so many times
# `MANY_ELEMENTS` on: earlier for operators that compute long (True), later for the others, which
# wait for memory.
_TIMES = {True: 4, False: 16}
# NumPy calls a kernel for each row if operands broadcast, which takes as long as some 30 elements.
# A program has one call for many rows, and pays for so many rows with fewer elements.
MANY_ROWS, _LONG_ROW = 256, 128
_CALLS = 8  # before a program is made for operands of the same shapes
_plans: dict[Hashable, Executable] = Bounded(256)


def launch_parallel(
    operator: Any, arrays: Sequence[np.ndarray], static: dict[str, Any], is_dear: bool = False
) -> list[np.ndarray] | None:
    """Return the results of an operator on arrays, computed on all threads; None if a single call
    of the kernel is better.

    A single call is better for small arrays, for one thread, and for arrays that are not in C
    order. The results have the same bits as in any other program.

    Parameters
    ----------
    is_dear : bool
        Whether the operator takes long for each element, so that threads pay for smaller arrays.
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
        plan = _plans[key] = single_program(operator, arrays, static, places)
    return plan(arrays)


def is_many(operands: Sequence[Any], is_dear: bool = False) -> bool:
    """Whether an operand has so many elements that sharing the work among threads pays.

    An operator that takes long for each element (``is_dear``) needs fewer elements for that.
    """
    many = _TIMES[is_dear] * program.MANY_ELEMENTS
    return any(prod(operand.shape) >= many for operand in operands)


def by_short_rows(
    operator: Any, ufunc: Any, inputs: Sequence[Any], static: dict[str, Any]
) -> Callable[..., Any] | None:
    """Return a function that computes an elementwise operator of operands that broadcast, with many
    short rows, by a program; None if NumPy's loops around the ufunc are good enough.

    The ufunc computes the first calls, and operands that are not in C order.
    """
    if len({x.shape for x in inputs if prod(x.shape) != 1}) < 2:
        return None
    shape = broadcast_shapes(*[x.shape for x in inputs])
    kinds = tuple([(x.shape, x.dtype) for x in inputs])
    key = (by_short_rows, operator, frozen(static), kinds, settings.version)
    is_short = 0 < shape[-1] < _LONG_ROW and prod(shape[:-1]) >= MANY_ROWS
    if not is_short or key[2] is None:
        return None
    calls = iter(range(_CALLS))

    def call(*arrays: np.ndarray) -> Any:
        program = _plans.get(key)
        if not all([x.flags.c_contiguous for x in arrays]):  # noqa: C419  a list is faster
            return ufunc(*arrays)
        if program is None:
            places = {id(x): n for n, x in enumerate(arrays)}
            if next(calls, None) is not None or len(places) < len(arrays):
                return ufunc(*arrays)
            program = _plans[key] = single_program(operator, arrays, static, places)
        return program(arrays)[0]

    return call


def single_program(
    operator: Any,
    arrays: Sequence[Any],
    static: dict[str, Any],
    places: dict[int, int],
    device: str = CPU,
) -> Executable:
    """Return the program that applies a single operator on a device.

    ``places`` maps the id of each array to its position among the arguments of the program.
    """
    inputs = tuple([runtime.value(array) for array in arrays])
    made = operator.infer(inputs, static)
    specs = tuple([spec_of(shape, dtype, False, device) for shape, dtype in made])
    expr = Expr(operator, static, inputs, specs)
    outputs: list[Value] = [
        runtime.value.deferred(expr, slot, spec) for slot, spec in enumerate(specs)
    ]
    target = runtime.target_of(specs)
    return Executable(lower(outputs, target, None, places), target, "never")
