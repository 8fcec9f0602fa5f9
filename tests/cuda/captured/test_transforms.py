"""Forward mode, mapped functions, Jacobians and sparse derivatives of tensors on a device: what the
CPU gives for the same arrays, and it stays there."""

import numpy as np
import pytest

import numgrad as ng

F = ng.func
X, V = np.array([0.5, 1.2, 2.0]), np.array([1.0, -1.0, 0.5])
ROWS = np.array([[0.5, 1.2, 2.0], [1.5, -0.3, 0.7]])


def joined(x):
    return ng.concat([ng.sin(x) * x, x[:2] ** 2])


def written(x):
    y = ng.zeros_like(x)
    y[1:] = x[1:] * x[:-1]
    y[0] = x[2]
    return y * y


def scalar(x):
    return (joined(x) ** 2).sum()


def chained(x):
    return x[1:] * ng.exp(x[:-1])


TRANSFORMS = {
    "jvp": lambda x, v: F.jvp(joined, (x,), (v,)),
    "jvp of writes": lambda x, v: F.jvp(written, (x,), (v,)),
    "linearize": lambda x, v: F.linearize(joined, x)[1](v),
    "jacfwd": lambda x, v: F.jacfwd(written)(x),
    "jacrev": lambda x, v: F.jacrev(written)(x),
    "jacobian": lambda x, v: F.jacobian(joined, chunk_size=2)(x),
    "hvp": lambda x, v: F.hvp(scalar, (x,), (v,)),
    "vhp": lambda x, v: F.vhp(scalar, (x,), (v,)),
    "hessian": lambda x, v: F.hessian(scalar)(x),
    "gradient of a tangent": lambda x, v: F.grad(lambda x: F.jvp(joined, (x,), (v,))[1].sum())(x),
}
MAPPED = {
    "vmap": F.vmap(joined),
    "vmap of writes": F.vmap(written),
    "Jacobians of samples": F.vmap(F.jacfwd(joined)),
    "gradients of samples": F.vmap(F.grad(scalar)),
    "gradient of a mapped function": F.grad(lambda rows: F.vmap(scalar)(rows).sum()),
}


def flat(result):
    if isinstance(result, tuple):
        return [part for item in result for part in flat(item)]
    return [result]


def compare(found, expected):
    for ours, theirs in zip(flat(found), flat(expected), strict=True):
        assert str(ours.device) == "cuda:0"
        np.testing.assert_allclose(ours.cpu().numpy(), np.asarray(theirs), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("is_captured", [False, True], ids=["eager", "captured"])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms(name, is_captured):
    transform = ng.jit(TRANSFORMS[name]) if is_captured else TRANSFORMS[name]
    x, v = (ng.tensor(a, device="cuda") for a in (X, V))
    for _ in range(2):  # the second call runs the program of the first one
        compare(transform(x, v), TRANSFORMS[name](X, V))


@pytest.mark.parametrize("is_captured", [False, True], ids=["eager", "captured"])
@pytest.mark.parametrize("name", MAPPED)
def test_functions_of_samples(name, is_captured):
    mapped = ng.jit(MAPPED[name]) if is_captured else MAPPED[name]
    rows = ng.tensor(ROWS, device="cuda")
    for _ in range(2):
        compare(mapped(rows), MAPPED[name](ROWS))


def test_a_jacobian_in_an_array_of_the_host_comes_in_chunks():
    out = np.zeros((5, 3))
    found = F.jacobian(joined, out=out, chunk_size=2)(ng.tensor(X, device="cuda"))
    assert found is out
    np.testing.assert_allclose(out, F.jacobian(joined)(X), rtol=1e-13)


def test_sparse_derivatives():
    x = ng.tensor(X, device="cuda")
    found, expected = ng.sparse.jacobian(chained, x), ng.sparse.jacobian(chained, X)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-13)
    hessian = ng.sparse.hessian(lambda x: chained(x).sum(), x)
    dense = F.hessian(lambda x: chained(x).sum())(X)
    np.testing.assert_allclose(hessian.toarray(), dense, rtol=1e-13)
