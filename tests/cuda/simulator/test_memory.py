"""The simulator finds what a GPU would do silently: each fault that is put in is seen."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.ir.device_array import DeviceArray
from numgrad.targets import liveness
from numgrad.targets.cuda.kernels import elementwise
from numgrad.targets.cuda.launch.steps import Launch
from numgrad.targets.cuda.program import bound_program as bound
from numgrad.targets.cuda.program import lowering

from ..programs import TARGET, on_device, program_of

X = np.linspace(0.1, 1.0, 12).reshape(3, 4)


def function(x):
    return ng.sin(x.T) * ng.cos(x.T)


@pytest.fixture
def single(monkeypatch):
    """Let a thread take one element at a time, which is easier to lead astray."""
    monkeypatch.setattr(TARGET.runtime.driver, "RESIDENT", 1000, raising=False)


def results(fault=None):
    program = program_of(function, X)
    bound_program = TARGET.bind(program)
    if fault is not None:
        bound_program.steps = fault(bound_program.steps)
    result = TARGET.empty((4, 3), X.dtype)
    bound_program.run([result])
    return TARGET.to_host(result)


def test_without_a_fault_it_is_right():
    np.testing.assert_allclose(results(), np.sin(X.T) * np.cos(X.T), 1e-14)


def changed(steps, number, change):
    step = steps[number]
    given = list(step.arguments)
    change(given)
    return [*steps[:number], Launch(step.kernel, step.elements, tuple(given)), *steps[number + 1 :]]


def test_a_stride_that_leads_outside_is_an_error(single):
    def fault(steps):
        return changed(steps, 0, lambda given: given.__setitem__(-1, 1000))

    with pytest.raises(IndexError, match="outside of the device memory"):
        results(fault)


def test_an_element_that_is_not_written_is_no_number(single):
    def fault(steps):
        def fewer(given):
            given[0] -= 1

        return changed(steps, 0, fewer)

    assert np.isnan(results(fault)).sum() == 1


def test_memory_that_was_given_back_cannot_be_used():
    x = ng.tensor(X, device="cuda")
    x.array.memory.give_back()
    with pytest.raises(RuntimeError, match="given back"):
        ng.sin(x)


def test_buffers_that_are_alive_do_not_share_memory(monkeypatch):
    """With places that overlap the result is another one."""
    expected = results()
    monkeypatch.setattr(bound, "assign", lambda instructions, sizes, offsets, *rest: _at_once(
        offsets, liveness.assign(instructions, sizes, list(offsets), *rest)))  # fmt: skip
    assert not np.allclose(results(), expected)


def _at_once(offsets, top):
    for n, offset in enumerate(offsets):
        offsets[n] = 0 if offset < 0 else offset
    return top


def test_a_view_is_found_without_reading_elements():
    """There are none here: to copy them would end the process."""
    large = DeviceArray(TARGET, None, 0, (1 << 15, 1 << 15), X.dtype)
    assert large[:, 3:5].strides == (8 << 15, 8)
    with pytest.raises(ValueError, match="copy"):
        large.seen(np.transpose).reshape(-1)


def test_what_is_repeated_or_read_only_is_so_on_the_device():
    for array in (np.broadcast_to(np.float64(2), (3,)), np.broadcast_to(X, (2, 3, 4))[0, 1:]):
        there = TARGET.to_device(array)
        assert there.strides == array.strides
        assert not there.flags.writeable
        assert TARGET.copy(there).flags.writeable
        np.testing.assert_array_equal(TARGET.to_host(there), array)


def test_the_memory_of_a_run_is_given_back_where_it_cannot_begin(monkeypatch):
    blocks = []
    driver = TARGET.runtime.driver
    original = driver.allocate
    monkeypatch.setattr(
        driver, "allocate", lambda *args: blocks.append(original(*args)) or blocks[-1]
    )
    program = TARGET.bind(program_of(function, X))
    monkeypatch.setattr(program._target, "to_device", lambda array: 1 / 0)
    del blocks[:]
    with pytest.raises(ZeroDivisionError):
        program.run([X])
    assert [block.data is None for block in blocks] == [True]


def test_kernels_are_made_once_for_a_way_of_lying(monkeypatch):
    made = []
    original = elementwise.elementwise
    monkeypatch.setattr(
        lowering.elementwise, "elementwise", lambda *args: made.append(args) or original(*args)
    )
    monkeypatch.setattr(TARGET, "_prepared", {})
    for n in (2, 3, 4):
        on_device(program_of(lambda x: ng.tan(x) - x, np.ones((n, n))[:, :1]))
    kinds = [(spec.name, walk) for spec, walk in made]
    assert len(kinds) == len(set(kinds)) == 2


def test_the_simulator_shares_no_memory_with_others():
    x = ng.tensor(np.ones(3), device="cuda")
    with pytest.raises(ng.errors.DeviceError, match=r"memory of the simulator: x\.cpu\(\)"):
        x.__dlpack__()
    with pytest.raises(ng.errors.DeviceError, match=r"memory of the simulator: x\.cpu\(\)"):
        x.__cuda_array_interface__  # noqa: B018
    with pytest.raises(ng.errors.DeviceError, match="simulator cannot read memory of a GPU"):
        ng.from_dlpack(x)
