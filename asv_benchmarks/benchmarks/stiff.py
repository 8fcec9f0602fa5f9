"""The gradient of a stiff model to all of its parameters, beside SciPy's solution and its
sensitivities: ``python -m asv_benchmarks.benchmarks.stiff`` writes the table."""

import time

import numpy as np
from scipy import integrate

import numgrad as ng
from numgrad.testing.boehm import RATES, boehm
from numgrad.testing.boehm import VOLUMES as K

START = np.array([143.8668, 62.1332, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
TIMES = np.linspace(15.0, 240.0, 16)
OPTIONS = {"method": "BDF", "t_eval": TIMES, "rtol": 1e-8}


def slope(t, s, p):
    """Boehm's model of STAT5."""
    return boehm(s, t, p)


STOICHIOMETRY = np.zeros((8, 9))
for row, entries in enumerate(
    [{0: -2.0, 1: -1.0, 6: 2.0 * K, 7: K}, {1: -1.0, 2: -2.0, 7: K, 8: 2.0 * K}, {1: 1.0, 4: -1.0},
     {0: 1.0, 3: -1.0}, {2: 1.0, 5: -1.0}, {3: 1.0 / K, 6: -1.0}, {4: 1.0 / K, 7: -1.0},
     {5: 1.0 / K, 8: -1.0}]
):  # fmt: skip
    STOICHIOMETRY[row, list(entries)] = list(entries.values())


def by_hand(t, s, p):
    """Return the slope, and its Jacobians to states and to rates, as one writes them."""
    A, B, ab, aa, bb, naa, nab, nbb = s
    e = 1.25e-7 * np.exp(-p[0] * t) * p[5]
    squares = np.array([A * A, A * B, B * B])
    rates = np.array([p[4] * aa, p[3] * ab, p[4] * bb, p[2] * naa, p[1] * nab, p[2] * nbb])
    of_states, of_rates = np.zeros((9, 8)), np.zeros((9, 6))
    of_states[:3, :2] = [[2.0 * e * A, 0.0], [e * B, e * A], [0.0, 2.0 * e * B]]
    of_states[range(3, 9), [3, 2, 4, 5, 6, 7]] = p[[4, 3, 4, 2, 1, 2]]
    of_rates[:3, 0], of_rates[:3, 5] = -t * e * squares, e / p[5] * squares
    of_rates[range(3, 9), [4, 3, 4, 2, 1, 2]] = [aa, ab, bb, naa, nab, nbb]
    values = np.concatenate([e * squares, rates])
    return STOICHIOMETRY @ values, STOICHIOMETRY @ of_states, STOICHIOMETRY @ of_rates


def solution():
    """Solve the model by SciPy alone."""
    return integrate.solve_ivp(slope, (0.0, 240.0), START, args=(RATES,), **OPTIONS)


def gradient():
    """Return the gradient of the sum of squares of the states."""
    p = ng.tensor(RATES, requires_grad=True)
    y = ng.interop.scipy.solve_ivp(slope, (0.0, 240.0), START, args=(p,), **OPTIONS).y
    return ng.grad((y**2).sum(), p)[0].numpy()


def by_sensitivities():
    """Return the same by SciPy, from the 48 sensitivities integrated with the 8 states."""

    def both(t, z):
        f, of_states, of_rates = by_hand(t, z[:8], RATES)
        return np.concatenate([f, np.ravel(of_states @ z[8:].reshape(8, 6) + of_rates)])

    found = integrate.solve_ivp(both, (0.0, 240.0), np.append(START, np.zeros(48)), **OPTIONS)
    return 2.0 * np.einsum("it,ijt->j", found.y[:8], found.y[8:].reshape(8, 6, -1))


class Stiff:
    """One solution and one gradient, with all that is captured for it."""

    def setup(self):
        gradient()

    def time_solution(self):
        solution()

    def time_gradient(self):
        gradient()

    def time_sensitivities(self):
        by_sensitivities()


def main():
    functions = solution, gradient, by_sensitivities
    best = dict.fromkeys(functions, np.inf)
    for f in functions * 8:
        start = time.process_time()
        f()
        best[f] = min(best[f], time.process_time() - start)
    for f, seconds in best.items():
        print(f"{f.__name__:18}{seconds:8.3f} s")
    found, known = gradient(), by_sensitivities()
    print(f"largest relative difference of the gradients {np.abs(found / known - 1.0).max():.0e}")


if __name__ == "__main__":
    main()
