"""Complex numbers in kernels: against operators of the same functions, and differences."""

import cmath
import math

import numpy as np
import pytest

import numgrad as ng
from numgrad._adjoint import derive, type_of

from .test_kernels import called

ROOT = 0.3 + 0.7j
TABLE = np.array([1.0 + 2.0j, 3.0 - 1.0j])
Z = np.array([0.7 + 0.3j, -0.4 + 1.1j, 0.2 - 0.8j, -0.9 - 0.5j])


def products(z):
    s = 0j
    for v in z:
        s += v * v.conjugate() * ROOT + v**2 / (1.5 + v) - TABLE[1] * v
    return s


def elementary(z):
    w = z[0]
    a = cmath.exp(w) + cmath.sqrt(z[2]) * cmath.log(w)
    b = np.sin(w) * np.cos(w) + np.tanh(w) + np.sinh(w) / np.cosh(w)
    return a * b + w**3 + w**0.5 + abs(z[1]) + TABLE[0] ** w


def arrays(z):
    out = np.zeros(4, dtype=np.complex128)
    out[1:] = z[:3] * z[1:]
    out[:2] += 1j * z[2:]
    out *= 2.0
    if abs(out[1]) > 1.0:
        p = -out[1]
    else:
        p = out[0]
    y = np.where(np.abs(z) > 0.9, out, 2.0)
    return p * np.dot(y, z) + np.vdot(out, z) + np.mean(y).imag


def exchanged(z):
    old, new = z.copy(), np.empty_like(z)
    for t in range(3):
        for i in range(len(z)):
            new[i] = old[i] - 0.1j * (old[(i + 1) % 4] - old[i - 1]) * t
        old, new = new, old
    return np.sum(np.abs(old) ** 2) + (old[1] * np.conj(old[2])).imag


def inner(a, b):
    return float(np.real(np.sum(np.conj(a) * b)))


@pytest.mark.parametrize("kernel", [products, elementary, arrays, exchanged])
def test_derivatives_of_both_orders_are_those_of_differences(kernel):
    derived = derive(kernel, [type_of(Z)])
    direction, cotangent = np.array([0.3 - 1j, 0.2j, 1.0 + 0.5j, -0.7]), Z[::-1] * (1 + 1j)
    seed = 1.3 - 0.4j if derived.results[0].is_complex else 0.6

    def gradient(z):
        return called(derived, [z], seeds=(seed,))[0][0]

    def along(function, h=1e-4):
        four = [function(Z + k * h * direction) for k in (-2, -1, 1, 2)]
        return (four[0] - 8 * four[1] + 8 * four[2] - four[3]) / (12 * h)

    expected = along(lambda z: inner(seed, kernel(z)))
    np.testing.assert_allclose(inner(gradient(Z), direction), expected, rtol=1e-8)

    _, _, tapes = called(derived, [Z], seeds=(seed,))
    full = [Z, np.zeros_like(Z), seed, *tapes]
    found, _, _ = called(derived.again(), full, shadows={1: cotangent}, seeds=())
    expected = along(lambda z: inner(gradient(z), cotangent))
    np.testing.assert_allclose(inner(found[0], direction), expected, rtol=1e-7)


def test_gradient_is_the_one_of_operators():
    @ng.njit
    def power(z, c):
        s = 0.0
        for v in z:
            s += abs(v * c + 1j) ** 2 + math.exp(v.imag)
        return s

    def plain(z, c):
        return (ng.abs(z * c + 1j) ** 2 + ng.exp(ng.imag(z))).sum()

    c = np.array(0.4 - 1.2j)
    for one, other in zip(
        ng.func.grad(power, argnums=(0, 1))(Z, c), ng.func.grad(plain, argnums=(0, 1))(Z, c),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_complex_numbers_of_single_precision_keep_it():
    derived = derive(exchanged, [type_of(Z.astype(np.complex64))])
    found = called(derived, [Z.astype(np.complex64)])[0][0]
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, called(derive(exchanged, [type_of(Z)]), [Z])[0][0], rtol=1e-4)
