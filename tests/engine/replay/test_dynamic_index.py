"""Graphs that differ in an index run one program, which takes the index as data."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.replay import dynamic_index, plan_cache

pytestmark = pytest.mark.short_ways
X = np.random.default_rng(0).standard_normal((7, 5, 3))
V = np.linspace(0.5, 1.5, 15).reshape(5, 3)


@pytest.fixture(autouse=True)
def nothing_known():
    plan_cache.forget()
    yield
    plan_cache.forget()


def written(x, i):
    y = x * 2.0
    y[i] = y[i] * y[i - 1]
    return (y * y).sum()


def written_elsewhere(x, i):
    y = x * 2.0
    y[i, 1:3] = V[1:3] * 3.0
    return (y * y * x).sum()


def whole_and_part_written(x, i):
    y = x * 2.0
    y[i : i + 2] = y[i + 1 : i + 3] * V
    z = (y**3).sum()
    y[..., 0] = y[..., 1] * ng.cos(y[..., 2])
    return z + (y * x).sum()


def written_twice(x, i):
    y = x * 2.0
    y[i] = x[i - 1] * V
    y[i - 1, 1] = x[i, 1] * 2.0
    return (y * y * x).sum()


def written_and_read(x, i):
    y = x * 2.0
    y[i] = x[i - 1] * V
    return (y * y).sum() + (y[i - 1] ** 3).sum() + y[i, 2, 1]


def written_through_views(x, i):
    y = x * 2.0
    y[i][1:3][None, 1] = x[i - 1, 0] * 3.0
    y.reshape(-1)[i] = x[i, 0, 0] * 2.0
    return (y**3).sum()


def written_a_number(x, i):
    y = x * 2.0
    y[i, 1] = 0.5
    y *= x
    return (y**2).sum()


READERS = {
    "an element": lambda x, i: x[i, 2, 1] ** 2,
    "an element twice": lambda x, i: x[i, 2, 1] * x[i, 2, 1],
    "two elements": lambda x, i: x[i, 2, 1] * ng.sin(x[i - 1, 2, 1]),
    "a row": lambda x, i: (x[i] ** 2).sum(),
    "rows": lambda x, i: (x[i] * x[i - 1] * V).sum(),
    "a window": lambda x, i: (x[i : i + 2] ** 3).sum(),
    "every other": lambda x, i: (x[i : i + 4 : 2] ** 3).sum(),
    "backwards": lambda x, i: (x[i + 3 : i : -1, 1] ** 3).sum(),
    "of the last axis": lambda x, i: (x[..., i % 3] ** 2).sum(),
    "of two axes": lambda x, i: (x[i, 1:3] * x[i - 1, 2:4]).sum(),
    "of a row": lambda x, i: x[i][i % 5][1] ** 2,
    "overlapping": lambda x, i: (x[i : i + 2] * x[i + 1 : i + 3] * ng.sin(x[i : i + 3][:2])).sum(),
    "many": lambda x, i: sum([x[i, k, 0] * x[i, k - 1, 0] * (k + 1) for k in range(5)]),
    "a new axis": lambda x, i: (x[i, None] ** 2 * V).sum(),
    "new axes around": lambda x, i: (x[None, i, :, None, 1:] ** 2).sum(),
    "a window with a new axis": lambda x, i: (x[i : i + 2, None, ::-1] ** 3).sum(),
    "NumPy's integers": lambda x, i: x[np.int64(i), np.uint8(2), 1] ** 2,
    "written": written,
    "written elsewhere": written_elsewhere,
    "whole and part written": whole_and_part_written,
    "written twice": written_twice,
    "written and read": written_and_read,
    "written through views": written_through_views,
    "written a number": written_a_number,
}


def slope(function, x, i, **options):
    return ng.grad(function(x, i), x, **options)[0].numpy()


def references(function, given, dtype=np.float64, **options):
    """Return the gradients of the long way, for some indices."""
    before = ng.get_flags("path")
    ng.set_flags(path="reference")
    x = ng.tensor(X.astype(dtype), requires_grad=True)
    found = {i: slope(function, x, i, **options) for i in given}
    ng.set_flags(**before)
    return found


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_gradients_are_those_of_each_index(name, dtype):
    function = READERS[name]
    ends = ("a window", "a window with a new axis", "every other", "backwards", "overlapping",
            "whole and part written")  # fmt: skip
    given = (0, 1, 2, 3) if name in ends else (0, 1, 2, 3, -2)
    expected = references(function, given, dtype)
    x = ng.tensor(X.astype(dtype), requires_grad=True)
    for turn in range(4):
        for i in given:
            np.testing.assert_array_equal(slope(function, x, i), expected[i], f"{turn} {i}")


def programs():
    """Return the structures of the passes that are known."""
    return list(plan_cache._known)


ALIKE = ["an element", "a row", "a window", "of two axes", "a new axis", "a window with a new axis",
         "NumPy's integers", "written elsewhere"]  # fmt: skip


@pytest.mark.parametrize("name", ALIKE)
def test_other_indices_make_no_other_program(name):
    x = ng.tensor(X, requires_grad=True)
    for i in range(4):
        slope(READERS[name], x, i)
    assert len(programs()) == 1


def test_indices_that_stay_have_their_program_at_the_second_pass():
    x = ng.tensor(X, requires_grad=True)
    for i in (2, 2, 2):
        slope(READERS["a row"], x, i)
    (known,) = plan_cache._known.values()
    assert not known.track.indexed


def test_equal_indices_have_the_program_of_different_ones():
    x = ng.tensor(X, requires_grad=True)

    def function(x, pair):
        return x[pair[0], 0, 0] * x[pair[1], 0, 0]

    pairs = [(0, 1), (2, 3), (1, 2), (4, 4), (5, 5), (6, 6), (1, 6), (3, 3)]
    expected = references(function, pairs)
    for pair in pairs:
        np.testing.assert_array_equal(slope(function, x, pair), expected[pair])
    assert len(programs()) == 1


def test_batched_passes():
    x = ng.tensor(X, requires_grad=True)
    seeds = np.random.default_rng(1).standard_normal((4, 5, 3))

    def rows(x, i):
        return ng.sin(x[i]) * x[i - 1]

    options = {"grad_outputs": seeds, "is_grads_batched": True}
    expected = references(rows, range(5), **options)
    for i in range(5):
        np.testing.assert_array_equal(slope(rows, x, i, **options), expected[i])
    assert len(programs()) == 1


def test_hooks_and_recorded_passes_know_their_index():
    x = ng.tensor(X, requires_grad=True)
    seen, expected = [], references(READERS["a row"], range(4))
    for i in (0, 1, 2, 3):
        y = x[i]
        y.register_hook(lambda g: seen.append(g.numpy().copy()))
        np.testing.assert_array_equal(
            slope(lambda x, i, y=y: (y**2).sum(), x, i), expected[i]
        )
        np.testing.assert_array_equal(seen[-1], 2 * X[i])
    for i in (0, 1, 2, 3):
        (g,) = ng.grad((x[i] ** 3).sum(), x, create_graph=True)
        expected = np.zeros_like(X)
        expected[i] = 6 * X[i]
        np.testing.assert_array_equal(ng.grad(g.sum(), x)[0].numpy(), expected)


def test_many_reads_are_not_by_position():
    """A gradient of the size of the array for each of them would be quadratic."""
    x = ng.tensor(np.linspace(0.0, 1.0, 100), requires_grad=True)
    for shift in (0, 1, 2):
        total = sum([x[i + shift] ** 2 for i in range(dynamic_index._MOST_NODES + 1)])
        ng.grad(total, x)
    assert programs() == []
    big = ng.tensor(np.zeros(dynamic_index._MOST_ELEMENTS // 2 + 1), requires_grad=True)
    for i in (0, 1, 2):
        ng.grad(big[i] * big[i + 1], big)
    assert programs() == []
    for i in (0, 1, 2):
        ng.grad(big[i] * 2.0, big)
    assert len(programs()) == 1


def test_backward_accumulates():
    x = ng.tensor(X, requires_grad=True)
    for i in (0, 1, 2, 3, 3):
        (x[i] ** 2).sum().backward()
    expected = np.zeros_like(X)
    for i in (0, 1, 2, 3, 3):
        expected[i] += 2 * X[i]
    np.testing.assert_array_equal(x.grad.numpy(), expected)


def test_the_cache_of_kinds_does_not_grow_with_positions():
    wide = ng.tensor(np.zeros((3, 2 * dynamic_index._MOST_POSITIONS)), requires_grad=True)
    node = wide[1].node
    assert dynamic_index.by_position(node).positions.size == 1  # the row is one
    node = wide[:, 1:-1].node
    assert dynamic_index.by_position(node) is None



def test_positions_of_large_regions_are_not_worked_out(monkeypatch):
    big = ng.tensor(np.zeros((300, 300)), requires_grad=True)
    made, arange = [], np.arange

    def spy(*bounds):
        made.append(arange(*bounds).size)
        return arange(*bounds)

    changed = {**vars(np), "arange": spy}
    monkeypatch.setattr("numgrad.operators.shape.indexing.np", type("np", (), changed))
    for k in range(3):
        ng.grad(big[1:-1, 1 + k : -3 + k].sum(), big)
        ng.grad(big[k, 5:9].sum(), big)
    assert max(made) == 4


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_signs_of_zeros_are_those_of_a_copy(dtype):
    x = ng.tensor(np.arange(4).astype(dtype), requires_grad=True)
    for seed in (-0.0, 0.0):
        for i in (1, 1, 1, 2, 2, 2, 3, 0, 1):
            (found,) = ng.grad(x[i], x, ng.tensor(np.array(seed, dtype)))
            expected = np.zeros(4, dtype)
            expected[i] = seed
            assert found.numpy().tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_signs_of_zeros_beside_a_write_are_those_of_the_long_way(dtype):
    x = ng.tensor(np.zeros(4, dtype), requires_grad=True)

    def function(i):
        y = x * 1.0
        y[i : i + 2] = x[:2] * 1.0
        return y * -1.0

    def slopes():
        return [ng.grad(function(i), x, np.full(4, sign, dtype))[0].numpy()
                for sign in (-0.0, 0.0) for i in (0, 1, 2, 0, 1, 2)]  # fmt: skip

    found = slopes()
    ng.set_flags(path="reference")
    expected = slopes()
    ng.set_flags(path="default")
    for one, other in zip(found, expected, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("shape", [(4, 0), (4, 0, 3), (4, 3, 0)])
def test_parts_without_elements(shape):
    x = ng.tensor(np.zeros(shape), requires_grad=True)
    for i in (0, 1, 2, 3, 1):
        y = x * 1.0
        y[i] = x[i - 1] * 2.0
        z = (x[i : i + 1] * y[None, i, ..., :1]).sum() + y.sum()
        assert ng.grad(z, x)[0].shape == shape
