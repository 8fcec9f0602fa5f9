"""Dtypes, constants and functions that are NumPy's own, under its names."""

from collections.abc import Callable as _Callable
from importlib import import_module as _import_module
from sys import modules as _modules
from typing import Any as _Any

from numpy import bool as bool
from numpy import bool_ as bool_
from numpy import broadcast_shapes as broadcast_shapes
from numpy import complex64 as complex64
from numpy import complex128 as complex128
from numpy import complexfloating as complexfloating
from numpy import double as double
from numpy import dtype as dtype
from numpy import e as e
from numpy import errstate as errstate
from numpy import euler_gamma as euler_gamma
from numpy import float16 as float16
from numpy import float32 as float32
from numpy import float64 as float64
from numpy import floating as floating
from numpy import generic as generic
from numpy import get_printoptions as get_printoptions
from numpy import index_exp as index_exp
from numpy import inexact as inexact
from numpy import inf as inf
from numpy import int8 as int8
from numpy import int16 as int16
from numpy import int32 as int32
from numpy import int64 as int64
from numpy import int_ as int_
from numpy import integer as integer
from numpy import intp as intp
from numpy import issubdtype as issubdtype
from numpy import iterable as iterable
from numpy import nan as nan
from numpy import ndindex as ndindex
from numpy import newaxis as newaxis
from numpy import number as number
from numpy import pi as pi
from numpy import printoptions as printoptions
from numpy import promote_types as promote_types
from numpy import s_ as s_
from numpy import set_printoptions as set_printoptions
from numpy import signedinteger as signedinteger
from numpy import single as single
from numpy import uint as uint
from numpy import uint8 as uint8
from numpy import uint16 as uint16
from numpy import uint32 as uint32
from numpy import uint64 as uint64
from numpy import unsignedinteger as unsignedinteger


def _names_of(library: str, module: str) -> _Callable[[str], _Any]:
    """Return the ``__getattr__`` of a module that has all names of a module of NumPy or SciPy.

    A function that numgrad does not have makes arrays, or refuses tensors that require grad, as
    NumPy's do.
    """

    def name_of(name: str) -> _Any:
        why = ""
        if not name.startswith("_"):
            try:
                return getattr(_import_module(library), name)
            except AttributeError as error:
                why = _what_to_write(name, library, error)
        raise AttributeError(f"module {module!r} has no attribute {name!r}{why}", name=name)

    return name_of


def _what_to_write(name: str, library: str, error: AttributeError) -> str:
    """Return the end of the error for a name that neither numgrad nor a library has: code to write,
    or what the library says."""
    from .foreign_names import elsewhere  # not needed before there is an error

    instead = elsewhere(name)
    if not instead and str(error) == f"module {library!r} has no attribute {name!r}":
        return f", nor has {library}"
    return f": {instead or error}"


def _names_and_later(library: str, module: str, later: tuple[str, ...]) -> tuple[_Any, _Any]:
    """Return ``__getattr__``, as `_names_of` does, and ``__dir__`` of a package that imports its
    modules named in ``later`` when they are used."""
    others = _names_of(library, module)

    def name_of(name: str) -> _Any:
        if name in later:
            return _import_module(f"{module}.{name}")
        return others(name)

    return name_of, lambda: sorted({*vars(_modules[module]), *later})
