"""Dense Jacobians, the chunks of whose rows or columns are tasks."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from ..._errors import ArgTypeError, DetachedError
from ..._tensor import Tensor, constant, placed
from ...func.forward import push
from ...func.gradients import call, pull
from ...func.trees import Variables, flatten, holds_tensors, output_leaves, places, require_function
from .cluster import Cluster, Task, cluster, spans
from .work import Work, one_thread

_WHAT = "dask.jacobian"
_LEAST_ROWS = 16  # a pass computes once what its rows share, which costs about as much as a row


def jacobian(
    f: Callable[..., Any],
    x: Any,
    *,
    client: Any = None,
    mode: str = "reverse",
    chunk_size: int | str = "auto",
    out: Any = None,
    progress: Any = False,
    timeout: float | None = 30.0,
) -> Any:
    """Return the Jacobian of a function, chunks of whose rows or columns are tasks of a cluster.

    Parameters
    ----------
    f : callable
        Takes `x` and returns an array of any shape, or a container of arrays. It is sent to each
        worker once, which evaluates it once. A function that `ng.jit` returned is captured there.
    x : array_like or container of them
        Real or complex.
    client : distributed.Client, optional
        By default the current one, as `distributed.get_client` finds it.
    mode : {"reverse", "forward"}
        Whether a task computes rows, by vector-Jacobian products, or columns.
    chunk_size : int or "auto"
        Rows or columns of a task. "auto" makes 64 tasks, fewer if they would have less than 16
        rows, more if their results would have more than 8 MiB.
    out : ndarray, or container of them like the result, optional
        Where the result goes, for example a `numpy.memmap` for one that is larger than memory. This
        process writes it, chunk by chunk, as they come.
    progress : callable, optional
        Called with the number of tasks that are done and the number of tasks.
    timeout : float or None
        Seconds that the cluster may be without a worker; None waits for ever.

    Returns
    -------
    ndarray, or container of them
        As from `numgrad.func.jacrev`, or `numgrad.func.jacfwd` in forward mode, with the same
        chunk size: in the structure of the output, for each leaf of `x` an array of shape
        ``output.shape + leaf.shape``. Tensors if `x` holds tensors. `out` if it is given.

    Raises
    ------
    ClusterError
        If there is no cluster, if it goes away, or if workers end again and again.
    DetachedError
        If `x`, or a tensor that `f` closes over and that the result depends on, requires grad: the
        graph does not reach other processes.
    ArgTypeError
        If `f` cannot be pickled, or an option is of the wrong kind.
    ValueError
        If an array of `out` has another shape or dtype than the result.

    Notes
    -----
    Tasks depend on their arguments alone: one whose worker ends is run by another, and the result
    has the same bits. The number of workers changes no bit either, except through BLAS.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> from distributed import Client
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client:
    ...     ng.interop.dask.jacobian(lambda x: x * x, np.array([1.0, 2.0]), client=client)
    array([[2., 0.],
           [0., 4.]])
    """
    require_function(f, _WHAT)
    if mode not in ("reverse", "forward"):
        raise ValueError(f'{_WHAT}: mode must be "reverse" or "forward", got {mode!r}')
    with cluster(client, _WHAT, timeout, progress) as c:
        given = arrays_of(x, _WHAT)
        variables = Variables((given,), 0, _WHAT)
        work = c.send(f, given)
        ((_, (skeleton, shapes)),) = c.run(work, [(None, outline, ())], 1)
        blocks = _Blocks(skeleton, shapes, variables, out)
        _fill(blocks, c, work, mode, chunk_size)
    return out if out is not None else blocks.result(as_tensors=holds_tensors(x))


def arrays_of(tree: Any, what: str) -> Any:
    """Return a container with arrays in place of tensors."""
    leaves, rebuild = flatten(tree)
    for leaf in leaves:
        if isinstance(leaf, Tensor) and leaf.requires_grad:
            raise DetachedError(
                f"{what}: an argument is a tensor that requires grad, and the graph does not reach "
                f"the processes of a cluster. Give tensor.detach(); to differentiate the result "
                f"further, differentiate inside of the function that is sent"
            )
    return rebuild([leaf.numpy() if isinstance(leaf, Tensor) else leaf for leaf in leaves])


def _fill(blocks: "_Blocks", c: Cluster, work: Any, mode: str, chunk_size: Any) -> None:
    """Run the tasks and write what they return."""
    tasks: list[Task] = []
    function, ends, others = rows, blocks.outputs, blocks.inputs
    if mode == "forward":
        function, ends, others = columns, blocks.inputs, blocks.outputs
    item_bytes = 8 * sum(_size(shape) for shape in others)
    for n, shape in enumerate(ends):
        for span in spans(_WHAT, _size(shape), chunk_size, item_bytes, _LEAST_ROWS):
            tasks.append(((n, *span), function, (n, *span)))
    with closing(c.run(work, tasks, len(tasks))) as results:
        for (n, *span), parts in results:
            for m, part in enumerate(parts):
                if mode == "forward":
                    blocks.view(m, n, part.dtype).T[slice(*span)] = _matrix(part)
                else:
                    blocks.view(n, m, part.dtype)[slice(*span)] = _matrix(part)


def _matrix(part: np.ndarray) -> np.ndarray:
    return part.reshape(len(part), _size(part.shape[1:]))


def _size(shape: Sequence[int]) -> int:
    return int(np.prod(shape, dtype=np.int64))


class _Blocks:
    """The Jacobian by output and input: arrays of the caller, or new ones when their dtype is
    known."""

    def __init__(self, skeleton: Any, shapes: Any, variables: Variables, out: Any) -> None:
        self.outputs, self.inputs = shapes, [leaf.shape for leaf in variables.leaves]
        numbers, rebuild = flatten(skeleton)
        width = len(self.inputs)
        tree = rebuild(
            [variables.rebuild(list(range(n * width, (n + 1) * width))) for n in numbers]
        )
        self.rebuild = flatten(tree)[1]
        self.arrays: list[Any] = [None] * (len(numbers) * width)
        if out is not None:
            self.arrays = self._given(tree, out)

    def _shape(self, number: int) -> tuple[int, ...]:
        n, m = divmod(number, len(self.inputs))
        return (*self.outputs[n], *self.inputs[m])

    def _given(self, tree: Any, out: Any) -> list[np.ndarray]:
        if places(out) != places(tree):
            raise ArgTypeError(
                f"{_WHAT}: out must have the structure of the result, an array per output and input"
            )
        arrays = flatten(out)[0]
        for number, array in enumerate(arrays):
            if not isinstance(array, np.ndarray):
                raise ArgTypeError(f"{_WHAT}: out must hold arrays, got {type(array).__name__}")
            if array.shape != self._shape(number):
                raise ValueError(
                    f"{_WHAT}: out has shape {array.shape}, the result {self._shape(number)}"
                )
            if not array.flags.writeable:
                raise ValueError(f"{_WHAT}: out is read-only")
        return arrays

    def view(self, n: int, m: int, dtype: np.dtype) -> np.ndarray:
        """Return the matrix of output ``n`` and input ``m``, which writes to the result."""
        number = n * len(self.inputs) + m
        if self.arrays[number] is None:
            self.arrays[number] = np.empty(self._shape(number), dtype)
        array = self.arrays[number]
        if array.dtype != dtype:
            raise ValueError(f"{_WHAT}: out has dtype {array.dtype}, the result {dtype}")
        return array.reshape(_size(self.outputs[n]), _size(self.inputs[m]), copy=False)

    def result(self, as_tensors: bool) -> Any:
        return self.rebuild([constant(a) if as_tensors else a for a in self.arrays])


class Evaluation:
    """A function that was evaluated once, on a worker, and is differentiated there chunk by
    chunk."""

    def __init__(self, work: Work, function: Callable[..., Any], x: Any) -> None:
        variables = Variables((x,), 0, _WHAT)
        output, _ = call(function, variables, {}, False, _WHAT)
        self.outputs, rebuild = output_leaves(output, _WHAT)
        self.inputs = variables.leaves
        self.skeleton = rebuild(list(range(len(self.outputs))))
        work.require_unconnected(variables.outer_graph(self.outputs), _WHAT)

    def rows(self, n: int, start: int, stop: int) -> list[np.ndarray]:
        """Return rows of the Jacobian of output ``n`` to each input."""
        y = self.outputs[n]
        real = [m for m, x in enumerate(self.inputs) if x.dtype.kind == "f"]
        found = self._pulled(y, self.inputs, _identity(y, start, stop))
        if y.dtype.kind == "c" and real:  # whose gradients are those of the real part
            inputs = [self.inputs[m] for m in real]
            imaginary = self._pulled(y, inputs, _identity(y, start, stop) * y.dtype.type(1j))
            for m, part in zip(real, imaginary, strict=True):
                found[m] = found[m] + part * 1j
        return found

    def _pulled(self, y: Tensor, inputs: Sequence[Tensor], seeds: np.ndarray) -> list[Any]:
        tensors = pull([y], inputs, [placed(seeds, y.spec.device)], False, batched=True)
        return [tensor.numpy() for tensor in tensors]

    def columns(self, m: int, start: int, stop: int) -> list[np.ndarray]:
        """Return, for each output, its derivatives along elements of input ``m``."""
        x = self.inputs[m]
        along = _identity(x, start, stop)
        if x.dtype.kind == "f":
            return self._pushed(m, along)
        both = self._pushed(m, along), self._pushed(m, along * x.dtype.type(1j))
        return [a.real + b.real * 1j for a, b in zip(*both, strict=True)]

    def _pushed(self, m: int, along: np.ndarray) -> list[Any]:
        tangents = [
            placed(along if k == m else np.zeros((len(along), *x.shape), x.dtype), x.spec.device)
            for k, x in enumerate(self.inputs)
        ]
        found = push(self.outputs, self.inputs, tangents, False, batched=True)
        return [tensor.numpy() for tensor in found]


def _identity(tensor: Tensor, start: int, stop: int) -> np.ndarray:
    """Return rows ``start..stop`` of the identity over the elements of a tensor, in its shape."""
    rows = np.zeros((stop - start, tensor.size), tensor.dtype)
    rows[np.arange(stop - start), np.arange(start, stop)] = 1
    return rows.reshape(stop - start, *tensor.shape)


# The tasks.


def outline(work: Work) -> tuple[Any, list[tuple[int, ...]]]:
    """Return the output with numbers in place of arrays, and the shapes of these."""
    with one_thread():
        evaluation = work.made(lambda *parts: Evaluation(work, *parts))
    return evaluation.skeleton, [y.shape for y in evaluation.outputs]


def rows(work: Work, n: int, start: int, stop: int) -> list[np.ndarray]:
    """Return rows of the Jacobian of an output to each input."""
    with one_thread():
        return work.made(lambda *parts: Evaluation(work, *parts)).rows(n, start, stop)


def columns(work: Work, m: int, start: int, stop: int) -> list[np.ndarray]:
    """Return, for each output, columns of the Jacobian to an input."""
    with one_thread():
        return work.made(lambda *parts: Evaluation(work, *parts)).columns(m, start, stop)
