"""Judges of what is applied: the operators of a scenario, and how their results lie in memory."""

from contextlib import contextmanager
from unittest import mock

import numpy as np

import numgrad as ng
from numgrad._tensor import Tensor
from numgrad.engine.graph.memory_order import strides_of_value
from numgrad.engine.graph.value import Expr, ForeignStorage
from numgrad.engine.record import apply as record
from numgrad.testing.subject import random_like

from .case import evaluate, several
from .judge import judge, smooth_in_one_or_as_given, two_in_one

WRITES = ("put_view", "put_at")  # whose results lie where what is written strides_of_value


@contextmanager
def applications(look):
    """Let ``look`` see every operator that is applied, with its inputs and outputs."""
    apply = record.apply

    def seen(operator, inputs, static):
        outputs = apply(operator, inputs, static)
        look(operator, inputs, static, outputs)
        return outputs

    # Plans, which lead past what is seen here, are forgotten, and so are rules, which apply
    # derivatives when they are made.
    ng.set_flags()
    with (
        mock.patch.object(record, "apply", seen),
        ng.graph.saved_tensors_hooks(*[lambda value: value] * 2),  # no short way leads past apply
    ):
        yield


# Which operators are applied ----------------------------------------------------------------------


@judge(smooth_in_one_or_as_given)
def operators(case):
    """Value, gradient and second derivative at all points apply the operators that are named."""
    family = case.family
    if "applied" not in family.kept:
        family.kept["applied"] = applied_by(family)
    assert set(case.scenario.operators) <= family.kept["applied"]


def applied_by(family):
    """Return the names of the operators that are applied at all smooth points."""
    applied = set()
    with applications(lambda operator, *_: applied.add(operator.name)):
        for place in smooth_in_one_or_as_given(family.scenario):
            case = family.case(*place)
            if family.scenario.order:
                second_gradient(case)
            else:
                evaluate(family.scenario, case.arrays)
    return applied


def second_gradient(case):
    variables, outputs = case.subject.call()
    rng = np.random.default_rng(0)
    seeds = [Tensor(random_like(rng, o), True) for o in outputs]
    live = [(o, s) for o, s in zip(outputs, seeds, strict=True) if o.requires_grad]
    gradients = ng.grad(
        [o for o, _ in live],
        variables,
        [s for _, s in live],
        create_graph=True,
        allow_unused=True,
        materialize_grads=True,
    )
    live = [g for g in gradients if g.requires_grad]
    if live and case.scenario.order > 1:
        ng.grad(live, [*variables, *seeds], allow_unused=True)


# How results lie in memory ------------------------------------------------------------------------


@judge(two_in_one)
def known_order(case):
    """What operators say of the order of their results is how they lie when computed at once."""
    wrong = []

    def compared(operator, inputs, static, outputs):
        expr = Expr(operator, static, inputs, tuple(o.spec for o in outputs))
        for slot, output in enumerate(outputs):
            strides = strides_of_value(type(output).deferred(expr, slot, output.spec))
            plain = np.empty(output.shape, output.dtype).strides
            found = np.lib.stride_tricks.as_strided(
                np.empty(1, output.dtype), output.shape, plain if strides is None else strides
            )
            if output.size > 1 and in_memory(found) != in_memory(output.array):
                given = [x.array.strides for x in inputs]
                wrong.append((operator.name, given, output.array.strides))

    with applications(compared), ng.no_grad():
        for args in laid_out(case):
            case.scenario.function(*args)
    assert [w for w in wrong if w[0] not in WRITES] == []


@judge(two_in_one)
def repeated_order(case):
    """The ways that are taken once an operator is known lay results out as the first one does."""
    for args in laid_out(case):
        results = [several(case.scenario.function(*args)) for _ in range(3)]
        for first, *others in zip(*results, strict=True):
            assert all(in_memory(o.array) == in_memory(first.array) for o in others)


def laid_out(case):
    """Yield the arguments in C order, in Fortran's, with the middle axis inmost, and strided."""
    arrays = [list(turned(a)) * (1 if a.ndim > 1 else 4) for a in map(np.asarray, case.arrays)]
    for laid in zip(*arrays, strict=True):
        yield [Tensor(a, False, ForeignStorage()) for a in laid]


def turned(array):
    """Yield the same numbers with the first axis inmost, or the middle one of three."""
    yield np.array(array, order="C")
    if array.ndim > 1:
        yield np.asfortranarray(array)
        yield np.ascontiguousarray(np.swapaxes(array, 0, 1)).swapaxes(0, 1)
        yield np.repeat(array, 2, axis=0)[::2]


def in_memory(array):
    """Return the strides that matter."""
    return [step for step, n in zip(array.strides, array.shape, strict=True) if n > 1]


JUDGES = (operators, known_order, repeated_order)
