"""LLVM code of kernels around a core function in the convention of `numba.guvectorize`."""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np.arrayobj import make_array, populate_array

from numgrad.ir.kernel_spec import Constant

from ..compile.intrinsics import INT64
from . import unwritten_marks
from .emit import Callee
from .llvm_builder import Memory, counted_loop, table_word, word

NOT_CONTIGUOUS = -1
"""Status of a kernel that was given an operand whose core dimensions are not C-contiguous."""


def argument_types(
    dtypes: Sequence[types.Type],
    cores: Sequence[tuple[str, ...]],
    nin: int,
    scalars: bool,
    readonly: bool = False,
    strided: bool = False,
) -> list[types.Type]:
    """Return the Numba types in which a core function takes its operands.

    With ``scalars`` an input without core dimensions is passed by value; any other operand is a
    C-contiguous array. With ``readonly`` the arrays of inputs cannot be written; with ``strided``
    they have any strides.
    """

    def array(dtype: types.Type, core: tuple[str, ...], is_input: bool) -> types.Type:
        layout = "A" if strided and is_input else "C"
        return types.Array(dtype, max(len(core), 1), layout, readonly=readonly and is_input)

    return [
        dtype if scalars and not core and index < nin else array(dtype, core, index < nin)
        for index, (dtype, core) in enumerate(zip(dtypes, cores, strict=True))
    ]


def in_order(order: Sequence[int | Constant], argtypes: Sequence[types.Type]) -> list[types.Type]:
    """Return the Numba type of each parameter of a function: that of its operand or constant.

    ``order`` has for each parameter the number of the operand, or the constant.
    """
    return [
        types.Omitted(item.value) if isinstance(item, Constant) else argtypes[item]
        for item in order
    ]


class CoreLoop:
    """Emits the body of a kernel that calls a core function once per element of the loop.

    Parameters
    ----------
    callee : Callee
        The compiled core function.
    dtypes : sequence of numba types
        The types of the operands, inputs then outputs.
    cores : sequence of tuples of str
        The core dimensions of the operands.
    order : sequence of (int or Constant)
        For each parameter of the function its operand or constant; see `parameter_order`.
    unwritten : sequence of int
        The numbers of the outputs that are checked: an element that the function leaves unwritten
        is an error there.
    strided : int
        The number of inputs, the first ones, whose core dimensions have any strides.
    """

    def __init__(self, callee: Callee, dtypes, cores, order, unwritten=(), strided=0) -> None:
        self.callee = callee
        self.context = callee.context
        self.memories = [Memory(self.context, dtype) for dtype in dtypes]
        self.cores = list(cores)
        self.order = list(order)
        self.unwritten = list(unwritten)
        self.strided = strided
        self.names = list(dict.fromkeys(name for core in self.cores for name in core))

    def emit(self, builder: ir.IRBuilder, args: Sequence[ir.Value]) -> None:
        """Emit the whole kernel."""
        ptrs, n, core_dims, steps, status = args
        sizes = {name: table_word(builder, core_dims, i) for i, name in enumerate(self.names)}
        strides = [self._strides(builder, k, sizes) for k in range(len(self.cores))]
        given = self._given_strides(builder, steps)
        self._require_contiguous(builder, status, sizes, strides, given)
        strides[: self.strided] = given[: self.strided]
        bases = [table_word(builder, ptrs, k) for k in range(len(self.cores))]
        moves = [table_word(builder, steps, k) for k in range(len(self.cores))]
        flag: Any = builder.alloca(ir.IntType(1)) if self.unwritten else None
        with counted_loop(builder, n) as index:
            addresses = [
                builder.add(base, builder.mul(index, step))
                for base, step in zip(bases, moves, strict=True)
            ]
            for k in self.unwritten:
                words = self._words(builder, k, sizes)
                unwritten_marks.fill(builder, addresses[k], words, self._mark(k))
            argtypes = self.callee.result.signature.args
            values = [
                self.context.get_dummy_value()
                if isinstance(k, Constant)
                else self._argument(builder, k, argtype, addresses[k], sizes, strides[k])
                for k, argtype in zip(self.order, argtypes, strict=True)
            ]
            self.callee.call(builder, values, index, status)
            for k in self.unwritten:
                words = self._words(builder, k, sizes)
                found = unwritten_marks.found(builder, flag, addresses[k], words, self._mark(k))
                with builder.if_then(found, likely=False):
                    position = builder.add(index, word(1))
                    builder.store(position, builder.inttoptr(status, INT64.as_pointer()))
                    builder.ret_void()
        builder.ret_void()

    def _words(self, builder, k: int, sizes) -> ir.Value:
        """Emit the number of real numbers in one core of an operand; a complex number is two."""
        count = word(2 if isinstance(self.memories[k].dtype, types.Complex) else 1)
        for name in self.cores[k]:
            count = builder.mul(count, sizes[name])
        return count

    def _mark(self, k: int) -> ir.Constant:
        dtype: Any = self.memories[k].dtype
        return unwritten_marks.mark(getattr(dtype, "underlying_float", dtype).bitwidth)

    def _strides(self, builder, k: int, sizes) -> list[ir.Value]:
        stride, strides = word(self.memories[k].itemsize), []
        for name in reversed(self.cores[k]):
            strides.insert(0, stride)
            stride = builder.mul(stride, sizes[name])
        return strides

    def _given_strides(self, builder, steps) -> list[list[ir.Value]]:
        """Emit the loads of the strides of the operands' core dimensions."""
        position, given = len(self.cores), []
        for core in self.cores:
            given.append([table_word(builder, steps, position + n) for n in range(len(core))])
            position += len(core)
        return given

    def _require_contiguous(self, builder, status, sizes, strides, given) -> None:
        """Emit a check that core dimensions are C-contiguous, but those of strided inputs.

        Where they are not, the kernel returns with the status `NOT_CONTIGUOUS`: the core function
        is compiled for C-contiguous arrays, and would read the wrong elements. An operand without
        elements may have any strides; NumPy's are zeros.
        """
        wrong = ir.Constant(ir.IntType(1), 0)
        for k in range(self.strided, len(self.cores)):
            operand_wrong, filled = ir.Constant(ir.IntType(1), 0), ir.Constant(ir.IntType(1), 1)
            for name, stride, step in zip(self.cores[k], strides[k], given[k], strict=True):
                matters = builder.icmp_signed(">", sizes[name], word(1))
                differs = builder.icmp_signed("!=", step, stride)
                operand_wrong = builder.or_(operand_wrong, builder.and_(matters, differs))
                filled = builder.and_(filled, builder.icmp_signed(">", sizes[name], word(0)))
            wrong = builder.or_(wrong, builder.and_(operand_wrong, filled))
        with builder.if_then(wrong, likely=False):
            builder.store(word(NOT_CONTIGUOUS), builder.inttoptr(status, INT64.as_pointer()))
            builder.ret_void()

    def _argument(self, builder, k: int, argtype, address, sizes, strides) -> ir.Value:
        memory = self.memories[k]
        pointer = builder.inttoptr(address, memory.data_type.as_pointer())
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


class BlockLoop(CoreLoop):
    """Emits the body of a kernel that reduces each block of its input to one element of the output.

    The length of the kernel's loop is the number of elements (or rows of a matrix) to reduce; the
    last block may have fewer than the others. The third operand has no memory. In place of its
    address the kernel gets the position of the loop's first element in the whole input, from which
    follows the position in the output.

    Parameters
    ----------
    block : int
        The number of elements (or rows) of a block.
    """

    def __init__(self, callee: Callee, dtypes, cores, block: int) -> None:
        super().__init__(callee, dtypes, cores, range(2))
        self.block = block

    def emit(self, builder: ir.IRBuilder, args: Sequence[ir.Value]) -> None:
        """Emit the whole kernel."""
        ptrs, n, core_dims, steps, status = args
        sizes = {name: table_word(builder, core_dims, i) for i, name in enumerate(self.names)}
        strides = [self._strides(builder, k, sizes) for k in range(2)]
        source, target, first = (table_word(builder, ptrs, k) for k in range(3))
        step, move = (table_word(builder, steps, k) for k in range(2))
        block = word(self.block)
        target = builder.add(target, builder.mul(builder.sdiv(first, block), move))
        count: Any = builder.sdiv(builder.add(n, word(self.block - 1)), block)
        with counted_loop(builder, count) as index:
            start = builder.mul(index, block)
            rest = builder.sub(n, start)
            is_last = builder.icmp_signed("<", rest, block)
            size = {self.names[0]: builder.select(is_last, rest, block)}
            addresses = (
                builder.add(source, builder.mul(start, step)),
                builder.add(target, builder.mul(index, move)),
            )
            values = [
                self._argument(builder, k, argtype, addresses[k], {**sizes, **size}, strides[k])
                for k, argtype in zip(self.order, self.callee.result.signature.args, strict=True)
            ]
            self.callee.call(builder, values, index, status)
        builder.ret_void()
