"""What kernels for many small matrices of one size share: a loop whose body has no loops.

The sizes of the matrices are constants, so the body, written in LLVM, is straight-line code: loops,
copies and calls of a library take longer than the arithmetic where matrices have a few rows.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir

from ..codegen.llvm_builder import Builder, counted_loop, table_word, word
from ..codegen.object_files import code_of
from ..compile.compiler import Code
from ..compile.intrinsics import INT64, KERNEL_TYPE
from ..platform.target_machine import target_machine
from .gemm import Geometry

INDEX = ir.IntType(32)


class UnrolledKernel:
    """A kernel that loops over operands, and helpers that emit the body of the loop.

    Parameters
    ----------
    geometry : Geometry
        Says the dtype, and whether the processor has a fused multiply-add.
    columns : int
        The number of elements of a vector, which is a row of a matrix.
    operands : int
        The number of operands.
    strides : int
        How many strides of core dimensions the kernel reads.
    symbol : str
        The name of the kernel.
    """

    def __init__(
        self, geometry: Geometry, columns: int, operands: int, strides: int, symbol: str
    ) -> None:
        self.geometry, self.columns, self.symbol = geometry, columns, symbol
        self.itemsize = geometry.dtype.itemsize
        self.scalar: Any = ir.DoubleType() if self.itemsize == 8 else ir.FloatType()
        self.vector = ir.VectorType(self.scalar, columns)
        self.module = ir.Module(symbol)
        self.module.triple = llvm.get_process_triple()
        kernel = ir.Function(self.module, KERNEL_TYPE, symbol)
        self.builder: Builder = ir.IRBuilder(kernel.append_basic_block("entry"))
        builder = self.builder
        ptrs, self.count, _, steps, self.status = kernel.args
        self.begins = [table_word(builder, ptrs, number) for number in range(operands)]
        words = [table_word(builder, steps, number) for number in range(operands + strides)]
        self.ahead, self.strides = words[:operands], words[operands:]

    def compile(self) -> Code:
        """Return the optimised code of the kernel, whose body has been emitted."""
        self.builder.ret_void()
        parsed = llvm.parse_assembly(str(self.module))
        options = llvm.PipelineTuningOptions(speed_level=2)
        passes = llvm.create_pass_builder(target_machine(), options)
        passes.getModulePassManager().run(parsed, passes)
        return code_of(target_machine(), parsed, self.symbol)

    @contextmanager
    def loop(self) -> Iterator[list[ir.Value]]:
        """Emit the loop; the ``with`` block emits its body, and gets the addresses of operands."""
        builder = self.builder
        with counted_loop(builder, self.count) as self.index:
            yield [
                builder.add(begin, builder.mul(self.index, step))
                for begin, step in zip(self.begins, self.ahead, strict=True)
            ]

    def fail_if(self, condition: ir.Value) -> None:
        """Emit that the kernel ends here if ``condition`` is true, and reports the system."""
        builder = self.builder
        with builder.if_then(condition, likely=False):
            place = builder.inttoptr(self.status, INT64.as_pointer())
            builder.store(builder.add(self.index, word(1)), place)
            builder.ret_void()

    # Memory -----------------------------------------------------------------------------------

    def at(self, place: ir.Value, *steps: tuple[ir.Value | int, int]) -> ir.Value:
        """Return ``place`` plus ``number * stride`` for each ``(stride, number)``."""
        for stride, number in steps:
            along = word(stride * number) if isinstance(stride, int) else None
            place = self.builder.add(place, along or self.builder.mul(stride, word(number)))
        return place

    def load(self, place: ir.Value, kind: Any = None) -> ir.Value:
        """Return what is at a place: a scalar, or of another ``kind``."""
        kind = kind or self.scalar
        pointer = self.builder.inttoptr(place, kind.as_pointer())
        return self.builder.load(pointer, align=4 if kind is INDEX else self.itemsize)

    def store(self, value: Any, place: ir.Value) -> None:
        """Emit the store of a scalar or a vector."""
        pointer = self.builder.inttoptr(place, value.type.as_pointer())
        self.builder.store(value, pointer, align=4 if value.type is INDEX else self.itemsize)

    def gathered(self, place: ir.Value, stride: ir.Value) -> ir.Value:
        """Return a vector whose elements are ``stride`` bytes apart."""
        return self.joined(
            [self.load(self.at(place, (stride, number))) for number in range(self.columns)]
        )

    # Vectors ----------------------------------------------------------------------------------

    def joined(self, elements: Sequence[ir.Value]) -> ir.Value:
        """Return the vector of some scalars."""
        value: Any = ir.Constant(self.vector, ir.Undefined)
        for number, one in enumerate(elements):
            value = self.builder.insert_element(value, one, ir.Constant(INDEX, number))
        return value

    def element(self, value: ir.Value, number: int) -> ir.Value:
        """Return one element of a vector."""
        return self.builder.extract_element(value, ir.Constant(INDEX, number))

    def repeated(self, one: ir.Value) -> ir.Value:
        """Return a vector with the number ``one`` in each place."""
        undefined = ir.Constant(self.vector, ir.Undefined)
        alone = self.builder.insert_element(undefined, one, ir.Constant(INDEX, 0))
        zeros = ir.Constant(ir.VectorType(INDEX, self.columns), [0] * self.columns)
        return self.builder.shuffle_vector(alone, undefined, zeros)

    def chosen(self, value: Any, numbers: Sequence[int]) -> ir.Value:
        """Return the vector of the elements of another one that have some numbers."""
        kind = ir.VectorType(INDEX, len(numbers))
        undefined = ir.Constant(value.type, ir.Undefined)
        return self.builder.shuffle_vector(value, undefined, ir.Constant(kind, list(numbers)))

    def multiply_add(self, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
        """Return ``x y + z`` of vectors, rounded once where the processor can."""
        if not self.geometry.fused:
            return self.builder.fadd(z, self.builder.fmul(x, y))
        kind = ir.FunctionType(self.vector, [self.vector] * 3)
        name = f"llvm.fma.v{self.columns}f{8 * self.itemsize}"
        known = self.module.globals.get(name)
        return self.builder.call(known or ir.Function(self.module, kind, name), [x, y, z])

    def less(self, z: ir.Value, one: ir.Value, x: ir.Value) -> ir.Value:
        """Return ``z - one x`` of vectors ``z`` and ``x`` and a number ``one``, rounded twice.

        With one rounding, differences that are 0 in exact arithmetic would seldom be 0: the zero
        pivots by which singular matrices are noticed.
        """
        return self.builder.fsub(z, self.builder.fmul(self.repeated(one), x))
