"""Where slopes are compared with mpmath: over all that a floating-point number can be.

Ranges are filled in ratios from the smallest to the largest argument, and evenly where the function
bends; the numbers of one precision are those of the other one as far as it reaches. The definitions
are mpmath's, those of special functions in `special_exact`.
"""

from pathlib import Path
from typing import NamedTuple

import mpmath as mp
import numpy as np

from .special_exact import EXACT

PATH = Path(__file__).with_name("slopes_exact.npz")
DTYPES = ("f8", "f4")
COUNT = 16
"""How many points fill a range."""
GOLDEN = 5**0.5 / 2 - 0.5


def ratios(low, high):
    """Numbers spaced in ratios; of ``None`` the smallest or the largest one."""

    def fill(dtype, shares):
        info = np.finfo(dtype)
        first = np.log2(float(info.smallest_subnormal if low is None else low))
        last = np.log2(float(info.max) if high is None else high)
        with np.errstate(over="ignore"):
            return np.minimum(2.0 ** (first + (last - first) * shares), float(info.max))

    return fill


def signs(low, high):
    """The same, of both signs."""
    one = ratios(low, high)
    return lambda dtype, shares: np.concatenate([one(dtype, shares), -one(dtype, 1 - shares)])


def even(low, high):
    return lambda dtype, shares: low + (high - low) * (0.999 * shares + 0.0005)


def exactly(*numbers):
    return lambda dtype, shares: np.array(numbers, float)


def beside(point, sides=(-1, 1)):
    """Ever nearer to a point."""

    def fill(dtype, shares):
        steps = np.array([1, 3, 2.0**6, 2.0**12, 2.0**18]) * np.spacing(np.array(abs(point), dtype))
        return np.concatenate([point + side * steps.astype(float) for side in sides])

    return fill


class Slopes(NamedTuple):
    """What is compared: the definition, fillings of the range of each argument, and the first slope
    where one is given, of which differences have digits sooner."""

    exact: object
    arguments: tuple
    ranges: tuple
    slope: object = None


ALL, ABOVE_0 = (signs(None, None), even(-6, 6), even(-40, 40)), (ratios(None, None), even(0.01, 8))
BELOW_1 = (signs(None, 0.5), even(-1, 1), beside(1.0, (-1,)), beside(-1.0, (1,)))
SHARES = (ratios(None, 0.5), even(0, 1), beside(1.0, (-1,)), beside(0.5))
EXPONENTS = (signs(None, 1), even(-30, 30), even(-700, 700))
BELL = (signs(None, 1), even(-6, 6), even(-40, 40))
SOME = (signs(1e-9, 1e6), even(-6, 6))
SOME_ABOVE_0 = (ratios(1e-9, 1e6), even(0.01, 8))


def one(exact, *ranges, slope=None):
    return Slopes(exact, ("x",), (ranges,), slope)


def two(exact, first, second, arguments=("x1", "x2")):
    return Slopes(exact, arguments, (first, second))


def log_sum(*x):
    most = max(x)
    return most + mp.log(sum(mp.exp(t - most) for t in x))


def share(*x):
    return 1 / (1 + sum(mp.exp(t - x[0]) for t in x[1:]))


def log_share(*x):
    return -mp.log1p(sum(mp.exp(t - x[0]) for t in x[1:]))


def known(name, *ranges, slope=None):
    return one(EXACT[name], *ranges, slope=slope)


def tanh(x):
    return 1 - 2 / (1 + mp.exp(2 * x)) if abs(x) < 5000 else mp.sign(x)


def pseudo_huber(delta, r):
    return delta * r * r / (mp.sqrt(delta * delta + r * r) + delta)


def bell(x):
    return 2 / mp.sqrt(mp.pi) * mp.exp(-x * x)


FUNCTIONS = {
    "sin": one(mp.sin, *ALL), "cos": one(mp.cos, *ALL), "tan": one(mp.tan, *ALL),
    "asin": one(mp.asin, *BELOW_1), "acos": one(mp.acos, *BELOW_1), "atan": one(mp.atan, *ALL),
    "sinh": one(mp.sinh, *EXPONENTS), "cosh": one(mp.cosh, *EXPONENTS), "tanh": one(tanh, *ALL),
    "asinh": one(mp.asinh, *ALL),
    "acosh": one(mp.acosh, ratios(1.001, None), beside(1.0, (1,)), even(1, 8)),
    "atanh": one(mp.atanh, *BELOW_1),
    "exp": one(mp.exp, *EXPONENTS), "exp2": known("exp2", *EXPONENTS),
    "expm1": one(mp.expm1, *EXPONENTS), "exp10": known("exp10", signs(None, 1), even(-300, 300)),
    "log": one(mp.log, *ABOVE_0), "log2": one(lambda x: mp.log(x, 2), *ABOVE_0),
    "log10": one(mp.log10, *ABOVE_0),
    "log1p": one(mp.log1p, *BELOW_1, ratios(None, None)),
    "square": one(lambda x: x * x, *ALL), "reciprocal": one(lambda x: 1 / x, *ALL),
    "sqrt": one(mp.sqrt, *ABOVE_0), "cbrt": known("cbrt", *ALL),
    "expit": known("expit", signs(None, 1), even(-40, 40), even(-700, 700)),
    "log_expit": known("log_expit", signs(None, 1), even(-40, 40), even(-700, 700)),
    "softplus": known("softplus", signs(None, 1), even(-40, 40), even(-700, 700)),
    "logit": known("logit", *SHARES), "entr": known("entr", *ABOVE_0, beside(1 / np.e)),
    "exprel": known("exprel", *EXPONENTS), "cosm1": known("cosm1", *ALL),
    "sinc": known("sinc", signs(None, 1), even(-6, 6), even(-40, 40)),
    "erf": known("erf", *BELL, slope=bell), "erfc": known("erfc", *BELL, slope=lambda x: -bell(x)),
    "erfcx": known("erfcx", signs(None, 1), even(-26, 40), ratios(1, None),
                   slope=lambda x: 2 * x * EXACT["erfcx"](x) - bell(0)),
    "erfi": known("erfi", signs(None, 1), even(-26, 26), slope=lambda x: bell(1j * x).real),
    "dawsn": known("dawsn", signs(None, 1), even(-12, 12), signs(1, 1000),
                   slope=lambda x: 1 - 2 * x * EXACT["dawsn"](x)),
    "erfinv": known("erfinv", *BELOW_1, slope=lambda x: 1 / bell(EXACT["erfinv"](x))),
    "erfcinv": known("erfcinv", ratios(None, 1), even(0, 2), beside(1.0),
                     slope=lambda x: -1 / bell(EXACT["erfcinv"](x))),
    "ndtr": known("ndtr", *BELL, slope=mp.npdf),
    "ndtri": known("ndtri", *SHARES, slope=lambda x: 1 / mp.npdf(EXACT["ndtri"](x))),
    "log_ndtr": known("log_ndtr", *BELL, lambda dtype, shares: -ratios(1, None)(dtype, shares),
                      slope=lambda x: mp.npdf(x) / EXACT["ndtr"](x)),
    "divide": two(lambda a, b: a / b, ALL, ALL),
    "hypot": two(lambda a, b: mp.sqrt(a * a + b * b), ALL, ALL),
    "atan2": two(mp.atan2, ALL, ALL),
    "pow": two(mp.power, (ratios(1e-30, 1e30), even(0.01, 8)), (signs(1e-9, 8), even(-6, 6))),
    "logaddexp": two(log_sum, (*SOME, even(-40, 40)), (even(-40, 40), *SOME)),
    "logaddexp2": two(lambda a, b: log_sum(a * mp.ln2, b * mp.ln2) / mp.ln2,
                      (*SOME, even(-40, 40)), (even(-40, 40), *SOME)),
    "xlogy": two(EXACT["xlogy"], ALL, ABOVE_0),
    "xlog1py": two(EXACT["xlog1py"], ALL, (*BELOW_1, ratios(None, None))),
    "rel_entr": two(EXACT["rel_entr"], ABOVE_0, ABOVE_0),
    "kl_div": two(EXACT["kl_div"], ABOVE_0, ABOVE_0),
    "huber": two(EXACT["huber"], ABOVE_0, ALL, ("delta", "r")),
    "pseudo_huber": two(pseudo_huber, ABOVE_0, ALL, ("delta", "r")),
    "boxcox": two(EXACT["boxcox"], (ratios(1e-30, 1e30), even(0.01, 8)),
                  (signs(1e-9, 8), even(-6, 6)), ("x", "lmbda")),
    "boxcox1p": two(EXACT["boxcox1p"], (ratios(None, 1e30), even(-0.99, 8)),
                    (signs(1e-9, 8), even(-6, 6)), ("x", "lmbda")),
    "logsumexp": two(log_sum, (even(-40, 40), *SOME), (*SOME, even(-40, 40))),
    "softmax": two(share, (even(-40, 40), *SOME), (*SOME, even(-40, 40))),
    "log_softmax": two(log_share, (even(-40, 40), *SOME), (*SOME, even(-40, 40))),
}  # fmt: skip
"""Of `softmax` and `log_softmax` of two elements it is the first result."""


def points(name, dtype):
    """Return the arguments of a function, as numbers of ``dtype``."""
    columns = []
    for place, fillings in enumerate(FUNCTIONS[name].ranges):
        shares = np.arange(1, COUNT + 1) * GOLDEN % 1 if place else np.arange(COUNT) / (COUNT - 1)
        with np.errstate(over="ignore", under="ignore"):
            filled = [f(dtype, shares).astype(dtype) for f in fillings]
        columns.append(np.concatenate(filled))
    most = max(map(len, columns))
    return [np.resize(c, most) if len(columns) == 1 else _mixed(c, most, k)
            for k, c in enumerate(columns)]  # fmt: skip


def _mixed(column, count, place):
    """Return an argument in an order in which those of all sizes meet."""
    return column[np.arange(count) * (1, 7)[place] % len(column)]
