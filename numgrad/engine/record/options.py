"""Functions of tensors and options: which operators to apply is worked out once for each key.

The key is made of the specs of the tensors and of the options, such as axes, shapes or indices. The
plans of the operators are kept under the key.
"""

from collections.abc import Callable, Hashable, Sequence
from math import copysign
from typing import Any

from ...process.bounded_dict import Bounded
from ..graph.kind import keep
from .apply import mode, other_modes, runtime
from .compiled_recorder import direct_recorder_of, finder_of, numbered
from .deferred import apply_deferred, view
from .dispatch import apply_one, apply_plan, apply_unplanned
from .guards import guarded
from .operands import with_constants, with_user_arrays
from .plan import MOST_PLANS, make_plan, recordable_later, was_met_before

_ALIKE = frozenset({int, str, type(None), type(Ellipsis)})
Pairs = Sequence[tuple[Any, ...]]


class _Wired(tuple[tuple[Any, Sequence[int], Sequence[int]], ...]):
    """Plans to be applied one after the other, each with two lists of numbers.

    The first list says which values the plan reads: tensors among the arguments are numbered first,
    and then the results of plans. The second list has those results that no later plan reads.
    """


class Steps:
    """A function that applies operators one after the other, with a cache of their plans.

    The first operator is applied to all tensors among the arguments, each further one to the result
    before it. Functions write ``call(x, *options)``, or ``call(sequence, *options)`` for several
    tensors. Plans are kept for options that are integers, strings, booleans, ``None``, slices or
    tuples of them; after many calls they are found by compiled code.

    Parameters
    ----------
    resolve : callable
        Takes the arguments and returns a pair for each operator: the operator and its static
        parameters. ``resolve`` may look at the shapes and dtypes of tensors and raises where the
        options are wrong. If there is a ``general``, triples are allowed. The third item says which
        values the operator reads, without conversion; the tensors among the arguments are numbered
        first, then the results.
    general : callable, optional
        Applies the function to arguments of any kind. Then ``resolve`` returns nothing where the
        function does more than apply operators to the tensors among the arguments.
    arrays : {"read", "unread", "items"}, optional
        Only with ``general``: arrays of the user beside tensors are operands, too; see
        `with_constants`.
    """

    __slots__ = (
        "__weakref__", "arrays", "call", "captured", "general", "plans", "recorders", "resolve",
    )  # fmt: skip

    def __init__(
        self,
        resolve: Callable[..., Pairs],
        general: Callable[..., Any] | None = None,
        *,
        arrays: str | None = None,
    ) -> None:
        self.resolve, self.general, self.arrays = resolve, general, arrays
        self.plans: dict[Hashable, Any] = Bounded(MOST_PLANS)
        self.captured: dict[Hashable, Any] = Bounded(MOST_PLANS)
        self.recorders: dict[Hashable, Any] = Bounded(MOST_PLANS)
        self.call: Callable[..., Any] = self._call

    def _call(self, *args: Any) -> Any:
        """Apply the function to tensors and options, by the plans that are kept under their key, if
        any."""
        if other_modes:
            if mode.plain_capture is not None:
                return self._call_captured(args)
            if self.general is not None:
                return self.general(*args)
            guarded(args)
        values: list[Any] = []
        key = key_of_arguments(args, values)
        if key is None and self.arrays is not None:
            args = with_constants(args, self.arrays)
            key = key_of_arguments(args, values := [])
        if self.general is None and len(values) > 1:
            key = None  # an option is a tensor: the operators depend on its elements
        plans = None if key is None else self.plans.get(key)
        if plans is None:
            return self._call_unplanned(args, key, values)
        if type(plans) is _Wired:
            for plan, reads, last in plans:
                values.append(apply_plan(plan, [values[n] for n in reads]))
                for n in last:
                    values[n] = None
            if key not in self.recorders:
                self._enter_recorders(key, plans)
            return values[-1]
        x = values[0]
        for plan in plans:
            x = apply_plan(plan, values)
            values = [x]
        if key not in self.recorders:
            self._enter_recorders(key, plans)
        return x

    def _call_captured(self, args: tuple[Any, ...]) -> Any:
        """Apply the function while a function is captured: its operators are recorded by plans that
        need no kernels."""
        values: list[Any] = []
        key, taken = key_of_arguments(args, values), None
        if key is None and self.arrays is not None:
            taken = with_user_arrays(args, self.arrays == "items")
            key = key_of_arguments(taken, values := [])
        if key is None or not values or (self.general is None and len(values) > 1):
            return self._call_generally(args)
        plans = self.captured.get(key)
        if plans is None and was_met_before(self, "captured", key):
            args = args if taken is None else taken
            plans, result = self._captured_plans(args, values)
            keep(self, self.captured, key, plans)
            return result if plans else self._call_generally(args)
        if not plans:
            return self._call_generally(args)
        for plan, reads in plans:
            values.append(_deferred(plan, tuple([values[n] for n in reads])))
        return values[-1]

    def _call_generally(self, args: tuple[Any, ...]) -> Any:
        """Apply the function while a function is captured, without plans."""
        if self.general is not None:
            return self.general(*args)
        guarded(args)
        result = args[0]
        for operator, static in self.resolve(*args):
            result = operator(result, **static)
        return result

    def _captured_plans(
        self, args: tuple[Any, ...], values: Sequence[Any]
    ) -> tuple[Sequence[tuple[Any, Sequence[int]]], Any]:
        """Apply the operators one by one; return the plans that record them, each with the numbers
        of the values that the plan reads, and the result.

        There are no plans if an operator needs the general way.
        """
        known, plans = list(values), []
        for operator, static, *reads in self.resolve(*args):
            last = (len(known) - 1,) if plans else range(len(values))
            read = tuple(reads[0] if reads else last)
            operands = [known[n] for n in read]
            plan = _plan_without_conversions(operator, static, operands)
            if plan is None:
                return (), None
            plans.append((plan, read))
            known.append(operator(*operands, **static))
        return plans, known[-1]

    def _call_unplanned(self, args: tuple[Any, ...], key: Hashable, values: list[Any]) -> Any:
        """Apply the function to arguments without kept plans; make plans if the arguments are met
        again."""
        comes_again = key is not None and was_met_before(self, key)
        if self.general is not None:
            result = self.general(*args)
            pairs = self.resolve(*args) if comes_again and values else ()
            if pairs:
                self._learn(values, pairs, key, [None] * len(pairs))
            return result
        result, results, pairs = args[0], [], self.resolve(*args)
        for operator, static in pairs:
            result = apply_unplanned(operator, result, static)
            results.append(result.spec)
        if comes_again:
            self._learn(values, pairs, key, results)
        return result

    def _learn(
        self, values: Sequence[Any], pairs: Pairs, key: Hashable, results: Sequence[Any]
    ) -> None:
        if any([len(pair) > 2 for pair in pairs]):  # noqa: C419  a list is faster
            self._wire(values, pairs, key)
            return
        if len(values) > 1:
            operator, static = pairs[0]
            prepared = operator.prepare(values, static)
            if any([a is not b for a, b in zip(prepared, values, strict=True)]):  # noqa: C419
                return  # the operator converts its operands
        plans, specs = [], tuple([x.spec for x in values])
        for (operator, static), spec in zip(pairs, results, strict=True):
            plan = make_plan(operator, static, specs, spec)
            if plan is None:
                return
            plan.like = operator.kinds.get((None, specs, spec))
            plans.append(plan)
            specs = (plan.spec,)
        keep(self, self.plans, key, tuple(plans))

    def _wire(self, values: Sequence[Any], triples: Pairs, key: Hashable) -> None:
        known, plans = [x.spec for x in values], []
        for operator, static, reads in triples:
            plan = make_plan(operator, static, tuple([known[n] for n in reads]))
            if plan is None:
                return
            plans.append(plan)
            known.append(plan.spec)
        reads = [triple[2] for triple in triples]
        last = last_reads(reads, len(values))
        keep(self, self.plans, key, _Wired(zip(plans, reads, last, strict=True)))

    def _enter_recorders(self, key: Hashable, known: Sequence[Any]) -> None:
        """Let the compiled finder find the recorders of known plans, if each plan has its recorder
        already."""
        is_wired = type(known) is _Wired
        plans = [plan for plan, _, _ in known] if is_wired else known
        if not all([plan.recorder is not None for plan in plans]):  # noqa: C419  a list is faster
            return
        found: Any = tuple(map(direct_recorder_of, plans))
        if is_wired and None not in found:
            found = numbered(found, [reads for _, reads, _ in known], [last for *_, last in known])
        if found is None or None in found:
            return
        keep(self, self.recorders, key, found)
        if self.call == self._call:
            self.call = finder_of(self.recorders, self._call) or self._call

    def forget_plans(self) -> None:
        """Drop all plans and recorders, as settings that kernels depend on have changed."""
        self.plans.clear()
        self.captured.clear()
        self.recorders.clear()


def _plan_without_conversions(
    operator: Any, static: dict[str, Any], operands: Sequence[Any]
) -> Any:
    """Return the plan that records an operator while a function is captured; None if the operator
    converts its operands, or if they need the general way."""
    prepared = operator.prepare(operands, static) if operator.converts else operands
    if any([a is not b for a, b in zip(prepared, operands, strict=True)]):  # noqa: C419
        return None
    return recordable_later(operator, static, tuple([x.spec for x in operands]))


def _deferred(plan: Any, values: tuple[Any, ...]) -> Any:
    """Return the result of a plan while a function is captured."""
    if not plan.step:
        return apply_deferred(plan, values)
    result = view(plan, *values)
    return apply_one(plan, *values) if result is None else result


def last_reads(reads: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Return for each operation those results among its operands that no later operation reads.

    ``reads`` has the numbers of each operation's operands. Results are numbered from ``count`` on,
    in the order of the operations; smaller numbers are those of values that were there before.
    """
    last: list[list[int]] = []
    later: set[int] = set()
    for numbers in reversed(reads):
        last.insert(0, [n for n in set(numbers) - later if n >= count])
        later.update(numbers)
    return last


def key_of_arguments(
    items: Any, values: list[Any], marks: bool = False
) -> tuple[Any, ...] | None:
    """Return the key of arguments, and append the tensors among them to ``values``.

    In the key a tensor is its spec, a boolean or a float its type and itself, a slice its type and
    bounds, a tuple its type, its length and its items. Types are exact: ``True`` and ``1.0`` are
    equal to 1, but they are other options. For ``-0.0`` and a NaN there are their digits. With
    ``marks`` the spec of a tensor is followed by whether it requires grad, whether it is a scalar,
    and the type and number of each one before it that is the same tensor. The result is ``None`` if
    an argument is of another type.
    """
    key: list[Any] = []
    for item in items:
        kind = type(item)
        if kind is runtime.value:
            key.append(item.spec)
            if marks:
                key += (item.requires_grad, item.is_scalar)
                for n, other in enumerate(values):
                    if other is item:
                        key += (kind, n)
            values.append(item)
        elif kind in _ALIKE:
            key.append(item)
        elif kind is bool:
            key += (bool, item)
        elif kind is float:
            key += (float, item if _is_found_again(item) else item.hex())
        elif kind is slice:
            bounds = (item.start, item.stop, item.step)
            if not _ALIKE.issuperset(map(type, bounds)):
                return None
            key += (slice, *bounds)
        elif kind is tuple or kind is list:
            inner = key_of_arguments(item, values, marks)
            if inner is None:
                return None
            key += (tuple, len(item), *inner)
        else:
            return None
    return tuple(key)


def _is_found_again(number: float) -> bool:
    """Whether a float can be a key: a NaN equals nothing, and -0.0 equals 0.0."""
    return number > 0.0 or number < 0.0 or copysign(1.0, number) > 0.0 == number
