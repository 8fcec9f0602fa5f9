"""The catalogue of scenarios is complete, and every operator satisfies what the judges of values
and of first and second derivatives ask."""

import re
from collections import Counter
from pathlib import Path

import pytest

from numgrad._declare import registry
from numgrad.testing.scenarios import NONDIFFERENTIABLE, SCENARIOS, scenarios_of

from ..catalogue import GROUPS, PRECISIONS, judged, over, places_of
from ..catalogue.judge import judge, two_in_one

JUDGED = {  # how many pairs of a point and a dtype, over all scenarios
    "operators": 731,
    "known_order": 631,
    "repeated_order": 631,
    "value": 2508,
    "half": 110,
    "program": 2764,
    "layout": 353,
    "first_derivative": 965,
    "second_derivative": 932,
    "precision": 485,
    "no_elements": 526,
    "batched": 1300,
    "threads": 309,
    "layout_of_gradient": 309,
    "recorded": 970,
    "forward": 1300,
    "batched_tangents": 970,
    "orders_of_modes": 932,
    "captured_tangents": 309,
    "captured": 935,
    "gradient_through_replay": 309,
    "gradient_inside": 309,
    "mapped": 1433,
    "gradient_through_map": 1264,
    "mapped_reverse_jacobians": 620,
    "mapped_forward_jacobians": 620,
    "reverse_jacobian_of_map": 620,
    "forward_jacobian_of_map": 620,
    "shared_operands": 231,
}


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
    """A new scenario adds to the triples of judge, point and dtype; nothing takes any away."""
    judges = [judge for group in GROUPS.values() for judge in group]
    found = Counter(j.name for j in judges for s in SCENARIOS for _ in j.places(s))
    assert {name: found[name] for name, count in JUDGED.items() if found[name] < count} == {}


def test_precisions_are_all_that_is_judged():
    for name, group in GROUPS.items():
        for s in SCENARIOS:
            parts = [places_of(s, name, precision) for precision in PRECISIONS]
            found = Counter((j.name, *p) for part in parts for j, places in part for p in places)
            assert found == Counter((j.name, *p) for j in group for p in j.places(s))


def test_every_judge_is_asked_by_one_test():
    names = [judge.name for group in GROUPS.values() for judge in group]
    assert sorted(names) == sorted(JUDGED)
    groups = []
    for path in Path(__file__).parents[1].glob("*/test_catalogue*.py"):
        for arguments in re.findall(r"^@over\((.*)\)", path.read_text(), re.MULTILINE):
            groups += re.findall(r"(\w+)=", arguments)
    assert sorted(groups) == sorted(GROUPS)


def test_objections_name_judge_point_and_dtype():
    @judge(two_in_one)
    def strict(case):
        assert case.number == 5

    scenario = SCENARIOS[0]
    name, dtype = scenario.name, scenario.dtypes[-1]
    with pytest.raises(ExceptionGroup, match=f"{name}: 2 objections") as caught:
        judged(scenario, [(strict, strict.places(scenario))])
    notes = [note for error in caught.value.exceptions for note in error.__notes__]
    assert notes == [f"judge strict: {name} at point {n} in {dtype}" for n in range(2)]


@over(values=1, derivatives=1, applications=6)
def test_operators_satisfy(scenario, group, precision):
    judged(scenario, places_of(scenario, group, precision))
