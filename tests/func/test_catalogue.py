"""Every operator satisfies what the judges of captured and of mapped functions ask."""

from ..catalogue import GROUPS, judged, over


@over(sampled=("captured", "mapped"))
def test_operators_satisfy(scenario, group):
    judged(scenario, GROUPS[group])
