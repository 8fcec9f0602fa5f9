"""What SciPy's linear algebra takes beside its operands and asks nothing of numgrad."""

from collections.abc import Mapping
from typing import Any, TypedDict


class Hints(TypedDict, total=False):
    """Parameters of `scipy.linalg` that do not change a result: nothing is overwritten, and
    elements are not checked to be finite."""

    overwrite_a: bool
    overwrite_b: bool
    check_finite: bool
    driver: str | None
    lapack_driver: str | None
    lwork: int | None


def require_hints(hints: Mapping[str, Any], called: str) -> None:
    """Raise ``TypeError`` for a parameter that is none of `Hints`."""
    for name in hints.keys() - Hints.__annotations__.keys():
        raise TypeError(f"{called}() got an unexpected keyword argument {name!r}")
