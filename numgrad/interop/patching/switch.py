"""Which of SciPy's calls numgrad answers: those that SciPy refuses, all with a tensor, or none."""

from threading import RLock

from ..._settings import on_change, settings
from . import arrival

_lock = RLock()


class Switch:
    """What functions of SciPy do with tensors.

    Attributes
    ----------
    is_on : bool
        The counterpart answers where SciPy would refuse a tensor, or has refused one.
    takes_constants : bool
        It also answers for tensors without gradients, which SciPy takes as arrays.
    patches : int
        How many patches are in force.
    """

    is_on = False
    takes_constants = False
    patches = 0


def follow() -> None:
    """Do as the flag ``scipy`` and the patches in force say."""
    with _lock:
        is_on, Switch.takes_constants = _is_wanted(), Switch.patches > 0
        if is_on == Switch.is_on:
            return
        Switch.is_on = False
        if is_on:
            arrival.watch()
            Switch.is_on = True
        else:
            arrival.leave()


def count(change: int) -> None:
    """Add to the number of patches."""
    with _lock:
        Switch.patches += change
        follow()


def _is_wanted() -> bool:
    return settings.scipy == "auto" or Switch.patches > 0


def begin() -> None:
    """Begin to follow the flag."""
    follow()
    on_change(follow)
