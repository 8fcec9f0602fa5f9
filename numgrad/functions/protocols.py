"""NumPy's functions on tensors: ``np.sin(t)`` is ``ng.sin(t)``, by the tables of ``functions.tables``."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from .._tensor import Tensor
from .arithmetic import is_operand
from .tables import FUNCTIONS, SCIPY_UFUNCS, UFUNCS

_ABSENT = (None, np._NoValue)


# Universal functions ------------------------------------------------------------------------------


def array_ufunc(tensor: Tensor, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    """Answer a universal function, SciPy's included; NotImplemented where another container shall.

    Raises
    ------
    TypeError
        For a function without counterpart, for methods such as ``reduce``, and for options that
        would write into an array or compute a part of it.
    """
    if not all(map(is_operand, inputs)):
        return NotImplemented
    name = f"np.{ufunc.__name__}"
    if method != "__call__":
        raise TypeError(f"{name}.{method} does not take tensors; {_way_out(f'{name}.{method}')}")
    function = UFUNCS.get(ufunc) or _scipy_function(ufunc)
    if function is None:
        raise TypeError(f"{name} has no counterpart in numgrad; {_way_out(name)}")
    if options:
        _refuse(name, function, _meaningful(options))
    return function(*inputs)


def _scipy_function(ufunc: np.ufunc) -> Callable[..., Any] | None:
    """Return the counterpart by name, so that scipy.special need not be imported to know its objects."""
    own = getattr(np, ufunc.__name__, None) is not ufunc
    return SCIPY_UFUNCS.get(ufunc.__name__) if own else None


def _meaningful(options: Mapping[str, Any]) -> Iterable[str]:
    """Return the names of the options that ask for something else than the default."""
    defaults = {"where": True, "casting": "same_kind", "order": "K", "subok": True}
    for option, value in options.items():
        if not (value is None or value is defaults.get(option) or value == (None,)):
            yield option


# Other functions ----------------------------------------------------------------------------------


def array_function(
    tensor: Tensor,
    function: Callable[..., Any],
    types: Iterable[type],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Answer a NumPy function by its counterpart.

    Raises
    ------
    TypeError
        For a function without counterpart, or a parameter that the counterpart does not have.
    """
    if not all(issubclass(kind, (Tensor, np.ndarray)) for kind in types):
        return NotImplemented
    name = f"{function.__module__.replace('numpy', 'np', 1)}.{function.__name__}"
    own = FUNCTIONS.get(function)
    if own is None:
        raise TypeError(f"{name} has no counterpart in numgrad; {_way_out(name)}")
    if kwargs or len(args) > 2:
        args, kwargs = _translate(name, function, own, args, kwargs)
    return own(*args, **kwargs)


def _translate(
    name: str,
    function: Callable[..., Any],
    own: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call of ``function`` as its counterpart takes them.

    The two have the same parameters but for some names, and the counterpart lacks those like ``out``.
    """
    theirs, ours = _parameters(function), _parameters(own)
    if not theirs or any(p.kind is p.VAR_POSITIONAL for p in theirs.values()):
        given, order = dict(kwargs), []
    else:
        order = list(theirs)
        given = {**dict(zip(order[2:], args[2:], strict=False)), **kwargs}
        args = args[:2]
    for position, parameter in enumerate(order):
        if parameter in given and parameter not in ours:
            value = given.pop(parameter)
            if position == len(args) and position < _positional(ours):
                args = (*args, value)
            elif not _is_default(value, theirs[parameter].default):
                _refuse(name, own, [parameter])
    dropped = [p for p in given if p not in ours]
    _refuse(name, own, [p for p in dropped if not _is_absent(given[p], theirs.get(p))])
    return args, {p: value for p, value in given.items() if p in ours}


@cache
def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except ValueError:  # some of NumPy's compiled functions have none
        return {}


def _positional(parameters: Mapping[str, inspect.Parameter]) -> int:
    return sum(p.kind is not p.KEYWORD_ONLY for p in parameters.values())


def _is_default(value: Any, default: Any) -> bool:
    return any(value is absent for absent in (*_ABSENT, default)) or (
        isinstance(value, (str, bool)) and value == default
    )


def _is_absent(value: Any, parameter: inspect.Parameter | None) -> bool:
    return _is_default(value, None if parameter is None else parameter.default)


def _refuse(name: str, function: Callable[..., Any], options: Iterable[str]) -> None:
    for option in options:
        own = getattr(function, "__name__", "the counterpart")
        raise TypeError(
            f"{name} of tensors does not take {option}=, as numgrad's {own} does not; {_way_out(name)}"
        )


def _way_out(name: str) -> str:
    return f"for values without gradients write {name}(t.detach().numpy(), ...)"
