"""Kernels that call inner loops of NumPy's universal functions, by address.

To call a function of whole arrays in Python takes tens of microseconds; a short Fourier transform
takes one. Where a `HostSpec` names an equivalent universal function, and NumPy's object has the
form described in NumPy's headers, a kernel calls the loop that NumPy would call; otherwise the
kernel calls the function.
"""

import ctypes
import importlib
import sys
import threading
from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np
from llvmlite import binding as llvm

from ....ir.kernel_spec import HostSpec, RawSpec
from ....ir.memory_order import empty_laid_like
from ....ir.program import Pattern
from ..compile.compiler import Code, join_keys, obtain
from ..compile.routines import NUMPY_LOOP
from ..platform import object_loader
from .ufunc import KernelUfunc

MANY_ELEMENTS = 1 << 14
"""The fewest elements of the results of a call that releases the GIL."""

_PREFIX = "numgrad_numpy_loop:"
_PYTHON = (
    "PyGILState_Ensure", "PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_Occurred",
    "PyErr_Clear", "PyGILState_Release",
)  # fmt: skip


class _Header(ctypes.Structure):
    """The fields of a universal function that follow the head of its object.

    NumPy's ``ufuncobject.h`` declares them.
    """

    _fields_ = (
        *[(name, ctypes.c_int) for name in ("nin", "nout", "nargs", "identity")],
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.c_void_p),
    )


class NumPyLoop:
    """A loop of a universal function of NumPy as a kernel, with the attributes of a `Kernel`.

    Parameters
    ----------
    spec : HostSpec
        Names the universal function, and the length of its results.
    address : int
        The address of the kernel.
    """

    rows_address = 0

    def __init__(self, spec: HostSpec, address: int) -> None:
        self.spec, self.name, self.address = spec, spec.name, address
        self.nin, self.nout = len(spec.in_dtypes), len(spec.out_dtypes)

    def call(self, *arrays: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the result, in the memory order of the first array, and a status: 1 if the loop
        could not allocate memory, else 0."""
        assert self.spec.loop is not None
        (dtype,) = self.spec.out_dtypes
        shape = (*arrays[0].shape[:-1], self.spec.loop.size)
        result = empty_laid_like(shape, dtype, arrays[0])
        kernel_ufunc = self._kernel_ufunc()
        kernel_ufunc.ufunc(*arrays, result)
        return result, kernel_ufunc.take_status()

    def again(self, cores: Sequence[np.ndarray]) -> None:
        """Call the spec's function for the element at which the loop stopped, to raise its error.

        If the function does not raise now, a `MemoryError` is raised.
        """
        self.spec.function(*cores, **dict(self.spec.options))
        raise MemoryError(f"no memory for {self.name} of {cores[0].shape[-1]} elements")

    def _kernel_ufunc(self) -> KernelUfunc:
        """Return this thread's universal function that calls the kernel."""
        kernel_ufuncs = _own.__dict__
        kernel_ufunc = kernel_ufuncs.get(str(self.address))
        if kernel_ufunc is None:
            spec = self.spec
            made = KernelUfunc(
                self.name, self.address, spec.in_dtypes, spec.out_dtypes, spec.signature
            )
            kernel_ufunc = kernel_ufuncs[str(self.address)] = made
        return kernel_ufunc


_own = threading.local()


def find(spec: HostSpec) -> NumPyLoop | None:
    """Return the kernel that calls the NumPy loop that a spec names; None where there is none."""
    loop = spec.loop
    if loop is None:
        return None
    characters = "".join([dtype.char for dtype in (*spec.in_dtypes, *spec.out_dtypes)])
    alias = f"{_PREFIX}{loop.module}:{loop.name}:{characters}"
    if _table(alias) is None:
        return None
    itemsize = spec.out_dtypes[0].itemsize
    key = join_keys((), repr(("numpy loop", alias, itemsize)))

    def compiled() -> Code | int:
        from ..codegen.object_files import compile_object
        from ..compile.intrinsics import KERNEL_ARGS

        return compile_object(_raw(alias, itemsize).function, KERNEL_ARGS, key)

    return NumPyLoop(spec, obtain(key, compiled))


def _raw(alias: str, itemsize: int) -> RawSpec:
    from ..linalg.fortran import caller

    call = caller(NUMPY_LOOP, (alias,))

    def kernel(ptrs, n, core_dims, steps, status):
        call((itemsize, ptrs, n, core_dims, steps, status))

    return RawSpec("numpy_loop", kernel, (alias, itemsize))


def may_release_lock(pattern: Pattern, rows: int) -> bool:
    """Whether an instruction may release the GIL, so that other threads run Python meanwhile.

    An instruction that calls Python may do so, and one that takes long.
    """
    if not isinstance(pattern.spec, HostSpec):
        return False
    if not isinstance(pattern.kernel, NumPyLoop):
        return True
    return prod(pattern.loop) * max(pattern.core, default=1) * rows >= MANY_ELEMENTS


# The loops ----------------------------------------------------------------------------------------


@cache
def _table(alias: str) -> np.ndarray | None:
    """Return the addresses of a loop, of its data and of CPython's functions, for `call_loop`.

    None stands for no such loop. ``alias`` has the names of the module and of the universal
    function, and the characters of the dtypes.
    """
    module, name, characters = alias.removeprefix(_PREFIX).split(":")
    try:
        ufunc = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None
    found = _loop_of(ufunc, characters)
    if found is None:
        return None
    python = [ctypes.cast(getattr(ctypes.pythonapi, f), ctypes.c_void_p).value for f in _PYTHON]
    return np.array([*found, *python], np.uint64).view(np.int64)


def _loop_of(ufunc: Any, characters: str) -> tuple[int, int] | None:
    """Return the address of a universal function's loop for some dtypes, and of the loop's data.

    The result is None unless the object's memory, read by NumPy's headers, agrees with the object's
    attributes.
    """
    has_lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    if not (isinstance(ufunc, np.ufunc) and sys.implementation.name == "cpython" and has_lock):
        return None
    header = _Header.from_address(id(ufunc) + object.__basicsize__)
    counts = ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes
    if (header.nin, header.nout, header.nargs, header.ntypes) != counts:
        return None
    if not (header.functions and header.name and header.types):
        return None
    texts = [text.replace("->", "") for text in ufunc.types]
    numbers = bytes([np.dtype(character).num for text in texts for character in text])
    if header.name.decode() != ufunc.__name__ or characters not in texts:
        return None
    if ctypes.string_at(header.types, len(numbers)) != numbers:
        return None
    place = texts.index(characters)
    function = header.functions[place]
    data = header.data[place] if header.data else None
    return None if function is None else (function, data or 0)


def _provide(aliases: list[str]) -> None:
    """Tell LLVM the addresses of the tables that these names stand for."""
    for alias in aliases:
        table = _table(alias) if alias.startswith(_PREFIX) else None
        if table is not None:
            llvm.add_symbol(alias, table.ctypes.data)


object_loader.add_symbol_provider(_provide, lambda name: name.startswith(_PREFIX))
