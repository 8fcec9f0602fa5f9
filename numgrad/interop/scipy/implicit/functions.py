"""A function of arrays as SciPy's solvers take it: values, gradients, Jacobians and Hessians."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .... import sparse
from ...._autograd import no_grad
from ...._errors import ArgTypeError, CaptureError, ImplicitGradError, SparsityError
from ....func.pytree import require_function
from .closures import Closure
from .derived import DERIVED, Captured, OfVector
from .linearization import Linearization, as_point, operator_of, require_finite

FORMS = ("dense", "sparse", "operator")


@dataclass
class Point:
    """The value and derivatives of a function at one point, whose key is its bytes."""

    key: Any
    record: Linearization | None = None
    value: Any = None  # None until it is computed
    jac: Any = None
    given: set[str] = field(default_factory=set)  # the names of the results that were returned


class function:  # noqa: N801  it is called as a function is, and what it returns is one
    """A function of arrays, with exact derivatives, in the forms that SciPy's solvers take.

    Parameters
    ----------
    f : callable
        ``f(x, *args)`` of tensors, as `numgrad.func` takes it; it returns a real scalar, an array,
        or a container of arrays, whose elements are taken one after the other.
    args : tuple
        What `f` takes beside `x`, handed over at every call.
    shape : tuple of int, optional
        The shape in which `f` wants its argument; solvers hand over vectors.
    jac : {"dense", "sparse", "operator"}
        Form of Jacobians and Hessians: `numpy.ndarray`, `scipy.sparse.csr_array` (the pattern is
        found and coloured at the first call), `scipy.sparse.linalg.LinearOperator`.
    jit : bool
        Capture `f` by `numgrad.jit`. A function that cannot be captured is called instead; one that
        depends on what changes from call to call, other than its arguments, arrays and what names
        are bound to, needs ``False``.

    Attributes
    ----------
    fun, jac, value_and_jac, grad, hess, hessp : methods
        What solvers take.

    Raises
    ------
    DetachedError
        At a call, if `f` or an argument depends on a tensor that requires grad: SciPy's numbers
        have no gradient. `root`, `minimize` and the like take such tensors in ``args``.
    NonFiniteError
        If a derivative is not finite where the function is.

    Notes
    -----
    Solvers ask for value and derivative one by one. What is found at a point is kept until another
    point, or the same thing again, is asked for: then the function is evaluated as it is by then,
    with what its arguments and the arrays it closes over hold. Value and derivative share one
    evaluation; those of a captured function whose value is asked for first, as long as derivatives
    follow values so often that finding both at once saves more passes than it makes in vain.
    Arrays are converted to float64; results are new arrays. Objects can be pickled if `f` and
    `args` can; captured programs are made anew.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> from scipy import optimize
    >>> def rosenbrock(x, a):
    ...     return (a * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
    >>> f = ng.interop.scipy.function(rosenbrock, args=(100.0,))
    >>> f.grad(np.array([0.5, 1.0, 1.5]))
    array([-151.,  -50.,  100.])
    >>> optimize.minimize(f.value_and_jac, np.zeros(3), jac=True).x.round(4)
    array([1., 1., 1.])
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: Sequence[Any] = (),
        *,
        shape: tuple[int, ...] | None = None,
        jac: str = "dense",
        jit: bool = True,
    ) -> None:
        what = getattr(f, "__name__", type(f).__name__)
        require_function(f, "function")
        if jac not in FORMS:
            raise ValueError(f"function: jac must be one of {', '.join(FORMS)}, got {jac!r}")
        self.of_vector = OfVector(f, shape, what)
        self.args, self.form, self.jit, self.what = tuple(args), jac, bool(jit), what
        self.closure: Closure | None = None  # set by solvers that differentiate by it
        self._forget()

    def _forget(self) -> None:
        self._captured, self._is_scalar, self._form = self.jit, None, self.form
        self._passes, self._saved = 1, 0  # of a derivative; saved by computing it with the value
        self._programs: dict[str, Captured] = {}
        self._prepared: dict[Callable[..., Any], Any] = {}
        self._point = Point(None)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name[0] != "_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()

    # Called by solvers ----------------------------------------------------------------------------

    def __call__(self, x: Any, *more: Any) -> Any:
        """Return the value, as `fun` does."""
        return self.fun(x, *more)

    def fun(self, x: Any, *more: Any) -> Any:
        """Return the value: a float, or a vector of all elements.

        Parameters
        ----------
        x : array_like
            The point.
        *more
            Arguments of `f` between `x` and ``args``, such as the time.
        """
        value = self._at(x, more, "value").value
        return np.copy(value) if isinstance(value, np.ndarray) else value

    def jac(self, x: Any, *more: Any) -> Any:
        """Return the Jacobian, in the form asked for; of a scalar function the gradient."""
        found = self._at(x, more, "jac").jac
        return found if hasattr(found, "matvec") else found.copy()

    def vector(self, x: Any, *more: Any) -> np.ndarray:
        """Return the value as a vector, of a scalar function too."""
        return np.atleast_1d(self.fun(x, *more))

    def matrix(self, x: Any, *more: Any) -> Any:
        """Return the Jacobian with a row for each element of the value, of a scalar too."""
        jacobian = self.jac(x, *more)
        return jacobian[None] if self._is_scalar else jacobian

    def grad(self, x: Any, *more: Any) -> np.ndarray:
        """Return the gradient of a scalar function."""
        gradient = self.jac(x, *more)
        if not self._is_scalar:
            raise ImplicitGradError(
                f"{self.what}: a gradient, and a minimum, are those of one real number, but the "
                f"function returned an array of {np.shape(self._point.value)}; sum it, or use "
                f"least_squares"
            )
        return gradient

    def value_and_jac(self, x: Any, *more: Any) -> tuple[Any, Any]:
        """Return value and Jacobian (of a scalar function, gradient) of one evaluation."""
        jacobian = self.jac(x, *more)
        return self.fun(x, *more), jacobian

    def value_and_grad(self, x: Any, *more: Any) -> tuple[float, np.ndarray]:
        """Return value and gradient of a scalar function, of one evaluation."""
        gradient = self.grad(x, *more)
        return self.fun(x, *more), gradient

    def hess(self, x: Any, v: Any = None) -> Any:
        """Return the Hessian of a scalar function; of others that of the sum with weights ``v``."""
        x = as_point(x, self.what)
        if v is not None:
            return self._run("weighted_hessian", x, np.array(v, float))
        if self.form == "operator":
            products = dict.fromkeys(("matvec", "rmatvec"), lambda p: self.hessp(x, np.ravel(p)))
            return operator_of((x.size, x.size), **products)
        return require_finite(self._hessian(x), self.what)

    def hessp(self, x: Any, p: Any) -> np.ndarray:
        """Return the product of the Hessian of a scalar function with a vector."""
        return self._run("product", as_point(x, self.what), as_point(p, self.what))

    def show(self, x: Any, *more: Any) -> None:
        """Call the function so that closed-over tensors are noted: itself, and captured if
        possible, which reads both branches of a choice."""
        for _ in range(2):
            self.vector(x, *more)

    # Evaluation -----------------------------------------------------------------------------------

    def _at(self, x: Any, more: tuple[Any, ...], wanted: str) -> Point:
        """Return the point with ``wanted`` computed.

        If the same result is asked for twice, the function is evaluated again, as the values that
        it reads may have changed in between.
        """
        x, point = as_point(x, self.what), self._point
        key = x.tobytes(), *[_bytes(value) for value in more]
        if None in key or key != point.key or wanted in point.given:
            if "value" in point.given:
                followed = "jac" in point.given
                self._saved = self._saved + 1 if followed else max(self._saved, 0) - self._passes
            point = self._point = Point(key)
        point.given.add(wanted)
        if getattr(point, wanted) is None:
            self._find(point, x, more, with_jac=wanted == "jac" or self._saved > 0)
        return point

    def _alone(self) -> Any:
        """Return a context in which results have no graph, whatever the function closes over."""
        return nullcontext() if self.closure is None else no_grad()

    def _find(self, point: Point, x: np.ndarray, more: tuple[Any, ...], with_jac: bool) -> None:
        needs_record = not self._captured or (with_jac and self._form == "operator")
        if point.record is None and (needs_record or self._is_scalar is None):
            self._record(point, x, more)
        if with_jac and self._form == "sparse":
            with self._alone():
                point.value, point.jac = self._sparse((x, *more, *self.args))
        elif point.record is not None:
            point.jac = point.record.derivative(self._form) if with_jac else None
        elif with_jac:
            name = "value_and_grad" if self._is_scalar else "value_and_jacobian"
            point.value, point.jac = self._run(name, x, *more)
        else:
            point.value = self._run("value" if self._is_scalar else "vector", x, *more)
        if self._is_scalar:
            point.value = np.reshape(point.value, ()).item()
        is_array = point.jac is not None and self._form != "operator"
        if is_array and np.isfinite(point.value).all():
            require_finite(point.jac, self.what)

    def _record(self, point: Point, x: np.ndarray, more: tuple[Any, ...]) -> None:
        """Call the function itself."""
        record = point.record = Linearization(
            self.of_vector, x, (*more, *self.args), self.what, self.closure
        )
        self._is_scalar, point.value = record.is_scalar, record.value
        self._form = "dense" if self._is_scalar else self.form  # a gradient is an array
        self._passes = 1 if self._form == "operator" else min(record.shape)

    def _run(self, name: str, *arrays: Any) -> Any:
        """Call a derived function: captured, if possible."""
        program = self._programs.get(name)
        if program is None:
            derived = DERIVED[name](self.of_vector)
            program = Captured(derived, self._captured, self.what, self.closure)
            self._programs[name] = program
        result = program(*arrays, *self.args)
        self._captured = self._captured and program.program is not None
        return result

    def _sparse(self, args: tuple[Any, ...]) -> tuple[Any, Any]:
        """Return value and Jacobian."""
        f = self.of_vector.vector
        found = self._prepared_call(sparse.prepare, f, args, "value_and_jacobian")
        if found is None:
            return Captured(f, False, self.what)(*args), sparse.jacobian(f, *args)
        self._passes = self._prepared[sparse.prepare].n_colors
        return found

    def _hessian(self, x: np.ndarray) -> Any:
        """Return the Hessian of a scalar function as a matrix."""
        if self.form == "dense":
            return self._run("hessian", x)
        args = x, *self.args
        with self._alone():
            found = self._prepared_call(sparse.prepare_hessian, self.of_vector, args, "__call__")
            return sparse.hessian(self.of_vector, *args) if found is None else found

    def _prepared_call(
        self, prepare: Callable[..., Any], f: Any, args: tuple[Any, ...], name: str
    ) -> Any:
        """Call a prepared derivative; return None for a function that cannot be captured.

        It is prepared again if the function has entries outside of the pattern by now.
        """
        try:
            if self._captured and prepare in self._prepared:
                with suppress(SparsityError):
                    return getattr(self._prepared[prepare], name)(*args)
            if self._captured:
                self._prepared[prepare] = prepare(f, *args)
                return getattr(self._prepared[prepare], name)(*args)
        except (CaptureError, ArgTypeError):
            self._captured = False
        return None


def _bytes(value: Any) -> Any:
    """Return the key of an argument, None for an object that may change unnoticed."""
    if isinstance(value, (bool, int, float, np.number)):
        return value
    return value.tobytes() if isinstance(value, np.ndarray) else None
