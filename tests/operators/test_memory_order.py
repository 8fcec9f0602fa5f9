"""What operators say of the memory order of their results is how they lie when they are computed
at once."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import door
from numgrad._tensor import Tensor
from numgrad.engine.graph.memory_order import strides_of_value
from numgrad.engine.graph.value import Expr, ForeignStorage
from numgrad.ir.memory_order import axes_in_memory, in_miniature, kept, laid_like, strides_like
from numgrad.testing.scenarios import SCENARIOS

WRITES = ("put_view", "put_at")  # whose results lie where what is written lies


def turned(array):
    """Return the same numbers with the first axis inmost, or the middle one of three."""
    yield np.array(array, order="C")
    if array.ndim > 1:
        yield np.asfortranarray(array)
        yield np.ascontiguousarray(np.swapaxes(array, 0, 1)).swapaxes(0, 1)
        yield np.repeat(array, 2, axis=0)[::2]


def in_memory(array):
    """Return the strides that matter."""
    return [step for step, n in zip(array.strides, array.shape, strict=True) if n > 1]


def calls_of(scenario):
    for point in scenario.points[:2]:
        arrays = [np.asarray(a) for a in scenario.at(point, scenario.dtypes[-1])]
        for laid in zip(*[list(turned(a)) * (1 if a.ndim > 1 else 4) for a in arrays], strict=True):
            yield [Tensor(a, False, ForeignStorage()) for a in laid]


@pytest.mark.parametrize("scenario", [pytest.param(s, id=s.name) for s in SCENARIOS])
def test_operators_know_how_their_results_lie(scenario, monkeypatch):
    apply, wrong = door.apply, []

    def compared(operator, inputs, static):
        outputs = apply(operator, inputs, static)
        expr = Expr(operator, static, inputs, tuple(o.spec for o in outputs))
        for slot, output in enumerate(outputs):
            said = type(output).deferred(expr, slot, output.spec)
            strides = strides_of_value(said)
            plain = np.empty(output.shape, output.dtype).strides
            found = np.lib.stride_tricks.as_strided(
                np.empty(1, output.dtype), output.shape, plain if strides is None else strides
            )
            if output.size > 1 and in_memory(found) != in_memory(output.array):
                given = [x.array.strides for x in inputs]
                wrong.append((operator.name, given, output.array.strides))
        return outputs

    ng.set_flags()  # plans, which lead past what is compared here, are forgotten
    with monkeypatch.context() as patch:
        patch.setattr(door, "apply", compared)
        with ng.graph.saved_tensors_hooks(*[lambda value: value] * 2), ng.no_grad():
            for args in calls_of(scenario):
                scenario.function(*args)
    assert [w for w in wrong if w[0] not in WRITES] == []


@pytest.mark.parametrize("scenario", [pytest.param(s, id=s.name) for s in SCENARIOS])
def test_results_lie_alike_at_every_call(scenario):
    """The ways that are taken once an operator is known lay results out as the first one does."""
    for args in calls_of(scenario):
        results = []
        for _ in range(3):
            result = scenario.function(*args)
            results.append(result if isinstance(result, tuple) else (result,))
        for first, *others in zip(*results, strict=True):
            assert all(in_memory(o.array) == in_memory(first.array) for o in others)


def test_the_order_of_elementwise_results_is_numpys():
    rng = np.random.default_rng(0)
    for _ in range(300):
        shape = tuple(rng.integers(1, 4, rng.integers(1, 5)))
        operands = [laid_out_at_random(rng, shape) for _ in range(rng.integers(1, 4))]
        expected = np.nditer(
            [*operands, None], [], [["readonly"]] * len(operands) + [["writeonly", "allocate"]],
            order="K",
        ).operands[-1]  # fmt: skip
        small = kept([in_miniature(o.shape, o.strides) for o in operands])
        found = strides_like(small, expected.shape, expected.itemsize)
        plain = np.empty(expected.shape).strides
        kind = np.ndarray(expected.shape, float, np.empty(expected.size), 0, found or plain)
        assert in_memory(kind) == in_memory(expected)


def laid_out_at_random(rng, shape):
    """Return an array of a shape, or one that is broadcast to it, with axes in any order, some
    reversed or strided."""
    sizes = [n if rng.random() < 0.8 else 1 for n in shape]
    order = rng.permutation(len(shape))
    array = np.zeros([sizes[axis] * 2 for axis in order]).transpose(np.argsort(order))
    steps = rng.choice([1, 2, -1, -2], len(shape))
    return array[tuple(slice(None, None, step) for step in steps)][tuple(slice(n) for n in sizes)]


def test_laid_like():
    x = np.arange(24.0).reshape(2, 3, 4)
    for axes in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)):
        other = np.zeros([x.shape[axis] for axis in axes]).transpose(np.argsort(axes))
        found = laid_like(x, other)
        assert found.strides == other.strides
        assert (found == x).all()
        assert axes_in_memory(found.strides) == axes
    assert laid_like(x, np.zeros((3, 2)).T) is x
