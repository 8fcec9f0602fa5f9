"""Colours of columns and rows, so that those of one colour can share a pass.

Columns that no row has two of are *structurally orthogonal*: the product of the Jacobian with the
sum of their unit vectors shows all their entries. To find few groups is to colour the graph in
which columns that meet in a row are neighbours; see Gebremedhin, Manne and Pothen, "What color is your
Jacobian? Graph coloring for computing derivatives", SIAM Review 47 (2005).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import ArgTypeError
from .compiled import compiled
from .ordering import ORDERS, order_of

COLORINGS = ("auto", "column", "row", "bidirectional")


@dataclass(frozen=True)
class Coloring:
    """Colours of the rows and of the columns of a matrix, -1 for those without a pass.

    An entry is read from the pass of its row where that has a colour, else from that of its column.

    Attributes
    ----------
    rows, columns : arrays of int64
    n_rows, n_columns : int
        The number of colours of each.
    """

    rows: np.ndarray
    columns: np.ndarray

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
    """A way to colour: rows for themselves, and what remains by columns; or turned round.

    Attributes
    ----------
    apart : array of bool
        Which rows (columns, if it is turned) have passes of their own.
    turned : bool
    least : int
        No colouring of this kind has fewer colours.
    """

    apart: np.ndarray
    turned: bool
    least: int


def color(pattern: Any, coloring: str, order: str) -> Coloring:
    """Return a colouring of a matrix, with the fewest colours of those that were tried.

    Parameters
    ----------
    pattern : csr_array
    coloring : {"auto", "column", "row", "bidirectional"}
    order : str
        See `ordering.order_of`.
    """
    require(coloring, COLORINGS, "coloring")
    require(order, ("auto", *ORDERS), "order")
    best: Coloring | None = None
    for split in sorted(_splits(pattern, coloring), key=lambda split: split.least):
        if best is None or split.least < best.passes:
            found = _by_split(pattern, split, order)
            if best is None or found.passes < best.passes:
                best = found
    assert best is not None
    return best


def require(value: str, known: tuple[str, ...], name: str) -> None:
    """Raise for an option that there is not."""
    if value not in known:
        raise ArgTypeError(f"sparse: {name} must be one of {', '.join(known)}, got {value!r}")


def _splits(pattern: Any, coloring: str) -> list[Split]:
    """Return what may be tried. A few dense rows would cost a colour for each of their entries, so
    they get passes of their own, as may dense columns: those with more entries than a power of 2.
    With all of them, or with none, that is a colouring of rows, or of columns, alone."""
    turned = pattern.T.tocsr()
    if coloring == "column":
        return [_split(pattern, turned, np.inf, False)]
    if coloring == "row":
        return [_split(turned, pattern, np.inf, True)]
    is_symmetric = np.array_equal(pattern.indptr, turned.indptr) and np.array_equal(
        pattern.indices, turned.indices
    )
    splits = []
    for matrix, other, is_turned in ((pattern, turned, False), (turned, pattern, True)):
        if is_turned and is_symmetric:
            break
        most = int(np.diff(matrix.indptr).max(initial=0))
        limits = [np.inf, *(1 << k for k in range(most.bit_length()))]
        found = [_split(matrix, other, limit, is_turned) for limit in limits]
        splits += [s for s in found if not s.apart.all() or not s.apart.size]
    return splits


def _split(matrix: Any, turned: Any, limit: float, is_turned: bool) -> Split:
    counts = np.diff(matrix.indptr)
    apart = counts > limit
    inside = apart[turned.indices].astype(np.int64)  # how many of a column are in rows apart
    sums = np.diff(np.concatenate([[0], np.cumsum(inside)])[turned.indptr])
    least = sums.max(initial=0) + counts[~apart].max(initial=0)
    return Split(apart, is_turned, int(least))


def _by_split(pattern: Any, split: Split, order: str) -> Coloring:
    matrix = pattern.T.tocsr() if split.turned else pattern
    apart = np.flatnonzero(split.apart)
    rows = np.full(matrix.shape[0], -1)
    columns = _columns(matrix[~split.apart] if apart.size else matrix, order)
    if apart.size:
        rows[apart] = _columns(matrix[apart].T.tocsr(), order)
    return Coloring(columns, rows) if split.turned else Coloring(rows, columns)


def _columns(matrix: Any, order: str) -> np.ndarray:
    """Return colours of columns, none of which share a row with another of their colour; -1 for
    those without entries."""
    rows, columns = starts_and_members(matrix), starts_and_members(matrix.T.tocsr())
    least = int(np.diff(matrix.indptr).max(initial=0))

    def greedy(order: np.ndarray) -> np.ndarray:
        colors = np.empty(matrix.shape[1], np.int64)
        _greedy(order, *columns, *rows, out=[colors])
        return colors

    colors = fewest(order, columns, rows, greedy, least)
    colors[np.diff(columns[0]) == 0] = -1
    return colors


def fewest(order: str, columns: Any, rows: Any, greedy: Callable[..., Any], least: int) -> Any:
    """Return the colours that a greedy colouring has in an order, or in the best of those that
    ``auto`` tries, and after it in the order of its own colours, as long as these become fewer."""
    best = None
    for name in TRIED if order == "auto" else (order,):
        colors = greedy(order_of(name, columns, rows))
        again = True
        while again and colors.max(initial=-1) + 1 > least:
            found = greedy(_by_color(colors))
            again = found.max() < colors.max()
            colors = found if again else colors
        if best is None or colors.max(initial=-1) < best.max():
            best = colors
        if best.max(initial=-1) + 1 <= least:
            break
    return best


TRIED = ("saturation", "smallest_last")


def _by_color(colors: np.ndarray) -> np.ndarray:
    """Return vertices by colour, the last colour first: coloured again in this order they have no
    more colours (Culberson 1992), as those of a colour find one that was not taken before."""
    return np.argsort(-colors, kind="stable")


def starts_and_members(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return where the rows of a sparse matrix begin, and their columns."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)


@compiled("(n),(a),(p),(b),(q)->(n)")
def _greedy(order, cstarts, crows, rstarts, rcolumns, colors):
    """Give each column the first colour that none has with which it shares a row."""
    colors[:] = -1
    taken = np.full(order.size + 1, -1)
    for v in order:
        for p in range(cstarts[v], cstarts[v + 1]):
            for q in range(rstarts[crows[p]], rstarts[crows[p] + 1]):
                c = colors[rcolumns[q]]
                if c >= 0:
                    taken[c] = v
        c = 0
        while taken[c] == v:
            c += 1
        colors[v] = c

