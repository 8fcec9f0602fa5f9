"""Every operator satisfies what the judges of backward passes and of forward mode ask."""

from ..catalogue import GROUPS, judged, over


@over("passes", sampled=("forward",))
def test_operators_satisfy(scenario, group):
    judged(scenario, GROUPS[group])
