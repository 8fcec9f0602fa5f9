"""The command line: arguments in, report out."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

DESCRIPTION = """\
Fit the Lotka-Volterra equations to the yearly hare and lynx pelts of the Hudson's Bay Company.

The populations are simulated with Runge-Kutta steps written in plain NumPy functions. SciPy's
least_squares gets the exact Jacobian of all residuals from one batched vector-Jacobian product.
The report gives the parameters with their standard errors, checks the Jacobian against finite
differences and compares its time with one product per row."""

EPILOG = """\
The first run compiles its kernels and keeps them on disk, where later runs find them.
Set NUMGRAD_CACHE_DIR to keep them elsewhere."""


def parser() -> argparse.ArgumentParser:
    """The arguments of ``python -m numgrad``."""
    top = argparse.ArgumentParser(
        prog="python -m numgrad",
        usage="%(prog)s [-h] [--plot FILE.png] [info | warm | check]",
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
    commands = top.add_subparsers(
        dest="command", metavar="COMMAND", title="other commands", prog="python -m numgrad"
    )
    commands.add_parser(
        "info",
        help="print what a bug report needs: versions, threads, SIMD math, kernel cache, CUDA",
        description="Print what a bug report needs.",
    )
    _add_warm(commands)
    _add_check(commands)
    return top


def _add_warm(commands: Any) -> None:
    warm = commands.add_parser(
        "warm",
        help="compile the kernels of all operators into the cache",
        description="Compile the kernels of all operators and of their derivatives into the cache.",
    )
    warm.add_argument(
        "--dtypes", default="float64", metavar="LIST",
        help="dtypes, separated by commas: float64 (the default), float32, complex128, complex64",
    )  # fmt: skip
    warm.add_argument("--all", action="store_true", help="all four dtypes")
    warm.add_argument("--jobs", type=_count, metavar="N", help="processes (default: one per CPU)")
    warm.add_argument("--operators", default="", metavar="LIST", help="these operators alone")
    gpu = warm.add_argument_group("kernels of a GPU, which need not be there")
    gpu.add_argument(
        "--capability", type=_capability, metavar="X.Y",
        help="run a program, and compile its kernels for GPUs of this compute capability",
    )  # fmt: skip
    gpu.add_argument(
        "--processors", type=_count, default=132, metavar="N",
        help="the multiprocessors of the GPU, on which some choices depend (default: 132)",
    )  # fmt: skip
    gpu.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="program.py ...",
        help="the program and its arguments",
    )  # fmt: skip
    gpu.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, metavar="module ...",
        help="a module and its arguments, in place of a program",
    )  # fmt: skip


def _add_check(commands: Any) -> None:
    check = commands.add_parser(
        "check",
        help="check derivatives of random programs on this machine",
        description="Check random programs: their derivatives, however they are computed, against "
        "finite differences of NumPy's values. What fails is printed as a program that runs.",
    )
    check.add_argument("--seconds", type=float, metavar="N", help="for how long (default: 60)")
    check.add_argument("--programs", type=_count, metavar="N", help="how many (default: any)")
    check.add_argument("--seed", type=int, metavar="N", help="of the first (default: a random one)")
    check.add_argument("--jobs", type=_count, default=1, metavar="N", help="processes (default: 1)")
    check.add_argument(
        "--fuse", choices=("some", "all", "none"), default="some",
        help="which programs are fused before they run, for which kernels are compiled",
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    options = parser().parse_args(arguments)
    try:
        status = _run(options)
        sys.stdout.flush()
        return status
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:  # whoever reads has enough, as head has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 0


def _run(options: argparse.Namespace) -> int:
    if options.command == "warm":
        return _warm(options)
    if options.command == "check":
        from . import programs

        return programs.run(
            options.seed, options.programs, options.seconds, options.fuse, options.jobs
        )
    return _info() if options.command == "info" else _fit(options.plot)


def _info() -> int:
    from .info import describe

    for name, fact in describe():
        print(f"{name:<18}{fact}")
    return 0


def _warm(options: argparse.Namespace) -> int:
    from . import warm

    if options.capability is not None:
        from . import warm_gpu

        command = options.program if options.module is None else ["-m", *options.module]
        return warm_gpu.run(options.capability, options.processors, command)
    if options.program or options.module is not None:
        print("warm: a program is run with --capability alone", file=sys.stderr)
        return 2
    dtypes = warm.DTYPES if options.all else _words(options.dtypes)
    unknown = [dtype for dtype in dtypes if dtype not in warm.DTYPES]
    if unknown or not dtypes:
        print(f"--dtypes: choose from {', '.join(warm.DTYPES)}", file=sys.stderr)
        return 2
    return warm.run(dtypes, options.jobs, _words(options.operators))


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"must be a positive number, got {text!r}")
    return int(text)


def _capability(text: str) -> tuple[int, int]:
    major, _, minor = text.partition(".")
    if not (major.isdecimal() and minor.isdecimal()):
        raise argparse.ArgumentTypeError(f"must be two numbers such as 9.0, got {text!r}")
    return int(major), int(minor)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _fit(picture: Path | None) -> int:
    if picture is not None:
        from .plot import check_plot_path

        if problem := check_plot_path(picture):
            print(problem, file=sys.stderr)
            return 2
    from .job import run

    return run(picture)
