"""The adjoint of the enthalpy of sea water, by hand: one loop, four divisions, two logarithms."""

import math

import numpy as np
from numba import prange

from ..limit import inlined, kernel, log, parallel
from ..task import Array
from .seawater_coefficients import A0, A1, A2, A3, B0, B2, HEAT_CAPACITY, PASCAL, TWICE_B1

TILE = 2048
A00, A01, A02, (A03,) = A0
A10, A11 = A1
A20, (A21,) = A2
(A30,) = A3
B00, B01, B02 = B0
B10, B11 = TWICE_B1
B20, (B21,) = B2


@inlined
def linear(c, t):
    return c[0] + t * c[1], c[1]


@inlined
def quadratic(c, t):
    return c[0] + t * (c[1] + t * c[2]), c[1] + t * (2.0 * c[2])


@inlined
def cubic(c, t):
    value = c[0] + t * (c[1] + t * (c[2] + t * c[3]))
    return value, c[1] + t * (2.0 * c[2] + t * (3.0 * c[3]))


@inlined
def quartic(c, t):
    value = c[0] + t * (c[1] + t * (c[2] + t * (c[3] + t * c[4])))
    return value, c[1] + t * (2.0 * c[2] + t * (3.0 * c[3] + t * (4.0 * c[4])))


@inlined
def numerator(s, q, t):
    """a0, a1, a2, a3, each with its derivatives to salinity and temperature."""
    k, k_t = quartic(A00, t)
    m, m_t = quartic(A01, t)
    n, n_t = quartic(A02, t)
    a0 = (k + s * (m + q * n + s * A03), m + 1.5 * q * n + 2.0 * s * A03, k_t + s * (m_t + q * n_t))
    k, k_t = cubic(A10, t)
    m, m_t = linear(A11, t)
    a1 = (k + s * m, m, k_t + s * m_t)
    k, k_t = quadratic(A20, t)
    a2 = (k + s * A21, A21, k_t)
    k, k_t = linear(A30, t)
    return a0, a1, a2, (k, 0.0, k_t)


@inlined
def denominator(s, q, t):
    """b0, b1, b2, each with its derivatives to salinity and temperature."""
    k, k_t = cubic(B00, t)
    m, m_t = quadratic(B01, t)
    n, n_t = cubic(B02, t)
    b0 = (k + s * (m + q * n), m + 1.5 * q * n, k_t + s * (m_t + q * n_t))
    k, k_t = quadratic(B10, t)
    m, m_t = linear(B11, t)
    b1 = (0.5 * (k + s * m), 0.5 * m, 0.5 * (k_t + s * m_t))
    k, k_t = quadratic(B20, t)
    return b0, b1, (k + s * B21, B21, k_t)


@inlined
def adjoint(a0, a1, a2, a3, b0, b1, b2, p):
    """Derivatives of the integral to the seven coefficients, those of a first."""
    per_b2, per_b0 = 1.0 / b2, 1.0 / b0
    square = b1 * b1 - b0 * b2
    root = math.sqrt(square)
    c1 = a3 * per_b2
    c0 = (a2 - 2.0 * b1 * c1) * per_b2
    slope = (a1 - 2.0 * b1 * c0 - b0 * c1) * per_b2
    rest = a0 - b0 * c0 - slope * b1
    x = b2 * p + b1
    below = b0 + p * (2.0 * b1 + b2 * p)
    per_below, per_root = 1.0 / below, 1.0 / root
    first = log(below * per_b0)
    # (x - root)(x + root) = b2 below and (b1 + root)(b1 - root) = b0 b2
    second = log(((x - root) * (b1 + root)) ** 2 * (per_b2 * per_b2 * per_b0 * per_below))
    part = 0.5 * second * per_root
    # from the two logarithms and the root to what they are made of
    g_second = 0.5 * rest * per_root
    per_ac, per_bd = per_b2 * per_below, per_b2 * per_b0
    g_root = g_second * 2.0 * (b1 * per_bd - x * per_ac) - rest * part * per_root
    g_below = 0.5 * slope * per_below
    g_square = 0.5 * g_root * per_root
    g_b1 = g_second * 2.0 * root * (per_ac - per_bd) + 2.0 * p * g_below + 2.0 * b1 * g_square
    g_b2 = p * (2.0 * g_second * root * per_ac + p * g_below) - b0 * g_square
    g_b0 = g_below - 0.5 * slope * per_b0 - b2 * g_square
    # and through the divisions of the polynomials
    g_slope = (0.5 * first - b1 * part) * per_b2
    g_c0 = p - part * b0 - 2.0 * g_slope * b1
    g_c0 = g_c0 * per_b2
    g_c1 = 0.5 * p * p - g_slope * b0 - 2.0 * g_c0 * b1
    g_c1 = g_c1 * per_b2
    g_b1 -= slope * part + 2.0 * g_slope * c0 + 2.0 * g_c0 * c1
    g_b2 -= g_slope * slope + g_c0 * c0 + g_c1 * c1
    g_b0 -= part * c0 + g_slope * c1
    return part, g_slope, g_c0, g_c1, g_b0, g_b1, g_b2


@kernel
def block(salinity, temperature, pressure, gs, gt):
    for i in range(salinity.size):
        s, t, p = salinity[i], temperature[i], pressure[i]
        q = math.sqrt(s)
        a0, a1, a2, a3 = numerator(s, q, t)
        b0, b1, b2 = denominator(s, q, t)
        g = adjoint(a0[0], a1[0], a2[0], a3[0], b0[0], b1[0], b2[0], p)
        by_s = g[0] * a0[1] + g[1] * a1[1] + g[2] * a2[1]
        by_t = g[0] * a0[2] + g[1] * a1[2] + g[2] * a2[2] + g[3] * a3[2]
        by_s += g[4] * b0[1] + g[5] * b1[1] + g[6] * b2[1]
        by_t += g[4] * b0[2] + g[5] * b1[2] + g[6] * b2[2]
        gs[i] = PASCAL * by_s
        gt[i] = HEAT_CAPACITY + PASCAL * by_t


@parallel
def all_blocks(salinity, temperature, pressure, gs, gt, tile):
    n = salinity.size
    for k in prange((n + tile - 1) // tile):
        a, b = k * tile, min((k + 1) * tile, n)
        block(salinity[a:b], temperature[a:b], pressure[a:b], gs[a:b], gt[a:b])


def gradient(salinity: Array, temperature: Array, pressure: Array) -> tuple[Array, ...]:
    """Gradients of the summed enthalpy to salinity and temperature."""
    gs, gt = np.empty_like(salinity), np.empty_like(salinity)
    all_blocks(salinity, temperature, pressure, gs, gt, TILE)
    return gs, gt
