"""Data and fit in one picture; Matplotlib is imported only here, and only when it is asked for."""

from pathlib import Path

import numpy as np

from numgrad.data import Pelts

from .fit import Fit
from .population import STEPS_PER_YEAR, simulate


def check_plot_path(path: Path) -> str | None:
    """Why ``path`` cannot be drawn to, or None; asked before the fit, not after it."""
    try:
        # Optional, hence perhaps missing where types are checked.
        from matplotlib.backends import backend_agg  # pyright: ignore[reportMissingImports]
    except ImportError:
        return "--plot needs Matplotlib: pip install 'numgrad[viz]'"
    if not path.absolute().parent.is_dir():
        return f"--plot: there is no directory {path.parent}"
    if path.is_dir():
        return f"--plot: {path} is a directory"
    kinds = backend_agg.FigureCanvasAgg.get_supported_filetypes()
    if path.suffix.lstrip(".").lower() not in kinds:
        return f"--plot: {path.name} must end in one of {', '.join(sorted(kinds))}"
    return None


def draw(path: Path, pelts: Pelts, fit: Fit) -> None:
    """Draw the pelts as points and the fitted populations as curves."""
    from matplotlib.figure import Figure  # pyright: ignore[reportMissingImports]
    from matplotlib.ticker import MaxNLocator  # pyright: ignore[reportMissingImports]

    figure = Figure(figsize=(8.0, 4.5), layout="constrained")
    axes = figure.add_subplot()
    curves = simulate(fit.log_parameters, pelts.years.size - 1)
    times = pelts.years[0] + np.arange(len(curves)) / STEPS_PER_YEAR
    for column, (name, color) in enumerate([("hare", "tab:brown"), ("lynx", "tab:blue")]):
        points = pelts.populations[:, column]
        axes.plot(pelts.years, points, "o", color=color, label=f"{name}, pelts")
        axes.plot(times, curves[:, column], "-", color=color, label=f"{name}, fit")
    axes.set(xlabel="year", ylabel="thousands", title="Hare and lynx, Hudson's Bay Company")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend()
    figure.savefig(path, dpi=150)
