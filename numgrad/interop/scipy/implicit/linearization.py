"""A function at a point, recorded once: its value and products with its Jacobian."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...._declare import registry
from ...._errors import ArgTypeError, DetachedError, DtypeError, NonFiniteError
from ...._tensor import Tensor, placed
from ....engine.record.apply import mode
from ....func.forward import push
from ....func.gradients import Evaluation, pull

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

    from .closures import Closure


class Linearization:
    """A recorded call ``f(x, *args)``, whose result is an array or a container of arrays, with the
    elements taken one after the other.

    Closed-over tensors are noted if there is a closure, and otherwise refused if they require grad.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        x: np.ndarray,
        args: Sequence[Any],
        what: str,
        closure: "Closure | None" = None,
    ) -> None:
        at = Evaluation(f, (x, *args), 0, what)
        if at.output is None:
            raise ArgTypeError(
                f"{what}: the function returned None; it may lack a return statement"
            )
        if closure is not None:
            closure.look(at.leaves)
        elif at.outer_graph():
            raise refused_graph(what)
        self.outputs = [require_real(leaf, what) for leaf in at.leaves]
        (self.x,) = at.variables.leaves
        self.sizes = [leaf.size for leaf in self.outputs]
        self.shape = sum(self.sizes), self.x.size
        self.is_scalar = len(self.sizes) == 1 and self.outputs[0].shape == ()

    @property
    def value(self) -> np.ndarray:
        """All elements of the output, one after the other."""
        parts = [np.ravel(leaf.detach().numpy()) for leaf in self.outputs]
        return np.concatenate(parts).astype(float) if parts else np.zeros(0)

    def pull(self, w: np.ndarray) -> np.ndarray:
        """Return ``w @ J`` for a vector, or for all rows of a matrix in one pass."""
        lead = w.shape[:-1]
        parts = np.split(w, np.cumsum(self.sizes)[:-1], axis=-1)
        seeds = [
            placed(np.ascontiguousarray(part, leaf.dtype).reshape((*lead, *leaf.shape)), "cpu")
            for part, leaf in zip(parts, self.outputs, strict=True)
        ]
        (found,) = pull(self.outputs, [self.x], seeds, False, batched=bool(lead))
        return found.numpy().reshape(*lead, self.x.size).astype(float)

    def push(self, v: np.ndarray) -> np.ndarray:
        """Return ``J @ v`` for a vector, or for all rows of a matrix in one pass, as rows."""
        lead = v.shape[:-1]
        tangent = np.ascontiguousarray(v, self.x.dtype).reshape((*lead, *self.x.shape))
        found = push(self.outputs, [self.x], [placed(tangent, "cpu")], False, batched=bool(lead))
        return np.concatenate([t.numpy().reshape(*lead, -1) for t in found], axis=-1).astype(float)

    def derivative(self, form: str) -> Any:
        """Return the gradient of a scalar, else the Jacobian in a form.

        A dense Jacobian is computed by rows or by columns, whichever are fewer.
        """
        if self.is_scalar:
            return self.pull(np.ones(1))
        if form == "operator":
            return self.operator()
        m, n = self.shape
        return self.pull(np.eye(m)) if m <= n else np.ascontiguousarray(self.push(np.eye(n)).T)

    def operator(self) -> "LinearOperator":
        """Return the Jacobian as a linear operator."""
        return operator_of(
            self.shape,
            matvec=lambda v: self.push(np.ravel(v)),
            rmatvec=lambda w: self.pull(np.ravel(w)),
            matmat=lambda v: self.push(np.ascontiguousarray(v.T)).T,
            rmatmat=lambda w: self.pull(np.ascontiguousarray(w.T)).T,
        )


def operator_of(shape: tuple[int, int], **products: Any) -> "LinearOperator":
    """Return SciPy's operator with these products."""
    from scipy.sparse.linalg import LinearOperator

    return LinearOperator(shape=shape, dtype=np.dtype(float), **products)


def refused_graph(what: str) -> DetachedError:
    return DetachedError(
        f"{what}: the function depends on a tensor that requires grad and is none of its "
        f"arguments, so its gradient would be lost; pass the tensor in args, or detach it"
    )


def require_real(leaf: Tensor, what: str) -> Tensor:
    if leaf.dtype.kind == "c":
        raise DtypeError(
            f"{what}: SciPy's solvers take real functions, but the function returned "
            f"{leaf.dtype}; stack its real and imaginary part"
        )
    return leaf if leaf.dtype.kind == "f" else registry["astype"](leaf, dtype=np.dtype(float))


def as_point(x: Any, what: str) -> np.ndarray:
    """Return the point of a solver as a new float64 array in C order."""
    if isinstance(x, Tensor):
        if mode.grad and x.requires_grad:
            raise DetachedError(
                f"{what}: the point requires grad, and the numbers that a solver gets have no "
                f"gradient; call the function itself, or a transform of ng.func, or detach it"
            )
        x = x.detach().numpy()
    array = np.asarray(x)
    if array.dtype.kind == "c":
        raise DtypeError(
            f"{what}: SciPy's solvers take real arguments, got {array.dtype}; stack real and "
            f"imaginary part in one real array"
        )
    return np.array(array, dtype=float, order="C")


def require_finite(matrix: Any, what: str) -> Any:
    """Return a Jacobian, dense or sparse; raise if one of its entries is infinite or NaN."""
    is_dense = isinstance(matrix, np.ndarray)
    data = matrix if is_dense else matrix.data
    if np.isfinite(data).all():
        return matrix
    infinite = np.isinf(data)  # NaNs beside infinite entries come from them
    where = np.argwhere(infinite if infinite.any() else np.isnan(data))[0]
    place = where if is_dense else [axis[where[0]] for axis in matrix.tocoo().coords]
    value = data[tuple(where)]
    raise NonFiniteError(
        f"{what}: entry ({', '.join(map(str, place))}) of the derivative is {value}, where the "
        f"function itself is finite; ng.detect_anomaly() around the call shows the operation"
    )


def linear_operator(f: Callable[..., Any], x: Any, args: Sequence[Any] = ()) -> "LinearOperator":
    """Return the Jacobian of a function at a point as SciPy's `LinearOperator`.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` returns a real array, or a container of them, of ``m`` elements.
    x : array_like
        The point, real, of ``n`` elements in any shape.
    args : tuple
        What else `f` takes.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator
        Of shape ``(m, n)``, float64. ``matvec`` is the Jacobian-vector product, ``rmatvec`` the
        vector-Jacobian product; ``matmat`` and ``rmatmat`` take all columns in one batched pass.

    Raises
    ------
    DetachedError
        If `f` depends on a tensor that requires grad, whose gradient would be lost.
    DtypeError
        For complex points and functions.

    Notes
    -----
    The function is called once, here; the products run over what it recorded.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> J = ng.interop.scipy.linear_operator(lambda x: x[1:] * x[:-1], np.array([1.0, 2.0, 3.0]))
    >>> J.matvec(np.ones(3))
    array([3., 5.])
    >>> J.rmatvec(np.ones(2))
    array([2., 4., 2.])
    """
    what = "linear_operator"
    return Linearization(f, as_point(x, what), args, what).operator()
