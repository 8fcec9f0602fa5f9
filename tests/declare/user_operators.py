"""Operators as a user declares them, shared by the tests of users' operators."""

import math

from numba import njit

import numgrad as ng


@ng.operator("(n),(p)->(n)")
@njit
def rhs(u, theta, out):
    """A right-hand side: growth with a cubic loss, coupled to the neighbour."""
    n = u.size
    for i in range(n):
        out[i] = theta[0] * u[i] - theta[1] * u[i] * u[i] * u[i - 1]


@rhs.backward
@njit
def rhs_backward(g, u, theta, out, gu, gtheta):
    n = u.size
    gu[:] = 0.0
    gtheta[:] = 0.0
    for i in range(n):
        gu[i] += g[i] * (theta[0] - 2.0 * theta[1] * u[i] * u[i - 1])
        gu[i - 1] -= g[i] * theta[1] * u[i] * u[i]
        gtheta[0] += g[i] * u[i]
        gtheta[1] -= g[i] * u[i] * u[i] * u[i - 1]


@rhs.jvp
@njit
def rhs_jvp(tu, ttheta, u, theta, out, tout):
    for i in range(u.size):
        tout[i] = (theta[0] - 2.0 * theta[1] * u[i] * u[i - 1]) * tu[i]
        tout[i] += ttheta[0] * u[i] - theta[1] * u[i] * u[i] * tu[i - 1]
        tout[i] -= ttheta[1] * u[i] * u[i] * u[i - 1]


def rhs_of_tensors(u, theta):
    before = ng.roll(u, 1, axis=-1)
    return theta[..., 0:1] * u - theta[..., 1:2] * u * u * before


@ng.operator("(),()->()")
@njit
def power_wave(x, y):
    return x * x * math.sin(y)


@power_wave.backward
@njit
def power_wave_backward(g, x, y, out):
    return 2.0 * g * x * math.sin(y), g * x * x * math.cos(y)


@ng.operator("(n)->(),(n)", name="norm_and_unit")
@njit
def polar(x, length, unit):
    total = 0.0
    for i in range(x.size):
        total += x[i] * x[i]
    length[0] = math.sqrt(total)
    for i in range(x.size):
        unit[i] = x[i] / length[0]


@polar.backward
@njit
def polar_backward(glength, gunit, x, length, unit, gx):
    inner = 0.0
    for i in range(x.size):
        inner += gunit[i] * unit[i]
    for i in range(x.size):
        gx[i] = glength * unit[i] + (gunit[i] - inner * unit[i]) / length


@ng.operator("(n),(m)->(m)", nondifferentiable=("index",), static=("scale", "mode"))
@njit
def gather(x, index, out, scale, mode="plain"):
    for j in range(index.size):
        value = x[index[j]]
        out[j] = scale * (value * value if mode == "square" else value)


@gather.backward
@njit
def gather_backward(g, x, index, out, gx, scale, mode):
    gx[:] = 0.0
    for j in range(index.size):
        slope = 2.0 * x[index[j]] if mode == "square" else 1.0
        gx[index[j]] += scale * slope * g[j]


@ng.operator("(n)->()")
@njit
def cubes(x, out):
    out[0] = 0.0
    for i in range(x.size):
        out[0] += x[i] ** 3


@cubes.backward
@njit
def cubes_backward(g, x, out, gx):
    for i in range(x.size):
        gx[i] = 3.0 * g * x[i] ** 2


@cubes_backward.backward
@njit
def cubes_second(ggx, g, x, out, gx, gg, gx2, gout):
    gg[0] = 0.0
    gout[0] = 0.0
    for i in range(x.size):
        gg[0] += 3.0 * ggx[i] * x[i] ** 2
        gx2[i] = 6.0 * ggx[i] * g * x[i]


@cubes_second.backward
def cubes_third(cg, cx, cout, ggx, g, x, out, gx, gg, gx2, gout):
    slope = cg[..., None] * 3.0 * x * x + cx * 6.0 * g[..., None] * x
    return (
        slope,
        (6.0 * cx * ggx * x).sum(axis=-1),
        cg[..., None] * 6.0 * ggx * x + cx * 6.0 * ggx * g[..., None],
        None,
        None,
    )
