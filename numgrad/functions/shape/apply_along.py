"""Functions of users applied to slices and elements."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...ir.broadcasting import broadcast_shapes
from ...ir.gufunc_signature import parse_signature
from ..array.argument_checks import integer
from ..array.axes import normalize_axis_index
from ..array.operands import as_tensor
from .grids import indices
from .joining import stack
from .repeating import broadcast_to
from .reshaping import expand_dims, moveaxis, reshape


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
    for axis in np.atleast_1d(guarded(axes)):
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


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1) -> Tensor:
    """Return the first ``count`` items of an iterable, or all, as a vector, or as what they are
    stacked to if they are arrays.

    Raises
    ------
    ValueError
        If there are fewer items.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.fromiter((x * x for x in ng.tensor([1.0, 2.0, 3.0])), float, 2)
    tensor([1., 4.])
    """
    count = integer(count, "count")
    items = list(iter if count < 0 else islice(iter, count))
    if len(items) < count:
        raise ValueError(f"fromiter: expected {count} items, but there are only {len(items)}")
    if not items:
        return as_tensor(np.zeros(0, dtype))
    return stack([as_tensor(item) for item in items]).astype(dtype, copy=False)


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
    signature : str, optional
        Such as ``"(n),(n)->()"``: the last axes of arguments and results, for a function of arrays.
        It is called in a loop over the axes in front; `ng.func.vmap` needs no loop.

    Raises
    ------
    ValueError
        If arguments or results do not have the axes that the signature says, or if there are no
        elements and the dtypes or shapes of the results are not given.

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
        signature: str | None = None,
    ) -> None:
        self.signature = signature
        self._cores = None if signature is None else parse_signature(signature, computed=True)
        self.pyfunc, self.otypes, self.excluded = pyfunc, otypes, set(excluded or ())
        self.__doc__ = doc if doc is not None else getattr(pyfunc, "__doc__", None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Return the results for all elements of the arguments, broadcast together."""
        if self.pyfunc is None:  # a decorator with options
            self.pyfunc = args[0]
            return self
        named = {**dict(enumerate(args)), **kwargs}
        looped = [name for name in named if name not in self.excluded]
        loop, sizes, arrays = self._aligned([as_tensor(named[name]) for name in looped])
        results = []
        for values in zip(*arrays, strict=True):
            given = {**named, **dict(zip(looped, values, strict=True))}
            results.append(self.pyfunc(*[given.pop(n) for n in range(len(args))], **given))
        return self._joined(results, loop, sizes)

    def _aligned(
        self, arrays: list[Tensor]
    ) -> tuple[tuple[int, ...], dict[str, int], list[Tensor]]:
        """Return the axes of the loop, the sizes of those of the signature, and the arguments with
        one axis in place of those of the loop."""
        cores = self._cores.inputs if self._cores else ((),) * len(arrays)
        if len(cores) != len(arrays):
            raise TypeError(
                f"vectorize: {self.signature!r} is of {len(cores)} arguments, got {len(arrays)}"
            )
        sizes: dict[str, int] = {}
        for n, (x, core) in enumerate(zip(arrays, cores, strict=True)):
            _fit(f"argument {n}", x.shape[max(x.ndim - len(core), 0) :], core, sizes)
        leads = [x.shape[: x.ndim - len(core)] for x, core in zip(arrays, cores, strict=True)]
        loop, together = broadcast_shapes(*leads), []
        for x, lead in zip(arrays, leads, strict=True):
            core = x.shape[len(lead) :]
            together.append(reshape(broadcast_to(x, loop + core), (math.prod(loop), *core)))
        return loop, sizes, together

    def _joined(self, results: list[Any], loop: tuple[int, ...], sizes: dict[str, int]) -> Any:
        """Return the results of the function as arrays, or a tuple of them."""
        if not results and self.otypes is None:
            raise ValueError("vectorize: without elements the dtypes of the results need otypes=")
        cores = self._cores.outputs if self._cores else None
        if results:
            several = isinstance(results[0], tuple)
            columns = list(zip(*results, strict=True)) if several else [results]
        else:
            columns = [()] * len(self.otypes if cores is None else cores)
            several = len(columns) > 1
        cores = cores or ((),) * len(columns)
        if len(cores) != len(columns):
            raise ValueError(
                f"vectorize: {self.signature!r} is of {len(cores)} results, got {len(columns)}"
            )
        outputs = tuple(
            self._output(n, column, loop, core, sizes)
            for n, (column, core) in enumerate(zip(columns, cores, strict=True))
        )
        return outputs if several else outputs[0]

    def _output(
        self, number: int, column: Any, loop: Any, core: tuple[str, ...], sizes: dict[str, int]
    ) -> Tensor:
        dtype = None if self.otypes is None else np.dtype(self.otypes[number])
        if not len(column):
            return as_tensor(np.zeros(loop + _known(core, sizes), dtype))
        y = stack([as_tensor(value) for value in column])
        _fit(f"result {number}", y.shape[1:], core, sizes)
        y = reshape(y, loop + y.shape[1:])
        return y if dtype is None else y.astype(dtype)


def _fit(what: str, shape: Sequence[int], core: Sequence[str], sizes: dict[str, int]) -> None:
    """Note the sizes of the axes of a signature; raise unless they are those of a shape."""
    if len(shape) != len(core) or any(
        sizes.setdefault(name, size) != size for name, size in zip(core, shape, strict=True)
    ):
        raise ValueError(
            f"vectorize: {what} has last axes {tuple(shape)}, where signature= (without one: "
            f"numbers alone) has ({', '.join(core)}), of sizes {sizes}"
        )


def _known(core: Sequence[str], sizes: dict[str, int]) -> tuple[int, ...]:
    unknown = [name for name in core if name not in sizes]
    if unknown:
        raise ValueError(f"vectorize: without elements the size of {unknown[0]!r} is not known")
    return tuple(sizes[name] for name in core)
