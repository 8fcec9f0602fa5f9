"""Check many random graphs: ``python -m tests.properties.many --graphs 20000 --fused 1000``.

Each process checks 100 graphs, so that no graph meets the caches of all the others, and a crash
costs no more. What fails is named by its seed: ``--only SEED`` checks it alone. Threads that wait
for one another do not spin, which on a busy machine costs more than small graphs themselves.
"""

import argparse
import subprocess
import sys
import traceback
from collections.abc import Sequence

from .random_graphs import draw_graph, pick_from
from .ways import Check


def check(seeds: Sequence[int], fuse: str) -> int:
    """Check the graphs of some seeds; return how many failed."""
    failed = 0
    for seed in seeds:
        try:
            Check(draw_graph(pick_from(seed)), fuse).run()
        except Exception:
            failed += 1
            print(f"FAILED --only {seed} --fuse {fuse}\n{traceback.format_exc()}", flush=True)
    return failed


def in_processes(first: int, count: int, size: int, fuse: str) -> int:
    """Check graphs in one process after the other; return how many failed."""
    failed = 0
    for start in range(first, first + count, size):
        stop = min(start + size, first + count)
        command = [sys.executable, "-m", __spec__.name, "--range", str(start), str(stop)]
        command += ["--fuse", fuse]
        found = subprocess.run(command, check=False).returncode
        if found < 0 or found > size:
            print(f"CRASHED with {found}: --range {start} {stop} --fuse {fuse}", flush=True)
            found = size
        failed += found
    print(f"{count} graphs from {first} on, fuse={fuse}: {failed} failed", flush=True)
    return failed


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=0, help="graphs that are not fused")
    parser.add_argument("--fused", type=int, default=0, help="graphs that are fused at once")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--size", type=int, default=100, help="graphs of a process")
    parser.add_argument("--fuse", choices=("never", "now"), default="never")
    parser.add_argument("--only", type=int, nargs="+", help="check these seeds here")
    parser.add_argument("--range", type=int, nargs=2, help="check the seeds in between here")
    args = parser.parse_args()
    if args.only or args.range:
        return check(args.only or range(*args.range), args.fuse)
    failed = in_processes(args.first, args.graphs, args.size, "never")
    return int(failed + in_processes(args.first, args.fused, args.size, "now") > 0)


if __name__ == "__main__":
    sys.exit(main())
