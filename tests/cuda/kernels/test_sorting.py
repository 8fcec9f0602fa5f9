"""Sorting on the device: the order of the processor, ties and NaN included."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.operators.shape import sorting as operators
from numgrad.targets.cuda.launch.steps import HostCall
from numgrad.targets.cuda.program import sorting_launch

from ..programs import TARGET, on_both, program_of, require_equal

RNG = np.random.default_rng(8)


def few(shape, dtype):
    """Return elements of which many are equal, NaN and both zeros among them."""
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        return RNG.integers(0, 2 if dtype.kind == "b" else 5, shape).astype(dtype)
    parts = np.array([-np.inf, -1.5, -0.0, 0.0, 0.0, 2.5, 2.5, np.inf, np.nan, np.nan])
    found = np.empty(shape, dtype)
    found.real = RNG.choice(parts, shape)
    if dtype.kind == "c":
        found.imag = RNG.choice(parts, shape)
    return found


def orders(x, axis=-1):
    """Return the order on the device, after a look that no step leaves it."""
    program = program_of(operators.argsort, x)
    assert not any(isinstance(step, HostCall) for step in TARGET.bind(program).steps)
    return ng.argsort(ng.tensor(x, device="cuda"), axis).cpu().numpy()


@pytest.mark.parametrize("length", [0, 1, 2, 5, 11, 12, 13, 24, 25, 61, 100])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_rows_of_all_lengths_are_sorted_stably(length, dtype):
    for rows in (1, 3):
        x = few((rows, length), dtype)
        np.testing.assert_array_equal(orders(x), np.argsort(x, kind="stable"))


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int64", "uint32", "float16", "float64", "complex64"]
)
def test_elements_of_all_dtypes_are_sorted(dtype):
    x = few((2, 3, 17), dtype)
    for axis in range(3):
        np.testing.assert_array_equal(orders(x, axis), np.argsort(x, axis, kind="stable"))


def test_integers_are_compared_as_such():
    x = np.array([2**53 + 1, -(2**63), 2**53, 2**63 - 1, 2**53 + 1])
    np.testing.assert_array_equal(orders(x), np.argsort(x, kind="stable"))


@pytest.mark.parametrize("length", [9, 30])
def test_rows_may_lie_in_any_way(length):
    x = few((2, length, 4), "float64")
    for lies in (x.transpose(2, 0, 1), x[::-1, ::2], np.broadcast_to(x[:1], x.shape)):
        for axis in range(3):
            np.testing.assert_array_equal(
                ng.argsort(ng.tensor(x, device="cuda"), axis).cpu().numpy(),
                np.argsort(x, axis, kind="stable"),
            )
        require_equal(on_both(lambda v: operators.argsort(v), lies))


def test_short_rows_share_tiles(monkeypatch):
    monkeypatch.setattr(TARGET, "_prepared", {})
    monkeypatch.setattr(TARGET.runtime.driver, "REDUCING", 3)
    x = few((50, 5), "float32")
    (step,) = TARGET.bind(program_of(operators.argsort, x)).steps
    assert step.elements == 25  # two rows in a tile of 12
    require_equal(on_both(operators.argsort, x))


def test_blocks_of_more_threads(monkeypatch):
    monkeypatch.setattr(TARGET, "_prepared", {})
    monkeypatch.setattr(TARGET.runtime.driver, "REDUCING", 8)
    for shape in ((9, 5), (2, 33), (3, 70)):
        require_equal(on_both(operators.argsort, few(shape, "float32")))


def test_more_elements_than_32_bits_number_are_numbered_in_64(monkeypatch):
    monkeypatch.setattr(sorting_launch, "WIDE", 20)
    require_equal(on_both(operators.argsort, few((2, 40), "float32")))


@pytest.mark.parametrize("length", [5, 40])
def test_sorted_elements_and_their_gradients_are_those_of_the_processor(length):
    values = RNG.standard_normal((3, length))
    seeds = RNG.standard_normal((4, 3, length))
    found = []
    for device in ("cpu", "cuda"):
        x = ng.tensor(values, device=device, requires_grad=True)
        for y in (ng.sort(x), ng.sort(x, 0), ng.sort(x, descending=True)):
            found.append(y.detach().cpu().numpy())
            (g,) = ng.grad(y, x, ng.tensor(seeds, device=device), is_grads_batched=True)
            found.append(g.cpu().numpy())
        found.append(ng.jit(lambda v: ng.median(v, axis=1) + ng.sort(v)[:, 1])(x).detach().cpu())
    half = len(found) // 2
    for one, other in zip(found[:half], found[half:], strict=True):
        np.testing.assert_array_equal(one, other)


def test_several_keys_and_distinct_elements():
    keys = [RNG.integers(0, 3, 30) for _ in range(3)]
    found = ng.lexsort([ng.tensor(k, device="cuda") for k in keys])
    np.testing.assert_array_equal(found.cpu().numpy(), np.lexsort(keys))
    found = ng.argsort(ng.tensor(keys[0], device="cuda"), descending=True)
    expected = ng.argsort(keys[0], descending=True).numpy()
    np.testing.assert_array_equal(found.cpu().numpy(), expected)


def test_elements_are_moved_by_as_many_threads():
    x, order = RNG.standard_normal((3, 20)), RNG.permuted(np.tile(np.arange(20), (3, 1)), axis=1)
    for move in (operators.permute, operators.unpermute):
        (step,) = TARGET.bind(program_of(move, x, order)).steps
        assert step.elements == 60
        require_equal(on_both(move, x, order))
        require_equal(on_both(move, x, order[0]))
        require_equal(on_both(move, x[0], order))
