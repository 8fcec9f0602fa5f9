"""Jacobians of complex functions: both modes against differences of real and imaginary parts."""

import numpy as np
import pytest

import numgrad as ng

Z = np.array([1.0 + 2.0j, 0.5 - 0.25j])
X = np.array([0.75, -1.5, 2.0])

FUNCTIONS = {
    "holomorphic": lambda z: z * z * np.sin(z),
    "conjugate": lambda z: np.conj(z) * z * z,
    "sum": lambda z: (z * z * np.conj(z)).sum(),
    "real": lambda z: np.abs(z) ** 2 * np.real(z),
    "imaginary": lambda z: np.imag(z * z * z),
    "real argument": lambda x: x * x * (1 + 2j) * np.exp(1j * x),
    "real in, real out": lambda x: np.abs(x * (1 + 2j)) ** 2,
}


def argument(name):
    return X if name.startswith("real ") else Z


def by_differences(function, x):
    """Return what the docs define: to real arguments the derivative, to complex ones the gradient
    of the real part."""

    def along(direction):
        step = 1e-6 * direction
        return (np.asarray(function(x + step)) - np.asarray(function(x - step))) / 2e-6

    units = np.eye(x.size).reshape(x.size, *x.shape)
    columns = [along(unit) for unit in units]
    if x.dtype.kind == "c":
        columns = [
            a.real + 1j * along(1j * unit).real for a, unit in zip(columns, units, strict=True)
        ]
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("transform", [ng.func.jacrev, ng.func.jacfwd, ng.func.jacobian])
def test_a_jacobian_is_what_the_documentation_defines(transform, name):
    function, x = FUNCTIONS[name], argument(name)
    expected = by_differences(function, x)
    for found in (transform(function)(x), ng.jit(transform(function))(x)):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    if transform is not ng.func.jacobian:
        np.testing.assert_array_equal(transform(function, chunk_size=1)(x), transform(function)(x))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_both_jacobians_agree(name):
    x = argument(name)
    found = []
    for transform in (ng.func.jacrev, ng.func.jacfwd):
        jacobian = transform(FUNCTIONS[name])

        def size(s, jacobian=jacobian):
            return (np.abs(jacobian(s * x)) ** 2).sum()

        found.append(ng.func.grad(size)(np.array(1.25)))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-12)
    step = (size(1.25 + 1e-6) - size(1.25 - 1e-6)) / 2e-6
    np.testing.assert_allclose(found[0], step, rtol=1e-7)


@pytest.mark.parametrize("transform", [ng.func.jacrev, ng.func.jacfwd])
@pytest.mark.parametrize("dtypes", [(np.complex64, np.float32), (np.complex128, np.float64)])
def test_real_and_complex_arguments_of_one_function(transform, dtypes):
    z, x = Z.astype(dtypes[0]), X[:2].astype(dtypes[1])

    def function(z, x):
        return {"complex": z * x * x, "real": (np.abs(z) ** 2 * x).sum()}

    found = transform(function, argnums=(0, 1))(z, x)
    assert {j.dtype for j in found["complex"]} == {np.dtype(dtypes[0])}
    assert [j.dtype for j in found["real"]] == [np.dtype(d) for d in dtypes]
    np.testing.assert_allclose(found["complex"][0], np.diag(x * x), rtol=1e-6)
    np.testing.assert_allclose(found["complex"][1], np.diag(2 * z * x), rtol=1e-6)
    np.testing.assert_allclose(found["real"][0], 2 * z * x, rtol=1e-6)
    np.testing.assert_allclose(found["real"][1], np.abs(z) ** 2, rtol=1e-6)


def test_a_hessian_to_a_complex_argument_is_refused():
    def function(z):
        return (np.abs(z) ** 4).sum()

    with pytest.raises(ng.errors.DtypeError, match=r"hessian\(lambda a, b: f\(a \+ 1j \* b\)"):
        ng.func.hessian(function)(Z)
    blocks = ng.func.hessian(lambda a, b: function(a + 1j * b), argnums=(0, 1))(Z.real, Z.imag)
    direction = np.array([0.5 - 1j, 2.0 + 0.25j])
    _, (product,) = ng.func.hvp(function, (Z,), (direction,))
    expected = [
        row[0] @ direction.real + row[1] @ direction.imag for row in blocks
    ]
    np.testing.assert_allclose(product, expected[0] + 1j * expected[1], rtol=1e-12)
