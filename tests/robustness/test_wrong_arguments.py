"""Wrong values for each argument of each public function in turn: a result, or an error in words
that say which function or which argument it is about. What is not so is counted, and listed."""

import importlib
import inspect
import re
import warnings
from collections import Counter

import numpy as np

import numgrad as ng
from numgrad.errors import NumgradError

MODULES = [
    "", ".linalg", ".fft", ".special", ".stats", ".random", ".func", ".sparse", ".polynomial",
    ".signal", ".graph", ".compat.torch", ".compat.paddle", ".compat.chainer", ".compat.fluid",
    ".interop.scipy",
]  # fmt: skip
METHODS = ("logpdf", "logpmf", "cdf", "sf", "ppf", "mean", "entropy")
BAD = {
    "none": None, "text": "text", "object": object(), "dict": {"a": 1}, "number": 2.5,
    "rank 3": np.ones((2, 2, 2)), "empty": np.ones((0, 3)), "far": -7, "nan": float("nan"),
    "list": [2.0], "no items": [],
}  # fmt: skip
FAULTS = (AttributeError, AssertionError, RecursionError, NameError, SystemError, KeyError)
INTERNAL = re.compile(r"numgrad\.(_\w+|engine|functions|operators|targets)\b|/numgrad/")
SPEECHLESS = re.compile(
    r"index out of range|values to unpack|has no attribute|after \*|not subscriptable"
    r"|unhashable type|has no len\(\)|not supported between|unsupported operand|not callable"
    r"|must be real number|is not iterable|truth value|interpreted as an integer"
    r"|converted to (a scalar|Python scalars)|argument expected|setting an array element"
    r"|int\(\) argument|float\(\) argument|too deep|cannot convert float"
)
"""What Python and NumPy say where they were handed an argument of somebody else's."""

LISTED = {
    "truth value": ("a flag or a choice that is an array, of which NumPy says the same", 185),
    "unhashable type": ("a choice that is a list", 22),
    "has no len": ("a list as a dtype, of which NumPy says the same", 44),
    "is not iterable": ("a number where a sequence of options is wanted", 16),
    "unsupported operand|not supported between": ("an option that is no number", 73),
    "float\\(\\) argument|int\\(\\) argument|must be real number": ("what SciPy converts", 32),
    ".": ("others", 28),
}
"""What is counted, why, and how often at most: these numbers go down, never up."""


def functions():
    """Yield the name and the function of each of the public ones, and of methods of families."""
    for name in MODULES:
        module = ng.linalg if name == ".linalg" else importlib.import_module(f"numgrad{name}")
        names = {n for n in getattr(module, "__all__", dir(module)) if n[0] != "_"}
        home = f"numgrad{name}" if name.startswith(".compat") else "numgrad"
        for attribute in sorted(names):
            found = getattr(module, attribute)
            if type(found).__name__ in ("Continuous", "Discrete"):
                methods = [m for m in METHODS if hasattr(type(found), m)]
                yield from ((m, getattr(found, m)) for m in methods)
            elif inspect.isclass(found) or not callable(found):
                continue
            elif (getattr(found, "__module__", None) or "").startswith(home):
                yield attribute, found


def calls(function, x):
    """Yield calls with one wrong value in each place, and one with too many arguments."""
    parameters = list(inspect.signature(function).parameters.values())
    needed = [
        p for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]  # fmt: skip
    right = [x] * len(needed)
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    for bad in BAD.values():
        for place in range(len(needed)):
            yield (*right[:place], bad, *right[place + 1 :]), {}
        for parameter in parameters:
            by_name = parameter.kind is not parameter.POSITIONAL_ONLY
            if by_name and parameter.default is not parameter.empty:
                yield tuple(right), {parameter.name: bad}
        if takes_any:
            yield (*right, bad), {}
    yield (*right, *[x] * (3 if takes_any else len(parameters) + 3)), {}


def fault_of(name, function, error):
    """Return what is wrong with an error, or an empty text."""
    said = str(error)
    if not said or INTERNAL.search(said):
        return f"internal: {said}"
    if isinstance(error, NumgradError):
        return ""
    words = {*re.findall(r"\w+", said.lower())}
    parameters = inspect.signature(function).parameters
    if name.lower() in said.lower() or words & {p.lower() for p in parameters}:
        return "" if not isinstance(error, (AttributeError, SystemError)) else f"fault: {said}"
    if isinstance(error, FAULTS):
        return f"fault: {said}"
    if re.match(r"([a-z]\w*\.)*[a-z]\w*: ", said):
        return ""  # another function, which this one calls, or which is a part of it
    return said if SPEECHLESS.search(said) else ""


def test_wrong_arguments_are_refused_in_words(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # text is a good name of a file
    x = ng.tensor([[0.5, 1.5, 2.5], [3.0, 4.0, 5.0]], requires_grad=True)
    x.grad = kept = ng.tensor(np.full((2, 3), 7.0))
    counted, faults, total = Counter(), [], 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, function in functions():
            for args, options in calls(function, x):
                total += 1
                try:
                    function(*args, **options)
                except Exception as error:
                    fault = fault_of(name, function, error)
                    if fault.startswith(("internal", "fault")):
                        faults.append(f"{name}({args}, {options}): {type(error).__name__} {fault}")
                    elif fault:
                        counted[next(p for p in LISTED if re.search(p, fault))] += 1
                    if name.startswith("backward"):
                        x.grad = kept
    assert total > 20_000
    assert not faults, "\n".join(faults)
    most = {pattern: count for pattern, (_, count) in LISTED.items()}
    assert all(counted[pattern] <= most[pattern] for pattern in LISTED), counted
    y = (x * x).sum()
    np.testing.assert_array_equal(ng.grad(y, x)[0].numpy(), 2 * x.detach().numpy())
