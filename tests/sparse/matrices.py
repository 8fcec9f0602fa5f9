"""Patterns, and checks of colourings that are slow and obviously right."""

import itertools

import numpy as np
import scipy.sparse as sp


def random_pattern(rng, most=40):
    m, n = rng.integers(1, most, 2)
    density = rng.choice([0.02, 0.05, 0.1, 0.2, 0.4])
    return booleans(sp.random_array((m, n), density=density, rng=rng))


def random_symmetric(rng, most=30):
    n = int(rng.integers(2, most))
    half = sp.random_array((n, n), density=rng.choice([0.03, 0.08, 0.15, 0.3]), rng=rng)
    return booleans(half + half.T + sp.eye_array(n))


def arrow(n):
    rest, zeros = np.arange(n), np.zeros(n, int)
    places = np.concatenate([rest, rest, zeros]), np.concatenate([rest, zeros, rest])
    return booleans(sp.coo_array((np.ones(3 * n), places), shape=(n, n)))


def five_point(n):
    line = sp.diags_array([1.0, 1.0, 1.0], offsets=[-1, 0, 1], shape=(n, n))
    return booleans(sp.kronsum(line, line))


def banded(n, width):
    offsets = range(-width, width + 1)
    diagonals = [np.ones(n - abs(k)) for k in offsets]
    return booleans(sp.diags_array(diagonals, offsets=list(offsets), shape=(n, n)))


def booleans(matrix):
    matrix = sp.csr_array(matrix)
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix.astype(bool)


def is_direct(pattern, rows, columns, columns_first=False):
    """Whether each entry is the only one of its column in the colour of its row, or of its row in
    the colour of its column, where it is read."""
    dense = pattern.toarray()
    for i, j in zip(*np.nonzero(dense), strict=True):
        if rows[i] < 0 and columns[j] < 0:
            return False
        by_column = columns[j] >= 0 and (columns_first or rows[i] < 0)
        line = dense[i] & (columns == columns[j]) if by_column else dense[:, j] & (rows == rows[i])
        if line.sum() != 1:
            return False
    return True


def neighbours(pattern):
    return [set(np.flatnonzero(row)) - {i} for i, row in enumerate(pattern.toarray())]


def is_star(pattern, colors):
    """Whether neighbours differ and every path of four vertices has three colours."""
    near = neighbours(pattern)
    for a, _ in enumerate(near):
        for b in near[a]:
            if colors[a] == colors[b]:
                return False
            for c in near[b] - {a}:
                for d in near[c] - {a, b}:
                    if colors[a] == colors[c] and colors[b] == colors[d]:
                        return False
    return True


def is_acyclic(pattern, colors):
    """Whether neighbours differ and any two colours make a forest, by the number of its edges."""
    near = neighbours(pattern)
    if any(colors[a] == colors[b] for a, found in enumerate(near) for b in found):
        return False
    for pair in itertools.combinations(np.unique(colors), 2):
        inside = [v for v in range(len(near)) if colors[v] in pair]
        graph = pattern.toarray()[np.ix_(inside, inside)]
        np.fill_diagonal(graph, False)
        parts, _ = sp.csgraph.connected_components(graph, directed=False)
        if graph.sum() // 2 != len(inside) - parts:
            return False
    return True
