"""LLVM code that calls scalar functions one after the other, and loads and stores scalars."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from llvmlite import ir

from ..codegen.llvm_builder import Memory, word
from ..linalg.gemm import geometry
from . import generate
from .scalar_kernel import call_scalar


class ScalarCode:
    """Emits calls of scalar functions, loads and stores at the builder's position."""

    def __init__(self, builder: Any, context: Any) -> None:
        self.builder: Any = builder
        self._context = context

    def values(
        self, given: Sequence[Any], functions: Sequence[tuple[Any, tuple[int, ...]]], index: Any,
        status: Any, fixed: Mapping[int, Any],
    ) -> list[Any]:  # fmt: skip
        """Emit calls of functions one after the other; return ``given`` followed by all results.

        Each function comes with the positions of its arguments among these values. The results in
        ``fixed`` have been computed before.
        """
        known = list(given)
        for one, args in functions:
            found = fixed.get(len(known))
            if found is None:
                found = self.value(one, [known[k] for k in args], index, status)
            known.append(found)
        return known

    def invariants(
        self, fixed: Mapping[int, Any], functions: Sequence[tuple[Any, tuple[int, ...]]],
        first: int, status: Any,
    ) -> dict[int, Any]:  # fmt: skip
        """Emit those calls of functions that depend on nothing but values in ``fixed``; return
        these values and the results, by their positions.

        ``first`` is the position of the result of the first function.
        """
        known = dict(fixed)
        for n, (one, args) in enumerate(functions, first):
            if all([k in known for k in args]):  # noqa: C419  a list is faster
                known[n] = self.value(one, [known[k] for k in args], word(0), status)
        return known

    def value(self, one: Any, args: Sequence[Any], index: Any, status: Any) -> Any:
        """Emit the call of a function; None stands for a step of a matrix product."""
        if one is None:
            return self._multiplied(*args)
        (found,) = call_scalar(one, self.builder, self._context, [*args, index, status])
        return found

    def _multiplied(self, x: Any, y: Any, total: Any = None) -> Any:
        """Emit ``total + x * y``, rounded as in the kernel that multiplies matrices."""
        builder = self.builder
        total = ir.Constant(x.type, 0.0) if total is None else total
        if not geometry(np.dtype(np.float64)).fused:
            return builder.fadd(total, builder.fmul(x, y))
        kind = ir.FunctionType(x.type, [x.type] * 3)
        name = f"llvm.fma.{'f64' if isinstance(x.type, ir.DoubleType) else 'f32'}"
        function = builder.module.globals.get(name) or ir.Function(builder.module, kind, name)
        return builder.call(function, [x, y, total])

    def _memory(self, base: Any, offset: int, dtype: Any) -> tuple[Memory, ir.Value]:
        (kind,) = generate.numba_types([dtype])
        memory = Memory(self._context, kind)
        where = self.builder.add(base, word(offset))
        return memory, self.builder.inttoptr(where, memory.data_type.as_pointer())

    def read(self, base: Any, offset: int, dtype: Any) -> Any:
        """Emit the load of a scalar ``offset`` bytes after the address ``base``."""
        memory, pointer = self._memory(base, offset, dtype)
        return memory.read(self.builder, pointer)

    def write(self, value: Any, base: Any, offset: int, dtype: Any) -> None:
        """Emit the store of a scalar ``offset`` bytes after the address ``base``."""
        memory, pointer = self._memory(base, offset, dtype)
        memory.write(self.builder, value, pointer)
