"""scikit-learn and SciPy, which take arrays of any library, differentiated through numgrad."""

import importlib.util
import json
import subprocess
import sys

import numpy as np
import pytest

from ..processes import ROOT, environment

NEEDED = ("sklearn", "array_api_compat")
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(missing), reason=f"needs {', '.join(missing)}: pip install numgrad[interop]"
)

NAMES = [
    "StandardScaler", "StandardScaler there and back", "Normalizer", "Normalizer l1",
    "Normalizer max", "MinMaxScaler", "MaxAbsScaler", "PolynomialFeatures",
    "PolynomialFeatures of interactions", "cosine_similarity", "cosine_similarity of two",
    "GaussianMixture", "GaussianMixture tied", "GaussianMixture diag", "GaussianMixture spherical",
    "GaussianMixture probabilities", "zscore", "zscore of rows",
]  # fmt: skip


@pytest.fixture(scope="module")
def answers():
    """Return what a process found that has told SciPy to take any arrays."""
    command = [sys.executable, "-m", "tests.robustness.process.dispatched"]
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_finite_differences(answers, name):
    answer = answers[name]
    assert "raised" not in answer, answer["raised"]
    assert answer["error"] < 1e-12
    np.testing.assert_allclose(answer["gradient"], answer["differences"], 1e-5, 1e-7)


def test_every_case_is_looked_at(answers):
    assert list(answers) == NAMES
