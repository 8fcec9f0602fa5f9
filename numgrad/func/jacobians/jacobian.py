"""Whole Jacobians by rows or by columns, in chunks that fit into memory."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from ..._errors import ArgTypeError, NotDifferentiableError
from ..._settings import settings
from ...engine.capture.capture import refuse
from ...engine.graph.value import CPU
from ...engine.record.apply import mode as present
from ...process.transformed_function import Transformed
from ..gradients import ArgNums, Evaluation
from ..pytree import Rebuild, Variables, require_function
from .blocks import ArrayBlocks, TensorBlocks, blocks_of_out
from .passes import Passes, Rows, passes_of
from .progress import STEPS, ProgressBar, require_progress

MODES = ("auto", "reverse", "forward")
Chunks = int | str | None
Shown = bool | Callable[[int, int], Any]


def jacrev(
    function: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    chunk_size: Chunks = "auto",
    out: Any = None,
    progress: Shown = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian by one batched vector-Jacobian product per
    output.

    Parameters
    ----------
    function, argnums, has_aux
        As in `numgrad.func.grad`, but the output may have any shape and structure.
    chunk_size : int, "auto" or None
        Rows of the Jacobian per pass. "auto" takes as many as `set_flags` allows memory for beside
        the result (``chunk_memory``, 256 MiB by default); None takes all at once.
    out : ndarray, or containers of them as in the result
        Arrays of the shape and dtype of the Jacobian, to which every call writes the Jacobian.
        The arrays may be `numpy.memmap`, of which little is in memory at a time. The function
        returns ``out``.
    progress : bool or callable
        True shows a bar on standard error where the work takes longer than half a second; a
        callable gets ``progress(done, total)``, in rows.

    Returns
    -------
    callable
        Returns, in the structure of the output, for each differentiated argument an array of shape
        ``output.shape + argument.shape``.

    Raises
    ------
    ValueError
        If an array of ``out`` has another shape or dtype, or is read-only.
    ArgTypeError
        If ``out`` has other containers than the result, or a gradient would have to pass through
        ``out``.

    Notes
    -----
    :math:`J_{ij} = \\partial y_i / \\partial x_j` for real arguments. For a complex argument
    :math:`x_j = a_j + i b_j`, row :math:`i` is the gradient of the real part of :math:`y_i`, as
    gradients are in torch: :math:`\\partial \\Re y_i / \\partial a_j + i\\, \\partial \\Re y_i /
    \\partial b_j`. That is :math:`\\overline{\\partial y_i / \\partial x_j}` for a holomorphic
    function. For complex outputs that are no holomorphic function of complex arguments, the result
    is half of the derivative; the other half, of the imaginary part, is the Jacobian of
    ``-1j * f(x)``.
    `jacfwd` returns the same.

    Infinite derivatives and NaN are returned as they are.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    options = JacobianOptions("jacrev", argnums, "reverse", chunk_size, out, progress, has_aux)
    return options.transformed(function)


def jacfwd(
    function: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    chunk_size: Chunks = "auto",
    out: Any = None,
    progress: Shown = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian column by column, in one batched pass per
    argument.

    Parameters
    ----------
    function, argnums, has_aux, chunk_size, out, progress
        As in `jacrev`; `chunk_size` and `progress` count columns.

    Returns
    -------
    callable
        As that of `jacrev`; the better choice when there are fewer inputs than outputs.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    options = JacobianOptions("jacfwd", argnums, "forward", chunk_size, out, progress, has_aux)
    return options.transformed(function)


def jacobian(
    function: Callable[..., Any],
    argnums: ArgNums = 0,
    mode: str = "auto",
    chunk_size: Chunks = "auto",
    out: Any = None,
    progress: Shown = False,
    has_aux: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian by rows or by columns, whichever are fewer.

    Parameters
    ----------
    function, argnums, chunk_size, out, progress, has_aux
        As in `jacrev`.
    mode : {"auto", "reverse", "forward"}
        By rows, as `jacrev`, or by columns, as `jacfwd`. "auto" goes by columns where the arguments
        have fewer elements than the outputs, unless an operator has no derivative in forward mode.

    Returns
    -------
    callable
        Returns what the function of `jacrev` returns.

    See Also
    --------
    vmap : ``vmap(jacobian(f))`` for the Jacobians of many samples.
    value_and_jacobian : The value, too.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.jacobian(lambda x: 3 * x)(np.array([1.0, 2.0]))
    array([[3., 0.],
           [0., 3.]])

    A Jacobian that is larger than memory is written to a file, with a progress bar:

    >>> big = np.lib.format.open_memmap(path, "w+", np.float64, (3, 2))  # doctest: +SKIP
    >>> ng.func.jacobian(f, out=big, progress=True)(x)  # doctest: +SKIP
    """
    options = JacobianOptions("jacobian", argnums, mode, chunk_size, out, progress, has_aux)
    return options.transformed(function)


def value_and_jacobian(
    function: Callable[..., Any],
    argnums: ArgNums = 0,
    mode: str = "auto",
    chunk_size: Chunks = "auto",
    out: Any = None,
    progress: Shown = False,
    has_aux: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the value and the Jacobian from one call of ``function``.

    Parameters
    ----------
    function, argnums, mode, chunk_size, out, progress, has_aux
        As in `jacobian`.

    Returns
    -------
    callable
        Returns ``(value, jacobian)``, with `has_aux` ``((value, aux), jacobian)``.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.value_and_jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    (array([1., 4.]), array([[2., 0.],
           [0., 4.]]))
    """
    options = JacobianOptions(
        "value_and_jacobian", argnums, mode, chunk_size, out, progress, has_aux
    )
    return options.transformed(function, with_value=True)


@dataclass(frozen=True)
class JacobianOptions:
    """The options of a Jacobian, see `jacobian`."""

    what: str
    argnums: ArgNums
    mode: str
    chunk_size: Chunks
    out: Any
    progress: Shown
    has_aux: bool

    def __post_init__(self) -> None:
        what, size = self.what, self.chunk_size
        if self.mode not in MODES:
            raise ValueError(f"{what}: mode must be one of {', '.join(MODES)}, got {self.mode!r}")
        is_number = isinstance(size, int) and not isinstance(size, bool)
        if not (size in (None, "auto") or (is_number and size > 0)):  # type: ignore[operator]
            raise ArgTypeError(
                f"{what}: chunk_size must be a positive int, 'auto' or None, got {size!r}"
            )
        require_progress(self.progress, what)

    def transformed(
        self, function: Callable[..., Any], with_value: bool = False
    ) -> Callable[..., Any]:
        """Return the function that computes the Jacobian of ``function``."""
        require_function(function, self.what)

        def jacobian_function(*args: Any, **kwargs: Any) -> Any:
            at = Evaluation(function, args, self.argnums, self.what, kwargs, self.has_aux)
            result = self.computed(at)
            return (at.with_aux(at.value()), result) if with_value else at.with_aux(result)

        again = self.transformed, (function, with_value)
        return Transformed(jacobian_function, function, self.what, *again)

    def computed(self, at: Evaluation) -> Any:
        """Return the Jacobian of an evaluated function, in the form that users get."""
        outputs, variables, graph = at.leaves, at.variables, at.outer_graph()
        passes = passes_of(self.mode, outputs, variables.leaves, graph)
        try:
            return self.assembled(passes, variables, at.rebuild)
        except NotDifferentiableError:
            if self.mode != "auto" or isinstance(passes, Rows):
                raise
            return self.assembled(Rows(outputs, variables.leaves, graph), variables, at.rebuild)

    def assembled(self, passes: Passes, variables: Variables, rebuild: Rebuild) -> Any:
        """Run the passes; return the blocks of the Jacobian in the containers that users get.

        ``rebuild`` puts one item for each output into the containers of the output.
        """

        def arrange(blocks: Sequence[Any]) -> Any:
            return rebuild(variables.by_output(blocks))

        if self.out is not None:
            self._require_no_graph(passes.graph)
            blocks = blocks_of_out(passes, self.out, arrange, self.what)
            self._filled(blocks, passes, self._step(passes))
            return self.out
        step = self._step(passes)
        if step is None or present.capture is not None or passes.graph or not _is_here(passes):
            made = self._filled(TensorBlocks(passes), passes, step)
            return arrange(variables.deliver_own(made))
        filled = self._filled(ArrayBlocks(passes), passes, step)  # joining needs the memory twice
        return arrange(variables.deliver_new(filled))

    def _filled(self, target: Any, passes: Passes, step: int | None) -> Any:
        """Run the passes and put their chunks into ``target``; return the blocks that it then has.
        """
        with closing(ProgressBar(self.progress, passes.count, passes.unit)) as bar:
            for chunk in passes.chunks(step):
                target.put(chunk)
                bar.advance(chunk.stop - chunk.start)
        return target.blocks()

    def _step(self, passes: Passes) -> int | None:
        """Return how many rows or columns one pass computes; None if one pass computes all."""
        if self.chunk_size != "auto":
            return self.chunk_size  # type: ignore[return-value]
        if present.capture is not None or passes.graph:  # a graph keeps them all
            return None
        step = max(1, (settings.chunk_memory << 20) // passes.nbytes())
        if self.progress:
            step = min(step, -(-passes.count // STEPS) or 1)
        return step if step < max([x.size for x in passes.sources], default=0) else None

    def _require_no_graph(self, graph: bool) -> None:
        if present.capture is not None:
            refuse(
                f"{self.what} would write to out= now, and not again when it is replayed. Return "
                f"its result instead."
            )
        if graph:
            raise ArgTypeError(
                f"{self.what}: out= cannot hold a Jacobian that is differentiated itself; call "
                f"under ng.no_grad(), or without out="
            )


def _is_here(passes: Passes) -> bool:
    """Whether all outputs and inputs are on the CPU."""
    return all(x.spec.device == CPU for x in (*passes.outputs, *passes.inputs))
