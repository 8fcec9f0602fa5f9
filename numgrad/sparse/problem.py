"""What is differentiated: a function recorded at a point, its pattern, and checks of both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._errors import ArgTypeError, DtypeError, SparsityError
from .._tensor import Tensor, placed
from ..func.forward import push
from ..func.gradients import call, pull, require_scalar
from ..func.trees import Variables, output_leaves
from .compression import Plan, plan_hessian, plan_jacobian
from .detection import pattern_of
from .sets import IndexSets


class Record(NamedTuple):
    """A function that was recorded: its value, what the matrix is the Jacobian of (the value
    itself, or its gradient), and the variable."""

    value: Tensor
    output: Tensor
    x: Tensor


@dataclass(frozen=True)
class Problem:
    """A function, and which of its derivatives by which argument is wanted.

    Attributes
    ----------
    function : callable
    argnum : int
        The argument to differentiate by.
    is_hessian : bool
    coloring, order : str
    what : str
        What errors call it.
    """

    function: Callable[..., Any]
    argnum: int
    is_hessian: bool
    coloring: str
    order: str
    what: str

    def record(self, args: Sequence[Any]) -> Record:
        """Call the function on tensors, with recording on."""
        variables = Variables(args, self._argnum(), self.what)
        output, _ = call(self.function, variables, {}, False, self.what)
        leaves, _ = output_leaves(output, self.what)
        x = self._one(variables.leaves, f"argument {self.argnum}")
        if self.is_hessian:
            require_scalar(output, leaves, self.what)
            (gradient,) = pull(leaves, [x], [None], True)
            return Record(leaves[0], gradient, x)
        value = self._one(leaves, "the output of the function")
        return Record(value, value, x)

    def _argnum(self) -> int:
        if isinstance(self.argnum, (int, np.integer)):
            return int(self.argnum)
        raise ArgTypeError(
            f"{self.what}: argnum must be an int, got {self.argnum!r}: one matrix holds the "
            f"derivatives to one array. Join several into one (np.concatenate), and take that "
            f"apart in the function."
        )

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

    def detect(self, record: Record) -> IndexSets:
        """Return the pattern, which of a Hessian is symmetric."""
        sets = pattern_of([record.output], [record.x])
        if self.is_hessian:
            matrix = as_matrix(sets)
            sets = as_sets(matrix + matrix.T)
        return sets

    def plan(self, pattern: Any) -> Plan:
        """Return how to compute a matrix with a pattern."""
        make = plan_hessian if self.is_hessian else plan_jacobian
        return make(pattern, self.coloring, self.order)

    def given(self, pattern: Any, record: Record) -> Any:
        """Return a user's pattern as a sparse matrix of booleans."""
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
        if self.is_hessian:
            matrix = csr_array((matrix + matrix.T).astype(np.bool_))
        matrix.sort_indices()
        return matrix


def check(problem: Problem, record: Record, matrix: Any) -> None:
    """Raise if a matrix that was computed with a user's pattern is not the Jacobian: compare its
    products with random vectors from both sides with those that need no pattern."""
    rng = np.random.default_rng(0)
    output, x = record.output, record.x
    v, u = (rng.standard_normal(t.shape).astype(t.dtype) for t in (x, output))
    (right,) = push([output], [x], [placed(v, x.device)], False)
    (left,) = pull([output], [x], [placed(u, output.device)], False)
    pairs = (
        (right, matrix @ v.reshape(-1), abs(matrix) @ abs(v.reshape(-1)), "row"),
        (left, matrix.T @ u.reshape(-1), abs(matrix).T @ abs(u.reshape(-1)), "column"),
    )
    for product, found, size, side in pairs:
        expected = product.detach().numpy().reshape(-1)
        scale = np.maximum(size, abs(expected)) * np.sqrt(np.finfo(expected.dtype).eps)
        wrong = np.flatnonzero(abs(found - expected) > scale)  # NaN is none, nor infinite ones
        if wrong.size:
            raise SparsityError(
                f"{problem.what}: pattern= lacks entries that the matrix has: its product with a "
                f"random vector is {found[wrong[0]]:.6g} in {side} {wrong[0]}, but should be "
                f"{expected[wrong[0]]:.6g} ({wrong.size} {side}s of {found.size} differ). Leave "
                f"pattern= out to have it found, or give one that holds every entry."
            )


def as_matrix(sets: IndexSets) -> Any:
    """Return sets as a sparse matrix of booleans."""
    from scipy.sparse import csr_array

    ones = np.ones(sets.members.size, np.bool_)
    narrow = sets.members.astype(np.int32), sets.starts.astype(np.int32)
    return csr_array((ones, *narrow), shape=(len(sets), sets.width))


def as_sets(matrix: Any) -> IndexSets:
    """Return a sparse matrix as sets, one for each row."""
    matrix.sort_indices()
    starts, members = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return IndexSets(starts, members, matrix.shape[1])
