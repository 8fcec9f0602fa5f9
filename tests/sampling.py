"""Cases of which a few run at each change, and all of them with ``python -m pytest -m exhaustive``
and ``python -m pytest``, one after the other."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

exhaustive = pytest.mark.exhaustive


def one_in(count: int, cases: Iterable[Any]) -> Sequence[Any]:
    """Return all cases for a parametrization; those between are marked as exhaustive."""
    return list(_marked(count, cases))


def _marked(count: int, cases: Iterable[Any]) -> Iterator[Any]:
    for n, case in enumerate(cases):
        if n % count == 0:
            yield case
        elif hasattr(case, "marks"):
            yield pytest.param(*case.values, id=case.id, marks=[*case.marks, exhaustive])
        else:
            yield pytest.param(case, marks=exhaustive)
