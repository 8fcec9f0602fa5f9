"""What is common to sparse Jacobians and Hessians: a function is recorded, and its pattern found.

A pattern that the user gives is checked here.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._errors import ArgTypeError, DetachedError, DtypeError, NotDifferentiableError, SparsityError
from .._tensor import Tensor, placed
from ..func.forward import push
from ..func.gradients import Evaluation, pull
from ..func.pytree import require_function
from .compression import Plan, entries, plan_hessian, plan_jacobian
from .detection import pattern_of
from .index_sets import IndexSets


class RecordedFunction(NamedTuple):
    """A function recorded at a point: tensors of its value, its variable, and the ``output``.

    The wanted matrix is the Jacobian of ``output`` by ``x``. For a Jacobian ``output`` is the value
    itself, for a Hessian the gradient.
    """

    value: Tensor
    output: Tensor
    x: Tensor


@dataclass(frozen=True)
class Problem:
    """A function, the wanted derivative, the options of the colouring, and ``what``: the name of
    the user's call for errors."""

    function: Callable[..., Any]
    argnum: int
    is_hessian: bool
    coloring: str
    order: str
    what: str

    def __post_init__(self) -> None:
        require_function(self.function, self.what)

    def record(self, args: Sequence[Any]) -> RecordedFunction:
        """Call the function on tensors, and return what was recorded."""
        at = Evaluation(self.function, args, self.position(args), self.what)
        if at.outer_graph():
            raise DetachedError(
                f"{self.what}: the matrix depends on a tensor that requires grad, but a matrix of "
                f"SciPy has no gradient. Call it under ng.no_grad(), or on x.detach(); ng.func.jvp "
                f"and vjp give products with the matrix that can be differentiated."
            )
        x = self._one(at.variables.leaves, f"argument {self.argnum}")
        if self.is_hessian:
            (gradient,) = pull([at.scalar()], [x], [None], True)
            return RecordedFunction(at.leaves[0], gradient, x)
        value = self._one(at.leaves, "the output of the function")
        return RecordedFunction(value, value, x)

    def position(self, args: Sequence[Any]) -> int:
        """Return the number, from 0, of the argument that is differentiated by."""
        if not isinstance(self.argnum, (int, np.integer)):
            raise ArgTypeError(
                f"{self.what}: argnum must be an int, got {self.argnum!r}: one matrix holds the "
                f"derivatives to one array. Join several into one (np.concatenate), and take that "
                f"apart in the function."
            )
        if not -len(args) <= self.argnum < len(args):
            raise ArgTypeError(f"{self.what}: argnum={self.argnum}, but got {len(args)} arguments")
        return int(self.argnum) % len(args)

    def _one(self, leaves: Sequence[Tensor], role: str) -> Tensor:
        if len(leaves) != 1:
            raise ArgTypeError(
                f"{self.what}: {role} is a container of {len(leaves)} arrays, and one matrix holds "
                f"the derivatives of one array to one. Join them (np.concatenate), and take the "
                f"array apart where they are needed."
            )
        if leaves[0].dtype.kind != "f":
            raise DtypeError(
                f"{self.what}: {role} has the dtype {leaves[0].dtype}, but a matrix holds real "
                f"derivatives of real arrays. Use the real and imaginary parts, in one real array."
            )
        return leaves[0]

    def detect(self, record: RecordedFunction) -> IndexSets:
        """Return the pattern found in the recorded graph, made symmetric for a Hessian."""
        sets = pattern_of([record.output], [record.x])
        return sets.union(sets.transposed()) if self.is_hessian else sets

    def entries(
        self, record: RecordedFunction, pattern: IndexSets, plan: Plan | None = None
    ) -> tuple[Plan, Tensor]:
        """Return the plan by which the matrix was computed, and the entries of the matrix.

        ``plan`` is an earlier plan for the same pattern, if there is one. If an operator has no
        derivative in forward mode, and the user did not choose a colouring, the plan is changed to
        one of backward passes alone.
        """
        make = plan_hessian if self.is_hessian else plan_jacobian
        plan = plan or make(pattern, self.coloring, self.order)
        try:
            return plan, entries(record.output, record.x, plan)
        except NotDifferentiableError:
            if self.coloring != "auto" or not plan.colors.n_columns:
                raise
        plan = plan_jacobian(pattern, "row", self.order)
        return plan, entries(record.output, record.x, plan)

    def given(self, pattern: Any, record: RecordedFunction) -> IndexSets:
        """Return the user's pattern as index sets, made symmetric for a Hessian."""
        from scipy.sparse import csr_array

        matrix: Any = csr_array(pattern).astype(np.bool_)
        shape = (record.output.size, record.x.size)
        if matrix.shape != shape:
            raise SparsityError(
                f"{self.what}: pattern= has the shape {matrix.shape}, but the matrix has one row "
                f"for each element of the output and one column for each of the argument: {shape}"
            )
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        sets = as_sets(matrix)
        return sets.union(sets.transposed()) if self.is_hessian else sets


def check(problem: Problem, record: RecordedFunction, matrix: Any) -> None:
    """Raise an error if a matrix that was computed with a user's pattern is not the Jacobian.

    The products of the matrix with a random vector from either side are compared with those that
    one backward and one forward pass compute without a pattern.
    """
    rng = np.random.default_rng(0)
    output, x = record.output, record.x
    v, u = (rng.standard_normal(t.shape).astype(t.dtype) for t in (x, output))
    (left,) = pull([output], [x], [placed(u, output.device)], False)
    products = [(left, matrix.T, u.reshape(-1), "column")]
    with suppress(NotDifferentiableError):  # an operator may have no forward mode
        (right,) = push([output], [x], [placed(v, x.device)], False)
        products.append((right, matrix, v.reshape(-1), "row"))
    for product, by, vector, side in products:
        expected, found = product.detach().cpu().numpy().reshape(-1), by @ vector
        size = np.maximum(abs(by) @ abs(vector), abs(expected))
        scale = size * np.sqrt(np.finfo(expected.dtype).eps)
        wrong = np.flatnonzero(abs(found - expected) > scale)  # False for NaN and infinity
        if wrong.size:
            raise SparsityError(
                f"{problem.what}: pattern= lacks entries that the matrix has: its product with a "
                f"random vector is {found[wrong[0]]:.6g} in {side} {wrong[0]}, but should be "
                f"{expected[wrong[0]]:.6g} ({wrong.size} {side}s of {found.size} differ). Leave "
                f"pattern= out to have it found, or give one that holds every entry."
            )


def as_sets(matrix: Any) -> IndexSets:
    """Return a csr_array as index sets, one for each row."""
    matrix.sort_indices()
    starts, members = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return IndexSets(starts, members, matrix.shape[1])
