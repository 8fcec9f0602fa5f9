"""Distributions with parameters at which they are tried, inside of their domains and outside."""

import numpy as np
import scipy.stats

INF = np.inf

CONTINUOUS = {
    "beta": [(0.5, 0.5), (1.0, 1.0), (2.0, 3.0), (1.0, 0.3), (200.0, 1e-3), (-1.0, 2.0)],
    "cauchy": [()],
    "chi2": [(1.0,), (2.0,), (3.5,), (-2.0,)],
    "expon": [()],
    "f": [(1.0, 2.0), (2.0, 5.0), (10.0, 3.0), (3.0, -1.0)],
    "fisk": [(0.5,), (1.5,), (3.0,), (-1.0,)],
    "gamma": [(0.5,), (1.0,), (3.2,), (0.0,), (1e5,)],
    "genextreme": [(-0.3,), (0.0,), (1e-9,), (0.4,), (-1.5,)],
    "genpareto": [(-0.3,), (0.0,), (1e-9,), (0.4,), (1.5,)],
    "gompertz": [(0.5,), (3.0,), (-1.0,)],
    "gumbel_l": [()],
    "gumbel_r": [()],
    "halfcauchy": [()],
    "halfnorm": [()],
    "invgamma": [(0.5,), (4.0,), (-1.0,)],
    "invgauss": [(0.3,), (5.0,), (-1.0,)],
    "laplace": [()],
    "logistic": [()],
    "lognorm": [(0.7,), (2.0,), (-1.0,)],
    "loguniform": [(0.4, 3.0), (1e-3, 50.0), (-1.0, 2.0), (3.0, 2.0)],
    "norm": [()],
    "pareto": [(0.5,), (3.0,), (0.0,)],
    "powerlaw": [(0.5,), (1.0,), (3.0,), (-1.0,)],
    "rayleigh": [()],
    "skewnorm": [(-3.0,), (0.0,), (5.0,)],
    "t": [(0.5,), (3.0,), (50.0,), (1e10,), (INF,), (0.0,)],
    "triang": [(0.0,), (0.3,), (1.0,), (1.2,)],
    "truncnorm": [(-1.0, 2.0), (5.0, 8.0), (-INF, 0.5), (-40.0, -35.0), (1.0, INF), (2.0, 1.0)],
    "uniform": [()],
    "vonmises": [(0.5,), (100.0,), (-1.0,)],
    "weibull_min": [(0.5,), (1.0,), (3.0,), (-1.0,)],
}
DISCRETE = {
    "bernoulli": [(0.3,), (0.0,), (1.0,), (1.5,)],
    "betabinom": [(5, 2.0, 1.5), (0, 0.5, 0.5), (7, 40.0, 3.0)],
    "binom": [(5, 0.3), (1, 0.0), (7, 1.0), (0, 0.5), (3.5, 0.5), (3, -0.1)],
    "geom": [(0.3,), (1.0,), (0.0,)],
    "nbinom": [(2.5, 0.3), (3.0, 1.0), (0.0, 0.5)],
    "poisson": [(0.0,), (3.3,), (1e3,), (-1.0,)],
}
POINTS = np.array(
    [-50, -3, -1, -0.25, 0, 1e-300, 1e-8, 0.3, 0.5, 0.999, 1, 1.5, 2, 3, 7, 40, 1e3, 1e10]
    + [INF, -INF, np.nan]
)
INSIDE = np.array([-50, -3, -1, -0.25, 0.31, 0.5, 0.97, 1.4, 2, 3, 7, 40, 1e3])
"""Places that are no ends of a support, also if they are shifted and scaled."""
PROBABILITIES = np.array([-0.1, 0, 1e-300, 1e-10, 0.01, 0.3, 0.5, 0.9, 0.999, 1, 1.1, np.nan])
FAR_OF_STUDENT = {(0.5,): INF, (3.0,): 1.0331108360446529e100}
"""The upper quantiles of 1e-300, by mpmath: SciPy's stop at 5e153, or have the other sign."""


UPPER = {
    ("invgauss", (0.3,), 1e-300): 123.16474793774842569,
    ("invgauss", (5.0,), 1e-300): 33915.946555212985914,
    ("skewnorm", (-3.0,), 1e-300): 11.673155014752508393,
    ("skewnorm", (-3.0,), 1e-10): 1.8527818614294808132,
}
"""Other upper quantiles, by mpmath, where SciPy's search ends early or far from them."""


def scipys_quantiles(name, function, q, shapes, place):
    found = getattr(getattr(scipy.stats, name), function)(q, *shapes, *place)
    if name == "t" and shapes in FAR_OF_STUDENT:
        far = FAR_OF_STUDENT[shapes] * (place[1] if place else 1)
        found[q == 1e-300] = far if function == "isf" else -far
    loc, scale = place or (0.0, 1.0)
    for (which, parameters, probability), x in UPPER.items():
        if (which, parameters, function) == (name, shapes, "isf"):
            found[q == probability] = loc + scale * x
    return found


LARGEST = {
    "laplace": 700, "halfnorm": 30, "f": 1e10, "skewnorm": 0.6, "fisk": 10, "gompertz": 6,
}  # fmt: skip
"""Beyond these points SciPy has logarithms of 0 or NaN; of the thin tail of the skew normal
distribution it has nine digits, see `test_ends`."""


def each(table):
    """Yield the name and the parameters of each case of a table."""
    for name, cases in table.items():
        for case in cases:
            yield name, case


def points(name, function):
    """Return the places at which a function of a distribution is compared with SciPy's."""
    if name == "skewnorm" and function == "logpdf":
        return POINTS
    apart = np.isin(POINTS, APART.get(name, APART.get((name, function), [])))
    return POINTS[~(np.abs(POINTS) > LARGEST.get(name, INF)) & ~apart]


APART = {
    "fisk": [1e-300], "powerlaw": [0.0, 0.3, 0.5, 1.0],
    ("invgauss", "sf"): [1e10], ("invgauss", "logsf"): [1e10],
}  # fmt: skip
"""Points at which powers that SciPy takes overflow, or of which it says that they lie outside, also
if they are shifted; or of which it has a difference of rounding errors."""


def differences(function, values, place, step=1e-4):
    """Return the slopes of a function of arrays in one of them, by differences of fourth order."""
    h = step * np.maximum(np.abs(values[place]), 1e-2)

    def at(s):
        return function(*(v + s * h if i == place else v for i, v in enumerate(values)))

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
