"""Measure products with Hessians of a system of bodies: ``python docs/engine/measure_forward.py``.

The potential energy of 100 bodies, float64: one product, 300 of them in a batch, and the whole
Hessian, beside JAX and torch.func where they are installed.
"""

import time

import numpy as np

import numgrad as ng

BODIES = 100
rng = np.random.default_rng(0)
Q, V = rng.standard_normal((2, BODIES, 3))
DIRECTIONS = rng.standard_normal((300, BODIES, 3))
MASSES = np.triu(np.outer(*rng.uniform(1.0, 2.0, (2, BODIES))), 1)


def potential(sqrt, masses):
    def function(q):
        d = q[:, None, :] - q[None, :, :]
        return -(masses / sqrt((d * d).sum(-1) + 0.01)).sum()

    return function


def numgrad_ways():
    function = potential(np.sqrt, MASSES)
    hvp = lambda q, v: ng.func.hvp(function, (q,), (v,))[1][0]  # noqa: E731
    captured = ng.jit(hvp)
    hessian = ng.func.hessian(function)

    def batch():
        x = ng.tensor(Q, requires_grad=True)
        (g,) = ng.grad(function(x), x, create_graph=True)
        return ng.grad(g, x, DIRECTIONS, is_grads_batched=True)

    yield "numgrad", lambda: hvp(Q, V), batch, lambda: hessian(Q)
    yield "numgrad, captured", lambda: captured(Q, V), None, None


def jax_ways():
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    function = potential(jnp.sqrt, MASSES)
    hvp = lambda q, v: jax.jvp(jax.grad(function), (q,), (v,))[1]  # noqa: E731
    one, many = jax.jit(hvp), jax.jit(jax.vmap(hvp, (None, 0)))
    whole = jax.jit(jax.hessian(function))
    wait = jax.block_until_ready
    yield "JAX, jit", lambda: wait(one(Q, V)), lambda: wait(many(Q, DIRECTIONS)), lambda: wait(
        whole(Q)
    )


def torch_ways():
    import torch

    q, v, vs = (torch.tensor(a) for a in (Q, V, DIRECTIONS))
    function = potential(torch.sqrt, torch.tensor(MASSES))
    hvp = lambda q, v: torch.func.jvp(torch.func.grad(function), (q,), (v,))[1]  # noqa: E731
    many = torch.func.vmap(hvp, (None, 0))
    whole = torch.func.hessian(function)
    yield "torch.func", lambda: hvp(q, v), lambda: many(q, vs), lambda: whole(q)


def milliseconds(function):
    if function is None:
        return "      -"
    for _ in range(3):
        function()
    times = []
    for _ in range(20):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return f"{1e3 * np.median(times):7.2f}"


def main():
    print(f"{'':18}{'one':>8}{'300':>8}{'all':>8}  ms, medians of 20")
    for ways in (numgrad_ways, jax_ways, torch_ways):
        try:
            for name, *calls in ways():
                print(f"{name:18}", *map(milliseconds, calls))
        except ImportError as error:
            print(error)


if __name__ == "__main__":
    main()
