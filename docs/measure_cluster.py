"""Time a Jacobian on clusters of one worker process, two, and so on, up to the number of cores.

Each cluster takes its turn in every round, and the least time of the rounds counts: what else runs
on the machine only adds to it. Every call sends the function anew, so its evaluation on each worker
is in the time. Beside the time that passes there is that of the processors, of this process with
the scheduler and of all workers: it shows what a cluster costs also on a machine that is busy.
"""

import os
from contextlib import ExitStack
from time import perf_counter, process_time

import numpy as np
import psutil
from distributed import Client, LocalCluster

import numgrad as ng

ROUNDS, SIZE, STEPS = 3, 3072, 300


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


def of_workers():
    """Return the seconds that processors have worked for the processes that this one started."""
    times = [process.cpu_times() for process in psutil.Process().children(recursive=True)]
    return sum(t.user + t.system for t in times)


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
                before = perf_counter(), process_time(), of_workers()
                found = compute()
                after = perf_counter(), process_time(), of_workers()
                times[name].append([b - a for a, b in zip(before, after, strict=True)])
                assert found.tobytes() == expected, name
    print(f"Lorenz-96, {SIZE} variables, {STEPS} steps: {8 * SIZE**2 / 1e6:.0f} MB")
    print("seconds                     in all   here  workers")
    for name, found in times.items():
        print(f"{name:24} {'  '.join(f'{least:8.2f}' for least in np.min(found, axis=0))}")


if __name__ == "__main__":
    main()
