"""``vmap``: functions of one sample, called for all samples at once."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._errors import ArgTypeError
from ..._tensor import Tensor, constant
from ...containers import optree_calls as optree
from ...containers.registered_classes import VARIABLES
from ...engine.record.apply import mode
from ...functions.shape.reshaping import moveaxis
from ...process.transformed_function import Transformed
from ..jacobians.blocks import joined
from ..pytree import Rebuild, output_leaves, require_function
from ..tracing.trace import record
from .axes import leaf_axes, output_axes, samples_of
from .sample import SampleTrace, sample_placeholder


def vmap(
    function: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    chunk_size: int | None = None,
    *,
    in_dims: Any = 0,
    out_dims: Any = 0,
) -> Callable[..., Any]:
    """Return a function that maps ``function``, written for one sample, over an axis of its
    arguments.

    Parameters
    ----------
    function : callable
        Takes and returns arrays, tensors, numbers and containers of them, of one sample. Its
        operations must be those of tensors, as for `jit`.
    in_axes : int, None, or a tuple or list of them
        Which axis of each positional argument is that of the samples; None for an argument that
        all samples share. A single entry stands for all arguments, a tuple or list has an entry for
        each. An entry is an int or None for all arrays of the argument, or has the containers of
        the argument with an int or None for each array. Negative axes count from the end.
    out_axes : int, None, or containers of them
        Where each result has the axis of the samples, written in the same way. None for a result
        that is the same for all samples.
    chunk_size : int, optional
        How many samples are computed at a time; all of them by default.
    in_dims, out_dims
        The names that `in_axes` and `out_axes` have in torch.

    Returns
    -------
    callable
        Takes the same arguments, with one more axis where `in_axes` says so. Keyword arguments are
        passed on as they are. Results are arrays if no argument is a tensor and nothing that
        requires grad takes part, else tensors, which can be differentiated to any order.

    Raises
    ------
    ArgTypeError
        For axes that do not fit the arguments or the results.
    ValueError
        If arguments have different numbers of samples, or an axis is out of bounds.
    CaptureError
        If the function wants to see a value of its sample (``if x > 0``, ``float(x)``), or changes
        something outside. The error names the line.

    Notes
    -----
    The function is called once, with placeholders for a sample. What it computes then, derivatives
    included, is computed for all samples as one program. The results have the bits of a loop over
    the samples, or differ by rounding where BLAS or LAPACK is called. Random numbers that NumPy
    draws in the function are the same for all samples.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> def energy(x, k):
    ...     return k * (x * x).sum() / 2
    >>> points = np.arange(6.0).reshape(3, 2)
    >>> ng.func.vmap(energy, in_axes=(0, None))(points, 2.0)
    array([ 1., 13., 41.])

    The gradient of each sample, and its Jacobian:

    >>> ng.func.vmap(ng.func.grad(energy), in_axes=(0, None))(points, 2.0)
    array([[ 0.,  2.],
           [ 4.,  6.],
           [ 8., 10.]])
    >>> ng.func.vmap(ng.func.jacrev(lambda x: x * x.sum()))(points).shape
    (3, 2, 2)
    """
    function = require_function(function, "vmap")
    if chunk_size is not None and (type(chunk_size) is not int or chunk_size < 1):
        raise ArgTypeError(f"vmap: chunk_size must be a positive int or None, got {chunk_size!r}")
    in_axes = _under_one_name("in", in_axes, in_dims)
    out_axes = _under_one_name("out", out_axes, out_dims)

    def mapped(*args: Any, **kwargs: Any) -> Any:
        call = _Call(function, args, kwargs, in_axes)
        outputs = call.outputs(chunk_size)
        axes = output_axes(out_axes, call.rebuild(outputs), call.varies)
        moved = [_placed(o, axis) for o, axis in zip(outputs, axes, strict=True)]
        as_numpy = call.as_numpy
        return call.rebuild([o.array if as_numpy and not o.requires_grad else o for o in moved])

    args = function, in_axes, out_axes, chunk_size
    return Transformed(mapped, function, "vmap", vmap, args)


def _under_one_name(which: str, axes: Any, dims: Any) -> Any:
    """Return the axes, given under the name of JAX or that of torch; raise if both are given."""
    if isinstance(dims, int) and dims == 0:
        return axes
    if not (isinstance(axes, int) and axes == 0):
        raise ArgTypeError(f"vmap: {which}_axes and {which}_dims are one argument, give one")
    return dims


class _Call:
    """One call of a mapped function.

    The call has the arguments with the axis of samples in front, and the trace of the function for
    one sample.
    """

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Any, in_axes: Any
    ) -> None:
        leaves, structure = optree.tree_flatten(
            tuple(args), none_is_leaf=True, namespace=VARIABLES
        )
        self.axes = leaf_axes(in_axes, args, leaves)
        has_tensors = any([isinstance(leaf, Tensor) for leaf in leaves])  # noqa: C419
        self.as_numpy = mode.capture is None and not has_tensors
        self.count = samples_of(leaves, self.axes)
        self.inputs = [_front(x, axis) for x, axis in zip(leaves, self.axes, strict=True)]
        arrays = self.arrays = [n for n, x in enumerate(self.inputs) if isinstance(x, Tensor)]
        self.rebuild: Rebuild = tuple  # replaced when the result of the function is known

        def run(placeholders: list[Tensor]) -> list[Tensor]:
            given = list(self.inputs)
            for n, stands in zip(arrays, placeholders, strict=True):
                given[n] = stands
            result = function(*structure.unflatten(given), **kwargs)
            outputs, self.rebuild = output_leaves(result, "vmap")
            return outputs

        name = f"vmap({getattr(function, '__name__', type(function).__name__)})"
        leads = [int(self.axes[n] is not None) for n in arrays]
        stands = [sample_placeholder(n, self.inputs[k], leads[n]) for n, k in enumerate(arrays)]
        self.sample: SampleTrace = record(name, run, stands, "auto", SampleTrace)
        self.varies = self.sample.varying([n for n, lead in enumerate(leads) if lead])

    def outputs(self, chunk_size: int | None) -> list[Tensor]:
        """Return the results of all samples, with the axis of samples in front."""
        inputs = [self.inputs[n] for n in self.arrays]
        mapped = [self.axes[n] is not None for n in self.arrays]
        step = chunk_size or max(self.count, 1)
        parts = []
        for start in range(0, max(self.count, 1), step):
            stop = min(start + step, self.count)
            some = [
                x[start:stop] if is_mapped and stop - start < self.count else x
                for x, is_mapped in zip(inputs, mapped, strict=True)
            ]
            parts.append(self.sample.mapped.apply(some))
        return [joined(column) for column in zip(*parts, strict=True)]


def _front(leaf: Any, axis: int | None) -> Any:
    """Return an array as a tensor with its axis of samples in front; anything else as it is."""
    if not isinstance(leaf, (Tensor, np.ndarray)):
        return leaf
    tensor = leaf if isinstance(leaf, Tensor) else constant(leaf)
    return moveaxis(tensor, axis, 0) if axis else tensor


def _placed(value: Tensor, axis: int | None) -> Tensor:
    """Return a result with its axis of samples moved to ``axis``."""
    return value[0] if axis is None else moveaxis(value, 0, axis) if axis else value
