"""Reductions in blocks: the same bits as all at once, whatever is shared among threads."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.ir import program

NAMES = ("sum", "prod", "max", "min")
SIZES = (8_193, 10_240, 40_000, 100_001)


@pytest.fixture
def at_once(monkeypatch):
    """Return a function that reduces all elements by one call of a kernel."""

    def reduce(operator, x, axes):
        with monkeypatch.context() as patch:
            patch.setattr(program, "MANY_ELEMENTS", 1 << 40)
            return operator(x, axes=axes).numpy()

    return reduce


@pytest.fixture
def plain():
    before = ng.get_flags("threads", "tile")
    yield
    ng.set_flags(**before)


def numbers(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(1.0, 0.01, shape)
    if np.dtype(dtype).kind == "c":
        x = x * np.exp(1j * rng.normal(size=shape))
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("name", NAMES)
def test_blocks_have_the_bits_of_all_at_once(name, dtype, at_once, monkeypatch):
    if np.dtype(dtype).kind == "c" and name in ("max", "min"):
        return
    monkeypatch.setattr(program, "MANY_ELEMENTS", 1 << 9)
    for n in SIZES:
        x = numbers(n, dtype)
        found = registry[name](x, axes=(-1,)).numpy()
        np.testing.assert_array_equal(found, at_once(registry[name], x, (-1,)))
        np.testing.assert_allclose(found, getattr(np, name)(x), 1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64])
@pytest.mark.parametrize("shape", [(257, 200), (4100, 24), (70_001, 1), (300, 20, 9)])
def test_leaves_of_rows_have_the_bits_of_all_at_once(shape, dtype, at_once, monkeypatch):
    monkeypatch.setattr(program, "MANY_ELEMENTS", 1 << 9)
    x = numbers(shape, dtype)
    for axes in {(-len(shape),), tuple(range(-len(shape), -1))}:
        found = registry["sum"](x, axes=axes).numpy()
        np.testing.assert_array_equal(found, at_once(registry["sum"], x, axes))
        np.testing.assert_array_equal(
            found, at_once(registry["sum"], np.asfortranarray(x), axes)
        )


@pytest.mark.parametrize("rows", [31, 32, 33, 63, 1023, 1024, 1025, 1056, 2100])
def test_columns_and_contiguous_elements_have_the_same_bits(rows):
    x = numbers((rows, 3), np.float64)
    with np.errstate(over="ignore"):  # unsigned indices wrap in Python only
        one, all_ = np.empty(1), np.empty(3)
        registry["sum"].columns(x, all_)
        for n in range(3):
            registry["sum"].function(np.ascontiguousarray(x[:, n]), one)
            assert one[0] == all_[n]


@pytest.mark.parametrize("name", NAMES)
def test_threads_and_tiles_leave_the_bits_alone(name, plain):
    x = numbers(600_003, np.float64)
    found = set()
    for threads in (1, 2):
        for tile in (0, 1, 5):
            ng.set_flags(threads=threads, tile=tile)
            found.add(registry[name](x, axes=(-1,)).numpy().tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("place", [0, 1023, 1024, 599_999])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_special_values_reach_the_result(value, place):
    x = np.ones(600_000)
    x[place] = value
    np.testing.assert_array_equal(ng.sum(x).numpy(), value)
    np.testing.assert_array_equal(ng.max(x).numpy(), np.max(x))
    np.testing.assert_array_equal(ng.min(x).numpy(), np.min(x))


def test_a_sum_of_many_is_as_accurate_as_one_of_few():
    x = np.full(10**7, 0.1, np.float32)
    assert abs(float(ng.sum(x).numpy()) - 10**7 * float(np.float32(0.1))) < 1.0


def test_operators_alone_tell_equal_operands_from_the_same():
    x, y = (ng.tensor(numbers(600_000, np.float64, seed)) for seed in (1, 2))
    np.testing.assert_array_equal((x * x).numpy(), x.numpy() ** 2)
    np.testing.assert_array_equal((x * y).numpy(), x.numpy() * y.numpy())
    np.testing.assert_array_equal((y * y).numpy(), y.numpy() * y.numpy())


def test_operators_alone_take_any_layout():
    x = numbers((1200, 600), np.float64)
    for y in (x.T, x[::2], np.asfortranarray(x), x[:, ::-1]):
        np.testing.assert_array_equal((ng.tensor(y) * 2.0).numpy(), y * 2.0)
        np.testing.assert_array_equal(ng.max(y, 0).numpy(), np.max(y, 0))
