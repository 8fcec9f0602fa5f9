"""The corpus: each program computes with numgrad what it computes with NumPy, in every way."""

import pytest

from asv_benchmarks.corpus import agreement, libraries
from asv_benchmarks.corpus.libraries.numgrad import captured, eager
from asv_benchmarks.corpus.libraries.numpy import value
from asv_benchmarks.corpus.programs import PROGRAMS

import numpy as np


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_values_and_derivatives_are_those_of_numpy(program):
    problem = program.at(program.tiny)
    right = value(problem)
    found, derivatives = libraries.results(eager(problem)(0))
    assert found is None or agreement.difference([found], [right]) <= 1e-12
    expected = agreement.differences(problem)
    scale = max(np.abs(expected).max(), 1.0)
    assert np.abs(agreement.projected(problem, derivatives) - expected).max() <= 1e-5 * scale
    again, others = libraries.results(captured(problem, "never")(0))
    assert again is None or agreement.difference([again], [right]) <= 1e-12
    assert agreement.difference(others, derivatives) <= 1e-11
