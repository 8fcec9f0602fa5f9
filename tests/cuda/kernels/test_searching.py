"""Counts, truth and positions of extrema in long rows, found by several threads."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.operators.reduction import searching as operators
from numgrad.targets.cuda.kernels import searching
from numgrad.targets.cuda.launch.steps import Launch
from numgrad.targets.cuda.program import searching_launch

from ..programs import TARGET, on_both, program_of, require_equal

RNG = np.random.default_rng(12)
NAMES = ["any", "all", "count_nonzero", "argmax", "argmin"]


@pytest.fixture(params=[4096, 20])
def piece(request, monkeypatch):
    """The length of the pieces of rows; the kernels of other tests are not used again."""
    monkeypatch.setattr(searching, "PIECE", request.param)
    monkeypatch.setattr(TARGET, "_prepared", {})
    return request.param


def rows_of(dtype, length):
    """Return rows with ties, NaN, zeros of both signs, and nothing at all."""
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        x = RNG.integers(0, 2 if dtype.kind == "b" else 9, (5, length)).astype(dtype)
        x[1], x[2] = 0, 1
        x[2, length // 2] = 0
        return x
    x = RNG.choice([-2.0, -0.0, 0.0, 1.5], (5, length)).astype(dtype)
    x[1] = 0.0
    x[2] = 1.0
    x[3, [length - 1, length // 2]] = np.nan
    x[4, [0, length - 2]] = np.inf, -np.inf
    return x


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64", "complex128"])
def test_rows_are_searched_by_several_threads(name, dtype, piece):
    if name.startswith("arg") and dtype.startswith("complex"):
        return
    operator = getattr(operators, name)
    for length in (33, 64, 101):
        x = rows_of(dtype, length)
        assert searching_launch.searches(program_of(_along(operator), x).instructions[-1].pattern)
        require_equal(on_both(_along(operator), x))
        require_equal(on_both(_along(operator), x[3]))


def _along(operator):
    return lambda v: operator(v, axes=(-1,))


@pytest.mark.parametrize("name", NAMES)
def test_axes_may_be_several_and_rows_lie_anyhow(name, piece):
    operator = getattr(operators, name)
    x = RNG.choice([-1.0, 0.0, 2.0], (4, 3, 30))
    for lies in (x, x.transpose(2, 1, 0), x[::-1, ::2], np.broadcast_to(x[:1], x.shape)):
        for axes in ((-1,), (-2, -1), (-3,), (-3, -1), (-3, -2, -1)):
            require_equal(on_both(lambda v, axes=axes: operator(v, axes=axes), lies))


def test_long_rows_take_two_launches_and_short_ones_one_thread(monkeypatch):
    monkeypatch.setattr(searching, "PIECE", 20)
    monkeypatch.setattr(TARGET, "_prepared", {})
    monkeypatch.setattr(TARGET.runtime.driver, "REDUCING", 3)
    (step,) = TARGET.bind(program_of(_along(operators.argmax), rows_of("float64", 50))).steps
    assert [launch.elements for launch in step.launches] == [15, 2]  # three pieces are for a thread
    (step,) = TARGET.bind(program_of(_along(operators.argmax), rows_of("float64", 9))).steps
    assert isinstance(step, Launch)
    assert step.elements == 5


def test_more_rows_than_32_bits_number_are_numbered_in_64(piece, monkeypatch):
    monkeypatch.setattr(searching_launch, "WIDE", 2)
    require_equal(on_both(_along(operators.argmin), rows_of("float64", 50)))
    require_equal(on_both(_along(operators.any), rows_of("float32", 50)))


def test_teams_of_threads_share_a_block(piece, monkeypatch):
    monkeypatch.setattr(TARGET.runtime.driver, "REDUCING", 11)
    for name in NAMES:
        for length in (33, 70):
            x = np.tile(rows_of("float64", length), (3, 1))
            require_equal(on_both(_along(getattr(operators, name)), x))


def test_tensors_find_what_arrays_do():
    x = rows_of("float32", 90)
    on_device = ng.tensor(x, device="cuda")
    for name in NAMES:
        for axis in (None, 0, 1):
            found = getattr(ng, name)(on_device, axis=axis).cpu().numpy()
            np.testing.assert_array_equal(found, getattr(np, name)(x, axis=axis))
