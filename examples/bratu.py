"""Bratu's problem in two dimensions: Newton's method with a sparse Jacobian that nobody wrote.

``-div grad u = lam exp(u)`` on the unit square, zero at the edge: two solutions below a critical
``lam``, none above. The residual is written with slices. How the largest value grows with ``lam``
comes from the implicit function theorem, with one more sparse solve.

``--full`` takes a grid of 256 x 256 points.
"""

import argparse

import numpy as np

import numgrad as ng


def residual(u, lam):
    h = 1.0 / (u.shape[0] + 1)
    padded = ng.pad(u, 1)
    around = padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2]
    return 4.0 * u - around - h**2 * lam * np.exp(u)


def solve(lam, n):
    return ng.interop.scipy.root(residual, np.zeros((n, n)), (lam,), "newton", "sparse")


def main(full=False):
    n = 256 if full else 31
    lam = ng.tensor(5.0, requires_grad=True)
    found = solve(lam, n)
    top = found.x[n // 2, n // 2]
    (growth,) = ng.grad(top, lam)
    print(f"{n * n} unknowns: {found.nit} steps of Newton, u = {top.item():.6f} in the middle")
    step = 1e-4
    above, below = (solve(5.0 + d, n).x[n // 2, n // 2] for d in (step, -step))
    print(f"du/dlam = {growth.item():.8f}, by differences {(above - below) / (2 * step):.8f}")
    assert abs(growth.item() - (above - below) / (2 * step)) < 1e-6
    assert np.abs(residual(ng.asarray(found.x.detach()), 5.0).numpy()).max() < 1e-12


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true")
    main(parser.parse_known_args()[0].full)
