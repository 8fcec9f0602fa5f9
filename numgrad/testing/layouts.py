"""Arrays of equal elements in other layouts: strided, reversed, broadcast, read-only."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

Change = Callable[[np.ndarray], np.ndarray]


def strided(array: np.ndarray) -> np.ndarray:
    """Return a copy that lies in an array of twice the length, in every second element."""
    return np.repeat(array, 2, -1)[..., ::2] if array.ndim else np.array([array, array])[1]


def reversed_(array: np.ndarray) -> np.ndarray:
    """Return a copy that is stored from the last element to the first."""
    everything = (slice(None, None, -1),) * array.ndim
    return np.ascontiguousarray(array[everything])[everything]


def transposed(array: np.ndarray) -> np.ndarray:
    """Return a copy in Fortran's order."""
    return np.asfortranarray(array)


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a copy that is not writeable."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy


def shifted(array: np.ndarray) -> np.ndarray:
    """Return a copy at an address that is not aligned to vector registers."""
    memory = np.empty(array.size + 1, array.dtype)[1:]
    memory[:] = array.reshape(-1)
    return memory.reshape(array.shape)


CHANGES: dict[str, Change] = {
    "strided": strided,
    "reversed": reversed_,
    "transposed": transposed,
    "read-only": read_only,
    "shifted": shifted,
}


def layouts(
    arrays: Sequence[np.ndarray],
) -> Iterator[tuple[str, list[np.ndarray], list[np.ndarray]]]:
    """Yield for each layout its name, arrays in C order, and equal arrays in this layout.

    The arrays of the layout ``broadcast`` repeat their first elements, so these numbers are others.
    """
    plain = [np.array(a, order="C") for a in arrays]
    for name, change in CHANGES.items():
        yield name, plain, [change(a) for a in plain]
    flat = [broadcastable(a) for a in plain]
    yield "broadcast", [np.ascontiguousarray(a).reshape(a.shape) for a in flat], flat


def broadcastable(array: np.ndarray) -> np.ndarray:
    """Return an array of the same shape in which the first elements of the last axis are repeated.

    The repetition has the stride 0.
    """
    return np.broadcast_to(array[..., :1], array.shape) if array.ndim and array.size else array
