"""Colour the variables of a Hessian, which is symmetric: each entry is needed only once.

The variables are vertices of a graph, with an edge for each entry off the diagonal. A *star*
colouring has no path of four vertices in two colours; then every entry is read directly from a
product. An *acyclic* colouring has no cycle in two colours; then entries are found by substitution.
See Gebremedhin, Tarafdar, Manne and Pothen, "New acyclic and star coloring algorithms with
application to computing Hessians", SIAM J. Sci. Comput. 29 (2007).
"""

import numpy as np

from .coloring import best_greedy_coloring, require_option
from .compiled import compiled
from .index_sets import IndexSets, starts_of
from .ordering import untaken

COLORINGS = ("star", "acyclic")


def graph_of(pattern: IndexSets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the graph of a symmetric pattern without its diagonal, as three arrays.

    These are the starts of the neighbours of each vertex, all neighbours one after the other, and
    the number of the edge to each. An edge has one number, whichever of its ends lists it.
    """
    rows, columns, size = pattern.rows, pattern.members, len(pattern)
    off = rows != columns
    rows, columns = rows[off], columns[off]
    edges = np.unique(
        np.minimum(rows, columns) * size + np.maximum(rows, columns), return_inverse=True
    )[1]
    return starts_of(np.bincount(rows, minlength=size)), columns, edges.astype(np.int64)


def color(pattern: IndexSets, coloring: str, order: str) -> np.ndarray:
    """Return the colour of each variable of a symmetric pattern; -1 for variables without entries.

    ``coloring`` and ``order`` are the options of that name.
    """
    require_option(coloring, COLORINGS, "coloring")
    starts, members, edges = graph_of(pattern)
    count = edges.size // 2
    kernel = _star if coloring == "star" else _acyclic

    def greedy(order: np.ndarray) -> np.ndarray:
        colors = np.empty(len(pattern), np.int64)
        kernel(order, starts, members, edges, out=[colors])
        return colors

    ends = IndexSets(starts, edges, count)  # the edges of a vertex are the rows of a column
    colors = best_greedy_coloring(order, ends, ends.transposed(), greedy, min(count, 1) + 1)
    colors[pattern.counts == 0] = -1
    return colors


@compiled("(n),(a),(p),(p)->(n)")
def _star(order, starts, members, edges, colors):
    """Colour the vertices greedily so that no path of four vertices has two colours.

    Each vertex has a list of the colours of its neighbours, with three facts for each colour: the
    first neighbour of this colour, the number of such neighbours, and whether the colour is closed.
    A colour is closed if one of these neighbours has another neighbour of the vertex's own colour:
    then one more neighbour of the closed colour would complete a path in two colours.
    """
    n = order.size
    colors[:] = -1
    taken = np.full(n + 1, -1)
    used, around = np.zeros(n, np.int64), np.full(members.size, -1)
    first, counts = np.full(members.size, -1), np.zeros(members.size, np.int64)
    closed = np.zeros(members.size, np.bool_)
    for v in order:
        for p in range(starts[v], starts[v + 1]):
            w = members[p]
            if colors[w] < 0:
                continue
            taken[colors[w]] = v
            several = counts[entry(v, colors[w], starts, used, around)] > 1
            for e in range(starts[w], starts[w] + used[w]):
                if several or closed[e]:
                    taken[around[e]] = v
        c = colors[v] = untaken(v, taken)
        for p in range(starts[v], starts[v + 1]):
            w = members[p]
            e = entry(w, c, starts, used, around)
            if e == starts[w] + used[w]:
                around[e], first[e] = c, v
                used[w] += 1
            counts[e] += 1
            if colors[w] < 0:
                continue
            mine = entry(v, colors[w], starts, used, around)
            if counts[e] > 1:
                closed[mine] = True
                closed[entry(first[e], colors[w], starts, used, around)] = True
            if counts[mine] > 1:
                closed[e] = True


def entry(v, color, starts, used, around):
    """Return the index of a colour in the list of a vertex's colours; see `_star`.

    For a colour that is not in the list the result is the next free index.
    """
    e = starts[v]
    while e < starts[v] + used[v] and around[e] != color:
        e += 1
    return e


@compiled("(n),(a),(p),(p)->(n)")
def _acyclic(order, starts, members, edges, colors):
    """Colour the vertices greedily so that no cycle has two colours.

    The edges between vertices of two colours are trees, kept as sets of edges that are merged. For
    each vertex to colour, a tree notes the neighbour through which the vertex has met the tree. If
    the vertex meets the tree through another neighbour as well, a colour of the tree would close a
    cycle.
    """
    n = order.size
    colors[:] = -1
    taken, near, near_edge = np.full(n + 1, -1), np.full(n + 1, -1), np.full(n + 1, -1)
    trees = np.arange(members.size // 2)
    visitor, through = np.full(trees.size, -1), np.full(trees.size, -1)
    for v in order:
        for p in range(starts[v], starts[v + 1]):
            if colors[members[p]] >= 0:
                taken[colors[members[p]]] = v
        for p in range(starts[v], starts[v + 1]):
            w = members[p]
            if colors[w] < 0:
                continue
            for q in range(starts[w], starts[w + 1]):
                x = members[q]
                if x == v or colors[x] < 0 or taken[colors[x]] == v:
                    continue
                tree = root(trees, edges[q])
                if visitor[tree] != v:
                    visitor[tree], through[tree] = v, w
                elif through[tree] != w:
                    taken[colors[x]] = v
        c = colors[v] = untaken(v, taken)
        for p in range(starts[v], starts[v + 1]):
            w = members[p]
            if colors[w] < 0:
                continue
            if near[colors[w]] == v:
                join(trees, edges[p], near_edge[colors[w]])
            near[colors[w]], near_edge[colors[w]] = v, edges[p]
            for q in range(starts[w], starts[w + 1]):
                if members[q] != v and colors[members[q]] == c:
                    join(trees, edges[p], edges[q])


def root(trees, edge):
    """Return the edge that represents the tree of an edge, as in a union-find structure."""
    while trees[edge] != edge:
        trees[edge] = trees[trees[edge]]
        edge = trees[edge]
    return edge


def join(trees, edge, other):
    """Merge the trees of two edges into one."""
    trees[root(trees, edge)] = root(trees, other)
