"""Kernels that call a function of whole arrays in Python.

The machine calls such a kernel like any other, by an address: ctypes takes the GIL, and the
function reads the operands in place, as arrays. Where the operator can be called without Python, it
is so from some call on (`HostKernel.leave_python`).
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...._declare.kernel import elements
from ....ir.kernel_spec import HostSpec, core_dimensions

_Function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5)

_MOST_VIEWS = 64
"""The most calls whose operands a kernel keeps as arrays: a program makes the same calls again."""


class HostKernel:
    """A kernel that calls a Python function of whole arrays; the attributes are as in `Kernel`."""

    rows_address = 0

    def __init__(self, spec: HostSpec) -> None:
        self.spec, self.name = spec, spec.name
        self.nin, self.nout = len(spec.in_dtypes), len(spec.out_dtypes)
        self._dtypes = (*spec.in_dtypes, *spec.out_dtypes)
        nops = len(self._dtypes)
        self._cores = core_dimensions(spec.signature)
        self._ncore = list(map(len, self._cores))
        names = dict.fromkeys(name for core in self._cores for name in core)
        self._number = {name: n for n, name in enumerate(names)}
        self._options = dict(spec.options)
        self._nbytes = [8 * n for n in (nops, len(names), nops + sum(self._ncore))]
        self._views: dict[tuple, list[np.ndarray]] = {}
        self._stopped: BaseException | None = None
        self._called = _Function(self._kernel)  # ctypes frees the code with this object
        self.address = ctypes.cast(self._called, ctypes.c_void_p).value or 0
        self.is_native: bool | None = None  # not known before `leave_python`

    def leave_python(self) -> bool:
        """Put a kernel that runs without Python in the place of this kernel, which then serves
        unusual calls only; return whether there is such a kernel.

        Programs that are bound already keep the address that they have.
        """
        if self.is_native is None:
            native = self.spec.native and self.spec.native(self.address)
            self.address = native or self.address
            self.is_native = native is not None
        return self.is_native

    def call(self, *arrays: np.ndarray, places: Sequence[np.ndarray] = ()) -> tuple[Any, int]:
        """Return the results and 0; if the function raised, None and 1 plus the element's index.

        A function that can write its results to ``places`` does.

        The exception itself is raised later, by a second call (`again`). A `MemoryError` is raised
        at once: the second call might find enough memory.
        """
        try:
            results = self._compute(arrays, places)
        except MemoryError:
            raise
        except Exception:
            return None, 1 + self._first_failure(arrays)
        return (results if self.nout > 1 else results[0]), 0

    def again(self, cores: Sequence[np.ndarray]) -> None:
        """Call the function again for one element of the loop, so that it raises its exception.

        If the last call from the machine has kept an exception, that exception is raised instead.
        """
        stopped, self._stopped = self._stopped, None
        if stopped is not None:
            raise stopped
        self._compute(cores)

    def _compute(
        self, arrays: Sequence[np.ndarray], places: Sequence[np.ndarray] = ()
    ) -> tuple[np.ndarray, ...]:
        into = self.spec.into if places else None
        with np.errstate(all="ignore"):
            if into is None:
                found = self.spec.function(*arrays, **self._options)
            else:
                found = into(places, *arrays)
        found = tuple(found) if self.nout > 1 else (found,)
        pairs = zip(found, self.spec.out_dtypes, strict=True)
        return tuple([np.asarray(value, dtype) for value, dtype in pairs])

    def _first_failure(self, arrays: Sequence[np.ndarray]) -> int:
        """Return the first position in the loop for which the function raises."""
        for number, (_, cores) in enumerate(elements(arrays, self._ncore[: self.nin])):
            try:
                self._compute(cores)
            except Exception:
                return number
        return 0  # the function raises for all elements together only

    # In programs ----------------------------------------------------------------------------------

    def _kernel(self, ptrs: int, n: int, core_dims: int, steps: int, status: int) -> None:
        """Carry out a call from the machine; the arguments are those of every kernel.

        An exception that `call` does not turn into a status is kept for `again`, as ctypes would
        drop it.

        An exception that nobody has raised yet stops the next call as well: a caller that gets no
        reason for a failed run runs the program again, to learn the reason.
        """
        try:
            if self._stopped is not None:
                raise self._stopped
            operands = self._operands(ptrs, n or 0, core_dims, steps)
            results, failed = self.call(*operands[: self.nin], places=operands[self.nin :])
            if failed:
                ctypes.c_int64.from_address(status).value = failed
                return
            results = results if self.nout > 1 else (results,)
            for place, result in zip(operands[self.nin :], results, strict=True):
                if result is not place:
                    place[...] = result
        except BaseException as error:  # an interrupt, or a mistake in the declaration
            self._stopped = error
            ctypes.c_int64.from_address(status).value = 1

    def _operands(self, ptrs: int, n: int, core_dims: int, steps: int) -> list[np.ndarray]:
        """Return the operands of a call as arrays, which are kept for equal calls.

        A kept array owns no memory, and is used only in a call that says where its elements are.
        """
        tables = zip((ptrs, core_dims, steps), self._nbytes, strict=True)
        key = (n, *[ctypes.string_at(place, size) for place, size in tables])
        found = self._views.get(key)
        if found is None:
            if len(self._views) >= _MOST_VIEWS:
                self._views.clear()
            found = self._views[key] = self._made(n, *map(_words, key[1:]))
        return found

    def _made(
        self, n: int, places: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
    ) -> list[np.ndarray]:
        result, at = [], len(places)
        for k, (dtype, core) in enumerate(zip(self._dtypes, self._cores, strict=True)):
            shape = (n, *[sizes[self._number[name]] for name in core])
            own = (strides[k], *strides[at : at + len(core)])
            at += len(core)
            readonly = k < self.nin and not self.spec.lends
            result.append(np.asarray(Memory(places[k], shape, own, dtype, readonly)))
        return result


def _words(table: bytes) -> Sequence[int]:
    return memoryview(table).cast("q").tolist()


class Memory:
    """Memory at an address, described by NumPy's array interface."""

    __slots__ = ("__array_interface__",)

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: np.dtype,
        readonly: bool,
    ) -> None:
        self.__array_interface__ = {
            "data": (address, readonly),
            "shape": shape,
            "strides": strides,
            "typestr": dtype.str,
            "version": 3,
        }
