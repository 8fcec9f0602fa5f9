"""The memory order of results is NumPy's."""

import numpy as np

from numgrad.ir.memory_order import axes_in_memory, in_miniature, kept, laid_like, strides_like


def in_memory(array):
    """Return the strides that matter."""
    return [step for step, n in zip(array.strides, array.shape, strict=True) if n > 1]


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
