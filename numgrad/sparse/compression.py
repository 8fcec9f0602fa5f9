"""Compute the entries of a sparse Jacobian from a few products of vectors with the Jacobian.

Each product is one pass, whose seed is the sum of the unit vectors of all rows, or columns, of one
colour. The products of all passes, one after the other, are a flat array. A *plan* has the colours,
and for each entry of the matrix its place in that array.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._declare import kernel_operator, registry
from .._errors import GraphError
from .._tensor import Tensor, placed
from ..func.forward import push
from ..func.gradients import pull
from ..functions.shape.joining import concat
from ..functions.shape.reshaping import reshape
from . import coloring, symmetric
from .compiled import compiled
from .index_sets import IndexSets


@dataclass(frozen=True)
class Plan:
    """How the entries of a Jacobian are computed: the colours, and where each entry is found.

    Attributes
    ----------
    pattern : csr_array of bool
    colors : Coloring
    mode : str
        As `Prepared.mode`.
    positions : ndarray
        For each entry its index in an array that holds the entries found by substitution, then the
        products of all colours of rows, then those of all colours of columns.
    substitution : tuple of ndarray
        The arguments of `substitute` behind the products; empty if nothing is substituted.
    """

    pattern: Any
    colors: coloring.Coloring
    mode: str
    positions: np.ndarray
    substitution: tuple[np.ndarray, ...] = ()


def plan_jacobian(pattern: IndexSets, name: str, order: str) -> Plan:
    """Return how to compute the Jacobian with a pattern; ``name`` is the option ``coloring``."""
    colors = coloring.color(pattern, name, order)
    rows, columns, m, n = pattern.rows, pattern.members, len(pattern), pattern.width
    by_row = colors.rows[rows] * n + columns
    by_column = colors.n_rows * n + colors.columns[columns] * m + rows
    mode = "column" if not colors.n_rows else "bidirectional" if colors.n_columns else "row"
    is_by_row = colors.columns[columns] < 0 if colors.columns_first else colors.rows[rows] >= 0
    positions = np.where(is_by_row, by_row, by_column)
    return Plan(pattern.as_matrix(), colors, mode, positions)


def plan_hessian(pattern: IndexSets, name: str, order: str) -> Plan:
    """Return how to compute the Hessian with a symmetric pattern.

    ``name`` is the option ``coloring``. As rows and columns are the same, only rows have colours.
    """
    found = symmetric.color(pattern, name, order)
    colors = coloring.Coloring(found, np.full(len(pattern), -1))
    if name == "acyclic":
        return _by_substitution(pattern, colors)
    rows, columns, n = pattern.rows, pattern.members, len(pattern)
    single = np.empty(columns.size, np.bool_)
    _mark_single(pattern.starts, columns, found, out=[single])
    direct, mirrored = found[columns] * n + rows, found[rows] * n + columns
    return Plan(pattern.as_matrix(), colors, name, np.where(single, direct, mirrored))


def _by_substitution(pattern: IndexSets, colors: coloring.Coloring) -> Plan:
    graph, n = symmetric.graph_of(pattern), len(pattern)
    edges = graph[-1]
    count = edges.size // 2
    number, bases = np.full(count, -1), np.empty(count, np.int64)
    starts, others = np.zeros(count + 1, np.int64), np.empty(edges.size, np.int64)
    _peel(*graph, colors.rows, n, out=[number, bases, starts, others])
    if (number < 0).any():
        raise GraphError("an acyclic colouring of a Hessian has a cycle in two colours")
    rows, columns = pattern.rows, pattern.members
    positions = count + colors.rows[rows] * n + columns
    positions[rows != columns] = number[edges]
    found = bases, starts, others[: starts[-1]].copy()
    return Plan(pattern.as_matrix(), colors, "acyclic", positions, found)


@compiled("(a),(p),(n)->(p)")
def _mark_single(starts, members, colors, single):
    """Mark each entry whose row has no other entry in a column of the same colour.

    Such an entry is read from the product of its column's colour.
    """
    last, place = np.full(colors.size, -1), np.empty(colors.size, np.int64)
    for v in range(colors.size):
        for p in range(starts[v], starts[v + 1]):
            c = colors[members[p]]
            single[p] = last[c] != v
            if last[c] == v:
                single[place[c]] = False
            last[c], place[c] = v, p


@compiled("(a),(p),(p),(n),()->(e),(e),(s),(d)")
def _peel(starts, members, edges, colors, n, number, bases, into, others):
    """Find the order in which entries of a Hessian are computed by substitution.

    Entries off the diagonal are the edges of a graph of the variables. The edges between vertices
    of two colours are trees, which are taken apart leaf by leaf. The entry at the edge of a leaf is
    the product at the leaf, less the entries of edges that were removed there before. So the
    outputs are: the number of each edge in the order, the index of its product, and the numbers of
    the edges to subtract, as a list with the end of each edge's part in ``into``.

    In the code a place stands for a vertex together with its neighbours of one colour. A place is
    identified by the first of these neighbours.
    """
    size = members.size
    places, counts, twins = np.empty(size, np.int64), np.zeros(size, np.int64), np.full(size, -1)
    owner, first = np.empty(size, np.int64), np.full(number.size, -1)
    last, seen = np.full(colors.size, -1), np.empty(colors.size, np.int64)
    for v in range(colors.size):
        for p in range(starts[v], starts[v + 1]):
            c = colors[members[p]]
            if last[c] != v:
                last[c], seen[c] = v, p
            places[p], owner[p] = seen[c], v
            counts[seen[c]] += 1
            if first[edges[p]] < 0:
                first[edges[p]] = p
            else:
                twins[p], twins[first[edges[p]]] = first[edges[p]], p
    heads, after = np.full(size, -1), np.full(size, -1)
    leaves, top = np.empty(size, np.int64), 0
    for p in range(size):
        if counts[p] == 1:
            leaves[top] = p
            top += 1
    done = into[0] = 0
    while top:
        top -= 1
        place = leaves[top]
        if counts[place] != 1:
            continue
        p = place
        while places[p] != place or number[edges[p]] >= 0:
            p += 1
        counts[place] = 0
        number[edges[p]], bases[done] = done, colors[members[p]] * n + owner[p]
        k, q = into[done], heads[place]
        while q >= 0:
            others[k] = number[edges[q]]
            k, q = k + 1, after[q]
        done += 1
        into[done] = k
        twin = twins[p]
        other = places[twin]
        after[twin], heads[other] = heads[other], twin
        counts[other] -= 1
        if counts[other] == 1:
            leaves[top] = other
            top += 1


@kernel_operator("(b),(e),(s),(d)->(e)", differentiable=False, register=False)
def substitute(products, bases, starts, others, out):
    """Compute entries by substitution: each from a product and from entries computed before.

    Entry ``i`` is the product number ``bases[i]``, less the entries that this product also sums up,
    whose numbers are ``others[starts[i]:starts[i + 1]]``.
    """
    for i in range(bases.size):
        total = products[bases[i]]
        for k in range(starts[i], starts[i + 1]):
            total -= out[others[k]]
        out[i] = total


def entries(output: Tensor, x: Tensor, plan: Plan) -> Tensor:
    """Return the entries of the Jacobian of an output by an input, in the order of the pattern.

    One batched backward pass computes the products of all colours of rows, and one batched forward
    pass those of all colours of columns.
    """
    parts = []
    if plan.colors.n_rows:
        parts += pull([output], [x], [_seeds(plan.colors.rows, output)], False, batched=True)
    if plan.colors.n_columns:
        parts += push([output], [x], [_seeds(plan.colors.columns, x)], False, batched=True)
    flat = [reshape(part, -1).astype(output.dtype) for part in parts]
    if not flat:
        return placed(np.zeros(0, output.dtype), output.device)
    if plan.substitution:
        arrays = [placed(a, output.device) for a in plan.substitution]
        flat.insert(0, substitute(flat[0], *arrays))
    products = flat[0] if len(flat) == 1 else concat(flat)
    at = placed(plan.positions, output.device)
    return registry["gather"](products, at, count=1, tail=0, shape=plan.positions.shape)


def _seeds(colors: np.ndarray, like: Tensor) -> Tensor:
    """Return for each colour the sum of the unit vectors of its rows or columns, as a batch."""
    count = int(colors.max()) + 1
    seeds = (colors == np.arange(count)[:, None]).astype(like.dtype)
    return placed(seeds.reshape(count, *like.shape), like.device)
