"""Sums of products over named axes: einsum and tensordot, through pairs of matrix products."""

import operator
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .._tensor import ArrayLike, Tensor
from ..engine.seen import seen
from ..operators.cast import cast
from ..operators.elementwise import multiply
from ..operators.indexing import diagonal
from ..operators.matmul import matmul
from ..operators.reduction import sum as sum_
from ..operators.shape import expand_dims, permute_dims, reshape, squeeze
from .operands import as_scalar, as_tensor

Labels = tuple[int, ...]
_ELLIPSIS = 1 << 20  # labels of the axes that an ellipsis stands for, counted from the right


class Term(NamedTuple):
    """A tensor with a label for each axis."""

    value: Tensor
    labels: Labels


def einsum(subscripts: Any, *operands: Any, optimize: Any = "greedy") -> Tensor:
    """Evaluate a sum of products in Einstein's notation.

    Parameters
    ----------
    subscripts : str
        Such as ``"ij,jk->ik"``, with ``...`` for axes that broadcast. Instead of it and the
        operands, each operand may be followed by a list of axis labels, as in NumPy.
    *operands : array_like
        One for each term.
    optimize : str, bool or list
        How ``np.einsum_path`` is to choose the order of the pairs, or an order that it has
        returned.

    Raises
    ------
    ValueError
        If the subscripts do not fit the operands.

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
    if isinstance(subscripts, str):
        terms, output = _parse(subscripts, [as_tensor(x) for x in operands])
    else:
        terms, output = _parse_lists([subscripts, *operands])
    if not terms:
        raise ValueError("einsum needs at least one operand")
    sizes = _sizes(terms)
    unknown = [label for label in output if label not in sizes]
    if unknown or len(set(output)) < len(output):
        raise ValueError(
            "einsum: each output label must appear once in the output and in an operand"
        )
    for positions in _path(terms, output, sizes, optimize):
        chosen = [terms.pop(n) for n in sorted(positions, reverse=True)][::-1]
        kept = {label for term in terms for label in term.labels}
        terms.append(_contract(chosen, (*output, *sorted(kept - set(output))), sizes))
    (last,) = terms
    return as_scalar(_arrange(last, output))


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
    a, b = as_tensor(a), as_tensor(b)
    first, second = _axis_pairs(seen(axes), a.ndim, b.ndim)
    if [a.shape[n] for n in first] != [b.shape[n] for n in second]:
        raise ValueError(
            f"tensordot: axes {first} of {a.shape} and {second} of {b.shape} differ in size"
        )
    names = dict(zip(second, first, strict=True))
    left = Term(a, tuple(range(a.ndim)))
    right = Term(b, tuple(names[n] if n in names else a.ndim + n for n in range(b.ndim)))
    output = tuple(n for n in left.labels if n not in first)
    output += tuple(n for n in right.labels if n >= a.ndim)
    return _arrange(_multiply(left, right, output), output)


def stacked_product(a: Tensor, b: Tensor) -> Tensor:
    """Return the products of the matrices of two stacks, whose axes broadcast: as few products of
    tall matrices as there are pairs of axes that both have, and so their gradients too."""
    try:
        loops = len(np.broadcast_shapes(a.shape[:-2], b.shape[:-2]))
    except ValueError:
        raise ValueError(
            f"matmul: leading axes of inputs of shapes {a.shape} and {b.shape} cannot be broadcast"
        ) from None
    rows, inner, columns = loops, loops + 1, loops + 2
    left = Term(a, (*range(loops + 2 - a.ndim, loops), rows, inner))
    right = Term(b, (*range(loops + 2 - b.ndim, loops), inner, columns))
    output = (*range(loops), rows, columns)
    return _arrange(_contract([left, right], output, _sizes([left, right])), output)


def _axis_pairs(axes: Any, ndim_a: int, ndim_b: int) -> tuple[list[int], list[int]]:
    try:
        count = operator.index(axes)
    except TypeError:
        first, second = ([n] if np.ndim(n) == 0 else list(n) for n in axes)
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


def _parse(subscripts: str, operands: Sequence[Tensor]) -> tuple[list[Term], Labels]:
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    texts = inputs.split(",")
    if len(texts) != len(operands):
        raise ValueError(
            f"einsum: {subscripts!r} has {len(texts)} terms for {len(operands)} operands"
        )
    lists = [_letters(text, subscripts) for text in texts]
    return _terms(operands, lists, _letters(output, subscripts) if arrow else None)


def _letters(text: str, whole: str) -> list[Any]:
    labels = [Ellipsis if c == "." else ord(c) for c in text.replace("...", ".")]
    for c in text.replace("...", ""):
        if not (c.isascii() and c.isalpha()):
            raise ValueError(f"einsum: {c!r} in {whole!r} is no label")
    return labels


def _parse_lists(items: Sequence[Any]) -> tuple[list[Term], Labels]:
    """Parse operands that are followed by their labels, and perhaps those of the output."""
    output = list(items[-1]) if len(items) % 2 else None
    pairs = items[: len(items) // 2 * 2]
    operands = [as_tensor(x) for x in pairs[::2]]
    return _terms(operands, [list(labels) for labels in pairs[1::2]], output)


def _terms(
    operands: Sequence[Tensor], lists: Sequence[list[Any]], output: list[Any] | None
) -> tuple[list[Term], Labels]:
    terms = [Term(x, _spell_out(labels, x.ndim)) for x, labels in zip(operands, lists, strict=True)]
    counts = Counter(label for term in terms for label in term.labels)
    hidden = tuple(sorted((n for n in counts if n >= _ELLIPSIS), reverse=True))
    if output is None:
        once = sorted(n for n, count in counts.items() if count == 1 and n < _ELLIPSIS)
        return terms, (*hidden, *once)
    if Ellipsis in output:
        at = output.index(Ellipsis)
        output = [*output[:at], *hidden, *output[at + 1 :]]
    elif hidden:
        raise ValueError("einsum: the output needs '...' for the axes that '...' stands for")
    return terms, tuple(output)


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


def _sizes(terms: Sequence[Term]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for term in terms:
        for label, size in zip(term.labels, term.value.shape, strict=True):
            known = sizes.setdefault(label, size)
            if known != size and 1 not in (known, size):
                raise ValueError(f"einsum: sizes {known} and {size} for one label")
            sizes[label] = size if known == 1 else known
    return sizes


def _path(
    terms: Sequence[Term], output: Labels, sizes: Mapping[int, int], optimize: Any
) -> list[tuple[int, ...]]:
    """Return which terms to contract at each step; the result of a step goes to the end."""
    if len(terms) <= 2:
        return [tuple(range(len(terms)))]
    if not isinstance(optimize, (str, bool)):
        return list(optimize)[1:] if optimize and optimize[0] == "einsum_path" else list(optimize)
    numbers = {label: n for n, label in enumerate(sizes)}
    arguments: list[Any] = []
    for term in terms:
        shape = [sizes[label] for label in term.labels]
        arguments += [np.broadcast_to(0.0, shape), [numbers[label] for label in term.labels]]
    arguments.append([numbers[label] for label in output])
    return np.einsum_path(*arguments, optimize=optimize or "greedy")[0][1:]


# Products
# -------------------------------------------------------------------------------------------------


def _contract(terms: Sequence[Term], kept: Labels, sizes: Mapping[int, int]) -> Term:
    """Multiply the terms one after the other and sum over the labels that are no longer needed;
    ``kept`` are the others, in the order that suits the result."""
    terms = [_drop_broadcast(term, sizes) for term in terms]
    result = terms[0]
    for n, term in enumerate(terms[1:], 1):
        later = [label for other in terms[n + 1 :] for label in other.labels]
        needed = tuple(dict.fromkeys((*kept, *later)))
        result = _multiply(_reduce(result, {*needed, *term.labels}), term, needed)
    return _reduce(result, kept)


def _drop_broadcast(term: Term, sizes: Mapping[int, int]) -> Term:
    """Leave out axes of size 1 that stand for longer ones."""
    labels = term.labels
    gone = [n for n, label in enumerate(labels) if term.value.shape[n] == 1 != sizes[label]]
    if not gone:
        return term
    value = squeeze(term.value, axes=tuple(n - len(labels) for n in gone))
    return Term(value, tuple(label for n, label in enumerate(labels) if n not in gone))


def _reduce(term: Term, kept: Collection[int]) -> Term:
    """Take diagonals of repeated labels, and sum over the labels that are not kept."""
    value, labels = term
    while len(set(labels)) < len(labels):
        label = next(label for label, count in Counter(labels).items() if count > 1)
        first = labels.index(label)
        second = labels.index(label, first + 1)
        n = len(labels)
        value = diagonal(value, axes=(first - n, second - n), offset=0)
        labels = (*(x for at, x in enumerate(labels) if at not in (first, second)), label)
    gone = tuple(n - len(labels) for n, label in enumerate(labels) if label not in kept)
    if gone:
        value = cast(sum_(value, axes=gone), value.dtype)
    return Term(value, tuple(label for label in labels if label in kept))


def _multiply(x: Term, y: Term, kept: Labels) -> Term:
    """Multiply two terms and sum over the common labels that are not kept; the factor whose axes
    are the outer ones in the order of ``kept`` is the left one, else the larger one."""
    x = _reduce(x, {*kept, *y.labels})
    y = _reduce(y, {*kept, *x.labels})
    common = [n for n in x.labels if n in y.labels]
    batch = tuple(n for n in common if n in kept)
    summed = tuple(n for n in common if n not in kept)
    left = tuple(n for n in x.labels if n not in common)
    right = tuple(n for n in y.labels if n not in common)
    if summed and (left or right or not batch):
        sides = [(x, left), (y, right)]
        if _is_turned(sides, batch, kept):
            sides.reverse()
        return _matrix_product(sides, batch, summed)
    # No sum, or one of vectors without further axes: elementwise.
    a = _arrange(x, (*batch, *summed, *left))
    b = _arrange(y, (*batch, *summed, *right))
    if right:
        a = expand_dims(a, axes=tuple(range(-len(right), 0)))
    if left:
        b = expand_dims(b, axes=tuple(range(-len(left) - len(right), -len(right))))
    return _reduce(Term(multiply(a, b), (*batch, *summed, *left, *right)), set(kept))


def _is_turned(sides: Sequence[tuple[Term, Labels]], batch: Labels, kept: Labels) -> bool:
    """Whether the transpose of a product is better: it has the axes in order, or else is taller,
    as the rows of a product are read where they are, and its columns copied."""
    (x, left), (y, right) = sides
    sizes = dict(zip((*x.labels, *y.labels), (*x.value.shape, *y.value.shape), strict=True))
    outer, first, second = ([n for n in part if sizes[n] != 1] for part in (batch, left, right))
    natural, turned = [*outer, *first, *second], [*outer, *second, *first]
    wanted = [n for n in kept if n in natural]
    if wanted in (natural, turned):
        return wanted != natural
    return prod(sizes[n] for n in first) < prod(sizes[n] for n in second)


def _matrix_product(sides: Sequence[tuple[Term, Labels]], batch: Labels, summed: Labels) -> Term:
    (x, left), (y, right) = sides
    a, b = _arrange(x, (*batch, *left, *summed)), _arrange(y, (*batch, *summed, *right))
    nbatch, nleft = len(batch), len(left)
    loop, rows = a.shape[:nbatch], a.shape[nbatch : nbatch + nleft]
    inner, columns = prod(a.shape[nbatch + nleft :]), b.shape[nbatch + len(summed) :]
    a = _reshape(a, (*loop, prod(rows), inner))
    b = _reshape(b, (*b.shape[:nbatch], inner, prod(columns)))
    result = _reshape(matmul(a, b), (*loop, *rows, *columns))
    return Term(result, (*batch, *left, *right))


def _reshape(value: Tensor, shape: tuple[int, ...]) -> Tensor:
    return value if value.shape == shape else reshape(value, ncore=value.ndim, shape=shape)


def _arrange(term: Term, labels: Labels) -> Tensor:
    """Return the tensor with its axes in the order of ``labels``."""
    if term.labels == labels:
        return term.value
    n = len(labels)
    return permute_dims(term.value, axes=tuple(term.labels.index(label) - n for label in labels))
