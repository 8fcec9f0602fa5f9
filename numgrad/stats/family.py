"""What all families of distributions have in common: their names, and parameters that are held."""

import inspect
from functools import partial
from importlib import import_module
from types import MethodType
from typing import Any

from .._errors import DetachedError
from .._tensor import ArrayLike, Tensor
from ..functions.array.operands import as_tensors


class Family:
    """A family of distributions: what it does not declare is SciPy's, and has no derivative.

    Parameters
    ----------
    name : str
        The name in `scipy.stats`.
    doc : str or None
        What the family is.
    """

    def __init__(self, name: str, doc: str | None) -> None:
        self.__name__, self.__module__, self.__doc__ = name, "numgrad.stats", doc

    def __repr__(self) -> str:
        return f"<numgrad.stats.{self.__name__}>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(self, *args: ArrayLike, **parameters: ArrayLike) -> "Frozen":
        """Return the distribution with these parameters."""
        return Frozen(self, args, parameters)

    def __getattr__(self, name: str) -> Any:
        """Return SciPy's function of this name: ``fit``, ``expect``, ``rvs``."""
        if name.startswith("_"):
            raise AttributeError(name)
        found = self._function_of_scipy(name)
        is_refused = inspect.ismethod(found) and name != "rvs"  # of draws `numgrad.random` says it
        return partial(self._without_formula_of, name) if is_refused else found

    def _without_formula_of(self, function: str, *args: Any, **parameters: Any) -> Any:
        """Return what SciPy's function gives; in words that there is no derivative."""
        try:
            return self._function_of_scipy(function)(*args, **parameters)
        except DetachedError:
            raise NotImplementedError(self._lacks(function, args, parameters)) from None

    def _lacks(self, function: str, args: tuple[Any, ...], parameters: dict[str, Any]) -> str:
        """Say which argument has a gradient that SciPy's function would drop."""
        places = [f"argument {n + 1}" for n in range(len(args))]
        places[: len(args)] = self._places(function)[: len(args)] or places
        named = [*zip(places, args, strict=False), *parameters.items()]
        shown = ", ".join(n for n, a in named if isinstance(a, Tensor) and a.requires_grad)
        return (
            f"{self._called(function)}: there is no formula in numgrad for its derivative"
            f"{' with respect to ' + shown if shown else ''}; give numbers, as x.detach()"
        )

    def _places(self, function: str) -> list[str]:
        """Return the names of the arguments by position, where they are known."""
        return []

    def _of_scipy(self) -> Any:
        return getattr(import_module("scipy.stats"), self.__name__)  # when used: it takes a second

    def _function_of_scipy(self, name: str) -> Any:
        """Return SciPy's own function, which `interop.scipy.patch` may have replaced by one that
        asks this family."""
        theirs = self._of_scipy()
        found = getattr(theirs, name)
        if not inspect.ismethod(found):
            return found
        return MethodType(inspect.unwrap(found.__func__), theirs)

    def _called(self, function: str) -> str:
        return f"stats.{self.__name__}.{function}"

    def _without_formula(self, function: str, *args: Any, **parameters: Any) -> Tensor:
        """Return the values of SciPy's function."""
        return as_tensors(self._without_formula_of(function, *args, **parameters))[0]


class Frozen:
    """A distribution with its parameters: its functions take the argument, if any, only."""

    def __init__(self, family: Family, args: tuple[Any, ...], parameters: dict[str, Any]) -> None:
        self._family, self._args, self._parameters = family, args, parameters

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if not hasattr(type(self._family), name):
            try:
                return getattr(self._of_scipy(), name)
            except DetachedError:
                lack = self._family._lacks(name, self._args, self._parameters)
                raise NotImplementedError(lack) from None
        function = getattr(self._family, name)
        return lambda *x: function(*x, *self._args, **self._parameters)

    def _of_scipy(self) -> Any:
        """Return SciPy's distribution with the same parameters."""
        is_of_numbers = hasattr(self._family._of_scipy(), "freeze")
        freeze = self._family._function_of_scipy("freeze" if is_of_numbers else "__call__")
        return freeze(*self._args, **self._parameters)
