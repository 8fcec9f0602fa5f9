"""Calls of BLAS and LAPACK routines by their Fortran interface; see `library`.

Code that all dtypes share gets the address of each routine as an argument, and calls it.
"""

from collections.abc import Sequence

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from ..compile.intrinsics import INT64, intrinsic
from ..compile.routines import COPY
from ..platform.object_loader import provide

_VOID = ir.VoidType()


def unit_bits(dtype: np.dtype, sign: int = 1) -> int:
    """Return the bits of 1, or -1, in the real dtype of ``dtype``, as an int64."""
    real = np.real(np.array(sign, dtype))
    return int(real.view(f"i{real.itemsize}"))


def caller(name: str, symbols: Sequence[str]):
    """Return an intrinsic that takes a tuple of words and passes them to the function ``name``.

    The function gets the address of each of the ``symbols`` as its first arguments, then the words.
    """

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
    """Call the routine at ``address``; each word is the address of an argument, as in Fortran."""

    def codegen(context, builder, signature, args):
        given = cgutils.unpack_tuple(builder, args[1], len(words))
        function_type = ir.FunctionType(_VOID, [INT64] * len(given))
        function = builder.inttoptr(args[0], function_type.as_pointer())
        builder.call(function, given)
        return context.get_dummy_value()

    return types.void(types.int64, words), codegen


@intrinsic
def by_address(typingctx, value):
    """Store an integer or a character on the stack; return the address, as Fortran takes arguments.
    """

    def codegen(context, builder, signature, args):
        slot = cgutils.alloca_once(builder, INT64)
        builder.store(args[0], slot)
        return builder.ptrtoint(slot, INT64)

    return types.int64(types.int64), codegen


@intrinsic
def copy_elements(typingctx, target, source, step, count, itemsize):
    """Copy ``count`` elements, ``step`` bytes apart from ``source`` on, to contiguous ``target``.

    LLVM is told the address of the copy routine first: Numba compiles the functions of a module one
    by one, and ends the process where a function that they call is unknown.
    """

    def codegen(context, builder, signature, args):
        provide([COPY])
        function_type = ir.FunctionType(_VOID, [INT64] * 5)
        function = cgutils.get_or_insert_function(builder.module, function_type, COPY)
        builder.call(function, args)
        return context.get_dummy_value()

    return types.void(*(types.int64,) * 5), codegen
