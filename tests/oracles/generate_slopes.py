"""Write the slopes of mpmath: ``python -m tests.oracles.generate_slopes`` (some minutes).

Each number is a central difference, at ever more digits until two of them agree to twenty.
"""

import sys
from multiprocessing import Pool

import mpmath as mp
import numpy as np

from .slope_points import DTYPES, FUNCTIONS, PATH, points

DIGITS = (60, 160, 420, 1100, 2000, 2800)


def moved(args, steps):
    """Return the arguments, each moved by a step relative to it."""
    h = mp.mpf(10) ** (-mp.mp.dps // 3)
    sizes = [h * (abs(x) or 1) for x in args]
    return [x + k * size for x, k, size in zip(args, steps, sizes, strict=True)], sizes


def difference(function, args, places):
    """Return a first or second difference quotient in the arguments at one or two places."""
    if not places:
        return function(*args)
    count = len(args)
    unit = [[float(k == place) for k in range(count)] for place in places]
    if len(places) == 1:
        weights = [(0.5, unit[0]), (-0.5, [-u for u in unit[0]])]
    elif places[0] == places[1]:
        weights = [(1, unit[0]), (-2, [0.0] * count), (1, [-u for u in unit[0]])]
    else:
        weights = [
            (0.25 * p * q, [p * a + q * b for a, b in zip(*unit, strict=True)])
            for p in (-1, 1) for q in (-1, 1)
        ]  # fmt: skip
    total = mp.fsum(w * function(*moved(args, steps)[0]) for w, steps in weights)
    sizes = moved(args, unit[0])[1]
    for place in places:
        total /= sizes[place]
    return total


def slope(definition, numbers, places):
    """Return an exact slope, or NaN where it is none."""
    function, last = definition.exact, None
    if definition.slope:
        function, places = definition.slope, places[1:]
    for digits in DIGITS:
        with mp.workdps(digits):
            args = [mp.mpf(float(x)) for x in numbers]
            try:
                found = difference(function, args, places)
            except (ValueError, ZeroDivisionError, OverflowError, TypeError):
                return np.nan
            if isinstance(found, mp.mpc) or not mp.isfinite(found):
                return np.nan
            if last is not None and found != 0 and abs(found - last) <= abs(found) * 1e-20:
                return float(found)
            last = found
    known = abs(found) < mp.mpf("1e-330") and (found != 0 or len(numbers) == 1)
    return float(found) if known else np.nan


def numbers_of(name):
    definition, found = FUNCTIONS[name], {}
    for dtype in DTYPES:
        columns = points(name, dtype)
        count = len(columns)
        for places in [*[(k,) for k in range(count)], (0, 0), *[(0, 1), (1, 1)] * (count - 1)]:
            key = f"{name}.{dtype}.{''.join(map(str, places))}"
            several = zip(*columns, strict=True)
            found[key] = np.array([slope(definition, numbers, places) for numbers in several])
    return found


def main(names):
    stored, names = (dict(np.load(PATH)), names) if names else ({}, list(FUNCTIONS))
    with Pool() as pool:
        for name, found in zip(names, pool.imap(numbers_of, names), strict=True):
            print(name, {k: int(np.isnan(v).sum()) for k, v in found.items()}, flush=True)
            stored.update(found)
            np.savez_compressed(PATH, **dict(sorted(stored.items())))


if __name__ == "__main__":
    main(sys.argv[1:])
