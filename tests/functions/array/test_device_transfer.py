"""Devices where there is no GPU and no simulator."""

import os
import re
import subprocess
import sys

import pytest

import numgrad as ng

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_ENABLE_CUDASIM") == "1", reason="with the simulator there is a device"
)


@pytest.mark.parametrize("make", [
    lambda: ng.tensor([1.0], device="cuda"), lambda: ng.ones(2, device="cuda:0"),
    lambda: ng.ones(2).cuda(), lambda: ng.ones(2).to("cuda"), lambda: ng.arange(3, device="cuda"),
])  # fmt: skip
def test_a_device_that_is_not_there_is_one_clear_line(make):
    with pytest.raises(ng.errors.DeviceError) as raised:
        make()
    text = str(raised.value)
    assert "'cuda:0'" in text
    assert ng.cuda.unavailable_reason() in text
    assert "\n" not in text


def test_the_processor_is_a_device():
    x = ng.tensor([1.0], device="cpu")
    assert x.to("cpu") is x.cpu() is x
    assert x.device == "cpu"
    assert ng.__array_namespace_info__().devices() == ("cpu",)


def test_why_there_is_no_device_is_one_line():
    assert not ng.cuda.is_available()
    assert ng.cuda.device_count() == 0
    reason = ng.cuda.unavailable_reason()
    assert "\n" not in reason
    assert "is not installed: pip install" in reason or "driver" in reason or "toolkit" in reason
    with pytest.raises(ng.errors.DeviceError, match=re.escape(reason)):
        ng.cuda.current_stream()


def test_names_of_devices_are_checked():
    for name in ("gpu", "cpu:1", "cuda:", 0):
        with pytest.raises(ng.errors.DeviceError, match="a device is"):
            ng.ones(2, device=name)


def test_nothing_of_cuda_is_imported():
    source = """
import sys
import numgrad as ng
try:
    ng.ones(2, device="cuda")
except ng.errors.DeviceError:
    pass
print([name for name in sys.modules if name.startswith(("numba.cuda", "cuda", "numba_cuda"))])
"""
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True,
        env={k: v for k, v in os.environ.items() if k != "NUMBA_ENABLE_CUDASIM"},
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
