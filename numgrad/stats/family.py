"""What all families of distributions have in common: their names, and parameters that are held."""

from importlib import import_module
from typing import Any

from .._errors import DetachedError
from .._tensor import ArrayLike, Tensor
from ..functions.operands import as_tensors


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
        return getattr(self._of_scipy(), name)

    def _of_scipy(self) -> Any:
        return getattr(import_module("scipy.stats"), self.__name__)  # when used: it takes a second

    def _called(self, function: str) -> str:
        return f"stats.{self.__name__}.{function}"

    def _without_formula(self, function: str, *args: Any, **parameters: Any) -> Tensor:
        """Return the values of SciPy's function."""
        try:
            return as_tensors(getattr(self._of_scipy(), function)(*args, **parameters))[0]
        except DetachedError:
            raise NotImplementedError(
                f"{self._called(function)}: there is no formula for its derivative in numgrad"
            ) from None


class Frozen:
    """A distribution with its parameters: its functions take the argument, if any, only."""

    def __init__(self, family: Family, args: tuple[Any, ...], parameters: dict[str, Any]) -> None:
        self._family, self._args, self._parameters = family, args, parameters

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if not hasattr(type(self._family), name):
            return getattr(self._family._of_scipy()(*self._args, **self._parameters), name)
        function = getattr(self._family, name)
        return lambda *x: function(*x, *self._args, **self._parameters)
