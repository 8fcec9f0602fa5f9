"""Give the literals of a scalar function the kernel's dtype.

Numba has no NEP 50: ``2.0 * x`` with a float32 ``x`` is float64 arithmetic. So float literals,
globals that are floats or tuples of floats, and the integer literals that meet a float get the
kernel's own dtype. The literals are replaced in Numba's intermediate representation, which, unlike
byte code, does not change with the version of Python. The compilers for the CPU and for CUDA have
different classes for this representation.
"""

import operator
import types as pytypes
from typing import Any, NamedTuple

import numpy as np

_ARITHMETIC = {
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
}  # fmt: skip
_COMPARISONS = {operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
_INTEGRAL, _OTHER = "integral", "other"


class Language(NamedTuple):
    """What differs between Numba's compilers for the CPU and for CUDA.

    Attributes
    ----------
    ir, types
        The compiler's modules of the intermediate representation, and of types.
    modules, functions
        Modules of functions, and functions, whose arguments must all have the same float dtype.
    """

    ir: Any
    types: Any
    modules: tuple[Any, ...]
    functions: tuple[Any, ...]

    @property
    def integral(self) -> Any:
        return self.types.Integer | self.types.Boolean


def attribute(func_ir: Any, value: Any, ir: Any) -> Any:
    """Return the object for which an expression ``module.name`` stands; None for other expressions.
    """
    if not isinstance(value, ir.Expr) or value.op != "getattr":
        return None
    try:
        definition = func_ir.get_definition(value.value)
        owner = attribute(func_ir, definition, ir) or definition.value
    except (KeyError, AttributeError):
        return None
    return getattr(owner, value.attr, None) if isinstance(owner, pytypes.ModuleType) else None


class Literals:
    """Gives the literals of one function the dtype ``real``, statement by statement.

    All float literals get that dtype, and so do integer literals that meet a float. ``args`` has
    the Numba types of the function's arguments.
    """

    def __init__(
        self, func_ir: Any, args: tuple[Any, ...], real: type[np.floating], language: Language
    ) -> None:
        self.language, self.ir = language, language.ir
        self.func_ir = func_ir
        self.definitions = getattr(func_ir, "_definitions", None) or self.assigned()
        self.args = args
        self.real = real
        self.complex = np.result_type(real, np.complex64).type
        self.integers: dict[str, int] = {}  # variables that hold a literal integer
        self.kinds: dict[str, str] = {}  # of variables: integral numbers, or other values
        self.count = 0

    def assigned(self) -> dict[str, list[Any]]:
        """Return the values that are assigned to variables, by the names of these."""
        found: dict[str, list[Any]] = {}
        for block in self.func_ir.blocks.values():
            for statement in block.body:
                if isinstance(statement, self.ir.Assign):
                    found.setdefault(statement.target.name, []).append(statement.value)
        return found

    def run(self) -> None:
        for block in self.func_ir.blocks.values():
            body = []
            for statement in block.body:
                if isinstance(statement, self.ir.Assign):
                    body += self.assignment(statement)
                body.append(statement)
            block.body = body

    def assignment(self, statement: Any) -> list[Any]:
        """Rewrite one assignment; return the assignments to be put in front."""
        value, name = statement.value, statement.target.name
        self.integers.pop(name, None)
        if isinstance(value, self.ir.Const | self.ir.Global | self.ir.FreeVar):
            statement.value = self.literal(name, value)
        elif isinstance(value, self.ir.Var):
            self.copy_facts(value.name, name)
        elif isinstance(value, self.ir.Arg):
            integral = isinstance(self.args[value.index], self.language.integral)
            self.kinds[name] = _INTEGRAL if integral else _OTHER
        elif isinstance(value, self.ir.Expr):
            return self.expression(statement, value, name)
        return []

    def literal(self, name: str, value: Any) -> Any:
        number = value.value
        self.kinds[name] = _OTHER
        if isinstance(number, float) and not isinstance(number, np.generic):
            return self.ir.Const(self.real(number), value.loc)
        if isinstance(number, complex) and not isinstance(number, np.generic):
            return self.ir.Const(self.complex(number), value.loc)
        if type(number) is tuple and {type(item) for item in number} == {float}:
            return self.ir.Global(name, tuple([self.real(item) for item in number]), value.loc)
        if type(number) is int:
            self.kinds[name] = _INTEGRAL
            if len(self.definitions[name]) == 1:
                self.integers[name] = number
        return value

    def copy_facts(self, source: str, target: str) -> None:
        if source in self.integers and len(self.definitions[target]) == 1:
            self.integers[target] = self.integers[source]
        self.kinds[target] = self.kinds.get(source, _OTHER)

    def expression(self, statement: Any, value: Any, name: str) -> list[Any]:
        self.kinds[name] = _OTHER
        if value.op in ("binop", "inplace_binop"):
            return self.binary(value, name)
        if value.op == "getattr":
            constant = attribute(self.func_ir, value, self.ir)
            if type(constant) is float:
                statement.value = self.ir.Const(self.real(constant), value.loc)
        elif value.op == "pair_first" or (value.op == "call" and self.callee(value) is int):
            self.kinds[name] = _INTEGRAL  # the variable of a loop over a range, or a call of int
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

    def callee(self, call: Any) -> Any:
        """Return the function that a call names by a global; None for any other call."""
        try:
            return self.func_ir.get_definition(call.func).value
        except (KeyError, AttributeError):
            return None

    def takes_floats(self, call: Any) -> bool:
        """Whether the arguments of a call must all have the same float dtype, as in ``math.pow``.

        Arguments that are all integers stay what they are.
        """
        if all(self.kinds.get(arg.name) == _INTEGRAL for arg in call.args):
            return False
        try:
            definition = self.func_ir.get_definition(call.func)
            if isinstance(definition, self.ir.Expr) and definition.op == "getattr":
                owner = self.func_ir.get_definition(definition.value).value
                return owner in self.language.modules and definition.attr != "ldexp"
        except (KeyError, AttributeError):
            return False
        return self.callee(call) in self.language.functions

    def as_floats(self, operands: Any, loc: Any) -> tuple[list[Any], list[Any]]:
        """Replace operands that are integer literals by new variables that hold floats.

        Return the operands, and the assignments of the new variables, which must come first.
        """
        result, before = [], []
        for operand in operands:
            if operand.name in self.integers:
                self.count += 1
                fresh = self.ir.Var(operand.scope, f"$real_literal.{self.count}", loc)
                constant = self.ir.Const(self.real(self.integers[operand.name]), loc)
                before.append(self.ir.Assign(constant, fresh, loc))
                self.definitions[fresh.name] = [constant]
                operand = fresh
            result.append(operand)
        return result, before
