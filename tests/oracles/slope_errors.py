"""How far numgrad's slopes are from mpmath's, in units in the last place."""

import warnings
from functools import cache

import numpy as np

import numgrad as ng

from .slope_points import DTYPES, FUNCTIONS, PATH, points


@cache
def stored():
    return dict(np.load(PATH))


def function_of(name):
    """Return the function of tensors; of three it is the one of two elements, stacked."""
    if name in ("logsumexp", "softmax", "log_softmax"):
        whole = getattr(ng.special, name)
        return lambda *x: (lambda y: y if name == "logsumexp" else y[0])(whole(ng.stack(x), axis=0))
    return getattr(ng.special, name, None) or getattr(ng, name)


def slopes(name, dtype, places):
    """Return the slope with respect to the argument at each of one or two places."""
    args = [ng.tensor(x, requires_grad=True) for x in points(name, dtype)]
    y = function_of(name)(*args)
    for place in places:
        (y,) = ng.grad(y.sum(), args[place], create_graph=True, allow_unused=True)
        if y is None or not y.requires_grad:
            return np.zeros(args[0].shape, dtype) if y is None else y.numpy()
    return y.detach().numpy()


OVERFLOWS = {"divide": 1e6, "pow": 1e6}
"""How far from the largest number a second slope may be infinite: a factor is, before it counts."""
DIFFERENCES = ("softmax",)
"""Functions of which a second slope is the first one times a difference of equal shares somewhere:
errors count in units of the first."""


def units(found, wanted, size, margin):
    """Return errors in units in the last place where the exact slope is a normal number; 0 where
    it is none or not known, but infinite where it is finite and what was found is NaN."""
    info = np.finfo(found.dtype)
    size = np.maximum(np.abs(wanted), size)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        normal = (size >= info.tiny) & (size < info.max)
        spacing = np.spacing(np.where(normal, size, 1).astype(found.dtype)).astype(float)
        error = np.abs(found.astype(float) - np.where(normal, wanted, 0)) / spacing
    same = np.isinf(found) & (np.sign(found) == np.sign(wanted))
    error[same & (np.abs(wanted) > float(info.max) / margin)] = 0
    small = size < info.tiny
    error = np.where(normal, error, np.where(small & ~(np.abs(found) < 8 * info.tiny), np.inf, 0.0))
    return np.where(np.isnan(error) | (np.isnan(found) & ~np.isnan(wanted)), np.inf, error)


def errors_of(name, dtype, places):
    wanted = stored()[f"{name}.{dtype}.{''.join(map(str, places))}"]
    size = 0.0
    if name in DIFFERENCES and len(places) == 2:
        size = np.abs(stored()[f"{name}.{dtype}.{places[0]}"])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = slopes(name, dtype, places)
        return units(found, wanted, size, OVERFLOWS.get(name, 1.0) if len(places) == 2 else 1.0)


def kinds(name):
    """Yield the arguments of the first and second slopes of a function."""
    count = len(FUNCTIONS[name].arguments)
    yield from [(k,) for k in range(count)]
    yield from [(j, k) for j in range(count) for k in range(j, count)]


def measured(name):
    """Return the largest errors of a function by dtype and arguments."""
    return {(d, p): errors_of(name, d, p) for d in DTYPES for p in kinds(name)}
