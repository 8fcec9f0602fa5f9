"""Every operator on the device: values, batched passes, first and second derivatives are those of
the processor."""

import pytest

from numgrad.testing.cuda.agreement import cases, compare

CASES = [pytest.param(*case, id=f"{case[0].name}-{case[1]}") for case in cases()]


@pytest.mark.parametrize(("scenario", "dtype"), CASES)
def test_a_device_computes_what_the_processor_does(scenario, dtype):
    compare(scenario, dtype)
