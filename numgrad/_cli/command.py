"""The command line: arguments in, report out."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

DESCRIPTION = """\
Fit the Lotka-Volterra equations to the yearly hare and lynx pelts of the Hudson's Bay Company.

The populations are simulated with Runge-Kutta steps written in plain NumPy functions. SciPy's
least_squares gets the exact Jacobian of all residuals from one batched vector-Jacobian product.
The report gives the parameters with their standard errors, checks the Jacobian against finite
differences and compares its time with one product per row."""

EPILOG = """\
The first run compiles its kernels and keeps them on disk; later runs compile nothing.
Set NUMGRAD_CACHE_DIR to keep them elsewhere."""


def parser() -> argparse.ArgumentParser:
    """The arguments of ``python -m numgrad``."""
    top = argparse.ArgumentParser(
        prog="python -m numgrad",
        usage="%(prog)s [-h] [--plot FILE.png] [info]",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument(
        "--plot",
        metavar="FILE.png",
        type=Path,
        help="also draw data and fit (needs Matplotlib: pip install 'numgrad[viz]')",
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", title="other commands")
    commands.add_parser(
        "info",
        help="print what a bug report needs: versions, threads, SIMD math, kernel cache, CUDA",
        description="Print what a bug report needs.",
    )
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = parser().parse_args(arguments)
    try:
        return _info() if options.command == "info" else _fit(options.plot)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130


def _info() -> int:
    from .info import describe

    for name, fact in describe():
        print(f"{name:<18}{fact}")
    return 0


def _fit(picture: Path | None) -> int:
    if picture is not None:
        from .plot import check_plot_path

        if problem := check_plot_path(picture):
            print(problem, file=sys.stderr)
            return 2
    from .job import run

    return run(picture)
