"""``check_operator``: check all that must hold for an operator, at examples of its arguments."""

from __future__ import annotations  # ``numpy.random`` is imported when it is used

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import GradcheckError
from .._tensor import Tensor
from ..func.pytree import flatten
from . import invariants
from .derivatives import gradcheck, gradgradcheck
from .subject import Subject


def check_operator(
    operator: Callable[..., Any],
    *examples: Any,
    order: int = 2,
    exact: bool = True,
    broadcast: bool = True,
    single: bool = True,
    complex_step: bool = False,
    **static: Any,
) -> bool:
    """Check an operator, or any function of tensors, at examples of its arguments.

    Parameters
    ----------
    operator : callable
        Takes arrays, and `static` parameters as keywords.
    *examples : tuple or array
        The arguments of one call each. The operator is differentiated by those that require grad,
        or by all floating ones if none does.
    order : int
        How often the operator can be differentiated: with 1 the second derivative is not checked.
    exact : bool
        Whether batched passes, other tiles and other layouts must give the same bits. Operators
        that call BLAS or LAPACK need False: results may then differ by rounding.
    broadcast : bool
        Whether the operator is defined for arguments that repeat their first elements, with which
        arrays of stride 0 are tried.
    single : bool
        Whether single precision is tried too.
    complex_step : bool
        As in `gradcheck`.
    **static
        Static parameters of the operator.

    Returns
    -------
    bool
        Always True, as a failed check is an error.

    Raises
    ------
    GradcheckError
        If a check fails; the message names the example.

    Notes
    -----
    Compared are the first and second derivative with finite differences; repeated, batched (0, 1,
    3 and 64 rows), tiled and threaded passes with plain ones; recorded gradients with others;
    results for strided, reversed, broadcast and read-only inputs with those for plain ones; and
    single with double precision. Inputs and seeds must not be written.

    Examples
    --------
    >>> import math
    >>> import numpy as np
    >>> import numgrad as ng
    >>> @ng.elementwise
    ... def bell(x):
    ...     return math.exp(-x * x)
    >>> @bell.partial("x")
    ... def bell_dx(x, y):
    ...     return -2.0 * x * y
    >>> ng.testing.check_operator(bell, np.linspace(-2.0, 2.0, 5))
    True
    """
    if not examples:
        raise ValueError("check_operator needs at least one example of arguments")
    function = functools.partial(operator, **static) if static else operator
    for number, example in enumerate(examples):
        args = example if isinstance(example, tuple) else (example,)
        try:
            _check_example(function, args, order, exact, broadcast, single, complex_step)
        except GradcheckError as error:
            name = getattr(operator, "__name__", repr(operator))
            raise GradcheckError(f"check_operator: {name}, example {number}: {error}") from error
    return True


def _check_example(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    order: int,
    exact: bool,
    broadcast: bool,
    single: bool,
    complex_step: bool,
) -> None:
    gradcheck(function, args, complex_step=complex_step)
    if order > 1:
        gradgradcheck(function, args)
    subject = Subject(function, args, "check_operator")
    rng = np.random.default_rng(0)
    invariants.check_batched(subject, rng, exact=exact)
    invariants.check_schedules(subject, rng, exact)
    invariants.check_layouts(subject, rng, exact, broadcast)
    if order > 1:
        invariants.check_create_graph(subject, rng, exact=False)
    if single:
        check_precision(
            subject, Subject(function, in_single_precision(args), "check_operator"), rng
        )


def in_single_precision(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments with all arrays and tensors of double precision in single precision."""
    leaves, rebuild = flatten(args)
    narrow = {np.dtype(np.float64): np.float32, np.dtype(np.complex128): np.complex64}
    return rebuild([_converted(leaf, narrow) for leaf in leaves])


def _converted(leaf: Any, dtypes: dict[np.dtype, Any]) -> Any:
    dtype = getattr(leaf, "dtype", None)
    if dtype is None or dtype not in dtypes:
        return leaf
    if isinstance(leaf, Tensor):
        return Tensor(leaf.detach().numpy().astype(dtypes[dtype]), leaf.requires_grad)
    return np.asarray(leaf).astype(dtypes[dtype])


def check_precision(
    double: Subject, single: Subject, rng: np.random.Generator, rtol: float = 1e-4
) -> None:
    """Check that values and gradients in single precision are near those in double precision."""
    exact, rounded = double.values(double.arrays), single.values(single.arrays)
    seeds = [
        np.asarray(rng.uniform(-1.0, 1.0, e.shape)).astype(r.dtype)
        for e, r in zip(exact, rounded, strict=True)
    ]
    expected = [
        *exact,
        *double.gradients([s.astype(e.dtype) for s, e in zip(seeds, exact, strict=True)]),
    ]
    found = [*rounded, *single.gradients(seeds)]
    names = [
        *(f"output {n}" for n in range(len(exact))),
        *(f"the gradient of {n}" for n in double.names),
    ]
    size = max(_largest(e) for e in exact)  # a gradient of zero may come out as a rounding error
    for name, a, b in zip(names, found, expected, strict=True):
        if not np.allclose(a, b, rtol, rtol * max(size, _largest(b)), equal_nan=True):
            raise GradcheckError(
                f"{double.what}: {name} in single precision is {a!r} and in double {b!r}"
            )


def _largest(array: np.ndarray) -> float:
    return float(np.max(np.abs(array), initial=0.0, where=np.isfinite(array)))
