"""The table of NumPy's functions: ``python docs/numpy_coverage.py`` writes its page.

Every function of NumPy is called with sample arguments, and again with tensors in place of the
arrays of floating numbers. Values are compared with NumPy's, gradients with finite differences.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import numgrad as ng

PAGE = Path(__file__).with_name("numpy_coverage.md")
HEAD = """# NumPy, function by function

What numgrad does with every function of NumPy when it is given tensors, as `np.name(tensor)` or
`ng.name(tensor)`: each is called with sample arguments, its values compared with NumPy's and its
gradients with finite differences. The page is written by `docs/numpy_coverage.py`.

| word | means | functions |
|---|---|---|
"""
TITLES = ("function", "numgrad", "why")
MEANINGS = {
    "gradient": "the value and the gradient are right",
    "no gradient": "the value is right, and has no derivative: integers, booleans, texts, facts",
    "constant": "takes no tensor: it makes a tensor, or is NumPy's own",
    "refused": "an error says what to write instead",
    "absent": "nothing of numgrad; takes no tensors",
}

U = np.array([[0.31, 0.82, 0.45], [0.64, 0.23, 0.57]])
W = np.array([[0.52, 0.37, 0.71], [0.26, 0.43, 0.88]])
V = np.array([0.7, 0.2, 1.4, 0.9])
Z = U + 1j * W
SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
TURNING = np.array([[1.0, 2.0, 0.1], [-2.0, 1.0, 0.3], [0.1, 0.2, 3.0]])
ROWS = np.array([1.0, 2.0, 4.0, 7.0])
N = np.array([2, 5, 3])
MASK = U > 0.4

ONE = [(U,), (U + 1,), (V,), (N,), (SQUARE,), ([U, W],)]
TWO = [(U, W), (V, V[::-1].copy()), (N, N[::-1].copy()), (U, 1), (SQUARE, SQUARE[0])]
SAMPLES: dict[str, tuple[Any, ...]] = {
    "append": (U, W), "apply_along_axis": (np.sum, 0, U), "apply_over_axes": (np.sum, U, [0]),
    "arange": (5,), "array_split": (V, 2), "astype": (U, "complex128"), "bincount": (N, V[:3]),
    "block": ([[U, W]],), "broadcast_shapes": ((2, 1), (3,)), "broadcast_to": (V, (2, 4)),
    "can_cast": (np.float32, "float64"), "choose": (np.array([0, 1, 1]), [U[0], W[0]]),
    "clip": (U, 0.3, 0.6), "column_stack": ([V, V],), "common_type": (U,),
    "compress": ([True, False, True], U, 1), "concat": ([U, W],), "concatenate": ([U, W],),
    "copyto": (U, W), "corrcoef": (U,), "cov": (U,), "cross": (U, W), "delete": (V, 1),
    "diag_indices": (3,), "diff": (V,), "digitize": (V, ROWS), "dot": (U, W.T),
    "dsplit": (np.ones((1, 2, 2)), 2), "dstack": ([U, W],), "einsum": ("ij,kj->ik", U, W),
    "einsum_path": ("ij,kj->ik", U, W), "expand_dims": (U, 1), "extract": (MASK, U), "eye": (3,),
    "fill_diagonal": (SQUARE, 1.5), "flip": (U,),
    "full": (3, 0.5), "full_like": (U, 0.5), "geomspace": (1.0, 8.0, 4), "gradient": (V,),
    "histogram": (V, 3), "histogram2d": (V, V**2, 3), "histogramdd": (U, 2), "hsplit": (U, 3),
    "hstack": ([U, W],), "identity": (3,), "iinfo": (np.int8,), "indices": ((2, 2),),
    "inner": (U, W), "insert": (V, 1, 0.5), "interp": (V, ROWS, V),
    "isdtype": (np.dtype(float), "integral"),
    "isfortran": (U,), "isin": (U, [0.31]), "issubdtype": (float, np.floating), "ix_": (N, N),
    "kron": (U, W), "lexsort": ((V, ROWS),), "linspace": (0.0, 1.0, 4), "logspace": (0.0, 1.0, 4),
    "mask_indices": (3, np.triu), "matvec": (U, V[:3]), "vecmat": (V[:2], U), "meshgrid": (V, ROWS),
    "min_scalar_type": (U,), "moveaxis": (U, 0, 1), "nan_to_num": (U,), "ones": (3,), "empty": (0,),
    "pad": (U, 1), "partition": (V, 2), "argpartition": (V, 2), "percentile": (V, 40.0),
    "piecewise": (V, [V > 0.5], [np.sin, np.cos]), "place": (U, MASK, [0.9]), "poly": (V,),
    "polyfit": (ROWS, V, 1), "polyval": (V, ROWS), "polyint": (V,), "polyder": (V,),
    "put": (U, [0, 2], [0.3, 0.4]), "put_along_axis": (U, np.array([[0], [1]]), 0.5, 1),
    "putmask": (U, MASK, W), "quantile": (V, 0.4), "ravel_multi_index": (([1], [1]), (2, 2)),
    "unravel_index": ([3], (2, 2)), "repeat": (U, 2), "reshape": (U, (3, 2)), "resize": (U, (2, 2)),
    "result_type": (U, 1.0), "roll": (U, 1), "rollaxis": (U, 1), "roots": (ROWS,), "rot90": (U,),
    "searchsorted": (ROWS, V), "select": ([MASK], [U], 0.5), "setdiff1d": (V, [0.75]),
    "setxor1d": (V, [0.75]), "split": (V, 2), "stack": ([U, W],), "swapaxes": (U, 0, 1),
    "take": (U, [0, 2], 1), "take_along_axis": (U, np.argsort(U, 1), 1),
    "tensordot": (U, W, ([1], [1])),
    "tile": (U, 2), "trapezoid": (V,), "trace": (SQUARE,), "tri": (3,), "tril_indices": (3,),
    "triu_indices": (3,), "tril_indices_from": (SQUARE,), "triu_indices_from": (SQUARE,),
    "diag_indices_from": (SQUARE,), "trim_zeros": (V,), "vander": (V,), "vdot": (V, V),
    "vsplit": (U, 2), "vstack": ([U, W],), "where": (MASK, U, W), "zeros": (3,), "unwrap": (4 * V,),
    "in1d": (V, [0.7]), "convolve": (V, V), "correlate": (V, V), "average": (V, 0, ROWS),
    "isrealobj": (U,), "iscomplexobj": (U,), "real_if_close": (U + 0j,), "angle": (Z,),
    "imag": (Z,),
    "real": (Z,), "conj": (Z,), "heaviside": (U - 0.5, 0.5), "ldexp": (U, N),
    "float_power": (U, W), "matmul": (U, W.T), "vecdot": (U, W), "promote_types": ("f4", "f8"),
    "linalg.cond": (SQUARE,), "linalg.cross": (U, W), "linalg.lstsq": (SQUARE, SQUARE[0] + 1),
    "linalg.matmul": (U, W.T), "linalg.matrix_power": (SQUARE, 3),
    "linalg.multi_dot": ([U, W.T, U],),
    "linalg.outer": (V, V), "linalg.solve": (SQUARE, SQUARE[0] + 1), "linalg.tensordot": (U, W),
    "linalg.tensorinv": (SQUARE.reshape(3, 3), 1), "linalg.tensorsolve": (SQUARE, SQUARE[0] + 1),
    "linalg.vecdot": (U, W), "linalg.vector_norm": (U,), "linalg.eig": (TURNING,),
    "linalg.eigvals": (TURNING,), "linalg.qr": (SQUARE,),
    "fft.fftfreq": (4,), "fft.rfftfreq": (4,), "fft.irfft": (Z,), "fft.hfft": (Z,),
    "fft.irfft2": (Z,), "fft.irfftn": (Z,), "fft.fft2": (U,), "fft.ifft2": (U,), "fft.rfft2": (U,),
}  # fmt: skip
WRITING = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
UNSET = {"empty", "empty_like"}
TEXTS = {"array_repr", "array_str"}
OTHER_DTYPES = {"linalg.lstsq": "the rank is of int64"}
SYMMETRIC = {"linalg.cholesky", "linalg.eigh", "linalg.eigvalsh"}

Row = tuple[str, str, str]

OUTSIDE = {
    name: why
    for why, names in {
        "files": "fromfile fromregex genfromtxt load loadtxt save savetxt savez savez_compressed",
        "dates": "busday_count busday_offset datetime_as_string datetime_data is_busday isnat",
        "matrices of another kind": "asmatrix bmat",
        "settings and texts of NumPy": "base_repr binary_repr format_float_positional "
        "format_float_scientific get_include get_printoptions getbufsize geterr geterrcall info "
        "mintypecode printoptions set_printoptions setbufsize seterr seterrcall show_config "
        "show_runtime test typename errstate linalg.test fft.test",
        "functions of Python objects": "frompyfunc fromfunction fromiter fromstring frombuffer "
        "nested_iters vectorize",
        "bits in bytes": "packbits unpackbits",
    }.items()
    for name in names.split()
}


def functions() -> Iterator[tuple[str, Any]]:
    """Yield the public functions of NumPy, and those of its linear algebra and transforms."""
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in sorted(dir(module)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function = getattr(module, name)
            is_function = isinstance(function, np.ufunc) or (
                callable(function) and not isinstance(function, type)
            )
            if name[0] != "_" and is_function:
                yield prefix + name, function


def arguments(name: str, function: Any) -> tuple[Any, ...] | None:
    """Return arguments that NumPy takes, and gives finite numbers for."""
    if name in SAMPLES:
        return SAMPLES[name]
    count = function.nin if isinstance(function, np.ufunc) else 0
    for args in {0: [*ONE, *TWO], 1: ONE, 2: TWO}[count]:
        try:
            results = parts(function(*copies(args)))
        except Exception:  # NumPy does not take these
            continue
        if all(np.all(np.isfinite(r)) for r in results if np.asarray(r).dtype.kind in "fc"):
            return args
    return None


def copies(value: Any, convert: Callable[[np.ndarray], Any] = np.copy) -> Any:
    """Return nested sequences with every array copied, or converted."""
    if isinstance(value, np.ndarray):
        return convert(value)
    if isinstance(value, (list, tuple)):
        return type(value)([copies(item, convert) for item in value])
    return value


def parts(result: Any) -> list[Any]:
    """Return the arrays and numbers in a result."""
    if isinstance(result, (list, tuple)):
        return [part for item in result for part in parts(item)]
    return [result]


def call(name: str, function: Any, args: Any) -> Any:
    """Return the result of a function, or what it has written to."""
    if name in SYMMETRIC:
        args = [(args[0] + args[0].T) / 2]
    result = function(*args)
    return args[0] if name in WRITING else result


def own(name: str) -> Any:
    """Return the function that numgrad has under a name."""
    place: Any = ng
    for part in name.split("."):
        place = getattr(place, part, None)
    return place


def total(result: Any) -> Any:
    """Return one number in which all elements of a result count, of complex ones their squares."""
    found: Any = 0.0
    for part in parts(result):
        if np.iscomplexobj(part):
            part = part.real**2 + part.imag**2
        flat = part.reshape(-1)
        found = found + (flat * np.cos(np.arange(flat.shape[0]) + 0.5)).sum()
    return found


def numeric(name: str, function: Any, args: Any) -> list[np.ndarray]:
    """Return the derivatives of `total` by differences, for each floating array that is given."""
    found: list[np.ndarray] = []

    def value(place: tuple[int, ...], step: float) -> float:
        count = iter(range(99))

        def moved(a: np.ndarray) -> np.ndarray:
            a = a.copy()
            if a.dtype.kind in "fc" and next(count) == len(found):
                a[place] += step
            return a

        results = parts(call(name, function, copies(args, moved)))
        return float(total([np.asarray(p) for p in results]))

    for array in floats(args):
        g = np.zeros(array.shape)
        for place in np.ndindex(array.shape):
            g[place] = (value(place, 1e-6) - value(place, -1e-6)) / 2e-6
        found.append(g)
    return found


def floats(args: Any) -> list[np.ndarray]:
    """Return the floating arrays in arguments."""
    found: list[np.ndarray] = []
    copies(args, found.append)
    return [a for a in found if a.dtype.kind in "fc"]


def judged(name: str, function: Any) -> tuple[str, str]:
    """Return what numgrad does with a function, and why it does no more."""
    if name in OUTSIDE:
        return "absent" if own(name) is None else "constant", OUTSIDE[name]
    mine, args = own(name), arguments(name, function)
    arrays: list[Any] = []
    copies(args, arrays.append)
    if not arrays:
        return ("absent", "") if mine is None else ("constant", "")
    is_dispatched = isinstance(function, np.ufunc) or hasattr(function, "_implementation")
    called = function if is_dispatched else mine
    if called is None:
        return "absent", ""
    leaves: list[Any] = []

    def leaf(a: np.ndarray) -> Any:
        made = ng.tensor(a, requires_grad=a.dtype.kind in "fc")
        leaves.extend([made] if made.requires_grad else [])
        return made * 1.0 if name in WRITING and made.requires_grad else made

    try:
        result = call(name, called, copies(args, leaf))
    except (TypeError, AttributeError, ng.errors.NumgradError) as error:
        return "refused", reason(str(error))
    expected = call(name, function, copies(args))
    if name not in TEXTS:
        agree(name, result, expected)
    how = differentiated(name, function, args, parts(result), leaves)
    return how, OTHER_DTYPES.get(name, "")


def agree(name: str, result: Any, expected: Any) -> None:
    """Raise unless values, dtypes and shapes are NumPy's."""
    for one, other in zip(parts(result), parts(expected), strict=True):
        if not isinstance(other, (np.ndarray, np.generic)):
            assert one == other or repr(one) == repr(other), (name, one, other)
            continue
        array = np.asarray(one.detach() if isinstance(one, ng.Tensor) else one)
        assert array.shape == other.shape, (name, array, other)
        assert array.dtype == other.dtype or name in OTHER_DTYPES, (name, array, other)
        if name not in UNSET:
            np.testing.assert_allclose(array, other, rtol=1e-9, atol=1e-12, err_msg=name)


def differentiated(
    name: str, function: Any, args: Any, results: list[Any], leaves: list[Any]
) -> str:
    """Return whether there is a gradient; raise if it is wrong, or missing."""
    numbers = [r for r in results if isinstance(r, ng.Tensor) and r.dtype.kind in "fc"]
    if not numbers or not leaves or name in UNSET:
        return "no gradient"
    if len(numbers) < len(results):  # beside integers, which do not change
        expected = None
    else:
        expected = numeric(name, function, args)
    if not any(r.requires_grad for r in numbers):
        assert expected is None or not any(g.any() for g in expected), f"{name} cuts the graph"
        return "no gradient"
    live = [r for r in numbers if r.requires_grad]
    found = ng.grad(total(live), leaves, allow_unused=True)
    for g, other in zip(found, expected or [], strict=False):
        values = np.zeros(other.shape) if g is None else g.numpy().real
        np.testing.assert_allclose(values, other, rtol=1e-4, atol=1e-6, err_msg=name)
    return "gradient"


def reason(error: str) -> str:
    """Return why a function is refused, in a few words."""
    if " would cut the graph, at " in error:
        name = error.partition(": write ")[2].partition("(")[0]
        return f"NumPy's own would cut the graph. Write {name}"
    if "has no counterpart" in error:
        return "write `t.detach().numpy()` for values without gradients"
    return error.partition(";")[0].replace("|", "\\|")


def rows() -> list[Row]:
    """Return all functions with what is done with them, and why not more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [(name, *judged(name, function)) for name, function in functions()]


def page() -> str:
    """Return the text of the page."""
    found = rows()
    counts = Counter(how for _, how, _ in found)
    lines = [f"| {how} | {text} | {counts[how]} |" for how, text in MEANINGS.items()]
    lines += ["", f"| {' | '.join(TITLES)} |", "|---|---|---|"]
    lines += [f"| `{name}` | {how} | {why} |" for name, how, why in found]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
