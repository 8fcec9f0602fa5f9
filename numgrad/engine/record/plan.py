"""Plans: the kernel, the result's spec and the node of an operator on operands of certain specs.

A plan is worked out once, and applied whenever operands of these specs come again.
"""

import weakref
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._settings import on_change
from ...process.bounded_dict import Bounded
from ..graph.kind import kind_of
from ..graph.value import CPU, Spec, device_of, is_movable_spec, spec_of
from ..graph.view import ELEMENT, RESULT
from .apply import runtime

MOST_PLANS = 1 << 13  # of one operator, such as for indices in a loop; 2 to 5 kB each
_MOST_MET = 1 << 14
_met: set[int] = set()
_planned: weakref.WeakSet[Any] = weakref.WeakSet()  # all objects with plans and `forget_plans`


class _Nothing(tuple[()]):
    """The attribute ``reads`` of a plan with many inputs whose derivative reads no value.

    A tuple would need too many entries, one for each set of inputs that require grad. This object
    has the entry None at any index instead.
    """

    __slots__ = ()

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, wanted: Any) -> Any:
        return None


NOTHING = _Nothing()


class Plan:
    """The application of an operator with certain static parameters to values of certain specs.

    Attributes
    ----------
    compute : callable
        Takes the arrays of the operands and returns the array of the result.
    in_order : callable or None
        A faster ``compute`` for arrays in C order.
    spec : Spec
        The spec of the result.
    reads : tuple
        What the derivative reads, indexed by the bit mask of the inputs that require grad. An entry
        says for each input, and at last for the result, whether it is read; None if nothing is
        read. The tuple is empty if the result has no gradient.
    step : tuple
        For a view operator the chain ``((operator, static),)`` from the operand to the view; else
        empty.
    operator, static, inputs, outputs, kind
        The attributes of the recorded nodes.
    recorder : callable or None
        A compiled function that records an operation, see `compiled_recorder`; None until there
        have been many ``uses``.
    depth : int
        How many frames above the recorder's caller the search for the user's frame begins.
    like : Plan or None
        The plan of `shared_plan` for the same specs. It records the operation where this plan's own
        recorder does not.
    mark : Element or None
        The mark of a result that NumPy has as a scalar; else None.
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
    """Return a new plan; None if the operator or the operands always need the general way of
    `dispatch`.

    ``spec`` is the spec of the result, where it is known already.
    """
    rows = any([spec.rows for spec in inputs])  # noqa: C419  a list is faster
    if operator.nout != 1 or (rows and not operator.is_view):
        return None
    if len(inputs) > _MOST_READ and (len(inputs) > _MOST_INPUTS or _reads_any(operator, inputs)):
        return None
    device = device_of(inputs)
    if rows:
        compute = _refuse_rows
    elif device != CPU:
        if not all([s.device == device or is_movable_spec(s) for s in inputs]):  # noqa: C419
            return None  # an array of the host beside tensors of a device
        compute = partial(_device_apply, operator, static, Bounded(64))
        if operator.is_view:
            compute = partial(_device_view, partial(operator.function, **static), Bounded(64))
    else:
        compute = operator.computation(runtime.target, inputs, static)
    if compute is None:
        return None
    if spec is None:
        ((shape, dtype),) = operator.infer(inputs, static)
        spec = spec_of(shape, dtype, rows, device)
    return Plan(operator, static, inputs, spec, compute)


def _device_view(function: Any, known: dict[Any, Any], array: Any) -> Any:
    """Return the view that ``function`` makes of an array of a device; ``known`` is a cache of such
    views.

    A ValueError is raised if the elements would have to be copied. See `DeviceArray.seen`.
    """
    return array.seen(function, known)


def _device_apply(
    operator: Any, static: dict[str, Any], known: dict[Any, Any], *arrays: Any
) -> Any:
    """Apply an operator to arrays of a device; ``known`` is a cache of programs.

    All arrays have the specs of one plan, so the programs for one or two arrays differ only by
    their strides, which are the key.
    """
    first, last = arrays[0], arrays[-1]
    if len(arrays) > 2:
        return runtime.apply_on_device(operator, arrays, static)[0]
    key = first.strides, last.strides, first is last
    program = known.get(key)
    if program is None:
        program = known[key] = runtime.program_on_device(operator, arrays, static)
    return program(arrays)[0]


_MOST_READ = 4  # inputs, as a plan has an entry for each set of inputs that require grad
_MOST_INPUTS = 64  # inputs of an operator whose derivative reads nothing


def _reads_any(operator: Any, inputs: Sequence[Spec]) -> bool:
    """Whether the derivative reads an input or the result."""
    return operator.differentiable and any(operator.saves([True] * len(inputs)))


def shared_plan(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], result: Spec
) -> Plan:
    """Return the plan that records an operator on operands of these specs with any static
    parameters.

    The caller computes the array and hands it to the plan, whose ``compute`` returns it unchanged.
    The caller also puts the static parameters of the operation into the node and the view
    afterwards. ``result`` is the spec of the result.
    """
    key = (inputs, result)
    plan = operator.alike.get(key)
    if plan is None:
        plan = Plan(operator, static, inputs, result, np.asarray)
        plan.kind, plan.depth = False, 2  # type: ignore[assignment]
        keep_plan(operator, operator.alike, key, plan)
    return plan


def _refuse_rows(array: np.ndarray) -> Any:
    """Raise a ValueError, with which the caller takes the general way for an operand with rows."""
    raise ValueError("rows")


def was_met_before(*key: Any) -> bool:
    """Return whether a key was met before, and note the key.

    So a plan is made only at the second time, as most indices and shapes are met once.
    """
    number = hash(key)
    if number in _met:
        return True
    if len(_met) >= _MOST_MET:
        _met.clear()
    _met.add(number)
    return False


def keep_plan(owner: Any, table: dict[Any, Any], key: Any, plan: Any) -> None:
    """Put a plan into ``table``, a table of ``owner``.

    When settings change, ``owner.forget_plans()`` is called, which has to empty the table.
    """
    _planned.add(owner)
    table[key] = plan


def plan_key(operands: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Return the key of a plan: the specs or descriptors of its operands, and its static
    parameters.

    Without static parameters one operand, or two with the same spec, have the spec itself as key.
    """
    if static:
        return (*operands, *static.items())
    return operands[0] if 0 < len(operands) < 3 and operands[0] is operands[-1] else operands


def plan_of(
    operator: Any, static: dict[str, Any], inputs: Sequence[Any], at_once: bool = False
) -> Plan | None:
    """Return the plan of an operator for values; None if there is no plan.

    A new plan is made when operands of these specs are met for the second time; with ``at_once``,
    the first time.
    """
    specs: tuple[Spec, ...] = tuple([value.spec for value in inputs])
    key = plan_key(specs, static)
    try:
        plan = operator.plans.get(key)
        if plan is None and (at_once or was_met_before(operator, key)):
            plan = make_plan(operator, static, specs)
            if plan is not None:
                keep_plan(operator, operator.plans, key, plan)
    except TypeError:  # a parameter that cannot be hashed
        return None
    return plan


class Mixture:
    """A plan for arguments of which some have to be converted to operands first; see `operands`.

    Attributes
    ----------
    plan : Plan
        The plan for the converted operands.
    operands : tuple
        For each argument the function that converts it; None for an argument that is an operand
        already.
    constants : dict or None
        If one of two arguments is a number: the operands of the numbers that were met. Else None.
    last : bool
        Whether the second argument is the number.
    """

    __slots__ = ("constants", "last", "operands", "plan")

    def __init__(self, plan: Plan, operands: Sequence[Any]) -> None:
        self.plan, self.operands = plan, tuple(operands)
        self.last = operands[0] is None
        only = operands[self.last] if len(operands) == 2 and None in operands else None
        self.constants: dict[Any, Any] | None = getattr(only, "known", None)


def _forget() -> None:
    """Drop all plans, as settings that kernels depend on have changed."""
    for owner in list(_planned):
        owner.forget_plans()


on_change(_forget)
