"""How a sum of products over named axes is made of operations on its operands, pair by pair.

It depends on labels, shapes and dtypes alone, so it is worked out once for all operands alike.
"""

import functools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ...engine.graph.value import Spec
from ...operators.elementwise.arithmetic import multiply
from ...operators.elementwise.cast import astype
from ...operators.linalg.matmul import matmul
from ...operators.reduction.reductions import sum as sum_
from ...operators.shape.indexing import diagonal
from ...operators.shape.reshape import expand_dims, permute_dims, reshape, squeeze

Labels = tuple[int, ...]


class Term(NamedTuple):
    """An operand, or the result of an operation, with a label for each axis."""

    number: int
    shape: tuple[int, ...]
    dtype: np.dtype
    labels: Labels


class Operation(NamedTuple):
    """An operator with its static parameters, and the numbers of the operands and results so far
    that it is applied to."""

    operator: Any
    static: dict[str, Any]
    reads: tuple[int, ...]


@functools.lru_cache(maxsize=1024)
def plan(
    labels: Sequence[Labels],
    output: Labels,
    shapes: Sequence[tuple[int, ...]],
    dtypes: Sequence[np.dtype],
    optimize: Any = "greedy",
) -> tuple[Operation, ...]:
    """Return what a sum of products comes to.

    Parameters
    ----------
    labels : tuple of tuple of int
        Of the axes of each operand: what has one label is multiplied along it.
    output : tuple of int
        Those of the result; the products are summed over all others.
    shapes, dtypes : tuple
        Of the operands.
    optimize : str, bool or tuple of tuple of int
        As in `einsum`.
    """
    given = enumerate(zip(shapes, dtypes, labels, strict=True))
    terms = [Term(n, *parts) for n, parts in given]
    sizes = _sizes(terms)
    made = _Contraction(sizes, len(terms))
    dtype = np.result_type(*dtypes)
    terms = [made.cast(term, dtype) for term in terms]  # before sums: small integers would overflow
    for positions in _path(terms, output, sizes, optimize):
        chosen = [terms.pop(n) for n in sorted(positions, reverse=True)][::-1]
        kept = {label for term in terms for label in term.labels}
        terms.append(made.contract(chosen, (*output, *sorted(kept - set(output)))))
    if len(terms) > 1:
        raise ValueError(f"einsum: after the steps {optimize} there are {len(terms)} terms left")
    (last,) = terms
    made.arrange(last, output)
    return tuple(made.operations)


def _sizes(terms: Sequence[Term]) -> dict[int, int]:
    sizes: dict[int, int] = {}
    for term in terms:
        for label, size in zip(term.labels, term.shape, strict=True):
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
    if isinstance(optimize, tuple):
        return list(optimize)
    numbers = {label: n for n, label in enumerate(sizes)}
    arguments: list[Any] = []
    for term in terms:
        shape = [sizes[label] for label in term.labels]
        arguments += [np.broadcast_to(0.0, shape), [numbers[label] for label in term.labels]]
    arguments.append([numbers[label] for label in output])
    return np.einsum_path(*arguments, optimize=optimize or "greedy")[0][1:]


class _Contraction:
    """The operations that terms are contracted by.

    Parameters
    ----------
    sizes : dict
        Of the axes, by label.
    count : int
        Of the operands.
    """

    def __init__(self, sizes: Mapping[int, int], count: int) -> None:
        self.sizes, self.count = sizes, count
        self.operations: list[Operation] = []

    def _apply(self, applied: Any, labels: Labels, *terms: Term, **static: Any) -> Term:
        """Add an operation; return its result."""
        dtype = np.result_type(*[term.dtype for term in terms])
        specs = tuple([Spec(term.shape, dtype) for term in terms])
        ((shape, _),) = applied.infer(specs, static)
        number = self.count + len(self.operations)
        reads = tuple([term.number for term in terms])
        self.operations.append(Operation(applied, static, reads))
        return Term(number, shape, static.get("dtype", dtype), labels)

    def contract(self, terms: Sequence[Term], kept: Labels) -> Term:
        """Multiply the terms one after the other and sum over the labels that are no longer needed;
        ``kept`` are the others, in the order that suits the result."""
        terms = [self._drop_broadcast(term) for term in terms]
        result = terms[0]
        for n, term in enumerate(terms[1:], 1):
            later = [label for other in terms[n + 1 :] for label in other.labels]
            needed = tuple(dict.fromkeys((*kept, *later)))
            result = self._multiply(self._reduce(result, {*needed, *term.labels}), term, needed)
        return self._reduce(result, kept)

    def arrange(self, term: Term, labels: Labels) -> Term:
        """Bring the axes to the order of ``labels``."""
        if term.labels == labels:
            return term
        axes = tuple([term.labels.index(label) - len(labels) for label in labels])
        return self._apply(permute_dims, labels, term, axes=axes)

    def cast(self, term: Term, dtype: np.dtype) -> Term:
        """Convert to a dtype."""
        if term.dtype == dtype:
            return term
        return self._apply(astype, term.labels, term, dtype=dtype)

    def _reshape(self, term: Term, shape: tuple[int, ...], labels: Labels = ()) -> Term:
        if term.shape == shape:
            return term._replace(labels=labels)
        return self._apply(reshape, labels, term, ncore=len(term.shape), shape=shape)

    def _drop_broadcast(self, term: Term) -> Term:
        """Leave out axes of size 1 that stand for longer ones."""
        labels = term.labels
        gone = [n for n, x in enumerate(labels) if term.shape[n] == 1 != self.sizes[x]]
        if not gone:
            return term
        left = tuple([label for n, label in enumerate(labels) if n not in gone])
        axes = tuple([n - len(labels) for n in gone])
        return self._apply(squeeze, left, term, axes=axes)

    def _reduce(self, term: Term, kept: Collection[int]) -> Term:
        """Take diagonals of repeated labels, and sum over the labels that are not kept."""
        while len(set(term.labels)) < len(term.labels):
            labels, n = term.labels, len(term.labels)
            label = next(label for label, count in Counter(labels).items() if count > 1)
            first = labels.index(label)
            second = labels.index(label, first + 1)
            rest = (*[x for at, x in enumerate(labels) if at not in (first, second)], label)
            axes = (first - n, second - n)
            term = self._apply(diagonal, rest, term, axes=axes, offset=0)
        labels = term.labels
        gone = tuple([n - len(labels) for n, label in enumerate(labels) if label not in kept])
        if not gone:
            return term
        left = tuple([label for label in labels if label in kept])
        total = self._apply(sum_, left, term, axes=gone)
        return self.cast(total._replace(dtype=sum_.result_dtype(term.dtype)), term.dtype)

    def _multiply(self, x: Term, y: Term, kept: Labels) -> Term:
        """Multiply two terms and sum over the common labels that are not kept; the factor whose
        axes are the outer ones in the order of ``kept`` is the left one, else the larger one."""
        x = self._reduce(x, {*kept, *y.labels})
        y = self._reduce(y, {*kept, *x.labels})
        common = [n for n in x.labels if n in y.labels]
        batch = tuple([n for n in common if n in kept])
        summed = tuple([n for n in common if n not in kept])
        left = tuple([n for n in x.labels if n not in common])
        right = tuple([n for n in y.labels if n not in common])
        # An outer product too: its gradients are then products, without the cotangent's multiples.
        is_outer = left and right and x.dtype.kind in "fc"
        if is_outer or (summed and (left or right or not batch)):
            sides = [(x, left), (y, right)]
            if self._is_turned(batch, left, right, kept):
                sides.reverse()
            return self._matrix_product(sides, batch, summed)
        # No sum, or one of vectors without further axes: elementwise.
        a = self.arrange(x, (*batch, *summed, *left))
        b = self.arrange(y, (*batch, *summed, *right))
        if right:
            a = self._apply(expand_dims, (), a, axes=tuple(range(-len(right), 0)))
        if left:
            axes = tuple(range(-len(left) - len(right), -len(right)))
            b = self._apply(expand_dims, (), b, axes=axes)
        product = self._apply(multiply, (*batch, *summed, *left, *right), a, b)
        return self._reduce(product, set(kept))

    def _is_turned(self, batch: Labels, left: Labels, right: Labels, kept: Labels) -> bool:
        """Whether the transpose of a product is better: it has the axes in order, or else is
        taller, as the rows of a product are read where they are, and its columns copied."""
        sizes = self.sizes
        outer, first, second = ([n for n in part if sizes[n] != 1] for part in (batch, left, right))
        natural, turned = [*outer, *first, *second], [*outer, *second, *first]
        wanted = [n for n in kept if n in natural]
        if wanted in (natural, turned):
            return wanted != natural
        return prod(sizes[n] for n in first) < prod(sizes[n] for n in second)

    def _matrix_product(
        self, sides: Sequence[tuple[Term, Labels]], batch: Labels, summed: Labels
    ) -> Term:
        (x, left), (y, right) = sides
        loop, rows, inner, columns = (
            tuple([self.sizes[n] for n in part]) for part in (batch, left, summed, right)
        )
        a = self.arrange(x, (*batch, *left, *summed))
        b = self.arrange(y, (*batch, *summed, *right))
        a = self._reshape(a, (*loop, prod(rows), prod(inner)))
        b = self._reshape(b, (*loop, prod(inner), prod(columns)))
        product = self._apply(matmul, (), a, b)
        return self._reshape(product, (*loop, *rows, *columns), (*batch, *left, *right))
