"""What a function under ``njit`` takes, writes and returns, for arguments of given types.

Arguments and results may be nested tuples. Their form is these tuples with the object `PLACE` in
place of each array or number.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import typeof
from numba.core import types
from numba.np.numpy_support import as_dtype

from .._adjoint.derived import type_of
from .._adjoint.extents import Extents, UnknownExtentError
from .._adjoint.frontend.reading import read
from .._adjoint.frontend.source import Kernel
from .._adjoint.ssa.refusal import AdjointError
from .._errors import CaptureError


class _Place:
    """The object that stands in nested tuples for an array or a number."""


PLACE = _Place()


def filled(form: Any, take: Callable[[], Any]) -> Any:
    """Return nested tuples with ``take()`` in place of each `PLACE`."""
    if isinstance(form, tuple):
        inner = [filled(part, take) for part in form]
        return type(form)(*inner) if hasattr(form, "_fields") else tuple(inner)
    return take() if form is PLACE else form


def paths(form: Any, path: str = "") -> Iterator[str]:
    """Yield, for each `PLACE` in nested tuples, the indices that lead to it, as text: ``[0][1]``.
    """
    if isinstance(form, tuple):
        for n, part in enumerate(form):
            yield from paths(part, f"{path}[{n}]")
    elif form is PLACE:
        yield path


class Core(NamedTuple):
    """The dtype of an array or a number, and how many axes it has."""

    dtype: np.dtype
    ndim: int

    def sample(self) -> Any:
        """Return an empty array, or zero, of this dtype and number of axes."""
        array = np.zeros((0,) * self.ndim, self.dtype)
        return array if self.ndim else array[()]


class Interface:
    """What a function takes, writes and returns, for arguments of given types.

    Parameters
    ----------
    dispatcher : Dispatcher
    form : tuple
        The arguments, with `PLACE` instead of arrays and numbers.
    inputs : sequence of Core
        The types of those arrays and numbers.

    Attributes
    ----------
    program : Program
    names : list of str
        The names of the inputs.
    written : list of int
        The positions of the inputs that are written.
    result : object
        What is returned, with `PLACE` instead of arrays and numbers.
    returned : list of Core
        The types of those arrays and numbers.

    Raises
    ------
    AdjointError
        If the source is not understood, or what is returned is no number, array or tuple.
    """

    def __init__(self, dispatcher: Any, form: tuple[Any, ...], inputs: Sequence[Core]) -> None:
        self.name = dispatcher.py_func.__name__
        self.form, self.inputs = form, list(inputs)
        self._file = dispatcher.py_func.__code__.co_filename
        samples = self.arguments([core.sample() for core in inputs])
        self.types = [type_of(sample) for sample in samples]
        self.program = read(dispatcher, self.types)
        self.names = [value.hint for value in self.program.parameters]
        self.written = self.program.written
        self.returned: list[Core] = []
        self.result = self._form_of(_return_type(dispatcher, samples))
        self.file = Kernel.of(dispatcher).place.file

    def arguments(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments of the function, given the arrays and numbers in them."""
        return filled(self.form, iter(values).__next__)

    def _form_of(self, kind: Any) -> Any:
        """Return the form of a result of one of Numba's types, and note the arrays and numbers in
        it."""
        if isinstance(kind, types.NoneType):
            return None
        if isinstance(kind, types.BaseTuple):
            parts: Any = kind
            inner = [self._form_of(part) for part in parts]
            is_named = isinstance(kind, types.BaseNamedTuple)
            return parts.instance_class(*inner) if is_named else tuple(inner)
        if isinstance(kind, types.Array):
            self.returned.append(Core(as_dtype(kind.dtype), kind.ndim))
        elif isinstance(kind, (types.Number, types.Boolean)):
            self.returned.append(Core(as_dtype(kind), 0))
        else:
            raise AdjointError(
                f"{self._file}, in {self.name}: what is returned is no number, array or tuple of "
                f"them: {kind}"
            )
        return PLACE

    def shapes(self, shapes: Sequence[tuple[int, ...]], known: dict[int, int]) -> Any:
        """Return the shape of each array or number that is returned.

        Parameters
        ----------
        shapes : sequence of tuple of int
            Those of the inputs.
        known : dict
            The values of integers among the inputs, by position.
        """
        if not any(core.ndim for core in self.returned):
            return ((),) * len(self.returned)
        extents = Extents(self.program, shapes, known)
        found = []
        for core, value in zip(self.returned, self.program.results, strict=True):
            try:
                found.append(extents.of(value) if core.ndim else ())
            except UnknownExtentError as error:
                raise self._unknown(error) from None
        return tuple(found)

    def _unknown(self, error: UnknownExtentError) -> CaptureError:
        value, line = error.value, error.line
        where = f"{self.file}, line {line}, in {self.name}" if line else self.name
        name = f"`{value.hint}`" if value.hint else "a number that it computes"
        way = f"the length of an array argument or a constant in place of {name}"
        if value in self.program.parameters:
            way = (
                f"an integer of Python for {name} (static_argnames=({value.hint!r},) if it is an "
                f"argument of the captured function too)"
            )
        return CaptureError(
            f"{where}: the shape of an array that {self.name} returns depends on {name}, whose "
            f"value is not known where ng.jit or vmap captures a function: write {way}, or call "
            f"{self.name} outside"
        )


def _return_type(dispatcher: Any, samples: Sequence[Any]) -> Any:
    """Return Numba's type of the result for arguments like ``samples``, for which Numba compiles.
    """
    given = tuple(dispatcher.typeof_pyval(sample) for sample in samples)
    kind: Any = typeof(dispatcher)
    return kind.get_call_type(dispatcher.typingctx, given, {}).return_type
