"""The command: measure the workloads and write a table, a plot and the raw figures."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import cold, machine, report
from .chart import draw, draw_front
from .rounds import Options, as_json, measure
from .task import Workload
from .workloads import selected


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m asv_benchmarks.peers", description=__doc__)
    parser.add_argument("--workloads", default="", help="W2,W3,...; all without it")
    parser.add_argument(
        "--peers", default=None, help="beginnings of names of systems (jax,torch); all without it"
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true", help="small sizes and three rounds")
    parser.add_argument(
        "--no-extras", action="store_true", help="neither cold start nor memory nor floors"
    )
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument(
        "--limit", type=float, default=90.0, help="seconds to the first result (90)"
    )
    parser.add_argument(
        "--statistic",
        choices=("median", "min"),
        default="median",
        help="of the rounds; the minimum where other work disturbs the machine",
    )
    parser.add_argument(
        "--keep-memory",
        action="store_true",
        help="the allocator of every system keeps freed memory: no page faults for new results",
    )
    parser.add_argument("--output", type=Path, default=Path("docs/peers"))
    return parser


def names(workload: Workload, peers: str | None) -> list[str]:
    """The systems of a workload that were asked for; numgrad always."""
    known = [*workload.systems, *workload.own]
    if peers is None:
        return known
    wanted = ("numgrad", *(p.strip() for p in peers.split(",") if p.strip()))
    return [name for name in known if name.startswith(wanted)]


def run(options: argparse.Namespace, command: str) -> dict[str, Any]:
    """Measure everything that was asked for."""
    rounds = min(options.rounds, 3) if options.quick else options.rounds
    limit = min(options.limit, 20.0) if options.quick else options.limit
    how = Options(rounds, options.threads, limit, options.quick, options.keep_memory)
    workloads = []
    with tempfile.TemporaryDirectory() as folder:
        for workload in selected(options.workloads):
            say(f"{workload.key}: {workload.title}")
            chosen = names(workload, options.peers)
            rows = as_json(measure(workload, chosen, Path(folder), how, say), options.statistic)
            workloads.append({"key": workload.key, "title": workload.title, "rows": rows})
            say(report.section(workloads[-1]))
    measured = {"machine": machine.facts(options.threads, command), "workloads": workloads}
    return measured if options.no_extras else measured | extras(how)


def extras(how: Options) -> dict[str, Any]:
    """Cold start, memory of a large batch and the floors, each in processes of its own."""
    say("cold start, memory, floors")
    rows = 64 if how.quick else 4096
    return {
        "cold": cold.measure(how.threads, 1 if how.quick else cold.REPEATS),
        "beyond": {"rows": rows, "mebibytes": float(_printed("memory", str(rows), how))},
        "floors": json.loads(_printed("floors", "", how)),
    }


def _printed(module: str, argument: str, how: Options) -> str:
    """What a module of this package prints when it is run."""
    return subprocess.run(
        [sys.executable, "-m", f"{__package__}.{module}", argument],
        env=machine.worker_environment(dict(os.environ), how.threads),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout


def say(text: str) -> None:
    print(text, flush=True)


def main(arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    reason = machine.refusal(dict(os.environ))
    if reason:
        print(reason, file=sys.stderr)
        return 2
    command = " ".join(["python -m asv_benchmarks.peers", *arguments])
    measured = run(options, command)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "peers.json").write_text(json.dumps(measured, indent=1) + "\n")
    (options.output / "peers.md").write_text(report.markdown(measured) + "\n")
    say(draw(measured, options.output / "peers.png"))
    say(draw_front(measured, options.output / "jacobian.svg"))
    say(report.summary(measured["workloads"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
