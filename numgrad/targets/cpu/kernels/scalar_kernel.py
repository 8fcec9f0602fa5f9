"""LLVM code of kernels that are made of scalar functions."""

from collections.abc import Sequence
from math import inf
from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.registry import cpu_target

from numgrad.ir.kernel_spec import Table

from ..codegen import scalar_graph
from ..codegen.elementwise import ROWS_TYPE, ElementwiseKernel, ElementwiseLoop
from ..codegen.scalar_graph import ROWS, ScalarFunction, ScalarGraph
from ..compile import optimize, worker
from ..compile.compiler import Code
from ..compile.intrinsics import KERNEL_TYPE
from ..compile.optimize import Job
from ..platform.target_machine import new_module, target_options
from ..vectorize import tables
from ..vectorize.loop import VectorLoop
from ..vectorize.value_numbering import Dataflow, calls_library, dataflow_of
from ..vectorize.widen import Widening, lanes_of
from . import generate

_LONG, _INTERLEAVE, _FEW = 8, 4, 16
"""A loop works on `_INTERLEAVE` vectors at once if it has at least `_LONG` steps, and two for each
operand, and at most `_FEW` operands in memory. The reason is that a processor does not look far
enough ahead to begin the next iteration while it waits for results of this one. Loops that mostly
load and store gain nothing, and with more operands the registers do not suffice: a stencil of 74
steps and 25 operands took 1.4 times as long."""

_LIGHT = 8
"""The most instructions of a light function, see `ElementwiseKernel`."""

_AHEAD, _WAITS = 96, ((5 / 8, 1), (1, 2))
"""How many vectors code that is written for vectors works on at once. What decides is its longest
path, in cycles, divided by the number of its operations: below 5/8 it is one vector, below 1 two,
else four. Fewer operations than `_AHEAD` count as `_AHEAD`, as a processor looks that far ahead and
begins the next iteration."""


_FEW_CALLS = 2
"""How many vectors a fused kernel of fewer than `_LONG` steps works on if it calls functions: a
function waits for itself, or for memory where a call saves registers. The gradient of
`log1p(exp(x))` takes 2.9 ns an element with one vector, 2.5 with two, 2.3 with four, which take
longer for short rows. A kernel of one function, which is applied to a few elements as well, works
on one."""


_BRANCHES = 32
"""The most branches in a loop of several functions that LLVM vectorises. The vectoriser turns
branches into masks, in a time that grows beyond all bounds with their number: a kernel with eight
functions of complex numbers, of some ten branches each, took more than a minute, and 0.2 s without.
Eight slopes of powers have 32: vectorised, they take a fifth of the time."""


def join(graph: ScalarGraph, symbol: str) -> Code:
    """Compile the kernel of a graph of scalar functions.

    Where a function has branches, inputs that are repeated along rows pass through buffers, and
    several rows are computed together: the elements that fill no vector are computed one by one,
    after the rows together instead of after each. For several functions LLVM works in another
    process; for a single function it has little to do.
    """
    flow = dataflow_of(graph.by_rows())
    graph = graph.by_rows() if flow is not None else graph
    is_short = len(graph.steps) < scalar_graph.FEWEST_STEPS
    if flow is not None and is_short and not calls_library(flow) and not graph.tables:
        flow = None
    lanes = lanes_of(flow) if flow is not None else 0
    parts: tuple[bytes, ...] = ()
    if flow and lanes:
        text = _widened(graph, flow, lanes, symbol)
    else:
        text = _looped(graph, symbol)
        parts = tuple({one.key: one.bit_code for one, _ in graph.steps}.values())
    branches = [one.branches for one, _ in graph.steps] if parts else []
    symbols, vectorise = (symbol, symbol + ROWS), max(branches, default=0) == sum(branches)
    vectorise |= sum(branches) <= _BRANCHES
    if any(branches) and all(graph.scalars):
        vectorise = False  # all elements are equal, and LLVM takes ages over branches on numbers
    job = Job(cgutils.normalize_ir_text(text), parts, symbols, target_options(), vectorise)
    finish = worker.finish if len(graph.steps) > 1 else optimize.finish
    payload, externals, portable = finish(job)
    return Code(payload, symbol, externals, portable)


def _widened(graph: ScalarGraph, flow: Dataflow, lanes: int, symbol: str) -> str:
    """Return the text of LLVM code for a kernel that is written for vectors of ``lanes`` elements.
    """
    code = Widening(flow, lanes, _vectors(graph, flow), graph.scalars)
    inputs, outputs = map(generate.numba_types, (graph.in_dtypes, graph.out_dtypes))
    loop = VectorLoop(cpu_target.target_context, inputs, outputs, graph.scalars, code)
    module = _entries(loop, symbol, graph.tables if lanes > 1 else ())
    return f"{module}\n{loop.declarations(module)}"


def _vectors(graph: ScalarGraph, flow: Dataflow) -> int:
    """Return how many vectors of each value one iteration of the loop computes."""
    if len(graph.steps) < _LONG:
        return _FEW_CALLS if len(graph.steps) > 1 and calls_library(flow) else 1
    if not _is_narrow(graph):
        return 1
    wait = flow.height / max(len(flow.order), _AHEAD)
    return next((count for least, count in _WAITS if wait < least), _INTERLEAVE)


def _looped(graph: ScalarGraph, symbol: str) -> str:
    """Return the text of LLVM code for a kernel that is a loop around the functions of a graph.

    LLVM vectorises the loop.
    """
    context: Any = cpu_target.target_context  # a property of Numba's own kind
    inputs, outputs = map(generate.numba_types, (graph.in_dtypes, graph.out_dtypes))

    def compute(builder, values, index, status) -> list[ir.Value]:
        known = list(values)
        for one, args in graph.steps:
            known += call_scalar(one, builder, context, [*(known[k] for k in args), index, status])
        return [known[k] for k in graph.outputs]

    operands = len(inputs) + len(outputs)
    is_long = len(graph.steps) >= max(_LONG, 2 * operands)
    interleave = _INTERLEAVE if is_long and _is_narrow(graph) else int(is_long)
    operations = sum([one.operations for one, _ in graph.steps])
    is_light = operations <= _LIGHT
    if interleave == _INTERLEAVE:
        operations = inf  # the elements behind the last four vectors are computed one by one
    loop = ElementwiseLoop(
        context, inputs, outputs, compute, graph.scalars, interleave, is_light, operations
    )
    return str(_entries(loop, symbol))


def _is_narrow(graph: ScalarGraph) -> bool:
    operands = len(graph.in_dtypes) + len(graph.out_dtypes)
    return operands - sum(graph.scalars) <= _FEW


def _entries(
    loop: ElementwiseKernel, symbol: str, columns: Sequence[Table] = ()
) -> ir.Module:
    """Return a module with the two entries of a kernel: for a single row, and for several rows.

    ``columns`` has the tables whose columns are operands, if the loop is written for vectors.
    """
    module = new_module(symbol)
    rows = ir.Function(module, ROWS_TYPE, symbol + ROWS)
    rows.attributes.add("noinline")
    if columns and isinstance(loop, VectorLoop):
        tables.emit_rows(loop, columns, rows)
    else:
        loop.emit_rows(ir.IRBuilder(rows.append_basic_block("entry")), rows.args)
    row = ir.Function(module, KERNEL_TYPE, symbol)
    loop.emit_row(ir.IRBuilder(row.append_basic_block("entry")), row.args, rows)
    return module


def call_scalar(
    one: ScalarFunction, builder: Any, context: Any, values: Sequence[ir.Value]
) -> list[ir.Value]:
    """Emit a call of a scalar function; return its results.

    ``values`` has the arguments of the function, then the index of the element and the status.
    """
    dtypes = (one.spec.in_dtypes, one.spec.out_dtypes)
    kind = generate.scalar_kind(context, *map(generate.numba_types, dtypes))
    function = builder.module.globals.get(one.symbol)
    result = builder.call(function or ir.Function(builder.module, kind, one.symbol), values)
    count = len(one.spec.out_dtypes)
    return cgutils.unpack_tuple(builder, result, count) if count > 1 else [result]
