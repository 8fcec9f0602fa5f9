# ruff: noqa: B905  as users write them
"""Programs of engineers: structures, flows, optics, control, with classes and recursion."""

import numpy

from .collection import program

rng = numpy.random.default_rng(12)


@program(rng.uniform(0.5, 1.5, 7), numpy.array([10.0, 5.0]), analytic=True, allocates=True)
def truss(np, areas, load):
    """Bars between nodes: the stiffness on the unknowns that no support holds, and stresses."""
    nodes = numpy.array([[0, 0], [1, 0], [2, 0], [0.5, 1], [1.5, 1]], float)
    bars = [(0, 1), (1, 2), (0, 3), (1, 3), (1, 4), (2, 4), (3, 4)]
    modulus, n = 210.0, 2 * len(nodes)
    stiffness = np.zeros((n, n)) + 0 * areas[0]
    for e, (i, j) in enumerate(bars):
        along = nodes[j] - nodes[i]
        length = np.linalg.norm(along)
        c, s = along / length
        t = np.array([-c, -s, c, s])
        dofs = np.array([2 * i, 2 * i + 1, 2 * j, 2 * j + 1])
        stiffness[np.ix_(dofs, dofs)] += modulus * areas[e] / length * np.outer(t, t)
    force = np.zeros(n) + 0 * load[0]
    force[[7, 9]] = -load
    fixed = [0, 1, 5]
    free = np.setdiff1d(np.arange(n), fixed)
    u = np.zeros_like(force)
    u[free] = np.linalg.solve(stiffness[np.ix_(free, free)], force[free])
    stress = []
    for i, j in bars:
        along = nodes[j] - nodes[i]
        strain = along @ (u[2 * j : 2 * j + 2] - u[2 * i : 2 * i + 2]) / (along @ along)
        stress.append(modulus * strain)
    return np.concatenate([u[free], stiffness[fixed] @ u, np.array(stress)])


@program(rng.uniform(0.5, 1.5, (4, 4)), rng.uniform(1, 2, 3), allocates=True)
def finite_elements(np, source, conductivity):
    """Triangles on a square: assembly by local matrices, boundary values by index sets."""
    n = 4
    x = np.linspace(0, 1, n)
    grid_x, grid_y = np.meshgrid(x, x)
    points = np.column_stack([grid_x.ravel(), grid_y.ravel()])
    index = np.arange(n * n).reshape(n, n)
    lower = [index[:-1, :-1].ravel(), index[1:, :-1].ravel(), index[:-1, 1:].ravel()]
    upper = [index[1:, 1:].ravel(), index[:-1, 1:].ravel(), index[1:, :-1].ravel()]
    triangles = np.vstack([np.column_stack(lower), np.column_stack(upper)])
    stiffness, load = np.zeros((n * n, n * n)), np.zeros(n * n)
    for e, t in enumerate(triangles):
        frame = np.hstack([np.ones((3, 1)), points[t]])
        area = 0.5 * abs(np.linalg.det(frame))
        slopes = np.linalg.inv(frame)[1:]
        stiffness[np.ix_(t, t)] += conductivity[e % 3] * area * slopes.T @ slopes
        load[t] += area / 3 * source.ravel()[t].mean()
    border = np.unique(np.concatenate([index[0], index[-1], index[:, 0], index[:, -1]]))
    inner = np.setdiff1d(np.arange(n * n), border)
    u = np.zeros(n * n)
    u[inner] = np.linalg.solve(stiffness[inner][:, inner], load[inner])
    flux = (stiffness @ u - load)[np.isin(np.arange(n * n), border)]
    if not np.allclose(points[0], 0.0):
        raise ValueError("the first node is in the corner")
    return np.concatenate([u[inner], flux])


@program(rng.uniform(0.5, 1, (5, 4)), numpy.array([0.3, 0.2]), analytic=True)
def alternating_directions(np, heat, steps):
    """Implicit steps along one axis after the other, by the algorithm of Thomas."""

    def thomas(a, b, c, d):
        n = len(d)
        cp, dp = np.zeros_like(d), np.zeros_like(d)
        cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
        for i in range(1, n):
            m = b[i] - a[i] * cp[i - 1]
            cp[i] = c[i] / m
            dp[i] = (d[i] - a[i] * dp[i - 1]) / m
        x = np.zeros_like(d)
        x[-1] = dp[-1]
        for i in range(n - 2, -1, -1):
            x[i] = dp[i] - cp[i] * x[i + 1]
        return x

    for _ in range(2):
        for axis, k in ((0, steps[0]), (1, steps[1])):
            v = np.moveaxis(heat, axis, 0)
            n = v.shape[0]
            wide = np.concatenate([v[:, :1], v, v[:, -1:]], axis=1)
            right = v + k / 2 * (wide[:, 2:] - 2 * v + wide[:, :-2])
            side, middle = -k / 2 * np.ones(n), (1 + k) * np.ones(n)
            middle[[0, -1]] = 1 + k / 2
            heat = np.moveaxis(thomas(side, middle, side, right), 0, axis)
    return heat[::2, 1:4]


@program(rng.normal(size=9), numpy.array(0.7), analytic=True)
def multigrid(np, source, weight):
    """Cycles that call themselves on coarser grids, with corrections added in place."""

    def relax(u, f, h):
        for _ in range(2):
            new = u.copy()
            inside = 0.5 * (u[:-2] + u[2:] + h * h * f[1:-1])
            new[1:-1] = (1 - weight) * u[1:-1] + weight * inside
            u = new
        return u

    def cycle(u, f, h):
        if len(u) == 3:
            u = u.copy()
            u[1] = 0.5 * h * h * f[1] + 0.5 * (u[0] + u[2])
            return u
        u = relax(u, f, h)
        residual = np.zeros_like(u)
        residual[1:-1] = f[1:-1] + (u[2:] - 2 * u[1:-1] + u[:-2]) / h**2
        coarse = 0 * residual[::2]
        coarse[1:-1] = 0.25 * (residual[1:-3:2] + 2 * residual[2:-2:2] + residual[3:-1:2])
        error = cycle(np.zeros_like(coarse), coarse, 2 * h)
        u[::2] += error
        u[1::2] += 0.5 * (error[:-1] + error[1:])
        return relax(u, f, h)

    u = np.zeros_like(source)
    for _ in range(2):
        u = cycle(u, source, 1 / 8)
    return u


@program(rng.uniform(1, 2, 5), rng.uniform(0.1, 0.3, 4), numpy.array(1.5), allocates=True)
def thin_films(np, index, thickness, wave):
    """Reflection of layers by matrices of complex numbers, for several wave lengths."""
    lengths = np.linspace(0.4, 0.8, 5) * wave
    n = np.concatenate([np.ones(1), index, np.array([1.52])]).astype(complex)
    n[2:-1] -= 0.01j
    total = np.broadcast_to(np.eye(2, dtype=complex), (len(lengths), 2, 2))
    for i in range(len(thickness)):
        phase = 2 * np.pi * n[i + 1] / lengths * thickness[i]
        layer = np.empty((len(lengths), 2, 2), dtype=np.complex128)
        layer[:, 0, 0] = layer[:, 1, 1] = np.cos(phase)
        layer[:, 0, 1] = 1j * np.sin(phase) / n[i + 1]
        layer[:, 1, 0] = 1j * n[i + 1] * np.sin(phase)
        total = total @ layer
    b = total[:, 0, 0] + total[:, 0, 1] * n[-1]
    c = total[:, 1, 0] + total[:, 1, 1] * n[-1]
    reflected = (n[0] * b - c) / (n[0] * b + c)
    passed = 4 * (n[0] * n[-1]).real / np.abs(n[0] * b + c) ** 2
    return np.abs(reflected) ** 2 + 0.1 * np.unwrap(np.angle(reflected)) + passed


@program(rng.uniform(0.9, 1.1, (9, 5, 5)), numpy.array(0.8), analytic=True)
def lattice_boltzmann(np, f, omega):
    """Particles on nine directions that collide, stream by np.roll and bounce off an obstacle."""
    c = numpy.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]])
    w = numpy.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    solid = numpy.zeros((5, 5), bool)
    solid[2:4, 3] = True
    f = f * w[:, None, None]
    for _ in range(3):
        rho = f.sum(0)
        u = np.einsum("qi,qxy->ixy", c, f) / rho
        cu = 3 * np.tensordot(c, u, axes=([1], [0]))
        speed = 1.5 * (u**2).sum(axis=0, keepdims=True)
        relaxed = f - omega * (f - rho[None] * w.reshape(-1, 1, 1) * (1 + cu + cu**2 / 2 - speed))
        relaxed = np.where(solid[None], f[[0, 3, 4, 1, 2, 7, 8, 5, 6]], relaxed)
        moved = [np.roll(a, shift=tuple(way), axis=(0, 1)) for a, way in zip(relaxed, c.tolist())]
        f = np.stack(moved)
    u[:, solid] = 0
    return np.sqrt(u[0] ** 2 + u[1] ** 2 + 1e-3)


class Spline:
    """A cubic spline that is called, with its derivatives."""

    def __init__(self, np, x, y):
        self.np, self.x, self.y = np, x, y
        self.h = np.diff(x)
        n, rises = len(x), np.diff(y) / self.h
        matrix, right = np.zeros((n, n)), np.zeros(n)
        matrix[0, 0] = matrix[-1, -1] = 1
        i = np.arange(1, n - 1)
        matrix[i, i - 1], matrix[i, i + 1] = self.h[:-1], self.h[1:]
        matrix[i, i] = 2 * (self.h[:-1] + self.h[1:])
        right[1:-1] = 3 * np.diff(rises)
        self.c = np.linalg.solve(matrix, right)
        self.d = np.diff(self.c) / (3 * self.h)
        self.b = rises - self.h * (2 * self.c[:-1] + self.c[1:]) / 3

    def __call__(self, x, nu=0):
        i = self.np.clip(self.np.searchsorted(self.x, x, side="right") - 1, 0, len(self.x) - 2)
        t = x - self.x[i]
        if nu == 0:
            return ((self.d[i] * t + self.c[i]) * t + self.b[i]) * t + self.y[i]
        return (3 * self.d[i] * t + 2 * self.c[i]) * t + self.b[i]


@program(
    rng.normal(size=7),
    numpy.linspace(0, 1, 7) + 0.02 * rng.normal(size=7),
    rng.uniform(0.1, 0.9, 5),
    allocates=True,
)
def table_by_splines(np, values, knots, queries):
    """A table with knots that are parameters, its slopes and its integral by Gauss's nodes."""
    spline = Spline(np, knots, values)
    nodes, weights = np.polynomial.legendre.leggauss(5)
    middle, half = 0.5 * (knots[-1] + knots[0]), 0.5 * (knots[-1] - knots[0])
    integral = half * np.sum(weights * spline(middle + half * nodes))
    return np.vstack([spline(queries), spline(queries, nu=1)]) * integral


@program(rng.normal(size=(5, 2)), numpy.array([0.9, 0.1, 0.5]), analytic=True, allocates=True)
def smoother(np, measured, theta):
    """A Kalman filter and the pass back through its stored states."""
    phi, q, r = theta
    n = len(measured)
    step = np.array([[1.0, 0.1], [0.0, phi]])
    x, p = np.zeros_like(measured), np.zeros_like(measured[:, :, None] * measured[:, None])
    xs, ps, before_x, before_p = x + 0, p + 0, x + 0, p + 0
    x, p, fit = x[0], np.eye(2), 0.0
    for k in range(n):
        x, p = step @ x, step @ p @ step.T + q * np.eye(2)
        before_x[k], before_p[k] = x, p
        spread, miss = p + r * np.eye(2), measured[k] - x
        fit -= 0.5 * (miss @ np.linalg.solve(spread, miss) + np.log(np.linalg.det(spread)))
        gain = np.linalg.solve(spread.T, p.T).T
        x, p = x + gain @ miss, (np.eye(2) - gain) @ p
        xs[k], ps[k] = x, p
    for k in range(n - 2, -1, -1):
        c = ps[k] @ step.T @ np.linalg.inv(before_p[k + 1])
        xs[k] += c @ (xs[k + 1] - before_x[k + 1])
        ps[k] += c @ (ps[k + 1] - before_p[k + 1]) @ c.T
    return np.hstack([xs, ps.reshape(n, -1)]) * fit


@program(rng.normal(size=3), rng.normal(size=3), numpy.array([0.3]), analytic=True)
def symplectic_steps(np, q, p, strength):
    """The integrator of fourth order of Yoshida as a generator; the drift of the energy."""
    cube = 2 ** (1 / 3)
    first, middle = 1 / (2 - cube), -cube / (2 - cube)
    drifts = [first / 2, (middle + first) / 2, (middle + first) / 2, first / 2]

    def slope(q):
        return q + strength * np.stack([2 * q[0] * q[1], q[0] ** 2 - q[1] ** 2, 0.5 * q[2] ** 3])

    def energy(q, p):
        bent = q[0] ** 2 * q[1] - q[1] ** 3 / 3 + q[2] ** 4 / 8
        return 0.5 * np.dot(p, p) + 0.5 * q @ q + (strength * bent).sum()

    def states(q, p, n):
        for _ in range(n):
            for drift, kick in zip(drifts, [first, middle, first, 0]):
                q = q + 0.1 * drift * p
                p = p - 0.1 * kick * slope(q)
            yield q, p

    energies = []
    for last_q, last_p in states(q, p, 6):
        energies.append(energy(last_q, last_p))
    return np.concatenate([last_q, last_p, np.stack(energies) - energies[0]])
