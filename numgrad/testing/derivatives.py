"""``gradcheck`` and ``gradgradcheck``: compare derivatives with numerical ones."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._autograd import enable_grad
from .._errors import GradcheckError
from .._tensor import Tensor
from ..func.gradients import pull
from ..func.pytree import flatten, output_leaves
from . import invariants
from .comparison import compare_everywhere, compare_projection
from .forward import check_forward_mode
from .numerical import central
from .numerical import complex_step as imaginary_step
from .subject import Subject, random_like
from .tolerances import tolerance_for


def gradcheck(
    function: Callable[..., Any],
    inputs: Any,
    *,
    eps: float | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_batched_grad: bool = True,
    check_forward_ad: bool = False,
    fast_mode: bool | None = None,
    mode: str = "projection",
    complex_step: bool = False,
    seed: int = 0,
) -> bool:
    """Check the first derivative of a function against finite differences.

    Parameters
    ----------
    function : callable
        Takes tensors and whatever else is in `inputs`; returns a tensor or a nested container of
        them.
    inputs : Tensor or tuple
        The arguments. The derivatives by tensors that require grad are checked, also inside of
        nested containers. If there is no such tensor, those by all floating tensors and arrays
        are. Everything else is passed on as it is.
    eps : float, optional
        Step of the central differences; by default 1e-6 in double and 1e-2 in single precision.
    atol, rtol : float, optional
        Allowed disagreement; by default 1e-6 and 1e-5 in double, and both 2e-3 in single precision.
    raise_exception : bool
        If false, a failed check returns False.
    nondet_tol : float
        How much two passes with the same seeds may differ.
    check_undefined_grad : bool
        Check that an output without a seed counts like one with a seed of zeros.
    check_batched_grad : bool
        Check that a batched pass gives what one pass for each seed gives.
    check_forward_ad : bool
        Check `numgrad.func.jvp` too.
    fast_mode : bool, optional
        torch's name for the mode: True is ``mode="projection"``, False ``mode="full"``.
    mode : {"projection", "full"}
        With ``projection`` compare one random projection of the Jacobian, at the cost of two
        evaluations of the function; with ``full`` all entries. A projection that disagrees is
        followed by a full comparison, which finds the wrong entry.
    complex_step : bool
        Compute the numerical derivative from one evaluation at a complex point, which is exact to
        rounding. The function must be analytic in its real arguments, and take complex ones too.
    seed : int
        The seed of the random directions.

    Returns
    -------
    bool
        Whether all checks passed.

    Raises
    ------
    GradcheckError
        If a check fails; the message has the input, the position, both values, and the line that
        recorded the output.

    Notes
    -----
    For real :math:`f` with Jacobian :math:`J` the projection compares :math:`v^T J u` with
    :math:`v^T (f(x + \\epsilon u) - f(x - \\epsilon u)) / 2\\epsilon`.

    Examples
    --------
    >>> import numpy as np
    >>> import numgrad as ng
    >>> ng.testing.gradcheck(lambda x: ng.exp(x) * x, ng.tensor([0.5, 2.0], requires_grad=True))
    True
    """

    def run() -> None:
        subject = Subject(function, inputs, "gradcheck")
        _check_first(subject, eps, atol, rtol, _mode(mode, fast_mode), complex_step, seed)
        rng = np.random.default_rng(seed)
        _check_passes(subject, rng, nondet_tol, check_undefined_grad, check_batched_grad)
        if check_forward_ad:
            check_forward_mode(subject, rng)

    return _judge(run, raise_exception)


def gradgradcheck(
    function: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = False,
    check_batched_grad: bool = True,
    fast_mode: bool | None = None,
    mode: str = "projection",
    seed: int = 0,
) -> bool:
    """Check the second derivative of a function against finite differences of its gradient.

    Parameters
    ----------
    function, inputs, eps, atol, rtol, raise_exception, nondet_tol
        As in `gradcheck`.
    check_undefined_grad, check_batched_grad
        As in `gradcheck`.
    grad_outputs : Tensor or sequence, optional
        The seeds of the first pass, one for each floating output; random by default.
    fast_mode, mode, seed
        As in `gradcheck`.

    Raises
    ------
    GradcheckError
        As `gradcheck`. The derivatives by the seeds of the first pass are checked too; messages
        call these inputs ``seed``.

    Examples
    --------
    >>> import numgrad as ng
    >>> ng.testing.gradgradcheck(lambda x: x * x * x, ng.tensor([0.5, 2.0], requires_grad=True))
    True
    """

    def run() -> None:
        second = _gradient_of(Subject(function, inputs, "gradgradcheck"), grad_outputs, seed)
        _check_first(second, eps, atol, rtol, _mode(mode, fast_mode), False, seed)
        rng = np.random.default_rng(seed)
        _check_passes(second, rng, nondet_tol, check_undefined_grad, check_batched_grad)

    return _judge(run, raise_exception)


def _check_passes(
    subject: Subject, rng: np.random.Generator, nondet_tol: float, undefined: bool, batched: bool
) -> None:
    """Check what holds for every backward pass, whatever the derivatives are; see `invariants`."""
    invariants.check_unchanged(subject, rng)
    invariants.check_repeatable(subject, rng, nondet_tol)
    if undefined:
        invariants.check_undefined(subject, rng)
    if batched:
        invariants.check_batched(subject, rng, sizes=(3,), exact=False)


def _judge(run: Callable[[], None], raise_exception: bool) -> bool:
    try:
        run()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _mode(mode: str, fast_mode: bool | None) -> str:
    if fast_mode is not None:
        return "projection" if fast_mode else "full"
    if mode not in ("projection", "full"):
        raise ValueError(f"mode must be 'projection' or 'full', got {mode!r}")
    return mode


def _check_first(
    subject: Subject,
    eps: float | None,
    atol: float | None,
    rtol: float | None,
    mode: str,
    complex_step: bool,
    seed: int,
) -> None:
    tolerance = tolerance_for([*subject.arrays, *subject.values(subject.arrays)], eps, atol, rtol)
    slope = imaginary_step(tolerance.eps) if complex_step else central(tolerance.eps)
    if mode == "full":
        compare_everywhere(subject, slope, tolerance)
    else:
        compare_projection(subject, slope, tolerance, np.random.default_rng(seed))


def _gradient_of(first: Subject, grad_outputs: Any, seed: int) -> Subject:
    """Return the gradient of a function as a subject, whose variables include the seeds."""
    _, outputs = first.call()
    if grad_outputs is None:
        rng = np.random.default_rng(seed)
        seeds: Sequence[np.ndarray] = [random_like(rng, o) for o in outputs]
    else:
        seeds = [
            np.asarray(t.detach() if isinstance(t, Tensor) else t) for t in flatten(grad_outputs)[0]
        ]
    count = len(first.arrays)

    def gradient(*values: Tensor) -> tuple[Tensor, ...]:
        variables, vectors = values[:count], values[count:]
        with enable_grad():
            results = output_leaves(first.function(*first.args(variables)), first.what)[0]
        results = [r for r in results if r.dtype.kind in "fc"]
        return tuple(pull(results, variables, vectors, graph=True))

    second = Subject(gradient, (*first.arrays, *seeds), first.what)
    second.names = [*first.names, *(f"seed {n}" for n in range(len(seeds)))]
    return second
