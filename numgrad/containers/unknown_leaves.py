"""Advice in errors about leaves that are neither arrays nor containers of arrays."""

import inspect
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from .registered_classes import is_setting, not_following

_WITHOUT_ARRAYS = {*sys.stdlib_module_names, "numba", "numgrad", "numpy", "scipy"}
_WHOLE = {
    list: ("(tuple(x), None)", "lambda aux, children: {kind}(children)"),
    dict: ("(tuple(x.values()), tuple(x))", "lambda keys, children: {kind}(zip(keys, children))"),
    SimpleNamespace: (
        "(tuple(vars(x).values()), tuple(vars(x)))",
        "lambda names, children: {kind}(**dict(zip(names, children)))",
    ),
}


def how_to_register(value: Any) -> str:
    """Return the line that makes the class of an object a container, or advice on another argument.
    """
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    if package == "pandas":
        return "write .to_numpy(): pandas holds no tensors"
    derived = not_following(kind)
    if derived:
        return derived
    whole = next((texts for base, texts in _WHOLE.items() if issubclass(kind, base)), None)
    if whole is not None:
        return _line(kind.__name__, whole[0], whole[1].format(kind=kind.__name__))
    if package in _WITHOUT_ARRAYS:
        return (
            "it is no array: close over it, hand it over as an argument of its own, or in a "
            "dataclass, where text and functions are handed on, and other fields if they are "
            "marked, dataclasses.field(metadata={'static': True})"
        )
    return _line(kind.__name__, *_of_attributes(value))


def _line(name: str, flat: str, unflatten: str) -> str:
    return (
        f"if it holds arrays, say which: ng.func.register_pytree({name}, lambda x: {flat}, "
        f"{unflatten})"
    )


def _of_attributes(value: Any) -> tuple[str, str]:
    """Return code that flattens an object into its attributes, and code that unflattens it."""
    kind = type(value)
    given = vars(value) if hasattr(value, "__dict__") else getattr(kind, "__slots__", ())
    names = [name for name in given if name.isidentifier()]
    if not names:
        return "((), x)", "lambda aux, children: aux"
    beside = [name for name in names if _is_beside(getattr(value, name, None))]
    inside = [name for name in names if name not in beside]
    aux = _tuple(beside) if beside else "None"
    return f"({_tuple(inside)}, {aux})", f"lambda aux, children: {_made(kind, inside, beside)}"


def _is_beside(value: Any) -> bool:
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_whole or is_setting(value, False)


def _tuple(names: Sequence[str]) -> str:
    items = ", ".join([f"x.{name}" for name in names])
    return f"({items}{',' if len(names) == 1 else ''})"


def _made(kind: type, inside: Sequence[str], beside: Sequence[str]) -> str:
    """Return code of a call of a class, by position where its parameters have this order."""
    parts = ["*children"] * bool(inside) + ["*aux"] * bool(beside)
    names = [*inside, *beside]
    try:
        parameters = [*inspect.signature(kind).parameters]
    except (TypeError, ValueError):
        parameters = []
    if parameters[: len(names)] != names and set(names) <= set(parameters):
        values = [f"children[{n}]" for n in range(len(inside))]
        values += [f"aux[{n}]" for n in range(len(beside))]
        parts = [f"{name}={value}" for name, value in zip(names, values, strict=True)]
    return f"{kind.__name__}({', '.join(parts)})"
