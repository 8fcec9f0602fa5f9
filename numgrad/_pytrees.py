"""Which classes are containers beside Python's own: dataclasses and what attrs makes, the arrays of
xarray, and what users register.

A dataclass is rebuilt field by field, without a call of its ``__init__``: a container of gradients
need not be a valid set of parameters. What ``__post_init__`` makes of other fields would not follow
them, and is refused.
"""

import enum
import functools
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import optree

from ._errors import ArgTypeError

CALLS, ARGUMENTS, VARIABLES = "numgrad", "numgrad.jit", "numgrad.variables"
"""Where optree looks for classes: what functions take and return; arguments of captured functions,
whose dicts keep their order, and where functions among the fields are no leaves; what functions are
differentiated by, where no settings are."""

_FUNCTIONS = (np.ufunc, FunctionType, BuiltinFunctionType, MethodType)
_SETTINGS = (
    str, bytes, bool, type(None), enum.Enum, type, slice, range, np.dtype, ModuleType, *_FUNCTIONS,
)  # fmt: skip
_OF_INTEGERS = frozenset({
    "int", "bool", "str", "None", "Optional", "Union", "Literal", "typing", "tuple", "Tuple",
    "list", "List", "Sequence", "collections", "abc", "dict", "Dict",
})  # fmt: skip

_lock = threading.RLock()
_own: set[type] = set()  # registered here because they were met
_of_users: set[type] = set()


def register(kind: type, flatten: Callable[..., Any], unflatten: Callable[..., Any]) -> None:
    """Make a class of a user a container."""
    with _lock:
        if kind in _of_users:
            raise ArgTypeError(f"register_pytree: {kind.__qualname__} is registered already")
        if kind in _own:
            for namespace in (CALLS, ARGUMENTS, VARIABLES):
                optree.unregister_pytree_node(kind, namespace=namespace)
            _own.discard(kind)
        _of_users.add(kind)
        _register(kind, lambda namespace: flatten, unflatten)


def open_new(kinds: Iterable[type]) -> bool:
    """Register dataclasses, classes of attrs and arrays of xarray among some classes; return
    whether one of the classes was new."""
    found = [kind for kind in kinds if kind not in _LEAVES and _is_container(kind)]
    with _lock:
        new = [kind for kind in found if kind not in _own and kind not in _of_users]
        for kind in new:
            if _is_of_xarray(kind):
                from . import _xarray

                _register(kind, lambda namespace: _xarray.flatten, _xarray.unflatten)
            else:
                _register(kind, *_of_fields(kind))
            _own.add(kind)
    return bool(new)


_LEAVES = frozenset({np.ndarray, float, int, bool, complex, str, type(None), np.float64})


def has_fields(kind: type) -> bool:
    """Whether a class is a container because it has fields, and is not registered by a user."""
    return kind in _own and not _is_of_xarray(kind)


def _register(kind: type, flatten: Callable[[str], Any], unflatten: Callable[..., Any]) -> None:
    for namespace in (CALLS, ARGUMENTS, VARIABLES):
        optree.register_pytree_node(kind, flatten(namespace), unflatten, namespace=namespace)


@functools.lru_cache(256)
def _is_container(kind: type) -> bool:
    return _is_of_xarray(kind) or (_is_of_fields(kind) and not _derived(kind))


def _is_of_fields(kind: type) -> bool:
    has = hasattr(kind, "__dataclass_fields__") or hasattr(kind, "__attrs_attrs__")
    return has and not issubclass(kind, (enum.Enum, np.ndarray))


def _is_of_xarray(kind: type) -> bool:
    names = ("DataArray", "Dataset", "Variable")
    return kind.__name__ in names and kind.__module__.startswith("xarray.core.")


# Dataclasses --------------------------------------------------------------------------------------


class _Field(NamedTuple):
    name: str
    is_static: bool  # by its metadata
    is_whole: bool  # it is annotated with nothing but integers, and settings


class Rest:
    """What a dataclass holds beside its leaves: the names of the fields of these, and others with
    their values. Equal ones have equal values."""

    __slots__ = ("fixed", "names")

    def __init__(self, names: tuple[str, ...], fixed: tuple[tuple[str, Any], ...]) -> None:
        self.names, self.fixed = names, fixed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rest) or self.names != other.names:
            return False
        if len(self.fixed) != len(other.fixed):
            return False
        pairs = zip(self.fixed, other.fixed, strict=True)
        return all(n == k and is_equal(v, w) for (n, v), (k, w) in pairs)

    def __hash__(self) -> int:
        return hash(self.names)

    def described(self) -> tuple[Any, ...]:
        """Return all that there is."""
        return self.names, self.fixed

    def __repr__(self) -> str:
        return ", ".join([*self.names, *[f"{name}={value!r}" for name, value in self.fixed]])


def is_equal(a: Any, b: Any) -> bool:
    """Whether two values that are no leaves are of one type and equal."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    try:
        return bool(a == b)
    except Exception:  # whatever a class raises that does not say
        return False


def _of_fields(kind: Any) -> tuple[Callable[[str], Any], Callable[..., Any]]:
    """Return what flattens and rebuilds a dataclass, or a class of attrs."""
    fields = [_field(f) for f in _fields(kind)]

    def flatten(namespace: str, value: Any) -> tuple[Any, Rest, Any]:
        names, fixed = [], _beside(kind, value, fields)
        for field in fields:
            item = getattr(value, field.name, _ABSENT)
            if item is _ABSENT:
                continue
            if field.is_static or _is_beside(item, namespace, field.is_whole):
                fixed.append((field.name, item))
            else:
                names.append(field.name)
        children = [getattr(value, name) for name in names]
        return children, Rest(tuple(names), tuple(fixed)), tuple(names)

    def unflatten(rest: Rest, children: Iterable[Any]) -> Any:
        value = kind.__new__(kind)
        for name, item in (*zip(rest.names, children, strict=True), *rest.fixed):
            object.__setattr__(value, name, item)
        return value

    return lambda namespace: functools.partial(flatten, namespace), unflatten


_ABSENT: Any = object()


def _fields(kind: Any) -> Sequence[Any]:
    of_attrs = getattr(kind, "__attrs_attrs__", None)
    if of_attrs is not None:
        return of_attrs
    from dataclasses import fields

    return fields(kind)


def _field(field: Any) -> _Field:
    annotation = field.type
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    return _Field(field.name, bool(field.metadata.get("static", False)), words <= _OF_INTEGERS)


def _derived(kind: Any) -> list[str]:
    """Return the fields that ``__post_init__`` makes of others, as far as one can see."""
    if not hasattr(kind, "__post_init__") and not hasattr(kind, "__attrs_post_init__"):
        return []
    made = [_field(f) for f in _fields(kind) if not f.init]
    return [field.name for field in made if not field.is_static and not field.is_whole]


def _is_beside(value: Any, namespace: str, is_whole: bool) -> bool:
    """Whether a field is no leaf for what it holds."""
    if namespace == ARGUMENTS:
        return isinstance(value, _FUNCTIONS)
    return namespace == VARIABLES and _is_setting(value, is_whole)


def _is_setting(value: Any, is_whole: bool) -> bool:
    """Whether a value is no array and no number to differentiate by, nor holds any; integers are
    none where the annotation says that there is nothing else."""
    if type(value) in (tuple, list, dict):
        items = list(value.values() if type(value) is dict else value)
        return bool(items) and all(_is_setting(item, is_whole) for item in items)
    if isinstance(value, _SETTINGS):
        return True
    if not is_whole:
        return False
    is_number = getattr(value, "shape", ()) == () and hasattr(value, "dtype")
    return isinstance(value, int) or (is_number and value.dtype.kind in "iu")


def _beside(kind: type, value: Any, fields: Sequence[_Field]) -> list[tuple[str, Any]]:
    """Return the attributes that are no fields: settings, as `functools.cached_property` finds the
    rest anew."""
    names = {field.name for field in fields}
    fixed = []
    for name, item in getattr(value, "__dict__", {}).items():
        if name in names or isinstance(getattr(kind, name, None), functools.cached_property):
            continue
        if not _is_setting(item, False):
            raise ArgTypeError(_not_following(kind, name))
        fixed.append((name, item))
    return fixed


def _not_following(kind: type, name: str) -> str:
    return (
        f"{kind.__name__}.{name} is made when an object is made, and would not follow the fields "
        f"when they get other values: make it a property (@property, or "
        f"@functools.cached_property), mark it as a constant, dataclasses.field(init=False, "
        f"metadata={{'static': True}}), or write ng.func.register_pytree({kind.__name__}, flatten, "
        f"unflatten)"
    )


def how_to_register(value: Any) -> str:
    """Return the line that makes the class of an object a container, or what to give instead of
    the object."""
    kind = type(value)
    if kind.__module__.startswith("pandas."):
        return "write .to_numpy(): pandas holds no tensors"
    if _is_of_fields(kind) and _derived(kind):
        return _not_following(kind, _derived(kind)[0])
    given = vars(value) if hasattr(value, "__dict__") else getattr(kind, "__slots__", ())
    names = [name for name in given if name.isidentifier()][:4] or ["a", "b"]
    items = ", ".join([f"x.{name}" for name in names]) + ("," if len(names) == 1 else "")
    return (
        f"if it holds arrays, say which: ng.func.register_pytree({kind.__name__}, lambda x: "
        f"(({items}), None), lambda aux, children: {kind.__name__}(*children))"
    )
