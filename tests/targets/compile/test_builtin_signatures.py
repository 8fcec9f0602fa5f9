"""Numba looks for the signature of one of its functions of numbers once, not at every call."""

import itertools
import math
import operator

import pytest
from numba import njit
from numba.core import errors, types
from numba.core.registry import cpu_target
from numba.core.typing import Context
from numba.extending import overload

from numgrad.targets.cpu.compile import builtin_signatures
from numgrad.targets.cpu.compile.dispatcher_cache import kept_on_disk

OF_ONE = (operator.neg, operator.invert, math.sin)
OF_TWO = (operator.add, operator.truediv, operator.lt, operator.pow, math.hypot)
KINDS = (
    types.boolean, types.int32, types.uint64, types.float32, types.float64, types.complex64,
    types.literal(2),
)  # fmt: skip


@pytest.fixture
def searches(monkeypatch):
    found = []
    cpu_target.typing_context.refresh()  # Numba learns its functions when it first compiles

    def search(*args):
        found.append(args)
        return types.BaseFunction.get_call_type(*args)

    monkeypatch.setattr(builtin_signatures, "_search", search)
    monkeypatch.setattr(builtin_signatures, "_found", {})
    return found


def resolved(function, kinds):
    """Return the signature, and what implements it; None if there is none."""
    context = cpu_target.typing_context
    kind = context.resolve_value_type(function)
    try:
        signature = kind.get_call_type(context, kinds, {})
    except errors.TypingError:
        return None
    return signature, kind.get_impl_key(signature)


def test_signatures_are_those_of_numba_and_looked_for_once(searches):
    calls = [(f, (a,)) for f in OF_ONE for a in KINDS]
    calls += [(f, pair) for f in OF_TWO for pair in itertools.product(KINDS, repeat=2)]
    wanted = [resolved(*call) for call in calls]
    with builtin_signatures.kept():
        first = [resolved(*call) for call in calls]
        count = len(searches)
        again = [resolved(*call) for call in calls]
    assert first == wanted == again
    # What has no signature is looked for again, and fails with Numba's message.
    assert count == len(calls)
    assert len(searches) - count == wanted.count(None) > 0
    assert types.Function.get_call_type is not builtin_signatures._signature


def test_targets_keep_their_own(searches):
    """A function of Numba may have another signature, or none, in the context of another target."""
    own, other = cpu_target.typing_context, Context()
    kind = own.resolve_value_type(math.sin)
    search = [(kind, context, (types.float64,), {}) for context in (other, own)]
    with builtin_signatures.kept(other):
        for _ in range(2):
            for call in search:
                type(kind).get_call_type(*call)
    assert [context is other for _, context, *_ in searches] == [True, False, False]
    del searches[:]
    with builtin_signatures.kept():
        for call in search:
            type(kind).get_call_type(*call)
    assert [context is other for _, context, *_ in searches] == [True, False]


def test_an_implementation_by_a_user_is_not_kept(searches):
    def twice(x):
        return 2 * x

    @overload(twice)
    def _(x):
        return lambda x: 2 * x

    njit(lambda x: twice(x))(1.0)
    with builtin_signatures.kept():
        assert resolved(twice, (types.float64,)) is not None
        assert resolved(twice, (types.float64,)) is not None
    assert len([kind for kind, *_ in searches if kind.typing_key is twice]) == 2


def test_functions_that_are_kept_on_disk_are_compiled_with_them(searches, monkeypatch, tmp_path):
    monkeypatch.setenv("NUMGRAD_CACHE_DIR", str(tmp_path))

    def polynomial(x):
        return x * x * x + x + x

    function = kept_on_disk(njit(polynomial))
    assert function(2.0) == 12.0
    calls = [(kind.typing_key, args) for kind, _, args, _ in searches]
    assert len(calls) == len(set(calls)) > 0
    assert types.Function.get_call_type is not builtin_signatures._signature
