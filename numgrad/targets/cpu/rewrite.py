"""A compiler pass for scalar functions: literals in the kernel's dtype, plain callees compiled too.

Numba has no NEP 50: ``2.0 * x`` with a float32 ``x`` is float64 arithmetic. So float literals,
float globals and the integer literals that meet a float get the kernel's own dtype. The pass works
on Numba's intermediate representation because that, unlike byte code, does not change with Python.
"""

import math
import operator
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


_ARITHMETIC = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
}  # fmt: skip
_COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
_INTEGRAL, _OTHER = "integral", "other"


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
            _Literals(state.func_ir, state.args, pipeline.real).run()
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
    found = value.value if named else _attribute(func_ir, value)
    ours = named or getattr(found, "__module__", None) == complex_math.__name__
    return found if ours and isinstance(found, pytypes.FunctionType) else None


def _attribute(func_ir: Any, value: Any) -> Any:
    """What an attribute of a module is; None for everything else."""
    if not isinstance(value, ir.Expr) or value.op != "getattr":
        return None
    try:
        owner = func_ir.get_definition(value.value).value
    except (KeyError, AttributeError):
        return None
    return getattr(owner, value.attr, None) if isinstance(owner, pytypes.ModuleType) else None


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


class _Literals:
    """One run over a function: replaces float literals, then integer literals beside floats."""

    def __init__(self, func_ir: Any, args: tuple[types.Type, ...], real: type[np.floating]) -> None:
        self.func_ir = func_ir
        self.args = args
        self.real = real
        self.complex = np.result_type(real, np.complex64).type
        self.integers: dict[str, int] = {}  # variables that hold a literal integer
        self.kinds: dict[str, str] = {}
        self.count = 0

    def run(self) -> None:
        for block in self.func_ir.blocks.values():
            body = []
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    body += self.assignment(statement)
                body.append(statement)
            block.body = body

    def assignment(self, statement: Any) -> list[Any]:
        """Rewrite one assignment; returns the assignments that must precede it."""
        value, name = statement.value, statement.target.name
        self.integers.pop(name, None)
        if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
            statement.value = self.literal(name, value)
        elif isinstance(value, ir.Var):
            self.copy_facts(value.name, name)
        elif isinstance(value, ir.Arg):
            integral = isinstance(self.args[value.index], types.Integer | types.Boolean)
            self.kinds[name] = _INTEGRAL if integral else _OTHER
        elif isinstance(value, ir.Expr):
            return self.expression(statement, value, name)
        return []

    def literal(self, name: str, value: Any) -> Any:
        number = value.value
        self.kinds[name] = _OTHER
        if isinstance(number, float) and not isinstance(number, np.generic):
            return ir.Const(self.real(number), value.loc)
        if isinstance(number, complex) and not isinstance(number, np.generic):
            return ir.Const(self.complex(number), value.loc)
        if type(number) is int:
            self.kinds[name] = _INTEGRAL
            if len(self.func_ir._definitions[name]) == 1:
                self.integers[name] = number
        return value

    def copy_facts(self, source: str, target: str) -> None:
        if source in self.integers and len(self.func_ir._definitions[target]) == 1:
            self.integers[target] = self.integers[source]
        self.kinds[target] = self.kinds.get(source, _OTHER)

    def expression(self, statement: Any, value: Any, name: str) -> list[Any]:
        self.kinds[name] = _OTHER
        if value.op in ("binop", "inplace_binop"):
            return self.binary(value, name)
        if value.op == "getattr":
            constant = _attribute(self.func_ir, value)
            if type(constant) is float:
                statement.value = ir.Const(self.real(constant), value.loc)
        elif value.op == "pair_first":  # the variable of a loop over a range
            self.kinds[name] = _INTEGRAL
        elif value.op == "call" and not value.kws and self.takes_floats(value):
            value.args, before = self.as_floats(value.args, value.loc)
            return before
        return []

    def binary(self, value: Any, name: str) -> list[Any]:
        function = value.fn if value.op == "binop" else value.immutable_fn
        operands = (value.lhs, value.rhs)
        integral = all(self.kinds.get(operand.name) == _INTEGRAL for operand in operands)
        if integral or function not in (*_ARITHMETIC, operator.pow):
            if integral and function is not operator.truediv and function not in _COMPARISONS:
                self.kinds[name] = _INTEGRAL
            return []
        if function is operator.pow:  # an integer exponent keeps its meaning: repeated products
            (value.lhs,), before = self.as_floats(operands[:1], value.loc)
        else:
            (value.lhs, value.rhs), before = self.as_floats(operands, value.loc)
        return before

    def takes_floats(self, call: Any) -> bool:
        """Whether a callee is of `scalar_math` or ``math``, whose arguments have one dtype."""
        if all(self.kinds.get(arg.name) == _INTEGRAL for arg in call.args):
            return False
        try:
            definition = self.func_ir.get_definition(call.func)
            if isinstance(definition, ir.Expr) and definition.op == "getattr":
                owner = self.func_ir.get_definition(definition.value).value
                return owner in (math, scalar_math.real) and definition.attr != "ldexp"
            return definition.value in (scalar_math.where, scalar_math.maximum, scalar_math.minimum)
        except (KeyError, AttributeError):
            return False

    def as_floats(self, operands: Any, loc: Any) -> tuple[list[Any], list[Any]]:
        """Replace integer literals; returns the operands and the assignments that they need."""
        result, before = [], []
        for operand in operands:
            if operand.name in self.integers:
                self.count += 1
                fresh = ir.Var(operand.scope, f"$real_literal.{self.count}", loc)
                constant = ir.Const(self.real(self.integers[operand.name]), loc)
                before.append(ir.Assign(constant, fresh, loc))
                self.func_ir._definitions[fresh.name] = [constant]
                operand = fresh
            result.append(operand)
        return result, before


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
