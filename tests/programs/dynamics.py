"""Programs that follow a system in time: ordinary differential equations, particles, queues."""

import numpy

from .collection import program

rng = numpy.random.default_rng(2)


@program(
    numpy.array([1.0, 1.0, 20.0]), numpy.array([10.0, 28.0, 8 / 3]), analytic=True, allocates=True
)
def lorenz_by_runge_kutta(np, state, theta):
    """The classical method of fourth order, its states collected in a list."""

    def rhs(u):
        x, y, z = u
        sigma, rho, beta = theta
        return np.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])

    h = 0.02
    trajectory = [state]
    for _ in range(25):
        u = trajectory[-1]
        k1 = rhs(u)
        k2 = rhs(u + h / 2 * k1)
        k3 = rhs(u + h / 2 * k2)
        k4 = rhs(u + h * k3)
        trajectory.append(u + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    trajectory = np.array(trajectory)
    return trajectory[::5].mean(axis=0) + 0.01 * trajectory[-1] ** 2


@program(
    rng.normal(size=(4, 3)), 0.2 * rng.normal(size=(4, 3)), rng.uniform(0.5, 2, 4), analytic=True
)
def n_body(np, positions, velocities, masses):
    """Gravitating bodies by the leapfrog method; the energy at the end."""
    x, v = positions.copy(), velocities.copy()
    softening = 0.05

    def acceleration(x):
        d = x[None, :, :] - x[:, None, :]
        r2 = (d**2).sum(axis=-1) + softening
        return (masses[None, :, None] * d * r2[..., None] ** -1.5).sum(axis=1)

    h = 0.05
    a = acceleration(x)
    for _ in range(8):
        v += 0.5 * h * a
        x += h * v
        a = acceleration(x)
        v += 0.5 * h * a
    kinetic = 0.5 * np.sum(masses * np.sum(v * v, axis=1))
    potential = 0.0
    for i in range(len(masses)):
        for j in range(i):
            distance = np.sqrt(np.sum((x[i] - x[j]) ** 2) + softening)
            potential = potential - masses[i] * masses[j] / distance
    return kinetic + potential + np.sum(x * v)


@program(
    numpy.stack(numpy.meshgrid(*[[0.6, 1.8]] * 3), -1).reshape(8, 3)
    + 0.1 * rng.normal(size=(8, 3)),
    0.1 * rng.normal(size=(8, 3)),
)
def molecular_dynamics(np, positions, velocities):
    """Lennard-Jones particles in a periodic box with a cutoff, by velocity Verlet."""
    box, cutoff, dt = 2.6, 1.25, 0.005
    n = positions.shape[0]
    rows, columns = numpy.triu_indices(n, k=1)

    def forces(x):
        d = x[rows] - x[columns]
        d = d - box * np.round(d / box)
        r2 = np.sum(d**2, axis=1)
        near = r2 < cutoff**2
        inverse = np.where(near, 1 / np.where(near, r2, 1.0), 0.0)
        s6 = 0.1 * inverse**3
        energy = np.sum(4 * (s6**2 - s6))
        pair = (48 * s6**2 - 24 * s6) * inverse
        f = np.zeros_like(x)
        for k in range(len(rows)):
            f[rows[k]] += pair[k] * d[k]
            f[columns[k]] -= pair[k] * d[k]
        return f, energy

    x, v = positions, velocities - np.mean(velocities, axis=0)
    f, _ = forces(x)
    for _ in range(3):
        v = v + 0.5 * dt * f
        x = np.mod(x + dt * v, box)
        f, energy = forces(x)
        v = v + 0.5 * dt * f
    temperature = np.sum(v**2) / (3 * n)
    return energy + 10 * temperature


@program(numpy.array([0.04, 3e3, 1e2]), numpy.array([1.0, 0.0, 0.0]), analytic=True, allocates=True)
def chemistry_kinetics(np, rates, initial):
    """Robertson's reactions by implicit Euler steps of growing length, each by Newton's method."""

    def rhs(y):
        a, b, c = rates[0] * y[0], rates[1] * y[1] * y[2], rates[2] * 1e2 * y[1] ** 2
        return np.array([-a + b, a - b - c, c])

    def jacobian(y):
        j = np.zeros_like(y[:, None] * y)
        j[0, 0] = -rates[0]
        j[0, 1] = rates[1] * y[2]
        j[0, 2] = rates[1] * y[1]
        j[2, 1] = 2e2 * rates[2] * y[1]
        j[1] = -j[0] - j[2]
        return j

    y, h = initial, 1e-3
    for _ in range(6):
        new = y
        for _ in range(4):
            residual = new - y - h * rhs(new)
            matrix = np.eye(3) - h * jacobian(new)
            new = new - np.linalg.solve(matrix, residual)
        y = new
        h *= 3
    return y * np.array([1.0, 1e4, 1e1])


@program(rng.normal(size=32), numpy.array([0.8, 0.5]))
def splitting_method(np, profile, parameters):
    """A Schroedinger equation by Strang splitting, kinetic steps in Fourier space."""
    n = profile.shape[0]
    x = 2 * np.pi * np.arange(n) / n
    k = np.concatenate([np.arange(0, n // 2), np.arange(-n // 2, 0)])
    psi = np.exp(-((x - np.pi) ** 2)) * np.exp(1j * 0.3 * profile)
    psi = psi / np.sqrt(np.sum(np.abs(psi) ** 2))
    dt = 0.05
    potential = parameters[0] * (1 - np.cos(x))
    half = np.exp(-0.5j * dt * potential)
    drift = np.exp(-0.5j * dt * k**2)
    for _ in range(5):
        psi = half * psi
        psi = np.fft.ifft(drift * np.fft.fft(psi))
        psi = psi * np.exp(-1j * dt * parameters[1] * np.abs(psi) ** 2)
        psi = half * psi
    density = np.abs(psi) ** 2
    return np.sum(x * density) + np.real(np.vdot(psi, np.roll(psi, 3)))


@program(rng.exponential(1.2, 30), rng.exponential(1.0, 30))
def queueing(np, gaps, services):
    """Waiting times in a queue with one server, by Lindley's recursion, and with two servers."""
    n = gaps.shape[0]
    arrivals = np.cumsum(gaps)
    waits = np.zeros_like(gaps)
    for i in range(1, n):
        waits[i] = np.maximum(0.0, waits[i - 1] + services[i - 1] - gaps[i])
    free = np.stack([arrivals[0] * 0, arrivals[0] * 0])
    total = 0.0
    for i in range(n):
        server = np.argmin(free)
        start = np.maximum(arrivals[i], free[server])
        total += start - arrivals[i]
        free[server] = start + services[i]
    departures = arrivals + waits + services
    utilisation = services.sum() / departures[-1]
    late = np.percentile(waits, 90)
    return waits.mean() + 0.1 * total / n + utilisation + late


@program(
    numpy.array([0.6, -0.3, 0.1, 0.2]),
    numpy.array([1.0, 1.5, 0.8, 9.81]),
    analytic=True,
    allocates=True,
)
def double_pendulum(np, state, constants):
    """The double pendulum: a linear system for the accelerations in each step."""
    m, l1, l2, g = constants

    def accelerations(angles, rates):
        a, b = angles
        c, s = np.cos(a - b), np.sin(a - b)
        mass = np.array([[(1 + m) * l1, m * l2 * c], [l1 * c, l2 * (1 + 0 * c)]])
        force = np.array(
            [
                -m * l2 * rates[1] ** 2 * s - (1 + m) * g * np.sin(a),
                l1 * rates[0] ** 2 * s - g * np.sin(b),
            ]
        )
        return np.linalg.solve(mass, force)

    angles, rates = state[:2], state[2:]
    dt = 0.02
    for _ in range(10):
        middle = angles + 0.5 * dt * rates
        rates = rates + dt * accelerations(middle, rates)
        angles = middle + 0.5 * dt * rates
    height = -l1 * np.cos(angles[0]) - l2 * np.cos(angles[1])
    return np.hstack([angles, rates, height])


@program(
    numpy.array([0.1, 1.2]),
    numpy.array([9.0, 12.0]),
    numpy.array([0.02, 9.81, 1.5]),
    allocates=True,
)
def thrown_ball(np, position, velocity, constants):
    """A ball with drag and wind; its vectors are lists of numbers where they are made."""
    drag, gravity, wind = constants
    x, v = position.copy(), velocity.copy()
    dt = 0.05
    track, energies = [], []
    for _ in range(20):
        air = v - [wind, 0.0]
        speed = np.hypot(*air)
        v += [-drag * speed * air[0] * dt, (-gravity - drag * speed * air[1]) * dt]
        x += v * [dt, dt]
        below = np.minimum([x[1], 0.0], [0.0, 1.0])[0]
        x -= [0.0, 2 * below]
        v *= np.where(below < 0, [0.9, -0.8], [1.0, 1.0])
        track.append([x[0], x[1]])
        energies.append(np.dot([0.5, 0.5], np.square(v)) + gravity * x[1])
    turned = np.array(track) @ [[np.cos(drag), -np.sin(drag)], [np.sin(drag), np.cos(drag)]]
    highest = np.maximum.reduce([point[1] for point in track])
    angles = np.arctan2([v[1], x[1]], [v[0], x[0] + 1.0])
    return np.concatenate([turned[::5].ravel(), np.sqrt([highest, energies[-1]]), angles])
