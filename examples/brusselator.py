"""The Brusselator with diffusion in two dimensions: a stiff system and its sparse Jacobian.

Two substances react and diffuse on a square (Hairer and Wanner, Solving ordinary differential
equations II). The right hand side is written with slices. SciPy's BDF method needs its Jacobian:
by differences, column by column; by differences of groups of columns, if the user knows where its
elements are; or exactly, by numgrad, which finds out itself.

``--full`` takes a grid of 64 x 64 points and compares the three.
"""

import argparse
import time

import numpy as np
from scipy.integrate import solve_ivp

import numgrad as ng

FEED, REMOVAL, DIFFUSION = 1.0, 3.4, 2e-3
TOLERANCES = {"rtol": 1e-6, "atol": 1e-8}


def slope(t, state, xp=ng):
    """The rates of both substances, an array of shape (2, n, n); nothing leaves the square."""
    n = state.shape[-1]
    padded = xp.pad(state, ((0, 0), (1, 1), (1, 1)), mode="edge")
    around = padded[:, 2:, 1:-1] + padded[:, :-2, 1:-1] + padded[:, 1:-1, 2:] + padded[:, 1:-1, :-2]
    spread = DIFFUSION * (n - 1) ** 2 * (around - 4.0 * state)
    u, v = state[0], state[1]
    reaction = u * u * v
    made = FEED + reaction - (REMOVAL + 1.0) * u
    return spread + xp.stack([made, REMOVAL * u - reaction])


def start(n):
    x = np.linspace(0.0, 1.0, n)
    return np.stack([22.0 * (x * (1.0 - x))[:, None] ** 1.5 + 0.0 * x, 27.0 * (x * (1.0 - x)) ** 1.5
                     + 0.0 * x[:, None]])  # fmt: skip


def by_numgrad(n, end):
    """BDF with the exact sparse Jacobian."""
    return ng.interop.scipy.solve_ivp(
        slope, (0.0, end), start(n), "BDF", jac="sparse", **TOLERANCES
    )


def by_differences(n, end, pattern=None):
    """BDF with SciPy's differences, of a right hand side in plain NumPy."""
    calls = []

    def flat(t, y):
        calls.append(t)
        return slope(t, y.reshape(2, n, n), np).reshape(-1)

    found = solve_ivp(
        flat, (0.0, end), start(n).reshape(-1), "BDF", jac_sparsity=pattern, **TOLERANCES
    )
    found.nfev = len(calls)  # SciPy does not count those of the differences
    return found


def timed(label, solve, *args):
    began = time.process_time()
    found = solve(*args)
    seconds = time.process_time() - began
    counts = f"{found.nfev:6d} evaluations, {found.njev:3d} Jacobians"
    print(f"  {label:30s} {seconds:7.2f} s of processor time, {counts}")
    return found


def compared(n, end, with_pattern):
    print(f"{2 * n * n} unknowns:")
    exact = timed("exact, sparse", by_numgrad, n, end)
    pattern = None
    if with_pattern:
        pattern = ng.sparse.jacobian_pattern(lambda y: slope(0.0, y), start(n))
    label = "differences, with jac_sparsity" if with_pattern else "differences"
    other = timed(label, by_differences, n, end, pattern)
    distance = np.abs(exact.y[..., -1].reshape(-1) - other.y[:, -1]).max()
    print(f"  difference at the end: {distance:.1e}")
    assert distance < 1e-3
    assert exact.nfev < other.nfev


def main(full=False):
    by_numgrad(8, 0.1)  # loads what a process loads once
    end = 5.0 if full else 1.0
    compared(64 if full else 12, end, with_pattern=True)
    # Without a pattern SciPy's Jacobian is dense, and so is its factorization.
    compared(24 if full else 12, end, with_pattern=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    main(parser.parse_known_args()[0].full)
