"""Sensitivities of a predator-prey model over a sweep of its parameters, on a cluster of Dask.

``python examples/parameter_sweep.py`` starts a process on each core of this machine;
``python examples/parameter_sweep.py tcp://scheduler:8786`` uses the cluster of that scheduler.
``--samples`` says how many parameters are drawn.

A block of samples is an array with a sample per row, so a worker integrates hundreds of them at
once, and has the gradients of all of them in two passes. Results come in the order of the samples
and have the same bits on any number of workers.
"""

import argparse

import numpy as np
from distributed import Client, LocalCluster

import numgrad as ng

START = 20.0, 5.0  # prey, predators
STEP, STEPS = 0.075, 40
NAMES = "growth", "predation", "conversion", "death"
CENTER = np.array([0.55, 0.028, 0.026, 0.8])


def rates(prey, predators, p):
    growth, predation, conversion, death = p[:, 0], p[:, 1], p[:, 2], p[:, 3]
    return (growth - predation * predators) * prey, (conversion * prey - death) * predators


def simulate(p):
    """Return prey and predators at the end, by Runge-Kutta steps, for each row of parameters."""
    y = START[0] + 0 * p[:, 0], START[1] + 0 * p[:, 0]
    for _ in range(STEPS):
        k1 = rates(*y, p)
        k2 = rates(y[0] + STEP / 2 * k1[0], y[1] + STEP / 2 * k1[1], p)
        k3 = rates(y[0] + STEP / 2 * k2[0], y[1] + STEP / 2 * k2[1], p)
        k4 = rates(y[0] + STEP * k3[0], y[1] + STEP * k3[1], p)
        y = tuple(
            v + STEP / 6 * (a + 2 * b + 2 * c + d)
            for v, a, b, c, d in zip(y, k1, k2, k3, k4, strict=True)
        )
    return y


def total(p, which):
    """The sum over samples that do not mix: its gradient has the gradient of each in its row."""
    return simulate(p)[which].sum()


@ng.jit
def sensitivities(p):
    """Return the populations at the end, and their derivatives by the parameters."""
    gradients = [ng.func.grad(total)(p, which) for which in range(2)]
    return {"populations": ng.stack(simulate(p), axis=1), "jacobian": ng.stack(gradients, axis=1)}


def sweep(samples, client):
    """Return what `sensitivities` does for all samples, whose blocks are tasks."""
    return ng.interop.dask.map_blocks(sensitivities, samples, client=client)


def check(samples, found, size=3):
    """Compare the derivatives of a few samples with finite differences."""
    for p, jacobian in zip(samples[:size], found["jacobian"], strict=False):
        steps = np.diag(1e-5 * p)
        ends = [np.stack(simulate(p + sign * steps), axis=1) for sign in (1, -1)]
        differences = (ends[0] - ends[1]) / (2e-5 * p)[:, None]
        np.testing.assert_allclose(jacobian, differences.T, rtol=1e-6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", nargs="?", help="of a scheduler; by default this machine")
    parser.add_argument("--samples", type=int, default=2048)
    options = parser.parse_args()
    draws = np.random.default_rng(0).uniform(0.8, 1.2, (options.samples, len(CENTER)))
    samples = CENTER * draws

    target = options.address or LocalCluster(threads_per_worker=1, dashboard_address=":0")
    with Client(target) as client:
        found = sweep(samples, client)
    if not options.address:
        target.close()
    check(samples, found)

    relative = found["jacobian"] * samples[:, None, :] / found["populations"][:, :, None]
    print(f"{options.samples} samples; elasticities, median and range from 5 % to 95 %:")
    for n, name in enumerate(NAMES):
        for m, population in enumerate(("prey", "predators")):
            low, middle, high = np.percentile(relative[:, m, n], [5, 50, 95])
            print(f"{population:10} by {name:11} {middle:7.2f}   {low:7.2f} {high:7.2f}")


if __name__ == "__main__":
    main()
