"""The loop function that NumPy calls for all kernels."""

import platform

from llvmlite import ir
from numba.core import types

from ..compile.intrinsics import call_function, intrinsic, load_word, stack_words, store_word

_X86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686", "x86")
_ALL_EXCEPTIONS = 0x3F if _X86 else 0x1F


def trampoline(args, dims, steps, data):
    """Call the kernel whose address is in ``data``, and note its status there if that is not 0.

    NumPy calls this loop function as ``void(char** args, intp* dims, intp* steps, void* data)``.
    """
    status = stack_words(1)
    store_word(status, 0, 0)
    call_function(load_word(data, 0), (args, load_word(dims, 0), dims + 8, steps, status))
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
    """Emit code that clears the flags in x86's register MXCSR if one is set.

    To write the register costs more than to test its flags.
    """
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
