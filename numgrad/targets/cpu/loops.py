"""LLVM code of kernels around a core function in the convention of `numba.guvectorize`."""

import re
from collections.abc import Sequence

from llvmlite import ir
from numba.core import types
from numba.np.arrayobj import make_array, populate_array

from .elementwise import Memory, counted_loop, table_word, word
from .emit import Callee
from .intrinsics import INT64

NOT_CONTIGUOUS = -1
"""Status of a kernel that was given an operand whose core dimensions are not C-contiguous."""


def core_dimensions(signature: str) -> list[tuple[str, ...]]:
    """Names of the core dimensions of each operand, inputs then outputs.

    >>> core_dimensions("(m,k),(k)->(m)")
    [('m', 'k'), ('k',), ('m',)]
    """
    groups = re.findall(r"\(([^)]*)\)", signature)
    return [tuple(name.strip() for name in group.split(",") if name.strip()) for group in groups]


def argument_types(
    dtypes: Sequence[types.Type], cores: Sequence[tuple[str, ...]], nin: int, scalars: bool
) -> list[types.Type]:
    """Numba types of a core function's parameters: scalars by value, the rest as C arrays."""
    return [
        dtype
        if scalars and not core and index < nin
        else types.Array(dtype, max(len(core), 1), "C")
        for index, (dtype, core) in enumerate(zip(dtypes, cores, strict=True))
    ]


class CoreLoop:
    """Emits the body of a kernel that calls a core function once per element of the loop.

    Parameters
    ----------
    callee : Callee
        The compiled core function.
    dtypes : sequence of numba types
        Of the operands, inputs then outputs.
    cores : sequence of tuples of str
        Their core dimensions.
    """

    def __init__(self, callee: Callee, dtypes, cores) -> None:
        self.callee = callee
        self.context = callee.context
        self.memories = [Memory(self.context, dtype) for dtype in dtypes]
        self.cores = list(cores)
        self.names = list(dict.fromkeys(name for core in self.cores for name in core))

    def emit(self, builder: ir.IRBuilder, args: Sequence[ir.Value]) -> None:
        """Emit the whole kernel."""
        ptrs, n, core_dims, steps, status = args
        sizes = {name: table_word(builder, core_dims, i) for i, name in enumerate(self.names)}
        strides = [self._strides(builder, k, sizes) for k in range(len(self.cores))]
        self._require_contiguous(builder, steps, status, sizes, strides)
        bases = [table_word(builder, ptrs, k) for k in range(len(self.cores))]
        moves = [table_word(builder, steps, k) for k in range(len(self.cores))]
        with counted_loop(builder, n) as index:
            addresses = [
                builder.add(base, builder.mul(index, step))
                for base, step in zip(bases, moves, strict=True)
            ]
            values = [
                self._argument(builder, k, address, sizes, strides[k])
                for k, address in enumerate(addresses)
            ]
            self.callee.call(builder, values, index, status)
        builder.ret_void()

    def _strides(self, builder, k: int, sizes) -> list[ir.Value]:
        stride, strides = word(self.memories[k].itemsize), []
        for name in reversed(self.cores[k]):
            strides.insert(0, stride)
            stride = builder.mul(stride, sizes[name])
        return strides

    def _require_contiguous(self, builder, steps, status, sizes, strides) -> None:
        """Refuse other strides: arrays typed as C-contiguous would read the wrong elements.

        An operand without elements may have any strides; NumPy gives it zeros.
        """
        position, wrong = len(self.cores), ir.Constant(ir.IntType(1), 0)
        for core, expected in zip(self.cores, strides, strict=True):
            operand_wrong, filled = ir.Constant(ir.IntType(1), 0), ir.Constant(ir.IntType(1), 1)
            for name, stride in zip(core, expected, strict=True):
                given = table_word(builder, steps, position)
                matters = builder.icmp_signed(">", sizes[name], word(1))
                differs = builder.icmp_signed("!=", given, stride)
                operand_wrong = builder.or_(operand_wrong, builder.and_(matters, differs))
                filled = builder.and_(filled, builder.icmp_signed(">", sizes[name], word(0)))
                position += 1
            wrong = builder.or_(wrong, builder.and_(operand_wrong, filled))
        with builder.if_then(wrong, likely=False):
            builder.store(word(NOT_CONTIGUOUS), builder.inttoptr(status, INT64.as_pointer()))
            builder.ret_void()

    def _argument(self, builder, k: int, address, sizes, strides) -> ir.Value:
        memory = self.memories[k]
        pointer = builder.inttoptr(address, memory.data_type.as_pointer())
        argtype = self.callee.result.signature.args[k]
        if not isinstance(argtype, types.Array):
            return memory.read(builder, pointer)
        array = make_array(argtype)(self.context, builder)
        itemsize = word(memory.itemsize)
        shape = [sizes[name] for name in self.cores[k]] or [word(1)]
        populate_array(
            array, data=pointer, shape=shape, strides=strides or [itemsize], itemsize=itemsize,
            meminfo=None,
        )  # fmt: skip
        return array._getvalue()
