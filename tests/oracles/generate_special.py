"""Write the numbers of mpmath: ``python -m tests.oracles.generate_special`` (some minutes).

Names of functions as arguments compute only these again, and keep the others.

Each function has its values at 200 points, at 48 of them the derivatives with respect to each
argument that numgrad differentiates in, at 8 the second ones: central differences of 80 digits.
Near zeros that are no round numbers a value is as precise only as what is near by, so for those
functions the largest value within a tenth of the last argument (of `ellipj` the first) is stored.
"""

import sys
from multiprocessing import Pool

import mpmath as mp
import numpy as np

from .special_exact import EXACT
from .special_points import DIGITS, FIRST, PATH, RANGES, SECOND, ZEROS, differentiated, points

STEP = mp.mpf(10) ** -16


def number(y):
    y = complex(y)
    return y if y.imag else y.real


def values(function, columns):
    found = []
    for args in zip(*columns, strict=True):
        found.append(number(function(*[mp.mpf(float(x)) for x in args])))
    return np.array(found)


def moved(args, place, share):
    given = [mp.mpf(float(x)) for x in args]
    given[place] += share * (abs(given[place]) or 1)
    return given


def slopes(function, columns, place, order):
    found = []
    for args in zip(*columns, strict=True):
        f = [function(*moved(args, place, share)) for share in (-STEP, 0, STEP)]
        h = STEP * (abs(mp.mpf(float(args[place]))) or 1)
        rise = (f[2] - f[0]) / 2 if order == 1 else f[2] - 2 * f[1] + f[0]
        found.append(number(rise / h**order) if abs(rise) > 100 * mp.eps * abs(f[1]) else 0.0)
    return np.array(found)


def sizes(function, columns, place):
    near = [[moved(args, place, mp.mpf(share) / 20) for args in zip(*columns, strict=True)]
            for share in (-2, -1, 0, 1, 2)]
    return np.max([[float(abs(function(*args))) for args in row] for row in near], 0)


def numbers(name):
    """Return what is stored of a function."""
    function, columns = EXACT[name], points(name)
    with mp.workdps(DIGITS.get(name, 80)):
        found = {name: values(function, columns)}
        for place, argument in differentiated(name).items():
            few = [c[FIRST] for c in columns]
            found[f"{name}.{argument}"] = slopes(function, few, place, 1)
            fewer = [c[SECOND] for c in columns]
            found[f"{name}.{argument}.2"] = slopes(function, fewer, place, 2)
        if name in ZEROS:
            found[f"{name}.size"] = sizes(function, columns, 0 if name.startswith("ellipj") else -1)
    found[f"{name}.inputs"] = np.array([np.sum(np.cbrt(c[np.isfinite(c)])) for c in columns])
    return found


def main(names):
    stored = dict(np.load(PATH)) if names else {}
    with Pool() as pool:
        for found in pool.imap_unordered(numbers, names or RANGES):
            stored.update(found)
    kept = {key: y for key, y in sorted(stored.items()) if key.split(".")[0] in RANGES}
    np.savez_compressed(PATH, **kept)


if __name__ == "__main__":
    main(sys.argv[1:])
