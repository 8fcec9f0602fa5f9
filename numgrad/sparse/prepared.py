"""Sparse Jacobians and Hessians that are prepared once and computed at many points."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import CaptureError, SparsityError
from .._tensor import Tensor
from ..func.tracing.jit import jit
from ..process.transformed_function import FunctionHolder
from .compression import Plan
from .index_sets import IndexSets
from .problem import Problem, RecordedFunction, as_sets, check

_HINT = (
    "ng.sparse.prepare captures the function, as ng.jit does; ng.sparse.jacobian and hessian take "
    "functions whose graph depends on values, and find the pattern at each call"
)


def compute(problem: Problem, args: Sequence[Any], pattern: Any) -> Any:
    """Return the sparse matrix of a problem at one point: find pattern and colours, and compute.

    ``pattern`` is that of the user, which is checked, or None.
    """
    record = problem.record(args)
    is_given = pattern is not None
    found = problem.given(pattern, record) if is_given else problem.detect(record)
    matrix = matrix_of(*problem.entries(record, found))
    if is_given:
        check(problem, record, matrix)
    return matrix


def elements(result: Any) -> np.ndarray:
    """Return a result as an array of the host, which a matrix of SciPy may keep and overwrite."""
    return result.detach().cpu().numpy(copy=True) if isinstance(result, Tensor) else result


def matrix_of(plan: Plan, data: Any) -> Any:
    """Return the csr_array with the pattern of a plan and the entries ``data``.

    Its index arrays are those of the pattern, without a copy.
    """
    from scipy.sparse import csr_array

    pattern = plan.pattern
    arrays = elements(data), pattern.indices, pattern.indptr
    matrix: Any = csr_array(arrays, shape=pattern.shape)
    matrix.has_canonical_format = True
    return matrix


def _spec_of(x: Any) -> tuple[Any, Any]:
    x = x if isinstance(x, (Tensor, np.ndarray)) else np.asarray(x)
    return x.shape, x.dtype


class Prepared(FunctionHolder):
    """The Jacobian of a function as a sparse matrix, prepared for inputs of one shape.

    Such an object is made by `prepare`. A call finds neither pattern nor colours again, and
    allocates only the entries. The object can be pickled, with its pattern and colours, if the
    function can. When it is used after that, the pattern is compared with that of the function.

    Attributes
    ----------
    pattern : csr_array of bool
        True where entries may be other than 0.
    colors : ndarray, or a pair of them
        The colour of each column (``mode`` "column"), of each row ("row"), of the rows and of the
        columns ("bidirectional"), or of each variable ("star", "acyclic"). Those of one colour
        share a pass; those with -1 need none.
    n_colors : int
        The number of products that a call computes.
    mode : str
        The kind of colouring: see ``colors``.
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
        self.__wrapped__ = self._problem.function
        self._entries = jit(lambda *args: self._all(*args)[-1])
        self._both = jit(self._all)

    def _all(self, *args: Any) -> tuple[Tensor, ...]:
        """Return the value of the function, for a Hessian the gradient, and the matrix's entries.

        The first call finds the pattern and makes the plan. The programs are captured from here.
        """
        record = self._problem.record(args)
        plan, data = self._problem.entries(record, self._pattern(record), self._plan)
        if plan is not self._plan:
            self._adopt(plan)
        values = (record.value, record.output) if self._problem.is_hessian else (record.value,)
        return *values, data

    def _pattern(self, record: RecordedFunction) -> IndexSets:
        """Return the pattern, which is found when the function is first captured.

        The function is captured again for arguments of another kind, or other arrays that it closes
        over. An entry outside of the pattern is an error then.
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
        """Return the matrix at a point, a csr_array.

        Its index arrays are shared with the matrices of other calls.
        """
        return matrix_of(self._plan, self._run(self._entries, args))

    def value_and_jacobian(self, *args: Any) -> tuple[Any, Any]:
        """Return the value of the function and its Jacobian, computed by one evaluation."""
        *_, value, data = self._run(self._both, args)
        return elements(value), matrix_of(self._plan, data)

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self).copy()
        del state["_entries"], state["_both"], state["__wrapped__"]
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
    """The Hessian of a scalar function as a sparse matrix, prepared for inputs of one shape.

    Such an object is made by `prepare_hessian`; see `Prepared`.
    """

    def value_gradient_hessian(self, *args: Any) -> tuple[Any, Any, Any]:
        """Return the value of the function, its gradient and its Hessian, by one evaluation."""
        value, gradient, data = self._run(self._both, args)
        return elements(value), elements(gradient), matrix_of(self._plan, data)
