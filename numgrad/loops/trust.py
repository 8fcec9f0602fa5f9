"""What is said about a derived adjoint when it is made: see ``_adjoint.trust``."""

from collections.abc import Sequence
from typing import Any

from .._settings import settings


def trust(derived: Any, flat: Sequence[Any]) -> None:
    """Warn of arguments that are only compared; in debug mode compare with a difference.

    Parameters
    ----------
    derived : Derived
    flat : sequence
        The arrays and numbers of the first call.
    """
    from .._adjoint.kernel import run
    from .._adjoint.trust import warn_of_comparisons, warn_of_difference

    warn_of_comparisons(derived)
    if settings.debug:
        warn_of_difference(derived, flat, run)
