"""Orders in which vertices are coloured: the colours of a greedy colouring depend on them.

A graph is given by cliques: columns of a matrix are neighbours if a row has entries in both. For a
graph given by its edges, the rows are edges, with two columns each.
"""

import numpy as np

from .compiled import compiled
from .index_sets import IndexSets

ORDERS = ("natural", "largest_first", "smallest_last", "incidence_degree", "saturation")


def order_of(name: str, columns: IndexSets, rows: IndexSets) -> np.ndarray:
    """Return the numbers of the columns of a matrix in the order in which they are coloured.

    The orders are ``natural``; ``largest_first``, by falling number of neighbours;
    ``smallest_last``, where the last column has the fewest neighbours, the one before it the fewest
    among the others, and so on; ``incidence_degree``, where the next column has the most coloured
    neighbours; and ``saturation``, where its neighbours have the most colours.
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
    """Repeatedly take the column with the least key, or the largest if ``step`` is 1, and change
    the keys of its neighbours by ``step``.

    With ``by_colors`` columns are coloured as they are taken, and only neighbours to which the
    colour is new change. Of columns with equal keys the last in ``top`` is taken first.
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
            if c > 63:  # sets of colours have 64 bits
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
    """Return the first colour that no column has with which column ``v`` shares a row; ``taken``
    has the last column that marked a colour."""
    for p in range(cstarts[v], cstarts[v + 1]):
        for q in range(rstarts[crows[p]], rstarts[crows[p] + 1]):
            c = colors[rcolumns[q]]
            if c >= 0:
                taken[c] = v
    return untaken(v, taken)


def untaken(v, taken):
    """Return the first colour that vertex ``v`` has not marked."""
    c = 0
    while taken[c] == v:
        c += 1
    return c


def push(v, key, heads, after, before):
    """Put a column first among those with its key."""
    first = heads[key[v]]
    heads[key[v]] = v
    after[v], before[v] = first, -1
    if first >= 0:
        before[first] = v


def pop(v, key, heads, after, before):
    """Remove a column from those with its key."""
    if before[v] < 0:
        heads[key[v]] = after[v]
    else:
        after[before[v]] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]
