"""Jacobians and Hessians: forward mode, batches of samples, sparse ones."""

import numpy as np

import numgrad as ng


def potential(q):
    d = q[:, None, :] - q[None, :, :]
    return -(1.0 / np.sqrt((d * d).sum(-1) + 0.01)).sum()


def lorenz(x):
    return (ng.roll(x, -1) - ng.roll(x, 2)) * ng.roll(x, 1) - x + 8.0


def bratu(u):
    n = round(np.sqrt(u.size))
    u = u.reshape(n, n)
    r = 4.0 * u - 5.0 / n**2 * np.exp(u)
    r[1:] -= u[:-1]
    r[:-1] -= u[1:]
    r[:, 1:] -= u[:, :-1]
    r[:, :-1] -= u[:, 1:]
    return r.ravel()


class HessianProducts:
    """Of the potential energy of 100 bodies."""

    def setup(self):
        self.q, self.v = np.random.default_rng(0).standard_normal((2, 100, 3))
        self.hessian = ng.func.hessian(potential)
        self.captured = ng.jit(lambda q, v: ng.func.hvp(potential, (q,), (v,))[1][0])
        for _ in range(3):
            self.time_one()
            self.time_one_captured()
            self.time_hessian()

    def time_one(self):
        ng.func.hvp(potential, (self.q,), (self.v,))

    def time_one_captured(self):
        self.captured(self.q, self.v)

    def time_hessian(self):
        self.hessian(self.q)


class PerSample:
    """The Jacobians of 20 000 samples of Lorenz's equations of 1996 with 20 variables."""

    params = ("jacfwd", "jacrev")
    param_names = ("mode",)

    def setup(self, mode):
        self.x = np.random.default_rng(0).standard_normal((20_000, 20))
        self.jacobians = ng.jit(ng.func.vmap(getattr(ng.func, mode)(lorenz)))
        self.time_captured(mode)

    def time_captured(self, mode):
        self.jacobians(self.x)


class Sparse:
    """The Jacobian of Bratu's equation on 256 x 256 points."""

    def setup(self):
        self.u = np.random.default_rng(0).standard_normal(256 * 256)
        self.prepared = ng.sparse.prepare(bratu, self.u)
        self.time_prepared()

    def time_prepare(self):
        ng.sparse.prepare(bratu, self.u)

    def time_prepared(self):
        self.prepared(self.u)
