"""The table of SciPy's functions on tensors: ``python docs/scipy_coverage.py`` writes its page.

SciPy declares which of its functions take arrays of any library. Each is called with arrays of
NumPy and with tensors that require grad, by the calls in `scipy_calls`: the values must be equal,
and the gradients must agree with differences of NumPy's values.

``--print`` prints the page instead, ``--why`` what became of each function, or of those that are
named, and for what reason; ``--torch`` does that with tensors of torch, ``--imported`` with SciPy
as programs import it.
"""

import os
import sys

if "--imported" not in sys.argv:
    os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported
    os.environ["NUMGRAD_SCIPY"] = "never"  # SciPy is looked at as it is

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage, special
from scipy._lib._array_api import xp_capabilities_table
from scipy._lib._array_api_docs_tables import ALIASES, is_named_function_like_object
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist
from scipy.stats import qmc

sys.path.insert(0, str(Path(__file__).parent))
from scipy_calls import ARRAYS, CALLS

PAGE = Path(__file__).with_name("scipy_coverage.md")
STEP = 1e-4
RIGHT, PARTLY, NONE, VALUE, NAN, REFUSED = WORDS = (
    "gradient", "partly", "no derivative", "values", "nan", "refused",
)  # fmt: skip
WRONG = ("wrong value", "wrong gradient", "cut")

HEAD = """# SciPy, function by function

With `SCIPY_ARRAY_API=1` in the environment, functions of SciPy take tensors: many compute with
numgrad's functions, and their gradients flow. This is the table of all that SciPy 1.17 declares
capable of it; each was called with tensors and with arrays of NumPy, and the gradients were
compared with differences of NumPy's values. It shows what SciPy does by itself, with
`NUMGRAD_SCIPY=never`. Without the variable all functions with a gradient here
[take tensors, too](scipy.md#programs-that-call-scipy), and so do those that have a counterpart in
numgrad. The page is written by `docs/scipy_coverage.py`.

| word | means |
|---|---|
| gradient | value and gradient are right |
| partly | so with respect to the arguments named; of the others a gradient is refused |
| no derivative | the value is right, and small changes of the arguments do not change it |
| values | the value of a tensor without gradient is right, a gradient is refused |
| nan | the value is right, the gradient is NaN: SciPy computes `0 * inf` and discards it |
| refused | there is an error, also without gradient |

Gradients are refused where SciPy computes in compiled code; `ng.signal` has convolutions,
correlations, filters and spectra of its own, and `ng.interop.scipy.ndimage` filters of images.
No function gives a wrong number, or a number without the gradient that it should have (with tensors
of torch 2.13, 15 do the latter; the last column counts those with a right gradient).
Solvers that SciPy does not declare capable are in [`ng.interop.scipy`](scipy.md).

"""
# How many of the functions have right gradients with torch 2.13, by --torch
TORCH = {
    "scipy.cluster.hierarchy": 1, "scipy.constants": 3, "scipy.differentiate": 3,
    "scipy.fft": 20, "scipy.integrate": 5, "scipy.linalg": 3, "scipy.optimize": 4,
    "scipy.optimize.elementwise": 2, "scipy.signal": 32, "scipy.signal.windows": 1,
    "scipy.special": 25, "scipy.stats": 46,
}  # fmt: skip

tree = hierarchy.linkage(pdist(ARRAYS["points"]), "average")
SAMPLES = ARRAYS | {
    "distances": pdist(ARRAYS["points"]),
    "tree": tree,
    "depths": hierarchy.inconsistent(tree),
    "clusters": hierarchy.fcluster(tree, 1.0, "distance"),
    "mlab": hierarchy.to_mlab_linkage(tree),
}


class NumPy:
    """The library that the others are compared with."""

    xp: Any = np

    def array(self, value: np.ndarray, grad: bool) -> Any:
        return value

    def is_array(self, value: Any) -> bool:
        return isinstance(value, (np.ndarray, np.generic, int, float, complex))

    def value(self, value: Any) -> np.ndarray:
        return np.asarray(value)


class Numgrad(NumPy):
    def __init__(self) -> None:
        self.xp = import_module("numgrad")

    def array(self, value: np.ndarray, grad: bool) -> Any:
        return self.xp.tensor(value, requires_grad=grad)

    def is_array(self, value: Any) -> bool:
        return super().is_array(value) or isinstance(value, self.xp.Tensor)

    def value(self, value: Any) -> np.ndarray:
        return value.detach().numpy() if isinstance(value, self.xp.Tensor) else np.asarray(value)

    def gradients(self, output: Any, inputs: Any, seed: np.ndarray) -> Any:
        return self.xp.grad(output, inputs, seed, retain_graph=True, allow_unused=True)


class Torch(Numgrad):
    def __init__(self) -> None:
        self.xp = import_module("torch")
        self.xp.set_default_dtype(self.xp.float64)

    def gradients(self, output: Any, inputs: Any, seed: np.ndarray) -> Any:
        seed = self.xp.asarray(np.array(seed))
        grad = self.xp.autograd.grad
        return grad(output, inputs, seed, retain_graph=True, allow_unused=True)


def capabilities(function: Any) -> Any:
    """Return what SciPy declares of a function, which may have another one in its place."""
    of_own = xp_capabilities_table.get(getattr(function, "__wrapped__", None))
    return xp_capabilities_table.get(function, of_own)


# The calls ----------------------------------------------------------------------------------------


def functions() -> Iterator[tuple[str, str, Any]]:
    """Return module, name and function of all that SciPy declares capable."""
    for name in CALLS:
        module = import_module(name)
        for function in sorted(set(module.__all__) - ALIASES.get(name, set())):
            found = getattr(module, function)
            known = is_named_function_like_object(found)
            entry = capabilities(found) if known else None
            if entry and not entry["out_of_scope"] and not entry["np_only"]:
                yield name, function, found


def calls(module: str) -> dict[str, str]:
    """Return the call of each function of a module."""
    found = {}
    for line in CALLS[module].strip().splitlines():
        names, arguments = line.split(": ", 1)
        call = arguments if re.match(r"(list\()?f\(", arguments) else f"f({arguments})"
        found.update(dict.fromkeys(names.split(), call))
    return found


class Call:
    """A call of a function, with arrays of any library."""

    def __init__(self, function: Any, text: str, samples: Any = SAMPLES) -> None:
        self.function = function
        self.code = compile(text, text, "eval")
        names = set(re.findall(r"\w+", re.sub(r"\w+=", "", text)))
        self.samples = {name: value for name, value in samples.items() if name in names}
        self.variables = [n for n, value in self.samples.items() if value.dtype.kind in "fc"]

    def __call__(self, library: Any, moved: Any = None, grads: Any = ()) -> tuple[Any, Any]:
        """Return the arrays, by name, and the results."""
        given = self.samples | (moved or {})
        arrays = {n: library.array(np.array(v), n in grads) for n, v in given.items()}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = eval(self.code, arrays | others(library) | {"f": self.function})
            return arrays, list(results(library, result))


def others(library: Any) -> dict[str, Any]:
    """Return what else the calls name."""
    xp, generator = library.xp, np.random.default_rng(1)
    return {
        "xp": xp,
        "generator": generator,
        "halton": qmc.Halton(2, rng=generator),
        "draw": lambda size: xp.asarray(generator.standard_normal(size)),
        "mean": lambda v, axis: xp.mean(v, axis=axis),
        "gap": lambda v, w, axis: xp.mean(v, axis=axis) - xp.mean(w, axis=axis),
        "squares": lambda v, axis: xp.mean(v * v, axis=axis),
        "ndimage": ndimage,
        "special": special,
    }


def results(library: Any, result: Any) -> Iterator[Any]:
    """Return the arrays and numbers in a result."""
    if library.is_array(result):
        yield result
    elif isinstance(result, (dict, list, tuple)):
        for value in result.values() if isinstance(result, dict) else result:
            yield from results(library, value)
    elif type(result).__module__.startswith("scipy."):
        yield from results(library, vars(result))


# What becomes of them -----------------------------------------------------------------------------


def outcome(library: Any, call: Call) -> tuple[str, str]:
    """Return a word for what becomes of a call, and why; of one that is right in part, where."""
    word, why = attempt(library, call, call.variables)
    if word != REFUSED:
        return word, why
    single = {name: attempt(library, call, [name])[0] for name in call.variables}
    wrong = [found for found in single.values() if found in WRONG]
    right = [name for name, found in single.items() if found == RIGHT]
    if wrong or right:
        return (wrong[0] if wrong else PARTLY), f"{', '.join(right)}; {why}"
    plain, _ = attempt(library, call, [])
    return (VALUE if plain == NONE else plain), why


def attempt(library: Any, call: Call, variables: list[str]) -> tuple[str, str]:
    """Return what becomes of a call if these arrays require grad."""
    _, expected = call(NumPy())
    try:
        arrays, found = call(library, grads=variables)
        values = list(map(library.value, found))
        if not _agree(expected, values):
            return "wrong value", f"{expected} {values}"
        return derivative(library, call, variables, arrays, found)
    except Exception as error:
        return REFUSED, f"{type(error).__name__}: {error}"


def _agree(expected: list[Any], found: list[np.ndarray]) -> bool:
    for one, other in zip(map(np.asarray, expected), found, strict=True):
        size = 1e-7 * np.abs(one[np.isfinite(one)]).max(initial=1.0)
        if one.shape != other.shape or not np.allclose(one, other, 1e-7, size, equal_nan=True):
            return False
    return True


def derivative(
    library: Any, call: Call, variables: list[str], arrays: Any, found: Any
) -> tuple[str, str]:
    """Compare the gradients of all results with a difference of NumPy's."""
    rng = np.random.default_rng(3)
    values = {name: np.asarray(call.samples[name]) for name in variables}
    moves = {n: _like(rng, v) * (v != np.round(v)) for n, v in values.items()}  # 2.0 may be a count
    plus, minus = (
        call(NumPy(), {n: v + step * moves[n] for n, v in values.items()})[1]
        for step in (0.5 * STEP, -0.5 * STEP)
    )
    word = NONE
    for up, down, result in zip(map(np.asarray, plus), map(np.asarray, minus), found, strict=True):
        if up.dtype.kind not in "fc" or up.shape != down.shape:
            continue
        with np.errstate(invalid="ignore"):
            change = np.nan_to_num((up - down) / STEP, posinf=0.0, neginf=0.0)
        seed = _like(rng, up) * np.isfinite(library.value(result))
        wanted = np.vdot(seed, change).real
        error = 1e-5 * (1 + np.abs(seed * change).sum())
        if getattr(result, "requires_grad", False):
            gradients = library.gradients(result, [arrays[n] for n in variables], seed)
            pairs = zip(gradients, moves.values(), strict=True)
            exact = sum(np.vdot(library.value(g), v).real for g, v in pairs if g is not None)
            if not abs(exact - wanted) <= error:
                return (NAN if exact != exact else "wrong gradient"), f"{exact}, not {wanted}"
            word = RIGHT if np.abs(change).max(initial=0) > error else word
        elif abs(wanted) > error:
            return "cut", f"a {type(result).__name__} without the gradient {wanted}"
    return word, ""


def _like(rng: np.random.Generator, value: np.ndarray) -> np.ndarray:
    found = rng.normal(size=value.shape)
    return found + 1j * rng.normal(size=value.shape) if value.dtype.kind == "c" else found


# The page -----------------------------------------------------------------------------------------

Found = dict[str, dict[str, tuple[str, str]]]


def collected(library: Any, only: Any = ()) -> Found:
    """Return what becomes of each function, by modules."""
    found: Found = {name: {} for name in CALLS}
    for module, name, function in functions():
        if not only or name in only or module in only:
            found[module][name] = outcome(library, Call(function, calls(module)[name]))
    return found


def page() -> str:
    """Return the text of the page."""
    found = collected(Numgrad())
    lines = [f"| module | all | {' | '.join(WORDS)} | torch |"]
    lines += ["|---" * (len(WORDS) + 3) + "|"]
    total: Counter[str] = Counter()
    for module, rows in found.items():
        counts = Counter(word for word, _ in rows.values())
        total += counts
        lines.append(_row(module, counts, TORCH.get(module, 0)))
    lines.append(_row("all", total, sum(TORCH.values())))
    for module, rows in found.items():
        lines += ["", f"## {module}", "", "| word | functions |", "|---|---|"]
        for word in dict.fromkeys((*WORDS, *(word for word, _ in rows.values()))):
            names = [_named(n, w, why) for n, (w, why) in rows.items() if w == word]
            lines += [f"| {word} | {', '.join(names)} |"] if names else []
    return HEAD + "\n".join(lines) + "\n"


def _row(name: str, counts: Counter[str], torch: int) -> str:
    cells = [counts.total(), *(counts[word] for word in WORDS), torch]
    return f"| {name} | {' | '.join(map(str, cells))} |"


def _named(name: str, word: str, why: str) -> str:
    return f"`{name}` ({why.partition(';')[0]})" if word == PARTLY else f"`{name}`"


def _explain(found: Found) -> None:
    for module, rows in found.items():
        print(module, dict(Counter(word for word, _ in rows.values())))
        for name, (word, why) in rows.items():
            print("   ", name, "|", word, "|", " ".join(why.split())[:200])
    print(dict(Counter(word for rows in found.values() for word, _ in rows.values())))


if __name__ == "__main__":
    options = {word for word in sys.argv[1:] if word.startswith("--")}
    if options & {"--torch", "--why", "--imported"}:
        library = Torch() if "--torch" in options else Numgrad()
        _explain(collected(library, set(sys.argv[1:]) - options))
    elif "--print" in options:
        print(page(), end="")
    else:
        PAGE.write_text(page(), "utf-8")
