"""Functions of tensors and options, as the operators that they come to: found once for all
arguments with the same shapes, dtypes and options."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from ..._declare.operator import MOST_PLANS
from ...process.bounded_dict import Bounded
from .apply import mode, runtime, unusual
from .compiled_recorder import finder_of
from .deferred import view
from .dispatch import apply_anew, apply_one, apply_plan
from .guards import seen
from .operands import with_constants
from .plan import comes_again, keep, make_plan

_ALIKE = frozenset({int, str, type(None), type(Ellipsis)})
Pairs = Sequence[tuple[Any, ...]]


class _Wired(tuple[tuple[Any, Sequence[int], Sequence[int]], ...]):
    """Plans, each with the numbers of the tensors and the earlier results that it reads, and those
    of the results that nobody reads after it."""


class Steps:
    """A function that applies operators one after the other, the first to all its tensors, or each
    to those that it says.

    Functions write ``call(x, *options)``, or ``call(sequence, *options)`` for several tensors.
    Options that are integers, texts, booleans, ``None``, slices or tuples of them are remembered,
    and after some time found without Python.

    Parameters
    ----------
    resolve : callable
        Takes the arguments and returns pairs of an operator and its static parameters. It may look
        at the shapes and dtypes of tensors and raises where the options are wrong. Where there is a
        ``general``, triples say what each operator reads, without any conversion: the numbers of
        tensors among the arguments, and behind them of the results so far.
    general : callable, optional
        Does what the function does with arguments of any kind. Then ``resolve`` returns nothing
        where there is more to do than to apply operators to all tensors among the arguments.
    arrays : {"read", "unread"}, optional
        With ``general``: arrays of the user's beside tensors are operands, which a derivative reads
        or does not.
    """

    __slots__ = ("__weakref__", "arrays", "call", "general", "plans", "recorders", "resolve")

    def __init__(
        self,
        resolve: Callable[..., Pairs],
        general: Callable[..., Any] | None = None,
        *,
        arrays: str | None = None,
    ) -> None:
        self.resolve, self.general, self.arrays = resolve, general, arrays
        self.plans: dict[Hashable, Any] = Bounded(MOST_PLANS)
        self.recorders: dict[Hashable, Any] = Bounded(MOST_PLANS)
        self.call: Callable[..., Any] = self._call

    def _call(self, *args: Any) -> Any:
        """Return the result for tensors and options."""
        if unusual:
            if self.general is not None:
                return self.general(*args)
            seen(args)
        values: list[Any] = []
        key = key_of_arguments(args, values)
        if key is None and self.arrays is not None:
            args = with_constants(args, self.arrays == "read")
            key = key_of_arguments(args, values := [])
        if self.general is None and len(values) > 1:
            key = None  # an option that is a tensor: what it comes to depends on its number
        plans = None if key is None else self.plans.get(key)
        if plans is None:
            return self._unknown(args, key, values)
        if type(plans) is _Wired:
            for plan, reads, last in plans:
                values.append(apply_plan(plan, [values[n] for n in reads]))
                for n in last:
                    values[n] = None
            return values[-1]
        if unusual and mode.plain_capture is not None:
            return self._later(values[0], plans)
        x = values[0]
        for plan in plans:
            x = apply_plan(plan, values)
            values = [x]
        if key not in self.recorders:
            self._hand_over(key, plans)
        return x

    def _later(self, x: Any, plans: Sequence[Any]) -> Any:
        """Return the result as an expression, in a function that is captured."""
        for plan in plans:
            result = view(plan, x) if plan.step else None
            x = apply_one(plan, x) if result is None else result
        return x

    def _unknown(self, args: Sequence[Any], key: Hashable, values: list[Any]) -> Any:
        """Apply the function to arguments that are met for the first time, or have no key."""
        if self.general is not None:
            result = self.general(*args)
            pairs = self.resolve(*args) if key is not None and values else ()
            results = [None] * len(pairs)
        else:
            result, results, pairs = args[0], [], self.resolve(*args)
            for operator, static in pairs:
                result = apply_anew(operator, result, static)
                results.append(result.spec)
        if key is not None and (pairs or self.general is None) and comes_again(self, key):
            self._learn(values, pairs, key, results)
        return result

    def _learn(
        self, values: Sequence[Any], pairs: Pairs, key: Hashable, results: Sequence[Any]
    ) -> None:
        if unusual and mode.deferring and not all([p[0].is_view for p in pairs]):  # noqa: C419
            return  # no kernel is made for it now
        if any([len(pair) > 2 for pair in pairs]):  # noqa: C419  a list is faster
            self._wire(values, pairs, key)
            return
        if len(values) > 1:
            operator, static = pairs[0]
            prepared = operator.prepare(values, static)
            if any([a is not b for a, b in zip(prepared, values, strict=True)]):  # noqa: C419
                return  # it converts them
        plans, specs = [], tuple([x.spec for x in values])
        for (operator, static), spec in zip(pairs, results, strict=True):
            plan = make_plan(operator, static, specs, spec)
            if plan is None:
                return
            plan.depth = 1  # the user calls the function that calls
            plan.like = operator.alike.get((specs, spec))
            plans.append(plan)
            specs = (plan.spec,)
        keep(self, self.plans, key, tuple(plans))

    def _wire(self, values: Sequence[Any], triples: Pairs, key: Hashable) -> None:
        known, plans = [x.spec for x in values], []
        for operator, static, reads in triples:
            plan = make_plan(operator, static, tuple([known[n] for n in reads]))
            if plan is None:
                return
            plan.depth = 1
            plans.append(plan)
            known.append(plan.spec)
        reads = [triple[2] for triple in triples]
        last = read_last(reads, len(values))
        keep(self, self.plans, key, _Wired(zip(plans, reads, last, strict=True)))

    def _hand_over(self, key: Hashable, plans: Sequence[Any]) -> None:
        """Let the recorders of plans that are used often be found without Python."""
        if all([plan.recorder is not None for plan in plans]):  # noqa: C419  a list is faster
            keep(self, self.recorders, key, tuple([plan.recorder for plan in plans]))
            if self.call == self._call:
                self.call = finder_of(self.recorders, self._call) or self._call

    def forget_plans(self) -> None:
        """Work out anew what is done with values of certain specs."""
        self.plans.clear()
        self.recorders.clear()


def read_last(reads: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Return for each operation which results of others, numbered behind ``count`` tensors, it is
    the last one to read."""
    last: list[list[int]] = []
    later: set[int] = set()
    for numbers in reversed(reads):
        last.insert(0, [n for n in set(numbers) - later if n >= count])
        later.update(numbers)
    return last


def key_of_arguments(items: Any, values: list[Any]) -> tuple[Any, ...] | None:
    """Return what arguments are remembered by, ``None`` where there is nothing; collect the values.

    A value becomes its spec, a boolean its type and itself, a slice its type and bounds, a tuple
    its type, its length and its items. Types are exact: ``True`` and ``1.0`` are equal to 1, but
    they are other options.
    """
    key: list[Any] = []
    for item in items:
        kind = type(item)
        if kind is runtime.value:
            values.append(item)
            key.append(item.spec)
        elif kind in _ALIKE:
            key.append(item)
        elif kind is bool:
            key += (bool, item)
        elif kind is slice:
            bounds = (item.start, item.stop, item.step)
            if not _ALIKE.issuperset(map(type, bounds)):
                return None
            key += (slice, *bounds)
        elif kind is tuple or kind is list:
            inner = key_of_arguments(item, values)
            if inner is None:
                return None
            key += (tuple, len(item), *inner)
        else:
            return None
    return tuple(key)
