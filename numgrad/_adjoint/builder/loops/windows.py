"""Windows of signals, and angles without jumps, as the loops that stand for them in kernels."""

import math

import numpy as np

from ...ssa.conventions import held


def bartlett(M):
    """Return the window that rises and falls along straight lines."""
    made = np.ones(max(M, 0))
    if M > 1:
        for i in range(M):
            t = 2.0 * i / (M - 1)
            made[i] = t if t <= 1.0 else 2.0 - t
    return made


def hanning(M):
    """Return the window of Hann."""
    return _of_cosines(M, 0.5, 0.5, 0.0)


def hamming(M):
    """Return the window of Hamming."""
    return _of_cosines(M, 0.54, 0.46, 0.0)


def blackman(M):
    """Return the window of Blackman."""
    return _of_cosines(M, 0.42, 0.5, 0.08)


def _of_cosines(M, a, b, c):
    """Return a window that is a sum of cosines."""
    made = np.ones(max(M, 0))
    if M > 1:
        for i in range(M):
            t = 2.0 * math.pi * i / (M - 1)
            made[i] = a - b * math.cos(t) + c * math.cos(2.0 * t)
    return made


def kaiser(M, beta):
    """Return the window of Kaiser."""
    made = np.ones(max(M, 0))
    if M > 1:
        whole = _i0(beta * beta)
        for i in range(M):
            t = 2.0 * i / (M - 1) - 1.0
            made[i] = _i0(beta * beta * (1.0 - t * t)) / whole
    return made


def _i0(square):
    """Return the modified Bessel function of order 0 of the root of a number, from its series."""
    count = 30 + int(2.0 * math.sqrt(abs(held(square))))
    total, term = 1.0, 1.0
    for k in range(1, count):
        term *= 0.25 * square / (k * k)
        total += term
    return total


def unwrap(p, discont=None, axis=-1, period=6.283185307179586):
    """Return angles to which periods are added where they jump, along the last axis."""
    if axis != -1:
        raise NotImplementedError("np.unwrap is understood along the last axis")
    least = period / 2 if discont is None else discont
    if p.ndim == 2:
        rows = np.empty(p.shape)
        for i in range(p.shape[0]):
            rows[i, :] = _unwrapped(p[i, :], least, period)
        return rows
    return _unwrapped(p, least, period)


def _unwrapped(p, least, period):
    """Return the angles of a vector."""
    made = np.empty(p.size)
    turns = 0.0
    for i in range(p.size):
        if i > 0:
            step = held(p[i] * 1.0) - held(p[i - 1] * 1.0)
            whole = math.floor((step + held(period * 0.5)) / held(period * 1.0))
            rest = step - whole * held(period * 1.0)
            if rest == -held(period * 0.5) and step > 0:
                whole -= 1
            if abs(step) >= held(least * 1.0):
                turns -= whole
        made[i] = p[i] + turns * period
    return made
