"""Dense Jacobians: chunks of their rows or columns are tasks of a cluster."""

from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from ..._errors import DetachedError
from ..._tensor import Tensor, constant
from ...func.gradients import Evaluation
from ...func.jacobians.blocks import ArrayBlocks, blocks_of_out
from ...func.jacobians.jacobian import MODES
from ...func.jacobians.passes import Chunk, Columns, Passes, passes_of
from ...func.pytree import Variables, flatten, holds_tensors, require_function
from .cluster import Cluster, Task, spans
from .work import Work, one_thread

_WHAT = "dask.jacobian"
_LEAST_ROWS = 16  # the part of a pass that its rows share costs about as much as a row


def jacobian(
    f: Callable[..., Any],
    x: Any,
    *,
    client: Any = None,
    mode: str = "auto",
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
    mode : {"auto", "reverse", "forward"}
        Whether a task computes rows, by vector-Jacobian products, or columns; "auto" takes what
        there are fewer of.
    chunk_size : int or "auto"
        Rows or columns of a task. "auto" makes 64 tasks, fewer if they would have less than 16
        rows, more if their results would have more than 8 MiB.
    out : ndarray, or container of them like the result, optional
        Where the result goes, for example a `numpy.memmap` for one that is larger than memory. This
        process writes it, chunk by chunk, as they come.
    progress : bool or callable
        As in `numgrad.func.jacobian`: True shows a bar; a callable gets ``progress(done, total)``,
        in rows or columns.
    timeout : float or None
        Seconds that the cluster may be without a worker; None waits for ever.

    Returns
    -------
    ndarray, or container of them
        As from `numgrad.func.jacobian` with the same mode and chunk size: in the structure of the
        output, for each leaf of `x` an array of shape ``output.shape + leaf.shape``. Tensors if `x`
        holds tensors. `out` if it is given.

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
    if mode not in MODES:
        raise ValueError(f"{_WHAT}: mode must be one of {', '.join(MODES)}, got {mode!r}")
    with Cluster(client, _WHAT, timeout, progress) as c:
        given = arrays_of(x, _WHAT)
        variables = Variables((given,), 0, _WHAT)
        work = c.send(f, given)
        ((_, (skeleton, specs)),) = c.run(work, [(None, outline, ())])
        rebuild = flatten(skeleton)[1]

        def arrange(blocks: Sequence[Any]) -> Any:
            return rebuild(variables.by_output(blocks))

        outputs = [Tensor(np.broadcast_to(np.zeros((), d), s)) for s, d in specs]  # take no memory
        passes = passes_of(mode, outputs, variables.leaves, False)
        blocks = ArrayBlocks(passes) if out is None else blocks_of_out(passes, out, arrange, _WHAT)
        _fill(blocks, passes, c, work, chunk_size)
    if out is not None:
        return out
    return arrange([constant(a) if holds_tensors(x) else a for a in blocks.blocks()])


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


def _fill(blocks: ArrayBlocks, passes: Passes, c: Cluster, work: Any, chunk_size: Any) -> None:
    """Run the tasks and write their results to the blocks."""
    mode = "forward" if isinstance(passes, Columns) else "reverse"
    tasks: list[Task] = [
        ((n, *span), chunk, (mode, n, *span))
        for n, source in enumerate(passes.sources)
        for span in spans(_WHAT, source.size, chunk_size, passes.nbytes(), _LEAST_ROWS)
    ]
    with closing(c.run(work, tasks, passes.count, passes.unit)) as results:
        for (n, start, stop), parts in results:
            blocks.put(Chunk(n, start, stop, [Tensor(part) for part in parts]))


def _evaluated(work: Work) -> Evaluation:
    """Return the function, evaluated once on a worker, to be differentiated there chunk by chunk.
    """

    def make(function: Callable[..., Any], x: Any) -> Evaluation:
        at = Evaluation(function, (x,), 0, _WHAT)
        work.require_unconnected(at.outer_graph(), _WHAT)
        return at

    return work.made(make)


# The tasks.


def outline(work: Work) -> tuple[Any, list[tuple[tuple[int, ...], np.dtype]]]:
    """Return the output with numbers in place of arrays, and the shapes and dtypes of the arrays.
    """
    with one_thread():
        at = _evaluated(work)
    skeleton = at.rebuild(list(range(len(at.leaves))))
    return skeleton, [(y.shape, y.dtype) for y in at.leaves]


def chunk(work: Work, mode: str, n: int, start: int, stop: int) -> list[np.ndarray]:
    """Return rows of the Jacobian of output ``n``, or columns of the Jacobian with respect to input
    ``n``."""
    with one_thread():
        at = _evaluated(work)
        passes = passes_of(mode, at.leaves, at.variables.leaves, False)
        return [part.numpy() for part in passes.chunk(n, start, stop)]
