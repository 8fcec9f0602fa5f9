"""Which elements of the inputs each element of a result depends on, for every sort of operator.

An index set has the numbers of the variables on which one element depends. A rule takes the index
sets of the inputs of a node, one for each element, and returns those of the outputs. An operator
that only moves elements is applied to their positions instead. For an operator without a rule each
element of an output depends on all elements of the inputs' cores: a superset, and so never wrong.
"""

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .._declare import KernelOperator
from .._declare.elementwise import Elementwise
from .._declare.reduction import Reduction
from .._declare.structural import ViewOperator
from .._declare.user.operator import UserOperator
from .._errors import DeclarationError
from ..engine.graph.runtime import runtime
from ..operators.elementwise.cast import AsType
from ..operators.elementwise.complex_parts import Part
from ..operators.elementwise.selection import share
from ..operators.linalg.matmul import MatMul
from ..operators.linalg.sparse import Sparse, product_at_stored, sparse_product, sparse_transposed
from ..operators.reduction import cumulative
from ..operators.reduction.scan import Scan
from ..operators.shape import indexing, joining
from ..operators.shape.gathering import Gather, PutAt, ScatterAdd
from ..operators.shape.sorting import Permutation
from .index_sets import IndexSets, stacked, starts_of, union_of_all

Known = Callable[[int], np.ndarray | None]


class Application(NamedTuple):
    """One application of an operator, as a rule sees it.

    Attributes
    ----------
    operator, static
        The operator and its static parameters.
    shapes, outputs : list of tuples
        The shapes of the inputs, and of the outputs.
    sets : list of IndexSets or None
        The index sets of each input; None for an input that depends on no variable.
    known : callable
        Takes the number of an input and returns its values, or None if only a run knows them.
    numbers : ndarray
        The integers from 0 on, at least as many as any of the arrays has elements.
    """

    operator: Any
    static: dict[str, Any]
    shapes: list[tuple[int, ...]]
    outputs: list[tuple[int, ...]]
    sets: list[IndexSets | None]
    known: Known
    numbers: np.ndarray

    def places(self, n: int) -> np.ndarray:
        """Return an array of the shape of an input, with the position of each element in C order.
        """
        return self.numbers[: prod(self.shapes[n])].reshape(self.shapes[n])

    def nothing(self, m: int) -> IndexSets:
        """Return an empty index set for each element of an output."""
        return IndexSets.empty(prod(self.outputs[m]), self.live()[0][1].width)

    def live(self) -> list[tuple[int, IndexSets]]:
        """Return the numbers and index sets of the inputs that depend on a variable."""
        return [(n, s) for n, s in enumerate(self.sets) if s is not None]


def propagate(application: Application) -> list[IndexSets]:
    """Return the index sets of each output of an application of an operator."""
    operator = application.operator
    if operator in _MOVING:
        return _moved(application)
    for kind, rule in _RULES:
        if isinstance(operator, kind):
            return rule(application)
    return _dense(application)


def _elementwise(a: Application) -> list[IndexSets]:
    """Return the index sets of an elementwise operator.

    Each element gets the union over the elements of the operands at its place. An operand whose
    partial derivative is 0 everywhere is left out.
    """
    (shape,) = a.outputs
    partials, unused = getattr(a.operator, "partials", {}), _CHOOSE_ONLY.get(a.operator, ())
    parts = [
        _spread(a, n, sets, shape) for n, sets in a.live()
        if n not in unused and not (n in partials and partials[n].constant == 0)
    ]  # fmt: skip
    return [union_of_all(parts) if parts else a.nothing(0)]


def _spread(a: Application, n: int, sets: IndexSets, shape: tuple[int, ...]) -> IndexSets:
    if a.shapes[n] == shape:
        return sets
    return sets.take(np.broadcast_to(a.places(n), shape))


def _moved(a: Application) -> list[IndexSets]:
    """Return the index sets of an operator that only moves elements, by running it on positions.

    The elements of all inputs that depend on a variable are numbered; elements of other inputs are
    -1, which stands for an empty set.
    """
    live, places, first = dict(a.live()), [], 0
    for n, shape in enumerate(a.shapes):
        if n in live:
            places.append(a.places(n) + first if first else a.places(n))
            first += prod(shape)
        else:
            known = a.known(n) if isinstance(a.operator, _INDEXED) else None
            places.append(np.full(shape, -1) if known is None else known)
    found = a.operator.run(runtime.target, places, a.static)
    sets = stacked([s for _, s in a.live()])
    return [sets.take(positions) for positions in found]


def _indexed(a: Application) -> list[IndexSets]:
    """Return the index sets of an operator that moves elements by positions, its last input.

    If the positions are unknown, each element may come from anywhere along the indexed axes.
    """
    return _unknown_places(a) if a.known(len(a.shapes) - 1) is None else _moved(a)


def _unknown_places(a: Application) -> list[IndexSets]:
    """Return the index sets of an operator with unknown positions.

    Each element of the output gets the union along the axes that the positions index.
    """
    (shape,) = a.outputs
    parts = []
    for n, sets in a.live():
        count, tail = _axes(a, n)
        lead = a.shapes[n][: len(a.shapes[n]) - count - tail]
        last = a.shapes[n][len(a.shapes[n]) - tail :]
        blocks = a.places(n).reshape(prod(lead), -1, prod(last)).swapaxes(1, 2)
        joined = sets.union_over_rows(blocks.reshape(-1, blocks.shape[-1]))
        at = np.arange(len(joined)).reshape(*lead, 1, *last)
        middle = prod(shape[len(lead) : len(shape) - len(last)])
        parts.append(joined.take(np.broadcast_to(at, (*lead, middle, *last))))
        if isinstance(a.operator, PutAt) and n == 0:
            parts[-1] = sets
    return [union_of_all(parts)]


def _axes(a: Application, n: int) -> tuple[int, int]:
    """Return the number of axes of input ``n`` that the positions index, and of those behind them.
    """
    if isinstance(a.operator, Permutation):
        return 1, 0
    first = a.static["count"] if n == 0 else len(a.static["shape"])
    return first, a.static["tail"]


def _scattered(a: Application) -> list[IndexSets]:
    """Return the index sets of an operator that adds elements at positions.

    Each element of the output gets the union over the elements that are added there.
    """
    positions = a.known(1)
    if positions is None:
        return _unknown_places(a)
    (shape,), (_, sets) = a.outputs, a.live()[0]
    count, tail, sizes = (a.static[name] for name in ("count", "tail", "sizes"))
    g = a.shapes[0]
    lead, last = prod(g[: len(g) - count - tail]), prod(g[len(g) - tail :])
    into = np.arange(prod(shape)).reshape(lead, prod(sizes), last)[:, positions.reshape(-1), :]
    return [_joined(sets, a.places(0).reshape(-1), into.reshape(-1), prod(shape))]


def _joined(sets: IndexSets, places: np.ndarray, into: np.ndarray, size: int) -> IndexSets:
    """Return ``size`` unions of index sets: union ``n`` is over the ``places`` with ``into`` ``n``.
    """
    order = np.argsort(into, kind="stable")
    return sets.union_over_groups(starts_of(np.bincount(into, minlength=size)), places[order])


def _reduced(a: Application) -> list[IndexSets]:
    """Return the index sets of a reduction: each element gets the union along the reduced axes."""
    axes, (_, sets) = a.static["axes"], a.live()[0]
    places = np.moveaxis(a.places(0), axes, range(-len(axes), 0)) if axes else a.places(0)
    return [sets.union_over_rows(places.reshape(prod(a.outputs[0]), -1))]


def _scanned(a: Application) -> list[IndexSets]:
    """Return the index sets of a scan, such as a cumulative sum along an axis.

    Each element gets the union over the elements that it accumulates, which come before or after.
    """
    if a.operator not in _SCANS:
        return _core(a)
    (shape,), ways = a.outputs, _SCANS[a.operator]
    unused = _CHOOSE_ONLY.get(a.operator, ())
    parts = [_spread(a, n, s, shape) for n, s in a.live() if n not in unused]
    if not parts:
        return [a.nothing(0)]
    axis = a.static.get("axis", -1)
    places = np.moveaxis(np.arange(prod(shape)).reshape(shape), axis, -1)
    sets, rows = union_of_all(parts), places.reshape(-1, places.shape[-1])
    found = union_of_all([_running_unions(sets, rows, *way) for way in ways])
    return [found if axis == -1 else found.take(np.argsort(places.ravel()).reshape(shape))]


def _running_unions(sets: IndexSets, places: np.ndarray, without: bool, back: bool) -> IndexSets:
    """Return running unions of index sets along rows of positions.

    Each union is over an element and all before it. With ``without`` the element itself is left
    out; with ``back`` the rows are walked from their ends.
    """
    turned = places[:, ::-1] if back else places
    found = sets.running_unions(turned)  # in the order of the walk
    at: np.ndarray = np.arange(places.size).reshape(places.shape)
    if without:
        at = np.concatenate([np.full((at.shape[0], 1), -1), at[:, :-1]], axis=1)
    return found.take(at[:, ::-1] if back else at)


def _product(a: Application) -> list[IndexSets]:
    """Return the index sets of a product of matrices.

    Each element gets the union over its row of the first matrix and its column of the second.
    Elements that are multiplied by a known zero of the other matrix are left out.
    """
    (shape,), parts = a.outputs, []
    for n, sets in a.live():
        places = a.places(n) if n else a.places(n).swapaxes(-1, -2)
        turned = shape if n else (*shape[:-2], shape[-1], shape[-2])
        other = None if a.sets[1 - n] is not None else a.known(1 - n)
        if other is None:
            found = _by_columns(sets, places, turned)
        else:
            found = _by_nonzeros(sets, places, other if n else other.swapaxes(-1, -2), turned)
        back = a.numbers[: prod(shape)].reshape(turned)
        parts.append(found if n else found.take(back.swapaxes(-1, -2)))
    return [union_of_all(parts)]


def _by_columns(sets: IndexSets, places: np.ndarray, shape: tuple[int, ...]) -> IndexSets:
    """Return the index sets of a product whose right factor has the elements ``places``.

    Each element gets the union over its column of that factor, whatever its row.
    """
    columns = places.swapaxes(-1, -2)
    joined = sets.union_over_rows(columns.reshape(prod(columns.shape[:-1]), columns.shape[-1]))
    at = np.arange(len(joined)).reshape(*columns.shape[:-2], 1, columns.shape[-2])
    return joined.take(np.broadcast_to(at, shape))


def _by_nonzeros(
    sets: IndexSets, places: np.ndarray, factor: np.ndarray, shape: tuple[int, ...]
) -> IndexSets:
    """Return the index sets of a product whose right factor has the elements ``places``.

    Each element gets the union over those elements of its column that the left factor, with known
    values, does not multiply by 0.
    """
    loop, (size, count) = shape[:-2], places.shape[-2:]
    places = np.broadcast_to(places, (*loop, size, count)).reshape(prod(loop), size, count)
    factor = np.broadcast_to(factor, (*loop, *factor.shape[-2:])).reshape(prod(loop), -1, size)
    member, row, k = np.nonzero(factor)
    first = (member * factor.shape[1] + row) * count
    into = first[:, None] + np.arange(count)
    return _joined(sets, places[member, k].reshape(-1), into.reshape(-1), prod(shape))


def _by_stored(a: Application) -> list[IndexSets]:
    """Return the index sets of a product with a sparse matrix.

    Each element gets the union over its terms: of a stored element, and of the element of the dense
    operand that this multiplies.
    """
    first = 0 if a.operator is product_at_stored else 1
    given = [a.known(n) for n in range(first, first + 3)]
    if any(x is None or x.size != x.shape[-1] for x in given):
        return _core(a)
    columns, start, stop = (x.reshape(-1) for x in given if x is not None)
    counts = stop - start
    rows = np.repeat(np.arange(counts.size), counts)
    stored = np.repeat(start - np.cumsum(counts) + counts, counts) + np.arange(rows.size)
    columns = columns[stored]
    of_output, of_inputs = {
        sparse_product: (rows, {0: stored, 4: columns}),
        sparse_transposed: (columns, {0: stored, 5: rows}),
        product_at_stored: (stored, {3: rows, 4: columns}),
    }[a.operator]

    def found(places: np.ndarray, at: np.ndarray) -> np.ndarray:
        return np.take(places[..., None] if at is stored else places, at, axis=-2)

    size = prod(a.outputs[0])
    into, parts = found(a.numbers[:size].reshape(a.outputs[0]), of_output), []
    for n, sets in a.live():
        pair = np.broadcast_arrays(found(a.places(n), of_inputs[n]), into)
        parts.append(_joined(sets, pair[0].reshape(-1), pair[1].reshape(-1), size))
    return [union_of_all(parts)]


def _core(a: Application) -> list[IndexSets]:
    """Return the index sets of an operator with core dimensions.

    Each element of an output's core depends on all elements of the inputs' cores, unless the
    operator declares a pattern.
    """
    operator = a.operator
    sides = (a.shapes, operator.signature.inputs), (a.outputs, operator.signature.outputs)
    cores = [[shape[len(shape) - len(dims) :] for shape, dims in zip(*side, strict=True)]
             for side in sides]
    loop = a.outputs[0][: len(a.outputs[0]) - len(cores[1][0])]
    parts: list[list[IndexSets]] = [[] for _ in a.outputs]
    declared: dict[str, Any] = {}
    unused: Any = ()
    if isinstance(operator, UserOperator):
        sizes = operator.sizes(a.shapes, a.static)
        declared = operator.core_pattern(**sizes) if operator.core_pattern else {}
        unused = operator.nondifferentiable
    for n, sets in a.live():
        if unused and operator.inputs[n] in unused:
            continue
        given = declared.get(operator.inputs[n]) if declared else None
        whole = np.broadcast_to(a.places(n), (*loop, *cores[0][n])).reshape(prod(loop), -1)
        joined = None
        for m, core in enumerate(cores[1]):
            if given is None:
                joined = joined or sets.union_over_rows(whole)
                parts[m].append(joined.take(np.repeat(np.arange(prod(loop)), prod(core))))
            else:
                pattern = _declared(operator, given, n, m, (prod(core), prod(cores[0][n])))
                starts = starts_of(np.tile(np.diff(pattern.indptr), len(whole)))
                parts[m].append(sets.union_over_groups(starts, whole[:, pattern.indices]))
    return [union_of_all(found) if found else a.nothing(m) for m, found in enumerate(parts)]


def _declared(operator: UserOperator, given: Any, n: int, m: int, shape: tuple[int, int]) -> Any:
    """Return the pattern that an operator declares for output ``m`` by input ``n``, as csr_array.

    ``shape`` has the number of elements of their cores, which the pattern must have.
    """
    from scipy.sparse import csr_array

    matrix: Any = csr_array(given[m] if isinstance(given, (tuple, list)) else given)
    if matrix.shape != shape:
        raise DeclarationError(
            f"{operator.label}: the pattern of output {m} by {operator.inputs[n]} has the shape "
            f"{matrix.shape}, but their cores have {shape[0]} and {shape[1]} elements"
        )
    matrix.sum_duplicates()
    return matrix


def _dense(a: Application) -> list[IndexSets]:
    """Return the index sets of an operator without a rule.

    Each element of the outputs depends on all elements of the inputs.
    """
    sets = stacked([s for _, s in a.live()])
    joined = sets.union_over_groups(np.array([0, len(sets)]), np.arange(len(sets)))
    return [joined.take(np.zeros(prod(shape), np.int64)) for shape in a.outputs]


# For each scan one or two walks along the axis: whether a walk leaves the element itself out, and
# whether it goes backwards.
_SCANS = {
    cumulative.cumulative_sum: [(False, False)],
    cumulative.cumulative_sum_reversed: [(False, True)],
    cumulative.cumulative_prod: [(False, False)],
    cumulative.recurrence: [(False, False)],
    cumulative.recurrence_reversed: [(False, True)],
    cumulative.products_before: [(True, False)],
    cumulative.exclusive_prod: [(True, False), (True, True)],
    cumulative.running_max: [(False, False)],
    cumulative.running_min: [(False, False)],
    cumulative.restarting_sum: [(False, False)],
    cumulative.restarting_sum_reversed: [(False, True)],
}
_MOVING = (indexing.element, indexing.put_view, joining.concat, joining.stack, joining.roll)
_INDEXED = (Gather, PutAt, Permutation)
# Inputs that decide where the other input goes, with derivative 0.
_CHOOSE_ONLY = {
    share: (1, 2), cumulative.restarting_sum: (0,), cumulative.restarting_sum_reversed: (0,),
}  # fmt: skip
_RULES: list[tuple[Any, Callable[[Application], list[IndexSets]]]] = [
    ((Elementwise, AsType, Part), _elementwise),
    (ViewOperator, _moved),
    (_INDEXED, _indexed),
    (ScatterAdd, _scattered),
    (Reduction, _reduced),
    (Scan, _scanned),
    (MatMul, _product),
    (Sparse, _by_stored),
    (KernelOperator, _core),
]
