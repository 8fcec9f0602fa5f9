"""Energies of bodies that attract one another, and bundle adjustment."""

from typing import Any

import numpy as np

from ..program import HVP, JACOBIAN, Family


def bodies(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return rng.standard_normal((n, 3)), rng.uniform(0.5, 1.5, n)


energy = Family("energy of 100 bodies", size=100, tiny=4, inputs=bodies)


@energy.program
def new_axes(np, x, m):
    d = x[:, None] - x[None]
    r = np.sqrt((d**2).sum(axis=-1) + 0.01)
    return -0.5 * (m[:, None] * m[None] / r).sum()


@energy.program
def expanded_dims(np, x, m):
    d = np.expand_dims(x, 1) - np.expand_dims(x, 0)
    r = np.sqrt(np.sum(d * d, axis=2) + 0.01)
    return -0.5 * np.sum(np.outer(m, m) / r)


@energy.program
def a_matrix_of_inner_products(np, x, m):
    squares = (x * x).sum(axis=1)
    r2 = squares[:, None] + squares - 2.0 * (x @ x.T) + 0.01
    return -0.5 * (m @ r2**-0.5 @ m)


@energy.program
def components(np, x, m):
    r2 = 0.01
    for axis in range(3):
        d = x[:, axis][:, None] - x[:, axis][None, :]
        r2 = r2 + d * d
    return -0.5 * (m[:, None] * m / np.sqrt(r2)).sum()


@energy.program
def einsum(np, x, m):
    d = x[:, None, :] - x[None, :, :]
    r = np.sqrt(np.einsum("ijk,ijk->ij", d, d) + 0.01)
    return -0.5 * np.einsum("i,j,ij->", m, m, 1.0 / r)


def paired(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    x, m = bodies(rng, n)
    i, j = np.triu_indices(n, 1)
    return x, m, i, j


@energy.program(inputs=paired)
def pairs_by_index(np, x, m, i, j):
    d = x[i] - x[j]
    return -(m[i] * m[j] / np.sqrt((d * d).sum(1) + 0.01)).sum() - 5.0 * (m * m).sum()


curvature = energy.derived("energy of 100 bodies, Hessian times vector", derivative=HVP)

lattice = Family(
    "forces of 1000 pairs", size=1000, tiny=6,
    inputs=lambda rng, n: (
        rng.standard_normal((n, 3)), rng.integers(0, n // 2, n), rng.integers(n // 2, n, n)),
)  # fmt: skip


@lattice.program
def lennard_jones(np, x, i, j):
    r2 = ((x[i] - x[j]) ** 2).sum(axis=1) + 0.5
    s6 = 1.0 / r2**3
    return (4.0 * (s6 * s6 - s6)).sum()


@lattice.program
def lennard_jones_by_distance(np, x, i, j):
    r = np.sqrt(((x[i] - x[j]) ** 2).sum(axis=1) + 0.5)
    return (4.0 * ((1.0 / r) ** 12 - (1.0 / r) ** 6)).sum()


@lattice.program
def lennard_jones_taken(np, x, i, j):
    d = np.take(x, i, axis=0) - np.take(x, j, axis=0)
    s6 = (np.sum(d * d, axis=1) + 0.5) ** -3
    return (4.0 * s6 * (s6 - 1.0)).sum()


def scenes(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    rotation, shift = 0.1 * rng.standard_normal((n, 3)), rng.standard_normal((n, 3))
    point = rng.standard_normal((n, 3)) + [0.0, 0.0, 8.0]
    return rotation, shift, point, rng.standard_normal((n, 2))


bundle = Family(
    "bundle adjustment, 10 000 blocks", size=10**4, tiny=3, inputs=scenes, wrt=3,
    derivative=JACOBIAN, rows=2,
)  # fmt: skip


def projected(np: Any, p: Any, seen: Any) -> Any:
    u = p[:, :2] / p[:, 2:]
    r2 = (u * u).sum(axis=1, keepdims=True)
    return 500.0 * u * (1.0 + 0.1 * r2 + 0.01 * r2 * r2) - seen


@bundle.program
def a_cross_product(np, rotation, shift, point, seen):
    angle = np.sqrt((rotation * rotation).sum(axis=1, keepdims=True) + 1e-20)
    axis = rotation / angle
    along = (axis * point).sum(axis=1, keepdims=True) * (1.0 - np.cos(angle))
    turned = point * np.cos(angle) + np.cross(axis, point) * np.sin(angle) + axis * along
    return projected(np, turned + shift, seen)


def cross(a: Any, b: Any) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


@bundle.program
def components_stacked(np, rotation, shift, point, seen):
    r, t, p = ([a[:, i] for i in range(3)] for a in (rotation, shift, point))
    angle = np.sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2 + 1e-20)
    c, s = np.cos(angle), np.sin(angle)
    axis = [a / angle for a in r]
    across = cross(axis, p)
    along = (axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2]) * (1.0 - c)
    x, y, z = (p[i] * c + across[i] * s + axis[i] * along + t[i] for i in range(3))
    u, v = x / z, y / z
    r2 = u * u + v * v
    scale = 500.0 * (1.0 + 0.1 * r2 + 0.01 * r2 * r2)
    return np.stack([u * scale, v * scale], axis=1) - seen


@bundle.program
def rotation_matrices(np, rotation, shift, point, seen):
    angle = np.sqrt((rotation**2).sum(axis=1) + 1e-20)
    k = rotation / angle[:, None]
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    outer = np.einsum("ni,nj,nj->ni", k, k, point)
    across = np.stack(cross(k.T, point.T), axis=1)
    return projected(np, point * c + across * s + outer * (1.0 - c) + shift, seen)


def summed(text: Any) -> Any:
    return lambda np, *arguments: (text(np, *arguments) ** 2).sum()


cost = Family("bundle adjustment, gradient of 1000 blocks", size=1000, tiny=3, inputs=scenes, wrt=3)
for program in bundle.programs:
    cost.add(program.formulation, summed(program.text))

FAMILIES = [energy, curvature, lattice, bundle, cost]
