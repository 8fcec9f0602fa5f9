"""Numba's compilers for kernels: two more passes copy callees, and set the dtype of literals."""

import math
import types as pytypes
from typing import Any

import numpy as np
from numba.core import ir, typed_passes, types, untyped_passes
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass

from ...literals import Language, Literals
from ..compile.inline_library import InlineLibrary, ScalarInlineLibrary, inline_library
from ..math import scalar_math
from ..math.arithmetic import ReplaceArithmetic
from . import private_copies

_LANGUAGE = Language(
    ir, types, (math, scalar_math.real),
    (scalar_math.where, scalar_math.maximum, scalar_math.minimum),
)  # fmt: skip


@register_pass(mutates_CFG=False, analysis_only=False)
class BindCallees(FunctionPass):
    """A pass before type inference: put private copies in place of the called functions."""

    _name = "numgrad_bind_callees"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        """Replace the callees in ``state.func_ir``.

        Return True, which tells Numba that the code has changed.
        """
        constants = state.func_id.code.co_consts
        inner = [item for item in constants if isinstance(item, pytypes.CodeType)]
        private_copies.bind(state.func_ir, private_copies.Caller.of(state), inner)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class SetLiterals(FunctionPass):
    """A pass before type inference: give literals the kernel's real dtype.

    The pass also sets the code library into which Numba puts the function: an `InlineLibrary`,
    unless the function needs an address (`private_copies.executable`).
    """

    _name = "numgrad_set_literals"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> Any:
        """Set the dtype of literals in ``state.func_ir``, and the code library of the function.

        Return True, which tells Numba that the code has changed.
        """
        pipeline = type(state.pipeline)
        if pipeline.library is not None:
            state.library = inline_library(pipeline.library, state.func_id.func_qualname)
        if pipeline.real is not None:
            Literals(state.func_ir, state.args, pipeline.real, _LANGUAGE).run()
        return True


# Pipelines


class ScalarPipeline(CompilerBase):
    """Numba's compiler for scalar functions, without the passes for arrays and closures."""

    real: type[np.floating] | None = None
    library: type[InlineLibrary] | None = ScalarInlineLibrary

    def define_pipelines(self) -> list[PassManager]:
        manager = PassManager("numgrad_scalar")
        for stage in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            BindCallees,
            SetLiterals,
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
    """The compiler of scalar functions for kernels whose real dtype is float32."""

    real = np.float32


class PlainPipeline(CompilerBase):
    """Numba's compiler for functions as they are; the code is not loaded."""

    real = None
    library: type[InlineLibrary] | None = InlineLibrary

    def define_pipelines(self) -> list[PassManager]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.add_pass_after(SetLiterals, untyped_passes.IRProcessing)
        manager.finalize()
        return [manager]


class CorePipeline(CompilerBase):
    """Numba's compiler for core functions, with all passes of Numba's own.

    Plain Python functions that a core function calls are compiled too.
    """

    real = None
    library: type[InlineLibrary] | None = InlineLibrary

    def define_pipelines(self) -> list[PassManager]:
        manager = DefaultPassBuilder.define_nopython_pipeline(self.state)
        manager.add_pass_after(SetLiterals, untyped_passes.IRProcessing)
        # Blocks that Python runs (`objmode`) have been taken out by then; inlined functions, which
        # come after, bring new callees.
        manager.add_pass_after(BindCallees, untyped_passes.InlineClosureLikes)
        manager.add_pass_after(BindCallees, untyped_passes.InlineInlinables)
        manager.add_pass_after(ReplaceArithmetic, typed_passes.NopythonTypeInference)
        manager.finalize()
        return [manager]

