"""Kernels made of scalar functions: one operator's, or many joined in one loop.

Numba's front end takes 10 to 50 ms for a scalar function. So each is compiled once, to optimised
LLVM code that is kept in memory and on disk, and a kernel is made by linking such pieces: what
remains of its compile time is LLVM's work on one loop.

Every step rounds its result to the dtype that it declares and constants are operands at run time,
so a fused kernel has the bits of its steps one after the other.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from llvmlite import binding as llvm
from llvmlite import ir
from numba.core import cgutils
from numba.core.registry import cpu_target

from numgrad._settings import settings
from numgrad._specs import ElementwiseSpec, FusedSpec, LoopSpec

from . import cache, compiler, generate, loader
from .compiler import Code, code_of, internalise, join_keys, make_key, obtain, symbol_of
from .elementwise import ROWS_TYPE, ElementwiseLoop
from .emit import target_machine
from .intrinsics import KERNEL_TYPE

ROWS = "_rows"
"""What the name of the entry for rows adds to that of the kernel."""

MAX_STEPS = 512
"""Steps from which on a kernel gains nothing but compile time."""

MAX_OPERANDS = 64
"""Inputs and outputs that a kernel should have: each has a buffer of 2 or 4 KiB on the stack."""

_LOAD, _LINK, _STEP, _SCALAR = 0.001, 0.03, 0.0006, 0.04
"""Seconds to load a kernel, to compile one of no steps, one step more, and a scalar function."""

_LONG, _INTERLEAVE = 8, 4
"""From how many steps on, two or more for each operand, a loop works on several vectors at once: a
processor does not look far enough ahead to begin the next iteration while it waits for results of
this one. Loops that mostly load and store gain nothing."""


class Scalar:
    """The scalar function of a spec, compiled or read from disk when it is first linked."""

    def __init__(self, spec: ElementwiseSpec | LoopSpec) -> None:
        is_loop = isinstance(spec, LoopSpec)
        self.spec = spec
        self.source = generate.loop(spec) if is_loop else generate.elementwise(spec)
        self.key = make_key(self.source.function, (), self.source.key)
        self.symbol = f"numgrad_scalar_{self.key.lstrip('-')[:32]}"

    @cached_property
    def bit_code(self) -> bytes:
        """Optimised LLVM code."""
        return compiler.scalar(self.key, lambda: self.source.emit(self.symbol))

    @property
    def is_compiled(self) -> bool:
        """Whether the code is in memory or on disk."""
        return "bit_code" in vars(self) or compiler.is_compiled(self.key, cache.SCALAR)

    def call(self, builder: Any, context: Any, values: Sequence[ir.Value]) -> list[ir.Value]:
        """Emit a call; ``values`` end with the index and the status."""
        dtypes = (self.spec.in_dtypes, self.spec.out_dtypes)
        kind = generate.scalar_kind(context, *map(generate.numba_types, dtypes))
        function = builder.module.globals.get(self.symbol)
        result = builder.call(
            function or ir.Function(builder.module, kind, self.symbol), values
        )
        count = len(self.spec.out_dtypes)
        return cgutils.unpack_tuple(builder, result, count) if count > 1 else [result]


_scalars: dict[tuple, Scalar] = {}


def _scalar(spec: ElementwiseSpec | LoopSpec) -> Scalar:
    identity = (settings.math, spec.identity)
    known = _scalars.get(identity)
    return known or _scalars.setdefault(identity, Scalar(spec))


class Graph(NamedTuple):
    """Scalar functions applied to numbered values: the inputs, then each function's results."""

    steps: tuple[tuple[Scalar, tuple[int, ...]], ...]
    in_dtypes: tuple[np.dtype, ...]
    out_dtypes: tuple[np.dtype, ...]
    outputs: tuple[int, ...]
    scalars: tuple[bool, ...]

    @property
    def key(self) -> str:
        """Key of the kernel."""
        places: dict[str, int] = {}
        calls = [(places.setdefault(one.key, len(places)), args) for one, args in self.steps]
        dtypes = [dtype.str for dtype in self.in_dtypes]
        return join_keys([*places], repr(("graph", calls, dtypes, self.outputs, self.scalars)))

    def emit(self, symbol: str) -> Code:
        """Compile the kernel."""
        context: Any = cpu_target.target_context  # a property of Numba's own kind
        inputs, outputs = map(generate.numba_types, (self.in_dtypes, self.out_dtypes))

        def compute(builder, values, index, status) -> list[ir.Value]:
            known = list(values)
            for one, args in self.steps:
                known += one.call(builder, context, [*(known[k] for k in args), index, status])
            return [known[k] for k in self.outputs]

        is_long = len(self.steps) >= max(_LONG, 2 * (len(inputs) + len(outputs)))
        interleave = _INTERLEAVE if is_long else 0
        loop = ElementwiseLoop(context, inputs, outputs, compute, self.scalars, interleave)
        module = context.codegen()._create_empty_module(symbol)
        rows = ir.Function(module, ROWS_TYPE, symbol + ROWS)
        rows.attributes.add("noinline")
        loop.emit_rows(ir.IRBuilder(rows.append_basic_block("entry")), rows.args)
        row = ir.Function(module, KERNEL_TYPE, symbol)
        loop.emit_row(ir.IRBuilder(row.append_basic_block("entry")), row.args, rows)
        linked = llvm.parse_assembly(cgutils.normalize_ir_text(str(module)))
        for one in {one.key: one for one, _ in self.steps}.values():
            linked.link_in(llvm.parse_bitcode(one.bit_code))
        internalise((*linked.functions, *linked.global_variables), (symbol, symbol + ROWS))
        _optimise(linked)
        return code_of(target_machine(), linked, symbol)


def _optimise(module: llvm.ModuleRef) -> None:
    options = llvm.PipelineTuningOptions(speed_level=1)
    options.loop_vectorization, options.slp_vectorization = True, False
    builder = llvm.create_pass_builder(target_machine(), options)
    manager = builder.getModulePassManager()
    manager.run(module, builder)


def graph(spec: ElementwiseSpec | LoopSpec | FusedSpec) -> Graph:
    """The graph of a kernel: an operator without core dimensions is one of a single step."""
    if isinstance(spec, FusedSpec):
        steps = tuple((_scalar(step), args) for step, args in spec.steps)
        return Graph(steps, spec.in_dtypes, spec.out_dtypes, spec.outputs, spec.scalars)
    nin, nout = len(spec.in_dtypes), len(spec.out_dtypes)
    steps = ((_scalar(spec), tuple(range(nin))),)
    outputs = tuple(range(nin, nin + nout))
    return Graph(steps, spec.in_dtypes, spec.out_dtypes, outputs, (False,) * nin)


def addresses(spec: ElementwiseSpec | LoopSpec | FusedSpec) -> tuple[int, int]:
    """The two entries of a kernel, compiled or loaded: for one row, and for rows."""
    made = graph(spec)
    key = made.key
    return obtain(key, lambda: made.emit(symbol_of(key))), loader.find(symbol_of(key) + ROWS)


def expected_compile_seconds(spec: FusedSpec) -> float:
    """Estimate how long `addresses` will take; next to nothing where the kernel is on disk."""
    made = graph(spec)
    if compiler.is_compiled(made.key):
        return _LOAD
    scalars = {one.key: one for one, _ in made.steps}.values()
    unknown = sum(not one.is_compiled for one in scalars)
    return _LINK + _STEP * len(made.steps) + _SCALAR * unknown
