"""Check that a user's kernel writes its outputs, and no input.

Inputs share memory with other values, saved values included: Numba compiles them as readonly arrays
and refuses most writes; this module finds further ones. An output that is never written would keep
the old content of its memory. The usual reason is ``out = 0.0`` in place of ``out[0] = 0.0``: it
gives the name another value. A sum that begins with ``out[0] += x[i]`` starts from the old content
too.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numba.core import compiler, errors, ir
from numba.core.dispatcher import Dispatcher
from numba.core.ir_utils import build_definitions
from numba.core.ssa import reconstruct_ssa

from numgrad._errors import OperatorError

_REFUSAL = "Cannot modify readonly array"
_REFUSAL_OF_UPDATE = "'NoneType' object has no attribute 'args'"  # of a readonly view, by Numba
_PLACE = re.compile(r"at (\S[^\n]*?) \((\d+)\)")
_DESCRIPTIONS = {"shape", "size", "ndim", "dtype", "itemsize", "nbytes", "strides"}
_READING = {"binop", "unary", "inplace_binop"}
_ITEMS = {"getitem", "static_getitem"}
_BUILTINS = (len, range)
_DEEPEST = 20  # the most operations through which a value is followed


class Writes:
    """Finds the writes of a core function to its array parameters, and checks them.

    Parameters
    ----------
    name : str
        The name of the kernel in errors.
    function : callable
    inputs, outputs : sequences of str
        The names of the array parameters.
    """

    def __init__(
        self, name: str, function: Callable, inputs: Sequence[str], outputs: Sequence[str]
    ) -> None:
        self.name, self.inputs, self.outputs = name, inputs, outputs
        # The chain of calls that led to this function, each with the parameter in question.
        self.callers: frozenset[tuple[Callable, str]] = frozenset()
        plain = compiler.run_frontend(function)
        self.file, self.line = plain.func_id.filename, plain.func_id.firstlineno
        self.lines = {output: _line_of(plain, output) for output in outputs}
        self.func_ir = reconstruct_ssa(plain)
        self.definitions = build_definitions(self.func_ir.blocks)  # Numba's precede the SSA form

    def check_inputs(self) -> None:
        """Raise an `OperatorError` where a kernel certainly writes an input."""
        for statement in _statements(self.func_ir):
            for variable in self._targets(statement):
                origin = self._origin(variable, through=("flat",))
                if origin in self.inputs:
                    raise self._input_error(origin, self.file, statement.loc.line)

    def check_outputs(self) -> None:
        """Raise an `OperatorError` for an output that the kernel certainly does not set.

        An output is set where a value is written that is not computed from the output's own
        elements. The write may use another name, a view, or a function compiled by Numba. Any other
        function that gets the output is taken to set it.
        """
        for output in self.outputs:
            if not self._sets(output):
                raise self._output_error(output)

    def _sets(self, parameter: str) -> bool:
        """Whether an array parameter may get values that are not computed from its own elements."""
        return any(
            self._is_set(statement, variable, parameter)
            for statement in _statements(self.func_ir)
            for variable in self._handed_on(statement)
            if self._whole(variable) == parameter
        )

    def _is_set(self, statement: Any, variable: Any, parameter: str) -> bool:
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            is_target = variable.name == statement.target.name
            return not (is_target and self._reads(statement.value, parameter))
        value = getattr(statement, "value", None)
        is_view = isinstance(value, ir.Expr) and value.op in _ITEMS
        if (is_view or isinstance(value, ir.Var)) and self._whole(statement.target) == parameter:
            return False  # uses of the new name are looked at as well
        called = self._called(value, variable)
        return called is None or any(function._sets(name) for function, name in called)

    def _called(self, value: Any, variable: Any) -> list[tuple["Writes", str]] | None:
        """Return the parameters of a called function that get a variable as their argument.

        Each comes as a pair: the `Writes` of the called function, and the parameter's name. The
        result is None if ``value`` is no call, if Numba does not compile the called function, or if
        arguments are not positional.
        """
        function = self._constant(value.func) if _is_call(value) else None
        if not isinstance(function, Dispatcher) or value.kws or value.vararg:
            return None
        parameters = inspect.signature(function.py_func).parameters.values()
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return None
        found = []
        for parameter, item in zip(parameters, value.args, strict=False):
            one = function.py_func, parameter.name
            if item.name == variable.name and one not in self.callers:  # else recursion
                called = Writes(self.name, function.py_func, (), ())
                called.callers = self.callers | {one}
                found.append((called, parameter.name))
        return found

    def _output_error(self, output: str) -> OperatorError:
        updates = self._updates(output)
        if updates:
            return OperatorError(
                f"{self.name}: the kernel computes its output {output} from what the memory held "
                f"before ({self.file}:{updates[0]}): write its elements before they are read, "
                f"{output}[...] = 0.0 before {output}[...] += ..."
            )
        return OperatorError(
            f"{self.name}: the kernel never writes its output {output} "
            f"({self.file}:{self.lines[output]}), which would be what the memory held "
            f"before: write its elements, {output}[...] = ...; {output} = ... does not"
        )

    def _updates(self, parameter: str) -> list[int]:
        """Return the lines that write elements of an array parameter, here or in called functions.
        """
        found = []
        for statement in _statements(self.func_ir):
            value: Any = getattr(statement, "value", None)
            targets = self._targets(statement)
            is_one = any(self._whole(variable) == parameter for variable in targets)
            for variable in value.args if _is_call(value) else ():
                if self._whole(variable) == parameter:
                    called = self._called(value, variable) or ()
                    is_one = is_one or any(function._updates(name) for function, name in called)
            if is_one:
                found.append(statement.loc.line)
        return found

    def _reads(self, variable: Any, parameter: str, depth: int = 0) -> bool:
        """Whether the value of a variable is computed from elements of an array parameter."""
        value = self._definition(variable)
        if isinstance(value, ir.Var) and depth <= _DEEPEST:
            return self._reads(value, parameter, depth + 1)
        if not isinstance(value, ir.Expr) or depth > _DEEPEST:
            return False
        if value.op in _ITEMS:
            return self._whole(value.value) == parameter
        return value.op in _READING and any(
            self._reads(operand, parameter, depth + 1) for operand in value.list_vars()
        )

    def refused(self, error: Exception) -> OperatorError | None:
        """Return the `OperatorError` for an error by which Numba refuses a write to an input.

        None stands for errors with another cause.
        """
        text = str(error)
        if _REFUSAL_OF_UPDATE in text:
            return self._updated_input()
        if _REFUSAL not in text:
            return None
        lines = [int(line) for file, line in _PLACE.findall(text) if file == self.file]
        loc = getattr(error, "loc", None)
        if not lines:
            return self._input_error(None, getattr(loc, "filename", self.file), loc and loc.line)
        origins = {
            self._origin(variable, through=None)
            for statement in _statements(self.func_ir)
            if statement.loc.line == lines[-1]
            for variable in (*self._targets(statement), *self._handed_on(statement))
        }
        found = [name for name in self.inputs if name in origins]
        return self._input_error(found[0] if len(found) == 1 else None, self.file, lines[-1])

    def _updated_input(self) -> OperatorError | None:
        """Return the error for an in-place update of an input or its view; None if none exists."""
        for statement in _statements(self.func_ir):
            value = getattr(statement, "value", None)
            if isinstance(value, ir.Expr) and value.op == "inplace_binop":
                found = self._whole(value.lhs)
                if found in self.inputs:
                    return self._input_error(found, self.file, statement.loc.line)
        return None

    def _input_error(self, parameter: str | None, file: str, line: int | None) -> OperatorError:
        what = f"its input {parameter}" if parameter else "one of its inputs"
        return OperatorError(
            f"{self.name}: the kernel writes {what} ({file}:{line}). Inputs belong to others, who "
            f"read them later: write to an output, or to a copy of the input"
        )

    def _targets(self, statement: Any) -> list[Any]:
        """Return the variables that a statement certainly writes."""
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            return [statement.target]
        value = getattr(statement, "value", None)
        if not isinstance(value, ir.Expr):
            return []
        if value.op == "inplace_binop":
            return [value.lhs]
        function = self._constant(value.func) if value.op == "call" else None
        return value.args[function.nin :] if isinstance(function, np.ufunc) else []

    def _handed_on(self, statement: Any) -> list[Any]:
        """Return the variables that a statement may write, rename, or pass to a function."""
        if not isinstance(statement, ir.Assign):
            return [] if isinstance(statement, ir.Del) else statement.list_vars()
        value = statement.value
        if isinstance(value, ir.Var):
            return [value]
        if not isinstance(value, ir.Expr) or value.op in _READING:
            return []
        if value.op == "getattr" and value.attr in _DESCRIPTIONS:
            return []
        if value.op == "call" and self._constant(value.func) in _BUILTINS:
            return []
        if value.op in _ITEMS and self._is_number(statement.target):
            return []
        return value.list_vars()

    def _is_number(self, variable: Any) -> bool:
        """Whether the result of a subscript is only read, as a number, and never used as a view.
        """
        uses = (s for s in _statements(self.func_ir) if variable in s.list_vars())
        return all(self._only_reads(statement, variable) for statement in uses)

    def _only_reads(self, statement: Any, variable: Any) -> bool:
        if isinstance(statement, ir.SetItem | ir.StaticSetItem):
            return statement.target.name != variable.name
        if isinstance(statement, ir.Assign) and statement.target.name != variable.name:
            return isinstance(statement.value, ir.Expr) and statement.value.op in _READING
        return isinstance(statement, ir.Assign | ir.Del)

    def _origin(self, variable: Any, through: Sequence[str] | None) -> str | None:
        """Return the parameter that a variable refers to, or None.

        The variable may be another name of the parameter, or an attribute that ``through`` lists.
        If ``through`` is None, the variable may also be any attribute or view of the parameter, or
        the result of any call on the parameter.
        """
        for _ in range(99):
            definition = self._definition(variable)
            if isinstance(definition, ir.Arg):
                return definition.name
            if isinstance(definition, ir.Expr):
                definition = self._source(definition, through)
            if not isinstance(definition, ir.Var):
                return None
            variable = definition
        return None

    def _whole(self, variable: Any) -> str | None:
        """Return the parameter that a variable names, or views, or is an element of; else None."""
        for _ in range(99):
            definition = self._definition(variable)
            if isinstance(definition, ir.Expr) and definition.op in _ITEMS:
                variable = definition.value
            elif isinstance(definition, ir.Var):
                variable = definition
            else:
                return definition.name if isinstance(definition, ir.Arg) else None
        return None

    def _source(self, value: Any, through: Sequence[str] | None) -> Any:
        if value.op == "getattr" and (through is None or value.attr in through):
            return value.value
        if through is not None:
            return None
        if value.op in ("getitem", "static_getitem"):
            return value.value
        if value.op == "call":
            owner = self._definition(value.func)
            method = isinstance(owner, ir.Expr) and self._constant(owner.value) is None
            return value.func if method else next(iter(value.args), None)
        return None

    def _definition(self, variable: Any) -> Any:
        found = self.definitions.get(getattr(variable, "name", None), ())
        return found[0] if len(found) == 1 else None

    def _constant(self, variable: Any) -> Any:
        """Return the value of a variable that is a global or a global's attribute; else None."""
        definition = self._definition(variable)
        if isinstance(definition, ir.Global | ir.FreeVar):
            return definition.value
        if isinstance(definition, ir.Expr) and definition.op == "getattr":
            return getattr(self._constant(definition.value), definition.attr, None)
        return None


def _is_call(value: Any) -> bool:
    return isinstance(value, ir.Expr) and value.op == "call"


def _line_of(func_ir: Any, output: str) -> int:
    """Return the line that binds an output's name to another value.

    Without such a line, return the first line of the function.
    """
    again = (
        statement.loc.line
        for statement in _statements(func_ir)
        if isinstance(statement, ir.Assign)
        and statement.target.name == output
        and not isinstance(statement.value, ir.Arg)
    )
    return next(again, func_ir.func_id.firstlineno)


def _statements(func_ir: Any) -> Iterator[Any]:
    for block in func_ir.blocks.values():
        yield from block.body


def wants_writable(error: Exception) -> bool:
    """Whether Numba refused readonly arrays, as a called function takes writable arrays only."""
    return isinstance(error, errors.NumbaError) and "readonly" in str(error)
