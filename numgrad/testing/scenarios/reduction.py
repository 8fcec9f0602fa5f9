"""Scenarios of reductions, statistics, cumulative operators and sorting."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.special as sp

import numgrad as ng

from ..._declare import registry
from .scenario import ALL, REAL, Point, Scenario, floats, numbers

CUBE = numbers((2, 3, 4))
WIDE = numbers((5, 9))  # enough columns for the kernel that reduces rows
NOTHING = numbers((0, 3))
POINTS: tuple[Point, ...] = ((CUBE,), (WIDE,), (numbers(2),), (NOTHING,))


def reduced(name: str, axis: Any, label: str, **options: Any) -> Scenario:
    """Return the scenario of a reduction along an axis; its name ends with ``label``."""
    function, reference = getattr(ng, name), options.pop("reference", getattr(np, name, None))
    settings: dict[str, Any] = {
        "operators": (name,),
        "points": POINTS,
        "dtypes": ALL,
        "half": True,
        **options,
    }
    return Scenario(
        name=f"{name}-{label}",
        function=lambda x: function(x, axis=axis),
        reference=lambda x: reference(x, axis=axis),
        **settings,
    )


def scalar(values: float) -> Point:
    return (np.array(values),)


TIED = (floats(1.0, 3.0, 3.0, -1.0, -1.0).reshape(1, 5).repeat(2, 0),)
FULL: dict[str, Any] = {"points": ((CUBE,), scalar(0.7), (WIDE,))}  # extrema need an element

REDUCTIONS = (
    reduced("sum", None, "all"),
    reduced("sum", -1, "last"),
    reduced("sum", 0, "first"),
    reduced("sum", (0, 2), "two", points=((CUBE,), (numbers((3, 0, 2)),))),
    reduced("prod", None, "all", special=((floats(0.0, 2.0, 3.0),), (floats(0.0, 0.0, 3.0),))),
    reduced("prod", 0, "first", special=((floats(0.0, 2.0, 0.0, 5.0).reshape(2, 2),),)),
    reduced("prod", (0, 2), "two", points=((CUBE,),)),
    reduced("max", None, "all", dtypes=REAL, special=(TIED,), **FULL),
    reduced(
        "max", 0, "first", dtypes=REAL, points=((CUBE,), (WIDE,))
    ),
    reduced("min", None, "all", dtypes=REAL, special=(TIED,), **FULL),
    reduced(
        "min",
        (-2,),
        "middle",
        dtypes=REAL,
        points=((CUBE,), (WIDE,)),
    ),
    reduced("mean", 0, "first", points=POINTS[:2], operators=()),
    reduced("var", None, "all", points=POINTS[:2], operators=()),
    reduced("std", -1, "last", points=POINTS[:2], operators=()),
    reduced("median", -1, "last", points=((WIDE,),), operators=(), dtypes=REAL, oracle=False),
    reduced(
        "logsumexp",
        -1,
        "last",
        points=POINTS[:2],
        operators=("shifted_exp", "of_logsumexp"),
        dtypes=REAL,
        reference=sp.logsumexp,
        special=((floats(1000.0, 1000.0),), (floats(-np.inf, 1.0),)),
    ),
)


def along(name: str, function: Callable[..., Any], **options: Any) -> Scenario:
    """Return the scenario of an operator that works along the last axis."""
    settings: dict[str, Any] = {
        "operators": (name,),
        "points": ((numbers((2, 4)),), (numbers(1),), (numbers((2, 0)),)),
        "dtypes": ALL,
        **options,
    }
    return Scenario(name=name, function=function, **settings)


def down(
    name: str, reference: Callable[..., Any], points: Any = None, dtypes: Any = ALL
) -> Scenario:
    """Return the scenario of a cumulative operator along the last axis but one."""
    return Scenario(
        name=f"{name}_down",
        function=partial(registry[name], axis=-2),
        operators=(name,),
        points=points or ((numbers((5, 3)),), (numbers((2, 1)),), (numbers((2, 4, 3)),)),
        reference=reference,
        dtypes=dtypes,
        half=False,
        oracle=False,
    )


def others(x: np.ndarray) -> np.ndarray:
    """Return for each element the product of all others along the last axis."""
    x = np.asarray(x)
    return (
        np.stack([np.prod(np.delete(x, n, -1), -1) for n in range(x.shape[-1])], -1)
        if x.shape[-1]
        else x.copy()
    )


def before(x: np.ndarray) -> np.ndarray:
    """Return for each element the product of those before it along the last axis."""
    return np.cumprod(np.concatenate([np.ones_like(x[..., :1]), x[..., :-1]], -1), -1)


def solved(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the solution ``h`` of the recurrence ``h[i] = a[i] h[i-1] + b[i]``."""
    h = np.array(b)
    for i in range(1, b.shape[-1]):
        h[..., i] += a[..., i] * h[..., i - 1]
    return h


def solved_backwards(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the solution ``h`` of the recurrence ``h[i] = a[i+1] h[i+1] + b[i]``."""
    h = np.array(b)
    for i in range(b.shape[-1] - 2, -1, -1):
        h[..., i] += a[..., i + 1] * h[..., i + 1]
    return h


MATRIX = ((numbers((5, 3)),), (numbers((2, 1)),))
MATRICES = ((numbers((4, 3)), numbers((4, 3), phase=0.3)),)
PAIR = ((numbers((2, 4)), numbers((2, 4), phase=0.3)), (numbers(1), numbers(1)))

CUMULATIVE = (
    along(
        "cumulative_sum",
        ng.cumulative_sum,
        reference=lambda x: np.cumsum(x, -1),
        points=((numbers(5),), (numbers(1),), (numbers(0),)),
        operators=("cumulative_sum", "cumulative_sum_reversed"),
    ),
    along(
        "cumulative_sum_reversed",
        registry["cumulative_sum_reversed"],
        half=False,
        oracle=False,
        reference=lambda x: np.cumsum(x[..., ::-1], -1)[..., ::-1],
    ),
    along(
        "cumulative_prod",
        lambda x: ng.cumulative_prod(x, axis=-1),
        reference=lambda x: np.cumprod(x, -1),
        special=((floats(0.0, 2.0, 3.0),), (floats(2.0, 0.0, 3.0, 0.0, 5.0),)),
        operators=("cumulative_prod", "recurrence_reversed", "products_before"),
    ),
    along(
        "products_before", registry["products_before"], half=False, oracle=False, reference=before
    ),
    along("exclusive_prod", registry["exclusive_prod"], half=False, oracle=False, reference=others),
    along(
        "recurrence",
        registry["recurrence"],
        points=PAIR,
        half=False,
        oracle=False,
        reference=solved,
    ),
    along(
        "recurrence_reversed",
        registry["recurrence_reversed"],
        points=PAIR,
        half=False,
        oracle=False,
        reference=solved_backwards,
    ),
    along(
        "running_max",
        lambda x: ng.maximum.accumulate(x, -1),
        points=((numbers((2, 6)),), (numbers(1),)),
        dtypes=REAL,
        oracle=False,
        reference=lambda x: np.maximum.accumulate(x, -1),
        operators=("running_max", "restarting_sum_reversed", "restarting_sum"),
    ),
    along(
        "running_min",
        lambda x: ng.minimum.accumulate(x, -1),
        points=((numbers((2, 6)),), (numbers(1),)),
        dtypes=REAL,
        oracle=False,
        reference=lambda x: np.minimum.accumulate(x, -1),
        operators=("running_min", "restarting_sum_reversed", "restarting_sum"),
    ),
    along(
        "restarting_sum",
        lambda b: registry["restarting_sum"]((b > 0).astype(b.dtype), b),
        points=((numbers((2, 6)),), (numbers(1),)),
        dtypes=REAL,
        half=False,
        oracle=False,
        reference=lambda b: solved((b > 0).astype(b.dtype), b),
        operators=("restarting_sum", "restarting_sum_reversed"),
    ),
    down("cumulative_sum", lambda x: np.cumsum(x, -2)),
    down("cumulative_sum_reversed", lambda x: np.cumsum(x[::-1], 0)[::-1], MATRIX),
    down("cumulative_prod", lambda x: np.cumprod(x, -2)),
    down("products_before", lambda x: before(x.T).T, MATRIX),
    down("exclusive_prod", lambda x: others(x.T).T, MATRIX),
    down("recurrence", lambda a, b: solved(a.T, b.T).T, MATRICES),
    down("recurrence_reversed", lambda a, b: solved_backwards(a.T, b.T).T, MATRICES),
    down("running_max", lambda x: np.maximum.accumulate(x, -2), dtypes=REAL),
    down("running_min", lambda x: np.minimum.accumulate(x, -2), dtypes=REAL),
    along(
        "diff",
        lambda x: ng.diff(x, axis=-1),
        reference=lambda x: np.diff(x, axis=-1),
        operators=(),
        points=((numbers((2, 4)),),),
    ),
    along(
        "trapezoid",
        lambda x: ng.trapezoid(x, axis=-1),
        reference=lambda x: np.trapezoid(x, axis=-1),
        operators=(),
        points=((numbers((2, 4)),),),
        half=False,
    ),
)

ORDER = np.array([[2, 0, 3, 1], [1, 3, 0, 2]])


def put(x: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return an array with the elements of ``x`` at the positions ``order`` of the last axis."""
    out = np.empty(np.broadcast_shapes(x.shape, order.shape), x.dtype)
    np.put_along_axis(out, order, x, -1)
    return out


SORTING = (
    along(
        "sort",
        lambda x: ng.sort(x, axis=-1),
        reference=lambda x: np.sort(x, axis=-1),
        dtypes=REAL,
        operators=("permute", "unpermute", "argsort"),
        special=((floats(2.0, 1.0, 1.0, 3.0),),),
    ),
    along(
        "permute",
        registry["permute"],
        points=((numbers((2, 4)), ORDER),),
        half=False,
        oracle=False,
        reference=lambda x, order: np.take_along_axis(x, order, -1),
    ),
    along(
        "unpermute",
        registry["unpermute"],
        points=((numbers((2, 4)), ORDER),),
        half=False,
        oracle=False,
        broadcast=False,
        reference=put,
    ),
)

SCENARIOS = (*REDUCTIONS, *CUMULATIVE, *SORTING)
