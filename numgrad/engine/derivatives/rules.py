"""Rules: the derivative of a node as one expression, built once for each kind of node.

An operator's derivative is a Python function that composes operators. The composition depends on
the node's kind (operator, static parameters, specs), on the gradients wanted and on the cotangents
that arrive. So the function is called once for each combination, with placeholders for values, and
a pass puts its own cotangents and saved values in their place.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import copy
from math import prod
from typing import Any
from weakref import ref

import numpy as np

from ..._settings import settings
from ...ir.device_array import as_array
from ...process.bounded_dict import Bounded
from ..graph.kind import Kind
from ..graph.node import Expr, Node, Spec, Value
from ..lower.builder import Builder
from ..lower.lower import lower_one, pending_exprs
from ..record.apply import apply, deferring, grad_mode, runtime
from ..record.compiled_recorder import NO_PARAMETERS, rule_recorder_of
from ..record.plan import plan_of

_OFTEN = 100  # applications of a rule, after which compiled code applies the rule


class _Placeholder:
    """The operator in a placeholder's expression, which is never applied."""

    name = "placeholder"
    is_view = False
    memory_order = None


_PLACEHOLDER = _Placeholder()


class Rule:
    """The derivative of one kind of node: an operator applied to cotangents and saved values.

    Attributes
    ----------
    reads : tuple of int
        The positions of the saved values that the rule reads.
    sources : list
        For each input of the node its gradient: None, the number of a placeholder, an output of the
        rule (negative: ``~slot``), or a constant.
    """

    is_view = False
    memory_order = None
    reads_pieces = True
    has_rule = True  # of `Operator`

    def __init__(
        self,
        name: str,
        placeholders: Sequence[Value],
        reads: tuple[int, ...],
        gradients: Sequence[Value | None],
    ) -> None:
        self.name = name
        self.reads = reads
        self.places = {value.expr: n for n, value in enumerate(placeholders)}
        made = [g for g in gradients if g is not None and g.array is None]
        made = list({(g.expr, g.expr_slot): g for g in made if g.expr not in self.places}.values())
        self.exprs = [e for e in pending_exprs(made) if e not in self.places]
        self.outputs = [(g.expr, g.expr_slot) for g in made]
        self.specs = tuple(g.spec for g in made)
        self.sources = [self._source(g) for g in gradients]
        self.write_into_zeros = self._write_into_zeros()
        self._recipe: Any = None  # made by the first `compute`
        self.maker: Any = None  # see `note_use`
        self._uses = 0

    def _source(self, gradient: Value | None) -> Any:
        if gradient is None or gradient.array is not None:
            return gradient
        if gradient.expr in self.places:
            return self.places[gradient.expr]
        return ~self.outputs.index((gradient.expr, gradient.expr_slot))

    def _write_into_zeros(self) -> tuple[Value, tuple[Any, ...], int] | None:
        """Return the zeros, the key and the number of the placeholder where the rule does nothing
        but write a part of zeros, as the derivative of an index; else None."""
        if len(self.exprs) != 1 or len(self.outputs) != 1:
            return None
        (expr,) = self.exprs
        if expr.operator is not runtime.roles.put_view:
            return None
        (zeros, value), chain = expr.inputs, expr.static["chain"]
        is_index = len(chain) == 1 and chain[0][0] is runtime.roles.index
        if not is_index or zeros.array is None or value.array is not None:
            return None
        if any(zeros.array.strides) or not is_positive_zero(zeros.array):
            return None
        return zeros, dict(chain[0][1])["key"], self.places[value.expr]

    def elsewhere(self, static: Mapping[str, Any]) -> "Rule":
        """Return the rule of an index that reads a part of the same form elsewhere, given the
        static parameters of that index."""
        assert self.write_into_zeros is not None, "the rule of an index"
        (expr,), (zeros, _, place) = self.exprs, self.write_into_zeros
        ((operator, _),) = expr.static["chain"]
        chain = ((operator, tuple(static.items())),)
        put = Expr(expr.operator, {**expr.static, "chain": chain}, expr.inputs, expr.specs)
        made = copy(self)
        made.exprs, made.outputs, made._recipe = [put], [(put, 0)], None
        made.maker, made._uses = None, 0
        made.write_into_zeros = zeros, static["key"], place
        return made

    def lower(
        self, builder: Builder, inputs: Sequence[Any], specs: Sequence[Spec], static: Any
    ) -> list[Any]:
        """Append the instructions of all expressions of the rule to a program."""
        known: dict[Any, Sequence[Any]] = {
            expr: (inputs[n],) for expr, n in self.places.items() if n < len(inputs)
        }

        def operand(value: Value) -> Any:
            if value.array is not None:
                return builder.constant(value.array)
            return known[value.expr][value.expr_slot]

        for expr in self.exprs:
            known[expr] = lower_one(builder, expr, [operand(v) for v in expr.inputs])
        return [known[expr][slot] for expr, slot in self.outputs]

    def apply(self, values: Sequence[Any], site: Any) -> list[Any]:
        """Return the gradients for cotangents and saved values, still to be computed.

        A gradient that is the first output of the rule is returned as an expression, which saves
        making a value.
        """
        outputs: list[Any] = []
        if self.outputs:
            expr = Expr(self, NO_PARAMETERS, values, self.specs)
            expr.site, expr.kind = site, self
            outputs.append(expr)
            if len(self.specs) > 1:
                made = runtime.value.deferred
                outputs += [made(expr, n, spec) for n, spec in enumerate(self.specs) if n]
        return [
            (values[source] if source >= 0 else outputs[~source]) if type(source) is int else source
            for source in self.sources
        ]

    def note_use(self) -> None:
        """Count an application; after `_OFTEN` of them the rule has a ``maker``, which applies the
        rule in compiled code, unless a gradient is a saved value."""
        self._uses += 1
        if self._uses == _OFTEN and all([type(n) is not int or n <= 0 for n in self.sources]):  # noqa: C419
            self.maker = rule_recorder_of(self)

    def replay(self, values: Sequence[Value]) -> list[Value | None]:
        """Return the gradients for cotangents and saved values, by operations that are recorded
        where the grad mode says so."""
        made = self.results(values)
        return [
            (values[source] if source >= 0 else made[~source]) if type(source) is int else source
            for source in self.sources
        ]

    def results(self, values: Sequence[Value]) -> list[Value]:
        """Return the outputs of the rule as `replay` computes them; an expression of the rule may
        stand for another rule, as in the derivative of a captured function."""
        known: dict[Any, Sequence[Value]] = {e: (values[n],) for e, n in self.places.items()}
        for expr in self.exprs:
            inputs = [
                value if value.array is not None else known[value.expr][value.expr_slot]
                for value in expr.inputs
            ]
            if isinstance(expr.operator, Rule):
                known[expr] = expr.operator.results(inputs)
            else:
                known[expr] = apply(expr.operator, tuple(inputs), expr.static)
        return [known[expr][slot] for expr, slot in self.outputs]

    @property
    def serves_all_shapes(self) -> bool:
        """Whether `compute` is right for arrays of any shape, if all of them have one shape.

        So it is if every step calls a universal function, and the constants are single numbers.
        """
        plans = [plan_of(e.operator, e.static, e.inputs, at_once=True) for e in self.exprs]
        constants = [v for expr in self.exprs for v in expr.inputs if v.array is not None]
        return (
            all([source is None or type(source) is int for source in self.sources])  # noqa: C419
            and all([plan is not None and _is_loop(plan.compute) for plan in plans])  # noqa: C419
            and all([value.array.size == 1 for value in constants])  # noqa: C419
        )

    def compute(self, arrays: list[Any]) -> list[np.ndarray | None]:
        """Return the gradients for the arrays of cotangents and saved values, computed at once.

        A gradient may be a given array, or a view of one.
        """
        recipe = self._recipe
        if recipe is None:  # two threads may both make it: the recipes are equal
            recipe = self._recipe = self._made()
        constants, steps, results = recipe
        arrays += constants
        for step in steps:
            call, given = step.compute, [arrays[n] for n in step.reads]
            if call is None:
                arrays += runtime.run(step.operator, given, step.static)
                continue
            try:
                array = call(*given)
            except ValueError:  # strides for which the plan needs a copy of the array
                arrays += runtime.run(step.operator, given, step.static)
                continue
            arrays.append(array if type(array) is np.ndarray else as_array(array))
        return [None if n is None else arrays[n] for n in results]

    def _made(self) -> "tuple[list[np.ndarray], list[_Step], list[int | None]]":
        """Return the recipe of `compute`: constants, steps, and the numbers of the gradients.

        Arrays are numbered: placeholders first, then constants, then the results of the steps.
        """
        numbers: dict[Any, int] = {(expr, 0): n for expr, n in self.places.items()}
        first = len(self.places)
        given = [*self.sources, *(value for expr in self.exprs for value in expr.inputs)]
        arrays = [v.array for v in given if isinstance(v, Value) and v.array is not None]
        constants = list({id(array): array for array in arrays}.values())
        for n, array in enumerate(constants, first):
            array.flags.writeable = False  # so that `is_own` tells it from an array of the pass
            numbers[id(array)] = n
        count, steps = first + len(constants), []
        for expr in self.exprs:
            reads = [numbers[place_of(value)] for value in expr.inputs]
            steps.append(_Step(expr, reads))
            for slot in range(len(expr.specs)):
                numbers[expr, slot] = count
                count += 1
        return constants, steps, [self._number(source, numbers) for source in self.sources]

    def _number(self, source: Any, numbers: dict[Any, int]) -> int | None:
        """Return the number of the array that an entry of `sources` stands for; None for an input
        without a gradient."""
        if source is None:
            return None
        if type(source) is not int:
            return numbers[id(source.array)]
        return source if source >= 0 else numbers[self.outputs[~source]]


def _is_loop(function: Any) -> bool:
    """Whether a function computes each element of its result from those of its operands."""
    return type(function) is np.ufunc and function.signature is None


def is_positive_zero(array: np.ndarray) -> bool:
    """Whether the first element of an array is 0.0, and not -0.0."""
    return array.size > 0 and not array.flat[0] and not np.signbit(array.flat[0].real)


def place_of(value: Any) -> Hashable:
    """Return a key of a value: its expression and output slot, or the id of its array."""
    return (value.expr, value.expr_slot) if value.array is None else id(value.array)


class _Step:
    """An operation of a rule, computed by its operator's plan where it has one."""

    __slots__ = ("compute", "operator", "reads", "static")

    def __init__(self, expr: Expr, reads: Sequence[int]) -> None:
        self.operator, self.static, self.reads = expr.operator, expr.static, reads
        plan = plan_of(expr.operator, expr.static, expr.inputs, at_once=True)
        self.compute = None if plan is None else plan.compute


_MOST_RULES = 1 << 13  # of all kinds
_ruled: list[ref[Kind]] = []  # for each rule its kind


def rule_key(wanted: tuple[bool, ...], cotangents: Sequence[Value | None]) -> Hashable:
    """Return the key of a rule among those of its kind: the inputs whose gradients are wanted, and
    which cotangents arrive, with rows or without."""
    return (wanted, tuple([None if g is None else g.rows for g in cotangents]))


def rules_of(kind: Kind) -> dict[Hashable, Rule]:
    """Return the rules of a kind that were made since the settings last changed."""
    rules = kind.rules
    if rules is None or kind.version != settings.version:
        kind.version, rules = settings.version, {}
        kind.rules = rules
    return rules


def known_rule(kind: Kind, key: Hashable) -> Rule | None:
    """Return the rule of a kind that computes arrays, or that of its family for all shapes; None if
    neither exists."""
    rule = rules_of(kind).get(key)
    if rule is None and kind.family is not None:
        return kind.family.rules.get(key)
    return rule


def share_rule(kind: Kind, key: Hashable, rule: Rule) -> None:
    """Let other kinds of a family have a rule of one kind, if the rule serves all shapes.

    Of a single element that cannot be told, as a constant may have the shape or be a number.
    """
    if kind.family is not None and prod(kind.spec.shape) > 1 and rule.serves_all_shapes:
        kind.family.rules[key] = rule


def make_rule(
    key: Hashable, backward_pass: Any, node: Node, context: Any, cotangents: Sequence[Value | None]
) -> Rule:
    """Return a new rule of a node: that of another index of the same form with another key, or one
    built by calling the operator's derivative with placeholders."""
    form = _form(key, node)
    like = None if form is None else _by_form.get(form)
    if like is not None:
        rule = like.elsewhere(node.static)
        keep_rule(node.kind, key, rule)
        return rule
    placeholders = [None if g is None else placeholder(g.spec) for g in cotangents]
    with grad_mode(False), deferring(True, []):
        made = node.operator.differentiate(backward_pass, context, placeholders)
        gradients = fit_all(made, node, context.wanted)
    values = [*(g for g in placeholders if g is not None), *context.used.values()]
    rule = Rule(f"{node.operator.name}'", values, tuple(context.used), gradients)
    keep_rule(node.kind, key, rule)
    if form is not None and rule.write_into_zeros is not None:
        _by_form[form] = rule
    return rule


_by_form: dict[Hashable, Rule] = Bounded(1024)


def _form(key: Hashable, node: Any) -> Hashable:
    """Return what rules have in common whose nodes read parts of arrays that differ only in where
    they begin; None for nodes that read no such part.

    ``key`` is the key of the rule among those of its kind.
    """
    if node.operator not in (runtime.roles.index, runtime.roles.element):
        return None
    form, _ = node.operator.by_position[0](node.inputs, node.static)
    return node.operator, form, node.inputs, node.outputs, key, settings.version


def keep_rule(kind: Any, key: Hashable, rule: Rule) -> None:
    """Keep a rule of a kind; drop all rules first if there are too many."""
    if len(_ruled) >= _MOST_RULES:
        kinds = [known() for known in _ruled]
        _ruled.clear()
        drop_rules([other for other in kinds if other is not None])
    rules_of(kind)[key] = rule
    _ruled.append(ref(kind))


def drop_rules(kinds: Iterable[Kind]) -> None:
    """Drop the rules of these kinds."""
    for kind in kinds:
        kind.rules = None


def placeholder(spec: Spec) -> Value:
    """Return a placeholder: a value of a spec that is never computed."""
    expr = Expr(_PLACEHOLDER, {}, (), (spec,))
    return runtime.value.deferred(expr, 0, spec)


def fit_all(
    gradients: Sequence[Value | None], node: Node, wanted: Sequence[bool]
) -> list[Value | None]:
    """Bring gradients to the shapes and dtypes of a node's inputs; None where none is wanted."""
    return [
        fit(g, spec) if want and g is not None else None
        for g, spec, want in zip(gradients, node.inputs, wanted, strict=True)
    ]


def fit(value: Value, spec: Spec) -> Value:
    """Bring a cotangent to the shape and dtype of its input: sum broadcast axes and cast."""
    if value.shape != spec.shape:
        value = runtime.roles.sum_to(value, spec.shape)
    if value.dtype != spec.dtype:
        value = runtime.roles.cast(value, spec.dtype)
    return value
