"""Sorting along the last axis: the stable order, and permutations to it and back."""

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ..._declare import KeepsOrder, KernelOperator
from ...ir.broadcasting import broadcast_shapes
from ...ir.memory_order import laid_like
from ...ir.sorted_order import before, complex_before

MANY = 256
"""Elements from which on it pays to look whether some are equal."""

MANY_SORTED = 1024
"""Elements from which on NumPy's sort, called from a program, is faster than a kernel of ours."""


class Order(KernelOperator):
    """An operator that compares elements, with one kernel for real and one for complex numbers."""

    def __init__(self, real, complex, signature, name):
        super().__init__(real, signature, name=name, results=(np.int64,), differentiable=False)
        self.complex_function = complex

    def spec(self, dtypes):
        found = super().spec(dtypes)
        if dtypes[0].kind == "c" and found.function is self.function:
            found = self._specs[dtypes] = replace(found, function=self.complex_function)
        return found


SORTED_AXES = 32
"""The most axes of an array that NumPy sorts."""


class Argsort(Order):
    """The stable order of the elements; there is only one, so NumPy serves it eagerly, and in
    programs from some number of elements on."""

    def run(self, target, arrays, static):
        (x,) = arrays
        if x.ndim > SORTED_AXES:
            (rows,) = self.run(target, [x.reshape(prod(x.shape[:-1]), x.shape[-1])], static)
            return [rows.reshape(x.shape)]
        return [stable_order(x)]

    def for_operands(self, spec, operands):
        is_many = prod(operands[0].shape) >= MANY_SORTED
        return replace(spec, in_numpy=stable_order) if is_many else spec


def stable_order(x):
    """Return the stable order along the last axis, by NumPy."""
    found = _of_different(x) if x.dtype.kind == "f" and x.shape[-1] >= MANY else None
    return np.argsort(x, axis=-1, kind="stable") if found is None else found


def _of_different(x):
    """Return the order where no two elements are equal, by NumPy's sort in vectors, which is
    several times as fast; None where it might not be stable."""
    order = np.argsort(x, axis=-1)
    ordered = np.take_along_axis(x, order, -1)
    last, before = ordered[..., -1], ordered[..., :-1]
    has_ties = (ordered[..., 1:] == before).any() or (last != last).any()  # a NaN comes last
    return None if has_ties else order


def sorted_positions(x, out):
    """Sort real numbers."""
    merge_runs(x, out, before)


def sorted_complex_positions(x, out):
    """Sort complex numbers."""
    merge_runs(x, out, complex_before)


def merge_runs(x, out, before):
    """Merge runs of doubling length; NaN goes to the end.

    Positions are written one by one: Numba's ``arange`` and its assignment of an array are forty
    functions, which take seconds to compile.
    """
    n = x.size
    source, target = np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(n):
        source[k] = k
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = start + width, start + 2 * width
            middle, stop = (middle if middle < n else n), (stop if stop < n else n)
            left, right = start, middle
            for k in range(start, stop):
                if left < middle and (
                    right == stop or not before(x[source[right]], x[source[left]])
                ):
                    target[k] = source[left]
                    left += 1
                else:
                    target[k] = source[right]
                    right += 1
        source, target = target, source
        width *= 2
    for k in range(n):
        out[k] = source[k]


argsort = Argsort(sorted_positions, sorted_complex_positions, "(n)->(n)", "argsort")


class Search(Order):
    """The positions at which elements belong among sorted elements, which have one axis in eager
    code."""

    def run(self, target, arrays, static):
        among, x = arrays
        side: Any = self.name.removeprefix("searchsorted_")
        return [np.asarray(np.searchsorted(among.reshape(-1), x, side))]


def left(among, x, out):
    """Count the elements before ``x``."""
    out[0] = first_that(not_before, among, x, before)


def right(among, x, out):
    """Count the elements that are not behind ``x``."""
    out[0] = first_that(behind, among, x, before)


def complex_left(among, x, out):
    """Count the complex elements before ``x``."""
    out[0] = first_that(not_before, among, x, complex_before)


def complex_right(among, x, out):
    """Count the complex elements that are not behind ``x``."""
    out[0] = first_that(behind, among, x, complex_before)


def first_that(belongs, among, x, before):
    """Return the position of the first element that belongs behind ``x``, by halves."""
    start, stop = 0, among.size
    while start < stop:
        middle = (start + stop) // 2
        if belongs(among[middle], x, before):
            stop = middle
        else:
            start = middle + 1
    return start


def not_before(a, x, before):
    return not before(a, x)


def behind(a, x, before):
    return before(x, a)


searchsorted_left = Search(left, complex_left, "(n),()->()", "searchsorted_left")
searchsorted_right = Search(right, complex_right, "(n),()->()", "searchsorted_right")


class Permutation(KeepsOrder, KernelOperator):
    """A movement of elements, in which no bit can differ between NumPy and the kernel."""

    def result_dtypes(self, dtypes):
        return [dtypes[0]]

    def computation(self, target: Any, inputs: Any, static: dict[str, Any]) -> Any:
        return lambda *arrays: self.run(target, arrays, static)[0]

    def run(self, target, arrays, static):
        x, order = arrays
        if x.ndim == order.ndim == 1:
            return [x.take(order) if self is permute else put_back(x, order)]
        shape = broadcast_shapes(x.shape, order.shape)
        x, order = np.broadcast_to(x, shape), np.broadcast_to(order, shape)
        if self is permute:
            return [laid_like(np.take_along_axis(x, order, -1), x)]
        out = np.empty(shape, x.dtype)
        np.put_along_axis(out, order, x, -1)
        return [laid_like(out, x)]


def put_back(x, order):
    """Return the elements where their order says that they come from."""
    out = np.empty(x.shape, x.dtype)
    out[order] = x
    return out


def take_in_order(x, order, out):
    """Take the elements in the given order."""
    for i in range(order.size):
        out[i] = x[order[i]]


def put_in_order(x, order, out):
    """Undo `take_in_order`."""
    for i in range(order.size):
        out[order[i]] = x[i]


permute = Permutation(take_in_order, "(n),(n)->(n)", name="permute")
unpermute = Permutation(put_in_order, "(n),(n)->(n)", name="unpermute")


@permute.reads
@unpermute.reads
def permutation_reads(needs):
    return False, True, False


@permute.pullback
def permute_pullback(context, g):
    return unpermute(g, context.input(1)), None


@unpermute.pullback
def unpermute_pullback(context, g):
    return permute(g, context.input(1)), None
