"""Graphs of scalar functions, of which kernels are made: a single function, or many in one loop.

Numba's front end takes 10 to 50 ms for a scalar function. So each function is compiled once, to
optimised LLVM code that is kept in memory and on disk, and a kernel is made of such pieces. Either
the operations of the pieces are written anew for whole vectors, or the pieces are inlined in one
loop (`scalar_kernel`).

Every step rounds its result to the dtype that it declares, and constants are operands at run time,
so a fused kernel computes the same bits as its steps one after the other.
"""

import re
from math import inf
from typing import NamedTuple

import numpy as np
from llvmlite import binding as llvm

from numgrad._settings import settings
from numgrad.ir.kernel_spec import ElementwiseSpec, FusedSpec, LoopSpec, Table
from numgrad.process.cached_attribute import lazy

from ..compile import cache_keys, compiler
from ..compile.compiler import Code, join_keys, obtain, symbol_of
from ..platform import object_loader
from ..platform.vector_library import PREFIX

FEWEST_STEPS = 16
"""The fewest steps of a kernel written for whole vectors; with fewer it is a loop that LLVM
vectorises, which is faster on rows of a few elements. The heat equation, half of whose kernel calls
have a row of one or two elements, is 1.06 times as fast with the loop."""

ROWS = "_rows"
"""The suffix of the entry for rows, after the name of the kernel."""


class ScalarFunction:
    """The scalar function of a spec, compiled or read from disk when it is first linked."""

    def __init__(self, spec: ElementwiseSpec | LoopSpec) -> None:
        self.spec = spec
        self.math = settings.math
        key_of = cache_keys.loop if isinstance(spec, LoopSpec) else cache_keys.elementwise
        self.key = key_of(spec)
        self.symbol = f"numgrad_scalar_{self.key.lstrip('-')[:32]}"

    @lazy
    def bit_code(self) -> bytes:
        """The optimised LLVM bit code of the function, read from disk or compiled."""
        return compiler.scalar(self.key, self._compiled)

    @lazy
    def branches(self) -> int:
        """The number of basic blocks behind the first; a ``select`` instruction makes none."""
        with compiler.compiler_lock:
            function = llvm.parse_bitcode(self.bit_code).get_function(self.symbol)
            return sum(1 for _ in function.blocks) - 1

    @lazy
    def is_for_vectors(self) -> bool:
        """Whether a loop around the function can be computed on vectors, as far as its calls tell.

        A function of a C library that has no version for vectors is called for each element. LLVM
        then computes everything else in the loop one element at a time, too. A square root is an
        instruction of the processor.
        """
        with compiler.compiler_lock:
            function = llvm.parse_bitcode(self.bit_code).get_function(self.symbol)
            calls = [str(i) for b in function.blocks for i in b.instructions if i.opcode == "call"]
        return all(re.search(rf"@(?:llvm\.|{PREFIX}|sqrtf?\()", call) for call in calls)

    @lazy
    def operations(self) -> float:
        """The number of instructions; infinite with a branch or a call."""
        with compiler.compiler_lock:
            (first, *others) = llvm.parse_bitcode(self.bit_code).get_function(self.symbol).blocks
            names = [instruction.opcode for instruction in first.instructions]
        return inf if others or "call" in names else len(names)

    def _compiled(self) -> Code:
        from ..kernels import generate  # it imports Numba

        if isinstance(self.spec, LoopSpec):
            return generate.loop(self.spec, self.symbol)
        return generate.elementwise(self.spec, self.symbol, self.math)


_scalars: dict[tuple, ScalarFunction] = {}


def scalar(spec: ElementwiseSpec | LoopSpec) -> ScalarFunction:
    """Return the scalar function of a spec, the same object for equal specs."""
    identity = (settings.math, spec.identity)
    known = _scalars.get(identity)
    return known or _scalars.setdefault(identity, ScalarFunction(spec))


class ScalarGraph(NamedTuple):
    """Scalar functions applied to numbered values: the inputs, then each function's results.

    Attributes
    ----------
    steps : tuple of (ScalarFunction, tuple of int)
        Each function, with the numbers of the values that it takes.
    in_dtypes, out_dtypes : tuple of dtypes
    outputs : tuple of int
        The numbers of the values that the kernel stores.
    scalars : tuple of bool
        For each input, whether it has one element, which is read once whatever its stride.
    repeated : tuple of bool
        For each input, whether it has one element for each row, which may be read once for the row.
    tables : tuple of Table
        The operands that are expected to be columns of tables.
    """

    steps: tuple[tuple[ScalarFunction, tuple[int, ...]], ...]
    in_dtypes: tuple[np.dtype, ...]
    out_dtypes: tuple[np.dtype, ...]
    outputs: tuple[int, ...]
    scalars: tuple[bool, ...]
    repeated: tuple[bool, ...] = ()
    tables: tuple[Table, ...] = ()

    def by_rows(self) -> "ScalarGraph":
        """Return the graph whose kernel reads inputs that are repeated along a row once for it."""
        if not any(self.repeated):
            return self
        scalars = tuple(a or b for a, b in zip(self.scalars, self.repeated, strict=True))
        return self._replace(scalars=scalars, repeated=())

    @property
    def key(self) -> str:
        """The cache key of the kernel of the graph."""
        places: dict[str, int] = {}
        calls = [(places.setdefault(one.key, len(places)), args) for one, args in self.steps]
        dtypes = [dtype.str for dtype in self.in_dtypes]
        parts = ("graph", FEWEST_STEPS, calls, dtypes, self.outputs, self.scalars)
        parts += (self.repeated,) if any(self.repeated) else ()
        parts += (self.tables,) if self.tables else ()
        return join_keys([*places], repr(parts))

    def emit(self, symbol: str) -> Code:
        """Compile the kernel of the graph to an object file with the entry ``symbol``."""
        from ..kernels.scalar_kernel import join  # it imports Numba

        return join(self, symbol)


def graph(spec: ElementwiseSpec | LoopSpec | FusedSpec) -> ScalarGraph:
    """Return the scalar graph of a kernel spec, which has a single step unless the spec is fused.
    """
    if isinstance(spec, FusedSpec):
        steps = tuple((scalar(step), args) for step, args in spec.steps)
        dtypes = spec.in_dtypes, spec.out_dtypes
        return ScalarGraph(steps, *dtypes, spec.outputs, spec.scalars, spec.repeated, spec.tables)
    nin, nout = len(spec.in_dtypes), len(spec.out_dtypes)
    steps = ((scalar(spec), tuple(range(nin))),)
    outputs = tuple(range(nin, nin + nout))
    return ScalarGraph(steps, spec.in_dtypes, spec.out_dtypes, outputs, (False,) * nin)


def addresses(spec: ElementwiseSpec | LoopSpec | FusedSpec) -> tuple[int, int]:
    """Return the addresses of a kernel's two entries: for a single row, and for several rows.

    The kernel is compiled if it is neither in memory nor on disk.
    """
    made = graph(spec)
    key = made.key
    return obtain(key, lambda: made.emit(symbol_of(key))), object_loader.find(symbol_of(key) + ROWS)
