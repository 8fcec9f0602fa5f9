"""Programs of mechanics and physics written as classes with state, operators and recursions."""

import itertools

import numpy

from numgrad import special

from .collection import program

rng = numpy.random.default_rng(12)


class Mattress:
    """Masses and springs above a floor; positions and velocities are views of one array."""

    def __init__(self, np, places, stiffness):
        self.np, self.stiffness = np, stiffness
        self.state = np.zeros((2, *places.shape))
        self.x, self.v = self.state
        self.x[:] = places
        self.springs = [
            (i, j, np.linalg.norm(places[i] - places[j]))
            for i, j in itertools.combinations(range(len(places)), 2)
        ]

    def forces(self):
        force = self.np.zeros_like(self.x)
        force[:, 1] -= 9.81
        for i, j, rest in self.springs:
            apart = self.x[j] - self.x[i]
            length = self.np.sqrt(apart @ apart)
            pull = self.stiffness * (length - 0.9 * rest) * apart / length
            force[i] += pull
            force[j] -= pull
        return force

    def step(self, dt, bounce):
        self.v += dt * self.forces()
        self.x += dt * self.v
        under = self.x[:, 1] < 0
        self.x[under, 1] *= -bounce
        self.v[under, 1] *= -bounce
        self.v[under, 0] -= 0.3 * self.v[under, 0]
        return under


@program(rng.uniform(0.1, 1.1, (4, 2)), numpy.array(20.0), numpy.array(0.6), allocates=True)
def springs_above_a_floor(np, places, stiffness, bounce):
    """A body of springs falls, bounces and slides; its contacts are masks beside an axis."""
    body = Mattress(np, places, stiffness)
    contacts = np.zeros(4)
    track = []
    for _ in range(25):
        contacts += body.step(0.03, bounce)
        track.append(body.state.mean(axis=1))
    body.state[1, -1] = 0.0
    moved = np.stack(track)[:, 0] - places.mean(axis=0)
    return np.concatenate([body.state.sum(axis=(0, 2)), contacts, moved[::8].ravel()])


class Quaternion:
    """A number ``w + v`` with the operators of numbers, also where one stands to the left."""

    def __init__(self, w, v):
        self.w, self.v = w, v

    def __add__(self, other):
        return Quaternion(self.w + other.w, self.v + other.v)

    def __mul__(self, other):
        if not isinstance(other, Quaternion):
            return Quaternion(self.w * other, self.v * other)
        a, b = self, other
        crossed = a.v[[1, 2, 0]] * b.v[[2, 0, 1]] - a.v[[2, 0, 1]] * b.v[[1, 2, 0]]
        return Quaternion(a.w * b.w - a.v @ b.v, a.w * b.v + b.w * a.v + crossed)

    def __rmul__(self, number):
        return self * number

    def __truediv__(self, number):
        return self * (1 / number)

    def __invert__(self):
        return Quaternion(self.w, -self.v)

    def __abs__(self):
        return (self.w**2 + self.v @ self.v) ** 0.5

    def __call__(self, vector):
        return (self * Quaternion(0.0, vector) * ~self).v


@program(rng.normal(size=3), numpy.array([1.0, 2.0, 3.5]), rng.normal(size=(3, 3)), analytic=True)
def tumbling_body(np, spin, inertia, marks):
    """A rigid body without torque turns about its middle axis; where its marks go."""
    attitude, energy = Quaternion(1.0, 0 * spin), []

    def rate(w):
        return -np.cross(w, inertia * w) / inertia

    for _ in range(12):
        k1 = rate(spin)
        k2 = rate(spin + 0.025 * k1)
        middle = spin + 0.025 * k1
        attitude = attitude + 0.5 * 0.05 * (attitude * Quaternion(0.0, middle))
        attitude = attitude / abs(attitude)
        spin = spin + 0.05 * k2
        energy += [0.5 * np.sum(inertia * spin**2)]
    momentum = attitude(inertia * spin)
    turned = np.stack([attitude(mark) for mark in marks])
    return np.concatenate([momentum, turned.ravel(), np.stack(energy[::4])])


@program(numpy.array(1.4), numpy.array([0.35, 0.9]), allocates=True)
def hydrogen_molecule(np, distance, exponents):
    """The self-consistent field of two electrons in Gaussians on two nuclei."""
    centres = np.array([0.0, 0.0, 1.0, 1.0]) * distance
    alpha = np.concatenate([exponents, exponents])
    n = len(alpha)
    norm = (2 * alpha / np.pi) ** 0.75
    total = alpha[:, None] + alpha
    middle = (alpha * centres)[:, None] + alpha * centres
    middle = middle / total
    reduced = alpha[:, None] * alpha / total
    squared = (centres[:, None] - centres) ** 2

    def boys(t):
        t = np.maximum(t, 1e-10)
        return 0.5 * np.sqrt(np.pi / t) * special.erf(np.sqrt(t))

    overlap = np.outer(norm, norm) * (np.pi / total) ** 1.5 * np.exp(-reduced * squared)
    core = reduced * (3 - 2 * reduced * squared) * overlap
    for nucleus in (0.0, distance):
        away = total * (middle - nucleus) ** 2
        core -= 2 * np.sqrt(total / np.pi) * overlap * boys(away)
    pairs = np.empty((n,) * 4)
    for i, j, k, m in np.ndindex(n, n, n, n):
        p, q = total[i, j], total[k, m]
        between = boys(p * q / (p + q) * (middle[i, j] - middle[k, m]) ** 2)
        pairs[i, j, k, m] = 2 * np.sqrt(p * q / (np.pi * (p + q))) * between
    pairs *= overlap[:, :, None, None] * overlap[None, None]
    orthogonal = np.linalg.inv(np.linalg.cholesky(overlap)).T
    density, energy = np.zeros((n, n)), 0.0
    for _ in range(12):
        coulomb = np.einsum("ijkl,kl->ij", pairs, density)
        exchange = np.einsum("ikjl,kl->ij", pairs, density)
        fock = core + 2 * coulomb - exchange
        levels, orbitals = np.linalg.eigh(orthogonal.T @ fock @ orthogonal)
        orbitals = orthogonal @ orbitals[:, :1]
        density = orbitals @ orbitals.T
        energy = np.sum(density * (core + fock)) + 1 / distance
    return np.concatenate([[energy], levels[:2], np.diagonal(density @ overlap)])


@program(numpy.array([1.0, 0.7, 0.2]), rng.uniform(0.5, 1.5, 6), analytic=True)
def transport_of_neutrons(np, sections, widths):
    """Sweeps through a slab along discrete directions, until the source has settled."""
    total, scattered, source = sections
    cosines, weights = numpy.polynomial.legendre.leggauss(4)
    flux = np.zeros_like(widths * total)
    for _ in range(4):
        emitted = 0.5 * (scattered * flux + source)
        flux = np.zeros_like(emitted)
        leaks = []
        for cosine, weight in zip(cosines, weights, strict=True):
            order = range(6) if cosine > 0 else reversed(range(6))
            inflow = 0.0
            for cell in order:
                steep = 2 * abs(cosine) / widths[cell]
                centre = (emitted[cell] + steep * inflow) / (total + steep)
                inflow = 2 * centre - inflow
                flux[cell] += weight * centre
            leaks.append(weight * abs(cosine) * inflow)
    balance = np.sum(widths * (source - (total - scattered) * flux)) - sum(leaks)
    return np.concatenate([flux, np.stack(leaks), [balance]])
