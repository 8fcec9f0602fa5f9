"""The checks of ``python -m numgrad.testing.cuda`` on a GPU, one test each."""

import pytest

from numgrad.testing.cuda.checks import CHECKS
from numgrad.testing.cuda.report import Skipped
from numgrad.testing.cuda.sizes import FULL

pytestmark = pytest.mark.timeout(3600)  # the first run compiles all kernels


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.name)
def test_a_gpu(check):
    try:
        check.run(FULL)
    except Skipped as reason:
        pytest.skip(str(reason))
