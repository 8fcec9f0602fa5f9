"""A plot of the memory of a program over its instructions; Matplotlib is imported at the first
plot."""

from os import PathLike

import numpy as np

from .measured import Measured

_MIB = 1 << 20


def draw(path: str | PathLike[str], program: Measured) -> None:
    """Draw the live bytes while each instruction runs, and the reserved bytes."""
    from matplotlib.figure import Figure  # pyright: ignore[reportMissingImports]

    live = program.live_bytes() / _MIB
    figure = Figure(figsize=(8.0, 4.0), layout="constrained")
    axes = figure.add_subplot()
    axes.stairs(live, np.arange(len(live) + 1), fill=True, alpha=0.5, label="in use")
    axes.axhline(program.peak_bytes / _MIB, color="black", linestyle=":", label="reserved")
    axes.axhline(program.result_bytes / _MIB, color="tab:red", linestyle="--", label="results")
    fused = ", fused" if program.fused else ""
    axes.set(
        xlabel="instruction", ylabel="MiB", xlim=(0, max(len(live), 1)), ylim=(0, None),
        title=f"program {program.number}: batch {program.batch}{fused}, threads {program.threads}",
    )  # fmt: skip
    axes.legend()
    figure.savefig(path, dpi=150)
