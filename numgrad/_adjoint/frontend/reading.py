"""From a kernel and the types of its arguments to a program."""

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from ..builder.bases import require_by_value, written_by
from ..builder.building import Builder
from ..builder.things import Complex, Lazy, ReadLater, Static, Thing, tuple_like
from ..ssa.ir import Program, Type, Value
from ..ssa.refusal import AdjointError, Refusal
from .complexes import joined, parts_of_parameter
from .source import Kernel
from .statements import Statements


class Known:
    """An argument that is a constant of the derived function.

    Parameters
    ----------
    value : object
    """

    def __init__(self, value: Any) -> None:
        self.value = value


def read(function: Any, arguments: Sequence[Any]) -> Program:
    """Return a kernel as structured SSA.

    Parameters
    ----------
    function : callable
        A function or a dispatcher of Numba.
    arguments : sequence
        For each parameter its ``Type``, a tuple of them, or a ``Known`` constant.

    Returns
    -------
    Program

    Raises
    ------
    AdjointError
        If a statement is not understood.
    """
    later: set[Any] = set()
    while True:
        try:
            return _read(function, arguments, later)
        except ReadLater as array:
            later.add(array.key)


def _read(function: Any, arguments: Sequence[Any], later: set[Any]) -> Program:
    """Return a kernel as structured SSA; ``later`` has the arrays that are read after the loops
    that make them."""
    kernel = Kernel.of(function)
    program = Program(kernel.name, kernel.place.file)
    program.read_later = later
    builder = Builder(program)
    program.is_parallel = bool(getattr(function, "targetoptions", {}).get("parallel"))
    reader = Statements(builder, kernel, {})
    for name, argument in zip(kernel.parameters, arguments, strict=True):
        _require_understood(kernel, name, argument)
        reader.names[name] = _parameter(reader, program, name, argument)
    _return(builder, program, reader.run())
    if program.room is not None and program.room.op is not None:
        program.body.ops.insert(0, program.room.op)
    try:
        require_by_value(program)
    except Refusal as refusal:
        raise AdjointError(f"{kernel.place.file}, {refusal}") from None
    options = getattr(function, "targetoptions", {})
    program.written = written_by(program)
    program.is_exact = not options.get("fastmath")
    return program


def _require_understood(kernel: Kernel, name: str, argument: Any) -> None:
    """Refuse an argument of a kind that kernels are not understood with, and say what to write."""
    value = argument.value if isinstance(argument, Known) else None
    reason = ""
    if kernel.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
        reason = f"takes any number of arguments: hand over a tuple, without the `*` of `*{name}`"
    if type(value).__module__.startswith("numba.typed"):
        kind = type(value).__name__
        ways = {"Dict": "its values, in a named tuple"}
        reason = f"is a numba.typed.{kind}: hand over {ways.get(kind, 'a tuple, or an array')}"
    elif hasattr(type(value), "_numba_type_") and not isinstance(value, Dispatcher):
        reason = "is an object of a class: hand over its attributes, in a named tuple"
    elif isinstance(argument, Type) and np.dtype(argument.dtype).kind not in "biufc":
        reason = f"has elements that are no numbers: hand over its fields, as in `f({name}['x'])`"
    if reason:
        place = kernel.place
        text = f"{place.file}, line {place.first_line}, in {place.name}: the argument `{name}`"
        raise AdjointError(f"{text} {reason}")


def _parameter(reader: Statements, program: Program, name: str, argument: Any) -> Thing:
    if isinstance(argument, Known):
        return reader.known(argument.value, name)
    if isinstance(argument, tuple) and not isinstance(argument, Type):
        parts = enumerate(argument)
        return tuple_like(
            argument, [_parameter(reader, program, f"{name}_{n}", part) for n, part in parts]
        )
    made = Value(argument, program.body, None, name)
    program.parameters.append(made)
    if made.type.is_array:
        reader.b.shapes[made] = reader.b.shape(made)
    return parts_of_parameter(reader.b, program, made) if made.type.is_complex else made


def _return(builder: Builder, program: Program, thing: Thing) -> None:
    """Note the results of the kernel in the program."""
    if isinstance(thing, Static) and thing.value is None:
        return
    program.structure = "tuple" if isinstance(thing, tuple) else "one"
    for part in _parts(thing):
        if isinstance(part, Complex):
            part = joined(builder, part)
        if isinstance(part, Lazy):
            part = builder.computed(part)
        if not isinstance(part, Value):
            reason = getattr(
                part, "reason", "what is returned is not a number, an array or a tuple"
            )
            raise AdjointError(f"{program.name}: {reason}")
        program.results.append(part)


def _parts(thing: Thing) -> list[Thing]:
    """Return the results, with tuples taken apart; None is no result."""
    if isinstance(thing, tuple):
        return [part for inner in thing for part in _parts(inner)]
    return [] if isinstance(thing, Static) and thing.value is None else [thing]
