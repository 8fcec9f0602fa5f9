"""Stubs of modules whose functions are made by code: ``python docs/stubs.py`` writes them.

Type checkers and editors run nothing. A stub beside a module, such as ``special.pyi``, tells them
the signatures and docstrings that the functions have when the module is imported.
"""

import importlib
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from numgrad import Tensor
from numgrad.engine.record.composition import composed
from numgrad.functions.elementwise import ufunc_methods
from numgrad.functions.elementwise.universal import Options
from numgrad.functions.tensor.numpy_table import UFUNCS

DESCRIBED = "numgrad.functions.tensor.described"
MODULES = ("numgrad.fft", DESCRIBED, "numgrad.random", "numgrad.special")

HEAD = '''"""{about}

Written by `docs/stubs.py`."""

import collections.abc
from typing import Any, ParamSpec, Protocol, TypeAlias, TypeVar, overload

import numpy

from numgrad._tensor import ArrayLike, Tensor
'''
UNIVERSAL = '''
_P = ParamSpec("_P")
_R = TypeVar("_R", covariant=True)

class _Function(Protocol[_P, _R]):
    """A function of elements with NumPy's methods; those of one operand have ``at`` alone."""
    __name__: str
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
{methods}
# In quotes, which jedi does not follow: it knows no ParamSpec, and shows functions as written here.
_Universal: TypeAlias = "_Function[_P, _R]"

def _universal(function: collections.abc.Callable[_P, _R]) -> _Universal[_P, _R]: ...
'''
METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
OTHERS = "\ndef __getattr__(name: str) -> Any: ...  # NumPy's and SciPy's own\n"
GENERATORS = "numpy.random.Generator | numpy.random.RandomState"
USUAL = {"where": True, "casting": "same_kind", "order": "K", "subok": True}
"""Of the options of universal functions; that of the others is None."""


def written(name: str) -> str:
    """Return the stub of a module."""
    module = importlib.import_module(name)
    public = getattr(module, "__all__", None) or sorted(_functions_in(module))
    about = (module.__doc__ or "").partition("\n\n")[0].strip()
    methods = [_method(getattr(ufunc_methods, method)) for method in METHODS]
    body = UNIVERSAL.format(methods="".join(methods)) if name == DESCRIBED else ""
    body += "".join(_entry(name, key, getattr(module, key)) for key in public)
    body += OTHERS if hasattr(module, "__getattr__") else ""
    return HEAD.format(about=about) + body


def path_of(name: str) -> Path:
    """Return where the stub of a module is."""
    return Path(importlib.import_module(name).__file__ or "").with_suffix(".pyi")


def _functions_in(module: Any) -> list[str]:
    return [name for name, value in vars(module).items() if inspect.isfunction(value)]


def _entry(module: str, name: str, function: Callable[..., Any]) -> str:
    """Write what the stub of a module says of a name."""
    universal = any(function is own for own in UFUNCS.values())
    if universal and module != DESCRIBED:
        return f"from {DESCRIBED} import {name} as {name}\n"
    if not universal and _is_written(function):
        return f"from {function.__module__} import {function.__name__} as {name}\n"
    return "\n" + "".join(_definitions(name, function, universal))


# `composed` keeps the type of the function that it is given.
_COMPOSED = composed(len).__code__.replace(co_name="")


def _is_written(function: Callable[..., Any]) -> bool:
    """Whether a type checker sees the docstring where the function is defined."""
    is_composed = function.__code__.replace(co_name="") == _COMPOSED
    written = inspect.unwrap(function) if is_composed else function
    first = written.__code__.co_consts[:1]
    return bool(first) and inspect.cleandoc(str(first[0])) == inspect.getdoc(function)


def _definitions(name: str, function: Callable[..., Any], universal: bool) -> Iterator[str]:
    parameters = list(inspect.signature(function).parameters.values())
    if parameters[0].name == "rng" and hasattr(function, "__wrapped__"):
        # A generator may be left out, of the functions that NumPy has too.
        for given in (parameters, parameters[1:]):
            yield "@overload\n" + _definition(name, given, function)
    else:
        yield "@_universal\n" * universal + _definition(name, parameters, function)


def _method(function: Callable[..., Any]) -> str:
    """Write a method of universal functions: a function of one, without that argument."""
    of, *parameters = inspect.signature(function).parameters.values()
    itself = inspect.Parameter("self", of.POSITIONAL_ONLY if _has_slash(parameters) else of.kind)
    return textwrap.indent(_definition(function.__name__, [itself, *parameters], function), "    ")


def _has_slash(parameters: Sequence[inspect.Parameter]) -> bool:
    return any(p.kind is p.POSITIONAL_ONLY for p in parameters)


def _definition(
    name: str, parameters: Sequence[inspect.Parameter], function: Callable[..., Any]
) -> str:
    doc, returned = inspect.getdoc(function) or "", inspect.signature(function).return_annotation
    if "into" in [p.name for p in parameters] and returned != Tensor:
        parameters = [p for p in parameters if p.name != "into"]
        behind = [n for n, p in enumerate(parameters) if p.kind is p.POSITIONAL_ONLY][-1] + 1
        parameters[behind:behind] = [_target(f"out{n}") for n in (1, 2)]
    text = ", ".join(_texts(parameters))
    head = f"def {name}({text}) -> {_type(returned)}:"
    if len(head) > 100:
        whole = ", ".join(one.replace(" ", "\0") for one in _texts(parameters))
        lines = textwrap.wrap(whole, 92, break_long_words=False, break_on_hyphens=False)
        text = textwrap.indent("\n".join(lines), "    ").replace("\0", " ")
        head = f"def {name}(\n{text}\n) -> {_type(returned)}:"
    quotes, end = 'r"""' if "\\" in doc else '"""', "\n" if "\n" in doc else ""
    shown = textwrap.indent(f'{quotes}{doc}{end}', "    ").rstrip(" ")
    return f'{head}\n{shown}{"    " * bool(end)}"""\n'


def _target(name: str) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY, default=None)


def _texts(parameters: Sequence[inspect.Parameter]) -> Iterator[str]:
    """Write parameters, with the options of universal functions for ``**options``."""
    names = [p.name for p in parameters]
    shown = [p for p in parameters if p.name not in ("into", "options")]
    for n, p in enumerate(shown):
        if p.kind is p.KEYWORD_ONLY and (n == 0 or shown[n - 1].kind is not p.KEYWORD_ONLY):
            yield "*"
        yield _parameter(p)
        is_last = n + 1 == len(shown) or shown[n + 1].kind is not p.POSITIONAL_ONLY
        if p.kind is p.POSITIONAL_ONLY and is_last:
            yield "/"
    if "options" in names:
        for option, kind in Options.__annotations__.items():
            if option == ("where" if "into" in names else "out"):
                yield "*"
            given = {"default": USUAL.get(option), "annotation": kind}
            yield _parameter(inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, **given))


def _parameter(p: inspect.Parameter) -> str:
    unsaid = p.annotation in (p.empty, Any)
    kind = "ArrayLike" if unsaid and _is_array(p.default) else _type(p.annotation)
    kind = GENERATORS if p.name == "rng" else kind
    if p.name == "self" or p.default is p.empty:
        return p.name if p.name == "self" else f"{p.name}: {kind}"
    return f"{p.name}: {kind} = {_default(p.default)}"


def _is_array(default: Any) -> bool:
    return default is inspect.Parameter.empty or default is True or type(default) is float


def _default(value: Any) -> str:
    return repr(value) if isinstance(value, (type(None), bool, int, float, str, tuple)) else "..."


def _type(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return "Any"
    text = inspect.formatannotation(annotation).replace("typing.", "")
    return text.replace("numgrad._tensor.", "")


if __name__ == "__main__":
    for name in MODULES:
        path_of(name).write_text(written(name), "utf-8")
