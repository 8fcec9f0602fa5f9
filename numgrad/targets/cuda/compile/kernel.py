"""CUDA kernels before they are compiled: a text, and the functions that the text names.

The same text is compiled for a GPU and run in Numba's simulator. An elementwise kernel gets its
operands as typed pointers, each followed by strides in elements. A kernel around a core function
gets arrays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...._errors import DeviceError


class Pointer(NamedTuple):
    """A parameter of a kernel that is the address of an element of a dtype."""

    dtype: np.dtype


class Word(NamedTuple):
    """A parameter of a kernel that is an integer of so many bits: a length, stride or index."""

    bits: int = 64


class Number(NamedTuple):
    """A parameter of a kernel that is a floating number of a dtype."""

    dtype: np.dtype


class Array(NamedTuple):
    """A parameter of a kernel that is an array of any strides."""

    dtype: np.dtype
    ndim: int
    is_written: bool = False


Parameter = Pointer | Word | Number | Array


class Function(NamedTuple):
    """A function that a kernel calls.

    Attributes
    ----------
    function : callable
        A plain Python function, or a dispatcher of Numba, of which the plain function is taken.
    real : dtype or None
        The dtype of float literals; None for a core function, which is compiled as it stands.
    is_complex : bool
        Whether the name ``math`` in the function means functions of complex numbers.
    dtype : dtype or None
        The dtype of a core function's first operand, in which reductions by halves are computed;
        None for a scalar function.
    """

    function: Callable[..., Any]
    real: np.dtype | None = None
    is_complex: bool = False
    dtype: np.dtype | None = None


@dataclass(frozen=True)
class Kernel:
    """A kernel as Python source, before it is compiled.

    Attributes
    ----------
    name : str
        The name of the operator, for errors and profiles.
    text : str
        Python source of a function ``kernel``; it names ``cuda`` and the names of ``scope``.
    parameters : tuple
        The types of the kernel's parameters.
    scope : dict
        The functions and constants that the text names.
    threads : int or None
        The threads of a block, if the kernel depends on their number.
    multiply_adds : bool
        Whether a product and the sum behind it are rounded once, as in products of matrices.
        Elsewhere they are rounded one by one, so that a fused kernel has the bits of its operators
        run separately.
    """

    name: str
    text: str
    parameters: tuple[Parameter, ...]
    scope: dict[str, Any] = field(default_factory=dict)
    threads: int | None = None
    multiply_adds: bool = False


def in_elements(strides: Sequence[int], size: int) -> list[int]:
    """Return strides in bytes as strides in elements of ``size`` bytes.

    Raises
    ------
    DeviceError
        If a stride is no multiple of the size.
    """
    if any(stride % size for stride in strides):
        raise DeviceError(
            f"on a device elements of {size} bytes cannot be {strides} bytes apart; copy the array "
            f"before, with np.ascontiguousarray"
        )
    return [stride // size for stride in strides]
