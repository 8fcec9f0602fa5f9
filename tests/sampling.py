"""Cases of which a few run at each change, and all of them with ``python -m pytest -m exhaustive``
and ``python -m pytest``, one after the other."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

exhaustive = pytest.mark.exhaustive


def one_in(count: int, cases: Iterable[Any], first: int = 0) -> Sequence[Any]:
    """Return all cases for a parametrization; every ``count``-th is run at each change, from number
    ``first % count`` on, and the others are marked as exhaustive."""
    return list(_marked(count, cases, first % count))


def _marked(count: int, cases: Iterable[Any], first: int) -> Iterator[Any]:
    for n, case in enumerate(cases):
        if n % count == first:
            yield case
        elif hasattr(case, "marks"):
            yield pytest.param(*case.values, id=case.id, marks=[*case.marks, exhaustive])
        else:
            yield pytest.param(case, marks=exhaustive)
