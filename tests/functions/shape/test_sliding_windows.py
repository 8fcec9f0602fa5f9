"""Windows that NumPy takes of a tensor."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import numgrad as ng


@pytest.mark.parametrize(("window", "axis"), [(2, 0), ((2, 3), None), ((2, 2), (1, 1)), (4, -1)])
def test_values_gradients_and_transforms(window, axis):
    x = np.random.default_rng(1).normal(size=(3, 4))

    def weighed(x):
        windows = sliding_window_view(x, window, axis=axis)
        return windows, (windows * np.cos(np.arange(windows.size)).reshape(windows.shape)).sum()

    leaf = ng.tensor(x, requires_grad=True)
    windows, total = weighed(leaf)
    np.testing.assert_array_equal(windows.detach(), weighed(x)[0])
    (g,) = ng.grad(total, leaf)
    step = np.random.default_rng(2).normal(size=x.shape)
    np.testing.assert_allclose((g * step).sum(), weighed(step)[1], rtol=1e-13)
    np.testing.assert_array_equal(ng.jit(lambda x: weighed(x)[1])(x), total.detach())
    mapped = ng.func.vmap(lambda x: weighed(x)[0])(np.stack([x, 2 * x]))
    np.testing.assert_array_equal(mapped[1], 2 * weighed(x)[0])


def test_windows_that_do_not_fit():
    x = ng.tensor(np.ones((2, 3)), requires_grad=True)
    for wrong in ({"window_shape": 4, "axis": 1}, {"window_shape": 2}):
        with pytest.raises(ValueError, match="window"):
            sliding_window_view(x, **wrong)
    with pytest.raises(TypeError, match="writeable"):
        sliding_window_view(x, 2, axis=0, writeable=True)
