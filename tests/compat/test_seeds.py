"""The examples in the documents of the originals give the numbers printed there."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.compat import fluid, paddle

pytestmark = pytest.mark.device_sample


def test_paddle_backward():
    x = ng.tensor([[1, 2], [3, 4]], dtype="float32", requires_grad=True)
    y = ng.tensor([[3, 2], [3, 4]], dtype="float32")
    first = ng.tensor([[1, 2], [2, 3]], dtype="float32")
    second = ng.tensor([[1, 1], [1, 1]], dtype="float32")
    z1, z2 = ng.matmul(x, y), ng.matmul(x, y)
    paddle.backward([z1, z2], [first, second], True)
    np.testing.assert_array_equal(x.grad.numpy(), [[12, 18], [17, 25]])
    x.clear_grad()
    paddle.backward([z1, z2], [first, None], True)
    np.testing.assert_array_equal(x.grad.numpy(), [[12, 18], [17, 25]])
    x.clear_grad()
    paddle.backward([z1, z2])
    np.testing.assert_array_equal(x.grad.numpy(), [[10, 14], [10, 14]])


@pytest.mark.parametrize(("create_graph", "expected"), [(False, 2.0), (True, 4.0)])
def test_fluid_grad(create_graph, expected):
    x = ng.tensor(np.ones(1, "float32"))
    x.stop_gradient = False
    y = x * x
    dx = fluid.grad(outputs=[y], inputs=[x], create_graph=create_graph, retain_graph=True)[0]
    z = y + dx
    z.backward()
    assert x.grad.item() == expected
