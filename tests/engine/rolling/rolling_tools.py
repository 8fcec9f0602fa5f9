"""Functions that are run with their loops rolled and without, and compared bit for bit."""

import numpy as np
import optree
import pytest

import numgrad as ng
from numgrad.engine.lower import executable
from numgrad.engine.lower.verify import check_program
from numgrad.engine.rolling import roll


class Rolled:
    """The programs with loops that were made, and what they have."""

    def __init__(self):
        self.programs = []

    @property
    def loops(self):
        """The loops of all programs."""
        instructions = [i for program in self.programs for i in program.instructions]
        return [i for i in instructions if i.name.startswith("loop[")]

    def check(self, function, *arrays, loops=None):
        """Compare the bits of a captured function, rolled and not; return the results.

        ``loops`` is the number of loops that there must be, if it is given.
        """
        self.programs.clear()
        expected = ng.jit(function, fuse="never")(*arrays)
        assert not self.programs
        found = ng.jit(function, fuse="now")(*arrays)
        assert_same_bits(found, expected)
        if loops is not None:
            assert len(self.loops) == loops
        return found


def assert_same_bits(one, other):
    pairs = zip(optree.tree_leaves(one), optree.tree_leaves(other), strict=True)
    for a, b in pairs:
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype
        assert a.tobytes() == b.tobytes()


@pytest.fixture
def rolled(monkeypatch):
    """The loops that are made from now on, those of few turns and instructions as well."""
    monkeypatch.setattr(roll, "FEWEST_TURNS", 6)
    monkeypatch.setattr(roll, "FEWEST_INSTRUCTIONS", 12)
    made, find = Rolled(), executable.rolled

    def noted(program, target):
        found = find(program, target)
        if found is not None:
            check_program(found)
            made.programs.append(found)
        return found

    monkeypatch.setattr(executable, "rolled", noted)
    return made
