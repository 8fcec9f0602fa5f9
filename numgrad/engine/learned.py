"""What is learned of operators: what one does with values of certain specs, worked out once."""

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._settings import on_change
from .kinds import kind_of
from .record import runtime
from .values import ELEMENT, Spec, Value, spec_of

_MOST_PLANS = 1024
_MOST_CONSTANTS = 256
_planned: weakref.WeakSet[Any] = weakref.WeakSet()  # whatever has plans, and can forget them


class Plan:
    """What an operator with certain static parameters does with computed values of certain specs.

    Attributes
    ----------
    compute : callable
        Takes the arrays and returns the result.
    in_order : callable or None
        Does so faster, if they are in C order.
    spec : Spec
        Of the result.
    reads : tuple
        By which inputs require grad, as bits: whether the derivative reads each input and the
        result; None where it reads nothing. Empty where gradients do not flow.
    step : tuple
        Of a view, what leads from its base to it; else empty.
    operator, static, inputs, outputs, kind
        Of the nodes.
    recorder : callable or None
        Records an operation without Python, see `numgrad.engine.recorder`; None until there have
        been many ``uses``.
    depth : int
        Of the first frame that may be the user's, seen from the function that calls the recorder.
    mark : Element or None
        What the result is as a view: mostly nothing.
    """

    __slots__ = (
        "compute", "depth", "in_order", "inputs", "kind", "mark", "operator", "outputs", "reads",
        "recorder", "spec", "static", "step", "uses",
    )  # fmt: skip

    def __init__(
        self, operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], spec: Spec,
        compute: Any,
    ) -> None:  # fmt: skip
        self.operator, self.static = operator, static
        self.compute, self.in_order = compute if type(compute) is tuple else (compute, None)
        self.inputs, self.outputs = inputs, (spec,)
        self.spec = spec
        self.kind = kind_of(operator, static, inputs, self.outputs)
        self.step = ((operator, static),) if operator.is_view else ()
        self.mark = ELEMENT if operator.is_element else None
        self.recorder: Any = None
        self.depth = 3
        self.uses = 0
        self.reads: tuple[Any, ...] = ()
        if operator.differentiable and spec.dtype.kind in "fc":
            self.reads = tuple([self._reads(mask) for mask in range(2 ** len(inputs))])

    def _reads(self, mask: int) -> tuple[bool, ...] | None:
        needs = [bool(mask >> n & 1) for n in range(len(self.inputs))]
        reads = tuple(self.operator.saves(needs))
        return reads if any(reads) else None


def make_plan(operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...]) -> Plan | None:
    """Work out a plan; None for what always takes the general way."""
    rows = any([spec.rows for spec in inputs])  # noqa: C419  a list is faster
    if operator.nout != 1 or len(inputs) > _MOST_INPUTS or (rows and not operator.is_view):
        return None
    compute = _unknown if rows else operator.computation(runtime.target, inputs, static)
    if compute is None:
        return None
    ((shape, dtype),) = operator.infer(inputs, static)
    return Plan(operator, static, inputs, spec_of(shape, dtype, rows), compute)


_MOST_INPUTS = 4  # a plan has an entry for each set of inputs that require grad


def _unknown(array: np.ndarray) -> Any:
    """Stand for the function of an array with rows, which is met seldom."""
    raise ValueError("rows")


def keep(owner: Any, table: dict[Any, Any], key: Any, plan: Any) -> None:
    """Put a plan into a table of ``owner``, which has a method ``forget_plans``."""
    if len(table) >= _MOST_PLANS:
        table.clear()
    _planned.add(owner)
    table[key] = plan


class Beside:
    """The operands that Python's numbers stand for beside a value of a certain spec.

    An operand goes with an array of no axes: NumPy calls a kernel with it in half the time.
    """

    __slots__ = ("_minus_zero", "_zero", "dtype", "floats", "ints", "plan", "shape")

    def __init__(self, plan: Plan, spec: Spec) -> None:
        self.plan = plan
        self.shape, self.dtype = spec.shape, spec.dtype
        self.ints: dict[int, tuple[Value, np.ndarray]] = {}
        self.floats: dict[float, tuple[Value, np.ndarray]] = {}
        self._zero, self._minus_zero = self._made(0.0), self._made(-0.0)

    def constant(self, number: Any) -> tuple[Value, np.ndarray]:
        """Return the operand for a number that is not known, and remember it."""
        if number == 0:  # 0.0 and -0.0 are one key
            return self._minus_zero if str(number)[0] == "-" else self._zero
        made = self._made(number)
        if number == number:  # a NaN would not be found again
            known: dict[Any, Any] = self.ints if type(number) is int else self.floats
            if len(known) >= _MOST_CONSTANTS:
                known.clear()
            known[number] = made
        return made

    def _made(self, number: Any) -> tuple[Value, np.ndarray]:
        array = np.asarray(number, self.dtype)
        array.flags.writeable = False
        return runtime.value(array.reshape(self.shape)), array


class Mixture:
    """A plan for arguments some of which are Python's numbers: what stands for each of these."""

    __slots__ = ("numbers", "plan")

    def __init__(self, plan: Plan, numbers: Sequence[Beside | None]) -> None:
        self.plan, self.numbers = plan, numbers


def learn(operator: Any, args: Sequence[Any], values: tuple[Value, ...]) -> None:
    """Learn of an application of an elementwise operator to ``args``, which have been converted to
    ``values``."""
    if any([value.rows for value in values]):  # noqa: C419  a list is faster
        return
    plan = _plan_of(operator, values)
    if plan is None or values[-1].dtype.kind not in "fc":  # an integer may become a float
        return
    fresh = [type(a) in (int, float) for a in args]
    if not any(fresh):
        _learn_ranks(operator, args, values)
    elif all([n or a is v for n, a, v in zip(fresh, args, values, strict=True)]):  # noqa: C419
        besides = [
            Beside(plan, value.spec) if number else None
            for number, value in zip(fresh, values, strict=True)
        ]
        if len(values) == 2:
            first = fresh[0]
            table = operator.numbers_first if first else operator.numbers_last
            keep(operator, table, values[first].spec, besides[not first])
        else:
            key = tuple([type(a) if n else a.spec for n, a in zip(fresh, args, strict=True)])
            keep(operator, operator.plans, key, Mixture(plan, besides))


def _plan_of(operator: Any, values: Sequence[Value]) -> Plan | None:
    inputs: tuple[Spec, ...] = tuple([value.spec for value in values])
    alike = len(values) < 3 and values[0].spec is values[-1].spec
    key = values[0].spec if alike else inputs
    plan = operator.plans.get(key)
    if plan is None:
        plan = make_plan(operator, {}, inputs)
        if plan is not None:
            keep(operator, operator.plans, key, plan)
    return plan


def _learn_ranks(operator: Any, args: Sequence[Any], values: tuple[Value, ...]) -> None:
    """Learn how the operand of lower rank is brought to the rank of the other one."""
    expand = runtime.roles["expand_dims"]
    for n, (arg, value) in enumerate(zip(args, values, strict=True)):
        if len(args) != 2 or not isinstance(arg, runtime.value) or arg.dtype != value.dtype:
            return
        missing = len(value.shape) - len(arg.shape)
        if missing and values[1 - n] is args[1 - n]:
            axes = tuple(range(-len(value.shape), missing - len(value.shape)))
            plan = make_plan(expand, {"axes": axes}, (arg.spec,))
            keep(operator, operator.ranks, (args[0].spec, args[1].spec), (n, plan))


def _forget() -> None:
    """Drop all plans: settings that kernels depend on have changed."""
    for owner in list(_planned):
        owner.forget_plans()


on_change(_forget)
