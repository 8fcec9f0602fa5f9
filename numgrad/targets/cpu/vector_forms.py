"""The LLVM code of forms: scalar functions on a block of vectors in registers; see `vectors`."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils
from numba.core.registry import cpu_target

from . import generate
from .building import Builder, Memory, counted_loop, independent_accesses, table_word, word
from .compiler import Code
from .emit import target_machine
from .fused import Scalar
from .intrinsics import INT64
from .joining import call_scalar, optimise
from .objects import code_of, internalise
from .vector_calls import set_attribute
from .vectors import REGISTERS, block_bytes

Values = Sequence[ir.Value]

_PLACES = range(0, 4096, 16)
"""Where in a page the forms of an operator begin: anywhere, as code is loaded from the beginning of
a page on. Jumps at the same place in two pages are one to a processor that predicts where they
lead: chains of two operators took 3.5 ns a form, and 1 ns elsewhere in the page."""


def emit_forms(one: Scalar, names: Sequence[str], symbol: str) -> Code:
    """Compile the forms of a scalar function, each given by the letters of its operands."""
    unit = _Unit(one.spec.out_dtypes[0], names, symbol)
    for name in names:
        unit.emit(name, lambda form, letters=name: form.applied(one, letters))
    return unit.code([one])


def emit_frame(dtype: np.dtype, names: Sequence[str], symbol: str) -> Code:
    """Compile what all chains of a dtype need: loads, a store and the end."""
    unit = _Unit(dtype, names, symbol)
    unit.emit("m", lambda form: form.loaded(form.block()))
    unit.emit("n", lambda form: form.repeated())
    unit.emit("store", lambda form: form.stored())
    unit.emit("done", None)
    return unit.code([])


def form_type(dtype: np.dtype) -> ir.FunctionType:
    """LLVM type of a form."""
    return ir.FunctionType(ir.VoidType(), [INT64, INT64, *[_vector(dtype)] * REGISTERS])


def _vector(dtype: np.dtype) -> ir.VectorType:
    element = ir.FloatType() if dtype.itemsize == 4 else ir.DoubleType()
    return ir.VectorType(element, block_bytes() // REGISTERS // dtype.itemsize)


class _Unit:
    """A module of forms of one dtype."""

    def __init__(self, dtype: np.dtype, names: Sequence[str], symbol: str) -> None:
        context: Any = cpu_target.target_context  # a property of Numba's own kind
        self.context, self.dtype, self.symbol = context, dtype, symbol
        self.symbols = {name: f"{symbol}_{name}" if n else symbol for n, name in enumerate(names)}
        self.module = context.codegen()._create_empty_module(symbol)

    def emit(self, name: str, body: Callable[["_Form"], Values] | None) -> None:
        """Add a function: with a body, one that goes on to the next form with its result."""
        form = _Form(self, self.symbols[name])
        if body is None:
            form.builder.ret_void()
        else:
            form.go_on(body(form))

    def code(self, callees: Sequence[Scalar]) -> Code:
        """Compile the module."""
        _move(self.module.globals[self.symbol], _PLACES[int(self.symbol[-4:], 16) % len(_PLACES)])
        linked = llvm.parse_assembly(cgutils.normalize_ir_text(str(self.module)))
        for one in callees:
            linked.link_in(llvm.parse_bitcode(one.bit_code))
        internalise((*linked.functions, *linked.global_variables), tuple(self.symbols.values()))
        optimise(linked)
        return code_of(target_machine(), linked, self.symbol)


def _move(function: ir.Function, nbytes: int) -> None:
    """Leave as many bytes free before the first function of a module."""
    set_attribute(function, f'"patchable-function-prefix"="{nbytes}"')


class _Form:
    """One function."""

    def __init__(self, unit: _Unit, symbol: str) -> None:
        self.unit, self.dtype = unit, unit.dtype
        function = ir.Function(unit.module, form_type(unit.dtype), symbol)
        self.words, self.table, *self.registers = function.args
        self.builder: Builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.memory = Memory(unit.context, generate.numba_types([unit.dtype])[0])
        self.read = 1  # words of this form, its own address first

    @cached_property
    def count(self) -> int:
        """Elements of a block."""
        return block_bytes() // self.dtype.itemsize

    def address(self) -> ir.Value:
        """Return the address of the operand that the next word names."""
        place = table_word(self.builder, self.words, self.read)
        self.read += 1
        return table_word(self.builder, self.builder.add(self.table, place), 0)

    def block(self) -> ir.Value:
        """Return a pointer to the elements of the next operand."""
        return self.builder.inttoptr(self.address(), self.memory.data_type.as_pointer())

    def loaded(self, block: ir.Value, align: int | None = None) -> Values:
        """Return the vectors of a block in memory."""
        return [self.builder.load(p, align=align or self.dtype.itemsize) for p in self._at(block)]

    def repeated(self) -> Values:
        """Return vectors of a number."""
        number = self.builder.load(self.block())
        kind = _vector(self.dtype)
        lanes = [ir.Constant(ir.IntType(32), 0)] * kind.count
        first = self.builder.insert_element(ir.Constant(kind, ir.Undefined), number, lanes[0])
        mask = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), lanes)
        return [self.builder.shuffle_vector(first, first, mask)] * REGISTERS

    def stored(self) -> Values:
        """Store the registers, and leave them as they are."""
        self._store(self.block(), self.dtype.itemsize)
        return self.registers

    def applied(self, one: Scalar, letters: str) -> Values:
        """Return the results of a scalar function.

        They pass through memory on the stack as far as this code says: with as many vectors in an
        iteration of the loop as a block has, there is one iteration, and LLVM keeps them in
        registers.
        """
        builder = self.builder
        kind = ir.ArrayType(self.memory.data_type, self.count)
        given, made = (self._scratch(kind) for _ in range(2))
        if "r" in letters:
            self._store(given, 64)
        places = [given if letter == "r" else self.block() for letter in letters]
        operands = list(zip(letters, places, strict=True))
        numbers = [builder.load(place) if letter == "n" else None for letter, place in operands]
        status = table_word(builder, self.table, 0)
        group, loop_id = independent_accesses(builder.module, REGISTERS)
        with counted_loop(builder, word(self.count), loop_id) as index:
            values = [
                self.memory.read(builder, builder.gep(place, [index]), group)
                if number is None
                else number
                for place, number in zip(places, numbers, strict=True)
            ]
            (result,) = call_scalar(one, builder, self.unit.context, [*values, index, status])
            self.memory.write(builder, result, builder.gep(made, [index]), group)
        return self.loaded(made, 64)

    def _scratch(self, kind: ir.ArrayType) -> ir.Value:
        space = self.builder.alloca(kind)
        space.align = 64
        return self.builder.bitcast(space, self.memory.data_type.as_pointer())

    def _at(self, block: ir.Value) -> list[ir.Value]:
        """Return pointers to the vectors of a block."""
        vectors = self.builder.bitcast(block, self.registers[0].type.as_pointer())
        return [self.builder.gep(vectors, [word(k)]) for k in range(REGISTERS)]

    def _store(self, block: ir.Value, align: int) -> None:
        for register, pointer in zip(self.registers, self._at(block), strict=True):
            self.builder.store(register, pointer, align=align)

    def go_on(self, registers: Values) -> None:
        """Jump to the next form."""
        following = self.builder.add(self.words, word(8 * self.read))
        kind = form_type(self.dtype).as_pointer()
        form = self.builder.inttoptr(table_word(self.builder, following, 0), kind)
        self.builder.call(form, [following, self.table, *registers], tail="musttail")
        self.builder.ret_void()
