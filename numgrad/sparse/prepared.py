"""Sparse Jacobians and Hessians that are prepared once, and computed at many points."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import CaptureError, SparsityError
from .._tensor import Tensor
from ..func.tracing.jit import jit
from .compression import Plan
from .index_sets import IndexSets
from .problem import Problem, RecordedFunction, as_sets, check

_HINT = (
    "ng.sparse.prepare captures the function, as ng.jit does; ng.sparse.jacobian and hessian take "
    "functions whose graph depends on values, and find the pattern at each call"
)


def compute(problem: Problem, args: Sequence[Any], pattern: Any) -> Any:
    """Return the matrix at a point, with all its preparation."""
    record = problem.record(args)
    is_given = pattern is not None
    found = problem.given(pattern, record) if is_given else problem.detect(record)
    matrix = matrix_of(*problem.entries(record, found))
    if is_given:
        check(problem, record, matrix)
    return matrix


def elements(result: Any) -> np.ndarray:
    """Return a result as an array of its own, which a matrix of SciPy holds and may write."""
    return result.detach().cpu().numpy(copy=True) if isinstance(result, Tensor) else result


def matrix_of(plan: Plan, data: Any) -> Any:
    """Return the matrix with these entries; it shares its index arrays with the pattern."""
    from scipy.sparse import csr_array

    pattern = plan.pattern
    arrays = elements(data), pattern.indices, pattern.indptr
    matrix: Any = csr_array(arrays, shape=pattern.shape)
    matrix.has_canonical_format = True
    return matrix


def _spec_of(x: Any) -> tuple[Any, Any]:
    x = x if isinstance(x, (Tensor, np.ndarray)) else np.asarray(x)
    return x.shape, x.dtype


class Prepared:
    """The Jacobian of a function as a sparse matrix, prepared for inputs of one shape.

    Made by `prepare`. Calls find no pattern and no colours, and allocate the entries alone. It can
    be pickled where the function can, with its pattern and colours; the pattern is compared with
    that of the function as it is then.

    Attributes
    ----------
    pattern : csr_array of bool
        A superset of the places of entries that are not 0.
    colors : ndarray, or a pair of them
        The colour of each column (``mode`` "column"), of each row ("row"), of the rows and of the
        columns ("bidirectional"), or of each variable ("star", "acyclic"): those of one colour
        share a pass. -1 are those without one.
    n_colors : int
        The number of products that a call computes.
    mode : str
    shape : tuple of int
    """

    def __init__(self, problem: Problem, args: Sequence[Any], pattern: Any = None) -> None:
        self._problem, self._is_given = problem, pattern is not None
        self._plan: Any = None  # until the function is captured
        if pattern is not None:
            record = problem.record(args)
            plan, data = problem.entries(record, problem.given(pattern, record))
            check(problem, record, matrix_of(plan, data))
            self._adopt(plan)
        self._make_programs()
        self._spec = _spec_of(args[problem.position(args)])
        self._run(self._entries, args)

    def _adopt(self, plan: Plan) -> None:
        colors, self._plan, self.pattern, self.mode = plan.colors, plan, plan.pattern, plan.mode
        self.shape, self.n_colors = plan.pattern.shape, colors.passes
        both = {"column": colors.columns, "bidirectional": (colors.rows, colors.columns)}
        self.colors: Any = both.get(plan.mode, colors.rows)
        for array in (plan.pattern.indices, plan.pattern.indptr):
            array.flags.writeable = False  # as all matrices share them

    def _make_programs(self) -> None:
        self._entries = jit(lambda *args: self._all(*args)[-1])
        self._both = jit(self._all)

    def _all(self, *args: Any) -> tuple[Tensor, ...]:
        """Return the value, for a Hessian also the gradient, and the entries of the matrix."""
        record = self._problem.record(args)
        plan, data = self._problem.entries(record, self._pattern(record), self._plan)
        if plan is not self._plan:
            self._adopt(plan)
        values = (record.value, record.output) if self._problem.is_hessian else (record.value,)
        return *values, data

    def _pattern(self, record: RecordedFunction) -> IndexSets:
        """Return the pattern, found at the first capture of the function.

        At a further capture, for other arguments or closed-over arrays, raise for an entry outside
        of the pattern.
        """
        if self._plan is None:
            return self._problem.detect(record)
        known = as_sets(self._plan.pattern)
        if self._is_given:
            return known
        sets = self._problem.detect(record)
        same = (len(known), known.width) == (len(sets), sets.width)
        if not same or known.union(sets).members.size != known.members.size:
            raise SparsityError(
                f"{self._problem.what}: the function has another graph now than when it was "
                f"prepared, with entries beside the pattern. Prepare it again."
            )
        return known

    def _run(self, program: Any, args: Sequence[Any]) -> Any:
        found = _spec_of(args[self._problem.position(args)])
        if found != self._spec:
            raise SparsityError(
                f"{self._problem.what}: prepared for an array of shape {self._spec[0]}, dtype "
                f"{self._spec[1]}, got shape {found[0]}, dtype {found[1]}. Prepare another one."
            )
        try:
            return program(*args)
        except CaptureError as error:
            error.add_note(_HINT)
            raise

    def __call__(self, *args: Any) -> Any:
        """Return the matrix at a point: a csr_array that shares its structure with others."""
        return matrix_of(self._plan, self._run(self._entries, args))

    def value_and_jacobian(self, *args: Any) -> tuple[Any, Any]:
        """Return the value of the function and its Jacobian, of one evaluation."""
        *_, value, data = self._run(self._both, args)
        return elements(value), matrix_of(self._plan, data)

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self).copy()
        del state["_entries"], state["_both"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._make_programs()

    def __repr__(self) -> str:
        m, n = self.shape
        return (
            f"<{type(self).__name__} {m} x {n}, {self.pattern.nnz} entries, {self.mode}, "
            f"{self.n_colors} colors>"
        )


class PreparedHessian(Prepared):
    """The Hessian of a scalar function as a sparse matrix, see `Prepared`; made by
    `prepare_hessian`."""

    def value_gradient_hessian(self, *args: Any) -> tuple[Any, Any, Any]:
        """Return the value of the function, its gradient and its Hessian, of one evaluation."""
        value, gradient, data = self._run(self._both, args)
        return elements(value), elements(gradient), matrix_of(self._plan, data)
