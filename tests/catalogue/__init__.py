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


PRECISIONS = {"double": ("float64", "complex128"), "single": ("float32", "complex64", "float16")}
"""Parts of what is judged: kernels of another precision are other kernels."""


def places_of(scenario, group, precision):
    """Return the judges of a group, each with the points and dtypes of one precision."""
    dtypes = PRECISIONS[precision]
    kept = [(one, [p for p in one.places(scenario) if p[1] in dtypes]) for one in GROUPS[group]]
    return [pair for pair in kept if pair[1]]


def over(**groups):
    """Run a test over all scenarios with each of these groups, in each precision.

    The number after a group says how many scenarios there are for one that it judges at each
    change, not all the same ones. In single precision it judges a twelfth of these, all the same
    scenarios, because they share kernels.
    """
    cases = []
    for turn, (group, every) in enumerate(groups.items()):
        cases += one_in(every, _cases(group, "double", ""), turn)
        cases += one_in(12 * every, _cases(group, "single", "-single"))
    named = pytest.mark.parametrize(
        ("scenario", "group", "precision"), [case for case in cases if places_of(*case.values)]
    )
    longer = pytest.mark.timeout(900)  # many judges, on a machine that has other things to do
    return lambda test: named(longer(test))


def _cases(group, precision, suffix):
    names = [(s, f"{group}-{s.name}{suffix}") for s in SCENARIOS]
    return [pytest.param(s, group, precision, id=name) for s, name in names]
