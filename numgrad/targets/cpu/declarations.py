"""Declarations of the functions that code written as text calls.

LLVM takes one declaration of a function for each module. Several parts of a kernel may call the
same function without knowing of one another, so declarations are kept by the functions' names.
"""

from collections.abc import Container, Sequence


class Declarations:
    """Functions that are called, each declared once."""

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}

    def add(self, result: str, name: str, kinds: Sequence[str], attributes: str = "") -> None:
        """Declare a function. LLVM's own need no attributes: it knows them."""
        line = f"declare {result} @{name}({', '.join(kinds)}) {attributes}".rstrip()
        self._lines.setdefault(name, line)

    def update(self, other: "Declarations") -> None:
        """Add those of another part of the same module."""
        self._lines = {**other._lines, **self._lines}

    def lines(self, known: Container[str] = ()) -> list[str]:
        """Return a line for each function but those that the module has, in an order that does not
        depend on that of the calls."""
        return [line for name, line in sorted(self._lines.items()) if name not in known]
