"""Operators for functions under ``njit``: their values, and their derivatives."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._declare.operator import Specs
from .._declare.typed_host import TypedHostOperator
from ..engine.record import apply
from ..process.cached_attribute import lazy
from .interface import PLACE, Core, Interface, paths
from .rows import Rows, array_types, compiled, copied, element, writable


class OfLoops(TypedHostOperator):
    """An operator that calls compiled loops, on arrays of given dtypes and numbers of axes.

    Parameters
    ----------
    name : str
    inputs, outputs : sequence of tuple of str
        The names of the core dimensions of each.
    cores, results : sequence of Core
        The dtypes and numbers of axes of inputs and outputs.
    """

    lends = True

    def __init__(
        self, name: str, inputs: Sequence[tuple[str, ...]], outputs: Sequence[tuple[str, ...]],
        cores: Sequence[Core], results: Sequence[Core],
    ) -> None:  # fmt: skip
        self.cores, self.out_cores = tuple(cores), tuple(results)
        self.of_rows = Rows(self.single, self.cores, self.compiled_rows)
        given, made = [core.dtype for core in cores], [core.dtype for core in results]
        super().__init__(name, inputs, outputs, given, made)

    def compiled_rows(self, shared: tuple[bool, ...]) -> Callable[..., None]:
        """Return the compiled function that computes all rows but the first; see `Rows`."""
        raise NotImplementedError

    def lower(
        self, builder: Any, inputs: Sequence[Any], specs: Specs, static: dict[str, Any]
    ) -> list[Any]:
        shared = tuple([not o.buffer.rows and not _has_loop(o, core) for o, core in
                        zip(inputs, self.cores, strict=True)])  # fmt: skip
        if not all(shared):
            self.of_rows.prepare(shared)
        return super().lower(builder, inputs, specs, static)

    def note(self, where: str) -> str:
        return f"in {self.name}, a function of loops under njit{where}"


class Loops(OfLoops):
    """A function under ``njit`` as an operator, for arguments of given types.

    The outputs are what the function returns, followed by the arguments that it writes.
    """

    def __init__(self, dispatcher: Any, interface: Interface) -> None:
        self.dispatcher, self.interface = dispatcher, interface
        inputs = [dimensions("p", n, core) for n, core in enumerate(interface.inputs)]
        returned = [dimensions("r", n, core) for n, core in enumerate(interface.returned)]
        written = interface.written
        super().__init__(
            interface.name, inputs, [*returned, *(inputs[n] for n in written)],
            interface.inputs, [*interface.returned, *(interface.inputs[n] for n in written)],
        )  # fmt: skip
        self.declare(self._pulled, [True] * len(inputs) + [False] * self.nout)

    def __call__(self, *args: Any, **static: Any) -> Any:
        """Apply the operator.

        A plan is used only if no result is an array, as the shape of such a result is known from
        the call alone.
        """
        if not any(core.ndim for core in self.interface.returned):
            return super().__call__(*args, **static)
        outputs = apply.apply(self, self.prepare(args, static), static)
        return tuple(outputs) if self.nout > 1 else outputs[0]

    def sizes(
        self, shapes: Sequence[tuple[int, ...]], static: dict[str, Any]
    ) -> dict[str, int]:
        known = self.core_sizes(shapes)
        outputs = zip(self.signature.outputs, static.get("shapes", ()), strict=False)
        return known | {
            name: n for core, shape in outputs for name, n in zip(core, shape, strict=True)
        }

    # Values

    def single(self, *arrays: np.ndarray) -> list[np.ndarray]:
        return self._called(self.dispatcher, arrays)

    def _called(self, function: Any, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        interface = self.interface
        values = [writable(a) if a.ndim else a[()] for a in arrays]
        for n in interface.written:
            values[n] = arrays[n].copy() if values[n] is arrays[n] else values[n]
        result = function(*interface.arguments(values))
        parts = _parts(result, interface.result)
        found = [
            _own(np.asarray(part, core.dtype), values)
            for part, core in zip(parts, interface.returned, strict=True)
        ]
        return [*found, *(values[n] for n in interface.written)]

    def compiled_rows(self, shared: tuple[bool, ...]) -> Callable[..., None]:
        interface, count = self.interface, len(self.cores)
        given, results = [f"p{n}" for n in range(count)], [f"o{n}" for n in range(self.nout)]
        first = len(interface.returned)
        cores = [element(name, same) for name, same in zip(given, shared, strict=True)]
        body = [f"for r in range(1, {results[0]}.shape[0]):"]
        for n, name in zip(interface.written, results[first:], strict=True):
            body += [f"    {line}" for line in copied(name, cores[n], self.cores[n].ndim)]
            cores[n] = f"{name}[r]"
        text, space = _call_text(interface.form, cores)
        body.append(f"    result = kernel({text})")
        for path, name, core in zip(paths(interface.result), results, interface.returned,
                                    strict=False):  # fmt: skip
            part = f"result{path}"
            lines = copied(name, part, core.ndim) if core.ndim else [f"{name}[r] = {part}"]
            body += [f"    {line}" for line in lines]
        types = [
            *array_types(self.cores, shared),
            *array_types(self.out_cores, [False] * self.nout),
        ]
        return compiled([*given, *results], body, {"kernel": self._serial(), **space}, types)

    def _serial(self) -> Any:
        """Return the function compiled for one thread, as the rows are shared out among the
        threads."""
        if not self.dispatcher.targetoptions.get("parallel"):
            return self.dispatcher
        from numba import njit

        options = {**self.dispatcher.targetoptions, "parallel": False}
        options.pop("nopython", None)
        return njit(self.dispatcher.py_func, **options)

    def native(self, other: int) -> int | None:
        from .native_calls import native_loops

        return native_loops(self, other) if hasattr(self.dispatcher, "overloads") else None

    # Derivatives

    def derived(self, wanted: tuple[int, ...]) -> Any:
        """Return the derived adjoint for the inputs whose gradients are wanted.

        Raises
        ------
        NotDifferentiableError
            If a statement is not understood.
        """
        return self.derivation.pullback(wanted).derived

    @lazy
    def derivation(self) -> Any:
        """The derivatives of the function."""
        from .derivation import Derivation

        first = len(self.interface.returned)
        written = {n: first + k for k, n in enumerate(self.interface.written)}
        interface = self.interface
        return Derivation(
            self.dispatcher, interface.types, self.name, written, returned=interface.returned
        )

    def tangent(
        self, forward_pass: Any, context: Any, tangents: Sequence[Any]
    ) -> Sequence[Any] | None:
        """Return the tangents of the operator's outputs, given those of its inputs."""
        moved = self._floating([t is not None for t in tangents])
        inputs = [context.input(n) for n in range(len(self.cores))]
        along = {n: tangents[n] for n in moved}
        return self.derivation.tangents(inputs, context.output_specs, along)

    def _pulled(self, context: Any, *grads: Any) -> tuple[Any, ...]:
        """Return the cotangents of the operator's inputs, given those of its outputs."""
        inputs = [context.input(n) for n in range(len(self.cores))]
        return self.derivation.gradients(inputs, self._floating(context.wanted), grads)

    def _floating(self, wanted: Sequence[bool]) -> tuple[int, ...]:
        return tuple([n for n, w in enumerate(wanted) if w and self.cores[n].dtype.kind in "fc"])


def _has_loop(operand: Any, core: Core) -> bool:
    """Whether an operand has more than one element along the axes in front of its core."""
    return math.prod(operand.shape[: len(operand.shape) - core.ndim]) != 1


def dimensions(letter: str, number: int, core: Core) -> tuple[str, ...]:
    return tuple(f"{letter}{number}a{axis}" for axis in range(core.ndim))


def _parts(result: Any, form: Any) -> list[Any]:
    """Return the arrays and numbers in a result, which has the nested tuples of ``form``."""
    if isinstance(form, tuple):
        pairs = zip(result, form, strict=True)
        return [found for part, inner in pairs for found in _parts(part, inner)]
    return [] if form is None else [result]


def _own(array: np.ndarray, values: Sequence[Any]) -> np.ndarray:
    """Return an array, or a copy of it if it shares memory with an argument."""
    for value in values if array.ndim else ():
        if isinstance(value, np.ndarray) and np.may_share_memory(value, array):
            return array.copy()
    return array


def _call_text(form: tuple[Any, ...], cores: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return the arguments of a call as text, and the values of the names in it that are constants.

    ``cores`` are the texts for the arrays and numbers in the form of the arguments.
    """
    space: dict[str, Any] = {}
    given = iter(cores)

    def named(thing: Any) -> str:
        name = f"c{len(space)}"
        space[name] = thing
        return name

    def text(thing: Any) -> str:
        if isinstance(thing, tuple):
            inner = "".join([f"{text(part)}, " for part in thing])
            return f"{named(type(thing))}({inner})" if hasattr(thing, "_fields") else f"({inner})"
        return next(given) if thing is PLACE else named(thing)

    return ", ".join(map(text, form)), space
