"""Compare calls in one process with calls in new ones: ``python -m tests.properties.state passes``.

A call whose result differs is printed with the fewest earlier calls that are needed.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from . import captured, passes
from .answers import Call, Case, shown
from .processes import Process

SUBJECTS = {"passes": passes, "captured": captured}
CALLS = 2000
"""How many calls a process answers before another one takes its place."""


class Comparison:
    """Calls, and what processes without a past answer to them.

    Parameters
    ----------
    call, draw : callable
        What makes a call, and what draws calls.
    rng : Random
        Chooses the cases of which a new process is asked at once.
    share : float
        The share of the cases of which a new process is asked at once; of the others the first
        answer is the expected one, and a new process is asked when another answer differs.
    """

    def __init__(
        self, call: Call, draw: Callable[[], list[Case]], rng: Random, share: float
    ) -> None:
        self._call, self._draw, self._rng, self._share = call, draw, rng, share
        self._expected: dict[str, Any] = {}
        self.calls = 0

    def fresh(self, case: Case, before: list[Case] | None = None) -> Any:
        """Return the answer of a new process, after some calls."""
        with Process(self._call) as process:
            return process.answers([*(before or []), case])[-1]

    def differences(self, calls: int) -> Iterator[tuple[list[Case], Case, Any, Any]]:
        """Make calls; of each case that differs, give the earlier calls, the case and the two
        answers."""
        while self.calls < calls:
            past: list[Case] = []
            with Process(self._call) as process:
                while len(past) < CALLS and self.calls < calls:
                    cases = self._draw()
                    answers = process.answers(cases)
                    yield from self._compared(past, cases, answers)
                    past += cases
                    self.calls += len(cases)

    def _compared(self, past: list[Case], cases: list[Case], answers: list[Any]) -> Iterator[Any]:
        reported = set()
        for n, (case, found) in enumerate(zip(cases, answers, strict=True)):
            name = repr(case)
            if name not in self._expected:
                judged = self._rng.random() < self._share
                self._expected[name] = self.fresh(case) if judged else found
            if found != self._expected[name] and name not in reported:
                self._expected[name] = self.fresh(case)
                if found != self._expected[name]:
                    reported.add(name)
                    yield [*past, *cases[:n]], case, found, self._expected[name]

    def fewest(self, past: list[Case], case: Case) -> list[Case]:
        """Return few of the earlier calls after which the answer still differs."""
        expected = self._expected[repr(case)]
        size = (len(past) + 1) // 2
        while size:
            start = 0
            while start < len(past):
                shorter = past[:start] + past[start + size :]
                if self.fresh(case, shorter) != expected:
                    past = shorter
                else:
                    start += size
            size //= 2
        return past


def report(comparison: Comparison, difference: Any) -> None:
    """Print a difference and the calls that lead to it."""
    past, case, found, expected = difference
    print("DIFFERS", case[0], dict(case[1]))
    print("  found   ", shown(found), "\n  expected", shown(expected))
    few = comparison.fewest(past, case)
    print(f"  after {len(few)} calls:")
    for name, choices in few:
        usual = dict(case[1]) if name == case[0] else {}
        others = {key: v for key, v in choices if repr(v) != repr(usual.get(key, usual))}
        print("    the same call with" if usual else f"    {name} with", others)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if a result differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--name", help="of the only program to call")
    parser.add_argument("--axes", nargs="*", default=[], help="the only ones to vary")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.2, help="of cases judged at once")
    parser.add_argument("--plant", choices=PLANTED, help="a fault that has to be found")
    args = parser.parse_args(arguments)
    if args.plant:
        PLANTED[args.plant]()
    subject, rng = SUBJECTS[args.subject], Random(args.seed)
    comparison = Comparison(
        subject.call, lambda: subject.draw(rng, args.name, args.axes), rng, args.share
    )
    for difference in comparison.differences(args.calls):
        report(comparison, difference)
        return 1
    print(f"{comparison.calls} calls, no difference")
    return 0


def _forget_slots() -> None:
    from numgrad.engine.replay.structure_walk import Track

    walk = Track.walk

    def walk_without_slots(track: Any, roots: Any) -> Any:
        track.slots = None
        return walk(track, roots)

    Track.walk = walk_without_slots


def _forget_names() -> None:
    from numgrad.func.guards.name_check import NameCheck

    NameCheck.function = lambda _: lambda: True


PLANTED: dict[str, Callable[[], None]] = {"slots": _forget_slots, "names": _forget_names}
"""Faults by name: a pass that takes one output of an operator for another one; a captured function
that does not see a name bound anew."""


if __name__ == "__main__":
    sys.exit(main())
