"""Whole Jacobians and Hessians, in one batched pass each."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._declare import registry
from .._errors import ArgTypeError
from .._tensor import Tensor, placed
from .forward import push
from .gradients import ArgNums, call, pull
from .trees import Variables, output_leaves, require_function


def jacrev(
    function: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian by one batched vector-Jacobian product per
    output.

    Parameters
    ----------
    function, argnums, has_aux
        As in `numgrad.func.grad`, but the output may have any shape and structure.
    chunk_size : int, optional
        Rows of the Jacobian per pass; all of them by default.

    Returns
    -------
    callable
        Returns, in the structure of the output, for each differentiated argument an array of shape
        ``output.shape + argument.shape``.

    Notes
    -----
    :math:`J_{ij} = \\partial y_i / \\partial x_j` for real arguments. To a complex one,
    :math:`x_j = a_j + i b_j`, row :math:`i` is the gradient of the real part of :math:`y_i`, as
    gradients are in torch: :math:`\\partial \\Re y_i / \\partial a_j + i\\, \\partial \\Re y_i /
    \\partial b_j`. That is :math:`\\overline{\\partial y_i / \\partial x_j}` for a holomorphic
    function. For complex outputs that are no holomorphic function of complex arguments it is half
    of the derivative; the other half, of the imaginary part, is the Jacobian of ``-1j * f(x)``.
    `jacfwd` returns the same.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.jacrev(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _jacobian(function, argnums, has_aux, chunk_size, _reverse_rows, "jacrev")


def jacfwd(
    function: Callable[..., Any],
    argnums: ArgNums = 0,
    has_aux: bool = False,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian column by column, in one batched pass per
    argument.

    Parameters
    ----------
    function, argnums, has_aux, chunk_size
        As in `jacrev`; `chunk_size` counts columns.

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
    return _jacobian(function, argnums, has_aux, chunk_size, _forward_columns, "jacfwd")


def jacobian(
    function: Callable[..., Any], argnums: ArgNums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian in reverse mode; another name of `jacrev`.

    Parameters
    ----------
    function, argnums, has_aux
        As in `jacrev`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.func.jacobian(lambda x: 3 * x)(np.array([1.0, 2.0]))
    array([[3., 0.],
           [0., 3.]])
    """
    return _jacobian(function, argnums, has_aux, None, _reverse_rows, "jacobian")


def _jacobian(
    function: Callable[..., Any],
    argnums: ArgNums,
    has_aux: bool,
    chunk: int | None,
    method: Callable,
    what: str,
) -> Callable[..., Any]:
    if chunk is not None and (not isinstance(chunk, int) or chunk < 1):
        raise ArgTypeError(f"{what}: chunk_size must be a positive int or None, got {chunk!r}")
    require_function(function, what)

    @functools.wraps(function)
    def jacobian_function(*args: Any, **kwargs: Any) -> Any:
        variables = Variables(args, argnums, what)
        output, aux = call(function, variables, kwargs, has_aux, what)
        leaves, rebuild = output_leaves(output, what)
        blocks = method(leaves, variables.leaves, variables.outer_graph(leaves), chunk)
        rows = [variables.rebuild([variables.deliver(block) for block in row]) for row in blocks]
        result = rebuild(rows)
        return (result, variables.deliver_tree(aux)) if has_aux else result

    return jacobian_function


def _identity(tensor: Tensor, start: int, stop: int, unit: complex) -> Tensor:
    """Return rows ``start..stop`` of the identity over the elements of ``tensor``, each in its
    shape, times ``unit``, on its device."""
    rows = np.eye(tensor.size, dtype=tensor.dtype)[start:stop].reshape(stop - start, *tensor.shape)
    rows = rows if unit == 1 else rows * tensor.dtype.type(unit)
    return placed(rows, tensor.spec.device)


def _chunks(size: int, chunk: int | None) -> list[tuple[int, int]]:
    step = chunk or max(size, 1)
    return [(start, min(start + step, size)) for start in range(0, size, step)] or [(0, 0)]


def _reverse_rows(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], graph: bool, chunk: int | None
) -> list[list[Tensor]]:
    """Return the Jacobian blocks by output and input."""
    blocks = []
    for output in outputs:
        row = _rows(output, inputs, graph, chunk, 1)
        real = [n for n, x in enumerate(inputs) if x.dtype.kind == "f"]
        if output.dtype.kind == "c" and real:  # whose gradients are those of the real part
            imaginary = _rows(output, [inputs[n] for n in real], graph, chunk, 1j)
            for n, part in zip(real, imaginary, strict=True):
                row[n] = row[n] + part * 1j
        blocks.append(row)
    return blocks


def _rows(
    output: Tensor, inputs: Sequence[Tensor], graph: bool, chunk: int | None, unit: complex
) -> list[Tensor]:
    """Return for each input the gradients of all elements of an output, with seeds of ``unit``."""
    parts = [
        pull([output], inputs, [_identity(output, *span, unit)], graph, batched=True)
        for span in _chunks(output.size, chunk)
    ]
    joined = [_join(column) for column in zip(*parts, strict=True)]
    return [_reshaped(j, (*output.shape, *x.shape)) for j, x in zip(joined, inputs, strict=True)]


def _forward_columns(
    outputs: Sequence[Tensor], inputs: Sequence[Tensor], graph: bool, chunk: int | None
) -> list[list[Tensor]]:
    blocks: list[list[Tensor]] = [[] for _ in outputs]
    for position, x in enumerate(inputs):
        columns = _columns(outputs, inputs, position, graph, chunk, 1)
        if x.dtype.kind == "c":
            along_i = _columns(outputs, inputs, position, graph, chunk, 1j)
            columns = [
                _real(a) + _real(b) * 1j for a, b in zip(columns, along_i, strict=True)
            ]
        for row, column in zip(blocks, columns, strict=True):
            row.append(column)
    return blocks


def _columns(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    position: int,
    graph: bool,
    chunk: int | None,
    unit: complex,
) -> list[Tensor]:
    """Return for each output its derivatives to all elements of one input, along ``unit``."""
    x, parts = inputs[position], []
    for start, stop in _chunks(x.size, chunk):
        tangents = [
            _identity(x, start, stop, unit)
            if n == position
            else placed(np.zeros((stop - start, *o.shape), o.dtype), o.spec.device)
            for n, o in enumerate(inputs)
        ]
        parts.append(push(outputs, inputs, tangents, graph, batched=True))
    turned = []
    for output, column in zip(outputs, zip(*parts, strict=True), strict=True):
        flat = _reshaped(_join(column), (x.size, output.size))
        rows = registry["permute_dims"](flat, axes=(-1, -2))
        turned.append(_reshaped(rows, (*output.shape, *x.shape)))
    return turned


def _real(tensor: Tensor) -> Tensor:
    return registry["real"](tensor) if tensor.dtype.kind == "c" else tensor


def _join(parts: Sequence[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else registry["concat"](*parts, axis=-len(parts[0].shape))


def _reshaped(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    return registry["reshape"](tensor, ncore=len(tensor.shape), shape=shape)
