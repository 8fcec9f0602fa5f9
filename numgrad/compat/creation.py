"""How paddle's examples make their tensors, and the block in which those of paddle 1.8 run."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from .._errors import ArgTypeError
from .._tensor import Tensor, tensor
from ..functions.creation import constants


def to_tensor(
    data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True
) -> Tensor:
    """Stand for ``paddle.to_tensor``.

    Parameters
    ----------
    data : array_like
    dtype : dtype, optional
        That of the data by default; float32 for numbers of Python that are no integers.
    place : None
        There is one place, the processor; anything else is refused.
    stop_gradient : bool
        The opposite of ``requires_grad``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.compat.paddle.to_tensor([1, 2], dtype="float32", stop_gradient=False).requires_grad
    True
    """
    _refuse(place=place)
    if dtype is None and not hasattr(data, "dtype") and np.asarray(data).dtype == np.float64:
        dtype = np.float32
    return tensor(data, dtype=dtype, requires_grad=not stop_gradient)


def ones(shape: Sequence[int], dtype: Any = None, out: Any = None, device: Any = None) -> Tensor:
    """Stand for ``paddle.ones``, of paddle 1.8 too.

    Parameters
    ----------
    shape : sequence of int
    dtype : dtype, optional
        By default float32.
    out, device : None
        Anything else is refused.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.compat.paddle.ones(shape=[2], dtype="float32").tolist()
    [1.0, 1.0]
    """
    _refuse(out=out, device=device)
    return constants.ones(shape, dtype=np.float32 if dtype is None else dtype)


def guard(place: Any = None) -> AbstractContextManager[None]:
    """Return a block that does nothing: numgrad is imperative everywhere."""
    _refuse(place=place)
    return nullcontext()


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ArgTypeError(
                f"{name}= is not supported here; leave it out, or call numgrad's own"
            )
