"""Reductions by halves in one thread, for core functions that also do other work.

The order of additions, and so the bits, are those of `numgrad.ir.pairwise`. The functions of
that module make arrays, which a thread cannot. So kernels call stand-ins for these functions, which
use the local memory of a thread.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import cuda as _cuda

from ....ir import pairwise
from ....ir.pairwise import BLOCK, LEAF, LEAVES, larger, lost, smaller
from ...binding import Names
from .reduction import add, finish_of

cuda: Any = _cuda  # type checkers do not know its arrays


@cache
def stand_ins(dtype: np.dtype) -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return for functions of `pairwise` the functions that kernels call instead, for a dtype."""
    found: dict[Callable[..., Any], Callable[..., Any]] = {}
    zero = dtype.type(0)
    for name, join in (("sum", add), ("max", larger), ("min", smaller)):
        if name != "sum" and dtype.kind == "c":
            continue
        halved = _halved(dtype, join)
        fold = _compensated(zero, finish_of(dtype)) if name == "sum" else _folded(join)
        found[pairwise.REDUCE[name]] = _reducing(halved, fold)
    return found


def core_names(math: Any, dtype: np.dtype) -> Names:
    """Return what names mean in a core function whose first operand has the given dtype.

    ``math`` is the module for which the name ``math`` stands.
    """
    return Names(math, math, None, {}, stand_ins(dtype))


def _halved(dtype: np.dtype, join: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that joins the elements ``x[start:stop]`` by halves, at most `BLOCK`."""

    def halve(values, count):
        half = LEAF // 2
        while half > 0:
            for n in range(half):
                if n + half < count:
                    values[n] = join(values[n], values[n + half])
            count = min(count, half)
            half //= 2
        return values[0]

    def halved(x, start, stop):
        values = cuda.local.array(LEAF, dtype)
        leaves = cuda.local.array(LEAVES, dtype)
        count = 0
        while start < stop:
            length = min(LEAF, stop - start)
            for n in range(length):
                values[n] = x[start + n]
            leaves[count] = halve(values, length)
            count += 1
            start += length
        return halve(leaves, count)

    return halved


def _compensated(zero: Any, finish: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that adds up the sums of an array's blocks, with compensated rounding."""

    def fold(x, halved, size):
        total = correction = zero
        for start in range(0, len(x), size):
            part = halved(x, start, min(start + size, len(x)))
            after = total + part
            correction += lost(total, part, after)
            total = after
        return finish(total, correction)

    return fold


def _folded(join: Callable[..., Any]) -> Callable[..., Any]:
    def fold(x, halved, size):
        found = halved(x, 0, min(size, len(x)))
        for start in range(size, len(x), size):
            found = join(found, halved(x, start, min(start + size, len(x))))
        return found

    return fold


def _reducing(halved: Callable[..., Any], fold: Callable[..., Any]) -> Any:
    def reduce(x, out):
        out[0] = fold(x, halved, BLOCK)

    return reduce
