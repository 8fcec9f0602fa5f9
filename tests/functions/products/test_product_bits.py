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


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("count", [3, 40], ids=["few", "many"])
def test_outer_products_are_multiplications_however_they_are_written(dtype, count):
    rng = np.random.default_rng(3)
    a, b = (rng.choice([-0.0, 0.0, 1.5, -2.0, 1e-3], (count, n)).astype(dtype) for n in (3, 5))
    expected = a[:, :, None] * b[:, None, :]
    zeros = expected == 0
    ways = [
        lambda a, b: ng.matmul(a[:, :, None], b[:, None, :]),
        lambda a, b: ng.einsum("bi,bj->bij", a, b),
        lambda a, b: ng.permute_dims(ng.einsum("bi,bj->bji", a, b), (0, 2, 1)),
    ]
    for way in ways:
        for found in (way(ng.tensor(a), ng.tensor(b)).numpy(), np.asarray(ng.jit(way)(a, b))):
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, expected)
            if np.dtype(dtype).kind == "f":  # the sum of one product, -0.0, is -0.0
                np.testing.assert_array_equal(np.signbit(found)[zeros], np.signbit(expected)[zeros])


@pytest.mark.parametrize("count", [3, 40], ids=["few", "many"])
@pytest.mark.parametrize("captured", [False, True])
def test_gradients_of_outer_products(count, captured):
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((count, 3)), rng.standard_normal((count, 5))
    weights = rng.standard_normal((count, 3, 5))

    def total(a, b):
        return (weights * ng.einsum("bi,bj->bij", a, b)).sum()

    gradient = ng.func.grad(total, argnums=(0, 1))
    for _ in range(3):
        ga, gb = (ng.jit(gradient) if captured else gradient)(a, b)
        np.testing.assert_allclose(ga, np.einsum("bij,bj->bi", weights, b), 1e-13)
        np.testing.assert_allclose(gb, np.einsum("bij,bi->bj", weights, a), 1e-13, 1e-15)


@pytest.mark.parametrize(
    "shapes", [((4, 3, 5), (5,)), ((5,), (2, 5, 3)), ((2, 4, 3, 5), (5,)), ((4, 3, 5), (5, 2))]
)
def test_stacks_with_a_vector_or_a_matrix(shapes):
    rng = np.random.default_rng(6)
    x, y = (rng.standard_normal(shape) for shape in shapes)
    a, b = (ng.tensor(z, requires_grad=True) for z in (x, y))
    found = set()
    for _ in range(120):
        z = a @ b
        grads = ng.grad(z, [a, b], np.ones(z.shape))
        found.add(b"".join(x.detach().numpy().tobytes() for x in (z, *grads)))
    assert len(found) == 1
    np.testing.assert_allclose(z.detach().numpy(), x @ y, 1e-13)
    with pytest.raises(ValueError, match="do not fit"):
        a @ np.ones(9)
