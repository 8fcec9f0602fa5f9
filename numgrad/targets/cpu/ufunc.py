"""Kernels as NumPy ufuncs.

NumPy calls one loop function, the trampoline, for all kernels; the loop's ``data`` says which one.
Afterwards the trampoline clears the floating-point status flags, so that NumPy warns about nothing:
a derivative may well be infinite.
"""

import platform
from collections.abc import Sequence
from functools import cache

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.np.ufunc import (
    _internal,  # pyright: ignore[reportAttributeAccessIssue]  an extension without stubs
)

from .compiler import load_or_compile
from .intrinsics import call_kernel, intrinsic, load_word, stack_words, store_word

_X86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686", "x86")
_ALL_EXCEPTIONS = 0x3F if _X86 else 0x1F


class Door:
    """The ufunc of one kernel, and the words through which the kernel is found and reports.

    Parameters
    ----------
    name : str
        Of the ufunc.
    address : int
        Of the kernel.
    in_dtypes, out_dtypes : sequences of dtypes
    signature : str or None
        Core dimensions of a gufunc.
    """

    __slots__ = ("data", "ufunc")

    def __init__(
        self,
        name: str,
        address: int,
        in_dtypes: Sequence[np.dtype],
        out_dtypes: Sequence[np.dtype],
        signature: str | None = None,
    ) -> None:
        self.data = np.array([address, 0], np.int64)
        numbers = [dtype.num for dtype in (*in_dtypes, *out_dtypes)]
        extra = (signature,) if signature else ()
        self.ufunc = _internal.fromfunc(
            name, f"Kernel of {name}.", [_trampoline()], [numbers], len(in_dtypes), len(out_dtypes),
            [self.data.ctypes.data], [self.data], _internal.PyUFunc_None, *extra,
        )  # fmt: skip

    def take_status(self) -> int:
        """Return what the kernel reported last, and clear it."""
        status = int(self.data[1])
        if status:
            self.data[1] = 0
        return status


@cache
def _trampoline() -> int:
    return load_or_compile(trampoline, (types.int64,) * 4, (_ALL_EXCEPTIONS,))


def trampoline(args, dims, steps, data):
    """NumPy's loop function: ``void(char** args, intp* dims, intp* steps, void* data)``."""
    status = stack_words(1)
    store_word(status, 0, 0)
    call_kernel(load_word(data, 0), args, load_word(dims, 0), dims + 8, steps, status)
    if load_word(status, 0) != 0:
        store_word(data, 1, load_word(status, 0))
    clear_float_status()


@intrinsic
def clear_float_status(typingctx):
    """Clear the sticky floating-point exception flags of this thread."""

    def codegen(context, builder, signature, args):
        (_clear_mxcsr if _X86 else _call_feclearexcept)(builder)
        return context.get_dummy_value()

    return types.void(), codegen


def _clear_mxcsr(builder: ir.IRBuilder) -> None:
    """Write the control register only when a flag is set: the write costs more than the test."""
    word = ir.IntType(32)
    slot = builder.alloca(word)
    kind = ir.IntType(8).as_pointer()
    pointer = builder.bitcast(slot, kind)
    access = ir.FunctionType(ir.VoidType(), [kind])
    read, write = (
        ir.Function(builder.module, access, f"llvm.x86.sse.{name}")
        for name in ("stmxcsr", "ldmxcsr")
    )
    builder.call(read, [pointer])
    value = builder.load(slot)
    raised = builder.and_(value, ir.Constant(word, _ALL_EXCEPTIONS))
    with builder.if_then(builder.icmp_unsigned("!=", raised, ir.Constant(word, 0))):
        builder.store(builder.xor(value, raised), slot)
        builder.call(write, [pointer])


def _call_feclearexcept(builder: ir.IRBuilder) -> None:
    word = ir.IntType(32)
    function = ir.Function(builder.module, ir.FunctionType(word, [word]), "feclearexcept")
    builder.call(function, [ir.Constant(word, _ALL_EXCEPTIONS)])
