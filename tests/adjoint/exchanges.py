"""Kernels whose names exchange arrays, or stand for arrays that a condition chooses."""

import numpy as np

KERNELS = []


def kernel(function):
    KERNELS.append(function)
    return function


@kernel
def exchanged_after_a_return(x):
    z = x * 2.0
    q = 0.5 * z[0]
    if x[1] < -0.29:
        return z[2] * q
    w = 0
    while w < 3:
        w += 1
        x, z = z, x
    return np.sum(x[1:] * z[0]) + q * len(x)


@kernel
def exchanged_under_a_condition(x):
    z = np.sin(x)
    if x[0] > 0.2:
        for _ in range(3):
            x, z = z, x
    return np.sum(x * x[0]) + np.sum(z) * z[1]


@kernel
def exchanged_arrays_of_other_lengths(x):
    y, z = x[1:] * x[0], x.copy()
    for _ in range(2):
        for _ in range(3):
            y, z = z, y
    if z[0] > 10.0:
        y, z = z, y
    return np.sum(y * y) * z[-1] + len(y) * z[0]


@kernel
def parts_of_exchanged_arrays(x):
    u, v = x.copy(), 3.0 * x
    first = u[:-1]
    last = v[1:]
    for _ in range(3):
        u, v = v, u
    v[1:] = first
    last[:] = u[:-1] * 0.5
    return np.sum(u * x) + np.sum(v * x * x)


@kernel
def exchanged_in_steps_of_slices(x):
    u, v = x * x, np.zeros_like(x)
    for _ in range(3):
        v[1:-1] = u[1:-1] + 0.2 * (u[2:] - u[:-2])
        v *= u
        u, v = v, u
    return np.sum(u) + v[1]


@kernel
def bound_again_after_a_return(x):
    y = np.ones(3) * x[0]
    if x[1] < 0.0:
        return np.sum(y)
    y = x * y[0]
    for _ in range(2):
        y = 0.5 * (y[1:] + y[:-1])
    y[0] = y[0] * x[1]
    return np.sum(y**2)


@kernel
def written_where_no_name_reads_the_copy(x):
    y, z = x.copy(), x * x
    if x[0] > 0.1:
        y = z
        s = y[0] * z[1]
    else:
        s = y[1]
    z[2] = s * s
    return np.sum(z) + s


@kernel
def written_where_only_the_length_is_read(x):
    y, z = x.copy(), x * x
    if x[0] > 0.1:
        y = z
    z[2] = z[0] * x[1]
    return np.sum(z) * len(y)


@kernel
def bound_anew_in_each_step(x):
    w = x.copy()
    part = w[:2]
    s = part[0] * part[1]
    for i in range(len(x)):
        part = w[i:] * s
        w[0] = s * part[0]
        s = s * 0.3 + np.sum(part)
    return s + w[0]


@kernel
def made_where_it_raises(x):
    y = x * x
    if x[0] > 5.0:
        doubled = y * 2.0
        largest = doubled.max()
        if largest > 3.0:
            raise ValueError("too large")
        raise ValueError("large")
    return np.sum(y)
