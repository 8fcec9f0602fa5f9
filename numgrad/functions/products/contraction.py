"""Sums of products over named axes: einsum and tensordot, through pairs of matrix products."""

import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...engine.record.options import Steps, last_reads
from ...ir.broadcasting import broadcast_shapes
from ...ir.dtypes import FLOATING
from ..array.argument_checks import pair, sequence
from ..array.operands import as_scalar, as_tensors
from ..array.results import delivered
from .einsum import Labels, Operation, plan

_ELLIPSIS = 1 << 20  # labels of the axes that an ellipsis stands for, counted from the right


def einsum(
    subscripts: Any, *operands: Any, out: Tensor | None = None, dtype: Any = None,
    casting: Any = "safe", optimize: Any = "greedy",
) -> Tensor:  # fmt: skip
    """Evaluate a sum of products in Einstein's notation.

    Parameters
    ----------
    subscripts : str
        Such as ``"ij,jk->ik"``, with ``...`` for axes that broadcast. Instead of it and the
        operands, each operand may be followed by a list of axis labels, as in NumPy.
    *operands : array_like
        One for each term.
    out : Tensor, optional
        Where to write the result.
    dtype : dtype, optional
        Of the operands before they are multiplied.
    casting : str
        Which conversions to it are allowed, as in NumPy.
    optimize : str, bool or list
        How ``np.einsum_path`` is to choose the order of the pairs, or an order that it has
        returned.

    Raises
    ------
    ValueError
        If the subscripts do not fit the operands.
    TypeError
        If an operand cannot become the dtype by ``casting``.

    Notes
    -----
    The gradient of an operand is the einsum of the cotangent and the other operands (conjugated).
    Each pair is one (batched) matrix product, so gradients are matrix products too.

    Examples
    --------
    >>> import numgrad as ng
    >>> A = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> y = ng.einsum("i,ij,j", [1.0, 0.0], A, [1.0, 1.0])
    >>> ng.grad(y, A)[0]
    tensor([[1., 1.],
            [0., 0.]])
    """
    if not isinstance(subscripts, str):
        items = (subscripts, *operands)
        pairs = items[: len(items) // 2 * 2]
        labels = (*pairs[1::2], *items[len(pairs) :])
        subscripts = tuple([tuple(sequence(some, "each list of axes")) for some in labels])
        operands = pairs[::2]
    if isinstance(optimize, (list, tuple)):
        path = optimize[optimize[:1] == ["einsum_path"] :]
        optimize = tuple([tuple(step) for step in path])
    tensors = as_tensors(*operands)
    if dtype is not None:
        tensors = [x.astype(dtype, casting=casting, copy=False) for x in tensors]
    result = _einsum.call(subscripts, optimize, *tensors)
    result = result if any([result is x for x in tensors]) else as_scalar(result)  # noqa: C419
    return delivered(result, out, "einsum")


def _einsum_steps(subscripts: Any, optimize: Any, *operands: Tensor) -> Sequence[Operation]:
    is_alike = len({x.dtype for x in operands}) == 1 and operands[0].dtype in FLOATING
    return _plan_einsum(subscripts, optimize, operands) if is_alike else ()


def _any_einsum(subscripts: Any, optimize: Any, *operands: Tensor) -> Tensor:
    return applied(_plan_einsum(subscripts, optimize, operands), operands)


_einsum = Steps(_einsum_steps, _any_einsum)


def _plan_einsum(subscripts: Any, optimize: Any, operands: Sequence[Tensor]) -> Any:
    labels, output = _parse(subscripts, [x.ndim for x in operands])
    return plan(labels, output, *_kinds(operands), optimize)


def _kinds(operands: Sequence[Tensor]) -> tuple[tuple[Any, ...], tuple[np.dtype, ...]]:
    """Return the shapes and the dtypes of operands."""
    return tuple([x.shape for x in operands]), tuple([x.dtype for x in operands])


def applied(operations: Sequence[Operation], operands: Sequence[Tensor]) -> Tensor:
    """Return the result of the last operation."""
    values: list[Any] = list(operands)
    last = last_reads([operation.reads for operation in operations], len(operands))
    for (apply, static, reads), gone in zip(operations, last, strict=True):
        values.append(apply(*[values[n] for n in reads], **static))
        for n in gone:
            values[n] = None
    return values[-1]


def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> Tensor:
    """Sum the products over axes of ``a`` and axes of ``b``.

    Parameters
    ----------
    a, b : array_like
        The factors.
    axes : int or pair of (int or sequence of int)
        So many last axes of ``a`` with first ones of ``b``, or which axes of each.

    Raises
    ------
    ValueError
        If the sizes of a pair of axes differ.

    Notes
    -----
    The gradient of each factor is a tensordot of the cotangent with the other factor (conjugated).

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    >>> ng.grad(ng.tensordot(x, [1.0, 10.0], axes=1).sum(), x)[0]
    tensor([[ 1., 10.],
            [ 1., 10.]])
    """
    a, b = as_tensors(a, b)
    first, second = _axis_pairs(guarded(axes), a.ndim, b.ndim)
    if [a.shape[n] for n in first] != [b.shape[n] for n in second]:
        raise ValueError(
            f"tensordot: axes {first} of {a.shape} and {second} of {b.shape} differ in size"
        )
    names = dict(zip(second, first, strict=True))
    left = tuple(range(a.ndim))
    right = tuple([names[n] if n in names else a.ndim + n for n in range(b.ndim)])
    output = tuple([n for n in left if n not in first] + [n for n in right if n >= a.ndim])
    return _einsum.call((left, right, output), "greedy", a, b)


def plan_stacks(a: Tensor, b: Tensor) -> Sequence[Operation]:
    """Return what the products of the matrices of two stacks come to, whose axes broadcast: as few
    products of tall matrices as there are pairs of axes that both have, and so their gradients
    too. A vector stands for a row on the left, for a column on the right."""
    try:
        loops = len(broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    except ValueError:
        raise ValueError(
            f"matmul: leading axes of inputs of shapes {a.shape} and {b.shape} cannot be broadcast"
        ) from None
    inner = loops + 1
    rows = (loops,) if a.ndim > 1 else ()
    columns = (loops + 2,) if b.ndim > 1 else ()
    left = (*range(loops + 2 - a.ndim, loops), *rows, inner)
    right = (*range(loops + 2 - b.ndim, loops), inner, *columns)
    return plan((left, right), (*range(loops), *rows, *columns), *_kinds((a, b)))


def _axis_pairs(axes: Any, ndim_a: int, ndim_b: int) -> tuple[list[int], list[int]]:
    try:
        count = operator.index(axes)
    except TypeError:
        both = pair(axes, "axes", "the axes of a and those of b, or a number")
        first, second = ([n] if np.ndim(n) == 0 else list(n) for n in both)
    else:
        if not 0 <= count <= min(ndim_a, ndim_b):
            raise ValueError(f"tensordot: cannot pair {count} axes of {ndim_a} and {ndim_b}")
        first, second = list(range(ndim_a - count, ndim_a)), list(range(count))
    pairs = [
        [operator.index(n) % ndim if -ndim <= n < ndim else ndim for n in chosen]
        for chosen, ndim in ((first, ndim_a), (second, ndim_b))
    ]
    bad = any(
        n == ndim for chosen, ndim in zip(pairs, (ndim_a, ndim_b), strict=True) for n in chosen
    )
    if bad or len(first) != len(second) or any(len(set(p)) < len(p) for p in pairs):
        raise ValueError(
            f"tensordot: axes {axes!r} do not pair axes of {ndim_a} and {ndim_b} dimensions"
        )
    return pairs[0], pairs[1]


# Subscripts
# -----------------------------------------------------------------------------------------------


def _parse(subscripts: Any, ndims: Sequence[int]) -> tuple[tuple[Labels, ...], Labels]:
    """Return the labels of the axes of operands and of the result; `subscripts` are a text, or
    sequences of labels for each."""
    if not ndims:
        raise ValueError("einsum needs at least one operand")
    if isinstance(subscripts, str):
        inputs, arrow, last = subscripts.replace(" ", "").partition("->")
        lists = [_letters(text, subscripts) for text in inputs.split(",")]
        output = _letters(last, subscripts) if arrow else None
    else:
        lists = [list(labels) for labels in subscripts[: len(ndims)]]
        output = list(subscripts[-1]) if len(subscripts) > len(ndims) else None
    if len(lists) != len(ndims):
        raise ValueError(f"einsum: {subscripts!r} has {len(lists)} terms for {len(ndims)} operands")
    labels = tuple([_spell_out(one, ndim) for one, ndim in zip(lists, ndims, strict=True)])
    return labels, _output_of(labels, output)


def _letters(text: str, whole: str) -> list[Any]:
    labels = [Ellipsis if c == "." else ord(c) for c in text.replace("...", ".")]
    for c in text.replace("...", ""):
        if not (c.isascii() and c.isalpha()):
            raise ValueError(f"einsum: {c!r} in {whole!r} is no label")
    return labels


def _output_of(labels: Sequence[Labels], output: list[Any] | None) -> Labels:
    counts = Counter(label for one in labels for label in one)
    hidden = tuple(sorted((n for n in counts if n >= _ELLIPSIS), reverse=True))
    if output is None:
        once = sorted(n for n, count in counts.items() if count == 1 and n < _ELLIPSIS)
        return (*hidden, *once)
    if Ellipsis in output:
        at = output.index(Ellipsis)
        output = [*output[:at], *hidden, *output[at + 1 :]]
    elif hidden:
        raise ValueError("einsum: the output needs '...' for the axes that '...' stands for")
    if len(set(output)) < len(output) or not set(output) <= counts.keys():
        raise ValueError(
            "einsum: each output label must appear once in the output and in an operand"
        )
    return tuple(output)


def _spell_out(labels: list[Any], ndim: int) -> Labels:
    """Replace an ellipsis by a label for each axis that it stands for."""
    dots = labels.count(Ellipsis)
    rest = ndim - len(labels) + dots
    if dots > 1 or rest < 0 or (rest and not dots):
        raise ValueError(f"einsum: an operand of {ndim} axes does not fit its {len(labels)} labels")
    if not dots:
        return tuple(labels)
    at = labels.index(Ellipsis)
    return (*labels[:at], *(_ELLIPSIS + n for n in reversed(range(rest))), *labels[at + 1 :])
