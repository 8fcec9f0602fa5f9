"""LLVM code of recurrences: a loop around scalar functions, with carried values in registers.

The functions are those of elementwise kernels, and round as they do, so a recurrence computes the
same bits as its steps one after the other.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.registry import cpu_target

from ....ir.recurrence import Place, Recurrence
from ..codegen.llvm_builder import table_word, word
from ..compile import worker
from ..compile.compiler import Code
from ..compile.intrinsics import INT64, KERNEL_TYPE
from ..compile.optimize import Job
from ..platform.target_machine import new_module, target_options
from .recurrence import functions
from .scalar_code import ScalarCode


def compiled(recurrence: Recurrence, symbol: str) -> Code:
    """Compile the kernel of a recurrence to an object file with the entry ``symbol``."""
    context: Any = cpu_target.target_context  # a property of Numba's own kind
    module = new_module(symbol)
    function = ir.Function(module, KERNEL_TYPE, symbol)
    _Loop(recurrence, function, context).emit()
    called = [one for one, _ in functions(recurrence) if one is not None]
    parts = tuple({one.key: one.bit_code for one in called}.values())
    job = Job(cgutils.normalize_ir_text(str(module)), parts, (symbol,), target_options(), False)
    payload, externals, portable = worker.finish(job)
    return Code(payload, symbol, externals, portable)


class _Loop(ScalarCode):
    """Emits the kernel of one recurrence."""

    def __init__(self, recurrence: Recurrence, function: ir.Function, context: Any) -> None:
        super().__init__(ir.IRBuilder(function.append_basic_block("entry")), context)
        self._of, self._function = recurrence, function
        self._count = len(recurrence.per_step)

    def emit(self) -> None:
        of, builder = self._of, self.builder
        ptrs, count, _, steps, status = self._function.args
        operands = self._count + 1 + max([place[0] for place in of.outputs], default=-1)
        self._bases = [table_word(builder, ptrs, n) for n in range(operands)]
        self._moves = [table_word(builder, steps, n) for n in range(operands)]
        fixed = {n: self._read(self._bases[place[0]], place) for n, place in enumerate(of.inputs)
                 if not of.per_step[place[0]]}  # fmt: skip
        begin = builder.append_basic_block("begin")
        body, done = builder.append_basic_block("body"), builder.append_basic_block("done")
        builder.cbranch(builder.icmp_signed(">", count, word(0)), begin, done)
        builder.position_at_end(begin)
        constant = {n: v for n, v in fixed.items() if of.inputs[n][0] >= of.carried}
        constant = self.invariants(constant, functions(of), len(of.inputs), status)
        builder.branch(body)
        builder.position_at_end(body)
        index = builder.phi(INT64)
        index.add_incoming(word(0), begin)
        states = {n: builder.phi(fixed[n].type) for n in fixed if of.inputs[n][0] < of.carried}
        given = self._inputs(constant | states, index)
        known = self.values(given, functions(of), index, status, constant)
        for place, value in zip(of.outputs, of.values, strict=True):
            self.write(known[value], self._at(self._count + place[0], index), *place[1:])
        last = builder.basic_block
        ends = dict(zip(of.outputs, of.values, strict=True))
        for n, state in states.items():
            state.add_incoming(fixed[n], begin)
            state.add_incoming(known[ends[of.inputs[n]]], last)
        following = builder.add(index, word(1), flags=("nuw", "nsw"))
        index.add_incoming(following, last)
        goes_on = builder.icmp_signed("<", following, count)
        if of.goes_on is not None:
            goes_on = builder.and_(goes_on, self._truth(known[of.goes_on]))
        builder.cbranch(goes_on, body, done)
        builder.position_at_end(done)
        builder.ret_void()

    def _inputs(self, given: dict[int, Any], index: Any) -> list[Any]:
        """Return the inputs of a step: those in ``given``, and loads that are emitted for others.
        """
        return [
            self._read(self._at(place[0], index), place) if n not in given else given[n]
            for n, place in enumerate(self._of.inputs)
        ]

    def _truth(self, value: Any) -> Any:
        return self.builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))

    def _at(self, operand: int, index: Any) -> Any:
        moved = self.builder.mul(self._moves[operand], index)
        return self.builder.add(self._bases[operand], moved)

    def _read(self, base: Any, place: Place) -> Any:
        return self.read(base, *place[1:])
