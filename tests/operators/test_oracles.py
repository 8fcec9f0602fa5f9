"""Values and derivatives against the stored numbers of torch; see ``tests/oracles/generate.py``."""

import json
from functools import cache

import numpy as np
import pytest

from numgrad.func.gradients import pull
from numgrad.testing.scenarios import CHAPTERS
from numgrad.testing.subject import Subject, value

from ..oracles.cases import FOLDER, cases, decode, direction, fingerprint

PRECISION = 1e-11
ZERO = 5e-15  # what one library computes as zero the other may compute as a rounding error

# torch's trigamma has ten correct digits: at 0.3 it is 12.245364545, and in truth 12.2453645461077.
LESS_PRECISE = {"gammaln": 1e-9, "digamma": 1e-9}


@cache
def stored(chapter):
    path = FOLDER / f"{chapter}.json"
    return json.loads(path.read_text()) if path.exists() else {}


CASES = [
    pytest.param(chapter, scenario, case, id=f"{scenario.name} {case.key}")
    for chapter, scenarios in CHAPTERS.items()
    for scenario in scenarios
    if scenario.order and scenario.oracle
    for case in cases(scenario)
]


@pytest.mark.parametrize(("chapter", "scenario", "case"), CASES)
def test_torch_agrees(chapter, scenario, case):
    expected = stored(chapter).get(scenario.name, {}).get(case.key)
    assert expected, "no stored numbers: run tests/oracles/generate.py"
    assert np.isclose(expected["inputs"], fingerprint(case.point), 1e-12), (
        "the scenario has changed: run generate.py"
    )
    subject = Subject(scenario.function, case.point)
    variables, outputs = subject.call()
    seeds = [direction(o, n) for n, o in enumerate(outputs)]
    gradients = pull(outputs, variables, seeds, graph=True)
    precision = LESS_PRECISE.get(scenario.name, PRECISION)
    compare("value", [value(o) for o in outputs], expected["value"], precision)
    compare("gradient", [value(g) for g in gradients], expected["gradient"], precision)
    if "second" in expected:
        compare(
            "second derivative",
            along_directions(gradients, variables),
            expected["second"],
            precision,
        )


def along_directions(gradients, variables):
    """Differentiate the gradients once more."""
    tangents = [direction(g, n, 0.53) for n, g in enumerate(gradients)]
    return [value(g) for g in pull(gradients, variables, tangents, graph=False)]


def compare(what, found, expected, precision):
    assert len(found) == len(expected)
    for a, numbers in zip(found, expected, strict=True):
        b = decode(numbers, a)
        scale = np.max(np.abs(b), initial=0.0, where=np.isfinite(b))
        np.testing.assert_allclose(a, b, precision, precision * scale + ZERO, err_msg=what)
