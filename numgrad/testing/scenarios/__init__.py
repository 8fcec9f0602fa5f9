"""The catalogue of scenarios: the calls that tests, benchmarks and documentation run over.

There is a module for each chapter of operators. A new operator belongs in the list of its chapter;
the tests of the registry fail for an operator without a scenario.
"""

from . import (
    elementwise,
    factorizations,
    fourier,
    linalg,
    nondifferentiable,
    reduction,
    sequences,
    shape,
    slopes,
    sparse,
    special,
)
from .nondifferentiable import NONDIFFERENTIABLE as NONDIFFERENTIABLE
from .scenario import Scenario as Scenario

CHAPTERS: dict[str, tuple[Scenario, ...]] = {
    "elementwise": elementwise.SCENARIOS,
    "special": special.SCENARIOS,
    "slopes": slopes.SCENARIOS,
    "reduction": reduction.SCENARIOS,
    "sequences": sequences.SCENARIOS,
    "shape": shape.SCENARIOS,
    "fourier": fourier.SCENARIOS,
    "linalg": (*linalg.SCENARIOS, *factorizations.SCENARIOS),
    "sparse": sparse.SCENARIOS,
    "nondifferentiable": nondifferentiable.SCENARIOS,
}
SCENARIOS = tuple(scenario for chapter in CHAPTERS.values() for scenario in chapter)


def scenarios_of(operator: str) -> list[Scenario]:
    """Return the scenarios of the registered operator with this name."""
    return [scenario for scenario in SCENARIOS if operator in scenario.operators]
