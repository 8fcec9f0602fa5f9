"""Copies of Python functions with other tensors in the place of those that they close over."""

from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any

from ...._tensor import Tensor
from ....func.pytree import flatten

Made = Callable[[Sequence[Tensor]], Any]


def opened(thing: Any, above: tuple[Any, ...] = ()) -> tuple[list[Tensor], Made]:
    """Return the tensors that an object holds, and a function that makes the object with others.

    Tensors are found in containers, and in functions: in closures and defaults. The contents of
    objects of other classes are not known.
    """
    if isinstance(thing, Tensor):
        return [thing], lambda new: new[0]
    if isinstance(thing, FunctionType) and thing not in above:
        return _of_function(thing, (*above, thing))
    if isinstance(thing, (list, tuple, dict)):
        leaves, rebuild = flatten(thing)
        tensors, make = _of_all(leaves, above)
        return tensors, lambda new: rebuild(make(new)) if tensors else thing
    return [], lambda new: thing


def _of_all(things: Sequence[Any], above: tuple[Any, ...]) -> tuple[list[Tensor], Made]:
    """Return the tensors that several objects hold, and a function that makes the objects with
    others."""
    parts = [opened(thing, above) for thing in things]

    def make(new: Sequence[Tensor]) -> list[Any]:
        made, first = [], 0
        for tensors, make_one in parts:
            made.append(make_one(new[first : first + len(tensors)]))
            first += len(tensors)
        return made

    return [tensor for tensors, _ in parts for tensor in tensors], make


def _of_function(f: FunctionType, above: tuple[Any, ...]) -> tuple[list[Tensor], Made]:
    cells = [cell for cell in f.__closure__ or () if _is_filled(cell)]
    contents = [cell.cell_contents for cell in cells]
    tensors, make = _of_all([*contents, f.__defaults__, f.__kwdefaults__], above)
    if not tensors:
        return [], lambda new: f

    def made(new: Sequence[Tensor]) -> FunctionType:
        *others, defaults, by_name = make(new)
        pairs = zip(cells, contents, others, strict=True)
        known = {id(cell): _cell(cell, old, other) for cell, old, other in pairs}
        closure = tuple([known.get(id(cell), cell) for cell in f.__closure__ or ()])
        other = FunctionType(f.__code__, f.__globals__, f.__name__, defaults, closure)
        other.__kwdefaults__ = by_name
        other.__dict__.update(f.__dict__)
        return other

    return tensors, made


def _cell(cell: CellType, old: Any, new: Any) -> CellType:
    """Return the cell of a variable, shared with other functions, or a new cell if its contents
    differ."""
    return cell if new is old else CellType(new)


def _is_filled(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  raises if the variable has no value yet
    except ValueError:
        return False
    return True
