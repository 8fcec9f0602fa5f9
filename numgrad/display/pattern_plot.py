"""A plot of the pattern of a matrix, with the colours of its passes; Matplotlib is imported at the
first plot."""

from typing import Any

import numpy as np

from .._errors import ArgTypeError

_FAINTEST = 0.35  # opacity of a cell with a single entry among thousands, which has to be visible
_CELL = 2  # pixels of a cell; a single one is hard to see
_MOST_NAMED = 10  # colours in the legend
_UNCOLORED = 0.25  # a gray
_KINDS = ("column", "row", "bidirectional", "star", "acyclic")


def spy(J: Any, *, colors: Any = None, mode: str | None = None, ax: Any = None) -> Any:
    """Draw the pattern of a matrix, each entry in the colour of the pass that computes it.

    Parameters
    ----------
    J : Prepared, sparse matrix, or array_like
        A sparse Jacobian or Hessian of `numgrad.sparse.prepare` with its colours, a matrix of
        `scipy.sparse`, whose stored entries count, or an array, whose entries other than 0 do.
    colors : array_like of int, or a pair of them, optional
        The colour of each column or of each row, -1 for none; a pair is of the rows and of the
        columns. Prepared matrices have theirs.
    mode : {"column", "row", "bidirectional", "star", "acyclic"}, optional
        What `colors` belong to: "star" and "acyclic" are colours of the columns of a Hessian. By
        default what their number says; columns, if a matrix has as many rows.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default the axes of a new figure, which no window shows:
        ``spy(J).figure.savefig("pattern.png")``.

    Returns
    -------
    matplotlib.axes.Axes
        The axes are numbered like the rows and columns; a legend says how many rows or columns have
        each colour, of the first ten.

    Raises
    ------
    ArgTypeError
        If `J` is no matrix, or `mode` is unknown.
    ValueError
        If there is not a colour for every row or column.
    ImportError
        Without Matplotlib, which the extra ``viz`` installs.

    Notes
    -----
    A matrix with more rows or columns than there is room for, two pixels each, is drawn in cells of
    several rows and columns: a cell has the mean of the colours of its entries, and is the fainter
    the fewer they are, so that a matrix with millions of entries can be read too.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> bands = np.eye(6) + np.eye(6, k=1)
    >>> axes = ng.display.spy(bands, colors=[0, 1, 0, 1, 0, 1])  # doctest: +SKIP
    >>> axes.figure.savefig("bands.png")  # doctest: +SKIP
    """
    try:
        from matplotlib.figure import Figure  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError('spy needs Matplotlib: pip install "numgrad[viz]"') from error
    if colors is None and hasattr(J, "pattern") and hasattr(J, "colors"):
        J, colors, mode = J.pattern, J.colors, J.mode
    rows, columns, shape = _entries(J)
    coloring = None if colors is None else _coloring(colors, mode, shape)
    if ax is None:
        ax = Figure(figsize=(6.0, 6.0), layout="constrained").add_subplot()
    _draw(ax, rows, columns, shape, coloring)
    if coloring is not None:
        _legend(ax, coloring)
    return ax


def _colors_of(coloring: Any, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the colours of entries: the colour of the row if it has one, else that of the column,
    or -1.

    The colours of columns are numbered after those of rows.
    """
    by_column = coloring.columns[columns]
    by_column = np.where(by_column >= 0, by_column + coloring.n_rows, -1)
    return np.where(coloring.rows[rows] >= 0, coloring.rows[rows], by_column)


def _palette(count: int) -> np.ndarray:
    """Return red, green and blue of each colour, and of entries without one."""
    from matplotlib import colormaps  # pyright: ignore[reportMissingImports]

    name = "tab10" if count <= 10 else "tab20" if count <= 20 else "hsv"
    picked = np.arange(count) if count <= 20 else np.arange(count) / count
    return np.vstack([colormaps[name](picked)[:, :3], [[_UNCOLORED] * 3]])


def _entries(J: Any) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    """Return the rows and columns of entries, and the shape of a matrix."""
    if hasattr(J, "tocoo"):
        found = J.tocoo()
        return found.row, found.col, found.shape
    array = np.asarray(J)
    if array.ndim != 2:
        raise ArgTypeError(f"spy: expected a matrix, got an array of shape {array.shape}")
    return *np.nonzero(array), array.shape  # type: ignore[return-value]


def _coloring(colors: Any, mode: str | None, shape: tuple[int, int]) -> Any:
    from ..sparse.coloring import Coloring

    is_pair = isinstance(colors, (tuple, list)) and len(colors) == 2 and np.ndim(colors[0]) == 1
    if mode is None:
        is_of_rows = not is_pair and len(colors) == shape[0] != shape[1]
        mode = "bidirectional" if is_pair else "row" if is_of_rows else "column"
    if mode not in _KINDS:
        raise ArgTypeError(f"spy: mode must be one of {', '.join(_KINDS)}, got {mode!r}")
    if is_pair != (mode == "bidirectional"):
        raise ArgTypeError("spy: colors must be a pair, of rows and columns, if bidirectional")
    none = [np.full(size, -1) for size in shape]
    by = colors if is_pair else (colors, none[1]) if mode == "row" else (none[0], colors)
    given = [np.asarray(part) for part in by]
    for what, part, size in zip(("rows", "columns"), given, shape, strict=True):
        if part.shape != (size,) or part.dtype.kind not in "iu":
            raise ValueError(
                f"spy: there are {size} {what}, and their colors have shape {part.shape} and dtype "
                f"{part.dtype}; give an integer for each"
            )
    return Coloring(given[0], given[1])


def _draw(
    ax: Any, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int], coloring: Any
) -> None:
    m, n = shape
    ax.set(
        xlim=(-0.5, n - 0.5), ylim=(m - 0.5, -0.5), aspect="equal" if 0.2 <= m / n <= 5 else "auto",
        xlabel=f"{n:,} columns", ylabel=f"{m:,} rows", title=f"{rows.size:,} entries",
    ) if m and n else ax.set(title="no entries")  # fmt: skip
    if not rows.size:
        return
    height, width = (
        min(size, max(int(pixels) // _CELL, 1))
        for size, pixels in ((m, ax.bbox.height), (n, ax.bbox.width))
    )
    cells = (rows.astype(np.int64) * height // m) * width + columns.astype(np.int64) * width // n
    counts = np.bincount(cells, minlength=height * width)
    picture = np.zeros((height * width, 4))
    if coloring is not None:
        chosen = _palette(coloring.passes)[_colors_of(coloring, rows, columns)]
        for k in range(3):
            sums = np.bincount(cells, chosen[:, k], height * width)
            picture[:, k] = sums / np.maximum(counts, 1)
    picture[:, 3] = np.where(counts, _FAINTEST + (1 - _FAINTEST) * counts / counts.max(), 0.0)
    ax.imshow(
        picture.reshape(height, width, 4), extent=(-0.5, n - 0.5, m - 0.5, -0.5),
        aspect=ax.get_aspect(), interpolation="nearest",
    )  # fmt: skip


def _legend(ax: Any, coloring: Any) -> None:
    from matplotlib.patches import Patch  # pyright: ignore[reportMissingImports]

    palette, handles, numbers = _palette(coloring.passes), [], []
    of_rows = "rows", coloring.rows, coloring.n_rows
    of_columns = "columns", coloring.columns, coloring.n_columns
    for what, colors, count in (of_rows, of_columns):
        if not count:
            continue
        numbers.append(f"{count} of {what}")
        for color, size in enumerate(np.bincount(colors[colors >= 0], minlength=count)):
            handles.append(Patch(color=palette[len(handles)], label=f"{color}: {size:,} {what}"))
    title = f"colors: {', '.join(numbers)}"
    if len(handles) > _MOST_NAMED:
        title += f"\nthe first {_MOST_NAMED}:"
    ax.legend(
        handles=handles[:_MOST_NAMED], title=title, loc="upper left", bbox_to_anchor=(1.0, 1.0),
        fontsize="small", title_fontsize="small",
    )  # fmt: skip
