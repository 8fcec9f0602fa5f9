"""Making tensors: constants."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.graph.memory_order import stand_in
from ...engine.record.guards import guarded
from ...ir.broadcasting import broadcast_shapes
from ...operators.shape import reshape as _shape
from ..array.argument_checks import integer, integers
from ..array.device_transfer import placed_on
from ..array.operands import whole
from ..elementwise.documentation import renamed
from .from_data import asarray, asking, carries_graph, device_like, fresh
from .memory_order import in_order, laid_like, plain_order

Shape = int | Sequence[int]


def _sizes(shape: Any) -> Any:
    """Return a shape as Python integers; tensors of one integer are sizes too."""
    if isinstance(shape, (str, bytes)):
        raise TypeError(f"a shape is an integer or a sequence of them, got {shape!r}")
    if isinstance(shape, Tensor):
        shape = shape.tolist()
    guarded(shape)
    if isinstance(shape, (list, tuple)):
        return [whole(n) for n in shape]
    return shape if isinstance(shape, int) else integers(shape, "shape")


def _made_like(
    make: Callable[..., np.ndarray], x: ArrayLike, dtype: Any, order: Any, shape: Any, device: Any
) -> Tensor:
    """Return what a function of NumPy makes that resembles an array."""
    given: Any = x
    if carries_graph(x):
        given = x = asarray(x)
    if isinstance(x, Tensor):
        device = x.device if device is None else device
        given = x.array if type(x.array) is np.ndarray and not x.rows else stand_in(x)
    shape = None if shape is None else _sizes(shape)
    return fresh(make(given, dtype=dtype, order=order, subok=False, shape=shape), device)


def _constant(make: Callable[..., np.ndarray], of: str, example: str):
    """Return the function that makes tensors as a function of NumPy makes arrays of a shape."""

    def constant(
        shape: Shape,
        dtype: Any = None,
        order: Any = "C",
        *,
        device: Any = None,
        like: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """Return a tensor {of}.

        Parameters
        ----------
        shape : int or sequence of int
            The sizes of the axes.
        dtype : dtype, optional
            Default float64.
        order : {{"C", "F"}}
            How the elements lie in memory; "A" and "K" mean "C".
        device : str, optional
            Where the tensor lives.
        like : Tensor, optional
            The tensor lives where this one does.
        requires_grad : bool
            Whether gradients are asked for, as in `tensor`.

        Examples
        --------
        >>> import numgrad as ng
        >>> ng.{example}
        """
        array = make(_sizes(shape), dtype, plain_order(order))
        return fresh(array, device_like(device, like), requires_grad)

    return renamed(constant, make.__name__, of=of, example=example)


zeros = _constant(
    np.zeros, "of zeros", example="zeros((2, 2))\ntensor([[0., 0.],\n        [0., 0.]])"
)
ones = _constant(np.ones, "of ones", example="ones(3, dtype=ng.int64)\ntensor([1, 1, 1])")
empty = _constant(np.empty, "whose elements are not set", example="empty((2, 3)).shape\n(2, 3)")


def full(
    shape: Shape,
    fill_value: ArrayLike,
    dtype: Any = None,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor with every element equal to ``fill_value``.

    Parameters
    ----------
    shape : int or sequence of int
        The sizes of the axes.
    fill_value : number or Tensor
        The value, or values that broadcast to ``shape``.
    dtype : dtype, optional
        By default that of the value.
    order, device, like, requires_grad
        As in `zeros`.

    Notes
    -----
    The gradient of a tensor ``fill_value`` is the sum of the gradient over the elements it fills.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor(2.0, requires_grad=True)
    >>> ng.grad(ng.full((2, 3), x).sum(), x)[0]
    tensor(6.)
    """
    sizes = _sizes(shape)
    if carries_graph(fill_value) or isinstance(fill_value, Tensor):
        wanted = (sizes,) if isinstance(sizes, int) else tuple(sizes)
        value = asarray(fill_value, dtype)
        if broadcast_shapes(value.shape, wanted) != wanted:
            raise ValueError(f"full: a value of shape {value.shape} does not fill shape {wanted}")
        filled = in_order(_shape.broadcast_to(value, wanted).clone(), order)
        return asking(placed_on(filled, device_like(device, like) or value.device), requires_grad)
    array = np.full(sizes, guarded(fill_value), dtype, plain_order(order))
    return fresh(array, device_like(device, like), requires_grad)


def _constant_like(make: Callable[..., np.ndarray], zeros: str, example: str):
    """Return the function that makes tensors as a function of NumPy makes arrays like others."""

    def constant_like(
        a: ArrayLike,
        dtype: Any = None,
        order: Any = "K",
        subok: bool = True,
        *,
        device: Any = None,
        shape: Any = None,
        requires_grad: bool = False,
    ) -> Tensor:
        """Return {zeros} with the shape and dtype of ``a``, unless others are given.

        Parameters
        ----------
        a : array_like
            What the result resembles.
        dtype : dtype, optional
            Another dtype.
        order, subok
            As in `zeros`; ``subok`` has no effect.
        device : str, optional
            Where the tensor lives.
        shape : int or sequence of int, optional
            Another shape.
        requires_grad : bool
            As in `zeros`.

        Notes
        -----
        The result does not depend on the values of ``a``: no gradient flows.

        Examples
        --------
        >>> import numgrad as ng
        >>> ng.{name}(ng.tensor([1.0, 2.0]))
        tensor({example})
        """
        made = _made_like(make, a, dtype, order, shape, device)
        return asking(made, requires_grad)

    return renamed(constant_like, make.__name__, zeros=zeros, example=example)


zeros_like = _constant_like(np.zeros_like, "zeros", "[0., 0.]")
ones_like = _constant_like(np.ones_like, "ones", "[1., 1.]")


def empty_like(
    x: ArrayLike,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    *,
    device: Any = None,
    shape: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return unset elements with the shape and dtype of ``x``; parameters as in `zeros_like`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.empty_like(ng.tensor([1.0, 2.0])).shape
    (2,)
    """
    made = _made_like(np.empty_like, x, dtype, order, shape, device)
    return asking(made, requires_grad)


def full_like(
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    *,
    device: Any = None,
    shape: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ``fill_value`` in the shape and dtype of ``a``; parameters as in `full`, `zeros_like`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.full_like(ng.tensor([1.0, 2.0]), 7)
    tensor([7., 7.])
    """
    if not carries_graph(fill_value) and not isinstance(fill_value, Tensor):
        make = partial(np.full_like, fill_value=guarded(fill_value))
        return asking(_made_like(make, a, dtype, order, shape, device), requires_grad)
    like = _made_like(np.empty_like, a, dtype, order, shape, device)
    filled = full(like.shape, fill_value, like.dtype, device=like.device)
    return asking(laid_like(filled, like), requires_grad)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a matrix with ones on diagonal ``k`` and zeros elsewhere.

    Parameters
    ----------
    N, M : int
        The shape; square by default.
    k : int
        The diagonal; positive above the main one.
    dtype : dtype, optional
        Default float64.
    order, device, like, requires_grad
        As in `zeros`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.eye(2, 3, k=1)
    tensor([[0., 1., 0.],
            [0., 0., 1.]])
    """
    columns = N if M is None else M
    rows, columns, k = integer(N, "N"), integer(columns, "M"), integer(k, "k")
    array = np.eye(rows, columns, k, dtype, plain_order(order))
    return fresh(array, device_like(device, like), requires_grad)


def identity(n: int, dtype: Any = None, *, like: Any = None) -> Tensor:
    """Return the ``n`` by ``n`` identity matrix.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.identity(2)
    tensor([[1., 0.],
            [0., 1.]])
    """
    return eye(n, dtype=dtype, like=like)
