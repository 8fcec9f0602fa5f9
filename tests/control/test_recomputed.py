"""``ng.checkpoint``: the values and gradients of the function, of which only arguments are kept."""

import numpy as np

import numgrad as ng

from .bodies import assert_close, assert_equal

W = np.array([[0.1, 0.2], [0.3, 0.4]])
X = np.array([1.0, 2.0])


def plain(x, w, power=2, *, name="tanh"):
    y = getattr(ng, name)(w @ x)
    return {"y": y**power, "sum": x.sum()}


def kept_bytes(value):
    """Return the bytes of the arrays that the nodes behind a value have saved."""
    waiting, found = [value.node], {}
    while waiting:
        node = waiting.pop()
        if node is not None and not node.is_accumulator:
            found |= {id(v.array): v.array.nbytes for v in node.saved or () if v is not None}
            waiting += node.parents
    return sum(found.values())


def loss(f):
    return lambda x, w: (lambda r: (r["y"] * r["sum"]).sum())(f(x, w, 3, name="sin"))


def test_derivatives_are_those_of_the_function():
    kept = ng.checkpoint(plain)
    assert_equal(kept(X, W), plain(ng.tensor(X), ng.tensor(W)))
    for transform in (ng.func.grad, ng.func.hessian, ng.func.jacfwd):
        expected = transform(loss(plain), (0, 1))(X, W)
        assert_close(transform(loss(kept), (0, 1))(X, W), expected)
        assert_close(ng.jit(transform(loss(kept), (0, 1)))(X, W), expected)


def test_closed_over_tensors_get_gradients():
    w = ng.tensor(W, requires_grad=True)
    ng.checkpoint(lambda x: ng.tanh(w @ x).sum())(ng.tensor(X)).backward()
    assert_close(w.grad, np.outer(1 - np.tanh(W @ X) ** 2, X))


def test_intermediate_values_are_not_kept():
    x = ng.tensor(np.ones(1 << 17), requires_grad=True)

    def f(x):
        for _ in range(8):
            x = ng.sin(x)
        return x.sum()

    assert kept_bytes(f(x)) == 8 * x.nbytes
    assert kept_bytes(ng.checkpoint(f)(x)) == x.nbytes
