"""The argument checks that paddle and paddle.fluid have in common: real bools, tensors, lists and
tuples."""

from collections.abc import Sequence
from typing import Any

from .._errors import ArgTypeError, DuplicateError, EmptyInputError
from .._tensor import Tensor


def require_bool(name: str, value: Any, *, none: bool = False) -> None:
    """Raise unless ``value`` is a real bool (or ``None`` where that is allowed)."""
    if not (isinstance(value, bool) or (none and value is None)):
        extra = " or None" if none else ""
        raise ArgTypeError(f"{name} should be a bool{extra}, but got {value!r}")


def _items(name: str, value: Any) -> Sequence[Any]:
    """Return what a list or tuple holds; a tensor alone is one item."""
    items = [value] if isinstance(value, Tensor) else value
    if not isinstance(items, (list, tuple)):
        raise ArgTypeError(
            f"{name} must be a Tensor, a list or a tuple of them, but got {type(value).__name__}"
        )
    return items


def tensor_list(name: str, value: Any) -> list[Tensor]:
    """Return a tensor or a non-empty list or tuple of tensors as a list."""
    if value is None:
        raise ArgTypeError(f"{name} should not be None")
    items = _items(name, value)
    if not items:
        raise EmptyInputError(f"{name} cannot be empty")
    for item in items:
        if not isinstance(item, Tensor):
            raise ArgTypeError(f"Elements of {name} must be Tensors, but got {type(item).__name__}")
    return list(items)


def seed_list(name: str, value: Any, count: int) -> list[Tensor | None]:
    """Return seeds as a list of ``count`` tensors or ``None``; an empty list counts as ``None``."""
    if value is None or (isinstance(value, (list, tuple)) and not value):
        return [None] * count
    items = _items(name, value)
    for item in items:
        if item is not None and not isinstance(item, Tensor):
            raise ArgTypeError(
                f"Elements of {name} must be Tensors or None, but got {type(item).__name__}"
            )
    return list(items)


def cut_list(value: Any) -> list[Tensor] | None:
    """Return ``no_grad_vars`` as a list: a tensor, list, tuple or set."""
    if value is None:
        return None
    items = [value] if isinstance(value, Tensor) else value
    if not isinstance(items, (list, tuple, set)) or not all(isinstance(i, Tensor) for i in items):
        raise ArgTypeError(
            "no_grad_vars should be None, a Tensor, or a list, tuple or set of Tensors"
        )
    return list(items)


def refuse_duplicates(name: str, items: Sequence[Tensor]) -> None:
    """Raise if a tensor occurs twice."""
    if len({id(item) for item in items}) != len(items):
        raise DuplicateError(f"{name} contain duplicate tensor: give each one once")
