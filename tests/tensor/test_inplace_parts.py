"""Real and imaginary parts are views: what is written to one is seen by the other, in NumPy's way,
with gradients."""

import numpy as np
import pytest

import numgrad as ng

Z = np.array([1 + 2j, 3 - 4j, -0.5 + 0.3j, 2 + 1j])


def read_after_a_write(np, z):
    part = z.real
    z[0] = 5 * z[1]
    return (part * part).sum()


def assigned(np, z):
    z.real = 2 * z.imag
    return abs(z * z).sum()


def in_place(np, z):
    z.real *= 3
    z.imag += z.real
    return (z * z.conj() * z).imag.sum()


def regions(np, z):
    z.real[1:] = z.imag[:-1] * 2
    z[::-1].imag[0] = z[1].real
    return (z * z * z).real.sum()


def masks_and_positions(np, z):
    z.real[z.imag > 0] = 0
    z.imag[np.array([0, 2, 0])] = z.real[np.array([1, 1, 1])]
    return (z * z * z).real.sum()


def views_of_parts(np, z):
    z = z.reshape(2, 2)
    rows = z.real.T
    rows[0] += z.imag[:, 1]
    z *= 2
    return (rows**2).sum() + abs(z**3).sum()


def filled_by_parts(np, z):
    made = np.zeros(4, complex)
    made.real, made.imag = z.real, z.imag**2
    part = made.imag
    part -= 1
    part[1:] *= part[:-1].copy()
    return abs(made**2).sum() + part.sum()


def targets(np, z):
    np.multiply(z.real, 3, out=z.real)
    z.imag[...] = np.exp(0.1 * z.real)
    return abs(z).sum()


def spectrum(np, z):
    spectrum = np.fft.fft(z)
    spectrum.real[2] = 0
    np.real(spectrum)[1] += spectrum.imag[0]
    return (abs(np.fft.ifft(spectrum)) ** 2).sum()


def of_real_numbers(np, z):
    x = z.real.copy()
    x.real[1] = 9
    whole = x.real
    whole *= 2
    x.real = x.real + 1
    return (x**2).sum()


PROGRAMS = (read_after_a_write, assigned, in_place, regions, masks_and_positions, views_of_parts,
            filled_by_parts, targets, spectrum, of_real_numbers)  # fmt: skip


def differences(program):
    """Return the gradient by central differences, ``dL/dRe + i dL/dIm``."""
    gradient, h = np.zeros(4, complex), 1e-6
    for step in np.vstack([np.eye(4), 1j * np.eye(4)]):
        rise = program(np, Z + h * step) - program(np, Z - h * step)
        gradient += step * rise / (2 * h)
    return gradient


WAYS = {
    "eager": lambda f: ng.func.grad(f)(ng.tensor(Z)),
    "captured": lambda f: ng.jit(ng.func.grad(f))(ng.tensor(Z)),
    "captured alone": lambda f: ng.func.grad(ng.jit(f))(ng.tensor(Z)),
    "mapped": lambda f: ng.func.vmap(ng.func.grad(f))(ng.tensor(np.stack([Z, Z + 1])))[0],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_gradients_of_programs_that_write_parts(program, way):
    found = WAYS[way](lambda z: program(ng, z * 1))
    np.testing.assert_allclose(found.numpy(), differences(program), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("program", PROGRAMS)
def test_values_without_gradients(program):
    np.testing.assert_allclose(program(ng, ng.tensor(Z)).numpy(), program(np, Z.copy()))


def test_a_part_is_memory_of_the_whole():
    z = ng.tensor(Z)
    assert ng.shares_memory(z.real, z)
    assert z.imag.numpy().base is not None


def test_parts_that_cannot_be_written():
    x = ng.tensor([1.0, 2.0])
    with pytest.raises(ng.errors.InplaceError, match="read-only"):
        x.imag = 3.0
    with pytest.raises(ng.errors.InplaceError, match="real numbers have no imaginary part"):
        ng.jit(lambda x: np.copyto(ng.imag(x), 1.0))(x)
    leaf = ng.tensor(Z, requires_grad=True)
    with pytest.raises(ng.errors.LeafInplaceError, match="a view of a leaf"):
        leaf.real = 3.0
    z = ng.tensor(Z)
    with pytest.raises(ng.errors.DtypeError, match="complex values cannot be written"):
        z.real = 1j
    with pytest.raises(AttributeError, match=r"write z\.real\[i\] = value"):
        z[0].real = 3.0
