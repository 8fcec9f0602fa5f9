"""Functions of one tensor and options, as the operators that they come to: found once for each
shape, dtype and options."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from .deferred import view
from .direct import apply_one
from .learned import keep, make_plan
from .record import mode, runtime, unusual
from .recorder import finder_of

_ALIKE = frozenset({int, type(None), type(Ellipsis)})


class Steps:
    """A function of one tensor that applies operators one after the other.

    Functions write ``call(x, *options)``: options that are integers, ``None``, slices or tuples of
    them are remembered, and after some time found without Python.

    Parameters
    ----------
    resolve : callable
        ``resolve(x, *options)`` returns pairs of an operator and its static parameters. It may look
        at the shape and dtype of ``x`` and raises where the options are wrong.
    """

    __slots__ = ("__weakref__", "call", "plans", "recorders", "resolve")

    def __init__(self, resolve: Callable[..., Sequence[tuple[Any, dict[str, Any]]]]) -> None:
        self.resolve = resolve
        self.plans: dict[Hashable, Any] = {}
        self.recorders: dict[Hashable, Any] = {}
        self.call: Callable[..., Any] = self._call

    def _call(self, x: Any, *options: Any) -> Any:
        """Return the result for ``x``, a tensor."""
        key = _key(x.spec, options)
        if key is None:
            return self._general(x, options)
        plans = self.plans.get(key)
        if plans is None or type(x) is not runtime.value:
            result = self._general(x, options)
            if type(x) is runtime.value:
                self._learn(x, options, key)
            return result
        if unusual and mode.plain_capture is not None:
            return self._later(x, plans)
        for plan in plans:
            x = apply_one(plan, x)
        if key not in self.recorders:
            self._hand_over(key, plans)
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
            plan.depth = 1  # the user calls the function that calls
            plans.append(plan)
            spec = plan.spec
        keep(self, self.plans, key, tuple(plans))

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


def _key(spec: Any, options: Any) -> tuple[Any, ...] | None:
    """Return a spec and options as a key, ``None`` where there is none.

    A slice becomes its type and its bounds, a tuple its type, its length and its items. Types are
    exact: ``True`` and ``1.0`` are equal to 1, but they are other options.
    """
    key = [spec]
    for item in options:
        kind = type(item)
        if kind in _ALIKE:
            key.append(item)
        elif kind is slice:
            bounds = (item.start, item.stop, item.step)
            if not _ALIKE.issuperset(map(type, bounds)):
                return None
            key += (slice, *bounds)
        elif kind is tuple or kind is list:
            inner = _key(tuple, item)
            if inner is None:
                return None
            key += (tuple, len(item), *inner[1:])
        else:
            return None
    return tuple(key)
