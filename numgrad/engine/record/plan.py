"""Plans: how a result is computed and recorded, for one kind of application.

A plan is worked out once, and applied whenever operands of these specs come again. A plan is no
object of its own: `make_plan` fills in attributes of the `Kind`.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..._settings import settings
from ...process.bounded_dict import Bounded
from ..graph.kind import Kind, frozen, interned, keep
from ..graph.value import CPU, Spec, device_of, is_movable_spec, spec_of
from .apply import runtime

MOST_PLANS = 1 << 13
"""The most keys of specs and options for which plans of one function are kept."""

_MOST_MET = 1 << 14
_met: set[int] = set()


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


def make_plan(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], spec: Spec | None = None
) -> Kind | None:
    """Return the kind of an application, with a plan; None if the operator or the operands always
    need the general way of `dispatch`.

    ``spec`` is the spec of the result, where it is known already.
    """
    rows = any([spec.rows for spec in inputs])  # noqa: C419  a list is faster
    if operator.nout != 1 or (rows and not operator.is_view):
        return None
    if _reads_too_many(operator, inputs):
        return None
    device = device_of(inputs)
    if spec is None:
        ((shape, dtype),) = operator.infer(inputs, static)
        spec = spec_of(shape, dtype, rows, device)
    kind = recordable(operator, static, inputs, spec)
    if not kind.has_plan:
        version = settings.version
        kind.compute, kind.in_order = _computation(operator, static, inputs, device, rows)
        # Last, as other threads look; one of them may have changed the settings meanwhile.
        kind.has_plan = kind.compute is not None and version == settings.version
    return kind if kind.has_plan else None


def recordable(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], spec: Spec
) -> Kind:
    """Return the kind of an application whose result has this spec; its nodes can be recorded."""
    kind = interned(operator, static, inputs, (spec,))
    if kind is None:
        kind = Kind(operator, static, inputs, (spec,))
        kind.is_shared = False  # as a key of the static parameters cannot be made
    if kind.reads is None:
        like = operator.kinds.get((None, inputs, spec))  # that of `shared_plan`
        kind.reads = _reads(operator, inputs, spec) if like is None else like.reads
    return kind


def recordable_later(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...]
) -> Kind | None:
    """Return the kind of an application that is recorded while a function is captured; None if the
    operator or the operands always need the general way."""
    rows = any([spec.rows for spec in inputs])  # noqa: C419  a list is faster
    if operator.nout != 1 or rows or not operator.has_rule or operator.is_python:
        return None
    if _reads_too_many(operator, inputs):
        return None
    device = inputs[0].device if inputs else None
    if device is None or any([spec.device != device for spec in inputs]):  # noqa: C419
        return None
    ((shape, dtype),) = operator.infer(inputs, static)
    kind = recordable(operator, static, inputs, spec_of(shape, dtype, False, device))
    return kind if kind.is_shared else None


def _reads_too_many(operator: Any, inputs: tuple[Spec, ...]) -> bool:
    """Whether an operator has more inputs than a plan has entries for."""
    if len(inputs) <= _MOST_READ:
        return False
    return len(inputs) > _MOST_INPUTS or _reads_any(operator, inputs)


def _reads(operator: Any, inputs: tuple[Spec, ...], spec: Spec) -> tuple[Any, ...]:
    """Return the attribute ``reads`` of a kind."""
    if not operator.differentiable or spec.dtype.kind not in "fc":
        return ()
    found: list[Any] = []
    for mask in range(2 ** len(inputs) if len(inputs) <= _MOST_READ else 0):
        reads = tuple(operator.saves([bool(mask >> n & 1) for n in range(len(inputs))]))
        found.append(reads if any(reads) else None)
    return tuple(found) or NOTHING


def _computation(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], device: str, rows: bool
) -> tuple[Any, Any]:
    """Return a function that computes a result from arrays, and one for arrays in C order only.

    The first is None if there is no such function, the second if it is not faster.
    """
    if rows:
        return _refuse_rows, None
    if device == CPU:
        return computation_of(operator, static, inputs)
    if not all([s.device == device or is_movable_spec(s) for s in inputs]):  # noqa: C419
        return None, None  # an array of the host beside tensors of a device
    if operator.is_view:
        return partial(_device_view, partial(operator.function, **static), Bounded(64)), None
    return partial(_device_apply, operator, static, Bounded(64)), None


def computation_of(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...]
) -> tuple[Any, Any]:
    """Return what `_computation` does, for operands of the CPU without rows."""
    compute = operator.computation(runtime.target, inputs, static)
    return compute if type(compute) is tuple else (compute, None)


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
        return runtime.program_on_device(operator, arrays, static).first(arrays)
    key = first.strides, last.strides, first is last
    program = known.get(key)
    if program is None:
        program = known[key] = runtime.program_on_device(operator, arrays, static)
    return program.first(arrays)


_MOST_READ = 4  # inputs, as a plan has an entry for each set of inputs that require grad
_MOST_INPUTS = 64  # inputs of an operator whose derivative reads nothing


def _reads_any(operator: Any, inputs: Sequence[Spec]) -> bool:
    """Whether the derivative reads an input or the result."""
    return operator.differentiable and any(operator.saves([True] * len(inputs)))


def shared_plan(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], result: Spec
) -> Kind:
    """Return the kind that records an operator on operands of these specs with any static
    parameters.

    The caller computes the array and hands it to the plan, whose ``compute`` returns it unchanged.
    The caller also puts the static parameters of the operation into the node and the view
    afterwards. ``result`` is the spec of the result.
    """
    key = (None, inputs, result)
    kind = operator.kinds.get(key)
    if kind is None:
        kind = Kind(operator, static, inputs, (result,))
        kind.compute, kind.is_settled, kind.has_plan = np.asarray, False, True
        kind.reads = _reads(operator, inputs, result)
        keep(operator, operator.kinds, key, kind)
    return kind


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


def plan_key(operands: tuple[Any, ...], static: dict[str, Any]) -> Any:
    """Return the key by which a plan is found: the specs or descriptors of its operands, and its
    static parameters.

    Without static parameters one operand, or two with the same spec, have the spec itself as key.
    None stands for static parameters that cannot be part of a key.
    """
    if static:
        parameters = frozen(static)
        return None if parameters is None else (parameters, operands)
    return operands[0] if 0 < len(operands) < 3 and operands[0] is operands[-1] else operands


def plan_of(
    operator: Any, static: dict[str, Any], inputs: Sequence[Any], at_once: bool = False
) -> Kind | None:
    """Return the kind of an operator applied to values, with a plan; None if there is no plan.

    A new plan is made when operands of these specs are met for the second time; with ``at_once``,
    the first time.
    """
    specs: tuple[Spec, ...] = tuple([value.spec for value in inputs])
    key = plan_key(specs, static)
    if key is None:
        return None
    kind = operator.kinds.get(key)
    if kind is not None and kind.has_plan:
        return kind
    if not at_once and not was_met_before(operator, key):
        return None
    kind = make_plan(operator, static, specs)
    return None if kind is None else keep(operator, operator.kinds, key, kind)


class Mixture:
    """A plan for arguments of which some have to be converted to operands first; see `operands`.

    Attributes
    ----------
    plan : Kind
        The kind of the application to the converted operands.
    operands : tuple
        For each argument the function that converts it; None for an argument that is an operand
        already.
    constants : dict or None
        If one of two arguments is a number: the operands of the numbers that were met. Else None.
    last : bool
        Whether the second argument is the number.
    numbers : int
        The arguments that are numbers, as bits.
    """

    __slots__ = ("constants", "last", "numbers", "operands", "plan")

    def __init__(self, plan: Kind, operands: Sequence[Any]) -> None:
        self.plan, self.operands = plan, tuple(operands)
        self.last = operands[0] is None
        only = operands[self.last] if len(operands) == 2 and None in operands else None
        self.constants: dict[Any, Any] | None = getattr(only, "known", None)
        self.numbers = sum([hasattr(each, "known") << n for n, each in enumerate(operands)])
