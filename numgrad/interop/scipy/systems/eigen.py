"""Eigenvalues and eigenvectors of symmetric matrices, as functions of the matrix."""

from typing import Any

import numpy as np

from ...._autograd import Function
from ...._errors import ArgTypeError, MatrixError, NotDifferentiableError
from ...._tensor import Tensor, tensor
from ....functions.products import sparse
from ....functions.products.products import matmul
from ....functions.reduction.reduction import sum as _sum
from ....functions.shape.joining import concat, stack
from ....functions.shape.reshaping import matrix_transpose, reshape
from ..implicit.parameters import Parameters, controls
from ..implicit.solver_operator import Form, in_programs, shape_of
from .linear import Stored, as_real, by_rows, stored


class Eigh(Function):
    """All eigenpairs of a symmetric matrix."""

    takes_batch = True

    @staticmethod
    def forward(ctx: Any, a: Tensor) -> tuple[Tensor, Tensor]:
        from scipy.linalg import eigh as scipy_eigh

        values, vectors = (tensor(part) for part in scipy_eigh(a.numpy()))
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(values, vectors)
        return values, vectors

    @staticmethod
    def backward(ctx: Any, gvalues: Tensor | None, gvectors: Tensor | None) -> Tensor:
        values, vectors = ctx.saved_tensors
        n = values.shape[0]
        inner = 0.0 if gvalues is None else reshape(gvalues, (*gvalues.shape, 1)) * np.eye(n)
        if gvectors is not None:
            gaps = values - reshape(values, (n, 1)) + np.eye(n)
            _require_simple(values.detach().numpy(), "eigh")
            turned = matmul(matrix_transpose(vectors), gvectors)
            inner = inner + (turned - turned * np.eye(n)) / gaps
        return matmul(matmul(vectors, inner), matrix_transpose(vectors))


def _require_simple(values: np.ndarray, what: str) -> None:
    """Raise for two neighbouring eigenvalues that are equal to working precision."""
    close = np.diff(values) <= values.size * np.finfo(float).eps * np.abs(values).max(initial=0.0)
    if close.any():
        first = int(np.argmax(close))
        raise MatrixError(
            f"{what}: eigenvalues {first} and {first + 1} are equal ({values[first]:.6g}), so "
            f"their eigenvectors are no function of the matrix; differentiate what depends on the "
            f"whole space that they span, such as a projection or a sum of eigenvalues"
        )


def _pair_shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    shape = shape_of(given["a"])
    return [shape[:1], shape]


@in_programs(Form(lambda found: found, _pair_shapes, lambda given, *found: found))
def eigh(a: Any) -> Any:
    """Return all eigenvalues and eigenvectors of a symmetric matrix, by `scipy.linalg.eigh`.

    Parameters
    ----------
    a : array_like, shape (n, n)
        Real. What is decomposed is its symmetric part ``(a + a.T) / 2``.

    Returns
    -------
    values : Tensor or numpy.ndarray, shape (n,)
        In ascending order.
    vectors : Tensor or numpy.ndarray, shape (n, n)
        In columns.

    Raises
    ------
    MatrixError
        At the backward pass, for gradients of eigenvectors (and for second derivatives) if two
        eigenvalues are equal.
    CaptureError
        In a captured or mapped function, for tensors of other dtypes than float64, and for what is
        known only when the solver has run.

    Notes
    -----
    With :math:`A = V \\Lambda V^T`, :math:`E_{ij} = 1 / (\\lambda_j - \\lambda_i)` and zeros on its
    diagonal, the gradient is the symmetric part of
    :math:`V (\\mathrm{diag}(\\bar\\lambda) + E \\circ V^T \\bar V) V^T` (Giles 2008).
    The sign of an eigenvector is LAPACK's: what is differentiated
    must not depend on it. Single eigenvalues that are equal have no derivative either; only
    functions that are symmetric in them do, for which the gradient is right.

    Examples
    --------
    >>> import numgrad as ng
    >>> a = ng.tensor([[2.0, 1.0], [1.0, 2.0]], requires_grad=True)
    >>> values, vectors = ng.interop.scipy.eigh(a)
    >>> ng.grad(values[1], a)[0].numpy().round(6)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    parameters = Parameters((a,), "eigh")
    matrix = as_real(a, "eigh")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArgTypeError(f"eigh takes one square matrix, got shape {matrix.shape}")
    values, vectors = Eigh.apply((matrix + matrix_transpose(matrix)) * 0.5)
    return (values, vectors) if parameters.has_tensors else (values.numpy(), vectors.numpy())


def eigsh(A: Any, k: int = 6, **options: Any) -> Any:
    """Return some eigenpairs of a sparse symmetric matrix, by `scipy.sparse.linalg.eigsh`.

    Parameters
    ----------
    A : SparseArray, sparse matrix of SciPy, or tuple ``(data, indices, indptr)``
        Both triangles are stored. A tuple has the stored elements, row by row, their columns, and
        where each row begins.
    k : int
        How many.
    **options
        Those of SciPy: ``which``, ``sigma``, ``v0``, ``tol``, ... They say which pairs are found
        and how; no gradient flows to them.

    Returns
    -------
    values : Tensor or numpy.ndarray, shape (k,)
        In ascending order.
    vectors : Tensor or numpy.ndarray, shape (n, k)
        In columns; not with ``return_eigenvectors=False``.

    Raises
    ------
    MatrixError
        At the backward pass, if an eigenvalue is not simple.
    NotDifferentiableError
        If a gradient is wanted of a generalised problem (``M=``), or of the options.
    CaptureError
        In a captured or mapped function, for tensors of other dtypes than float64, and for what is
        known only when the solver has run.

    Notes
    -----
    A pair solves :math:`A v = \\lambda v`, :math:`v^T v = 1`. Its derivative is that of a root, see
    `root`, with the sparse bordered matrix :math:`[[A - \\lambda I, -v], [-v^T, 0]]`, which is
    regular where the eigenvalue is simple. Gradients of stored elements are taken for each on its
    own; those of the same pair of places in both triangles add up. The sign of a vector is that of
    ARPACK, which depends on the start ``v0``: the same one at each call, unless it is given, or
    ``rng``, from which it is drawn.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> data = ng.tensor([2.0, 1.0, 1.0, 2.0, 5.0], requires_grad=True)
    >>> A = ng.sparse.csr(data, [0, 1, 0, 1, 2], [0, 2, 4, 5], shape=(3, 3))
    >>> values, _ = ng.interop.scipy.eigsh(A, k=1, v0=np.ones(3))
    >>> round(values[0].item(), 6), ng.grad(values[0], data)[0].numpy().round(6) + 0.0
    (5.0, array([0., 0., 0., 0., 1.]))
    """
    with_vectors = options.pop("return_eigenvectors", True)
    data, indices, indptr = by_rows(A, "eigsh", "ng.linalg.eigh")
    if options.get("v0") is None:
        options["v0"] = _start(len(indptr) - 1, options.get("rng"))
    values, vectors = _eigsh(data, indices, indptr, k, options)
    return (values, vectors) if with_vectors else values


def _start(n: int, rng: Any) -> np.ndarray:
    """Return the start of the iteration, on which the signs of vectors depend: a backward pass that
    solves again has to find the same ones."""
    return np.random.default_rng(0 if rng is None else rng).uniform(-1.0, 1.0, n)


def _shapes(given: dict[str, Any]) -> list[tuple[int, ...]]:
    return [(given["k"],), (len(given["indptr"]) - 1, given["k"])]


@in_programs(Form(lambda found: found, _shapes, lambda given, *found: found), "eigsh")
def _eigsh(data: Any, indices: Any, indptr: Any, k: int, options: dict[str, Any]) -> Any:
    """Return eigenvalues and eigenvectors for stored elements."""
    from scipy.sparse.linalg import eigsh as scipy_eigsh

    parameters = Parameters((data,), "eigsh")
    matrix, elements = stored(data, indices, indptr, "eigsh")
    options = controls(options, "eigsh")
    if parameters.want_grad and options.get("M") is not None:
        raise NotDifferentiableError(
            "eigsh: the derivative of a generalised problem (M=) is not known here; make it an "
            "ordinary one with a factor of M, or detach A"
        )
    values, vectors = scipy_eigsh(matrix.array, k=k, **options)
    order = np.argsort(values)
    values, vectors = values[order], vectors[:, order]
    if not parameters.has_tensors:
        return values, vectors
    whole = Parameters((elements,), "eigsh")
    pairs = [
        _pair(whole, matrix, value, vector) for value, vector in zip(values, vectors.T, strict=True)
    ]
    joined = stack(pairs, axis=-1)
    return joined[-1], joined[:-1]


def _pair(parameters: Parameters, matrix: Stored, value: float, vector: np.ndarray) -> Tensor:
    """Return an eigenvector, followed by its eigenvalue, as a function of the elements."""

    def equations(x: Tensor, elements: Tensor) -> Tensor:
        v, value = x[:-1], x[-1:]
        rest = sparse.matmul(matrix.array, v, data=elements) - value * v
        return concat([rest, 0.5 - 0.5 * _sum(v * v, keepdims=True)])

    def bordered() -> Any:
        from scipy.sparse import block_array, eye_array

        border = -vector[:, None]
        shifted = matrix.array - value * eye_array(matrix.n)
        return block_array([[shifted, border], [border.T, None]])

    return parameters.solution(np.append(vector, value), equations, bordered)
