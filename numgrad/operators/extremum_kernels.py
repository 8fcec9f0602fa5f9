"""Core functions of extrema: in the leaves and blocks of sums, so that they can be shared as sums
are, and the sign of a zero and the payload of a NaN depend on the order of the elements alone.
"""

from .._declare import halving


def core_of(reduce):
    """Return a core function that calls another one, for which targets have code of their own."""

    def search(x, out):
        reduce(x, out)

    return search


largest_contiguous, smallest_contiguous = core_of(halving.max_all), core_of(halving.min_all)
largest_columns, smallest_columns = core_of(halving.max_rows), core_of(halving.min_rows)
join_largest, join_smallest = core_of(halving.join_maxima), core_of(halving.join_minima)
join_largest_leaves = core_of(halving.join_max_rows)
join_smallest_leaves = core_of(halving.join_min_rows)
