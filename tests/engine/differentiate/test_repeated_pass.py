"""Passes that are repeated give what first ones give, whatever leaves are chosen."""

import numpy as np
import pytest

import numgrad as ng


@pytest.mark.parametrize("turns", [1, 2, 3, 4])
def test_chosen_leaves_alone_get_gradients_at_each_pass(turns):
    x, z, apart = (ng.tensor([1.0, 2.0], requires_grad=True) for _ in range(3))
    for _ in range(turns):
        (x * z).sum().backward(inputs=[x])
        (x * z).sum().backward(inputs=x)
        (x * z).sum().backward(inputs=(x, x))
    np.testing.assert_array_equal(x.grad.numpy(), 3.0 * turns * np.array([1.0, 2.0]))
    assert z.grad is None
    for _ in range(turns):
        y = x * z
        y.sum().backward(inputs=[y, z])
        (x * z).sum().backward(inputs=[z, apart])
    np.testing.assert_array_equal(z.grad.numpy(), 2.0 * turns * np.array([1.0, 2.0]))
    assert apart.grad is None
    with pytest.raises(ValueError, match="cannot be empty"):
        (x * z).sum().backward(inputs=[])
