"""The arguments of a solver beside the unknowns: numbers for SciPy, tensors for derivatives."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from ...._autograd import no_grad
from ...._errors import ArgTypeError, CaptureError, ConvergenceError, NotDifferentiableError
from ...._tensor import Tensor, tensor
from ....engine.record.apply import mode
from ....engine.record.guards import exported
from ....func.pytree import flatten, holds_tensors, places
from ....functions.array.operands import as_tensor
from .closures import Closure
from .functions import FORMS, function
from .implicit import Equation, Solution
from .linearization import as_point


class Parameters:
    """The arguments of a call.

    ``tensors`` are the floating tensors among their leaves, which are differentiated by;
    ``numbers`` are the arguments for SciPy, with arrays in place of tensors; ``closure`` has the
    tensors that the function closes over.
    """

    def __init__(self, args: Any, what: str, closure: Closure | None = None) -> None:
        if mode.capture is not None:
            raise CaptureError(
                f"{what} needs the values of its arguments to find a solution, and a function has "
                f"none while it is captured or mapped; call {what} outside of ng.jit and "
                f"ng.func.vmap (the function that it is given is captured anyway)"
            )
        self.what, self.closure = what, closure or Closure(what)
        args = tuple(args) if isinstance(args, (tuple, list)) else (args,)
        leaves, self.rebuild = flatten(args)
        # A backward pass calls the function again, with the present arguments.
        self.leaves: list[Any] = [_as_it_is(leaf) for leaf in leaves]
        self.places = [
            n for n, leaf in enumerate(self.leaves)
            if isinstance(leaf, Tensor) and leaf.dtype.kind in "fc"
        ]  # fmt: skip
        self.tensors: list[Any] = [self.leaves[n] for n in self.places]
        self.numbers = self.rebuild([number(leaf) for leaf in self.leaves])

    @property
    def has_tensors(self) -> bool:
        return bool(self.closure.places) or any(isinstance(leaf, Tensor) for leaf in self.leaves)

    @property
    def want_grad(self) -> bool:
        """Whether a tensor requires grad, and gradients are recorded."""
        return mode.grad and any(leaf.requires_grad for leaf in self.sources)

    @property
    def sources(self) -> list[Any]:
        """The tensors among the arguments, and the tensors that stand for closed-over tensors."""
        return [*self.tensors, *self.closure.tensors]

    def args(self, tensors: Sequence[Any]) -> tuple[Any, ...]:
        """Return the arguments with other tensors."""
        leaves = list(self.leaves)
        for place, leaf in zip(self.places, tensors, strict=True):
            leaves[place] = leaf
        return self.rebuild(leaves)

    def over(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of unknowns and arguments as one of unknowns and tensors."""
        count = len(self.tensors)

        def of_tensors(*given: Any) -> Any:
            first = len(given) - count
            return f(*given[:first], *self.args(given[first:]))

        return of_tensors

    def solution(
        self,
        x: np.ndarray,
        residual: Callable[..., Any],
        matrix: Callable[[], Any],
        result: Any = None,
    ) -> Tensor:
        """Return a solution as a function of the tensors.

        ``residual`` is the equation that it solves, ``matrix`` returns the Jacobian of the
        residual, and ``result`` is the result of the solver.
        """
        if not self.want_grad:
            return tensor(x)
        self.closure.settle()
        equation = Equation(self.over(residual), matrix, self.what, self.closure)
        if result is not None and not result.success:
            with no_grad():
                rest = residual(tensor(x), *self.numbers).numpy()
            self._require_small(equation.solve(rest, False), x, result.message)
        return Solution.apply(equation, x, *self.sources)

    def _require_small(self, step: np.ndarray, x: np.ndarray, message: str) -> None:
        """Raise unless the point where the solver has stopped, without converging, is as good as a
        solution: a step of Newton's method would keep half of the digits."""
        most = np.sqrt(np.finfo(float).eps) * np.abs(x).max(initial=0.0)
        if not np.abs(step).max(initial=0.0) <= most:
            raise ConvergenceError(
                f"{self.what}: the solver has not converged, and only a solution has a derivative: "
                f"{message}; give it another start, tolerance or method, or detach args to get "
                f"what it has found"
            )


def controls(options: dict[str, Any], what: str, prefix: str = "") -> dict[str, Any]:
    """Return the options of a solver, with numbers in place of tensors.

    The solution does not depend on them, but its remaining error does: a gradient is refused.
    """
    for name, value in options.items():
        is_tree = isinstance(value, (tuple, list, dict))
        leaves, rebuild = flatten(value) if is_tree else ([value], lambda new: new[0])
        for place, leaf in enumerate(leaves):
            if mode.grad and isinstance(leaf, Tensor) and leaf.requires_grad:
                keys = places(value)[place] if is_tree else ()
                full = prefix + name + "".join(f"[{key!r}]" for key in keys)
                raise NotDifferentiableError(
                    f"{what}: no gradient flows to {full}, which says how the solution is found, "
                    f"not which one it is; give the solver the number: detach it"
                )
        if any(isinstance(leaf, Tensor) for leaf in leaves):
            options = options | {name: rebuild([number(leaf) for leaf in leaves])}
    return options


def _as_it_is(leaf: Any) -> Any:
    """Return an argument that nobody else writes: an array or another object with memory is copied.
    """
    if isinstance(leaf, np.ndarray):
        return np.copy(leaf, subok=True)
    if isinstance(leaf, Tensor) or exported(leaf) is None:
        return leaf
    return np.array(leaf) if isinstance(leaf, memoryview) else deepcopy(leaf)


def refuse_pairs(jac: Any, what: str) -> None:
    """Raise for ``jac=True``: a function that returns its derivative, too."""
    if jac is True:
        raise ArgTypeError(
            f"{what}: jac=True says that the function returns its derivative, too; return the "
            f"value alone and leave jac out, or give scipy.optimize.{what} the pair"
        )


def number(leaf: Any) -> Any:
    """Return the elements of a tensor as an array; everything else as it is."""
    return leaf.detach().numpy(copy=True) if isinstance(leaf, Tensor) else leaf


def gathered(x: Any) -> Any:
    """Return a list of tensors and numbers as one tensor; anything else as it is."""
    is_list = isinstance(x, (list, tuple)) and holds_tensors(x)
    return as_tensor(x) if is_list else x


def posed(
    f: Callable[..., Any], x0: Any, args: Sequence[Any], form: Any, jit: bool, what: str
) -> tuple[Parameters, function, np.ndarray]:
    """Return the arguments of a problem, its function for SciPy, and the start of the solver as a
    vector.

    A solution does not depend on the start, so no gradient flows there.
    """
    parameters, x = Parameters(args, what), as_point(number(gathered(x0)), what)
    form = form if isinstance(form, str) and form in FORMS else "dense"
    hook = function(f, parameters.numbers, shape=x.shape, jac=form, jit=jit)
    hook.closure = parameters.closure
    if form == "sparse":  # whose programs return arrays, so that closed-over tensors are noted here
        hook.show(x)
    return parameters, hook, x.ravel()
