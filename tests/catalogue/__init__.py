"""What is judged of every scenario of `numgrad.testing.scenarios`: judges in groups, each with the
points and dtypes where it judges."""

import pytest

from numgrad.testing.scenarios import SCENARIOS

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


def over(*groups):
    """Run a test over all scenarios with each of these groups."""
    scenarios = pytest.mark.parametrize("scenario", SCENARIOS, ids=[s.name for s in SCENARIOS])
    named = pytest.mark.parametrize("group", groups)
    return lambda test: scenarios(named(test))
