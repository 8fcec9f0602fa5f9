"""Fixtures of the tests of the engine."""

import pytest

import numgrad as ng
from numgrad.engine import dispatch


@pytest.fixture
def often(monkeypatch):
    """Plans get their recorder when they are used for the first time, after they were learned."""
    monkeypatch.setattr(dispatch, "_OFTEN", 1)
    ng.set_flags()
    yield
    ng.set_flags()
