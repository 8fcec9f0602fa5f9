"""``python -m numgrad check``: what it prints, and its exit status."""

from collections import Counter
from concurrent.futures.process import BrokenProcessPool

import pytest

from numgrad._cli import programs
from numgrad._cli.command import main, parser
from numgrad.testing.fuzzing.running import Tally


class Inline:
    """A pool whose work is done at once, in this process."""

    def __init__(self, *args, **options):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *args):
        pass

    def submit(self, function, *args):
        future = programs.Future()
        try:
            future.set_result(function(*args))
        except BrokenProcessPool as error:
            future.set_exception(error)
        return future


@pytest.fixture
def inline(monkeypatch):
    monkeypatch.setattr(programs, "ProcessPoolExecutor", Inline)


def test_programs_are_checked_in_another_process(capsys):
    assert main(["check", "--programs", "3", "--seed", "0", "--fuse", "none"]) == 0
    assert "3 programs from seed 0: " in capsys.readouterr().out


def test_a_number_of_programs_is_checked_in_shares(inline, monkeypatch, capsys):
    shares = []

    def check(seeds, fuse, end):
        shares.append(seeds)
        return Tally(Counter(right=len(seeds)))

    monkeypatch.setattr(programs, "check", check)
    assert main(["check", "--programs", "25", "--seed", "7"]) == 0
    assert [n for seeds in shares for n in seeds] == list(range(7, 32))
    assert capsys.readouterr().out == "25 programs from seed 7: 25 right\n"


def test_what_fails_is_printed(inline, monkeypatch, capsys):
    found = Tally(Counter(right=1, wrong=1), ["# program 1: wrong\nimport numpy as np\n"])
    monkeypatch.setattr(programs, "check", lambda *args: found)
    assert main(["check", "--programs", "2", "--seed", "0"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("# program 1: wrong\nimport numpy as np\n")
    assert text.endswith("1 right, 1 wrong; 1 failed: please report the programs above\n")


def test_a_crash_is_a_failure_and_the_others_are_checked(inline, monkeypatch, capsys):
    def check(seeds, fuse, end):
        if 3 in seeds:
            raise BrokenProcessPool
        return Tally(Counter(right=len(seeds)))

    monkeypatch.setattr(programs, "check", check)
    assert main(["check", "--programs", "60", "--seed", "0"]) == 1
    text = capsys.readouterr().out
    assert "ended while it checked one of the programs 0 to " in text
    assert "right" in text


def test_it_takes_a_minute_unless_told(monkeypatch):
    given = []
    monkeypatch.setattr(programs, "run", lambda *args: given.append(args) or 0)
    assert main(["check"]) == 0
    assert main(["check", "--seconds", "5", "--seed", "3", "--jobs", "2"]) == 0
    assert given == [(None, None, None, "some", 1), (3, None, 5.0, "some", 2)]
    assert parser().parse_args(["check"]).seconds is None


def test_time_ends_it(inline, monkeypatch, capsys):
    monkeypatch.setattr(programs, "check", lambda *args: Tally(Counter(right=10)))
    assert main(["check", "--seconds", "0.01", "--seed", "0"]) == 0
    assert "programs from seed 0" in capsys.readouterr().out
