"""Fixtures of the tests of the engine."""

import pytest

import numgrad as ng
from numgrad.engine.differentiate import backward
from numgrad.engine.record import dispatch
from numgrad.engine.replay import plan_cache


@pytest.fixture
def often(monkeypatch):
    """Plans get their recorder when they are used for the first time, after they were learned."""
    monkeypatch.setattr(dispatch, "_OFTEN", 1)
    ng.set_flags()
    yield
    ng.set_flags()


@pytest.fixture
def forgotten():
    """No pass is known, before or after."""
    plan_cache.forget()
    yield
    plan_cache.forget()


@pytest.fixture
def searches(monkeypatch):
    """The passes over graphs that were searched for their nodes."""
    found, search = [], backward.reachable
    monkeypatch.setattr(backward, "reachable", lambda *a: found.append(a) or search(*a))
    return found
