"""The command: run the corpus in every library and print the distribution of the ratios."""

import argparse
import json
import os
import shlex
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ..peers import machine
from ..peers.report import duration
from . import report
from .libraries import LIBRARIES
from .programs import selected
from .rounds import Options, Row, measure, merged

USUAL = "numgrad,torch,jax"


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m asv_benchmarks.corpus", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="NAME",
        help="programs whose names hold one of these",
    )
    parser.add_argument(
        "--libraries", default=USUAL,
        help=f"of {', '.join(LIBRARIES)} ({USUAL}); torch.compile takes seconds for each program",
    )  # fmt: skip
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.008, help="of a round of a way (0.008)")
    parser.add_argument(
        "--quick", action="store_true", help="tiny sizes and two rounds: to see that it works"
    )
    parser.add_argument(
        "--twice", action="store_true",
        help="measure the worst again, which other work on the machine may have disturbed",
    )  # fmt: skip
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument(
        "--limit", type=float, default=20.0, help="seconds to the first result of a way (20)"
    )
    parser.add_argument("--worst", type=int, default=10, help="rows of the tables of worst")
    parser.add_argument(
        "--statistic", choices=("best", "median"), default="best",
        help="of the rounds: the fastest, which other work on the machine disturbs least",
    )  # fmt: skip
    parser.add_argument("--json", type=Path, help="a file for everything that was measured")
    parser.add_argument("--before", type=Path, help="such a file, to compare this run with")
    parser.add_argument("--output", type=Path, help="a file for the tables")
    return parser


def chosen_libraries(names: str) -> tuple[str, ...]:
    """Return the libraries that were asked for; numgrad always."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in LIBRARIES]
    if unknown:
        raise SystemExit(f"no library {unknown[0]}; there are {', '.join(LIBRARIES)}")
    return tuple(name for name in LIBRARIES if name == "numgrad" or name in wanted)


def say(row: Row) -> None:
    times = ", ".join(f"{way} {duration(seconds)}" for way, seconds in row.best.items())
    wrong = ", ".join(f"{way}: {reason}" for way, reason in row.reasons.items())
    print(f"{row.name}: {times}{'; ' if wrong else ''}{wrong}", file=sys.stderr, flush=True)


def run(options: argparse.Namespace, command: str) -> dict[str, Any]:
    """Measure the programs that were asked for."""
    how = Options(
        chosen_libraries(options.libraries),
        2 if options.quick else options.rounds,
        options.seconds,
        options.threads,
        options.limit,
        options.quick,
    )
    programs = selected(options.only)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(programs, Path(folder), how, say)
        doubtful = report.worst_names(rows, options.worst, options.statistic)
        again = [program for program in programs if program.name in doubtful]
        rows = merged(rows, measure(again if options.twice else [], Path(folder), how, say))
    facts = machine.facts(options.threads, command)
    return {"machine": facts, "seconds": time.perf_counter() - began, "rows": rows}


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    reason = machine.refusal(dict(os.environ), "asv_benchmarks.corpus")
    if reason:
        print(reason, file=sys.stderr)
        return 2
    measured = run(options, shlex.join(["python", "-m", "asv_benchmarks.corpus", *arguments]))
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1) + "\n")
    tables = report.markdown(measured, options.worst, options.statistic)
    if options.output:
        options.output.write_text(tables + "\n")
    print(tables)
    if options.before:
        before = json.loads(options.before.read_text())
        print(report.changes(before, measured, options.worst, options.statistic))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
