"""Products have NumPy's dtypes and values: halves stay halves, integers wrap around."""

import numpy as np
import pytest

import numgrad as ng

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128")
PRODUCTS = {
    "matmul": lambda xp, x: xp.matmul(x, x),
    "matmul, vectors": lambda xp, x: xp.matmul(x[0], x[1]),
    "matmul, stack": lambda xp, x: xp.matmul(xp.stack([x, x]), x),
    "inner": lambda xp, x: xp.inner(x, x),
    "outer": lambda xp, x: xp.outer(x, x),
    "tensordot": lambda xp, x: xp.tensordot(x, x),
    "vecdot": lambda xp, x: xp.vecdot(x, x),
    "vdot": lambda xp, x: xp.vdot(x, x),
    "kron": lambda xp, x: xp.kron(x, x),
    "einsum, sum": lambda xp, x: xp.einsum("ij->i", x),
    "einsum, matrices": lambda xp, x: xp.einsum("ij,jk", x, x),
    "einsum, elements": lambda xp, x: xp.einsum("ij,ij,ij->j", x, x, x),
    "matrix_power": lambda xp, x: xp.linalg.matrix_power(x, 3),
    "multi_dot": lambda xp, x: xp.linalg.multi_dot([x, x, x]),
}


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_products_have_numpys_dtype_and_values(product):
    for dtype in DTYPES:
        x = np.array([[20, 1], [1, 17]], dtype)
        expected = np.asarray(product(np, x))
        for _ in range(2):  # the second call takes a plan
            found = np.asarray(product(ng, ng.tensor(x)))
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, 1e-3 if dtype == "float16" else 1e-6)


@pytest.mark.parametrize("product", [ng.matmul, ng.inner])
def test_products_of_halves_are_halves_captured_and_derived(product):
    x = np.array([[1.5, 2.0], [-0.25, 3.0]], np.float16)
    captured = ng.jit(product, fuse="never")(x, x)
    np.testing.assert_array_equal(captured, product(x, x).numpy(), strict=True)
    leaf = ng.tensor(x, requires_grad=True)
    (gradient,) = ng.grad(product(leaf, x).sum(), leaf)
    assert gradient.dtype == np.float16
    others = x.sum(1 if product is ng.matmul else 0, dtype=float)
    np.testing.assert_array_equal(gradient.numpy(), np.broadcast_to(others, (2, 2)))
