"""Intrinsics that kernels call instead of the functions of `numgrad.ir.pairwise`.

The loops over blocks and their bodies are written in LLVM code: to infer the types of such a loop,
Numba took longer than LLVM took for the whole kernel.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.np.arrayobj import make_array

from numgrad.ir import pairwise

from ..compile.intrinsics import intrinsic
from .codegen import BlockReduction
from .combine import INT64, JOININGS, load, size_of, store
from .rows import RowReduction
from .strided import MatrixReduction


def _whole(
    builder: ir.IRBuilder, reduction: BlockReduction, data: Any, size: Any, out: Any
) -> None:
    """Emit the reduction of all elements at ``data``, a block at a time."""
    block = reduction.block()

    def reduced(start: Any) -> Any:
        rest = builder.sub(size, start)
        is_less = builder.icmp_signed("<", rest, INT64(pairwise.BLOCK))
        count = builder.select(is_less, rest, INT64(pairwise.BLOCK))
        place = builder.gep(data, [builder.mul(start, INT64(reduction.parts))])
        return builder.call(block, [place, count])

    _joined(builder, reduction, reduced, size, pairwise.BLOCK, out)


def _parts(
    builder: ir.IRBuilder, reduction: BlockReduction, data: Any, size: Any, out: Any
) -> None:
    """Emit the reduction of the results of blocks; ``data`` has one element for each block."""

    def part(number: Any) -> Any:
        place = builder.gep(data, [builder.mul(number, INT64(reduction.parts))])
        return load(builder, place, reduction.real_result())

    _joined(builder, reduction, part, size, 1, out)


def _joined(
    builder: ir.IRBuilder, reduction: BlockReduction, part: Any, size: Any, step: int, out: Any
) -> None:
    """Emit a loop that joins ``part(0)``, ``part(step)`` and so on, and stores the result.

    The argument of ``part`` stays below ``size``. An empty sum is 0. A single part has no rounding
    error to make good.
    """
    joining = reduction.joining
    is_single = builder.icmp_unsigned("<", builder.sub(size, INT64(1)), INT64(step))
    with builder.if_else(is_single) as (single, several):
        with single:
            store(builder, joining.begin(builder, part(INT64(0)))[0], out)
        with several:
            _compensated(builder, reduction, part, size, step, out)


def _compensated(
    builder: ir.IRBuilder, reduction: BlockReduction, part: Any, size: Any, step: int, out: Any
) -> None:
    """Emit the loop of `_joined` over several parts, or none, which makes good rounding errors."""
    joining, kind = reduction.joining, reduction.real_result()
    total, loss = (cgutils.alloca_once(builder, kind) for _ in range(2))
    with builder.if_then(builder.icmp_signed(">", size, INT64(0))):
        _put(builder, joining.begin(builder, part(INT64(0))), total, loss)
        with cgutils.for_range_slice(builder, INT64(step), size, INT64(step)) as (start, _):
            state = builder.load(total), builder.load(loss)
            _put(builder, joining.add(builder, *state, part(start)), total, loss)
    store(builder, joining.end(builder, builder.load(total), builder.load(loss)), out)


def _put(builder: ir.IRBuilder, values: Sequence[Any], *places: Any) -> None:
    for value, place in zip(values, places, strict=True):
        builder.store(value, place)


def _reduction(function: Any, name: str, emit: Any) -> tuple[Any, Any]:
    """Return a function of `pairwise`, and the intrinsic that replaces the function in kernels.

    ``emit`` writes the body of the intrinsic.
    """

    def typing(typingctx: Any, x: Any, out: Any) -> Any:
        is_complex = isinstance(x.dtype, types.Complex)
        if not isinstance(x.dtype, types.Float) and (name != "sum" or not is_complex):
            raise TypingError(f"{name} by halves is not defined for {x}")

        def codegen(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
            source, result = (
                make_array(kind)(context, builder, value)
                for kind, value in zip((x, out), args, strict=True)
            )
            real = context.get_value_type(getattr(x.dtype, "underlying_float", x.dtype))
            data, target = (builder.bitcast(a.data, real.as_pointer()) for a in (source, result))
            shape, steps = (
                cgutils.unpack_tuple(builder, words, x.ndim)
                for words in (source.shape, source.strides)
            )
            emit(builder, name, real, 1 + is_complex, data, shape, steps, target)
            return context.get_dummy_value()

        return types.void(x, out), codegen

    typing.__name__ = typing.__qualname__ = function.__name__
    decorate: Any = intrinsic
    return function, decorate(typing)


def _of_elements(emit: Any) -> Any:
    """Return an emitter for `_reduction` that reduces a vector to one element."""

    def code(builder, name, real, parts, data, shape, steps, out):
        emit(
            builder, BlockReduction(builder, name, real, parts, JOININGS[name]), data, shape[0], out
        )

    return code


def _of_matrix(builder, name, real, parts, data, shape, steps, out):
    """Emit the reduction of all elements of a matrix; see `_reduction`."""
    reduction = BlockReduction(builder, name, real, parts, JOININGS[name])
    address = builder.ptrtoint(data, INT64)
    (rows, columns), (down, along) = shape, steps
    MatrixReduction(builder, reduction).emit(address, rows, columns, down, along, out)


def _of_rows(size: int) -> Any:
    """Return an emitter for `_reduction` that reduces each column of a matrix, ``size`` rows at a
    time.

    The rows may be in groups, an axis more, and any distance apart; the elements of a row follow
    one another.
    """

    def code(builder, name, real, parts, data, shape, steps, out):
        walk = RowReduction(builder, name, real, JOININGS[name]).walk(size)
        *groups, inner, columns = shape
        columns = builder.mul(columns, INT64(parts))  # a complex one is two
        apart = [builder.sdiv(step, INT64(size_of(real))) for step in steps[-2::-1]]
        rows = builder.mul(groups[0], inner) if groups else inner
        builder.call(walk, [data, apart[0], apart[-1], inner, rows, columns, out])

    return code


STAND_INS = dict(
    _reduction(functions[name], name, emit)
    for functions, emit in (
        (pairwise.REDUCE, _of_elements(_whole)),
        (pairwise.REDUCE_MATRIX, _of_matrix),
        (pairwise.JOIN, _of_elements(_parts)),
        (pairwise.REDUCE_ROWS, _of_rows(pairwise.BLOCK)),
        (pairwise.REDUCE_ROW_GROUPS, _of_rows(pairwise.BLOCK)),
        (pairwise.JOIN_ROWS, _of_rows(pairwise.LEAVES)),
    )
    for name in functions
)
