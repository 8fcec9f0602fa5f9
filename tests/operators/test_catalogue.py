"""The catalogue of scenarios is complete, and every operator satisfies what the judges of values and
of first and second derivatives ask."""

from collections import Counter

import pytest

from numgrad._declare import registry
from numgrad.testing.scenarios import NONDIFFERENTIABLE, SCENARIOS, scenarios_of

from ..catalogue import GROUPS, judged, over

COUNTS = {}  # of triples


def test_every_operator_has_a_scenario():
    missing = [name for name in sorted(registry) if not scenarios_of(name)]
    assert missing == [], "add scenarios to their chapters in numgrad/testing/scenarios"


def test_names_of_scenarios_are_unique():
    names = [s.name for s in SCENARIOS]
    assert len(names) == len(set(names))


def test_operators_without_derivative_are_listed():
    assert {
        name for name, operator in registry.items() if not operator.differentiable
    } == NONDIFFERENTIABLE


def test_no_less_is_judged():
    """Triples of judge, point and dtype: an operator more adds to them, nothing takes from them."""
    judges = [judge for group in GROUPS.values() for judge in group]
    counts = Counter({j.name: sum(len(list(j.places(s))) for s in SCENARIOS) for j in judges})
    assert {name: counts[name] for name, n in COUNTS.items() if counts[name] < n} == {}


@over("applications", "values", "derivatives")
def test_operators_satisfy(scenario, group):
    judged(scenario, GROUPS[group])
