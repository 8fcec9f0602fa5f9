"""Kernels as users of Numba write them, with arguments: each is differentiated by the tests."""

import math

import numpy as np
from numba import njit

CASES = {}


def case(*arguments):
    """Note a kernel and the functions of a generator and a size that give its arguments."""

    def note(function):
        CASES[function.__name__] = (njit(function), arguments)
        return function

    return note


def normal(*shape):
    return lambda draw, n: 0.3 * draw.normal(size=[n if s == "n" else s for s in shape])


def uniform(*shape):
    return lambda draw, n: draw.uniform(0.5, 1.5, [n if s == "n" else s for s in shape])


def size(draw, n):
    return n


def fixed(value):
    return lambda draw, n: value


def spd(draw, n):
    a = draw.normal(size=(n, n))
    return a @ a.T + n * np.eye(n)


def integers(*shape):
    return lambda draw, n: draw.integers(0, n, [n if s == "n" else s for s in shape])


@case(normal("n", 3), uniform("n"))
def nbody(p, m):
    e = 0.0
    n = p.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            dx = p[i, 0] - p[j, 0]
            dy = p[i, 1] - p[j, 1]
            dz = p[i, 2] - p[j, 2]
            e -= m[i] * m[j] / math.sqrt(dx * dx + dy * dy + dz * dz + 1e-3)
    return e


@case(normal("n"), fixed(0.2), fixed(8))
def heat(u0, k, steps):
    u = u0.copy()
    v = u0.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            v[i] = u[i] + k * (1.0 + u[i] * u[i]) * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u, v = v, u
    return np.sum(u * u)


@njit
def rotate(r, x):
    theta2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    out = np.zeros(3)
    if theta2 > 0.0:
        theta = math.sqrt(theta2)
        c, s = math.cos(theta), math.sin(theta)
        w = r / theta
        cross = np.zeros(3)
        cross[0] = w[1] * x[2] - w[2] * x[1]
        cross[1] = w[2] * x[0] - w[0] * x[2]
        cross[2] = w[0] * x[1] - w[1] * x[0]
        t = (w[0] * x[0] + w[1] * x[1] + w[2] * x[2]) * (1.0 - c)
        for i in range(3):
            out[i] = x[i] * c + cross[i] * s + w[i] * t
    else:
        for i in range(3):
            out[i] = x[i]
    return out


@case(normal("n", 9), normal("n", 3), integers("n"), integers("n"), normal("n", 2))
def bundle(cams, points, ci, pi, feats):
    cost = 0.0
    for k in range(len(ci)):
        cam = cams[ci[k]]
        x = rotate(cam[0:3], points[pi[k]])
        x[0] += cam[3]
        x[1] += cam[4]
        x[2] += cam[5] + 5.0
        u, v = x[0] / x[2], x[1] / x[2]
        r2 = u * u + v * v
        d = 1.0 + cam[7] * r2 + cam[8] * r2 * r2
        eu = cam[6] * d * u - feats[k, 0]
        ev = cam[6] * d * v - feats[k, 1]
        cost += eu * eu + ev * ev
    return cost


@njit
def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


@case(normal("n", 4), normal(8, 4), normal(8), normal(4))
def lstm(xs, w, b, h0):
    m = h0.shape[0]
    h = h0.copy()
    c = np.zeros(m)
    loss = 0.0
    for t in range(xs.shape[0]):
        for i in range(m):
            f = sigmoid(xs[t, i] * w[0, i] + b[i])
            g = sigmoid(h[i] * w[1, i] + w[2, i])
            o = sigmoid(xs[t, i] * w[3, i] + w[4, i])
            a = math.tanh(h[i] * w[5, i] + w[6, i])
            c[i] = c[i] * f + g * a
            h[i] = o * math.tanh(c[i])
        z = 0.0
        for i in range(m):
            z += math.exp(h[i] * w[7, i])
        for i in range(m):
            loss += h[i] * xs[t, i] - math.log(2.0 + z)
    return loss


@case(uniform("n"), uniform("n"), uniform("n"), normal("n"))
def thomas(a, b, c, d):
    n = len(d)
    cp = np.empty(n)
    dp = np.empty(n)
    cp[0] = c[0] / (b[0] + 4.0)
    dp[0] = d[0] / (b[0] + 4.0)
    for i in range(1, n):
        m = b[i] + 4.0 - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x = np.empty(n)
    x[n - 1] = dp[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.sum(x * x)


@case(uniform("n"), uniform("n"), uniform("n"), normal("n"))
def thomas_in_place(a, b0, c, d0):
    n = len(d0)
    b = b0 + 4.0
    d = d0.copy()
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[n - 1] /= b[n - 1]
    for i in range(n - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]
    return np.sum(d**2)


@case(normal("n", "n"), fixed(4))
def gauss_seidel(f, sweeps):
    n = f.shape[0]
    u = np.zeros((n, n))
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                s = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                u[i, j] = 0.25 * (s - f[i, j]) - 0.02 * u[i, j] ** 3
    return np.sum(u * f)


@njit
def lorenz_slope(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


@case(uniform(3), size, fixed(0.01), fixed(10.0), fixed(28.0), fixed(8 / 3))
def lorenz(start, steps, dt, sigma, rho, beta):
    x, y, z = start[0], start[1], start[2]
    for _ in range(steps):
        a = lorenz_slope(x, y, z, sigma, rho, beta)
        b = lorenz_slope(x + dt / 2 * a[0], y + dt / 2 * a[1], z + dt / 2 * a[2], sigma, rho, beta)
        c = lorenz_slope(x + dt / 2 * b[0], y + dt / 2 * b[1], z + dt / 2 * b[2], sigma, rho, beta)
        d = lorenz_slope(x + dt * c[0], y + dt * c[1], z + dt * c[2], sigma, rho, beta)
        x += dt / 6 * (a[0] + 2 * b[0] + 2 * c[0] + d[0])
        y += dt / 6 * (a[1] + 2 * b[1] + 2 * c[1] + d[1])
        z += dt / 6 * (a[2] + 2 * b[2] + 2 * c[2] + d[2])
    return x + y * z


@case(normal("n"), normal("n"))
def time_warping(a, b):
    n, m = len(a), len(b)
    table = np.full((n + 1, m + 1), 1e9)
    table[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            d = (a[i - 1] - b[j - 1]) ** 2
            table[i, j] = d + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[n, m]


@case(uniform("n"), uniform("n"))
def recurrence(x, w):
    h = 0.1
    for i in range(len(x)):
        h = math.tanh(w[i] * h + x[i])
    return h


@case(uniform("n", "n"), uniform("n", "n"), fixed(3), fixed(0.03))
def gray_scott(u0, v0, steps, feed):
    u, v = u0.copy(), v0.copy()
    un, vn = u0.copy(), v0.copy()
    n, m = u.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                lu = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j]
                lv = v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - 4.0 * v[i, j]
                r = u[i, j] * v[i, j] * v[i, j]
                un[i, j] = u[i, j] + 0.1 * (0.16 * lu - r + feed * (1.0 - u[i, j]))
                vn[i, j] = v[i, j] + 0.1 * (0.08 * lv + r - (feed + 0.06) * v[i, j])
        u, un = un, u
        v, vn = vn, v
    return np.sum(u * v)


@case(normal("n"), fixed(0.999))
def horner(c, x):
    p = 0.0
    for i in range(len(c) - 1, -1, -1):
        p = p * x + c[i]
    return p * p


@case(uniform("n"), fixed(0.3))
def kepler(mean, e):
    s = 0.0
    for i in range(len(mean)):
        x = mean[i]
        while True:
            dx = (x - e * math.sin(x) - mean[i]) / (1.0 - e * math.cos(x))
            x -= dx
            if abs(dx) < 1e-13:
                break
        s += math.cos(x)
    return s


@case(normal("n", 12), fixed(100.0), fixed(0.2), fixed(0.03))
def asian_option(z, s0, vol, rate):
    paths, steps = z.shape
    dt = 1.0 / steps
    total = 0.0
    for p in range(paths):
        s = s0
        mean = 0.0
        alive = True
        for t in range(steps):
            s *= math.exp((rate - 0.5 * vol * vol) * dt + vol * math.sqrt(dt) * z[p, t] * 3)
            if s > 130.0:
                alive = False
                break
            mean += s / steps
        if alive:
            total += max(mean - 95.0, 0.0)
    return math.exp(-rate) * total / paths


@case(spd)
def cholesky(a0):
    a = a0.copy()
    n = a.shape[0]
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= a[j, k] * a[j, k]
        a[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t -= a[i, k] * a[j, k]
            a[i, j] = t / a[j, j]
    r = 0.0
    for j in range(n):
        r += math.log(a[j, j])
    return r


@case(normal("n", 5), normal("n", 5))
def softmax(x, w):
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        e = np.exp(x[i] - np.max(x[i]))
        y[i, :] = e / np.sum(e)
    return np.sum(y * w)


@njit
def interpolated(xs, ys, x):
    if x <= xs[0]:
        return ys[0]
    if x >= xs[-1]:
        return ys[-1]
    lo, hi = 0, len(xs) - 1
    while hi - lo > 1:
        mid = (lo + hi) // 2
        if xs[mid] <= x:
            lo = mid
        else:
            hi = mid
    t = (x - xs[lo]) / (xs[hi] - xs[lo])
    return ys[lo] * (1 - t) + ys[hi] * t


@case(lambda draw, n: np.sort(draw.random(n)), normal("n"), lambda draw, n: draw.random(n))
def interpolation(xs, ys, at):
    s = 0.0
    for i in range(len(at)):
        s += interpolated(xs, ys, at[i]) ** 2
    return s


@case(normal("n", 2), normal("n", 2), fixed(3), fixed(0.01))
def verlet(x0, v0, steps, dt):
    x, v = x0.copy(), v0.copy()
    n = x.shape[0]
    f = np.zeros((n, 2))
    for _ in range(steps):
        f[:, :] = 0.0
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                dx = x[i, 0] - x[j, 0]
                dy = x[i, 1] - x[j, 1]
                r2 = dx * dx + dy * dy + 0.05
                if r2 > 0.5:
                    continue
                w = 1.0 / r2**2
                f[i, 0] += w * dx
                f[i, 1] += w * dy
        for i in range(n):
            for d in range(2):
                v[i, d] += dt * f[i, d]
                x[i, d] += dt * v[i, d]
    return np.sum(x * x) + np.sum(v)


@case(lambda draw, n: draw.normal(size=2 * n))
def wavelet(x0):
    x = x0.copy()
    n = len(x) // 2
    even = x[::2].copy()
    odd = x[1::2].copy()
    for i in range(n - 1):
        odd[i] -= 0.5 * (even[i] + even[i + 1])
    odd[n - 1] -= even[n - 1]
    for i in range(1, n):
        even[i] += 0.25 * (odd[i - 1] + odd[i])
    x[:n] = even
    x[n:] = odd
    return np.sum(x**3)


@case(normal("n", "n"), fixed(0.4))
def smith_waterman(score, gap):
    n, m = score.shape
    h = np.zeros((n + 1, m + 1))
    best = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            h[i, j] = max(
                0.0, h[i - 1, j - 1] + score[i - 1, j - 1], h[i - 1, j] - gap, h[i, j - 1] - gap
            )
            if h[i, j] > best:
                best = h[i, j]
    return best


@case(normal("n"), fixed(0.3), fixed(3))
def crank_nicolson(u0, r, steps):
    u = u0.copy()
    n = len(u)
    cp, dp = np.zeros(n), np.zeros(n)
    for _ in range(steps):
        cp[0], dp[0] = 0.0, u[0]
        for i in range(1, n - 1):
            rhs = r * u[i - 1] + (2 - 2 * r) * u[i] + r * u[i + 1]
            m = 2 + 2 * r + r * cp[i - 1]
            cp[i] = -r / m
            dp[i] = (rhs + r * dp[i - 1]) / m
        for i in range(n - 2, 0, -1):
            u[i] = dp[i] - cp[i] * u[i + 1]
    return np.sum(u * u)


@case(lambda draw, n: np.cumsum(draw.uniform(0.5, 1.5, n)), normal("n"), fixed(1.7))
def cubic_spline(x, y, at):
    n = len(x)
    h = x[1:] - x[:-1]
    u, z = np.zeros(n), np.zeros(n)
    for i in range(1, n - 1):
        a = 3 * ((y[i + 1] - y[i]) / h[i] - (y[i] - y[i - 1]) / h[i - 1])
        d = 2 * (x[i + 1] - x[i - 1]) - h[i - 1] * u[i - 1]
        u[i] = h[i] / d
        z[i] = (a - h[i - 1] * z[i - 1]) / d
    c = np.zeros(n)
    for j in range(n - 2, -1, -1):
        c[j] = z[j] - u[j] * c[j + 1]
    k = 0
    while k < n - 2 and x[k + 1] < at:
        k += 1
    b = (y[k + 1] - y[k]) / h[k] - h[k] * (c[k + 1] + 2 * c[k]) / 3
    d = (c[k + 1] - c[k]) / (3 * h[k])
    t = at - x[k]
    return y[k] + t * (b + t * (c[k] + t * d))


@case(normal("n"), uniform("n"), fixed(0.5))
def metropolis(steps, draws, width):
    x = 0.3
    total = 0.0
    for i in range(len(steps)):
        new = x + width * steps[i]
        if math.log(draws[i]) < -0.5 * new * new + 0.5 * x * x:
            x = new
        total += x * x
    return total / len(steps)


@case(normal("n", "n"), uniform("n", 2))
def bilinear(image, flow):
    n, m = image.shape
    total = 0.0
    for k in range(flow.shape[0]):
        x = min(max(flow[k, 0] * 1.3, 0.0), n - 1.001)
        y = min(max(flow[k, 1] * 1.7, 0.0), m - 1.001)
        i, j = int(x), math.floor(y)
        fx, fy = x - i, y - j
        top = image[i, j] * (1 - fy) + image[i, j + 1] * fy
        low = image[i + 1, j] * (1 - fy) + image[i + 1, j + 1] * fy
        total += (top * (1 - fx) + low * fx) ** 2
    return total


@case(
    normal(12),
    lambda draw, n: draw.integers(0, n, 12),
    lambda draw, n: np.linspace(0, 12, n + 1).astype(int),
    normal("n"),
)
def csr_product(data, indices, indptr, x):
    n = len(indptr) - 1
    y = np.zeros(n)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            y[i] += data[k] * x[indices[k]]
    return np.sum(y * y)


@case(uniform(3), size, fixed(1.0))
def pid(gains, steps, target):
    x, integral, last = 0.0, 0.0, target
    cost = 0.0
    for _ in range(steps):
        error = target - x
        integral += error * 0.1
        u = gains[0] * error + gains[1] * integral + gains[2] * (error - last) / 0.1
        if u > 2.0:
            u = 2.0
        elif u < -2.0:
            u = -2.0
        last = error
        x += 0.1 * (u - 0.5 * x)
        cost += error * error
    return cost


@case(normal(2, 2), uniform(2), uniform(2, 2), normal("n"))
def kalman(f, x, q, seen):
    p = q.copy()
    cost = 0.0
    for k in range(len(seen)):
        x = np.dot(f, x)
        p = f @ p @ f.T + q
        gain = p[:, 0] / (p[0, 0] + 2.0)
        r = seen[k] - x[0]
        x = x + gain * r
        p = p - np.outer(gain, p[0])
        cost += r * r
    return cost


def arguments(name, n=8, seed=0):
    """Return the arguments of a kernel."""
    draw = np.random.default_rng(seed)
    return [make(draw, n) for make in CASES[name][1]]
