"""Functions of users applied to slices and elements."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._errors import ArgTypeError
from .._tensor import ArrayLike, Tensor
from ..engine.seen import seen
from .axes import normalize_axis_index
from .grids import indices
from .joining import stack
from .operands import as_tensor
from .repeating import broadcast_arrays
from .reshaping import expand_dims, moveaxis, ravel, reshape


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any
) -> Tensor:
    """Return what a function of vectors gives for every slice along ``axis``.

    Parameters
    ----------
    func1d : callable
        Takes a vector; its result takes the place of the axis.
    axis : int
    arr : array_like
    *args, **kwargs
        Handed to the function.

    Raises
    ------
    ValueError
        If there is no slice.

    Notes
    -----
    The function is called in a loop; `ng.func.vmap` takes all slices at once.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.apply_along_axis(lambda v: v[::-1] * v.sum(), 1, ng.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[ 6.,  3.],
            [28., 21.]])
    """
    arr = as_tensor(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    last = moveaxis(arr, axis, -1)
    lead = last.shape[:-1]
    if 0 in lead:
        raise ValueError("apply_along_axis: there is no slice to apply the function to")
    results = [as_tensor(func1d(last[i], *args, **kwargs)) for i in np.ndindex(lead)]
    core = results[0].shape
    y = reshape(stack(results), (*lead, *core))
    return moveaxis(y, range(len(lead), y.ndim), range(axis, axis + len(core)))


def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: Any) -> Tensor:
    """Return an array to which a function ``func(a, axis)`` was applied for several axes, which
    stay, with size 1 where it reduces them.

    Raises
    ------
    ValueError
        If the function gives another number of axes.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.apply_over_axes(ng.sum, ng.tensor([[1.0, 2.0], [3.0, 4.0]]), [0, 1])
    tensor([[10.]])
    """
    a = as_tensor(a)
    for axis in np.atleast_1d(seen(axes)):
        n = normalize_axis_index(axis, a.ndim)
        result = as_tensor(func(a, n))
        result = expand_dims(result, n) if result.ndim == a.ndim - 1 else result
        if result.ndim != a.ndim:
            raise ValueError(f"apply_over_axes: the function gave an array of shape {result.shape}")
        a = result
    return a


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """Return a function of the indices of an array of a shape: it is called once, with `indices`.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fromfunction(lambda i, j: 10 * i + j, (2, 2))
    tensor([[ 0.,  1.],
            [10., 11.]])
    """
    return function(*indices(shape, dtype=dtype), **kwargs)


def ndenumerate(arr: ArrayLike) -> Iterator[tuple[tuple[int, ...], Tensor]]:
    """Yield the index and the value of each element, in C order.

    Examples
    --------
    >>> import numgrad as ng
    >>> list(ng.ndenumerate(ng.tensor([1.0, 2.0])))
    [((0,), tensor(1.)), ((1,), tensor(2.))]
    """
    arr = as_tensor(arr)
    for index in np.ndindex(arr.shape):
        yield index, arr[index]


class vectorize:  # noqa: N801 - NumPy's name
    """A function of numbers as one of arrays: it is called in a loop over their elements.

    Parameters
    ----------
    pyfunc : callable
        Takes tensors without axes, and returns a number, a tensor or a tuple of them.
    otypes : sequence of dtype, optional
        Of the results.
    doc : str, optional
        The documentation, by default that of the function.
    excluded : set, optional
        Positions and names of arguments that are handed over as they are.
    cache : bool
        Accepted as NumPy does.
    signature : None
        For functions of arrays use `ng.func.vmap`, which needs no loop.

    Examples
    --------
    >>> import numgrad as ng
    >>> relu = ng.vectorize(lambda x: x if x > 0 else 0.0)
    >>> relu(ng.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any] | None = None,
        otypes: Any = None,
        doc: str | None = None,
        excluded: Any = None,
        cache: bool = False,
        signature: None = None,
    ) -> None:
        if signature is not None:
            raise ArgTypeError("vectorize takes no signature=; write ng.func.vmap(pyfunc)")
        self.pyfunc, self.otypes, self.excluded = pyfunc, otypes, set(excluded or ())
        self.__doc__ = doc if doc is not None else getattr(pyfunc, "__doc__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the results for all elements of the arguments, broadcast together."""
        if self.pyfunc is None:  # a decorator with options
            self.pyfunc = args[0]
            return self
        named = {**dict(enumerate(args)), **kwargs}
        looped = [name for name in named if name not in self.excluded]
        arrays = broadcast_arrays(*[named[name] for name in looped])
        results = []
        for values in zip(*map(ravel, arrays), strict=True):
            given = {**named, **dict(zip(looped, values, strict=True))}
            results.append(self.pyfunc(*[given.pop(n) for n in range(len(args))], **given))
        if not results and self.otypes is None:
            raise ValueError("vectorize: without elements the dtypes of the results need otypes=")
        several = isinstance(results[0], tuple) if results else len(self.otypes) > 1
        columns = list(zip(*results, strict=True)) if several else [results]
        shape = arrays[0].shape
        outputs = tuple(self._output(n, c, shape) for n, c in enumerate(columns))
        return outputs if several else outputs[0]

    def _output(self, number: int, column: Any, shape: tuple[int, ...]) -> Tensor:
        dtype = None if self.otypes is None else np.dtype(self.otypes[number])
        if not len(column):
            return as_tensor(np.zeros(shape, dtype))
        y = reshape(stack([as_tensor(value) for value in column]), shape)
        return y if dtype is None else y.astype(dtype)
