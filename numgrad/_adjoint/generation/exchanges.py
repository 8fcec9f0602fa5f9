"""Exchanges of carried arrays: the permutation that one iteration of a loop makes, and that of all
iterations."""

import math
from collections.abc import Mapping
from typing import Any

from ..analyses.keep import Keeping
from ..ssa.ir import Op, Program, Value


def exchanged(op: Op) -> list[tuple[int, int]]:
    """Return the permutation of the carried arrays in an iteration, as pairs of places."""
    phis, yields = op.body.phis, op.body.yields
    return [(n, phis.index(y)) for n, y in enumerate(yields) if y.type.is_array]


def order(exchange: Mapping[Any, Any]) -> int:
    """Return after how many exchanges all arrays are in their first places again."""
    found = 1
    for start in exchange:
        place, length = exchange[start], 1
        while place != start:
            place, length = exchange[place], length + 1
        found = math.lcm(found, length)
    return found


def arrays_again(program: Program, keeping: Keeping) -> set[Value]:
    """Return the arrays from which the reverse sweep loads, and the bases of those that are views.
    """
    found: set[Value] = set()
    for plan in keeping.plans.values():
        for value in plan.again:
            op = value.op
            if op is not None and op.name in ("load", "shape"):
                array = op.args[0]
                while array not in found:
                    found.add(array)
                    if array.op is not None and array.op.name == "view":
                        array = array.op.args[0]
                    elif array.op is not None and array.op.name == "loop":
                        array = array.op.body.phis[array.op.results.index(array)]
    return found | _carried_with(program, found)


def _carried_with(program: Program, found: set[Value]) -> set[Value]:
    """Return the arrays that loops carry together with an array of ``found``."""
    more: set[Value] = set()
    for op in program.body.walk():
        if op.name == "loop":
            arrays = [phi for phi in op.body.phis if phi.type.is_array]
            if found & set(arrays):
                more |= set(arrays)
                more |= {init for init in op.inits if init.type.is_array}
    return more
