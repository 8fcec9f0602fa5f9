"""A scenario at one of its points in a dtype, with what judges ask of it computed once."""

from functools import cached_property

import numgrad as ng
from numgrad._tensor import Tensor
from numgrad.engine.graph.value import ForeignStorage
from numgrad.testing.subject import Subject


class Family:
    """The cases of a scenario, one for each point and dtype that is asked for.

    Attributes
    ----------
    scenario : Scenario
    kept : dict
        What judges of all cases have in common, by its name.
    """

    def __init__(self, scenario):
        self.scenario = scenario
        self.kept = {}
        self._cases = {}

    def case(self, number, dtype):
        key = number, dtype
        if key not in self._cases:
            self._cases[key] = Case(self, number, dtype)
        return self._cases[key]


class Case:
    """A scenario at a point in a dtype.

    Attributes
    ----------
    family : Family
        The other cases of the scenario, for judges that compare two of them.
    number : int
        Of the point.
    dtype : str
    kept : dict
        What judges have computed, by its name.
    """

    def __init__(self, family, number, dtype):
        self.family, self.number, self.dtype = family, number, dtype
        self.kept = {}

    def __str__(self):
        return f"{self.scenario.name} at point {self.number} in {self.dtype}"

    @property
    def scenario(self):
        return self.family.scenario

    @property
    def exact(self):
        return self.scenario.exact

    @property
    def subject(self):
        return Subject(self.scenario.function, self.arrays, self.scenario.name)

    @cached_property
    def arrays(self):
        return self.scenario.at(self.scenario.points[self.number], self.dtype)

    @cached_property
    def values(self):
        """The outputs, computed at once and recorded for nothing."""
        return evaluate(self.scenario, self.arrays)

    @cached_property
    def floating(self):
        """Which arguments are differentiated."""
        return tuple(n for n, a in enumerate(self.arrays) if a.dtype.kind in "fc")


def several(result):
    """Return the results of a function as a tuple."""
    return result if isinstance(result, tuple) else (result,)


def evaluate(scenario, arrays):
    """Return the outputs as a tuple of arrays."""
    with ng.no_grad():
        result = scenario.function(*[Tensor(a, False, ForeignStorage()) for a in arrays])
    return tuple(r.numpy() for r in several(result))
