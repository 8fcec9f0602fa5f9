"""The plots: every system's time over that of the hand-written adjoint, on a logarithmic axis; and
the times of one workload, the Jacobian of a simulation, as bars."""

from pathlib import Path
from typing import Any

from .report import HAND_WRITTEN, duration, limit

FAMILIES = {
    "numgrad": "tab:red",
    "torch": "tab:orange",
    "jax": "tab:blue",
    "autograd": "tab:green",
    "pytensor": "tab:purple",
}


def draw(measured: dict[str, Any], path: Path) -> str:
    """Write the picture; return a line that says so, or why not."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "no picture: Matplotlib is not installed"
    workloads = measured["workloads"]
    figure = Figure(figsize=(9, 0.75 * len(workloads) + 1.6), layout="constrained")
    axes = figure.add_subplot()
    for place, workload in enumerate(workloads):
        _points(axes, len(workloads) - 1 - place, workload["rows"])
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(workloads)), [w["key"] for w in reversed(workloads)])
    axes.set_xlabel("time of a call / time of the adjoint written by hand")
    axes.grid(axis="x", which="both", alpha=0.3)
    _legend(axes)
    figure.savefig(path, dpi=120)
    return f"wrote {path}"


def draw_front(measured: dict[str, Any], path: Path, key: str = "W2") -> str:
    """Write the picture of one workload's times; return a line that says so, or why not."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return "no picture: Matplotlib is not installed"
    workload = next((w for w in measured["workloads"] if w["key"] == key), None)
    if workload is None:
        return f"no picture of {key}: it was not measured"
    rows = sorted((r for r in workload["rows"] if r["steady"]), key=lambda r: -r["steady"])
    figure = Figure(figsize=(6.4, 0.36 * len(rows) + 0.9), layout="constrained")
    _bars(figure.add_subplot(), rows)
    figure.suptitle(workload["title"], fontsize="medium")
    figure.savefig(path, metadata={"Date": None})
    return f"wrote {path}"


def _bars(axes: Any, rows: list[dict[str, Any]]) -> None:
    milliseconds = [1e3 * row["steady"] for row in rows]
    families = [row["system"].split()[0].split(".")[0] for row in rows]
    colours = [FAMILIES.get(family, "tab:gray") for family in families]
    bars = axes.barh([row["system"] for row in rows], milliseconds, color=colours)
    axes.bar_label(bars, [duration(row["steady"]) for row in rows], padding=4)
    axes.set_xscale("log")
    axes.set_xlim(right=4 * max(milliseconds))
    axes.set_xlabel("time of a call, milliseconds")
    axes.spines[["top", "right"]].set_visible(False)


def _points(axes: Any, height: int, rows: list[dict[str, Any]]) -> None:
    hand = limit(rows)["steady"]
    for row in rows:
        family = row["system"].split()[0].split(".")[0]
        if not hand or not row["steady"] or row["system"].startswith(HAND_WRITTEN):
            continue
        own = family == "numgrad"
        filled = not (own and "unfused" in row["system"])
        colour = FAMILIES[family]
        # Peers above the line and numgrad on it, so that neither hides the other.
        axes.plot(
            row["steady"] / hand,
            height + (0.0 if own else 0.25),
            marker="D" if own else "o",
            color=colour,
            markerfacecolor=colour if filled else "white",
            linestyle="none",
        )


def _legend(axes: Any) -> None:
    for family, colour in FAMILIES.items():
        marker = "D" if family == "numgrad" else "o"
        label = "numgrad (hollow: unfused)" if family == "numgrad" else family
        axes.plot([], [], marker, color=colour, label=label)
    axes.legend(loc="lower right", fontsize="small")
