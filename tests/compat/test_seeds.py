"""The examples in the documents of the originals give the numbers printed there."""

from contextlib import redirect_stdout
from io import StringIO

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


def run(code, **names):
    """Run an example whose lines of import are replaced by names; return what it prints."""
    with redirect_stdout(StringIO()) as printed:
        exec("\n".join(line for line in code.splitlines() if "import" not in line), names)
    return printed.getvalue()


FLUID = """
import paddle
import paddle.fluid as fluid

def test_dygraph_grad(create_graph):
    with paddle.imperative.guard():
        x = paddle.ones(shape=[1], dtype='float32', device=None, out=None)
        x.stop_gradient = False
        y = x * x
        dx = fluid.dygraph.grad(outputs=[y], inputs=[x], create_graph=
            create_graph, retain_graph=True)[0]
        z = y + dx
        z.backward()
        return x.gradient()

print(test_dygraph_grad(create_graph=False))
print(test_dygraph_grad(create_graph=True))
"""

PADDLE = """
import paddle
x = paddle.to_tensor([[1, 2], [3, 4]], dtype='float32', stop_gradient=False)
y = paddle.to_tensor([[3, 2], [3, 4]], dtype='float32')
grad_tensor1 = paddle.to_tensor([[1,2], [2, 3]], dtype='float32')
grad_tensor2 = paddle.to_tensor([[1,1], [1, 1]], dtype='float32')
z1 = paddle.matmul(x, y)
z2 = paddle.matmul(x, y)
paddle.autograd.backward([z1, z2], [grad_tensor1, grad_tensor2], True)
print(x.grad.tolist())
x.clear_grad()
paddle.autograd.backward([z1, z2], [grad_tensor1, None], True)
print(x.grad.tolist())
x.clear_grad()
paddle.autograd.backward([z1, z2])
print(x.grad.tolist())
"""


def test_examples_run_as_they_stand_but_for_their_imports():
    assert run(FLUID, paddle=paddle, fluid=fluid) == "[2.]\n[4.]\n"
    both, last = "[[12.0, 18.0], [17.0, 25.0]]\n", "[[10.0, 14.0], [10.0, 14.0]]\n"
    assert run(PADDLE, paddle=paddle) == both + both + last


def test_gradient_is_an_array_of_its_own_or_none():
    x = ng.tensor(np.ones(2, "float32"), requires_grad=True)
    assert x.gradient() is None
    (x * x).sum().backward()
    found = x.gradient()
    assert type(found) is np.ndarray
    assert found.dtype == np.float32
    found += 1.0
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 2.0])
    assert paddle.to_tensor([0.5]).dtype == np.float32
    assert paddle.to_tensor([1, 2]).dtype == np.int64
    with pytest.raises(TypeError, match="place= is not supported"):
        paddle.to_tensor([0.5], place="gpu")
