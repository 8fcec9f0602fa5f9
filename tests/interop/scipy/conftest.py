"""Fixtures of the tests of solvers."""

import pytest

from numgrad.interop.scipy.implicit.factors import System


@pytest.fixture
def systems(monkeypatch):
    """The shapes of right hand sides that are solved, and how many matrices are factorised."""
    seen = {"solved": [], "factorised": 0}
    solve = System.solve

    def counted(self, rhs, transposed):
        seen["factorised"] += self._factors is None
        seen["solved"].append((rhs.shape, transposed))
        return solve(self, rhs, transposed)

    monkeypatch.setattr(System, "solve", counted)
    return seen
