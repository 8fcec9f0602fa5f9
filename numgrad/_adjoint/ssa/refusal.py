"""What is not understood is refused, with the file, the line, the statement and what to write."""

from typing import Any


class AdjointError(TypeError):
    """A kernel whose derivative cannot be derived, or not with certainty."""


class Refusal(Exception):  # noqa: N818
    """What is wrong with a statement; the front end adds where it stands."""


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
