"""Compositions: functions made of several operators, whose operations are noted and applied again.

The operations are noted once for all arguments with the same specs and options, and are applied by
their plans from then on. A *source* is a value that no noted operation has made: an argument, a
constant, or a saved value.
"""

from collections.abc import Callable, Hashable, Sequence
from functools import partial, wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, TypeVar

from numpy import ndarray

from ...process.bounded_dict import Bounded
from ..graph.kind import Kind, keep
from ..graph.value import CPU, Value
from ..graph.view import Element
from .apply import apply, changing, other_modes
from .compiled_recorder import direct_recorder_of, finder_of, numbered
from .dispatch import apply_plan
from .operands import constant, with_constants
from .options import key_of_arguments, last_reads
from .plan import MOST_PLANS, was_met_before
from .several import apply_several, is_single, plan_for

P = ParamSpec("P")
R = TypeVar("R")


class Operation(NamedTuple):
    """A noted application of an operator.

    ``reads`` has an entry for each operand: the number of a source, or a pair of the number of an
    earlier operation and the number of one of its results.
    """

    operator: Any
    static: dict[str, Any]
    reads: Sequence[Any]
    inputs: Sequence[Value]
    outputs: Sequence[Value]


class PlanStep(NamedTuple):
    """A noted operation in the form in which it is applied to other values.

    Attributes
    ----------
    plan : Kind or None
        What is applied; without a plan, the operator is.
    operator : object
        The operator; None for the step that detaches its operand.
    reads : tuple of int
        The numbers of the operands. All sources are numbered first, then all results.
    last : sequence of int
        Those of the operands that are results and that no later step reads: they are let go
        afterwards.
    """

    plan: Kind | None
    operator: Any
    static: dict[str, Any]
    reads: tuple[int, ...]
    last: Sequence[int] = ()


class Operations:
    """The operations that are applied while a function runs or a pass is recorded.

    Attributes
    ----------
    is_whole : bool
        Whether the operations can be applied to other values: all operands are arguments, results
        of other operations, or constants that share no memory with any of them.
    sources : list
        What to put in the place of each source when the operations are applied again: the number of
        an argument or seed, a `SavedRead`, or for a constant the value itself.
    """

    def __init__(self) -> None:
        self.is_whole = True
        self.sources: list[Any] = []
        self.steps: list[Operation] = []
        self._places: dict[int, Any] = {}  # by id of a value: as in ``Operation.reads``
        self._alive: list[Any] = []  # keeps values alive, so that no id comes twice
        self._memory: set[int] = set()  # of sources and results, as `memory_of` returns it

    def add_source(self, value: Value, source: Any) -> int:
        """Note that ``value`` is a source, and return its number.

        ``source`` becomes the entry of this value in the list ``sources``.
        """
        self._places[id(value)] = len(self.sources)
        self._alive.append(value)
        self.sources.append(source)
        return len(self.sources) - 1

    def applied(
        self, operator: Any, static: dict[str, Any], inputs: Sequence[Value], outputs: Sequence[Any]
    ) -> None:
        """Note an operation with its operands and results."""
        reads = [self._place(value) for value in inputs]
        self.steps.append(Operation(operator, static, reads, inputs, outputs))
        for slot, value in enumerate(outputs):
            self._places[id(value)] = (len(self.steps) - 1, slot)
            self._memory.add(memory_of(value.array))

    def note_read(self, value: Value) -> None:
        """Note that Python reads elements of a value: the operations are not applied to other
        values then.

        With other elements, Python might have applied other operations.
        """
        self.is_whole = False

    def _place(self, value: Value) -> Any:
        place = self._places.get(id(value))
        if place is not None:
            return place
        is_constant = value.array is not None and not value.requires_grad
        if not is_constant or memory_of(value.array) in self._memory:
            self.is_whole = False
        return self.add_source(value, value)

    def place_of_result(self, value: Value) -> tuple[int, int] | None:
        """Return the number of the operation that has made a value, and the number of the value
        among its results; None for a source."""
        place = self._places.get(id(value))
        return place if isinstance(place, tuple) else None

    def numbered(self) -> tuple[list[tuple[int, ...]], list[int]]:
        """Number all values, first the sources and then the results, and return two lists.

        The first list has for each operation the numbers of its operands, the second list the
        number of its first result.
        """
        firsts: list[int] = []
        count = len(self.sources)
        for step in self.steps:
            firsts.append(count)
            count += len(step.outputs)
        reads = [
            tuple([p if type(p) is int else firsts[p[0]] + p[1] for p in step.reads])
            for step in self.steps
        ]
        return reads, firsts


def memory_of(array: Any) -> int:
    """Return the id of the object that owns the memory of an array: the same for all views of an
    array."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return id(array)


class _FunctionOperations(Operations):
    """The operations that a function applies to its arguments.

    A tensor that the function detaches is noted, too, as the result of an operation without an
    operator. A result of constants alone is a constant.
    """

    def __init__(self, values: Sequence[Value]) -> None:
        super().__init__()
        self._by_array: dict[int, Any] = {}
        for n, value in enumerate(values):
            self._by_array[id(value.array)] = self.add_source(value, n)
            self._memory.add(memory_of(value.array))

    def applied(
        self, operator: Any, static: dict[str, Any], inputs: Sequence[Value], outputs: Sequence[Any]
    ) -> None:
        if inputs and all([self._is_constant(value) for value in inputs]):  # noqa: C419
            for value in outputs:
                self.add_source(value, value)
            return
        super().applied(operator, static, inputs, outputs)
        for slot, value in enumerate(outputs):
            self._by_array.setdefault(id(value.array), (len(self.steps) - 1, slot))

    def note_read(self, value: Value) -> None:
        """Note that Python reads elements of a value, unless it is a constant: the elements of a
        constant are the same at each call."""
        if not self._is_constant(value):
            self.is_whole = False

    def _is_constant(self, value: Value) -> bool:
        place = self._place(value)
        return type(place) is int and type(self.sources[place]) is not int

    def _place(self, value: Value) -> Any:
        place = self._by_array.get(id(value.array))
        if place is None or id(value) in self._places or value.requires_grad:
            return super()._place(value)
        self.steps.append(Operation(None, {}, (place,), (), (value,)))
        self._alive.append(value)
        self._places[id(value)] = (len(self.steps) - 1, 0)
        return self._places[id(value)]


class _Composed(NamedTuple):
    """The noted operations of a function, to be applied to other arguments with the same specs and
    options."""

    sources: Sequence[Value | int]  # constants, and the numbers of arguments
    steps: Sequence[PlanStep]
    results: Sequence[tuple[int, Element | None]]  # the number of each, and its mark as a scalar
    kind: Callable[[Sequence[Any]], Any] | None  # makes a tuple of several results
    is_recordable: bool  # whether a finder can apply the operations, see `_is_recordable`

    def recorders(self) -> Any:
        """Return the operations in the form in which a finder applies them.

        The result is None as long as one of them has no recorder, and False if a finder cannot
        apply them.
        """
        called: list[Any] = []
        for step in self.steps:
            plan = step.plan
            if plan is not None and plan.recorder is None:
                return None
            called.append(Value.detached if plan is None else direct_recorder_of(plan))
        reads, last = [step.reads for step in self.steps], [step.last for step in self.steps]
        ((n, mark),) = self.results
        made = self.steps[-1].plan
        is_last = n == len(self.sources) + len(called) - 1
        if not is_last or (mark is not None and (made is None or made.mark is not mark)):
            called.append(partial(_marked, mark))
            reads.append((n,))
            last.append(())
        used = {number for numbers in reads for number in numbers}
        kept = [k for k, x in enumerate(self.sources) if type(x) is int or k in used]
        new = {k: place for place, k in enumerate([*kept, *range(len(self.sources), n + 1)])}
        reads, last = ([[new[k] for k in step] for step in steps] for steps in (reads, last))
        constants = [x for k in kept if type(x := self.sources[k]) is not int]
        return (None not in called and numbered(called, reads, last, constants)) or False


def _is_recordable(steps: Sequence[PlanStep]) -> bool:
    """Whether a finder can apply operations: each has a plan of one result, or detaches its
    operand."""
    return all([step.operator is None or is_single(step.plan) for step in steps])  # noqa: C419


def _marked(mark: Element | None, value: Value) -> Value:
    """Return a value; mark it as a scalar first if there is a mark."""
    if mark is not None:
        value._view = mark
    return value


_MOST_COPIED = 4096  # elements of an array that may be copied to be a constant


class Composition:
    """A function that is made of several operators, with the operations that were noted in a call.

    There are notes for each combination of specs and options with which the function was called.

    Attributes
    ----------
    apply : callable
        Applies the function to arguments none of which is given by name: by a finder, once there is
        one.
    recorders, finders : dict
        By the names of the arguments that are given by name: recorders by the key of all arguments,
        and the finder that looks for them there.
    """

    __slots__ = ("__weakref__", "_operands", "apply", "finders", "function", "known", "recorders")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        names = [*signature(function).parameters, "out"]
        self._operands = names.index("out")  # the number of parameters before ``out``
        self.known: dict[Hashable, Any] = Bounded(MOST_PLANS)
        self.recorders: dict[tuple[str, ...], dict[Hashable, Any]] = {}
        self.finders: dict[tuple[str, ...], Callable[..., Any]] = {}
        self.apply: Callable[..., Any] = self._call_positional

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of the function for arguments of which some may be given by name."""
        finder = self.finders.get(tuple(kwargs))
        return self._call(args, kwargs) if finder is None else finder(*args, *kwargs.values())

    def _call_positional(self, *args: Any) -> Any:
        return self._call(args, {})

    def _call_flat(self, names: tuple[str, ...], *args: Any) -> Any:
        """Return the result of the function; the last arguments are those with the ``names``."""
        count = len(args) - len(names)
        return self._call(args[:count], dict(zip(names, args[count:], strict=True)))

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result of the function; by noted operations, if there are any for arguments
        like these."""
        if other_modes:
            return self.function(*args, **kwargs)
        given = args
        values: list[Any] = []
        flat = key_of_arguments((*args, *kwargs.values()) if kwargs else args, values, True)
        if flat is None and ndarray in map(type, args):
            if any([type(x) is ndarray and x.size > _MOST_COPIED for x in args]):  # noqa: C419
                return self.function(*args, **kwargs)
            args = with_constants(args[: self._operands], "read") + args[self._operands :]
            values = []
            flat = key_of_arguments((*args, *kwargs.values()) if kwargs else args, values, True)
        kinds = None if flat is None else _kinds(values)
        if kinds is None:
            return self.function(*given, **kwargs)
        key = (flat, *kwargs, *kinds)
        known = self.known.get(key)
        if known is not None:
            if not known:
                return self.function(*given, **kwargs)
            if not kinds and known.is_recordable:
                self._enter_recorders(flat, tuple(kwargs), known)
            return _apply_noted(known, values)
        if not values or not was_met_before(self, key):
            return self.function(*given, **kwargs)
        return self._note(key, values, args, kwargs)

    def _note(self, key: Hashable, values: list[Any], args: Any, kwargs: Any) -> Any:
        """Call the function and return its result; note the operations meanwhile, and keep them
        under ``key``."""
        noted = _FunctionOperations(values)
        with changing(trace=noted):
            result = self.function(*args, **kwargs)
        keep(self, self.known, key, _composed(noted, result) or ())
        return result

    def _enter_recorders(self, key: Hashable, names: tuple[str, ...], known: _Composed) -> None:
        """Let a finder find the recorders of noted operations, if each operation has its recorder
        already."""
        recorders = self.recorders.get(names)
        if recorders is None:
            recorders = self.recorders[names] = Bounded(MOST_PLANS)
        if key in recorders:
            return
        found = known.recorders()
        if found is None:
            return
        recorders[key] = found
        if not found or names in self.finders:
            return
        general = partial(self._call_flat, names) if names else self._call_positional
        finder = finder_of(recorders, general, is_marked=True)
        if finder is not None:
            self.finders[names] = finder
            if not names:
                self.apply = finder

    def forget_plans(self) -> None:
        """Drop all noted operations, as settings that kernels depend on have changed."""
        self.known.clear()
        for recorders in self.recorders.values():
            recorders.clear()


def composed(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function like ``function`` that notes its operations once, and later applies them
    instead.

    The operations may depend on the specs of the tensors and on the options alone, never on an
    element. ``function`` must write nothing in place, and must return nothing but results of
    operators.
    """
    known = Composition(function)

    @wraps(function)
    def composition(*args: P.args, **kwargs: P.kwargs) -> R:
        return known.call(args, kwargs) if kwargs else known.apply(*args)

    made: Any = composition
    made.__code__ = made.__code__.replace(co_name=function.__name__)  # what errors say
    return composition


def _kinds(values: Sequence[Any]) -> list[Any] | None:
    """Return a list of all that the operations depend on beside the specs of the tensors, their
    marks and the options.

    That is the strides of tensors that are not in C order. The result is None if operations on
    these tensors cannot be noted.
    """
    kinds: list[Any] = []
    for n, x in enumerate(values):
        array = x.array
        if array is None or x.spec.device != CPU:
            return None
        if not array.flags.c_contiguous:
            kinds.append((n, array.strides))
    if len(values) > 1:
        arrays = [id(x.array) for x in values]
        if len(set(arrays)) < len(values):
            places = [arrays.index(array) for array in arrays]
            if any([values[n] is not x for n, x in zip(places, values, strict=True)]):  # noqa: C419
                return None  # in a later call there may be two arrays
    return kinds


def _composed(noted: Operations, result: Any) -> _Composed | None:
    """Return the noted operations of a function in the form in which they are applied again; None
    if other arguments could need other operations."""
    results = result if isinstance(result, tuple) else (result,)
    places = [noted.place_of_result(x) for x in results]
    if not noted.is_whole or None in places:
        return None
    kept, reads, found = _without_identity_views(noted, places)  # type: ignore[arg-type]
    last = last_reads([*reads, found], len(noted.sources))
    steps = []
    for (operator, static, _, inputs, _), read, after in zip(kept, reads, last, strict=False):
        plan = operator and plan_for(operator, static, inputs)
        steps.append(PlanStep(plan, operator, static, read, after))
    return _Composed(
        [x if type(x) is int else constant(x.array.copy("K"), x.spec) for x in noted.sources],
        steps,
        [(n, x._view if x.is_scalar else None) for n, x in zip(found, results, strict=True)],
        _kind(result),
        not isinstance(result, tuple) and _is_recordable(steps),
    )


def _without_identity_views(
    noted: Operations, places: Sequence[tuple[int, int]]
) -> tuple[list[Operation], list[tuple[int, ...]], list[int]]:
    """Return the noted operations without needless views, such as a reshape to the same shape.

    Views among the results of the function stay; ``places`` says which operations made the results.
    Returned are the operations that remain, the numbers of each one's operands, and the numbers of
    the results.
    """
    reads, firsts = noted.numbered()
    found = [firsts[step] + slot for step, slot in places]
    numbers = list(range(len(noted.sources)))  # the new number of a value, by the old one
    count = len(numbers)
    kept, read_by = [], []
    for step, read, first in zip(noted.steps, reads, firsts, strict=True):
        read = tuple([numbers[n] for n in read])
        if first not in found and _is_identity_view(step):
            numbers.append(read[0])
            continue
        numbers += range(count, count := count + len(step.outputs))
        kept.append(step)
        read_by.append(read)
    return kept, read_by, [numbers[n] for n in found]


def _is_identity_view(step: Operation) -> bool:
    if step.operator is None or not step.operator.is_view:
        return False
    x, y = step.inputs[0], step.outputs[0]
    a, b = x.array, y.array
    if a is None or b is None or x.spec is not y.spec:
        return False
    return a.strides == b.strides and a.ctypes.data == b.ctypes.data


def apply_steps(steps: Sequence[PlanStep], values: list[Any]) -> None:
    """Apply noted operations, and append their results to ``values``, which begins with the
    sources."""
    for plan, operator, static, reads, last in steps:
        inputs = [values[n] for n in reads]
        if plan is not None and len(plan.outputs) > 1:
            values += apply_several(plan, inputs)
        elif plan is not None:
            result = None
            if plan.recorder is not None and not other_modes:
                result = _recorded(plan.recorder, inputs)
            values.append(apply_plan(plan, inputs) if result is None else result)
        elif operator is not None:
            values += apply(operator, tuple(inputs), static)
        else:
            values.append(inputs[0].detached())
        for n in last:
            values[n] = None


def _recorded(recorder: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """Return what a recorder makes of operands; None if it declines."""
    try:
        return recorder(*inputs)
    except ValueError:  # an array that cannot be viewed in this way
        return None


def _kind(result: Any) -> Callable[[Sequence[Any]], Any] | None:
    """Return the function that makes a tuple like ``result`` from a sequence; None if ``result`` is
    no tuple."""
    if not isinstance(result, tuple):
        return None
    return getattr(type(result), "_make", type(result))


def _apply_noted(known: _Composed, arguments: Sequence[Any]) -> Any:
    """Apply noted operations to other arguments, and return the results of the function."""
    values: list[Any] = [arguments[x] if type(x) is int else x for x in known.sources]
    apply_steps(known.steps, values)
    for n, mark in known.results:
        if mark is not None:
            values[n]._view = mark
    if known.kind is None:
        return values[known.results[0][0]]
    return known.kind([values[n] for n, _ in known.results])
