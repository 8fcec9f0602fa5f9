"""LLVM code that calls a function compiled by Numba as a kernel of the machine.

A kernel gets the addresses of its operands, their sizes and their strides; a function of Numba
takes arrays and numbers. The code makes the latter of the former, without Python. What is unusual
(several rows, operands that are not in C order, an exception) is left to another kernel, which is
called with the same arguments and computes everything anew.
"""

import itertools
from collections.abc import Sequence
from typing import Any

from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.registry import cpu_target
from numba.core.runtime.nrt import rtsys
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

from ..targets.cpu.codegen.object_files import code_of
from ..targets.cpu.compile.intrinsics import INT64, KERNEL_TYPE
from ..targets.cpu.platform import object_loader
from ..targets.cpu.platform.numba_setup import compiler_lock
from ..targets.cpu.platform.target_machine import target_machine

_numbers = itertools.count()


class NativeCode:
    """A kernel that calls a compiled function, while the kernel is written.

    Parameters
    ----------
    cores : sequence of Core
        The dtypes and numbers of axes of the operands, inputs before outputs.
    names : sequence of sequence of str
        The core dimensions of each operand.
    other : int
        The address of the kernel to which unusual calls are left.
    """

    def __init__(self, cores: Sequence[Any], names: Sequence[Sequence[str]], other: int) -> None:
        self.cores = cores
        self.context: Any = cpu_target.target_context
        self._symbol = f"numgrad_native_{next(_numbers)}"
        self._module = ir.Module(self._symbol)
        function = ir.Function(self._module, KERNEL_TYPE, self._symbol)
        self.builder = builder = ir.IRBuilder(function.append_basic_block("entry"))
        pointers, count, sizes, self._steps, _ = function.args
        self._other = function.append_basic_block("other")
        with builder.goto_block(self._other):
            kernel: Any = builder.inttoptr(INT64(other), KERNEL_TYPE.as_pointer())
            builder.call(kernel, function.args)
            builder.ret_void()
        every = dict.fromkeys(name for core in names for name in core)
        extents = {name: self.word(sizes, n) for n, name in enumerate(every)}
        self.shapes = [[extents[name] for name in core] for core in names]
        self._addresses = [self.word(pointers, n) for n in range(len(cores))]
        self.require(builder.icmp_signed("==", count, INT64(1)))
        self._require_order()

    def _require_order(self) -> None:
        """Leave calls with operands that are not in C order to the other kernel."""
        at = len(self.cores)
        for core, shape in zip(self.cores, self.shapes, strict=True):
            step: Any = INT64(core.dtype.itemsize)
            for axis in reversed(range(core.ndim)):
                found = self.word(self._steps, at + axis)
                usual = self.builder.icmp_signed("==", found, step)
                is_short = self.builder.icmp_signed("<=", shape[axis], INT64(1))
                is_empty = self.builder.icmp_signed("==", step, INT64(0))
                self.require(self.builder.or_(usual, self.builder.or_(is_short, is_empty)))
                step = self.builder.mul(step, shape[axis])
            at += core.ndim

    # Words and conditions

    def word(self, table: Any, number: int) -> Any:
        """Return a word of the table at an address."""
        place = self.builder.inttoptr(table, INT64.as_pointer())
        return self.builder.load(self.builder.gep(place, [INT64(number)]))

    def require(self, condition: Any) -> None:
        """Leave the call to the other kernel unless a condition holds."""
        usual = self.builder.append_basic_block("usual")
        self.builder.cbranch(condition, usual, self._other)
        self.builder.position_at_end(usual)

    # Operands

    def kind(self, n: int) -> Any:
        """Return Numba's type of an operand."""
        dtype, ndim = self.cores[n]
        return types.Array(from_dtype(dtype), ndim, "C") if ndim else from_dtype(dtype)

    def value(self, n: int) -> Any:
        """Return an operand as Numba passes it: a number, or an array."""
        if self.cores[n].ndim:
            return self.array(self.kind(n), self._addresses[n], self.shapes[n])
        return self.context.unpack_value(self.builder, self.kind(n), self._place(n))

    def array(self, kind: Any, address: Any, shape: Sequence[Any]) -> Any:
        """Return an array in C order of the memory at an address."""
        made = cgutils.create_struct_proxy(kind)(self.context, self.builder)
        element = self.context.get_data_type(kind.dtype)
        itemsize = self.context.get_abi_sizeof(element)
        step: Any = INT64(itemsize)
        strides: list[Any] = []
        for extent in reversed(shape):
            strides.insert(0, step)
            step = self.builder.mul(step, extent)
        data = self.builder.inttoptr(address, element.as_pointer())
        populate_array(made, data, list(shape), strides, itemsize, None)
        return made._getvalue()

    def nbytes(self, n: int) -> Any:
        """Return how many bytes an operand has."""
        size: Any = INT64(self.cores[n].dtype.itemsize)
        for extent in self.shapes[n]:
            size = self.builder.mul(size, extent)
        return size

    def clear(self, n: int) -> None:
        """Fill an output with zeros."""
        cgutils.memset(self.builder, self._place(n), self.nbytes(n), 0)

    def copy(self, n: int, source: Any) -> None:
        """Fill an output with the elements at an address."""
        place = self._place(n)
        data = self.builder.inttoptr(source, place.type)
        cgutils.raw_memcpy(self.builder, place, data, self.nbytes(n), 1)

    def address(self, n: int) -> Any:
        """Return the address of the first element of an operand."""
        return self._addresses[n]

    def set(self, n: int, kind: Any, value: Any) -> None:
        """Write a number of one of Numba's types to an output."""
        own = from_dtype(self.cores[n].dtype)
        cast = self.context.cast(self.builder, value, kind, own)
        self.context.pack_value(self.builder, own, cast, self._place(n))

    def _place(self, n: int) -> Any:
        element = self.context.get_data_type(from_dtype(self.cores[n].dtype))
        return self.builder.inttoptr(self._addresses[n], element.as_pointer())

    # The call

    def call(self, compiled: Any, arguments: Sequence[Any]) -> tuple[Any, Any]:
        """Call a compiled function.

        Parameters
        ----------
        compiled : CompileResult
        arguments : sequence of values

        Returns
        -------
        is_fine
            Whether the function has raised nothing.
        result
        """
        description = compiled.fndesc
        convention = self.context.call_conv
        kind = convention.get_function_type(description.restype, description.argtypes)
        callee = self._declared(kind, "callee", compiled.library, description.llvm_func_name)
        status, result = convention.call_function(
            self.builder, callee, description.restype, description.argtypes, arguments
        )
        return status.is_ok, result

    def release(self, array: Any) -> None:
        """Give back a reference to an array, as a struct of Numba's, that the function returned."""
        rtsys.initialize(self.context)
        meminfo: Any = array.meminfo
        kind = ir.FunctionType(ir.VoidType(), [meminfo.type])
        release = self._declared(kind, "release", rtsys.library, "NRT_decref")
        self.builder.call(release, [meminfo])

    def _declared(self, kind: Any, role: str, library: Any, name: str) -> Any:
        """Return a function of a library of Numba's, under a name of this kernel's own."""
        symbol = f"{self._symbol}_{role}"
        llvm.add_symbol(symbol, library.get_pointer_to_function(name))
        return self._module.globals.get(symbol) or ir.Function(self._module, kind, symbol)

    def finish(self) -> int:
        """Return the address of the kernel, which lives as long as the process."""
        self.builder.ret_void()
        with compiler_lock:
            machine = target_machine()
            module = llvm.parse_assembly(str(self._module))
            module.triple = llvm.get_process_triple()
            code = code_of(machine, module, self._symbol)
            return object_loader.load(code.payload, code.symbol, code.externals)
