"""Products have the same bits alone and among others, and however often they are computed."""

import numpy as np
import pytest

import numgrad as ng


@pytest.mark.parametrize("shapes", [((9, 8), (700, 8, 1)), ((4, 9, 8), (700, 4, 8, 1))], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_stack_that_shares_matrices_has_the_bits_of_its_parts(shapes, dtype):
    rng = np.random.default_rng(8)
    a, b = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    together = ng.matmul(a, b).numpy()
    for n in (0, 123, 699):
        np.testing.assert_array_equal(together[n], ng.matmul(a, b[n]).numpy())


@pytest.mark.parametrize("shapes", [((3, 4), (4,)), ((3,), (3, 4)), ((5,), (5,))])
def test_products_with_vectors_have_the_same_bits_however_often(shapes):
    rng = np.random.default_rng(4)
    a, b = (ng.tensor(rng.normal(size=shape), requires_grad=True) for shape in shapes)
    found = set()
    for _ in range(120):
        y = a @ b
        grads = ng.grad(y, [a, b], np.ones(y.shape))
        found.add(b"".join(x.detach().numpy().tobytes() for x in (y, *grads)))
    assert len(found) == 1
    np.testing.assert_allclose(y.detach().numpy(), a.detach().numpy() @ b.detach().numpy(), 1e-14)
