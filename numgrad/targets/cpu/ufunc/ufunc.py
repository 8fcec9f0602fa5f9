"""Kernels as NumPy ufuncs.

NumPy calls one loop function, the trampoline, for all kernels; the ``data`` that a ufunc passes to
the loop function has the kernel's address. Afterwards the trampoline clears the floating-point
status flags, so that NumPy does not warn: a derivative may well be infinite.
"""

import ctypes
import importlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..compile import routines
from ..platform.capsules import address_of

# Position of PyUFunc_FromFuncAndDataAndSignature in NumPy's table of functions for ufuncs, which is
# part of its ABI, and the argument that means "no identity".
_FROM_FUNCTION, _NO_IDENTITY = 31, -1


class KernelUfunc:
    """The ufunc of one kernel, and two words of data: the kernel's address, and its status.

    Parameters
    ----------
    name : str
        The name of the ufunc.
    address : int
        The address of the kernel.
    in_dtypes, out_dtypes : sequences of dtypes
    signature : str or None
        Core dimensions of a gufunc.
    """

    __slots__ = ("_kept", "data", "ufunc")

    def __init__(
        self,
        name: str,
        address: int,
        in_dtypes: Sequence[np.dtype],
        out_dtypes: Sequence[np.dtype],
        signature: str | None = None,
    ) -> None:
        self.data = np.array([address, 0], np.int64)
        dtypes = (*in_dtypes, *out_dtypes)
        # NumPy keeps pointers to all of this.
        self._kept = functions, data, numbers, text, doc, core = (
            (ctypes.c_void_p * 1)(routines.address_of("ufunc.ufunc_loop", "trampoline")),
            (ctypes.c_void_p * 1)(self.data.ctypes.data),
            bytes([dtype.num for dtype in dtypes]),
            name.encode(),
            f"Kernel of {name}.".encode(),
            signature.encode() if signature else None,
        )
        self.ufunc: np.ufunc = _new_ufunc()(
            functions, data, numbers, 1, len(in_dtypes), len(out_dtypes), _NO_IDENTITY, text, doc,
            0, core,
        )  # fmt: skip

    def take_status(self) -> int:
        """Return the last status other than 0 that the kernel reported, and clear it."""
        status = int(self.data[1])
        if status:
            self.data[1] = 0
        return status


@cache
def _new_ufunc() -> Callable[..., Any]:
    """Return NumPy's C function that makes a ufunc of a loop function."""
    numpy: Any = importlib.import_module("numpy._core._multiarray_umath")
    table = (ctypes.c_void_p * (_FROM_FUNCTION + 1)).from_address(address_of(numpy._UFUNC_API))
    kinds = (
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, *[ctypes.c_int] * 4, ctypes.c_char_p,
        ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p,
    )  # fmt: skip
    address: Any = table[_FROM_FUNCTION]
    return ctypes.PYFUNCTYPE(ctypes.py_object, *kinds)(address)
