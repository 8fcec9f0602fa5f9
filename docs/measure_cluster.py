"""Time a Jacobian on clusters of one worker process, two, and so on, up to the number of cores.

Each cluster takes its turn in every round, and the least time of the rounds counts: what else runs
on the machine only adds to it. The function is sent with the first call of a round, so every time
has its evaluation on each worker in it.
"""

import os
from contextlib import ExitStack
from time import perf_counter

import numpy as np
from distributed import Client, LocalCluster

import numgrad as ng

ROUNDS, SIZE, STEPS = 5, 3072, 100


def rhs(x):
    """Lorenz-96."""
    return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + 8.0


def simulation(x):
    """Runge-Kutta steps of the fourth order."""
    for _ in range(STEPS):
        k1 = rhs(x)
        k2 = rhs(x + 0.005 * k1)
        k3 = rhs(x + 0.005 * k2)
        k4 = rhs(x + 0.01 * k3)
        x = x + (0.01 / 6.0) * (k1 + 2 * k2 + 2 * k3 + k4)
    return x


def cluster_of(workers, stack):
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0")
    return stack.enter_context(Client(stack.enter_context(cluster)))


def local(x):
    return ng.func.jacrev(simulation, chunk_size=SIZE // 64)(x)


def main():
    x = np.sin(np.arange(float(SIZE)))
    with ExitStack() as stack:
        clients = {n: cluster_of(n, stack) for n in range(1, (os.cpu_count() or 1) + 1)}
        ways = {
            f"{n} workers": lambda client=client: ng.interop.dask.jacobian(
                simulation, x, client=client
            )
            for n, client in clients.items()
        }
        ng.set_flags(threads=1)
        ways["no cluster, one thread"] = lambda: local(x)
        expected, times = local(x).tobytes(), {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, compute in ways.items():
                start = perf_counter()
                found = compute()
                times[name].append(perf_counter() - start)
                assert found.tobytes() == expected, name
    print(f"Lorenz-96, {SIZE} variables, {STEPS} steps: {8 * SIZE**2 / 1e6:.0f} MB")
    for name, found in times.items():
        print(f"{name:24} {min(found):6.2f} s, median {np.median(found):6.2f} s")


if __name__ == "__main__":
    main()
