"""Orders in which a greedy colouring takes the columns of a pattern, which decide how good it is.

The columns are the vertices of a graph: two columns are neighbours if a row has entries in both.
Any graph can be given so, with an edge for each row, which has entries in two columns.
"""

import numpy as np

from .compiled import compiled
from .index_sets import IndexSets

ORDERS = ("natural", "largest_first", "smallest_last", "incidence_degree", "saturation")


def order_of(name: str, columns: IndexSets, rows: IndexSets) -> np.ndarray:
    """Return the numbers of the columns of a matrix in the order of a name.

    - ``natural``: as they are.
    - ``largest_first``: by falling number of neighbours.
    - ``smallest_last``: from the end, each time the column with the fewest neighbours among those
      that are left.
    - ``incidence_degree``: each time the column with the most neighbours that were taken before.
    - ``saturation``: each time the column whose neighbours have the most colours.
    """
    size, given = len(columns), (columns.starts, columns.members, rows.starts, rows.members)
    if name == "natural" or not size:
        return np.arange(size)
    degrees = np.empty(size, np.int64)
    _degrees(*given, out=[degrees])
    if name == "largest_first":
        return np.argsort(-degrees, kind="stable")
    order = np.empty(size, np.int64)
    if name == "smallest_last":
        _dynamic(*given, degrees, np.arange(size)[::-1].copy(), -1, False, out=[order])
        return order[::-1].copy()
    top = np.argsort(degrees, kind="stable")
    _dynamic(*given, np.zeros(size, np.int64), top, 1, name == "saturation", out=[order])
    return order


@compiled("(a),(p),(b),(q)->(n)")
def _degrees(cstarts, crows, rstarts, rcolumns, degrees):
    """Count the neighbours of each column."""
    stamps = np.full(degrees.size, -1)
    for v in range(degrees.size):
        stamps[v] = v
        count = 0
        for p in range(cstarts[v], cstarts[v + 1]):
            for q in range(rstarts[crows[p]], rstarts[crows[p] + 1]):
                w = rcolumns[q]
                if stamps[w] != v:
                    stamps[w] = v
                    count += 1
        degrees[v] = count


@compiled("(a),(p),(b),(q),(n),(n),(),()->(n)")
def _dynamic(cstarts, crows, rstarts, rcolumns, keys, top, step, by_colors, order):
    """Write an order of the columns by keys that change as columns are taken.

    With ``step`` 1 the column with the largest key is taken, with -1 the one with the least; then
    the keys of its neighbours change by ``step``. With ``by_colors`` a column is coloured when it
    is taken, and only the keys of neighbours that have met no column of this colour change. Of
    columns with equal keys the one that comes last in ``top`` is taken first.
    """
    n = order.size
    key, colors, taken = keys.copy(), np.full(n, -1), np.full(n + 1, -1)
    heads, after, before = np.full(n + 1, -1), np.full(n, -1), np.full(n, -1)
    stamps, seen = np.full(n, -1), np.zeros(n, np.uint64)
    for i in range(n):
        push(top[i], key, heads, after, before)
    at = 0
    for k in range(n):
        while heads[at] < 0:
            at -= step
        v = heads[at]
        pop(v, key, heads, after, before)
        key[v], order[k], bit = -1, v, np.uint64(0)
        if by_colors:
            c = colors[v] = first_free(v, colors, taken, cstarts, crows, rstarts, rcolumns)
            if c > 63:  # the colours that a column has met are a set of 64 bits
                continue
            bit = np.uint64(1) << np.uint64(c)
        for p in range(cstarts[v], cstarts[v + 1]):
            for q in range(rstarts[crows[p]], rstarts[crows[p] + 1]):
                w = rcolumns[q]
                if key[w] >= 0 and stamps[w] != v and not seen[w] & bit:
                    stamps[w] = v
                    seen[w] |= bit
                    pop(w, key, heads, after, before)
                    key[w] += step
                    push(w, key, heads, after, before)
                    if (key[w] - at) * step > 0:
                        at = key[w]


def first_free(v, colors, taken, cstarts, crows, rstarts, rcolumns):
    """Return the first colour that no neighbour of column ``v`` has.

    Two columns are neighbours if a row has entries in both. ``taken`` has, for each colour, the
    last column that has found it taken; the colours that ``v`` finds are marked there.
    """
    for p in range(cstarts[v], cstarts[v + 1]):
        for q in range(rstarts[crows[p]], rstarts[crows[p] + 1]):
            c = colors[rcolumns[q]]
            if c >= 0:
                taken[c] = v
    return untaken(v, taken)


def untaken(v, taken):
    """Return the first colour that vertex ``v`` has not marked as taken by a neighbour."""
    c = 0
    while taken[c] == v:
        c += 1
    return c


def push(v, key, heads, after, before):
    """Put a column in front of the linked list of the columns with its key.

    ``heads`` has the first column of each list; ``after`` and ``before`` link its members.
    """
    first = heads[key[v]]
    heads[key[v]] = v
    after[v], before[v] = first, -1
    if first >= 0:
        before[first] = v


def pop(v, key, heads, after, before):
    """Remove a column from the linked list of the columns with its key; see `push`."""
    if before[v] < 0:
        heads[key[v]] = after[v]
    else:
        after[before[v]] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]
