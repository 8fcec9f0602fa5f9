"""The LLVM code of operators that chains call: scalar functions on vectors in registers."""

from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils
from numba.core.registry import cpu_target

from . import generate
from .building import Memory, counted_loop, independent_accesses, word
from .compiler import Code
from .emit import target_machine
from .fused import Scalar
from .intrinsics import INT64
from .joining import call_scalar, optimise
from .objects import code_of, internalise
from .vectors import vector_bytes


def emit_vector(one: Scalar, symbol: str) -> Code:
    """Compile ``vector(vector..., status)`` of a scalar function.

    Vectors pass through memory on the stack as far as this code says. There is one iteration of the
    vectorised loop, so that LLVM keeps them in registers.
    """
    context: Any = cpu_target.target_context  # a property of Numba's own kind
    dtype = one.spec.out_dtypes[0]
    memory = Memory(context, generate.numba_types([dtype])[0])
    count = vector_bytes() // dtype.itemsize
    vector = ir.VectorType(memory.data_type, count)
    kind = ir.FunctionType(vector, [*[vector] * len(one.spec.in_dtypes), INT64])
    module = context.codegen()._create_empty_module(symbol)
    function = ir.Function(module, kind, symbol)
    builder: Any = ir.IRBuilder(function.append_basic_block("entry"))
    *vectors, status = function.args
    *given, made = [_scratch(builder, vector) for _ in function.args]
    for value, place in zip(vectors, given, strict=True):
        builder.store(value, place)
    places = [builder.bitcast(p, memory.data_type.as_pointer()) for p in (*given, made)]
    group, loop_id = independent_accesses(module, 1)
    with counted_loop(builder, word(count), loop_id) as index:
        values = [memory.read(builder, builder.gep(p, [index]), group) for p in places[:-1]]
        (result,) = call_scalar(one, builder, context, [*values, index, status])
        memory.write(builder, result, builder.gep(places[-1], [index]), group)
    builder.ret(builder.load(made))
    linked = llvm.parse_assembly(cgutils.normalize_ir_text(str(module)))
    linked.link_in(llvm.parse_bitcode(one.bit_code))
    internalise((*linked.functions, *linked.global_variables), (symbol,))
    optimise(linked)
    return code_of(target_machine(), linked, symbol)


def _scratch(builder: Any, kind: ir.Type) -> ir.Value:
    space = builder.alloca(kind)
    space.align = 64
    return space
