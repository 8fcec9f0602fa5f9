"""The NumPy methods of tensors: functions of this package under the names that arrays give them."""

import builtins
import math
import sys
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from ..._declare.dtypes import native
from ..._errors import DtypeError
from ..._tensor import Tensor
from ...engine.graph.memory_order import stand_in
from ...engine.graph.value import Shape, Value, View
from ...engine.record.apply import mode
from ...engine.record.guards import guarded
from ...operators.elementwise.cast import cast
from ..array import device_transfer, pandas_operands, persistence, text
from ..array.array_class import Array
from ..array.operands import as_scalar
from ..creation import dlpack, memory_order
from ..elementwise import complex_parts, rounding
from ..indexing import assignment, indexing, inplace
from ..linalg import traces
from ..products import products
from ..reduction import cumulative, statistics
from ..shape import diagonals, repeating, reshaping, selection
from ..sorting import ordering, searching, sorting
from . import described, namespace, protocols
from .refused_methods import no_view, refused


def _fixed(attribute: Any, name: str, instead: str) -> Any:
    """Return a property whose assignment, which NumPy allows, raises an AttributeError that says
    what to write instead."""

    def refuse(self: Any, value: Any) -> None:
        raise AttributeError(f"the {name} of a tensor cannot be assigned; write {instead}")

    return attribute.setter(refuse)


def _part(function: Any, doc: str) -> Any:
    """Return a property for the parts of complex numbers; what is assigned to it is written into
    them."""

    def assign(self: Any, value: Any) -> None:
        if self.is_scalar:
            raise AttributeError(
                "the parts of an element that was read, or of a result without axes, cannot be "
                "assigned, as with scalars of NumPy; write z.real[i] = value"
            )
        inplace.setitem(function(self), ..., value)

    return property(function, assign, doc=doc)


def _in_memory(x: Tensor) -> np.ndarray:
    """Return the array of a tensor, or, where the elements are computed later, an array of the same
    layout."""
    if x.array is None and mode.capture is not None:
        return stand_in(x)
    return x._computed()


class Methods:
    """What `Tensor` offers beside its graph; ``functions.binding`` gives it to the class."""

    __slots__ = ()

    # The array
    shape: Shape = _fixed(Value.shape, "shape", "t.reshape(shape)")
    dtype: np.dtype = _fixed(Value.dtype, "dtype", "t.astype(dtype)")

    @property
    def size(self: Any) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self: Any) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self: Any) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def strides(self: Any) -> tuple[int, ...]:
        """The bytes from an element to the next one along each axis; an argument of a captured
        function has the strides of a copy."""
        return _in_memory(self).strides

    @property
    def flags(self: Any) -> Any:
        """How the elements lie in memory, and whether they can be written; see `strides`."""
        return _in_memory(self).flags

    def setflags(
        self: Any, write: bool | None = None, align: bool | None = None, uic: bool | None = None
    ) -> None:
        """Set whether the elements may be written."""
        self._computed().setflags(write, align, uic)

    @property
    def base(self: Any) -> Any:
        """The tensor that this one is a view of."""
        return self._view.base if isinstance(self._view, View) else None

    @property
    def flat(self: Any) -> assignment.Flat:
        """The elements one after the other."""
        return assignment.Flat(self)

    @flat.setter
    def flat(self: Any, value: Any) -> None:
        assignment.put(self, np.arange(self.size), value)

    def view(self: Any, dtype: Any = None, type: Any = None) -> Tensor:
        """Return another tensor of the same memory; other dtypes are refused."""
        if isinstance(dtype, builtins.type) and issubclass(dtype, Array):
            dtype = None
        if dtype is None and type is None:
            return reshaping.reshape(self, self.shape)
        if isinstance(dtype, (int, tuple)) or type is not None or np.dtype(dtype) != self.dtype:
            raise no_view(dtype, self.dtype)
        return reshaping.reshape(self, self.shape)

    def tobytes(self: Any, order: Any = "C") -> bytes:
        """Return the bytes of the elements; refused where gradients flow."""
        return self.numpy().tobytes(order)

    def tofile(self: Any, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements to a file; refused where gradients flow."""
        self.numpy().tofile(fid, sep, format)

    ctypes = refused("ctypes", "pass t.detach().numpy().ctypes to a library in C")
    byteswap = refused("byteswap", "write ng.asarray(t.detach().numpy().byteswap())")
    dump = refused("dump", "write np.save(file, t.detach().numpy())")
    dumps = refused("dumps", "write pickle.dumps(t), or t.detach().numpy().dumps()")
    getfield = refused("getfield", "its dtypes have no fields; write t.real or t.imag")
    setfield = refused("setfield", "its dtypes have no fields; write t[key] = value")
    resize = refused("resize", "its size stays; write t.reshape(shape)")

    # Elementwise and reductions: NumPy gives the method the parameters of the function
    clip = selection.clip
    round = rounding.round

    all = described.all
    any = described.any
    argmax = described.argmax
    argmin = described.argmin
    cumprod = cumulative.cumprod
    cumsum = cumulative.cumsum
    max = described.max
    mean = statistics.mean
    min = described.min
    prod = described.prod
    std = described.std
    sum = described.sum
    var = described.var

    argsort = sorting.argsort
    argpartition = ordering.argpartition
    choose = assignment.choose
    nonzero = searching.nonzero
    put = assignment.put
    searchsorted = searching.searchsorted

    def compress(
        self: Any, condition: Any, axis: int | None = None, out: Tensor | None = None
    ) -> Tensor:
        """Return the slices along ``axis`` for which a condition holds."""
        return assignment.compress(condition, self, axis, out)

    def sort(
        self: Any,
        axis: int = -1,
        kind: str | None = None,
        *,
        descending: bool = False,
        stable: bool | None = True,
    ) -> None:
        """Sort in place along ``axis``; `ng.sort` returns a sorted tensor instead."""
        ordered = sorting.sort(self, axis, kind, descending=descending, stable=stable)
        inplace.setitem(self, ..., ordered)

    def partition(
        self: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: None = None
    ) -> None:
        """Sort the ``kth`` elements in place to where they belong; see `ng.partition`."""
        inplace.setitem(self, ..., ordering.partition(self, kth, axis, kind, order))

    def conj(self: Any) -> Tensor:
        """Return the complex conjugate; of real numbers the tensor itself, as in NumPy."""
        return complex_parts.conj(self) if self.dtype.kind == "c" else self

    conjugate = conj

    # Linear algebra
    diagonal = diagonals.diagonal
    dot = products.dot
    trace = traces.trace

    # Shape
    ravel = reshaping.ravel
    repeat = repeating.repeat
    squeeze = reshaping.squeeze
    swapaxes = reshaping.swapaxes
    take = indexing.take

    flatten = reshaping.flatten

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Tensor:
        """Return the elements in another shape: a tuple or separate sizes; one may be -1."""
        return reshaping.reshape(self, _unpack(shape), order, copy=copy)

    def transpose(self, *axes: Any) -> Tensor:
        """Permute the axes; without arguments reverse them."""
        order = _unpack(axes)
        return reshaping.transpose(self, order or None)

    def permute(self, *axes: Any) -> Tensor:
        """Permute the axes (torch's name); all must be given."""
        return reshaping.permute_dims(self, _unpack(axes))

    @property
    def T(self) -> Tensor:  # noqa: N802
        """The tensor with its axes reversed."""
        return reshaping.transpose(self)

    @property
    def mT(self) -> Tensor:  # noqa: N802
        """The tensor with its last two axes exchanged: a stack of matrices, each transposed."""
        return reshaping.matrix_transpose(self)

    # Elements
    real = _part(complex_parts.real, "The real parts, a view.")
    imag = _part(complex_parts.imag, "The imaginary parts, a view of complex numbers.")

    def astype(
        self: Any, dtype: Any, order: str = "K", casting: Any = "unsafe", subok: bool = True,
        copy: bool = True,
    ) -> Tensor:  # fmt: skip
        """Return the tensor converted to ``dtype``, if ``casting`` allows it; without ``copy``, the
        tensor itself if it has that dtype and order. ``subok`` has no effect."""
        if casting != "unsafe" and not np.can_cast(self.dtype, dtype, casting):
            to = np.dtype(dtype)
            raise DtypeError(f"astype: {self.dtype} cannot become {to} with casting={casting!r}")
        converted = cast(self, native(dtype))
        converted = self.clone() if copy and converted is self else converted
        converted = memory_order.in_order(converted, order)
        if self.is_scalar:
            converted._view = self._view
        return converted

    def copy(self: Any, order: str = "C") -> Tensor:
        """Return a copy; gradients flow through it."""
        copied = memory_order.in_order(self, order, copy=True)
        return as_scalar(copied) if self.is_scalar else copied

    def fill(self: Any, value: Any) -> None:
        """Write ``value`` to every element."""
        inplace.setitem(self, ..., value)

    # Devices and exchange
    @property
    def at(self) -> NoReturn:
        """An attribute of JAX's arrays that tensors lack: the error says how to write in place what
        JAX updates by ``x.at[index].set(value)``."""
        raise AttributeError(
            "'Tensor' object has no attribute 'at', as tensors are written in place, and gradients "
            "follow: for x.at[index].set(value) write y = x.clone(); y[index] = value"
        )

    @property
    def device(self) -> str:
        """Where the tensor lives: ``"cpu"``, or a GPU such as ``"cuda:0"``."""
        return self.spec.device  # type: ignore[attr-defined]

    def to_device(self: Any, device: Any, /, *, stream: Any = None) -> Tensor:
        """Return the tensor itself if it is on ``device``, else a copy there, through which
        gradients flow; a ``stream`` of a GPU makes the copy, if one is given."""
        if stream is not None:
            return device_transfer.placed_by(self, device, stream)
        return device_transfer.placed_on(self, device)

    def to(self: Any, device: Any) -> Tensor:
        """Return the tensor on ``device``; see `to_device`."""
        return device_transfer.placed_on(self, device)

    def cpu(self: Any) -> Tensor:
        """Return the tensor on the processor."""
        return device_transfer.placed_on(self, "cpu")

    def cuda(self: Any, index: int = 0) -> Tensor:
        """Return the tensor on a GPU."""
        return device_transfer.placed_on(self, f"cuda:{index}")

    def gradient(self: Any) -> np.ndarray | None:
        """Return ``grad`` as an array of NumPy, or ``None`` (paddle's name)."""
        return None if self.grad is None else self.grad.detach().cpu().numpy(copy=True)

    def __dlpack__(
        self: Any,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        """Export the values, read-only, to another library through DLPack."""
        return dlpack.to_dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self: Any) -> tuple[int, int]:
        kind, _, index = self.device.partition(":")
        return (2, int(index)) if kind == "cuda" else (1, 0)

    @property
    def __cuda_array_interface__(self: Any) -> dict[str, Any]:
        """Where a GPU has the values, read-only."""
        return dlpack.cuda_interface(self)

    def __array_namespace__(self, *, api_version: str | None = None) -> ModuleType:
        namespace.require_alone(sys._getframe(1))
        return namespace.array_namespace(api_version)

    __array__ = protocols.array
    __float__ = protocols.float_of
    __complex__ = protocols.complex_of
    __array_ufunc__ = protocols.array_ufunc
    __array_function__ = protocols.array_function

    _numba_type_ = property(protocols.numba_type)

    @property
    def __pandas_priority__(self) -> int:
        return pandas_operands.priority(sys._getframe(1))

    # Copies and text
    def __copy__(self: Any) -> Tensor:
        return self.copy()

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Tensor:
        if persistence.is_for_fields(sys._getframe(1)):
            return self.clone()
        return persistence.deepcopy_leaf(self, memo)

    def __reduce__(self: Any) -> tuple[Any, ...]:
        return persistence.reduce_leaf(self)

    def __repr__(self) -> str:
        return text.represent(self)

    def __str__(self) -> str:
        return text.written(self)

    def __format__(self, specification: str) -> str:
        return text.format_number(self, specification)


def _unpack(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the numbers of ``f((2, 3))`` and of ``f(2, 3)`` alike."""
    if len(arguments) != 1:
        return arguments
    (first,) = arguments
    if isinstance(first, (tuple, list)) or (isinstance(first, (np.ndarray, Tensor)) and first.ndim):
        return tuple(guarded(first))
    return () if first is None else arguments
