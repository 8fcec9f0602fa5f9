"""Every operator satisfies what the judges of captured and of mapped functions ask."""

from ..catalogue import judged, over, places_of


@over(captured=6, mapped=6)
def test_operators_satisfy(scenario, group, precision):
    judged(scenario, places_of(scenario, group, precision))
