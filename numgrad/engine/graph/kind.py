"""Kinds: an operator, its static parameters, and the specs of its inputs and outputs.

There is one object for each kind. Whatever is worked out once for all applications of a kind is
kept there: how the result is computed, what is recorded, and the rules of the derivative.
"""

import weakref
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from ..._settings import on_change
from .spec import Spec
from .view import ELEMENT, RESULT

MOST_KINDS = 1 << 13
"""The most entries of the table ``kinds`` of an operator, such as for indices in a loop; 1 to 5 kB
each."""

_new = object.__new__
_keepers: weakref.WeakSet[Any] = weakref.WeakSet()  # all objects with `forget_plans`
_DTYPES = [type(np.dtype(character)) for character in "?bhilqBHILQefdgFDG"]
_PLAIN = frozenset({int, bool, str, bytes, type(None), *_DTYPES})


class _NotHashableError(Exception):
    """Raised for a static parameter that cannot be part of a hashable key."""


class KeyedStatic(dict[str, Any]):
    """Static parameters that are met again and again, with the key that `frozen` returns for them.

    Nobody may change them.
    """

    __slots__ = ("key",)

    def __init__(self, static: Mapping[str, Any]) -> None:
        super().__init__(static)
        self.key = frozen(static)


def frozen(static: Mapping[str, Any]) -> Hashable:
    """Return a hashable key of static parameters; None if one of them cannot be part of a key.

    Parameters that are equal in Python but not the same have different keys: ``1``, ``1.0`` and
    ``True``, or ``0.0`` and ``-0.0``.
    """
    if type(static) is KeyedStatic:
        return static.key
    parts: list[Hashable] = []
    try:
        for name, value in static.items():
            kind = type(value)
            if kind in _PLAIN:
                parts += (name, kind, value)
            else:
                parts.append(name)
                _add(parts, kind, value)
    except _NotHashableError:
        return None
    return tuple(parts)


def _add(parts: list[Hashable], kind: type, value: Any) -> None:
    """Append the type of a parameter, and what tells it from others of this type, to a key.

    A tuple is followed by its length and its items: no key is the beginning of another one.
    """
    if kind is tuple:
        parts += (kind, len(value))
        for item in value:
            inner = type(item)
            if inner in _PLAIN:
                parts += (inner, item)
            else:
                _add(parts, inner, item)
    elif kind in (float, complex) or isinstance(value, np.number):
        parts += (kind, repr(value))
    elif isinstance(value, np.dtype) or kind.__hash__ is object.__hash__ or callable(value):
        try:
            hash(value)
        except TypeError:
            raise _NotHashableError from None
        parts += (kind, value)
    elif kind is slice:
        parts.append(kind)
        _add(parts, tuple, (value.start, value.stop, value.step))
    else:
        raise _NotHashableError


class Kind:
    """An operator, its static parameters, and the specs of its inputs and outputs.

    Nodes of one kind are differentiated alike and differ only in their edges and saved values.
    Kinds are compared by identity: `interned` mostly returns the same object for equal arguments.

    What the engine learns of a kind is None before somebody needs it. `plan.make_plan` makes the
    *plan* of a kind, which fills in ``reads`` and ``compute``.

    Attributes
    ----------
    has_plan : bool
        Whether there is a plan under the present settings.
    compute : callable
        Takes the arrays of the operands and returns the array of the result.
    in_order : callable
        A faster ``compute`` for arrays in C order; None if there is none.
    spec : Spec
        The spec of the first result.
    reads : tuple
        What the derivative reads, indexed by the bit mask of the inputs that require grad. An entry
        says for each input, and at last for the result, whether it is read; None if nothing is
        read. The tuple is empty if the result has no gradient.
    step : tuple
        For a view operator the chain ``((operator, static),)`` from the operand to the view; else
        empty.
    mark : Element or None
        The mark of a result that NumPy has as a scalar; else None.
    overwrite : callable
        Takes the arrays of the operands, and an array ``out`` for the result, which may be one of
        them; None before somebody writes in place.
    recorder, direct_recorder : callable
        Compiled functions that record an operation, see `compiled_recorder`: one for callers in
        `dispatch`, and one for the finder, whose caller may be the user. They are made after many
        ``uses``.
    captured : dict or None
        Compiled functions that record an operation while a function is captured, by the inputs that
        are numbers, as bits; None before the operation was captured often.
    captures : int
        How often the operation was captured while there were no such functions.
    like : Kind
        The kind of `plan.shared_plan` for the same specs, which records the operation where this
        kind has no recorder of its own.
    is_shared : bool
        Whether all nodes of this kind are differentiated alike. They are not if the operator has no
        rule, or if the static parameters have no key.
    is_settled : bool
        False for a kind made by `loose_kind`, in whose place there may be a shared one.
    rules : dict
        The rules of the derivative, see `derivatives.rules`; valid for settings of ``version``.
    by_position : ByPosition or False
        The stand-in for nodes of this kind that takes the index as data, kept here for
        `dynamic_index`. False if there is no stand-in.
    is_small : dict
        For each limit of the array size whether passes compute nodes of this kind at once.
    family : Family or None
        The kinds that differ from this one by their shape only.
    """

    __slots__ = (
        "__weakref__", "by_position", "captured", "captures", "compute", "direct_recorder",
        "family", "has_plan", "in_order", "inputs", "is_settled", "is_shared", "is_small", "like",
        "mark", "operator", "outputs", "overwrite", "reads", "recorder", "rules", "spec", "static",
        "step", "uses", "version",
    )  # fmt: skip

    def __init__(
        self,
        operator: Any,
        static: dict[str, Any],
        inputs: tuple[Spec, ...],
        outputs: tuple[Spec, ...],
    ) -> None:
        self.operator, self.static, self.inputs, self.outputs = operator, static, inputs, outputs
        self.spec: Any = outputs[0] if outputs else None
        self.is_shared, self.is_settled = operator.has_rule, True
        self.step: tuple[Any, ...] = ((operator, static),) if operator.is_view else ()
        self.family: Any
        scalar = ELEMENT if operator.reads_elements else RESULT
        self.mark = scalar if operator.gives_scalars and outputs and not self.spec.shape else None
        self.forget_plan()
        self.reads: Any = None
        self.compute: Any = None
        self.in_order: Any = None
        self.rules: Any = None
        self.version = 0
        self.by_position: Any = None
        self.is_small: Any = None

    def forget_plan(self) -> None:
        """Forget the plan, as settings have changed; a thread may be using ``compute`` still."""
        self.recorder = self.direct_recorder = self.like = self.overwrite = self.family = None
        self.has_plan, self.uses = False, 0
        self.captured: dict[int, Any] | None = None
        self.captures = 0

    def __repr__(self) -> str:
        return f"<Kind {self.operator.name} {self.static} {self.inputs} -> {self.outputs}>"


class Family:
    """Kinds of an elementwise operator that differ by their shape only, see `record.new_shapes`.

    Attributes
    ----------
    kind : Kind
        The first of these kinds.
    operands : tuple or None
        The functions that convert the arguments, as in a `Mixture`; None if the arguments are
        operands already.
    few : int
        For results of fewer elements all kinds may have the function ``compute`` of the first one,
        if that is a universal function.
    rules : dict
        The rules of the derivative that serve all shapes, see `derivatives.rules`.
    """

    __slots__ = ("few", "kind", "operands", "rules")

    def __init__(self, kind: Kind, operands: tuple[Any, ...] | None, few: int) -> None:
        self.kind, self.operands, self.few = kind, operands, few
        self.rules: dict[Hashable, Any] = {}


def loose_kind(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], outputs: tuple[Spec, ...]
) -> Kind:
    """Return a kind for a single node, of which nothing is filled in but what the node needs.

    Most nodes with such a kind have static parameters that never come again, such as an index.
    `Node.kind` looks for a shared kind when it is first asked for.
    """
    kind = _new(Kind)
    kind.operator, kind.static, kind.inputs, kind.outputs = operator, static, inputs, outputs
    kind.is_shared = kind.is_settled = False
    kind.by_position = None
    return kind


def interned(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], outputs: tuple[Spec, ...]
) -> Kind | None:
    """Return the kind of an application of an operator; None if a static parameter cannot be part
    of a key."""
    parameters: Any = frozen(static) if static else ()
    if parameters is None:
        return None
    key = (parameters, inputs, outputs)
    kind = operator.kinds.get(key)
    if kind is None:
        kind = keep(operator, operator.kinds, key, Kind(operator, static, inputs, outputs))
    return kind


def kind_of(
    operator: Any, static: dict[str, Any], inputs: tuple[Spec, ...], outputs: tuple[Spec, ...]
) -> Kind | None:
    """Return the kind of a node; None if the operator has no rule, or if its static parameters have
    no hashable key."""
    return interned(operator, static, inputs, outputs) if operator.has_rule else None


def keep(keeper: Any, table: dict[Any, Any], key: Hashable, item: Any) -> Any:
    """Put an item into ``table``, a table of ``keeper``; return the item.

    When settings that kernels depend on change, ``keeper.forget_plans()`` is called, which has to
    forget what depends on them.
    """
    if not table:
        _keepers.add(keeper)  # once, as this takes long
    table[key] = item
    return item


def forget_plans(kinds: dict[Any, Any]) -> None:
    """Forget the plans of all kinds in the table of an operator, and how they were found by the
    operands; the kinds themselves stay."""
    for key, kind in list(kinds.items()):
        is_kind = type(kind) is Kind and type(key) is tuple
        if is_kind and key[1:] == (kind.inputs, kind.outputs):  # as in `interned`
            kind.forget_plan()
        else:
            kinds.pop(key, None)


def _forget() -> None:
    """Forget all plans, as settings have changed."""
    for keeper in list(_keepers):
        keeper.forget_plans()


on_change(_forget)
