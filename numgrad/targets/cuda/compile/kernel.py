"""CUDA kernels before they are compiled: a text, and the functions that it names.

The same text is compiled for a GPU and run in Numba's simulator. Operands of elementwise kernels
are typed pointers, with strides in elements beside them; those of core functions are arrays.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...._errors import DeviceError


class Pointer(NamedTuple):
    """A parameter that is the address of an element."""

    dtype: np.dtype


class Word(NamedTuple):
    """A parameter that is a number: a length, a stride or an index of so many bits."""

    bits: int = 64


class Array(NamedTuple):
    """A parameter that is an array of any strides."""

    dtype: np.dtype
    ndim: int
    is_written: bool = False


Parameter = Pointer | Word | Array


class Function(NamedTuple):
    """A function that a kernel calls.

    Attributes
    ----------
    function : callable
        A plain function, or a dispatcher, whose plain function is taken.
    real : dtype or None
        The dtype of float literals; None for a core function, which is compiled as it stands.
    is_complex : bool
        Whether ``math`` means functions of complex numbers.
    dtype : dtype or None
        The dtype of a core function's first operand, for reductions by halves.
    """

    function: Callable[..., Any]
    real: np.dtype | None = None
    is_complex: bool = False
    dtype: np.dtype | None = None


@dataclass(frozen=True)
class Kernel:
    """A kernel as text.

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
        Threads of a block, if the kernel depends on their number.
    multiply_adds : bool
        Whether a product and the following sum are rounded once, as in products of matrices. In
        other kernels a fused kernel would then differ in bits from its operations one by one.
    """

    name: str
    text: str
    parameters: tuple[Parameter, ...]
    scope: dict[str, Any] = field(default_factory=dict)
    threads: int | None = None
    multiply_adds: bool = False


def in_elements(strides: Sequence[int], size: int) -> list[int]:
    """Return strides counted in elements of ``size`` bytes."""
    if any(stride % size for stride in strides):
        raise DeviceError(
            f"on a device elements of {size} bytes cannot be {strides} bytes apart; copy the array "
            f"before, with np.ascontiguousarray"
        )
    return [stride // size for stride in strides]
