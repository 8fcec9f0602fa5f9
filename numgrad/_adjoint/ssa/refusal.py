"""Errors for statements that are not understood: they name the file, the line, the statement, and
what to write instead."""

from typing import Any


class AdjointError(TypeError):
    """Raised for a kernel whose derivative cannot be derived with certainty."""


class Refusal(Exception):  # noqa: N818
    """The reason why a statement is refused; the front end adds where the statement stands."""


def located(reason: str, node: Any, text: str, where: "Place") -> AdjointError:
    """Return the error for a statement: its reason, then the file, the line and the text."""
    line = getattr(node, "lineno", 0) + where.first_line - 1
    return AdjointError(f"{where.file}, line {line}, in {where.name}: {reason}\n    {text}")


class Place:
    """The file and the first line of a function whose statements are read.

    Parameters
    ----------
    name, file : str
    first_line : int
    """

    def __init__(self, name: str, file: str, first_line: int) -> None:
        self.name, self.file, self.first_line = name, file, first_line
