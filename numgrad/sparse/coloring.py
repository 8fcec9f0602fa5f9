"""Colour columns and rows of a Jacobian, so that those of one colour share a pass.

Columns are *structurally orthogonal* if no row has entries in two of them: the product of the
Jacobian with the sum of their unit vectors shows all their entries. To find few groups of such
columns is to colour the graph in which columns with entries in one row are neighbours; see
Gebremedhin, Manne and Pothen, "What color is your Jacobian? Graph coloring for computing
derivatives", SIAM Review 47 (2005).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._errors import ArgTypeError
from .compiled import compiled
from .index_sets import IndexSets, starts_of
from .ordering import ORDERS, first_free, order_of

COLORINGS = ("auto", "column", "row", "bidirectional")


@dataclass(frozen=True)
class Coloring:
    """The colour of each row and of each column of a matrix; rows and columns with -1 have no pass.

    If both the row and the column of an entry have a colour, the entry is read from the pass of its
    column if ``columns_first``, else from the pass of its row.
    """

    rows: np.ndarray
    columns: np.ndarray
    columns_first: bool = False

    @property
    def n_rows(self) -> int:
        return int(self.rows.max(initial=-1)) + 1

    @property
    def n_columns(self) -> int:
        return int(self.columns.max(initial=-1)) + 1

    @property
    def passes(self) -> int:
        return self.n_rows + self.n_columns


@dataclass(frozen=True)
class Split:
    """A way to colour a matrix: a few rows are coloured as rows, and the rest by its columns.

    Attributes
    ----------
    matrix : IndexSets
        The columns with entries, for each row.
    other : IndexSets
        The transposed pattern: the rows with entries, for each column.
    apart : ndarray of bool
        Which rows are coloured as rows.
    turned : bool
        Whether ``matrix`` is the transposed one, so that rows and columns are exchanged.
    least : int
        A lower bound on the number of colours.
    """

    matrix: IndexSets
    other: IndexSets
    apart: np.ndarray
    turned: bool
    least: int


def color(pattern: IndexSets, coloring: str, order: str) -> Coloring:
    """Return the colouring with the fewest colours among those that are tried.

    ``pattern`` has, for each row of the matrix, the columns with entries.
    """
    require_option(coloring, COLORINGS, "coloring")
    best: Coloring | None = None
    for split in sorted(_splits(pattern, coloring), key=lambda split: split.least):
        if best is None or split.least < best.passes:
            found = _by_split(split, order)
            if best is None or found.passes < best.passes:
                best = found
    assert best is not None
    return best


def require_option(value: str, known: tuple[str, ...], name: str) -> None:
    """Raise an error if the value of an option is none of the known ones."""
    if value not in known:
        raise ArgTypeError(f"sparse: {name} must be one of {', '.join(known)}, got {value!r}")


def _splits(pattern: IndexSets, coloring: str) -> list[Split]:
    """Return the ways to split a matrix that are worth trying, those by columns first.

    In a colouring by columns a few dense rows would cost a colour for each of their entries. So
    rows with more entries than a limit are coloured apart, as rows; the limits are infinity and
    powers of 2. Then the same is tried with rows and columns exchanged. If two colourings have as
    many colours, the earlier one is taken: a pass in forward mode, which columns have, takes less
    time.
    """
    turned = pattern.transposed()
    ways = [(pattern, turned, False), (turned, pattern, True)]
    if coloring in ("row", "column"):
        matrix, other, is_turned = ways[coloring == "row"]
        return [_split(matrix, other, np.inf, is_turned)]
    splits = []
    for matrix, other, is_turned in ways[: 1 if pattern.equals(turned) else 2]:
        most = int(matrix.counts.max(initial=0))
        limits = [np.inf, *(1 << k for k in range(most.bit_length()))]
        found = [_split(matrix, other, limit, is_turned) for limit in limits]
        splits += [s for s in found if not s.apart.all() or not s.apart.size]
    return splits


def _split(matrix: IndexSets, turned: IndexSets, limit: float, is_turned: bool) -> Split:
    counts = matrix.counts
    apart = counts > limit
    least = counts[~apart].max(initial=0)
    if apart.any():  # these rows need as many colours as the fullest column has entries in them
        least += np.diff(starts_of(apart[turned.members])[turned.starts]).max()
    return Split(matrix, turned, apart, is_turned, int(least))


def _by_split(split: Split, order: str) -> Coloring:
    matrix, apart = split.matrix, np.flatnonzero(split.apart)
    rows = np.full(len(matrix), -1)
    if apart.size:
        inside, rest = matrix.take(apart), matrix.take(np.flatnonzero(~split.apart))
        rows[apart] = _columns(inside.transposed(), inside, order)
        columns = _columns(rest, rest.transposed(), order)
    else:
        columns = _columns(matrix, split.other, order)
    return Coloring(columns, rows, True) if split.turned else Coloring(rows, columns)


def _columns(rows: IndexSets, columns: IndexSets, order: str) -> np.ndarray:
    """Return the colour of each column, different for any two columns with entries in one row.

    Columns without entries get -1.
    """
    least = int(rows.counts.max(initial=0))

    def greedy(order: np.ndarray) -> np.ndarray:
        colors = np.empty(len(columns), np.int64)
        given = columns.starts, columns.members, rows.starts, rows.members
        _greedy(order, *given, out=[colors])
        return colors

    colors = best_greedy_coloring(order, columns, rows, greedy, least)
    colors[columns.counts == 0] = -1
    return colors


def best_greedy_coloring(
    order: str, columns: IndexSets, rows: IndexSets, greedy: Callable[..., np.ndarray], least: int
) -> np.ndarray:
    """Return the colours that a greedy colouring finds in a given order of the columns.

    For the order ``auto`` several orders are tried, and the fewest colours are returned. Each
    colouring is repeated in the order of its own colours as long as that makes them fewer. The
    search ends at ``least`` colours, a lower bound.
    """
    require_option(order, ("auto", *ORDERS), "order")
    best: np.ndarray | None = None
    for name in TRIED if order == "auto" else (order,):
        colors = greedy(order_of(name, columns, rows))
        found = greedy(_by_color(colors)) if colors.max(initial=-1) >= least else colors
        while found.max(initial=-1) < colors.max(initial=-1):
            colors, found = found, greedy(_by_color(found))
        if best is None or colors.max(initial=-1) < best.max():
            best = colors
        if best.max(initial=-1) + 1 <= least:
            break
    assert best is not None
    return best


TRIED = ("saturation", "smallest_last")


def _by_color(colors: np.ndarray) -> np.ndarray:
    """Return the vertices sorted by colour, those of the last colour first.

    A greedy colouring in this order has at most as many colours as the given one (Culberson 1992),
    as vertices that shared a colour can share one again.
    """
    return np.argsort(-colors, kind="stable")


@compiled("(n),(a),(p),(b),(q)->(n)")
def _greedy(order, cstarts, crows, rstarts, rcolumns, colors):
    """Colour the columns in the given order, each with the first colour that is free.

    A colour is free if no column with an entry in one of the column's rows has this colour.
    """
    colors[:] = -1
    taken = np.full(order.size + 1, -1)
    for v in order:
        colors[v] = first_free(v, colors, taken, cstarts, crows, rstarts, rcolumns)

