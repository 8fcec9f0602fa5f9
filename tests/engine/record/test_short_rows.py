"""Operations of operands that broadcast, with many short rows, are programs of their own."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.engine.record import parallel_launch

CALLS = 40
SHAPES = [
    ((30, 1, 3), (1, 30, 3)), ((300, 3), (3,)), ((300, 5), (300, 1)),
    ((20, 1, 20, 2), (1, 4, 1, 2)),
]  # fmt: skip
OTHERS = [
    ((300, 3), (300, 3)), ((300, 3), ()), ((300, 3), (1, 1)), ((20, 3), (3,)),
    ((300, 200), (200,)), ((0, 3), (3,)),
]  # fmt: skip


@pytest.fixture
def made(monkeypatch):
    """The shapes of the operands of all programs that are made."""
    shapes, before = [], parallel_launch.single_program

    def single_program(operator, arrays, static, places):
        shapes.append(tuple([x.shape for x in arrays]))
        return before(operator, arrays, static, places)

    monkeypatch.setattr(parallel_launch, "single_program", single_program)
    monkeypatch.setattr(parallel_launch, "_plans", {})
    return shapes


def repeated(function, *operands):
    """Return the results of equal calls."""
    return [function(*operands) for _ in range(CALLS)]


@pytest.mark.short_ways
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
def test_results_have_the_bits_and_the_layout_of_the_first_ones(made, shapes, dtype):
    rng = np.random.default_rng(1)
    x, y = (ng.tensor(rng.standard_normal(s).astype(dtype)) for s in shapes)
    for function in (ng.subtract, ng.multiply):
        first, *others = [z.numpy() for z in repeated(function, x, y)]
        for other in others:
            assert other.tobytes() == first.tobytes()
            assert other.strides == first.strides
    assert len(made) == 2


@pytest.mark.short_ways
def test_results_are_arrays_of_their_own(made):
    x, y = ng.tensor(np.ones((300, 3))), ng.tensor(np.arange(3.0))
    results = repeated(ng.add, x, y)
    results[-1][...] = 7.0
    np.testing.assert_array_equal(results[-2].numpy(), np.ones((300, 3)) + np.arange(3.0))
    np.testing.assert_array_equal((x + y).numpy(), results[0].numpy())


@pytest.mark.short_ways
def test_layouts_and_repeated_operands_that_programs_do_not_take(made):
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((3, 300)), rng.standard_normal((300, 1))
    for z in repeated(ng.subtract, ng.tensor(x).T, ng.tensor(y)):
        np.testing.assert_array_equal(z.numpy(), x.T - y)
    mask = ng.tensor(rng.random((300, 1)) < 0.5)
    row = ng.tensor(rng.standard_normal((1, 3)))
    for z in repeated(ng.where, mask, row, row):
        np.testing.assert_array_equal(z.numpy(), np.broadcast_to(row.numpy(), (300, 3)))
    assert not made


@pytest.mark.short_ways
@pytest.mark.parametrize("shapes", OTHERS, ids=str)
def test_others_are_left_to_numpys_loops(made, shapes):
    x, y = (ng.tensor(np.ones(s)) for s in shapes)
    repeated(ng.add, x, y)
    assert not made


def test_gradients():
    rng = np.random.default_rng(3)
    x = ng.tensor(rng.standard_normal((30, 3)), requires_grad=True)
    for _ in range(CALLS):
        d = x[:, None] - x[None]
        (g,) = ng.grad((d * d).sum(), x)
    p = x.detach().numpy()
    np.testing.assert_allclose(g.numpy(), 4 * (30 * p - p.sum(0)), 1e-12)
