"""Kernels with a loop inside: a thread takes all steps of a recurrence, for one sample or column.

What is carried stays in the registers of the thread: the compiler puts local arrays there, as all
indices are known. (For names that are bound anew Numba takes a time that grows with the square of
their number.) The elements of the next step are read before
the present step is computed, so that memory answers meanwhile.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ....ir.kernel_spec import ProductSpec
from ....ir.recurrence import Recurrence
from ..compile.kernel import Kernel, Number, Parameter, Word
from .elementwise import ElementWalk, function_of, index_type, loop, place, signature, storage_dtype

_INDENT = "    "


class Form(NamedTuple):
    """What a kernel of a recurrence depends on.

    Attributes
    ----------
    recurrence : Recurrence
    dtypes : tuple of dtype
        Those of the operands, inputs without the constants and then outputs.
    walk : ElementWalk
        The walk over the samples and, along the last axis, the columns.
    moving : tuple of bool
        For each output whether it has elements for each step. Another output that is carried gets
        the state behind the last step, and others get nothing.
    constants : tuple of (dtype, int)
        For each constant its dtype, and the number of the parameter that has it.
    are_columns : bool
        Whether the last axis is that of columns: then one of them writes what belongs to all.
    """

    recurrence: Recurrence
    dtypes: tuple[np.dtype, ...]
    walk: ElementWalk
    moving: tuple[bool, ...]
    constants: tuple[tuple[np.dtype, int], ...] = ()
    are_columns: bool = False


def of_steps(name: str, form: Form, threads: int) -> Kernel:
    """Return the kernel of a recurrence, with so many threads in a block."""
    return _Text(form).kernel(name, threads)


class _Text:
    """Writes the text of the kernel of a form."""

    def __init__(self, form: Form) -> None:
        self._form, self._of = form, form.recurrence
        self._nin = len(self._of.per_step) - 1  # without the constants
        self._names = [f"x{k}" for k in range(self._nin)]
        self._names += [f"out{k}" for k in range(len(form.dtypes) - self._nin)]
        self._scope: dict[str, Any] = {"index_type": index_type(form.walk), "int64": np.int64}
        self._arrays: list[str] = []
        self._number_of_constant = iter(form.constants)
        self._ends = dict(zip(self._of.outputs, self._of.values, strict=True))
        carried = [p for p in self._of.outputs if p[0] < self._of.carried]
        self._states = self._kept("s", {p: p for p in carried})

    def kernel(self, name: str, threads: int) -> Kernel:
        form = self._form
        given, listed = signature(self._names, form.dtypes, form.walk)
        moves = [k for k in range(len(self._names)) if self._moves(k)]
        numbers = dict(sorted((n, dtype) for dtype, n in form.constants))
        parameters: list[Parameter] = [*given, *[Word()] * (1 + len(moves))]
        parameters += [Number(d) if d.kind == "f" else Word() for d in numbers.values()]
        listed = [*listed, "count", *[f"{self._names[k]}_step" for k in moves]]
        listed += [f"c{n}" for n in numbers]
        text = loop(listed, form.walk, self._lines(moves))
        return Kernel(name, text, tuple(parameters), self._scope, threads)

    def _moves(self, operand: int) -> bool:
        if operand < self._nin:
            return self._of.per_step[operand]
        return self._form.moving[operand - self._nin]

    def _lines(self, moves: Sequence[int]) -> list[str]:
        """Return the lines of a thread for one sample and column."""
        of, form = self._of, self._form
        begins = [place(name, form.walk, k) for k, name in enumerate(self._names)]
        lines = [f"p{k} = int64({at})" for k, at in enumerate(begins)]
        inputs = list(enumerate(of.inputs))
        each = {n: p for n, p in inputs if of.per_step[p[0]]}
        kept = self._kept("a", each)
        lines = [*self._arrays, *lines]
        lines += [f"v{n} = {self._load(p)}{_test(p)}" for n, p in inputs
                  if p not in self._states and n not in each]  # fmt: skip
        lines += [f"{name} = {self._load(p)}" for p, name in self._states.items()]
        lines += ["goes_on = True"] * (of.goes_on is not None)
        ahead = [f"{name} = {self._load(each[n])}" for n, name in kept.items()]
        steps = [
            *[f"v{n} = {name}{_test(each[n])}" for n, name in kept.items()],
            *[f"v{n} = {self._states[p]}{_test(p)}" for n, p in inputs if p in self._states],
            "t += 1",
            *self._onwards([k for k in moves if k < self._nin]),
            *([] if not ahead else ["if t < count:", *[_INDENT + line for line in ahead]]),
            *self._values(),
            *self._stores({p: f"v{n}" for p, n in self._ends.items() if self._is_moving(p)}),
            *[f"{name} = v{self._ends[p]}" for p, name in self._states.items()],
            *self._onwards([k for k in moves if k >= self._nin]),
        ]  # fmt: skip
        head = "while t < count:"
        if of.goes_on is not None:
            steps.append(f"goes_on = v{of.goes_on}")
            head = "while t < count and goes_on:"
        turns = ["t = int64(0)", head, *[_INDENT + line for line in steps]]
        lines += ["if count > 0:", *[_INDENT + line for line in (*ahead, *turns)]]
        last = {p: name for p, name in self._states.items() if not self._is_moving(p)}
        if of.goes_on is not None:
            last |= {p: "goes_on" for p, value in self._flags() if value == of.goes_on}
        return [*lines, *self._stores(last)]

    def _kept(self, letter: str, places: dict[Any, Any]) -> dict[Any, str]:
        """Return for each key the element of a local array in which a scalar is kept.

        ``places`` has the places of the scalars. The arrays are added to those of the kernel.
        """
        found: dict[Any, str] = {}
        sizes: dict[np.dtype, int] = {}
        for key, (_, _, dtype) in places.items():
            number = sizes.setdefault(dtype, 0)
            sizes[dtype] += 1
            found[key] = f"{letter}_{dtype.str[1:]}[{number}]"
        for dtype, size in sizes.items():
            name = dtype.str[1:]
            self._scope[f"dtype_{name}"] = storage_dtype(dtype)
            self._arrays.append(f"{letter}_{name} = cuda.local.array({size}, dtype_{name})")
        return found

    def _flags(self) -> list[tuple[Any, int]]:
        """Return the places that say at the end whether the loop goes on, and their values."""
        return [(p, v) for p, v in self._ends.items() if p[0] >= self._of.carried]

    def _is_moving(self, p: Any) -> bool:
        return self._form.moving[p[0]]

    def _onwards(self, operands: Sequence[int]) -> list[str]:
        return [f"p{k} += {self._names[k]}_step" for k in operands]

    def _load(self, p: Any) -> str:
        """Return the expression of a scalar, as stored, of an input operand or a constant."""
        operand, offset, dtype = p
        if operand == self._nin:
            _, number = next(self._number_of_constant)
            return f"c{number}"
        return f"x{operand}[p{operand} + {offset // dtype.itemsize}]"

    def _stores(self, values: dict[Any, str]) -> list[str]:
        """Return the lines that write values to places of outputs.

        Of what belongs to all columns the first one writes.
        """
        own: list[str] = []
        common: list[str] = []
        for (operand, offset, dtype), value in values.items():
            number = self._nin + operand
            is_common = self._form.are_columns and self._form.walk.along(number)[-1] == 0
            line = f"out{operand}[p{number} + {offset // dtype.itemsize}] = {value}"
            (common if is_common else own).append(line)
        if common:
            axis = self._form.walk.axes - 1
            own += [f"if i{axis} == 0:", *[_INDENT + line for line in common]]
        return own

    def _values(self) -> list[str]:
        """Return the lines that apply the functions, each rounded to the dtype of its result."""
        functions: dict[Any, str] = {}
        lines, first = [], len(self._of.inputs)
        for number, (spec, args) in enumerate(self._of.steps, first):
            given = ", ".join(f"v{a}" for a in args)
            if isinstance(spec, ProductSpec):
                dtype = spec.in_dtypes[0]
                zero = f"zero_{dtype.char}"
                self._scope[zero] = dtype.type(0)
                total = "" if len(args) == 3 else f", {zero}"
                lines.append(f"v{number} = cuda.fma({given}{total})")
                continue
            name = functions.setdefault(spec.identity, f"f{len(functions)}")
            if name not in self._scope:
                self._scope[name] = function_of(spec)
                self._scope[f"t{name}"] = spec.out_dtypes[0].type
            lines.append(f"v{number} = t{name}({name}({given}))")
        return lines


def _test(p: Any) -> str:
    """Return what follows the expression of a stored scalar, so that bytes become booleans."""
    return " != 0" if p[2].kind == "b" else ""


__all__ = ["Form", "of_steps"]
