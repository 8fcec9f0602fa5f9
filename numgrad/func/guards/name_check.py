"""A function that tells whether names and attributes are still bound to the same objects.

This check runs at each call of a captured function. So the check is a function of Python that reads
globals, cells and attributes, as the captured function does, and compares by identity what they are
bound to: some nanoseconds for a name. Only where identities differ are values compared.
"""

from collections.abc import Callable, Sequence
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple, Protocol

from ...process.bounded_dict import Bounded

MISSING: Any = object()
"""The value of a name that is not bound."""

_OWN = "_numgrad_"  # begins the names of the check itself, among those of the user
_codes: Bounded[tuple[Any, ...], CodeType] = Bounded(512)


class Variable(NamedTuple):
    """A name in the globals of a module, or a closure cell."""

    place: dict[str, Any] | CellType
    name: str

    def module(self) -> dict[str, Any] | None:
        """Return the globals that have the name, None for a cell."""
        return None if isinstance(self.place, CellType) else self.place

    def value(self) -> Any:
        """Return what the name is bound to, `MISSING` if to nothing."""
        if not isinstance(self.place, CellType):
            return self.place.get(self.name, MISSING)
        try:
            return self.place.cell_contents
        except ValueError:
            return MISSING

    def reader(self, cell: str) -> tuple[str, Any]:
        """Return the expression that reads a cell called ``cell``, and the cell."""
        return cell, self.place


class Part(Protocol):
    """An attribute or an item of an object; see `held_parts`."""

    @property
    def name(self) -> str | int: ...

    def module(self) -> None: ...

    def value(self) -> Any: ...

    def reader(self, cell: str) -> tuple[str, Any]: ...


class NameCheck:
    """Names and attributes, and what they were bound to when a function was captured."""

    def __init__(
        self,
        variables: Sequence[Variable | Part],
        values: list[Any],
        key_of: Callable[[Any], Any],
    ) -> None:
        self._variables = variables
        self._key_of = key_of
        self._keys = list(map(key_of, values))
        self._cells = list(map(CellType, values))

    def function(self) -> Callable[[], bool]:
        """Return a function that tells whether all names are still bound to the same.

        An object with the same key as the earlier one counts as the same.
        """
        further: Any = None
        for module in {id(v.module()): v.module() for v in self._variables}.values():
            further = self._of_place(module, further)
        return further

    def _of_place(self, module: dict[str, Any] | None, further: Any) -> Callable[[], bool]:
        """Return a function that checks the names in one module.

        If ``module`` is None, the function checks all closure cells and parts of objects.
        ``further`` is the check of another module, which the function calls at the end; None if
        there is no other.
        """
        pairs = zip(self._variables, self._cells, strict=True)
        is_here = [(v, c) for v, c in pairs if v.module() is module]
        given: dict[str, Any] = {f"{_OWN}{n}": cell for n, (_, cell) in enumerate(is_here)}
        names = [str(v.name) for v, _ in is_here]
        if module is None:
            cells = [f"{_OWN}cell_{n}" for n in range(len(is_here))]
            read = [v.reader(cell) for cell, (v, _) in zip(cells, is_here, strict=True)]
            names = [expression for expression, _ in read]
            given |= {cell: place for cell, (_, place) in zip(cells, read, strict=True)}
        given |= {f"{_OWN}changed": CellType(self._is_alike), f"{_OWN}missing": CellType(Exception)}
        if further is not None:
            given[f"{_OWN}further"] = CellType(further)
        code = _code_of(tuple(names), tuple(given))
        cells = tuple([given[name] for name in code.co_freevars])
        return FunctionType(code, {} if module is None else module, closure=cells)

    def _is_alike(self) -> bool:
        """Whether each name that is bound to another object now has the key that it had.

        If so, the names are compared with the new objects from then on.
        """
        new = []
        for variable, key, cell in zip(self._variables, self._keys, self._cells, strict=True):
            value = variable.value()
            if value is not cell.cell_contents:
                if value is MISSING or self._key_of(value) != key:
                    return False
                new.append((cell, value))
        for cell, value in new:
            cell.cell_contents = value
        return True


def _code_of(names: tuple[str, ...], given: tuple[str, ...]) -> CodeType:
    """Return the code of a function that tells whether ``names``, which may be those of cells with
    an attribute or a key behind, are bound to the same objects.

    ``given`` has the names of all closure cells that the function itself has. Some hold the earlier
    objects, others are cells to be checked.
    """
    known = _codes.get((names, given))
    if known is None:
        known = _codes[names, given] = _compiled(names, given)
    return known


def _compiled(names: tuple[str, ...], given: tuple[str, ...]) -> CodeType:
    same = " and ".join([f"{name} is {_OWN}{n}" for n, name in enumerate(names)])
    then = f"{_OWN}further()" if f"{_OWN}further" in given else "True"
    lines = [
        f"def around({', '.join(given)}):",
        "    def holds():",
        "        try:",
        f"            if {same}:",
        f"                return {then}",
        f"        except {_OWN}missing:",
        "            pass",
        f"        return {_OWN}changed()",
    ]
    module = compile("\n".join(lines), "<the names of a captured function>", "exec")
    (around,) = [part for part in module.co_consts if isinstance(part, CodeType)]
    (holds,) = [part for part in around.co_consts if isinstance(part, CodeType)]
    return holds


__all__ = ["MISSING", "NameCheck", "Part", "Variable"]
