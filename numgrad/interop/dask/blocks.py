"""Blocks of samples as tasks of a cluster."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from ..._errors import ArgTypeError
from ..._tensor import Tensor, constant
from ...engine.graph.value import CPU
from ...func.gradients import value_and_grad as local_value_and_grad
from ...func.pytree import flatten, holds_tensors, places, require_function
from ...func.tracing.destinations import checked_destination
from .cluster import Cluster, Task, spans
from .jacobians import arrays_of
from .work import Work, one_thread

_MAP, _GRAD = "dask.map_blocks", "dask.value_and_grad"


def map_blocks(
    f: Callable[..., Any],
    *samples: Any,
    client: Any = None,
    chunk_size: int | str = "auto",
    out: Any = None,
    progress: Any = False,
    timeout: float | None = 30.0,
) -> Any:
    """Apply a function to blocks of samples on a cluster, and join the results in order.

    Parameters
    ----------
    f : callable
        Takes blocks of the samples, arrays with the samples along their leading axis that it may
        not write; returns an array, or a container of arrays, with a result for each of them along
        the leading axis.
        Derivatives are taken inside of it: ``lambda x: ng.func.grad(g)(x)``.
    *samples : array_like
        Arrays of equal length along their leading axis: parameters of a sweep, members of an
        ensemble, rows of data.
    client, progress, timeout
        As in `jacobian`.
    chunk_size : int or "auto"
        Samples of a block. "auto" makes 64 blocks, more if they would have more than 8 MiB.
    out : ndarray, or container of them like the result, optional
        Where the results go.

    Returns
    -------
    ndarray, or container of them
        The results for all samples; tensors if a sample is a tensor. `out` if it is given.

    Raises
    ------
    ClusterError, DetachedError, ArgTypeError
        As in `jacobian`.
    ValueError
        If the samples have different lengths, or the function returns another number of results
        than it was given samples, or an array of `out` does not fit.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> from distributed import Client
    >>> def slopes(x):
    ...     return ng.func.grad(lambda x: ng.sin(x).sum())(x)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     ng.interop.dask.map_blocks(slopes, np.array([0.0, 1.0, 2.0]), client=client).round(3)
    array([ 1.   ,  0.54 , -0.416])
    """
    require_function(f, _MAP)
    with Cluster(client, _MAP, timeout, progress) as c:
        blocks = _Samples(samples, chunk_size, _MAP)
        joined = _Joined(blocks.count, out)
        work = c.send(f)
        with closing(c.run(work, blocks.tasks(mapped), blocks.count, "samples")) as results:
            for (start, stop), result in results:
                joined.write(start, stop, result)
    return out if out is not None else joined.result(as_tensors=holds_tensors(samples))


def value_and_grad(
    f: Callable[..., Any],
    params: Any,
    *samples: Any,
    client: Any = None,
    chunk_size: int | str = "auto",
    progress: Any = False,
    timeout: float | None = 30.0,
) -> tuple[Any, Any]:
    """Return the sum of a function over blocks of samples, and its gradient, from a cluster.

    Parameters
    ----------
    f : callable
        ``f(params, *block)`` returns a real scalar: the sum over the samples of a block.
    params : array_like or container of them
        What it is differentiated by; sent to each worker once.
    *samples, client, chunk_size, progress, timeout
        As in `map_blocks`.

    Returns
    -------
    value : ndarray
        The sum of ``f`` over all blocks, of shape ``()``.
    gradient
        Its gradient, in the structure of `params`. Both are added in the order of the blocks, so
        that they have the same bits for any number of workers.

    Raises
    ------
    ImplicitGradError
        If ``f`` does not return a real scalar.
    ClusterError, DetachedError, ArgTypeError, ValueError
        As in `map_blocks`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> from distributed import Client
    >>> def loss(w, x, y):
    ...     return ((x @ w - y) ** 2).sum()
    >>> x, y = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, 1.0])
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     value, gradient = ng.interop.dask.value_and_grad(loss, np.zeros(2), x, y, client=client)
    >>> float(value), gradient
    (2.0, array([-2., -4.]))
    """
    require_function(f, _GRAD)
    with Cluster(client, _GRAD, timeout, progress) as c:
        blocks = _Samples(samples, chunk_size, _GRAD)
        as_tensors = holds_tensors((params, samples))
        work = c.send(f, arrays_of(params, _GRAD))
        total, rebuild = _sum_in_order(c, work, blocks)
    value, *gradients = [constant(part) if as_tensors else part for part in total]
    return value, rebuild(gradients)


def _sum_in_order(c: Cluster, work: Any, blocks: "_Samples") -> tuple[list[Any], Any]:
    """Return the sums of values and of gradients, added in the order of the blocks, whose results
    may come in any order."""
    early: dict[int, list[np.ndarray]] = {}
    total: list[Any] = []
    rebuild: Any = None
    awaited = [start for start, _ in reversed(blocks.spans)]
    with closing(c.run(work, blocks.tasks(differentiated), blocks.count, "samples")) as results:
        for (start, _), (value, gradient) in results:
            leaves, rebuild = flatten(gradient)
            early[start] = [value, *leaves]
            while awaited and awaited[-1] in early:
                parts = early.pop(awaited.pop())
                total = [a + b for a, b in zip(total, parts, strict=True)] if total else parts
    return [np.array(part) for part in total], rebuild


class _Samples:
    """Samples along the leading axes of arrays, cut into blocks."""

    def __init__(self, samples: Sequence[Any], chunk_size: Any, what: str) -> None:
        arrays_of(samples, what)  # raises for tensors that require grad
        self.samples = [s if isinstance(s, Tensor) else np.asarray(s) for s in samples]
        shapes = [s.shape for s in self.samples]
        lengths = {shape[:1] for shape in shapes}
        if len(lengths) != 1 or () in lengths:
            raise ValueError(
                f"{what}: samples must be arrays of equal length along their leading axis, got "
                f"shapes {shapes}"
            )
        ((self.count,),) = lengths
        each = sum(s.dtype.itemsize * s.size for s in self.samples) // max(self.count, 1)
        self.spans = spans(what, self.count, chunk_size, each)

    def tasks(self, function: Callable[..., Any]) -> list[Task]:
        """Return a task for each block; blocks are views until they are sent."""
        return [
            ((start, stop), function, (start, *[s[start:stop] for s in self.samples]))
            for start, stop in self.spans
        ]


class _Joined:
    """Results of blocks along the leading axis of arrays: the caller's, or new ones, made when the
    first result is known."""

    def __init__(self, count: int, out: Any) -> None:
        self.count, self.out = count, out
        self.arrays: list[np.ndarray] = []
        self.rebuild: Any = None

    def write(self, start: int, stop: int, result: Any) -> None:
        parts, rebuild = flatten(result)
        if self.rebuild is None:
            self.rebuild = rebuild
            self.arrays = self._arrays(parts, places(result))
        for array, part in zip(self.arrays, parts, strict=True):
            array[start:stop] = part

    def _arrays(self, parts: Sequence[Any], expected: list[Any]) -> list[np.ndarray]:
        specs = [((self.count, *part.shape[1:]), part.dtype) for part in parts]
        if self.out is None:
            return [np.empty(shape, dtype) for shape, dtype in specs]
        if places(self.out) != expected:
            raise ArgTypeError(f"{_MAP}: out must have the structure of what the function returns")
        arrays = flatten(self.out)[0]
        return [
            checked_destination(array, spec, _MAP)
            for array, spec in zip(arrays, specs, strict=True)
        ]

    def result(self, as_tensors: bool) -> Any:
        return self.rebuild([constant(a) if as_tensors else a for a in self.arrays])


# The tasks.


def mapped(work: Work, start: int, *block: Any) -> Any:
    """Return the results for a block of samples, as arrays."""
    function = work.made(lambda function: function)
    with one_thread():
        tree = work.plain(function(*map(_read_only, block)), _MAP)
    leaves, rebuild = flatten(tree)
    arrays = [np.asarray(leaf) for leaf in leaves]
    count = len(block[0])
    for array in arrays:
        if array.shape[:1] != (count,):
            raise ValueError(
                f"{_MAP}: the function got {count} samples, from number {start} on, and returned "
                f"an array of shape {array.shape}; its leading axis must have one result per sample"
            )
    return rebuild(arrays)


def differentiated(work: Work, start: int, *block: Any) -> Any:
    """Return the value of a function for a block of samples, and its gradient."""
    both, params = work.made(lambda function, params: (local_value_and_grad(function), params))
    with one_thread():
        value, gradient = both(params, *map(_read_only, block))
    return work.plain(value, _GRAD), work.plain(gradient, _GRAD)


def _read_only(block: Any) -> Any:
    """Return a block that the function cannot write.

    On a worker in the process of the caller it is a part of the caller's own array, and a task that
    is repeated would find it written.
    """
    if isinstance(block, Tensor):
        return constant(block.numpy()) if block.device == CPU else block.clone()
    view = block.view()
    view.flags.writeable = False
    return view
