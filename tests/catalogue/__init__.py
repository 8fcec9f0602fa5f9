"""What is judged of every scenario of `numgrad.testing.scenarios`: judges in groups, each with the
points and dtypes where it judges."""

import pytest

from numgrad.testing.scenarios import SCENARIOS
from tests.sampling import one_in

from . import applications, captured, derivatives, forward, mapped, passes, values
from .case import Case as Case
from .judge import Judge as Judge
from .judge import judged as judged

GROUPS: dict[str, tuple[Judge, ...]] = {
    "applications": applications.JUDGES,
    "values": values.JUDGES,
    "derivatives": derivatives.JUDGES,
    "passes": passes.JUDGES,
    "forward": forward.JUDGES,
    "captured": captured.JUDGES,
    "mapped": mapped.JUDGES,
}


def over(*groups, sampled=()):
    """Run a test over all scenarios with each of these groups.

    The groups that are ``sampled`` judge a third of the scenarios at each change, not all the same
    third.
    """
    cases = []
    for turn, group in enumerate((*groups, *sampled)):
        pairs = [pytest.param(s, group, id=f"{group}-{s.name}") for s in SCENARIOS]
        cases += one_in(3, pairs, turn) if group in sampled else pairs
    named = pytest.mark.parametrize(("scenario", "group"), cases)
    longer = pytest.mark.timeout(900)  # many judges, on a machine that has other things to do
    return lambda test: named(longer(test))
