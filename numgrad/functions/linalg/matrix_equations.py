"""Equations of Lyapunov in discrete time, and of Riccati in optimal control and filters."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...engine.record.guards import guarded
from ...operators.linalg import riccati as _riccati
from ...operators.linalg.matmul import adjoint
from ..array.argument_checks import numeric
from ..array.operands import as_tensor, in_one_dtype
from ..elementwise.complex_parts import conj
from ..products.products import matmul
from .matrix_functions import solve_continuous_lyapunov
from .systems import floating_matrices, inv, solve

METHODS = (None, "direct", "bilinear")


def solve_discrete_lyapunov(a: ArrayLike, q: ArrayLike, method: Any = None) -> Tensor:
    """Solve ``a x a^H - x + q = 0``, as `scipy.linalg.solve_discrete_lyapunov` does.

    Parameters
    ----------
    a, q : array_like
        Square matrices of one size.
    method : {None, "direct", "bilinear"}
        One system of as many unknowns as ``x`` has elements, or the equation in continuous time
        that has the same solution. By default the first below size 10.

    Raises
    ------
    ValueError
        For shapes that do not fit, and another ``method``.
    numpy.linalg.LinAlgError
        If the product of two eigenvalues of ``a``, one of them conjugate, is 1; with ``"bilinear"``
        also if one is -1.

    Notes
    -----
    The gradient of ``q`` solves the equation with :math:`A^H` for :math:`A` and the cotangent for
    :math:`Q`.

    Examples
    --------
    >>> import numgrad as ng
    >>> q = ng.tensor([[3.0]], requires_grad=True)
    >>> x = ng.linalg.solve_discrete_lyapunov([[0.5]], q)
    >>> x.detach()
    tensor([[4.]])
    >>> ng.grad(x.sum(), q)[0].round(4)
    tensor([[1.3333]])
    """
    if not (method is None or isinstance(method, str)) or method not in METHODS:
        raise ValueError(
            f"solve_discrete_lyapunov: method must be 'direct', 'bilinear' or None, got "
            f"{method!r:.80}"
        )
    a, q = (_floating(x, name) for x, name in ((a, "a"), (q, "q")))
    n = a.shape[-1] if a.ndim else 0
    if min(a.ndim, q.ndim) < 2 or (a.shape[-2:], q.shape[-2:]) != ((n, n), (n, n)):
        raise ValueError(
            f"solve_discrete_lyapunov: a and q must be square matrices of one size, got shapes "
            f"{a.shape} and {q.shape}"
        )
    a, q = in_one_dtype(a, q)
    if method == "direct" or (method is None and n < 10):
        return _direct(a, q, n)
    one = np.eye(n, dtype=a.dtype)
    turned = inv(adjoint(a) + one)
    b = matmul(adjoint(a) - one, turned)
    c = 2 * matmul(matmul(inv(a + one), q), turned)
    return solve_continuous_lyapunov(adjoint(b), -c)


def _floating(x: ArrayLike, argument: str) -> Tensor:
    x = as_tensor(numeric(x, argument))
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _direct(a: Tensor, q: Tensor, n: int) -> Tensor:
    """Solve with the matrix of the equation's map, by the elements of ``x`` in a vector."""
    products = a[..., :, None, :, None] * conj(a)[..., None, :, None, :]
    matrix = np.eye(n * n, dtype=a.dtype) - products.reshape(*a.shape[:-2], n * n, n * n)
    x = solve(matrix, q.reshape(*q.shape[:-2], n * n, 1))
    return x.reshape(*x.shape[:-2], n, n)


def solve_continuous_are(
    a: ArrayLike,
    b: ArrayLike,
    q: ArrayLike,
    r: ArrayLike,
    e: ArrayLike | None = None,
    s: ArrayLike | None = None,
    balanced: bool = True,
) -> Tensor:
    """Solve Riccati's equation in continuous time, as `scipy.linalg.solve_continuous_are` does.

    It is ``a^H x e + e^H x a - (e^H x b + s) r^-1 (b^H x e + s^H) + q = 0``.

    Parameters
    ----------
    a : array_like
        Square matrices of size n.
    b : array_like
        Matrices of n rows and m columns.
    q, r : array_like
        Hermitian matrices of sizes n and m.
    e : array_like, optional
        Regular matrices of size n; 1 by default.
    s : array_like, optional
        Matrices of n rows and m columns; 0 by default.
    balanced : bool
        Whether SciPy balances the pencil that it solves. With ``e`` it does not: there its
        balancing loses many solutions, and gives some wrong ones.

    Raises
    ------
    ValueError
        For shapes that do not fit.
    OperatorError
        If ``q`` or ``r`` is not Hermitian.
    numpy.linalg.LinAlgError
        If there is no stabilizing solution.

    Notes
    -----
    Everything has gradients of any order. They are those of the stabilizing solution: with the
    feedback :math:`K = R^{-1} (B^H X E + S^H)` and :math:`C = A - B K` a system
    :math:`C W E^H + E W C^H = -G` gives the gradient :math:`W` of :math:`Q`, and by products of it
    all others. The gradients of ``q`` and ``r`` are Hermitian.

    Examples
    --------
    >>> import numgrad as ng
    >>> q = ng.tensor([[3.0]], requires_grad=True)
    >>> x = ng.linalg.solve_continuous_are([[1.0]], [[1.0]], q, [[1.0]])
    >>> round(x.item(), 6), round(ng.grad(x.sum(), q)[0].item(), 6)  # 1 + sqrt(1 + q)
    (3.0, 0.25)
    """
    given = (a, b, q, r, e, s)
    return _stabilizing(_riccati.solve_continuous_are, "solve_continuous_are", given, balanced)


def solve_discrete_are(
    a: ArrayLike,
    b: ArrayLike,
    q: ArrayLike,
    r: ArrayLike,
    e: ArrayLike | None = None,
    s: ArrayLike | None = None,
    balanced: bool = True,
) -> Tensor:
    """Solve Riccati's equation in discrete time, as `scipy.linalg.solve_discrete_are` does.

    It is ``a^H x a - e^H x e - (a^H x b + s) (r + b^H x b)^-1 (b^H x a + s^H) + q = 0``. Arguments,
    errors and gradients are as those of `solve_continuous_are`.

    Examples
    --------
    >>> import numgrad as ng
    >>> q = ng.tensor([[1.0]], requires_grad=True)
    >>> x = ng.linalg.solve_discrete_are([[1.0]], [[1.0]], q, [[1.0]])
    >>> x.detach().round(6), ng.grad(x.sum(), q)[0].round(6)  # (q + sqrt(q**2 + 4 q)) / 2
    (tensor([[1.618034]]), tensor([[1.17082]]))
    """
    given = (a, b, q, r, e, s)
    return _stabilizing(_riccati.solve_discrete_are, "solve_discrete_are", given, balanced)


def _stabilizing(equation: Any, caller: str, given: Any, balanced: Any) -> Tensor:
    a, b, q, r, e, s = given
    given_also = {"has_e": e is not None, "has_s": s is not None}
    a, q, r = (_matrices(x, name, caller) for x, name in ((a, "a"), (q, "q"), (r, "r")))
    b, n, m = _matrices(b, "b", caller), a.shape[-1], r.shape[-1]
    e = np.eye(n, dtype=a.dtype) if e is None else e
    s = np.zeros((n, m), a.dtype) if s is None else s
    e, s = _matrices(e, "e", caller), _matrices(s, "s", caller)
    needed = {"a": (n, n), "b": (n, m), "q": (n, n), "r": (m, m), "e": (n, n), "s": (n, m)}
    for x, (name, shape) in zip((a, b, q, r, e, s), needed.items(), strict=True):
        if x.shape[-2:] != shape:
            raise ValueError(f"{caller}: {name} must have shape {shape}, got {x.shape}")
    options = given_also | {"balanced": bool(guarded(balanced)), "caller": caller}
    return equation(a, b, q, r, e, s, **options)


def _matrices(x: Any, argument: str, caller: str) -> Tensor:
    return floating_matrices(numeric(x, argument), f"{caller}: {argument}", square=False)
