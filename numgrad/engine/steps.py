"""Functions of one tensor and options, as the operators that they come to: found once for each
shape, dtype and options."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from .deferred import view
from .direct import apply_one
from .learned import keep, make_plan
from .record import mode, runtime, unusual

_ALIKE = frozenset({int, type(None), type(Ellipsis)})


class Steps:
    """A function of one tensor that applies operators one after the other.

    Parameters
    ----------
    resolve : callable
        ``resolve(x, *options)`` returns pairs of an operator and its static parameters. It may look
        at the shape and dtype of ``x`` and raises where the options are wrong.
    """

    __slots__ = ("__weakref__", "plans", "resolve")

    def __init__(self, resolve: Callable[..., Sequence[tuple[Any, dict[str, Any]]]]) -> None:
        self.resolve = resolve
        self.plans: dict[Hashable, Any] = {}

    def __call__(self, x: Any, *options: Any) -> Any:
        """Return the result for ``x``, a tensor; options that are integers, ``None``, slices or
        tuples of them are remembered."""
        key: Any = options
        for option in options:
            if type(option) not in _ALIKE:
                key = _plain(options)
                break
        if key is None:
            return self._general(x, options)
        plans = self.plans.get((x.spec, key))
        if plans is None or type(x) is not runtime.value:
            result = self._general(x, options)
            if type(x) is runtime.value:
                self._learn(x, options, key)
            return result
        if unusual and mode.plain_capture is not None:
            return self._later(x, plans)
        for plan in plans:
            x = apply_one(plan, x)
        return x

    def _later(self, x: Any, plans: Sequence[Any]) -> Any:
        """Return the result as an expression, in a function that is captured."""
        for plan in plans:
            result = view(plan, x) if plan.step else None
            x = apply_one(plan, x) if result is None else result
        return x

    def _general(self, x: Any, options: tuple[Any, ...]) -> Any:
        for operator, static in self.resolve(x, *options):
            x = operator(x, **static)
        return x

    def _learn(self, x: Any, options: tuple[Any, ...], key: Hashable) -> None:
        plans, spec = [], x.spec
        for operator, static in self.resolve(x, *options):
            if unusual and mode.deferring and not operator.is_view:
                return  # no kernel is made for it now
            plan = make_plan(operator, static, (spec,))
            if plan is None:
                return
            plans.append(plan)
            spec = plan.spec
        keep(self, self.plans, (x.spec, key), tuple(plans))

    def forget_plans(self) -> None:
        """Work out anew what is done with values of certain specs."""
        self.plans.clear()


def _plain(options: Any) -> tuple[Any, ...] | None:
    """Return options as a key, ``None`` where there is none.

    Types are exact: ``True`` and ``1.0`` are equal to 1, but they are other options.
    """
    parts: list[Any] = []
    for item in options:
        kind = type(item)
        if kind is slice:
            bounds = (item.start, item.stop, item.step)
            if not _ALIKE.issuperset(map(type, bounds)):
                return None
            parts.append((slice, bounds))
        elif kind is tuple or kind is list:
            inner = tuple(item) if _ALIKE.issuperset(map(type, item)) else _plain(item)
            if inner is None:
                return None
            parts.append(inner)
        elif kind in _ALIKE:
            parts.append(item)
        else:
            return None
    return tuple(parts)
