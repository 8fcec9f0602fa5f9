"""BLAS and LAPACK routines for kernels, by their Fortran interface, from the library that SciPy
carries.

The routines are made known to LLVM under names of our own, so that a kernel on disk refers to them
by name. Code that is common to the four dtypes calls them by address.
"""

import ctypes
import importlib
from collections.abc import Sequence

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import get_cython_function_address

from .intrinsics import INT64, intrinsic
from .routines import COPY

LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_REAL = {"s": "s", "d": "d", "c": "s", "z": "d"}
_BLAS = frozenset(("gemm", "trsm", "swap", "scal"))
_VOID = ir.VoidType()


def symbol(dtype: np.dtype, routine: str, real: bool = False) -> str:
    """Return the symbol of a routine for a dtype (for its real part), after making it known to
    LLVM.

    Raises
    ------
    ImportError
        If SciPy's library has 64-bit sizes, which kernels do not pass.
    """
    letter = LETTERS[dtype.name]
    name = (_REAL[letter] if real else letter) + routine
    alias = "numgrad_fortran_" + name
    if llvm.address_of_symbol(alias) is None:
        module = "scipy.linalg.cython_" + ("blas" if routine in _BLAS else "lapack")
        capsule = importlib.import_module(module).__pyx_capi__[name]
        if b"int *" not in _description(capsule):
            raise ImportError(
                f"{module} was built with 64-bit integers, which numgrad does not support"
            )
        llvm.add_symbol(alias, get_cython_function_address(module, name))
    return alias


def _description(capsule: object) -> bytes:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return name(capsule)


def unit_bits(dtype: np.dtype, sign: int = 1) -> int:
    """Return the bits of 1, or -1, in the real dtype of ``dtype``, as an int64."""
    real = np.real(np.array(sign, dtype))
    return int(real.view(f"i{real.itemsize}"))


def caller(name: str, symbols: Sequence[str]):
    """Return an intrinsic that calls ``name(address of each symbol..., word of a tuple...)``."""

    @intrinsic
    def call(typingctx, words):
        def codegen(context, builder, signature, args):
            given = cgutils.unpack_tuple(builder, args[0], len(words))
            function_type = ir.FunctionType(_VOID, [INT64] * (len(symbols) + len(given)))
            function = cgutils.get_or_insert_function(builder.module, function_type, name)
            unknown = ir.FunctionType(_VOID, [])
            addresses = [
                builder.ptrtoint(cgutils.get_or_insert_function(builder.module, unknown, s), INT64)
                for s in symbols
            ]
            builder.call(function, [*addresses, *given])
            return context.get_dummy_value()

        return types.void(words), codegen

    return call


@intrinsic
def call_fortran(typingctx, address, words):
    """Call the routine at ``address`` with arguments that are addresses themselves."""

    def codegen(context, builder, signature, args):
        given = cgutils.unpack_tuple(builder, args[1], len(words))
        function_type = ir.FunctionType(_VOID, [INT64] * len(given))
        function = builder.inttoptr(args[0], function_type.as_pointer())
        builder.call(function, given)
        return context.get_dummy_value()

    return types.void(types.int64, words), codegen


@intrinsic
def by_address(typingctx, value):
    """Put an integer or a character on the stack and return its address, as Fortran wants it."""

    def codegen(context, builder, signature, args):
        slot = cgutils.alloca_once(builder, INT64)
        builder.store(args[0], slot)
        return builder.ptrtoint(slot, INT64)

    return types.int64(types.int64), codegen


@intrinsic
def copy_elements(typingctx, target, source, step, count, itemsize):
    """Copy ``count`` elements that are ``step`` bytes apart to contiguous memory."""

    def codegen(context, builder, signature, args):
        function_type = ir.FunctionType(_VOID, [INT64] * 5)
        function = cgutils.get_or_insert_function(builder.module, function_type, COPY)
        builder.call(function, args)
        return context.get_dummy_value()

    return types.void(*(types.int64,) * 5), codegen
