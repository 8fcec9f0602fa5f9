"""Equations of Lyapunov in discrete time."""

from typing import Any

import numpy as np

from ..._tensor import ArrayLike, Tensor
from ...operators.linalg.matmul import adjoint
from ..array.argument_checks import numeric
from ..array.operands import as_tensor, in_one_dtype
from ..elementwise.complex_parts import conj
from ..products.products import matmul
from .matrix_functions import solve_continuous_lyapunov
from .systems import inv, solve

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
