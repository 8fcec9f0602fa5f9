"""The measurements that the main job fits."""

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pelts", "load_pelts"]


@dataclass(frozen=True, slots=True)
class Pelts:
    """Yearly fur returns: ``hare`` and ``lynx`` in thousands of pelts, one entry per year."""

    years: NDArray[np.int64]
    hare: NDArray[np.float64]
    lynx: NDArray[np.float64]

    @property
    def populations(self) -> NDArray[np.float64]:
        """One row per year: hare, lynx."""
        return np.stack([self.hare, self.lynx], axis=1)


def load_pelts() -> Pelts:
    """Hare and lynx pelts traded by the Hudson's Bay Company, 1900-1920.

    Returns
    -------
    Pelts
        Twenty-one yearly pairs, in thousands of pelts.

    Examples
    --------
    >>> from numgrad.data import load_pelts
    >>> pelts = load_pelts()
    >>> pelts.years.size, float(pelts.hare[0]), float(pelts.lynx[0])
    (21, 30.0, 4.0)
    """
    with (files(__name__) / "pelts.csv").open(encoding="utf-8") as lines:
        table = np.genfromtxt(lines, delimiter=",", skip_header=2, names=True)
    return Pelts(table["year"].astype(np.int64), table["hare"].copy(), table["lynx"].copy())


def __dir__() -> list[str]:
    return __all__
