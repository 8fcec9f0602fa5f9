"""The dispatch cache: what an operator does with operands of certain kinds, worked out once."""

import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._settings import on_change
from ...process.bounded_dict import Bounded
from ..graph.kind import kind_of
from ..graph.value import CPU, Spec, device_of, goes_anywhere, spec_of
from ..graph.view import ELEMENT, RESULT
from .apply import runtime

_MOST_MET = 1 << 14
_met: set[int] = set()
_planned: weakref.WeakSet[Any] = weakref.WeakSet()  # whatever has plans, and can forget them


class _Nothing(tuple[()]):
    """What derivatives read of many inputs, whichever of them require grad: nothing."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, wanted: Any) -> Any:
        return None


NOTHING = _Nothing()


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
        Records an operation without Python, see `compiled_recorder`; None until there have been
        many ``uses``.
    depth : int
        Of the first frame that may be the user's, seen from the function that calls the recorder.
    like : Plan or None
        One for other static parameters too, which records in the same way, see `alike`.
    mark : Element or None
        What the result is as a view: mostly nothing.
    """

    __slots__ = (
        "compute", "depth", "in_order", "inputs", "kind", "like", "mark", "operator", "outputs",
        "reads", "recorder", "spec", "static", "step", "uses",
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
        scalar = ELEMENT if operator.reads_elements else RESULT
        self.mark = scalar if operator.gives_scalars and not spec.shape else None
        self.recorder: Any = None
        self.like: Plan | None = None
        self.depth = 3
        self.uses = 0
        self.reads: tuple[Any, ...] = ()
        if operator.differentiable and spec.dtype.kind in "fc":
            sets = 2 ** len(inputs) if len(inputs) <= _MOST_READ else 0
            self.reads = tuple([self._reads(mask) for mask in range(sets)]) or NOTHING

    def _reads(self, mask: int) -> tuple[bool, ...] | None:
        needs = [bool(mask >> n & 1) for n in range(len(self.inputs))]
        reads = tuple(self.operator.saves(needs))
        return reads if any(reads) else None


def make_plan(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], spec: Spec | None = None
) -> Plan | None:
    """Work out a plan, with the spec of the result where it is known already; None for what always
    takes the general way."""
    rows = any([spec.rows for spec in inputs])  # noqa: C419  a list is faster
    if operator.nout != 1 or (rows and not operator.is_view):
        return None
    if len(inputs) > _MOST_READ and (len(inputs) > _MOST_INPUTS or _reads_any(operator, inputs)):
        return None
    device = device_of(inputs)
    if rows:
        compute = _unknown
    elif device != CPU:
        if not all([s.device == device or goes_anywhere(s) for s in inputs]):  # noqa: C419
            return None  # as of arrays, which are no tensors
        compute = partial(_elsewhere, operator, static, Bounded(64))
        if operator.is_view:
            compute = partial(_seen, partial(operator.function, **static), Bounded(64))
    else:
        compute = operator.computation(runtime.target, inputs, static)
    if compute is None:
        return None
    if spec is None:
        ((shape, dtype),) = operator.infer(inputs, static)
        spec = spec_of(shape, dtype, rows, device)
    return Plan(operator, static, inputs, spec, compute)


def _seen(function: Any, known: dict[Any, Any], array: Any) -> Any:
    """Return a view of an array of another device; raises where elements have to be copied."""
    return array.seen(function, known)


def _elsewhere(
    operator: Any, static: dict[str, Any], known: dict[Any, Any], *arrays: Any
) -> Any:
    """Apply an operator to arrays of another device; ``known`` keeps the programs of one or two
    arrays, whose specs are those of a plan, by how they lie."""
    first, last = arrays[0], arrays[-1]
    if len(arrays) > 2:
        return runtime.elsewhere(operator, arrays, static)[0]
    key = first.strides, last.strides, first is last
    program = known.get(key)
    if program is None:
        program = known[key] = runtime.program_elsewhere(operator, arrays, static)
    return program(arrays)[0]


_MOST_READ = 4  # a plan has an entry for each set of inputs that require grad
_MOST_INPUTS = 64  # of operators whose derivatives read nothing


def _reads_any(operator: Any, inputs: Sequence[Spec]) -> bool:
    """Whether the derivative reads an input or the result."""
    return operator.differentiable and any(operator.saves([True] * len(inputs)))


def alike(operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], result: Spec) -> Plan:
    """Return a plan for all static parameters with which results are alike: it is given what was
    computed, and they are put in afterwards."""
    key = (inputs, result)
    plan = operator.alike.get(key)
    if plan is None:
        plan = Plan(operator, static, inputs, result, np.asarray)
        plan.kind, plan.depth = False, 2  # type: ignore[assignment]
        keep(operator, operator.alike, key, plan)
    return plan


def _unknown(array: np.ndarray) -> Any:
    """Stand for the function of an array with rows, which is met seldom."""
    raise ValueError("rows")


def comes_again(*key: Any) -> bool:
    """Whether a key was met before: most indices and shapes never come again, and leave only
    this."""
    number = hash(key)
    if number in _met:
        return True
    if len(_met) >= _MOST_MET:
        _met.clear()
    _met.add(number)
    return False


def keep(owner: Any, table: dict[Any, Any], key: Any, plan: Any) -> None:
    """Put a plan into a table of ``owner``, which has a method ``forget_plans``."""
    _planned.add(owner)
    table[key] = plan


def key_of(operands: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Return what a plan is kept by: the specs or descriptors of its operands, that of one or two
    alike alone, and static parameters."""
    if static:
        return (*operands, *static.items())
    return operands[0] if 0 < len(operands) < 3 and operands[0] is operands[-1] else operands


def plan_of(
    operator: Any, static: dict[str, Any], inputs: Sequence[Any], at_once: bool = False
) -> Plan | None:
    """Return the plan for values: one that is kept, or that is made when they are met again, or
    ``at_once``; None where there is none."""
    specs: tuple[Spec, ...] = tuple([value.spec for value in inputs])
    key = key_of(specs, static)
    try:
        plan = operator.plans.get(key)
        if plan is None and (at_once or comes_again(operator, key)):
            plan = make_plan(operator, static, specs)
            if plan is not None:
                keep(operator, operator.plans, key, plan)
    except TypeError:  # a parameter that cannot be hashed
        return None
    return plan


class Mixture:
    """A plan for arguments some of which are first made what the operator takes; see `operands`.

    Attributes
    ----------
    plan : Plan
    operands : tuple
        What makes an operand of each argument; None for one that is taken as it is.
    constants : dict or None
        Of two arguments, one of which is a number: what is known of numbers.
    last : bool
        Whether it is the second one.
    """

    __slots__ = ("constants", "last", "operands", "plan")

    def __init__(self, plan: Plan, operands: Sequence[Any]) -> None:
        self.plan, self.operands = plan, tuple(operands)
        self.last = operands[0] is None
        only = operands[self.last] if len(operands) == 2 and None in operands else None
        self.constants: dict[Any, Any] | None = getattr(only, "known", None)


def _forget() -> None:
    """Drop all plans: settings that kernels depend on have changed."""
    for owner in list(_planned):
        owner.forget_plans()


on_change(_forget)
