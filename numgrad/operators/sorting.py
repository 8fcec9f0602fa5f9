"""Sorting along the last axis: the stable order, and permutations to it and back."""

import numpy as np

from .._declare import KernelOperator
from .cumulative import Scan


class Argsort(KernelOperator):
    """The stable order of the elements; there is only one, so NumPy may serve it eagerly."""

    def run(self, target, arrays, static):
        return [np.argsort(arrays[0], axis=-1, kind="stable")]


def sorted_positions(x, out):
    """Merge runs of doubling length; NaN goes to the end."""
    n = x.size
    source, target = np.arange(n), np.empty(n, np.int64)
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
    out[:] = source


def before(a, b):
    """Whether ``a`` must stand before ``b``."""
    return a < b or (b != b and a == a)


argsort = Argsort(
    sorted_positions, "(n)->(n)", name="argsort", results=(np.int64,), differentiable=False
)


class Permutation(Scan):
    """A movement of elements, in which no bit can differ between NumPy and the kernel."""

    def run(self, target, arrays, static):
        x, order = arrays
        shape = np.broadcast_shapes(x.shape, order.shape)
        x, order = np.broadcast_to(x, shape), np.broadcast_to(order, shape)
        if self is permute:
            return [np.take_along_axis(x, order, -1)]
        out = np.empty(shape, x.dtype)
        np.put_along_axis(out, order, x, -1)
        return [out]


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
