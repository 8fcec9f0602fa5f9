"""Eigenvalues and singular values."""

from typing import Any, NamedTuple, Unpack

from ..._tensor import ArrayLike, Tensor
from ...engine.record.composition import composed
from ...engine.record.guards import guarded
from ...operators.linalg import singular_values as _singular
from ...operators.linalg import spectral as _spectral
from .generalized_eigen import chosen, reduced
from .scipy_options import Hints, require_hints
from .systems import floating_matrices, solve


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns; both complex."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class SVDResult(NamedTuple):
    """Left singular vectors, singular values, and right singular vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _triangle(UPLO: str, lower: bool | None) -> str:
    if lower is not None:
        return "L" if guarded(lower) else "U"
    side = UPLO.upper()
    if side not in ("L", "U"):
        raise ValueError(f"UPLO argument must be 'L' or 'U', got {UPLO!r}")
    return side


@composed
def eigh(
    a: ArrayLike,
    UPLO: Any = "L",
    *,
    b: ArrayLike | None = None,
    lower: bool | None = None,
    eigvals_only: bool = False,
    type: int = 1,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    **hints: Unpack[Hints],
) -> Any:
    """Return eigenvalues and eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : array_like
        Matrices in the last two axes.
    UPLO : {"L", "U"}
        Which triangle is read. The gradient is that of both, Hermitian.
    b : array_like, optional
        The matrices of a generalized problem, positive definite; SciPy's second argument, and so
        taken in the second place too.
    lower : bool, optional
        SciPy's name for the triangle.
    eigvals_only : bool
        Whether eigenvectors are not wanted; the result is that of `eigvalsh`.
    type : {1, 2, 3}
        The generalized problem: ``a v = w b v``, ``a b v = w v`` or ``b a v = w v``.
    subset_by_index, subset_by_value : pair of number, optional
        Which eigenvalues are wanted: the places of the first and the last, or bounds of which the
        lower does not belong to them.
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Returns
    -------
    tuple of Tensor
        Eigenvalues in ascending order, and eigenvectors as columns.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not square, no eigenvalues are found, or ``b`` is not positive definite.

    Notes
    -----
    For cotangents :math:`g_w` and :math:`G` the gradient is
    :math:`V (\\mathrm{diag}(g_w) + F \\circ V^H G) V^H`, made Hermitian, with
    :math:`F_{ij} = 1 / (w_j - w_i)` (Giles 2008). For equal eigenvalues the gradient of
    eigenvectors is that of functions which do not depend on their choice; NaN where there is none,
    and where eigenvalues are used beside them. Signs and phases are taken to be constant.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[2.0, 1.0], [1.0, 2.0]], requires_grad=True)
    >>> w, v = ng.linalg.eigh(x)
    >>> ng.grad(w[1], x)[0]
    tensor([[0.5, 0.5],
            [0.5, 0.5]])
    """
    if hints:
        require_hints(hints, "eigh")
    UPLO, b = (UPLO, b) if isinstance(UPLO, str) else ("L", UPLO)
    side, back = _triangle(UPLO, lower), None
    if b is not None:
        a, back = reduced(a, b, type, side == "L", "eigh")
    a = floating_matrices(a, "eigh")
    if guarded(eigvals_only):
        w = _eigenvalues(a, side)
        return w[..., chosen(w, subset_by_index, subset_by_value, "eigh")]
    w, v = _spectral.eigh(a, UPLO=side)
    if subset_by_index is not None or subset_by_value is not None:
        part = chosen(w, subset_by_index, subset_by_value, "eigh")
        w, v = w[..., part], v[..., part]
    return EighResult(w, v if back is None else back(v))


@composed
def eigvalsh(
    a: ArrayLike,
    UPLO: Any = "L",
    *,
    b: ArrayLike | None = None,
    lower: bool | None = None,
    type: int = 1,
    subset_by_index: Any = None,
    subset_by_value: Any = None,
    **hints: Unpack[Hints],
) -> Tensor:
    """Return the eigenvalues of Hermitian matrices in ascending order; parameters as in `eigh`.

    Notes
    -----
    The gradient is right for any function that is symmetric in equal eigenvalues.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]])
    tensor([1., 3.])
    """
    if hints:
        require_hints(hints, "eigvalsh")
    UPLO, b = (UPLO, b) if isinstance(UPLO, str) else ("L", UPLO)
    side = _triangle(UPLO, lower)
    if b is not None:
        a, _ = reduced(a, b, type, side == "L", "eigvalsh")
    w = _eigenvalues(floating_matrices(a, "eigvalsh"), side)
    if subset_by_index is None and subset_by_value is None:
        return w
    return w[..., chosen(w, subset_by_index, subset_by_value, "eigvalsh")]


def _eigenvalues(a: Tensor, side: str) -> Tensor:
    lower = side == "L"
    return _spectral.eigvalsh(a, _spectral.hermitian_reduced(a, lower=lower), lower=lower)


@composed
def eig(
    a: ArrayLike,
    b: ArrayLike | None = None,
    left: bool = False,
    right: bool = True,
    **hints: Unpack[Hints],
) -> Any:
    """Return eigenvalues and eigenvectors of square matrices, complex ones of any matrix.

    Parameters
    ----------
    a : array_like
        Matrices in the last two axes.
    b : array_like, optional
        The matrices of a generalized problem ``a v = w b v``, not singular.
    left : bool
        Left eigenvectors are not given; they are those of the transposed matrix.
    right : bool
        Whether eigenvectors are wanted; else the result is that of `eigvals`.
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Returns
    -------
    tuple of Tensor
        Eigenvalues, and eigenvectors as columns.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a matrix is not square; for gradients also if eigenvectors are missing.

    Notes
    -----
    For cotangents :math:`g_w` and :math:`G` the gradient is
    :math:`V^{-H} (\\mathrm{diag}(g_w) + \\bar F \\circ (V^H G - V^H V \\mathrm{diag}(V^H G))) V^H`
    with :math:`F` as in `eigh`, the real part of it for a real matrix.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.eig([[2.0, 0.0], [1.0, 3.0]]).eigenvalues
    tensor([3.+0.j, 2.+0.j])
    """
    if hints:
        require_hints(hints, "eig")
    if guarded(left):
        raise NotImplementedError("eig: left eigenvectors; take those of the transposed matrix")
    if not guarded(right):
        return eigvals(a, b)
    a = a if b is None else solve(b, a)
    return EigResult(*_spectral.eig(floating_matrices(a, "eig"), caller="eig"))


@composed
def eigvals(a: ArrayLike, b: ArrayLike | None = None, **hints: Unpack[Hints]) -> Tensor:
    """Return the eigenvalues of square matrices, complex and in the order of `eig`, of a
    generalized problem if ``b`` is given.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.eigvals([[0.0, 1.0], [-1.0, 0.0]])
    tensor([0.+1.j, 0.-1.j])
    """
    if hints:
        require_hints(hints, "eigvals")
    a = a if b is None else solve(b, a)
    return _spectral.eig(floating_matrices(a, "eigvals"), caller="eigvals")[0]


@composed
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
    **hints: Unpack[Hints],
) -> Any:
    """Return the singular value decomposition ``U @ diag(S) @ Vh``.

    Parameters
    ----------
    a : array_like
        Matrices in the last two axes, of any rank and shape.
    full_matrices : bool
        Whether ``U`` and ``Vh`` are square; else they have as many vectors as there are values.
    compute_uv : bool
        Whether vectors are wanted; else the result is that of `svdvals`.
    hermitian : bool
        Whether the matrices are Hermitian; only the lower triangle is read then.
    **hints
        As SciPy's functions take them, see `numgrad.functions.linalg.scipy_options`.

    Returns
    -------
    tuple of Tensor
        ``U, S, Vh``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If no singular values are found.

    Notes
    -----
    With :math:`X` and :math:`Y` the skew-Hermitian parts of :math:`U^H G_U` and :math:`V^H G_V` the
    gradient is :math:`U (\\mathrm{diag}(g_s) + (X + Y) / (s_j - s_i) + (X - Y) / (s_j + s_i)) V^H`,
    plus what moves the vectors out of their spaces, for both kinds of ``full_matrices`` (Townsend
    2016; Wan and Zhang 2019). What `eigh` says of equal eigenvalues holds for equal singular values
    and for those that are 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([[3.0, 0.0], [0.0, 1.0]], requires_grad=True)
    >>> U, S, Vh = ng.linalg.svd(x)
    >>> ng.grad(S[0], x)[0]
    tensor([[1., 0.],
            [0., 0.]])
    """
    if hints:
        require_hints(hints, "svd")
    hermitian = bool(guarded(hermitian))
    if not guarded(compute_uv):
        return singular_values(a, "svd", hermitian)
    a = floating_matrices(a, "svd", square=hermitian)
    full = bool(guarded(full_matrices))
    return SVDResult(*_singular.svd(a, full_matrices=full, hermitian=hermitian))


def svdvals(x: ArrayLike, /, **hints: Unpack[Hints]) -> Tensor:
    """Return the singular values of matrices in descending order.

    Notes
    -----
    The gradient is :math:`U \\mathrm{diag}(g) V^H`, right for any function that is symmetric in
    equal singular values, and a slope of one side at 0.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.linalg.svdvals([[3.0, 0.0], [0.0, -4.0]])
    tensor([4., 3.])
    """
    if hints:
        require_hints(hints, "svdvals")
    return singular_values(x, "svdvals")


def singular_values(x: ArrayLike, caller: str, hermitian: bool = False) -> Tensor:
    """Return the singular values; errors name the function ``caller``."""
    x = floating_matrices(x, caller, square=hermitian)
    if x.requires_grad:  # their derivative reads the vectors: one decomposition has both
        return _singular.svd(x, full_matrices=False, hermitian=hermitian, caller=caller)[1]
    return _singular.svdvals(x, hermitian=hermitian, caller=caller)
