"""Longer programs: simulations of physics, biology and traffic with events and geometry."""

import numpy

from .collection import program

rng = numpy.random.default_rng(9)


@program(rng.uniform(0.2, 0.8, (5, 2)), rng.normal(size=(5, 2)), numpy.array([0.9, 9.81, 40.0]))
def balls_in_a_box(np, positions, velocities, constants):
    """Balls that fall, bounce off walls and push each other, by semi-implicit Euler steps."""
    restitution, gravity, stiffness = constants
    radius, dt = 0.12, 0.01
    x, v = positions.copy(), velocities.copy()
    heat = 0.0
    highest = x[:, 1].copy()
    for step in range(20):
        force = np.zeros_like(x)
        force[:, 1] -= gravity
        for i in range(len(x)):
            for j in range(i + 1, len(x)):
                apart = x[j] - x[i]
                distance = np.sqrt(apart @ apart)
                overlap = np.maximum(2 * radius - distance, 0.0)
                push = stiffness * overlap * apart / distance
                force[i] -= push
                force[j] += push
        v += dt * force
        x += dt * v
        for axis in range(2):
            low = x[:, axis] < radius
            high = x[:, axis] > 1 - radius
            before = np.sum(v[:, axis] ** 2)
            x[:, axis] = np.where(low, 2 * radius - x[:, axis], x[:, axis])
            x[:, axis] = np.where(high, 2 * (1 - radius) - x[:, axis], x[:, axis])
            v[:, axis] = np.where(low | high, -restitution * v[:, axis], v[:, axis])
            heat += 0.5 * (before - np.sum(v[:, axis] ** 2))
        highest = np.maximum(highest, x[:, 1])
        if step % 10 == 9:
            v *= 0.99
    energy = 0.5 * np.sum(v**2) + gravity * np.sum(x[:, 1])
    return energy + heat + np.sum(highest)


@program(
    numpy.array([0.3, 0.1, 0.05]),
    numpy.array([0.7, 0.2, 0.1]),
    rng.uniform(0.5, 2, (3, 3)),
    allocates=True,
)
def epidemic_of_age_groups(np, rates, initial, contacts):
    """Susceptible, exposed, infected and recovered of three age groups, with a lockdown."""
    beta, sigma, gamma = rates
    population = numpy.array([0.3, 0.5, 0.2])
    state = np.zeros((4, 3))
    state[1] = 0.01 * initial
    state[2] = 0.02 * initial
    state[0] = population - state[1] - state[2]
    symmetric = 0.5 * (contacts + contacts.T)

    def derivative(state, day):
        s, e, i, _ = state
        closed = 1 / (1 + np.exp(-(day - 8.0)))
        mixing = symmetric * (1 - 0.6 * closed)
        pressure = beta * (mixing @ (i / population))
        new = pressure * s
        return np.stack([-new, new - sigma * e, sigma * e - gamma * i, gamma * i])

    h, peak, total = 0.5, 0.0, 0.0
    curve = []
    for step in range(24):
        day = step * h
        k1 = derivative(state, day)
        k2 = derivative(state + 0.5 * h * k1, day + 0.5 * h)
        k3 = derivative(state + 0.75 * h * k2, day + 0.75 * h)
        state = state + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        infected = state[2].sum()
        curve.append(infected)
        peak = np.maximum(peak, infected)
        total += h * infected
    curve = np.stack(curve)
    centre = np.sum(curve * np.arange(24)) / np.sum(curve)
    beds = np.maximum(curve - 0.02, 0.0)
    return peak + total + 0.1 * centre + np.sum(beds) + state[3, 1]


@program(
    numpy.cumsum(rng.uniform(8, 15, 6)),
    rng.uniform(5, 10, 6),
    numpy.array([15.0, 1.5, 1.0]),
    allocates=True,
)
def traffic_on_a_ring(np, positions, speeds, driver):
    """Cars that follow each other on a ring, by the intelligent driver model."""
    desired, headway, acceleration = driver
    comfortable, gap0, length, dt = 2.0, 2.0, 4.0, 0.25
    circumference = 120.0
    x, v = positions, speeds
    fuel = np.zeros(6)
    closest = np.full(6, circumference)
    history = []
    for step in range(16):
        ahead = np.roll(x, -1)
        gap = np.mod(ahead - x, circumference) - length
        approach = v - np.roll(v, -1)
        wanted = gap0 + np.maximum(
            0.0, v * headway + v * approach / (2 * np.sqrt(acceleration * comfortable))
        )
        a = acceleration * (1 - (v / desired) ** 4 - (wanted / gap) ** 2)
        a = np.clip(a, -8.0, 4.0)
        if step == 5:
            a = np.concatenate([a[:2], a[2:3] * 0 - 3.0, a[3:]])
        new = np.maximum(v + dt * a, 0.0)
        x = np.mod(x + 0.5 * dt * (v + new), circumference)
        v = new
        fuel += dt * (0.1 + 0.01 * v + 0.05 * np.maximum(a, 0.0) * v)
        closest = np.minimum(closest, gap)
        history.append(v)
    speeds = np.stack(history)
    spread = np.std(speeds, axis=1)
    flow = speeds.mean() * 6 / circumference
    return fuel.sum() + np.sum(closest) * 0.1 + flow + spread.max() + np.ptp(speeds[-1])


@program(rng.normal(size=(3, 4)), numpy.array([0.7, 0.3, 0.2]), rng.uniform(0.5, 1, 4))
def genetics_of_populations(np, fitness_logits, frequencies, sizes):
    """Selection, mutation and migration between four islands of three types."""
    fitness = np.exp(0.2 * fitness_logits)
    p = np.outer(frequencies / frequencies.sum(), np.ones(4))
    mutation = 0.98 * np.eye(3) + 0.01 * (np.ones((3, 3)) - np.eye(3))
    ring = np.roll(np.eye(4), 1, axis=0)
    migration = 0.9 * np.eye(4) + 0.05 * (ring + ring.T)
    weights = migration * sizes[:, None]
    weights = weights / weights.sum(axis=0)
    heterozygosity = []
    for generation in range(10):
        mean = np.sum(p * fitness, axis=0)
        p = p * fitness / mean
        p = mutation @ p
        p = p @ weights
        heterozygosity.append(1 - np.sum(p**2, axis=0))
        if generation == 4:
            p[:, 0] = 0.5 * p[:, 0] + 0.5 * p[:, 1]
    across = p @ (sizes / sizes.sum())
    total = 1 - np.sum(across**2)
    within = np.sum(heterozygosity[-1] * sizes) / np.sum(sizes)
    fixation = (total - within) / total
    entropy = -np.sum(p * np.log(p), axis=0)
    distances = np.sqrt(1 - np.sum(np.sqrt(p[:, :, None] * p[:, None, :]), axis=0) + 1e-9)
    upper = distances[numpy.triu_indices(4, 1)]
    return fixation + entropy.sum() + np.sum(upper**2) + np.stack(heterozygosity)[::3].sum()


@program(rng.normal(size=(4, 6)), rng.uniform(1, 2, 5), numpy.array([0.02, 3.0]))
def rope_of_springs(np, shape, stiffness, constants):
    """A rope in tension: its forces, its stable shape by relaxation, and its modes."""
    damping, weight = constants
    n = 6
    rest = 0.9
    x = np.stack([np.arange(n) * 1.0, 0.1 * shape[0]], axis=1)
    v = np.zeros((n, 2))

    def forces(x):
        links = x[1:] - x[:-1]
        lengths = np.sqrt(np.sum(links**2, axis=1))
        tension = stiffness * (lengths - rest) / lengths
        pull = tension[:, None] * links
        total = np.zeros((n, 2)) + 0 * x
        total[:-1] += pull
        total[1:] -= pull
        total[:, 1] -= 0.01 * weight
        total[[0, -1]] = 0.0
        return total, 0.5 * np.sum(stiffness * (lengths - rest) ** 2)

    energies = []
    for _ in range(30):
        f, elastic = forces(x)
        v = (1 - damping) * v + 0.1 * f
        v[[0, n - 1]] *= 0.0
        x = x + 0.1 * v
        energies.append(elastic + 0.5 * np.sum(v**2))
    matrix = np.zeros((n - 2, n - 2)) + 0 * stiffness[0]
    for k in range(n - 2):
        matrix[k, k] = stiffness[k] + stiffness[k + 1]
        if k + 1 < n - 2:
            matrix[k, k + 1] = -stiffness[k + 1]
            matrix[k + 1, k] = -stiffness[k + 1]
    frequencies = np.sqrt(np.linalg.eigvalsh(matrix))
    sag = x[:, 1].min() + x[n // 2, 1]
    return np.stack(energies)[::10].sum() + sag + np.sum(frequencies) + np.sum(shape**2)


@program(rng.uniform(0.5, 1.5, 6), rng.uniform(size=5), numpy.array([25.0, 0.8]), analytic=True)
def heat_exchanger(np, conductances, flows, inlet):
    """A network of thermal conductances: a sparse system assembled from links, its losses."""
    hot, efficiency = inlet
    links = [(0, 1), (1, 2), (2, 3), (3, 4), (0, 3), (1, 4)]
    n = 5
    laplacian = np.zeros((n, n)) + 0 * conductances[0]
    for (a, b), g in zip(links, conductances, strict=True):
        laplacian[a, a] += g
        laplacian[b, b] += g
        laplacian[a, b] -= g
        laplacian[b, a] -= g
    loss = np.diag(0.1 + 0.2 * flows)
    system = laplacian + loss
    source = np.zeros(n) + 0 * hot
    source[0] = efficiency * hot
    source[2] = 0.5 * flows.sum()
    temperatures = np.linalg.solve(system, source)
    currents = []
    for (a, b), g in zip(links, conductances, strict=True):
        currents.append(g * (temperatures[a] - temperatures[b]))
    currents = np.stack(currents)
    dissipation = np.sum(currents**2 / conductances)
    for _ in range(3):
        radiated = 1e-4 * temperatures**3
        jacobian = system + np.diag(3e-4 * temperatures**2)
        residual = system @ temperatures + radiated - source
        temperatures = temperatures - np.linalg.solve(jacobian, residual)
    outlet = np.sum(flows * temperatures) / np.sum(flows)
    response = np.linalg.inv(system)
    return np.concatenate([temperatures, currents]) * outlet + dissipation * response[0, 4]


@program(
    numpy.array([7000.0, 0.0, 0.0]), numpy.array([0.5, 7.2, 1.0]), numpy.array([1.08e-3, 20.0])
)
def orbit_with_drag(np, position, velocity, constants):
    """A satellite with an oblate Earth and drag: its elements before and after, its track."""
    mu, radius = 398600.4418, 6378.137
    j2, scale = constants

    def acceleration(r, v):
        distance = np.linalg.norm(r)
        z2 = (r[2] / distance) ** 2
        factor = 1.5 * j2 * mu * radius**2 / distance**5
        oblate = factor * r * (np.stack([5 * z2 - 1, 5 * z2 - 1, 5 * z2 - 3]))
        density = 1e-6 * np.exp(-(distance - radius - 400) / (10 * scale))
        return -mu * r / distance**3 + oblate - density * np.linalg.norm(v) * v

    def elements(r, v):
        h = np.cross(r, v)
        distance = np.linalg.norm(r)
        eccentricity = np.cross(v, h) / mu - r / distance
        energy = 0.5 * v @ v - mu / distance
        inclination = np.arccos(h[2] / np.linalg.norm(h))
        return np.stack([-mu / (2 * energy), np.linalg.norm(eccentricity), inclination])

    before = elements(position, velocity)
    r, v, dt = position, velocity, 20.0
    track = []
    for step in range(15):
        a1 = acceleration(r, v)
        middle, half = r + 0.5 * dt * v, v + 0.5 * dt * a1
        a2 = acceleration(middle, half)
        r, v = r + dt * half, v + dt * a2
        longitude = np.arctan2(r[1], r[0]) - 7.29e-5 * dt * (step + 1)
        latitude = np.arcsin(r[2] / np.linalg.norm(r))
        track.append(np.stack([np.mod(longitude + np.pi, 2 * np.pi) - np.pi, latitude]))
    after = elements(r, v)
    track = np.stack(track)
    turned = np.sum(np.hypot(np.diff(track[:, 0]), np.diff(track[:, 1])))
    return np.concatenate([after / before, track[-1]]) + 0.1 * turned
