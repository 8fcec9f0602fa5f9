"""Every operator satisfies what the judges of backward passes and of forward mode ask."""

from ..catalogue import judged, over, places_of


@over(passes=2, forward=6)
def test_operators_satisfy(scenario, group, precision):
    judged(scenario, places_of(scenario, group, precision))
