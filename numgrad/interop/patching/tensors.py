"""Whether arguments hold tensors, and whether functions read them."""

import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

from ..._tensor import Tensor
from ...engine.graph.value import CPU
from ...engine.record.apply import mode
from ...sparse.arrays.array import SparseArray

FEW = 32
"""Items of a list that are looked at before a function of SciPy is called, whose error tells of
longer lists."""


def stands_for_scipys(value: Any) -> bool:
    """Whether an object of numgrad stands for one of SciPy's, whose functions cannot take it."""
    return getattr(type(value), "stands_for_scipys", False)


def leaves(value: Any) -> Iterator[Any]:
    """Yield the items of nested lists and tuples; what is no list is its own item."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def holds_tensor(value: Any) -> bool:
    """Whether a value is a tensor, a sparse array of numgrad, or a list, tuple or dictionary that
    contains one."""
    if isinstance(value, (Tensor, SparseArray)) or stands_for_scipys(value):
        return True
    if isinstance(value, (list, tuple)):
        return any([holds_tensor(item) for item in value])  # noqa: C419
    return isinstance(value, dict) and holds_tensor(list(value.values()))


def is_refused(value: Any, most: float) -> bool:
    """Whether a conversion of a value to an array would raise an error: of a tensor that requires
    grad, is still to be computed or lies on a device; also in a list, tuple or dictionary with at
    most so many items."""
    if isinstance(value, Tensor):
        has_gradient = value.requires_grad and mode.grad
        return has_gradient or value.array is None or value.spec.device != CPU
    if isinstance(value, SparseArray) or stands_for_scipys(value):
        return True
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)) and len(value) <= most:
        return any([is_refused(item, most) for item in value])  # noqa: C419
    return False


def reads_tensor(f: Any) -> bool:
    """Whether a function reads a tensor that is none of its arguments."""
    if isinstance(f, functools.partial):
        return holds_tensor([f.args, f.keywords]) or reads_tensor(f.func)
    if isinstance(f, MethodType):
        return holds_tensor(list(vars(f.__self__).values())) or reads_tensor(f.__func__)
    if not isinstance(f, FunctionType):
        return callable(f) and holds_tensor(list(getattr(f, "__dict__", {}).values()))
    cells = [_held(cell) for cell in f.__closure__ or ()]
    names = _names(f.__code__)
    found = [f.__globals__[name] for name in names if name in f.__globals__]
    if holds_tensor([cells, found, f.__defaults__, f.__kwdefaults__]):
        return True
    others = [g for g in (*cells, *found) if isinstance(g, FunctionType) and g is not f]
    own = f.__module__
    return any(reads_tensor(g) for g in others if g.__module__ == own and not _calls(g, f))


def _held(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable has no value yet
        return None


def _names(code: CodeType) -> list[str]:
    """Return the names that a function and the functions inside it look up."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return [*code.co_names, *[name for c in inner for name in _names(c)]]


def _calls(g: FunctionType, f: FunctionType) -> bool:
    """Whether function ``g`` looks up ``f`` or itself by name."""
    return bool({f.__name__, g.__name__} & set(_names(g.__code__)))
