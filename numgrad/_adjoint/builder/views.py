"""Views of arrays: their base arrays, and elements of views as elements of the base."""

import re
from collections.abc import Callable

from ..ssa.ir import Op, Value
from ..ssa.ranges import is_natural

Scalar = Callable[..., Value]


def unviewed(array: Value) -> Value:
    """Return the array at the end of a chain of views."""
    while array.op is not None and array.op.name == "view":
        array = array.op.args[0]
    return array


def root(array: Value) -> Value | None:
    """Return the array at the end of a chain of views; None for an array that a loop carries, which
    may be any of several."""
    array = unviewed(array)
    return None if array.is_phi or (array.op and array.op.name == "loop") else array


def same_view(one: Value, other: Value) -> bool:
    """Whether two array values have the same elements in the same order, for certain."""
    if one is other:
        return True
    a, b = one.op, other.op
    if a is None or b is None or a.name != "view" or b.name != "view":
        return False
    return (
        a.info["spec"] == b.info["spec"]
        and len(a.args) == len(b.args)
        and all(
            x is y or (x.constant is not None and x.constant == y.constant)
            for x, y in zip(a.args[1:], b.args[1:], strict=True)
        )
        and same_view(a.args[0], b.args[0])
    )


def base_element(
    scalar: Scalar, constant: Scalar, array: Value, index: list[Value]
) -> tuple[Value, list[Value]]:
    """Return the array and the index of an element of a view, in the array that the view was taken
    of, where indices can be composed.

    The specification of a view has a letter for each axis of that array: ``i`` for an index, ``:``
    for the whole axis, ``+`` for a slice from a natural start, ``%`` for a slice with a step, ``n``
    for a new axis, ``r`` for the axis in reverse; ``T`` alone reverses the order of the axes.
    """
    while array.op is not None and array.op.name == "view":
        spec = array.op.info["spec"]
        if spec in ("T", "reshape", "real", "imag"):
            if spec != "T":
                break
            composed: list[Value] | None = index[::-1]
        else:
            composed = _composed(scalar, constant, array.op, index)
        if composed is None:
            break
        array, index = array.op.args[0], composed
    return array, index


def _composed(scalar: Scalar, constant: Scalar, op: Op, index: list[Value]) -> list[Value] | None:
    """Return the index in the array that a view was taken of; None where a position may be
    negative."""
    found: list[Value] = []
    given, rest, extents = iter(index), iter(op.args[1:]), iter(op.info["extents"])
    for letter in op.info["spec"]:
        if letter == "i":
            found.append(next(rest))
            continue
        position, extent = next(given), next(extents)
        if letter == "n":
            continue
        if letter == "r":
            if not is_natural(position):
                return None
            last = scalar("sub", extent, constant(1))
            position = scalar("sub", last, position)
        if letter in "+%":
            if not is_natural(position):
                return None
            start = next(rest)
            if letter == "%":
                position = scalar("mul", position, next(rest))
            position = scalar("add", position, start)
        found.append(position)
    return found


def is_contiguous(array: Value) -> bool:
    """Whether Numba knows that the elements of an array lie in one piece; arguments are taken to.
    """
    while array.op is not None and array.op.name == "view":
        spec = array.op.info["spec"]
        if spec != "reshape" and not re.fullmatch("i*[:+]?:*", spec):
            return False
        array = array.op.args[0]
    is_matrix_of_lapack = array.op is not None and array.op.name == "given" and array.type.ndim != 1
    return not is_matrix_of_lapack
