"""Models of finite elements and networks, written as with ``scipy.sparse``: the same source runs on
SciPy's sparse arrays and on those of tensors."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import numgrad as ng


def mesh(n):
    """Return the nodes and the triangles of a square."""
    x, y = np.meshgrid(np.linspace(0.0, 1.0, n), np.linspace(0.0, 1.0, n))
    corner = np.arange(n * n).reshape(n, n)
    a, b, c, d = (k.ravel() for k in (corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:],
                                      corner[1:, :-1]))  # fmt: skip
    return np.c_[x.ravel(), y.ravel()], np.r_[np.c_[a, b, c], np.c_[a, c, d]]


POINTS, TRIANGLES = mesh(4)
CONDUCTIVITY = np.linspace(0.5, 2.0, len(TRIANGLES))


def heat(sp, solvers, conductivity):
    """Heat in a plate, one edge of which is held at a temperature."""
    corners, n = POINTS[TRIANGLES], len(POINTS)
    edges = np.roll(corners, -1, axis=1) - np.roll(corners, 1, axis=1)
    area = 0.5 * np.abs(edges[:, 0, 0] * edges[:, 1, 1] - edges[:, 0, 1] * edges[:, 1, 0])
    local = edges @ edges.transpose(0, 2, 1) / (4 * area[:, None, None])
    rows, columns = np.repeat(TRIANGLES, 3, axis=1).ravel(), np.tile(TRIANGLES, (1, 3)).ravel()
    stiffness = sp.coo_array(
        ((conductivity[:, None, None] * local).ravel(), (rows, columns)), shape=(n, n)
    ).tocsr()
    load = np.bincount(TRIANGLES.ravel(), np.repeat(area / 3, 3), minlength=n)
    mass = sp.diags_array(load)
    free, held = np.arange(4, n), np.arange(4)
    system = (stiffness + 0.1 * mass)[free][:, free].tocsc()
    rhs = load[free] - stiffness[free][:, held] @ np.full(held.size, 0.5)
    u = solvers.spsolve(system, rhs)
    assert system.nnz
    assert system.shape == (12, 12)
    flux = stiffness[free, :][:, free].T @ u
    return u @ (stiffness[np.ix_(free, free)] @ u) + flux.sum() + stiffness.diagonal().sum()


def network(sp, solvers, conductance):
    """Voltages in a grid of resistors, from its incidence matrix."""
    m, n = 4, 3
    along = sp.kron(sp.eye_array(n), difference(sp, m))
    across = sp.kron(difference(sp, n), sp.eye_array(m))
    incidence = sp.vstack([along, across]).tocsr()
    assert incidence.shape == (n * (m - 1) + m * (n - 1), m * n)
    laplacian = incidence.T @ sp.diags_array(conductance) @ incidence
    degree = laplacian.diagonal()
    grounded = laplacian[1:, 1:]
    solve = solvers.factorized(grounded.tocsc())
    current = np.zeros(m * n - 1)
    current[-1] = 1.0
    voltage = solve(current)
    again = solve(voltage)
    dissipated = conductance * (incidence[:, 1:] @ voltage) ** 2
    return dissipated.sum() + (degree**2).sum() + voltage @ again + laplacian[0, 1] ** 2


def difference(sp, n):
    return sp.diags_array([-np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n))


def implicit_steps(sp, solvers, diffusivity):
    """Diffusion of two substances, in steps of Crank and Nicolson."""
    n = diffusivity.size // 2
    blocks = []
    for k in (diffusivity[:n], diffusivity[n:]):
        flow = sp.diags_array([k[:-1], k[1:]], offsets=[-1, 1], shape=(n, n))
        blocks.append(flow - sp.diags_array(flow.sum(axis=1)))
    exchange = sp.hstack([-sp.eye_array(n), sp.eye_array(n)])
    operator = sp.block_diag(blocks, format="csr") + 0.1 * sp.vstack([exchange, -exchange])
    one, dt = sp.eye_array(2 * n, format="csr"), 0.05
    lu = solvers.splu((one - dt / 2 * operator).tocsc())
    u = np.sin(np.arange(2 * n))
    for _ in range(3):
        u = lu.solve((one + dt / 2 * operator) @ u)
    both = lu.solve(np.stack([u, np.cos(u)], axis=1))
    return (u**2).sum() + both.sum() + lu.solve(u, trans="T")[0]


def truss(sp, solvers, areas):
    """A truss with a constraint, by Lagrange's multipliers; the transposed blocks are equal."""
    nodes = np.array([[0.0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [2, 1]])
    bars = np.array([[0, 1], [1, 2], [3, 4], [4, 5], [0, 4], [1, 5], [1, 4], [2, 5], [3, 1]])
    direction = nodes[bars[:, 1]] - nodes[bars[:, 0]]
    length = np.sqrt((direction**2).sum(axis=1))
    unit = np.concatenate([-direction, direction], axis=1) / length[:, None]
    k = (areas / length)[:, None, None] * (unit[:, :, None] * unit[:, None, :])
    dofs = np.stack([2 * bars[:, 0], 2 * bars[:, 0] + 1, 2 * bars[:, 1], 2 * bars[:, 1] + 1], 1)
    i = np.broadcast_to(dofs[:, :, None], (9, 4, 4)).ravel()
    j = np.broadcast_to(dofs[:, None, :], (9, 4, 4)).ravel()
    K = sp.csr_array((k.ravel(), (i, j)), shape=(12, 12))
    held = [0, 1, 6, 7]
    C = sp.csr_array((np.ones(4), (np.arange(4), held)), shape=(4, 12))
    saddle = sp.block_array([[K, C.T], [C, None]], format="csc")
    force = np.zeros(16)
    force[[5, 11]] = -1.0
    solution = solvers.spsolve(saddle, force)
    symmetric = (K + K.T) / 2 - K.multiply(0.5)
    low = sp.tril(K, -1) + sp.triu(K)
    return solution @ force + abs(symmetric).sum() + low.sum(axis=0) @ np.arange(12.0) + K.trace()


MODELS = {
    heat: CONDUCTIVITY,
    network: np.linspace(1.0, 2.0, 17),
    implicit_steps: np.linspace(0.5, 1.5, 10),
    truss: np.linspace(1.0, 3.0, 9),
}


@pytest.mark.parametrize("model", MODELS)
def test_a_model_of_scipy_has_its_gradient(model):
    p, h = MODELS[model], 1e-3
    value, gradient = ng.func.value_and_grad(lambda p: model(ng.sparse, ng.interop.scipy, p))(p)

    def exact(p):
        return model(sparse, linalg, p)

    np.testing.assert_allclose(value, exact(p), rtol=1e-12)
    for n in (0, p.size // 2, p.size - 1):
        e = np.eye(p.size)[n]
        ends = [exact(p + k * h * e) - exact(p - k * h * e) for k in (1, 2, 3)]
        slope = (45 * ends[0] - 9 * ends[1] + ends[2]) / (60 * h)
        np.testing.assert_allclose(gradient[n], slope, rtol=1e-8, atol=1e-9)
