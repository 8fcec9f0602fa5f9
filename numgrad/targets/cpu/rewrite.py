"""A compiler pass for scalar functions: literals in the kernel's dtype, plain callees compiled too.
"""

import math
import types as pytypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numba
import numpy as np
from numba.core import errors, ir, typed_passes, types, untyped_passes
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.registry import cpu_target

from ..literals import Language, Literals, attribute
from . import complex_math, scalar_math, vector_math
from .arithmetic import ReplaceArithmetic
from .halved import STAND_INS
from .parts import Part, ScalarPart

JIT_OPTIONS = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of every function compiled for a kernel: no wrapper that Python would call it through."""


def known_to_numba(function: Callable) -> bool:
    """Whether Numba has an implementation of its own, so that the body is not compiled."""
    try:
        context: Any = cpu_target.typing_context  # a property of Numba's own kind
        return context.resolve_value_type(function) is not None
    except (ValueError, errors.NumbaError):
        return False


_LANGUAGE = Language(
    ir, types, (math, scalar_math.real),
    (scalar_math.where, scalar_math.maximum, scalar_math.minimum),
)  # fmt: skip


@register_pass(mutates_CFG=False, analysis_only=False)
class BindCalleesAndLiterals(FunctionPass):
    """Before typing: plain callees become dispatchers, literals get the kernel's real dtype.

    What only kernels call is a `Part` of them.
    """

    _name = "numgrad_bind_callees_and_literals"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        """Rewrite ``state.func_ir`` in place."""
        pipeline = type(state.pipeline)
        if pipeline.library is not None:
            state.library = pipeline.library(state.targetctx.codegen(), state.func_id.func_qualname)
        _bind_callees(state.func_ir, pipeline)
        if pipeline.real is not None:
            Literals(state.func_ir, state.args, pipeline.real, _LANGUAGE).run()
        return True


def _bind_callees(func_ir: Any, pipeline: Any) -> None:
    for statement in _assignments(func_ir):
        callee = _plain_callee(func_ir, statement.value)
        if callee is None:
            continue
        bound = STAND_INS.get(callee)
        if bound is None and not known_to_numba(callee):
            bound = _dispatcher(callee, pipeline, vector_math.compiled_mode())
        if bound is not None:
            statement.value = ir.Global(callee.__name__, bound, statement.loc)
            func_ir._definitions[statement.target.name] = [statement.value]


def _plain_callee(func_ir: Any, value: Any) -> pytypes.FunctionType | None:
    """The Python function that a name, or an attribute of `complex_math`, stands for."""
    named = isinstance(value, ir.Global | ir.FreeVar)
    found = value.value if named else attribute(func_ir, value, ir)
    ours = named or getattr(found, "__module__", None) == complex_math.__name__
    return found if ours and isinstance(found, pytypes.FunctionType) else None




@cache
def _dispatcher(function: Any, pipeline: Any, mode: str) -> Any:
    """A dispatcher of its own for each mode, as it keeps what it compiled."""
    if pipeline.real is not None and function.__defaults__:
        function = _with_real_defaults(function, pipeline.real)
    return numba.njit(function, pipeline_class=pipeline, **JIT_OPTIONS)


def _with_real_defaults(function: Callable, real: type[np.floating]) -> Callable:
    defaults = tuple(real(x) if isinstance(x, float) else x for x in function.__defaults__ or ())
    copy = pytypes.FunctionType(
        function.__code__, function.__globals__, function.__name__, defaults, function.__closure__
    )
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    return copy


def _assignments(func_ir: Any):
    for block in func_ir.blocks.values():
        for statement in block.body:
            if isinstance(statement, ir.Assign):
                yield statement


# Pipelines


class ScalarPipeline(CompilerBase):
    """Numba's compiler for scalar functions: its own passes less those for arrays and closures."""

    real: type[np.floating] | None = None
    library: type[Part] | None = ScalarPart

    def define_pipelines(self) -> list[PassManager]:
        manager = PassManager("numgrad_scalar")
        for stage in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            BindCalleesAndLiterals,
            untyped_passes.IRProcessing,
            untyped_passes.RewriteSemanticConstants,
            untyped_passes.DeadBranchPrune,
            untyped_passes.GenericRewrites,
            untyped_passes.ReconstructSSA,
            typed_passes.NopythonTypeInference,
            ReplaceArithmetic,
            typed_passes.PreLowerStripPhis,
            typed_passes.NoPythonSupportedFeatureValidation,
            typed_passes.IRLegalization,
            typed_passes.NativeLowering,
            typed_passes.NoPythonBackend,
        ):
            manager.add_pass(stage, stage.__name__)
        manager.finalize()
        return [manager]


class SinglePipeline(ScalarPipeline):
    """The same for kernels whose real dtype is float32."""

    real = np.float32


class CorePipeline(CompilerBase):
    """Numba's own pipeline, in which plain Python callees compile too; for core functions."""

    real = None
    library: type[Part] | None = Part

    def define_pipelines(self) -> list[PassManager]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.add_pass_after(BindCalleesAndLiterals, untyped_passes.FixupArgs)
        manager.add_pass_after(ReplaceArithmetic, typed_passes.NopythonTypeInference)
        manager.finalize()
        return [manager]


@cache
def executable(pipeline: Any) -> Any:
    """The same pipeline for functions that Python calls, and for what these call."""
    return type(f"Executable{pipeline.__name__}", (pipeline,), {"library": None})
