"""``ng.while_loop`` and ``ng.fori_loop``: loops that end by a condition or at an integer."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._errors import ArgTypeError
from .._tensor import Tensor
from ..engine.graph.value import CPU
from ..engine.record.apply import mode
from ..func.pytree import require_function
from ..func.tracing.loop_numbers import loop_index
from ..functions.creation.ranges import arange
from .body import Body, captured
from .containers import Tree, results_of
from .counted import CountedSteps
from .devices.arrays import copied, in_order
from .devices.counted import CountedDeviceSteps, is_true
from .devices.placement import brought
from .later import Later
from .loop import loop_over
from .recording import applied
from .scanning import Step, scan
from .steps import Sizes


def while_loop(cond_fun: Callable[..., Any], body_fun: Callable[..., Any], init_val: Any) -> Any:
    """Call a function again and again while a condition holds.

    The result is that of this loop of Python, also where a function is captured or mapped::

        val = init_val
        while cond_fun(val):
            val = body_fun(val)
        return val

    Parameters
    ----------
    cond_fun : callable
        Takes what ``body_fun`` takes and returns one boolean.
    body_fun : callable
        Returns the next ``val``, with the structure, shapes and dtypes of ``init_val``. Both
        functions are called once, with placeholders, as by `scan`.
    init_val : array_like or container of them
        The ``val`` that the first step is given.

    Returns
    -------
    container of tensors
        The first ``val`` for which the condition does not hold.

    Raises
    ------
    ArgTypeError
        If ``body_fun`` does not keep structure, shapes and dtypes, or ``cond_fun`` does not return
        one boolean.
    CaptureError
        If a function wants to see a value, or changes something outside.

    See Also
    --------
    scan : A loop with a known number of steps.

    Notes
    -----
    Gradients are those of the steps that were taken; the number of steps has no derivative. A loop
    without steps returns ``init_val``, and has the derivative of that. Where gradients are
    recorded, a first run counts the steps, and a second one records them. In a mapped function each
    sample takes its own number of steps.

    Examples
    --------
    >>> import numgrad as ng
    >>> def root(a):
    ...     return ng.while_loop(lambda x: abs(x * x - a) > 1e-12, lambda x: (x + a / x) / 2, a)
    >>> ng.func.value_and_grad(root)(ng.tensor(2.0))
    (tensor(1.41421356), tensor(0.35355339))
    """
    condition: Any = require_function(cond_fun, "while_loop: cond_fun")
    step = _with_nothing(require_function(body_fun, "while_loop: body_fun"))
    first = Tree(init_val, "while_loop: init_val")
    if not first.leaves:
        raise ArgTypeError("while_loop: init_val holds no array, so the condition never changes")
    made = Step(step, first, [], Tree(None, "while_loop"), "while_loop")
    specs = made.body.specs[: len(first.leaves)]
    asked, read = captured(
        "ng.while_loop", lambda *given: [_asked(condition, first, given)], specs, condition,
        made.body.device,
    )  # fmt: skip
    loop = _Counted(made.body, asked, len(first.leaves))
    own = brought(first.tensors(made.dtypes), made.body.device, "ng.while_loop")
    values = [*own, *made.closed_over, *read]
    return first.rebuild(loop(values))


def _with_nothing(f: Any) -> Callable[..., Any]:
    """Return a step that yields nothing."""

    def step(carry: Any, x: Any) -> Any:
        return f(carry), None

    return step


def _asked(condition: Any, first: Tree, given: Sequence[Tensor]) -> Tensor:
    (found,), _ = results_of(condition(first.rebuild(given)), "while_loop: the condition")
    if found.shape not in ((), (1,)) or found.dtype != bool:
        raise ArgTypeError(
            f"while_loop: the condition must be one boolean, got {found.dtype} of shape "
            f"{found.shape}; write for example abs(x).max() > tolerance"
        )
    return found.reshape(())


class _Counted:
    """A loop that ends by a condition, and counts its steps.

    Parameters
    ----------
    step, asked : Body
        What a step computes, and the condition.
    carried : int
        The number of tensors that are carried; further arguments are what ``step`` closes over,
        and then what ``asked`` does.
    """

    def __init__(self, step: Body, asked: Body, carried: int) -> None:
        self._step, self._asked, self._carried = step, asked, carried
        self._sizes = Sizes(carried, 0)
        self._first = len(step.specs)

    def _made_steps(self) -> CountedSteps | CountedDeviceSteps:
        """Return the steps, each of which returns whether the condition holds after it."""
        step, asked, carried, first = self._step, self._asked, self._carried, self._first

        def turn(*given: Tensor) -> list[Tensor]:
            made = step(*given[:first])
            return [*made, *asked(*made, *given[first:])]

        specs = [*step.specs, *asked.specs[carried:]]
        if step.device != CPU:
            return CountedDeviceSteps("ng.while_loop", turn, specs, carried, step.device)
        return CountedSteps("ng.while_loop", turn, specs, carried)

    def __call__(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the tensors that are carried at the end, given all arguments of both bodies."""
        if mode.deferring or mode.capture is not None or any(v.array is None for v in values):
            specs = [*self._step.specs, *self._asked.specs[self._carried :]]
            outputs = self._step.results
            device = self._step.device
            found = Later("ng.while_loop", self._eagerly, specs, outputs, device)(*values)
            return found if len(outputs) > 1 else (found,)
        return self._eagerly(*values)

    def _eagerly(self, *values: Any) -> Sequence[Any]:
        count, last = self._run([v.array for v in values])
        if not mode.grad or not any(v.requires_grad for v in values):
            return [Tensor(array) for array in last]
        loop = loop_over(self._step, self._sizes, count, False)
        return applied(loop, values[: self._first])

    def _run(self, arrays: Sequence[Any]) -> tuple[int, list[Any]]:
        """Return the number of steps, and the carried arrays at the end."""
        carries = list(map(copied, arrays[: self._carried]))
        others = list(map(in_order, arrays[self._carried :]))
        read = others[self._first - self._carried :]
        if not is_true(self._asked.program()([*carries, *read])[0]):
            return 0, carries
        count, last, _ = self._known_steps().run(carries, others)
        return count, last

    def _known_steps(self) -> CountedSteps | CountedDeviceSteps:
        """Return the steps; equal functions share one object of steps."""
        loops, key = self._step.loops, ("until", self._asked)
        if key not in loops:
            loops[key] = self._made_steps()
        return loops[key]


def fori_loop(lower: Any, upper: Any, body_fun: Callable[..., Any], init_val: Any) -> Any:
    """Call a function for each integer from ``lower`` to ``upper``.

    The result is that of this loop of Python, with one operation for all steps::

        val = init_val
        for i in range(lower, upper):
            val = body_fun(i, val)
        return val

    Parameters
    ----------
    lower, upper : int
        In a captured function also integers that are known only when the function runs.
    body_fun : callable
        ``body_fun(i, val)`` returns the next ``val``, with the structure, shapes and dtypes of
        ``init_val``. The function is called once, with placeholders, as by `scan`. In arithmetic
        with ``i`` an array keeps its dtype, as with an integer of Python.
    init_val : array_like or container of them
        The ``val`` that the first step is given.

    Returns
    -------
    container of tensors
        What the last step has returned.

    Raises
    ------
    ArgTypeError, CaptureError
        As for `scan`.

    Examples
    --------
    >>> import numgrad as ng
    >>> x = ng.tensor([1.0, 2.0, 3.0])
    >>> ng.fori_loop(0, 3, lambda i, total: total + x[i] ** 2, 0.0)
    tensor(14.)
    """
    f: Any = require_function(body_fun, "fori_loop")
    first, last = _bound(lower, "lower"), _bound(upper, "upper")
    if isinstance(first, int) and isinstance(last, int):
        count = max(last - first, 0)

        def step(carry: Any, i: Any) -> Any:
            return f(loop_index(i), carry), None

        return scan(step, init_val, arange(first, first + count), length=count)[0]

    def goes_on(carry: Any) -> Any:
        return carry[0] < carry[1]

    def turn(carry: Any) -> Any:
        i, end, value = carry
        return i + 1, end, f(loop_index(i), value)

    return while_loop(goes_on, turn, (first, last, init_val))[2]


def _bound(given: Any, name: str) -> Any:
    """Return a bound as an integer, or as a tensor if it is known only when a captured function
    runs."""
    if isinstance(given, Tensor) and given.array is None and mode.capture is not None:
        if given.dtype.kind in "iu" and not given.shape:
            return given.astype(np.int64, copy=False)
    elif not isinstance(given, bool) and hasattr(given, "__index__"):
        return int(given)
    raise ArgTypeError(f"fori_loop: {name} must be an integer, got {given!r}")
