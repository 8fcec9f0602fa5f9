"""What derived adjoints take beside the loops that they are derived from: the table of `njit.md`.

    PYTHONPATH=. python docs/njit_costs.py
"""

import timeit

import numpy as np

import numgrad as ng
from tests.adjoint.kernels import CASES, arguments

SIZES = {"nbody": 400, "heat": 1000, "thomas": 2000, "time_warping": 150, "cholesky": 60}


def best(call):
    """Return the microseconds of a call, the least of several."""
    return min(timeit.repeat(call, number=3, repeat=15)) / 3 * 1e6


for name, size in SIZES.items():
    loops, given = ng.njit(CASES[name][0]), arguments(name, size)
    if name == "heat":
        given[2] = np.int64(200)
    adjoint = ng.adjoint(loops)
    primal = best(lambda f=loops, a=given: f(*a))
    derived = best(lambda f=adjoint, a=given: f(*a))
    print(f"| {name} | {size} | {primal:.0f} | {derived:.0f} | {derived / primal:.1f} |")
