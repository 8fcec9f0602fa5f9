"""Tensor: an array and its place in the graph. ``functions`` binds arithmetic and methods."""

import math
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import array as array_of  # NumPy's own, for good

from . import _devices
from ._declare import registry
from ._declare.dtypes import numbers, read, require_floating, require_numbers, require_plain
from ._declare.operands import constant, placed
from ._errors import (
    ArgTypeError,
    DeviceError,
    GradDtypeError,
    GradShapeError,
    NoGradError,
    PlaceTypeError,
)
from .engine.capture import capture, escapes
from .engine.differentiate import hooks
from .engine.graph.node import Accumulator, Value, View
from .engine.graph.value import CPU
from .engine.record import apply
from .engine.record.device_launch import on_host
from .engine.record.guards import guarded

if TYPE_CHECKING:  # functions.binding gives this to the class: the functions need tensors
    from .functions.tensor.methods import Methods
    from .functions.tensor.python_operators import Arithmetic
else:

    class Arithmetic:
        __slots__ = ()

    class Methods:
        __slots__ = ()


ArrayLike = Any  # numbers, arrays and nested sequences, converted as NumPy converts them


class Tensor(Arithmetic, Methods, Value):
    """An array that remembers how it was computed; made with ``ng.tensor``.

    Attributes
    ----------
    shape, dtype, ndim, size
        As in NumPy.
    requires_grad : bool
        Whether gradients are computed for it.
    grad : Tensor or None
        Where ``backward`` accumulates.
    """

    __slots__ = ()
    __array_priority__ = 1000.0

    # The array
    # ----------------------------------------------------------------------------------------

    def numpy(self, *, copy: bool = False) -> np.ndarray:
        """Return the array: a read-only view, or a writable copy.

        Raises
        ------
        DetachedError
            If the tensor requires grad and operations are recorded: the graph would be cut without
            a word. Where no gradient is to flow, use ``.detach().numpy()``.
        """
        array = self._computed()
        if self.spec.device != CPU:
            raise DeviceError(
                f"numpy() of a tensor on {self.spec.device}, which NumPy cannot read: write "
                f"x.cpu().numpy()"
            )
        escapes.refuse_escape(self, "numpy()", escapes.VALUES, "x.detach().numpy()")
        if copy:
            return array.copy()
        view = array.view()
        view.flags.writeable = False
        return view

    def _computed(self) -> np.ndarray:
        if self.array is None:
            found = capture.constant_elements(self)
            return capture.refuse_reading(self) if found is None else found
        if apply.other_modes:
            for watcher in (apply.mode.capture, apply.mode.trace):
                if watcher is not None:
                    watcher.note_read(self)
        return self.array

    def _on_host(self) -> np.ndarray:
        """Return the array, or a copy of what a device has."""
        return on_host(self._computed())

    def item(self, *args: Any) -> Any:
        """Return the only element as a Python number, or that at an index.

        Raises
        ------
        DetachedError
            If the tensor requires grad, in a function that `func.grad` or another transformation
            differentiates: gradients would be lost without a word.
        """
        escapes.refuse_escape_in_transform(self, "item()", escapes.VALUES, "x.detach().item()")
        return self._on_host().item(*args)

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers; raises where `item` does."""
        escapes.refuse_escape_in_transform(self, "tolist()", escapes.VALUES, "x.detach().tolist()")
        return self._on_host().tolist()

    def __int__(self) -> int:
        return int(self._number("int"))

    # math.trunc, floor and ceil: where a derivative of them exists, it is 0.

    def __trunc__(self) -> int:
        return math.trunc(self._on_host().item())

    def __floor__(self) -> int:
        return math.floor(self._on_host().item())

    def __ceil__(self) -> int:
        return math.ceil(self._on_host().item())

    def __index__(self) -> int:
        return self._number("index").__index__()

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return the only element as a fraction, for Python's ``statistics``; raises as ``float``
        does."""
        return self._number("float").item().as_integer_ratio()

    def _number(self, what: str) -> np.ndarray:
        array = self._on_host()
        escapes.refuse_escape(self, f"{what}()", escapes.NUMBERS[what])
        return array

    def __bool__(self) -> bool:
        return bool(self._on_host())

    # The graph
    # ----------------------------------------------------------------------------------------

    @property
    def grad_fn(self) -> Any:
        """The node that produced this tensor; ``None`` for a leaf."""
        return self.edge.node if self.requires_grad and self.node is not None else None

    @property
    def output_nr(self) -> int:
        """The output slot of ``grad_fn`` that this tensor is."""
        return self.slot

    @Value.requires_grad.setter
    def requires_grad(self, requires_grad: bool) -> None:
        self.requires_grad_(requires_grad)

    @property
    def stop_gradient(self) -> bool:
        """The opposite of ``requires_grad`` (paddle's name)."""
        return not self.requires_grad

    @stop_gradient.setter
    def stop_gradient(self, stop: bool) -> None:
        if stop and self.node is not None:
            self._view = None
            self.move(None, 0, False)
        else:
            self.requires_grad_(not stop)

    def requires_grad_(self, requires_grad: bool = True) -> "Tensor":
        """Ask for gradients of this leaf (or no longer); returns the tensor.

        Raises
        ------
        DtypeError
            For integers and booleans.
        NoGradError
            When switching it off for a tensor that is not a leaf.
        """
        self._require_inner("setting requires_grad")
        if requires_grad:
            require_floating(self.dtype)
        elif self.requires_grad and (self.node is not None or self.leaf.is_variable):
            raise NoGradError(
                "requires_grad can be switched off for leaves only, and not for what a function is "
                "being differentiated by; use .detach() for a tensor without graph"
            )
        if self.is_scalar:
            self._view = None  # a variable, which optimisers write
        if requires_grad and self.node is None:
            return self.as_leaf()
        self._requires_grad = bool(requires_grad)  # of NumPy too, or 1: recorders look for True
        return self

    def detach(self) -> "Tensor":
        """Return a tensor that shares the memory and has no graph."""
        if self._view is not None:
            self._view.refresh(self)
        result = self.detached()
        if not self.is_scalar:
            apply.make_alias(result, self, "it is detached", strict=False)
        else:
            if apply.mode.capture is None:
                result = registry["copy"](result)  # stays if the value becomes an array
            result._view = self._view
        return result  # type: ignore[return-value]

    def clone(self) -> "Tensor":
        """Return a copy; gradients flow through it."""
        return registry["copy"](self)

    # Gradients
    # ------------------------------------------------------------------------------------------

    @property
    def grad(self) -> "Tensor | None":
        """The accumulated gradient."""
        self._require_inner("reading .grad")
        return self._grad

    @grad.setter
    def grad(self, value: "Tensor | None") -> None:
        self._require_inner("setting .grad")
        if value is not None:
            if not isinstance(value, Tensor):
                raise ArgTypeError(f"grad must be a tensor or None, got {type(value).__name__}")
            if value is self:
                raise PlaceTypeError("a tensor cannot be its own grad")
            if value.shape != self.shape:
                raise GradShapeError(f"Mismatch in shape: grad {value.shape}, tensor {self.shape}")
            if value.dtype != self.dtype:
                raise GradDtypeError(f"grad needs the same dtype: {value.dtype}, not {self.dtype}")
            if value.spec.device != self.spec.device:
                raise DeviceError(f"grad needs the same device: {value.device}, not {self.device}")
        self._grad = value

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set ``grad`` to zeros (as paddle does), or to ``None``."""
        self._require_inner("setting .grad")
        is_zero = set_to_zero and self._grad is not None
        zeros = placed(np.zeros(self.shape, self.dtype), self.spec.device) if is_zero else None
        self._grad = zeros

    def retain_grad(self) -> None:
        """Accumulate the gradient of this non-leaf tensor in ``grad`` too; harmless on a leaf."""
        self._require_grad("retain_grad")
        node = self.edge.node
        if node is not None and not node.is_accumulator:
            node.own_extras().retained[self.slot] = weakref.ref(self)

    @property
    def retains_grad(self) -> bool:
        """Whether ``retain_grad`` was called on this non-leaf tensor."""
        return self.node is not None and self.slot in self.node.retained

    def register_hook(self, hook: Callable[["Tensor"], "Tensor | None"]) -> hooks.Handle:
        """Call ``hook(gradient)`` when the gradient of this tensor is computed; it may return a
        replacement."""
        self._require_grad("register_hook")
        node = self.edge.node
        if isinstance(node, Accumulator):
            leaf = node.variable.leaf  # that a restored saved value stands for, mostly self
            if leaf.hooks is None:
                leaf.hooks = {}
            return hooks.register(leaf.hooks, hook)
        assert node is not None
        return hooks.register(node.own_extras().tensor_hooks.setdefault(self.slot, {}), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[["Tensor"], None]) -> hooks.Handle:
        """Call ``hook(tensor)`` after ``backward`` has accumulated into this leaf's ``grad``."""
        self._require_grad("register_post_accumulate_grad_hook")
        if self.node is not None:
            raise NoGradError("post accumulate grad hooks can be registered on leaf tensors only")
        if self.leaf.post_accumulate is None:
            self.leaf.post_accumulate = {}
        return hooks.register(self.leaf.post_accumulate, hook)

    def _require_grad(self, what: str) -> None:
        if not self.requires_grad:
            raise NoGradError(f"{what} of a tensor that does not require grad")
        self._require_inner(what)

    def _require_inner(self, what: str) -> None:
        if apply.mode.capture is not None:
            apply.mode.capture.require_inner(self, what)

    if TYPE_CHECKING:
        backward: Callable[..., None]


def tensor(
    data: ArrayLike, dtype: Any = None, requires_grad: bool = False, *, device: Any = None
) -> Tensor:
    """Return a new leaf tensor with a copy of ``data``.

    Parameters
    ----------
    data : array_like
        Numbers, nested sequences, an array, or a tensor without graph.
    dtype : dtype, optional
        By default what ``np.asarray(data)`` gives: float64 for Python floats, int64 for integers.
    requires_grad : bool
        Whether gradients are wanted; floating and complex dtypes only.
    device : str, optional
        Where the tensor lives, by default where a tensor ``data`` does, else ``"cpu"``.

    Raises
    ------
    DeviceError
        If there is no such device.
    DtypeError
        If an integer tensor is to require grad, or the data are no numbers.
    DetachedError
        If the data are tensors that require grad, in a list or in a function that is being
        differentiated (`func.grad`, ...): a new leaf is not in their graph.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)
    """
    if isinstance(data, Tensor):
        instead = "ng.asarray(x) keeps the graph, x.clone() is a copy in it."
        escapes.refuse_escape_in_transform(data, "ng.tensor", instead)
        if data.array is None:
            value = data if dtype is None else data.astype(dtype)
            return value.detach().clone().requires_grad_(requires_grad)
        device = data.spec.device if device is None else device
        data = data._on_host()
    require_plain(data)
    plain = read(_plain(guarded(data)))
    array = numbers(array_of(plain, dtype=dtype, copy=True, order="C"), data)
    if requires_grad:
        require_floating(array.dtype)
    made = Tensor(array) if device is None else placed(array, _devices.name_of(device))
    return made.as_leaf() if requires_grad else made


def _plain(data: Any) -> Any:
    """Replace tensors in nested sequences by arrays."""
    if isinstance(data, (list, tuple)):
        return [_plain(item) for item in data]
    if not isinstance(data, Tensor):
        return data
    if data.array is None and apply.mode.capture is not None:
        capture.refuse(_SEQUENCE)
    escapes.refuse_escape(data, "a conversion to NumPy", _SEQUENCE)
    if data.spec.device != CPU:
        raise DeviceError(f"a sequence has a tensor on {data.spec.device}. {_SEQUENCE}")
    return data.numpy()


_SEQUENCE = "Tensors of a list become one in their graph with ng.asarray([...]) or ng.stack([...])."


__all__ = [
    "Tensor",
    "View",
    "constant",
    "placed",
    "require_floating",
    "require_numbers",
    "tensor",
]
