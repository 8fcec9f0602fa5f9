"""Anomaly detection: the operator and the line behind a NaN or an infinity in a backward pass."""

import threading

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import AnomalyError

pytestmark = pytest.mark.device_sample


def leaf(*values):
    return ng.tensor(list(values), dtype=float, requires_grad=True)


def broken(x):
    """Return something finite whose gradient is not: zero times infinity."""
    return 0.0 / (x * x)  # here


def line_of(function):
    return function.__code__.co_firstlineno + 2


@pytest.fixture
def infinite():
    """A tensor whose gradient with respect to itself overflows."""
    return leaf(1.0, 1e-200)


def test_without_it_nothing_is_raised(infinite):
    assert not np.isfinite(ng.grad(1.0 / infinite, infinite)[0].numpy()).all()


def test_it_names_operator_line_input_and_place(infinite):
    y = 1.0 / infinite
    words = (
        r"divide recorded at .*test_anomaly.py:\d+ in test_it_names.* input 1 .*inf.*index \(1,\)"
    )
    with ng.detect_anomaly(), pytest.raises(AnomalyError, match=words):
        ng.grad(y, infinite)


def test_the_line_is_that_of_the_user_and_the_first_culprit_is_named():
    x = leaf(0.0)
    y = broken(x) * 2.0
    with ng.detect_anomaly(), pytest.raises(AnomalyError) as caught:
        ng.grad(y, x)
    assert f"test_anomaly.py:{line_of(broken)} in broken" in str(caught.value)
    assert "nan" in str(caught.value)


def test_it_says_when_the_incoming_gradient_was_bad_already(infinite):
    y = infinite * 2.0
    with (
        ng.detect_anomaly(),
        pytest.raises(AnomalyError, match="so did the gradient"),
    ):
        ng.grad(y, infinite, ng.tensor([1.0, np.nan]))


def test_it_sees_sums_that_overflow():
    x = leaf(1.0)
    y = [x * 1.5e308, x * 1.5e308]
    with ng.detect_anomaly(), pytest.raises(AnomalyError, match="add up"):
        ng.grad(y, x)


def test_an_error_frees_nothing_and_writes_no_grad(infinite):
    y = 1.0 / infinite
    with ng.detect_anomaly(), pytest.raises(AnomalyError):
        ng.backward(y)
    assert infinite.grad is None
    ng.backward(y)
    assert infinite.grad is not None


def test_batched_pass_names_the_row():
    x = leaf(1.0, 1e-150)
    y = 1.0 / x
    seeds = np.array([[1.0, 1.0], [0.0, 1e10]])
    with ng.detect_anomaly(), pytest.raises(AnomalyError, match=r"inf in row 1 .*index \(1,\)"):
        ng.grad(y, x, seeds, is_grads_batched=True)


def test_second_derivatives_are_looked_at():
    x = leaf(1e-120)
    (g,) = ng.grad(1.0 / x, x, create_graph=True)
    assert np.isfinite(g.detach().numpy()).all()
    with ng.detect_anomaly(), pytest.raises(AnomalyError, match=r"test_anomaly\.py"):
        ng.grad(g, x)


def test_results_are_the_same_with_and_without():
    x = leaf(1.0, 2.0, 3.0)
    y = x * x / (x + 1.0)
    expected = ng.grad(y, x, retain_graph=True)[0].numpy()
    with ng.detect_anomaly():
        np.testing.assert_array_equal(
            ng.grad(y, x, create_graph=True)[0].detach().numpy(), expected
        )
        batched = ng.grad(y, x, np.eye(3), is_grads_batched=True)[0].numpy()
    np.testing.assert_array_equal(batched, np.diag(expected))


def test_check_nan_false_looks_at_nothing(infinite):
    with ng.detect_anomaly(check_nan=False):
        ng.grad(1.0 / infinite, infinite)


def test_it_acts_inside_its_block_only_and_nests(infinite):
    detection = ng.detect_anomaly()
    ng.grad(1.0 / infinite, infinite)
    with detection:
        with ng.detect_anomaly(check_nan=False):
            ng.grad(1.0 / infinite, infinite)
        with pytest.raises(AnomalyError):
            ng.grad(1.0 / infinite, infinite)
    ng.grad(1.0 / infinite, infinite)


def test_set_detect_anomaly_acts_at_once_and_as_a_context(infinite):
    ng.set_detect_anomaly(True)
    try:
        with pytest.raises(AnomalyError):
            ng.grad(1.0 / infinite, infinite)
        with ng.set_detect_anomaly(False):
            ng.grad(1.0 / infinite, infinite)
        with pytest.raises(AnomalyError):
            ng.grad(1.0 / infinite, infinite)
    finally:
        ng.set_detect_anomaly(False)


def test_other_threads_are_not_concerned(infinite):
    errors = []

    def work():
        try:
            ng.grad(1.0 / infinite, infinite)
        except AnomalyError as error:
            errors.append(error)

    with ng.detect_anomaly():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert errors == []


def test_recorded_stacks_are_part_of_the_message(infinite):
    ng.set_flags(call_stack_level=3)
    try:
        y = 1.0 / infinite
    finally:
        ng.set_flags(call_stack_level=1)
    with ng.detect_anomaly(), pytest.raises(AnomalyError, match=r"y = 1\.0 / infinite"):
        ng.grad(y, infinite)
