"""Optimizations of programs may fail: a program runs on without them, and one warning says why."""

import warnings
from collections.abc import Callable
from typing import TypeVar

Made = TypeVar("Made")

_warned: set[tuple[str, str]] = set()


def attempt(what: str, name: str, make: Callable[[], Made]) -> Made | None:
    """Return what ``make()`` returns; None if it raises, with one warning per kind of failure.

    Parameters
    ----------
    what : str
        The optimization, in words that follow "numgrad could not".
    name : str
        The program or operator that is optimized.
    """
    try:
        return make()
    except Exception as error:
        kind = (what, type(error).__name__)
        if kind not in _warned:
            _warned.add(kind)
            warnings.warn(_message(what, name, error), RuntimeWarning, stacklevel=3)
        return None


def _message(what: str, name: str, error: Exception) -> str:
    lines = str(error).strip().splitlines() or [""]
    return (
        f"numgrad could not {what} ({name}): {type(error).__name__}: {lines[0]}. "
        f"Programs run without it, slower and with the same results; please report this"
    )
