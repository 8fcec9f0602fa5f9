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


@kernel
def exchanged_where_a_step_is_accepted(x):
    y, trial = x.copy(), np.zeros_like(x)
    h = 0.9
    for _ in range(6):
        change = 0.0
        for i in range(len(x)):
            trial[i] = y[i] - h * y[i] ** 3
            change += (trial[i] - y[i]) ** 2
        if change < 0.2:
            tmp = y
            y = trial
            trial = tmp
            h = h * 1.1
        else:
            h = h * 0.6
    return np.sum(y * x) + trial[0] * h


@kernel
def exchanged_between_three(x):
    a, b, c = x * 1.0, x * x, np.sin(x)
    for i in range(len(x)):
        if x[i] > 0.5:
            a, b, c = b, c, a
        else:
            a, b = b, a
        a[i] = b[i] * c[0]
        b[0] += 0.1 * a[1]
    return np.sum(a * x) + b[1] * c[2]


@kernel
def chosen_and_written(x):
    if x[0] > 0.1:
        y = x * 2.0
    else:
        y = x + 1.0
    y[0] = x[1] ** 2
    return np.sum(y * y)


@kernel
def given_to_another_name_and_written(x):
    y, z = x * 2.0, x * x
    for i in range(3):
        y, z = z, y * x[1]
        y[i] = x[2] ** 2
    for i in range(4):
        if x[i] > 0.5:
            y = z
            z = x * x[i]
        y[i] += 1.0 * x[i]
        z[0] = y[1] * y[0]
    return np.sum(y * y) + z[0] * z[1]


@kernel
def shortened_and_written(x):
    y = x.copy()
    for _ in range(3):
        y = y[1:]
        y[0] = y[1] * x[0]
    return np.sum(y * y)
