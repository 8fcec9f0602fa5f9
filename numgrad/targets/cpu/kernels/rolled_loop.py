"""LLVM code of rolled instructions: a loop over rows, and in it the loop over turns.

The functions are those of elementwise kernels, and round as they do, so a loop computes the same
bits as the instructions one after the other.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.registry import cpu_target

from ....ir.kernel_spec import RolledSpec
from ..codegen.llvm_builder import counted_loop, table_word, word
from ..compile import worker
from ..compile.compiler import Code
from ..compile.intrinsics import INT64, KERNEL_TYPE
from ..compile.optimize import Job
from ..platform.target_machine import new_module, target_options
from .rolled import functions
from .scalar_code import ScalarCode


def compiled(spec: RolledSpec, symbol: str) -> Code:
    """Compile the kernel of a spec to an object file with the entry ``symbol``."""
    context: Any = cpu_target.target_context  # a property of Numba's own kind
    module = new_module(symbol)
    function = ir.Function(module, KERNEL_TYPE, symbol)
    code = _Turns(spec, function, context)
    code.emit()
    called = [one for one, _ in code.functions if one is not None]
    parts = tuple({one.key: one.bit_code for one in called}.values())
    job = Job(cgutils.normalize_ir_text(str(module)), parts, (symbol,), target_options(), False)
    payload, externals, portable = worker.finish(job)
    return Code(payload, symbol, externals, portable)


class _Turns(ScalarCode):
    """Emits the kernel of one `RolledSpec`."""

    def __init__(self, spec: RolledSpec, function: ir.Function, context: Any) -> None:
        super().__init__(ir.IRBuilder(function.append_basic_block("entry")), context)
        self._spec, self._function = spec, function
        self.functions = functions(spec)

    def emit(self) -> None:
        """Emit the whole kernel."""
        builder = self.builder
        ptrs, rows, dims, steps, self._status = self._function.args
        operands = range(len(self._spec.in_dtypes) + len(self._spec.out_dtypes))
        begins = [table_word(builder, ptrs, n) for n in operands]
        along = [table_word(builder, steps, n) for n in operands]
        self._moves = [table_word(builder, steps, len(operands) + n) for n in operands]
        turns = table_word(builder, dims, 0)
        with counted_loop(builder, rows) as row:
            pairs = zip(begins, along, strict=True)
            self._bases = [builder.add(at, builder.mul(step, row)) for at, step in pairs]
            self._emit_row(turns)
        builder.ret_void()

    def _emit_row(self, turns: ir.Value) -> None:
        of, builder = self._spec, self.builder
        fixed = {
            n: self.read(self._bases[at], offset, dtype)
            for n, (at, offset, dtype, how) in enumerate(of.inputs)
            if how == "fixed"
        }
        first = len(of.inputs) + len(of.carries)
        fixed = self.invariants(fixed, self.functions, first, self._status)
        firsts = [self.read(self._bases[at], offset, d) for at, offset, d, _ in of.carries]
        entry = builder.basic_block
        body, done = builder.append_basic_block("turn"), builder.append_basic_block("end")
        builder.branch(body)
        builder.position_at_end(body)
        index = builder.phi(INT64)
        carried = [builder.phi(first.type) for first in firsts]
        given = [*self._inputs(fixed, index), *carried]
        known = self.values(given, self.functions, index, self._status, fixed)
        for at, offset, dtype, value in of.outputs:
            self.write(known[value], self._at(at, index), offset, dtype)
        last, following = builder.basic_block, builder.add(index, word(1), flags=("nuw", "nsw"))
        index.add_incoming(word(0), entry)
        index.add_incoming(following, last)
        for phi, first, (_, _, _, value) in zip(carried, firsts, of.carries, strict=True):
            phi.add_incoming(first, entry)
            phi.add_incoming(known[value], last)
        builder.cbranch(builder.icmp_signed("<", following, turns), body, done)
        builder.position_at_end(done)
        for at, offset, dtype, value in of.finals:
            self.write(known[value], self._bases[at], offset, dtype)

    def _inputs(self, fixed: dict[int, Any], index: Any) -> list[Any]:
        """Return the inputs of a turn: those in ``fixed``, and loads that are emitted for others.
        """
        found = []
        for n, (at, offset, dtype, how) in enumerate(self._spec.inputs):
            if n in fixed:
                found.append(fixed[n])
                continue
            base = self._at(at, index)
            if how == "table":
                base = self.builder.load(self.builder.inttoptr(base, INT64.as_pointer()))
            found.append(self.read(base, offset, dtype))
        return found

    def _at(self, operand: int, index: Any) -> Any:
        moved = self.builder.mul(self._moves[operand], index)
        return self.builder.add(self._bases[operand], moved)
