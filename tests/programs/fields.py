"""Programs on grids: partial differential equations, inverse problems, networks of physics."""

import numpy

from .collection import program

rng = numpy.random.default_rng(3)


@program(rng.normal(size=16), rng.uniform(0.5, 1.5, 16), analytic=True, allocates=True)
def inverse_heat_problem(np, initial, conductivity):
    """The misfit between a heat equation and its data at two sensors, with a penalty."""
    n = len(initial)
    dx, dt = 1.0 / n, 0.2 / n**2
    u = initial
    sensors = []
    for step in range(30):
        flux = 0.5 * (conductivity[1:] + conductivity[:-1]) * np.diff(u) / dx
        inside = u[1:-1] + dt / dx * np.diff(flux)
        u = np.concatenate([inside[:1], inside, inside[-1:]])
        if step % 10 == 9:
            sensors.append(u[[3, 11]])
    data = numpy.array([[0.1, 0.2], [0.0, 0.1], [-0.1, 0.3]])
    misfit = np.sum((np.array(sensors) - data) ** 2)
    roughness = np.sum(np.diff(conductivity, n=2) ** 2)
    return misfit + 1e-2 * roughness


@program(rng.normal(size=(2, 8)), rng.normal(size=8), rng.normal(size=(8, 8)), rng.normal(size=8),
         analytic=True)  # fmt: skip
def physics_informed_network(np, first, shift, second, last):
    """The residual of u'' + u = sin at points, of a network differentiated by hand."""
    points = np.linspace(0.0, 1.0, 9)
    weights = first[0]
    z = np.outer(points, weights) + shift
    h = np.tanh(z)
    dh = (1 - h**2) * weights
    ddh = -2 * h * (1 - h**2) * weights**2
    z2 = h @ second + first[1]
    h2 = np.tanh(z2)
    slope = 1 - h2**2
    dz2, ddz2 = dh @ second, ddh @ second
    ddh2 = slope * ddz2 - 2 * h2 * slope * dz2**2
    u, ddu = h2 @ last, ddh2 @ last
    residual = ddu + u - np.sin(points)
    boundary = u[0] ** 2 + (u[-1] - 1) ** 2
    return np.mean(residual**2) + boundary


@program(rng.normal(size=(8, 8)), rng.uniform(0.5, 1, (8, 8)), analytic=True, allocates=True)
def wave_equation(np, initial, speed):
    """Waves on a periodic grid by np.roll, recorded at a point."""
    dt = 0.3
    previous = initial.copy()
    now = initial.copy()
    record = []
    for _ in range(12):
        laplacian = (
            np.roll(now, 1, axis=0)
            + np.roll(now, -1, axis=0)
            + np.roll(now, 1, axis=1)
            + np.roll(now, -1, axis=1)
            - 4 * now
        )
        previous, now = now, 2 * now - previous + (dt * speed) ** 2 * laplacian
        record.append(now[2, 5])
    energy = np.sum((now - previous) ** 2) / dt**2
    return np.array(record) * energy


@program(1 + rng.uniform(0, 1, 20))
def burgers_with_limiter(np, initial):
    """Burgers' equation by a finite volume method with the minmod limiter."""

    def minmod(a, b):
        return np.where(a * b > 0, np.sign(a) * np.minimum(np.abs(a), np.abs(b)), 0.0)

    dx, dt = 0.1, 0.02
    u = initial
    for _ in range(8):
        left = np.roll(u, 1)
        right = np.roll(u, -1)
        slopes = minmod(u - left, right - u)
        u_minus = u + 0.5 * slopes
        u_plus = np.roll(u - 0.5 * slopes, -1)
        speed = np.maximum(np.abs(u_minus), np.abs(u_plus))
        flux = 0.25 * (u_minus**2 + u_plus**2) - 0.5 * speed * (u_plus - u_minus)
        u = u - dt / dx * (flux - np.roll(flux, 1))
    return u


@program(rng.uniform(0.3, 0.7, (2, 6, 6)), numpy.array([0.04, 0.06]), analytic=True)
def reaction_and_diffusion(np, fields, rates):
    """The Gray-Scott model on a padded grid."""
    u, v = fields
    feed, kill = rates

    def laplacian(a):
        p = np.pad(a, 1, mode="wrap")
        return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * a

    for _ in range(10):
        uvv = u * v * v
        u, v = (
            u + 0.16 * laplacian(u) - uvv + feed * (1 - u),
            v + 0.08 * laplacian(v) + uvv - (feed + kill) * v,
        )
    return np.concatenate([u.mean(axis=0), v.mean(axis=1)])


@program(rng.normal(size=(7, 7)), numpy.array([1.3]), analytic=True)
def poisson_by_relaxation(np, source, omega):
    """Successive over-relaxation in red-black order, in place, by strided slices."""
    n = source.shape[0]
    u = np.zeros_like(source)
    parity = numpy.add.outer(numpy.arange(n), numpy.arange(n)) % 2
    inner = numpy.zeros((n, n), bool)
    inner[1:-1, 1:-1] = True
    for _ in range(6):
        for colour in (0, 1):
            around = np.zeros_like(u)
            around[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]
            change = omega * 0.25 * (around - source) - omega * u
            chosen = inner & (parity == colour)
            u[chosen] += change[chosen]
    residual = u[1:-1, 1:-1] * 4 - around[1:-1, 1:-1]
    return np.sum(u * source) + np.sum(residual**2)


@program(rng.normal(size=24), numpy.array([0.05]))
def spectral_burgers(np, initial, viscosity):
    """A pseudo-spectral method with dealiasing, in real Fourier space."""
    n = initial.shape[0]
    k = np.arange(n // 2 + 1)
    keep = k < n // 3
    u = np.fft.rfft(initial)
    decay = np.exp(-viscosity * k**2 * 0.01)
    for _ in range(10):
        physical = np.fft.irfft(u, n=n)
        advection = 0.5j * k * np.fft.rfft(physical**2)
        u = (u - 0.01 * np.where(keep, advection, 0)) * decay
    spectrum = np.abs(u) ** 2 / n
    return np.fft.irfft(u, n=n)[::4].sum() + np.sum(spectrum * k)


@program(rng.normal(size=(8, 10)), numpy.array([2.0, 1.5, 0.7]), allocates=True)
def beam_on_a_grid(np, phase, sizes):
    """The far field of a beam on a grid whose extent is a parameter."""
    width, height, waist = sizes
    y, x = np.mgrid[-height:height:8j, -width:width:10j]
    dy, dx = y[1, 0] - y[0, 0], x[0, 1] - x[0, 0]
    amplitude = np.exp(-(x**2 + y**2) / waist**2) * np.exp(0.1j * phase)
    power = np.sum(np.abs(amplitude) ** 2) * dx * dy
    field = np.fft.fftshift(np.fft.fft2(amplitude)) * dx * dy / np.sqrt(power)
    v, u = np.ogrid[-4:4, -5:5]
    ky = 2 * np.pi * v / (8 * dy)
    kx = 2 * np.pi * u / (10 * dx)
    density = np.abs(field) ** 2
    total = density.sum()
    spread = np.sum((kx**2 + ky**2) * density) / total
    line = np.interp(np.ogrid[0:width:4j], x[4], density[4])
    return np.hstack([power, spread, np.max(density), line])


@program(rng.uniform(0.5, 1.5, 12), numpy.array([0.9, 1.2, 0.6]), allocates=True)
def advection_with_ghost_cells(np, initial, edges):
    """A limited scheme of second order in a channel, its ends filled in several ways."""
    inflow, outflow, speed = edges
    u = initial.copy()
    outside = []
    for step in range(4):
        g = np.pad(u, 2, constant_values=(inflow, outflow))
        if step == 1:
            g = np.pad(u, 2, mode="linear_ramp", end_values=(inflow, outflow * u[-1]))
        elif step == 2:
            g = np.pad(u, (2, 2), "reflect", reflect_type="odd")
        elif step == 3:
            g = np.pad(u, 2, mode="mean", stat_length=(2, 4))
        left, right = np.diff(g)[:-1], np.diff(g)[1:]
        slope = np.where(left * right > 0, 2 * left * right / (left + right + 1e-12), 0.0)
        face = g[1:-1] + 0.5 * (1 - 0.3 * speed) * slope
        flux = speed * face
        u = u - 0.3 * (flux[1:-1] - flux[:-2])
        outside.append(g[:2].sum() - g[-2:].sum())
    return np.concatenate([u, np.array(outside), [np.abs(np.diff(u)).sum()]])
