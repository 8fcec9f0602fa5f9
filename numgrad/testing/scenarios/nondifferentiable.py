"""Operators without a derivative, why they have none, and their scenarios."""

from typing import Any

import numpy as np
import scipy.linalg

import numgrad as ng

from ..._declare import registry
from .scenario import ALL, REAL, Scenario, numbers, spread

# Every operator declared as not differentiable must be listed here, by hand.
NONDIFFERENTIABLE = frozenset(
    {
        # truth values
        "equal",
        "not_equal",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
        "isnan",
        "isinf",
        "isfinite",
        "signbit",
        "any",
        "all",
        # integers in and out
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "bitwise_invert",
        "bitwise_left_shift",
        "bitwise_right_shift",
        "bitwise_count",
        "gcd",
        "lcm",
        # distances, exponents and edges, which are constant almost everywhere
        "spacing",
        "frexp",
        "equal_bins",
        "ascending",
        # positions and counts
        "argmax",
        "argmin",
        "argsort",
        "searchsorted_left",
        "searchsorted_right",
        "count_nonzero",
        "positions",
        "remains",
        "unravel_index",
        "ravel_multi_index",
        "countable",
        "digitize",
        "correlate",
        # the factors of a matrix: their readers also read the matrix, which gets the gradient
        "hermitian_reduced",
        "lu_factor",
    }
)

INTEGERS = (np.array([[5, 3, 12], [7, 0, -4]]), np.array([1, 2, 3]))


def plain(name: str, domains: int, **options: Any) -> Scenario:
    """Return the scenario of an elementwise function that NumPy has too."""
    settings: dict[str, Any] = {
        "function": getattr(ng, name),
        "reference": getattr(np, name),
        "points": spread([(-2.0, 2.0)] * domains),
        "operators": (name,),
        "dtypes": ALL,
        "order": 0,
        "oracle": False,
        "half": False,
        **options,
    }
    return Scenario(name=name, **settings)


def searched(side: Any) -> Scenario:
    """Return the scenario of `searchsorted`, on one side."""
    among = np.sort(numbers(5))
    return Scenario(
        name=f"searchsorted-{side}",
        function=lambda a, x: ng.searchsorted(a, x, side),
        reference=lambda a, x: np.searchsorted(a, x, side),
        operators=(f"searchsorted_{side}",),
        points=((among, numbers((2, 3))), (among, among), (numbers(0), numbers(()))),
        order=0,
        oracle=False,
        half=False,
        broadcast=False,
    )


def equal_sometimes(domains: int) -> Any:
    """Return points for comparisons: ordinary ones, and one with equal, infinite and NaN elements.
    """
    values = (
        np.array([1.0, 2.0, np.nan, np.inf, -0.0, 0.0]),
        np.array([1.0, 3.0, np.nan, np.inf, 0.0, 1.0]),
    )
    return (*spread([(-2.0, 2.0)] * domains), values[:domains])


def counted(name: str, **options: Any) -> Scenario:
    """Return the scenario of a reduction along the last axis, whose results are not rounded."""
    function, reference = getattr(ng, name), getattr(np, name)
    return plain(
        name,
        1,
        function=lambda x: function(x, axis=-1),
        reference=lambda x: reference(x, axis=-1),
        points=SHARED,
        **options,
    )


COMPARISONS = ("equal", "not_equal")
ORDERS = ("less", "less_equal", "greater", "greater_equal")
LOGIC = ("logical_and", "logical_or", "logical_xor")
TESTS = ("isnan", "isinf", "isfinite", "logical_not")
BITS = ("bitwise_and", "bitwise_or", "bitwise_xor")
SHIFTS = ("bitwise_left_shift", "bitwise_right_shift")
SHARED = ((numbers((2, 5)).round(),), (numbers(4),))

POSITIONS = (
    Scenario(
        name="positions",
        function=lambda x: registry["positions"](x, caller="take", axis=0, size=4, step=3),
        reference=lambda x: 3 * np.where(x < 0, x + 4, x).astype(np.int64),
        points=((np.array([[3, -4, 0], [-1, 2, 2]]),), (np.array(-2, np.int8),)),
        operators=("positions",),
        dtypes=("float64",),
        order=0,
        exact=True,
        oracle=False,
        half=False,
        broadcast=False,
    ),
    Scenario(
        name="remains",
        function=lambda x: registry["remains"](x, size=4),
        reference=lambda x: np.array([x[n] not in x[n + 1 :] for n in range(len(x))]),
        points=((np.array([3, 0, 3, 1, 0]),), (np.array([2]),)),
        operators=("remains",),
        dtypes=("float64",),
        order=0,
        exact=True,
        oracle=False,
        half=False,
        broadcast=False,
    ),
)



def borrowed(name: str, function: Any, reference: Any, *point: Any) -> Scenario:
    """Return the scenario of an operator that calls NumPy's function."""
    arrays = tuple(map(np.asarray, point))
    return Scenario(
        name=name, function=function, reference=reference, points=(arrays,), operators=(name,),
        dtypes=REAL, order=0, oracle=False, half=False, broadcast=False,
    )  # fmt: skip


BORROWED = (
    *(borrowed(name, getattr(ng, name), getattr(np, name), *INTEGERS) for name in ("gcd", "lcm")),
    borrowed("bitwise_count", ng.bitwise_count, np.bitwise_count, INTEGERS[0]),
    borrowed("spacing", ng.spacing, np.spacing, numbers((2, 3))),
    borrowed("frexp", registry["frexp"], np.frexp, numbers((2, 3))),
    borrowed(
        "unravel_index", lambda x: ng.unravel_index(x, (3, 4)),
        lambda x: np.unravel_index(x, (3, 4)), [[5, 11], [0, 7]],
    ),
    borrowed(
        "ravel_multi_index", lambda x: ng.ravel_multi_index(tuple(x), (3, 4), "clip"),
        lambda x: np.ravel_multi_index(tuple(x), (3, 4), "clip"), [[2, 0], [3, 1]],
    ),
    borrowed("countable", lambda x: registry["countable"](x, size=5), lambda x: x, [4, 0, 4]),
    borrowed(
        "correlate", lambda x, y: registry["correlate"](x, y, mode="valid", count=3),
        np.correlate, numbers(4), [0.5, -2.0],
    ),
    borrowed("digitize", ng.digitize, np.digitize, numbers((2, 3)), [0.7, 0.3, -0.2]),
    borrowed(
        "equal_bins", lambda x: ng.histogram_bin_edges(x, 4),
        lambda x: np.histogram_bin_edges(x, 4), numbers(6),
    ),
    borrowed("ascending", lambda x: registry["ascending"](ng.sort(x)), np.sort, [-1.0, 0.5, 2.0]),
)  # fmt: skip

SCENARIOS = (
    *BORROWED,
    *(plain(name, 2, points=equal_sometimes(2)) for name in (*COMPARISONS, *LOGIC)),
    *(plain(name, 2, points=equal_sometimes(2), dtypes=REAL) for name in ORDERS),
    *(plain(name, 1, points=equal_sometimes(1)) for name in TESTS),
    plain("signbit", 1, points=equal_sometimes(1), dtypes=REAL),
    *(plain(name, 2, points=(INTEGERS,), dtypes=("float64",)) for name in BITS),
    *(
        plain(name, 2, points=((np.abs(INTEGERS[0]), INTEGERS[1]),), dtypes=("float64",))
        for name in SHIFTS
    ),
    plain("bitwise_invert", 1, points=((INTEGERS[0],),), dtypes=("float64",)),
    *(counted(name) for name in ("any", "all", "count_nonzero")),
    *(counted(name, dtypes=REAL) for name in ("argmax", "argmin")),
    plain(
        "argsort",
        1,
        function=lambda x: ng.argsort(x, axis=-1),
        reference=lambda x: np.argsort(x, axis=-1, kind="stable"),
        points=SHARED,
    ),
    *(searched(side) for side in ("left", "right")),
    *POSITIONS,
    Scenario(
        name="lu_factor",
        function=lambda a: registry["lu_factor"](a)[0],
        reference=lambda a: scipy.linalg.lu_factor(a)[0].T,
        points=((numbers((3, 3)),),),
        operators=("lu_factor",),
        dtypes=ALL,
        order=0,
        exact=False,
        oracle=False,
        half=False,
        broadcast=False,
        tolerance=64,
    ),
)
