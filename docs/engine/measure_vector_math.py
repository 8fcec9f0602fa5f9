"""Measure what ``exp``, ``sin``, ... cost and how exact they are in a kernel.

``python docs/engine/measure_vector_math.py speed`` compares kernels with the vector library, those
with libm, and NumPy, in interleaved rounds of one process. ``... accuracy`` compares results with
mpmath, which must be installed. Both print a table of `vector_math.md`. ``... exhaustive NAME``
takes all float32 numbers as arguments and float64 arithmetic as exact.
"""

import math
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from scipy import special

import numgrad as ng
from numgrad.ir.kernel_spec import ElementwiseSpec
from numgrad.targets.cpu.kernels.kernel import kernel
from numgrad.targets.cpu.platform.vector_library import ARGUMENTS

DTYPES = (np.float64, np.float32)
MODES = ("simd", "libm")
LIMIT = 4.0
"""ULP that no function may exceed."""

INTERVALS = {
    "exp": (-700, 700), "exp2": (-1000, 1000), "expm1": (-40, 700), "log": (0, 1e3),
    "log2": (0, 1e3), "log10": (0, 1e3), "log1p": (-1, 1e3), "asin": (-1, 1), "acos": (-1, 1),
    "atanh": (-1, 1), "acosh": (1, 1e3), "sinh": (-700, 700), "cosh": (-700, 700),
    "tanh": (-20, 20), "erf": (-6, 6), "erfc": (-6, 27), "pow": (0, 10),
}  # fmt: skip
"""Where the arguments of a function are drawn from; ``(-100, 100)`` for all others."""

NUMPY = {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "pow": np.power, "atan2": np.arctan2,
    "erf": special.erf, "erfc": special.erfc,
}  # fmt: skip
"""What NumPy calls a function, or SciPy where NumPy has none."""


def numpy_function(name: str) -> np.ufunc:
    """The function that NumPy or SciPy has."""
    return NUMPY.get(name) or getattr(np, name)


def kernel_function(name: str, dtype: type[np.floating], mode: str) -> Callable:
    """A function as a kernel, in a mode."""
    names = ", ".join("xy"[: ARGUMENTS[name]])
    function = eval(f"lambda {names}: math.{name}({names})", {"math": math})
    kind = np.dtype(dtype)
    ng.set_flags(math=mode)
    try:
        return kernel(ElementwiseSpec(name, function, (kind,) * ARGUMENTS[name], (kind,))).ufunc
    finally:
        ng.set_flags(math="simd")


def interval(name: str, dtype: type[np.floating]) -> tuple[float, float]:
    """Ends of the interval of arguments, narrower for float32, where exponents are."""
    low, high = INTERVALS.get(name, (-100, 100))
    if dtype == np.float32 and name not in ("log", "log2", "log10", "log1p", "acosh"):
        low, high = max(low, -87), min(high, 87)
    return low, high


# Speed


def speed(n: int = 4096, rounds: int = 600) -> None:
    """Print nanoseconds per element, the least of many interleaved rounds."""
    print("| function | float64: SIMD | libm | NumPy | float32: SIMD | libm | NumPy |")
    print("|---|---|---|---|---|---|---|")
    for name in ARGUMENTS:
        cells = [f"{cost:.2f}" for dtype in DTYPES for cost in costs(name, dtype, n, rounds)]
        print("|", name, "|", " | ".join(cells), "|", flush=True)


def costs(name: str, dtype: type[np.floating], n: int, rounds: int) -> list[float]:
    """Nanoseconds per element: SIMD, libm, NumPy."""
    rng = np.random.default_rng(0)
    low, high = interval(name, dtype)
    arrays = [
        rng.uniform(max(low, -20), min(high, 20), n).astype(dtype) for _ in range(ARGUMENTS[name])
    ]
    functions = [kernel_function(name, dtype, mode) for mode in MODES] + [numpy_function(name)]
    out = np.empty(n, dtype)
    least = [math.inf] * len(functions)
    for _ in range(rounds):
        for k, function in enumerate(functions):
            start = time.perf_counter()
            function(*arrays, out=out)
            least[k] = min(least[k], time.perf_counter() - start)
    return [1e9 * seconds / n for seconds in least]


# Accuracy


def accuracy(n: int = 4000) -> None:
    """Print the largest error in ULP against mpmath, and fail if one is above `LIMIT`."""
    print("| function | float64 | at | float32 | at |")
    print("|---|---|---|---|---|")
    worst = 0.0
    for name in ARGUMENTS:
        cells = []
        for dtype in DTYPES:
            error, point = largest_error(name, dtype, n)
            worst = max(worst, error)
            cells.append(f"{error:.2f} | {', '.join(f'{x:.9g}' for x in point)}")
        print("|", name, "|", " | ".join(cells), "|", flush=True)
    if worst > LIMIT:
        sys.exit(f"{worst} ULP are more than {LIMIT}")


def largest_error(name: str, dtype: type[np.floating], n: int) -> tuple[float, tuple]:
    """The largest error in ULP, and where it is."""
    import mpmath

    mpmath.mp.prec = 1200 if name in ("sin", "cos", "tan") else 200
    function = kernel_function(name, dtype, "simd")
    reference = reference_function(name, mpmath)
    worst, where = 0.0, ()
    for arrays in arguments(name, dtype, n):
        for values in zip(*arrays, function(*arrays), strict=True):
            *point, result = map(float, values)
            error = error_in_ulp(reference, point, result, dtype, mpmath)
            if error > worst:
                worst, where = error, tuple(point)
    return worst, where


def reference_function(name: str, mpmath) -> Callable:
    """The exact function."""
    special_names = {
        "exp2": lambda x: mpmath.power(2, x),
        "log2": lambda x: mpmath.log(x) / mpmath.log(2),
        "log1p": lambda x: mpmath.log1p(x),
        "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
        "pow": mpmath.power,
    }
    return special_names.get(name) or getattr(mpmath, name)


def error_in_ulp(reference, point, result, dtype, mpmath) -> float:
    """Error in units of the last place of the exact result; 0 outside of the domain."""
    if not all(map(math.isfinite, point)):
        return 0.0
    try:
        exact = reference(*map(mpmath.mpf, point))
    except (ValueError, ZeroDivisionError, OverflowError):
        return 0.0
    if not isinstance(exact, mpmath.mpf) or not mpmath.isfinite(exact):
        return 0.0
    limits = np.finfo(dtype)
    if abs(exact) > float(limits.max):
        return 0.0 if abs(result) == math.inf else math.inf
    if not math.isfinite(result):
        return math.inf
    nearest = dtype(float(exact))  # rounded twice, which changes no unit but at its ends
    unit = max(float(np.spacing(abs(nearest))), float(limits.smallest_subnormal))
    return float(abs(mpmath.mpf(result) - exact) / unit)


def arguments(name: str, dtype: type[np.floating], n: int) -> Iterator[list[np.ndarray]]:
    """Arguments of all kinds: of the interval, near 0 and 1, far away, and of any bits."""
    rng = np.random.default_rng(1)
    low, high = interval(name, dtype)
    near = lambda: rng.uniform(-1, 1, n) * 10.0 ** rng.uniform(-8, 0, n)  # noqa: E731
    words = np.uint32 if dtype == np.float32 else np.uint64
    kinds = [
        lambda: rng.uniform(low, high, n), near, lambda: 1 + near(),
        lambda: rng.uniform(-1, 1, n) * 10.0 ** rng.uniform(0, 8, n),
        lambda: rng.integers(0, np.iinfo(words).max, n, words, endpoint=True).view(dtype),
        lambda: rng.uniform(-1, 1, n) * np.finfo(dtype).tiny,
    ]  # fmt: skip
    for kind in kinds:
        yield [kind().astype(dtype) for _ in range(ARGUMENTS[name])]
    if name == "pow":
        yield [rng.uniform(0, 10, n).astype(dtype), rng.uniform(-30, 30, n).astype(dtype)]
        yield [(1 + near() / 100).astype(dtype), rng.uniform(-3000, 3000, n).astype(dtype)]


def exhaustive(name: str) -> None:
    """Print the largest error in ULP over all float32 numbers."""
    function, reference = kernel_function(name, np.float32, "simd"), numpy_function(name)
    worst, where = 0.0, math.nan
    step = 2**22
    with np.errstate(all="ignore"):
        for start in range(0, 2**32, step):
            x = np.arange(start, start + step, dtype=np.uint32).view(np.float32)
            exact, got = reference(x.astype(np.float64)), function(x)
            rounded = exact.astype(np.float32)
            unit = np.spacing(np.minimum(np.abs(rounded), np.finfo(np.float32).max))
            error = np.abs(got - exact) / unit
            error[(got == rounded) & ~np.isfinite(got) | np.isnan(got) & np.isnan(exact)] = 0
            k = int(np.argmax(np.where(np.isnan(error), math.inf, error)))
            if not error[k] <= worst:
                worst, where = float(error[k]), float(x[k])
    print(f"{name}: {worst:.3f} ULP at {where!r}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["exhaustive"]:
        for name in sys.argv[2:]:
            exhaustive(name)
    else:
        {"speed": speed, "accuracy": accuracy}[sys.argv[1]]()
