"""Every kernel of complex numbers compiles for GPUs, see `test_compiled`."""

import pytest

from . import compiling

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def lowered():
    return compiling.Lowered([k for k in compiling.others() if compiling.is_complex(k)])


@compiling.CHOICES
def test_kernels_compile_and_single_precision_stays_single(lowered, choose):
    assert len(lowered.kernels) > 200
    assert not compiling.in_double(lowered, choose(lowered))


@compiling.CHOICES
def test_kernels_are_lowered_alike_for_all_capabilities(lowered, choose):
    assert not compiling.unlike(lowered, choose(lowered))


@compiling.CHOICES
def test_samples_link_without_spilling_registers(lowered, choose):
    assert not compiling.spilling(lowered, choose(lowered))
