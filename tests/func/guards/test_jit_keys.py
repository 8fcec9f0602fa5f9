"""Which calls of a captured function share a recording: those for which it would do the same."""

import collections
import dataclasses
import decimal
import enum
import functools
from typing import Any

import numpy as np
import optree
import pytest

import numgrad as ng

A, B = np.array([1.0]), np.array([2.0, 3.0])


def joined(tree):
    return ng.concat(list(tree.values()))


@pytest.mark.parametrize(
    "kind",
    [
        dict,
        collections.OrderedDict,
        functools.partial(collections.defaultdict, list),
        lambda items: {"inner": dict(items)},
    ],
)
def test_dicts_with_items_in_another_order_are_other_arguments(kind):
    plain = lambda tree: joined(tree.get("inner", tree))  # noqa: E731
    captured = ng.jit(plain)
    for _ in range(3):
        for items in ([("u", A), ("v", B)], [("v", B), ("u", A)], [("u", B), ("v", A)]):
            np.testing.assert_array_equal(captured(kind(items)), plain(kind(items)).numpy())


def test_keywords_in_another_order_are_other_arguments():
    captured = ng.jit(lambda **given: joined(given))
    for _ in range(3):
        np.testing.assert_array_equal(captured(u=A, v=B), [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(captured(v=B, u=A), [2.0, 3.0, 1.0])


def test_keys_of_dicts_are_told_apart_by_type():
    captured = ng.jit(lambda tree: {repr(key): x * 2.0 for key, x in tree.items()})
    for _ in range(3):
        for key in (1, 1.0, True, "1"):
            assert list(captured({key: A})) == [repr(key)]


class Scaled:
    """A container with something beside its leaf."""

    def __init__(self, x, factor):
        self.x, self.factor = x, factor


optree.register_pytree_node(
    Scaled,
    lambda scaled: ((scaled.x,), scaled.factor),
    lambda factor, leaves: Scaled(*leaves, factor),
    namespace=optree.registry.__dict__["__GLOBAL_NAMESPACE"],
)


def test_what_registered_containers_hold_is_told_apart_by_type():
    captured = ng.jit(lambda scaled: {repr(scaled.factor): scaled.x * 2.0})
    for _ in range(3):
        for factor in (1, 1.0, True, (1,), (1.0,)):
            assert list(captured(Scaled(A, factor))) == [repr(factor)]


def test_the_results_keep_the_order_of_the_function():
    captured = ng.jit(lambda x: {"v": x * 2.0, "u": x * 3.0})
    for _ in range(3):
        assert list(captured(A)) == ["v", "u"]
    out = {"u": np.empty(1), "v": np.empty(1)}
    assert captured(A, out=out) is out
    assert (out["v"], out["u"]) == (2.0, 3.0)


@dataclasses.dataclass(frozen=True)
class Options:
    value: Any


@dataclasses.dataclass(frozen=True)
class OtherOptions(Options):
    def __eq__(self, other):
        return isinstance(other, Options) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


class Level(enum.IntEnum):
    LOW = 1


Point = collections.namedtuple("Point", "x")

ALIKE: list[Any] = [
    [1, 1.0, True, np.float32(1), np.float64(1), np.int64(1), 1 + 0j, Level.LOW],
    [0.0, -0.0, np.float32(0), np.float32(-0.0), complex(0.0, -0.0), complex(-0.0, 0.0)],
    [(1,), (1.0,), (True,), Point(1), Point(1.0)],
    [frozenset({1}), frozenset({1.0}), frozenset({True})],
    [Options(1), Options(1.0), Options(True), Options(0.0), Options(-0.0), Options((1, (1.0,)))],
    [OtherOptions(1), OtherOptions(1.0), OtherOptions(True)],
    [decimal.Decimal("1.0"), decimal.Decimal("1.00")],
    [range(0, 3, 2), range(0, 4, 2)],
]


@pytest.mark.parametrize("values", ALIKE, ids=repr)
def test_static_arguments_that_are_equal_but_not_the_same(values):
    captured = ng.jit(lambda x, static: (x, repr(static)), static_argnums=1)
    for _ in range(3):
        assert [captured(A, value)[1] for value in values] == list(map(repr, values))


def test_static_arguments_that_are_made_anew_share_a_recording():
    calls = []
    captured = ng.jit(lambda x, static: calls.append(static) or x, static_argnames="static")
    for _ in range(3):
        captured(A, static=Options((1, 2.0)))
        captured(A, static=(1, frozenset({2.0, "a"})))
    assert len(calls) == 2


def test_a_static_argument_that_is_changed_is_seen():
    @dataclasses.dataclass(unsafe_hash=True)
    class Changing:
        factor: float

    static = Changing(2.0)
    captured = ng.jit(lambda x, static: x * static.factor, static_argnums=1)
    for factor in (2.0, 2.0, 2.0, 3.0):
        static.factor = factor
        assert captured(B, static)[1] == 3.0 * factor


def test_static_arguments_that_contain_themselves():
    class Ring:
        def __init__(self):
            self.ring = self

        def __eq__(self, other):
            return isinstance(other, Ring)

        def __hash__(self):
            return 1

    captured = ng.jit(lambda x, ring: x * 2.0, static_argnums=1)
    assert captured(A, Ring()) == captured(A, Ring()) == 2.0


@pytest.mark.parametrize("flag", [{"math": "libm"}, {"debug": True}, {"sort_sum_gradient": True}])
def test_settings_reach_functions_that_are_captured_already(flag):
    calls = []
    captured = ng.jit(lambda x: calls.append(1) or ng.func.grad(lambda x: ng.exp(x).sum())(x))
    before = ng.get_flags(*flag)
    for _ in range(3):
        captured(B)
    try:
        ng.set_flags(**flag)
        captured(B)
        captured(B)
        assert len(calls) == 2
    finally:
        ng.set_flags(**before)
    captured(B)
    assert len(calls) == 2  # there is a recording for these settings


def test_another_library_of_functions_gives_its_own_bits():
    x = np.linspace(-20.0, 20.0, 10_001)
    captured = ng.jit(lambda x: ng.exp(ng.sin(x)))
    leaf = ng.tensor(x, requires_grad=True)
    try:
        for library in ("simd", "libm", "simd", "libm"):
            ng.set_flags(math=library)
            expected = ng.exp(ng.sin(ng.tensor(x)))
            np.testing.assert_array_equal(captured(x), expected.numpy())
            (slope,) = ng.grad(captured(leaf).sum(), leaf)
            (expected,) = ng.grad(ng.exp(ng.sin(leaf)).sum(), leaf)
            np.testing.assert_array_equal(slope.numpy(), expected.numpy())
    finally:
        ng.set_flags(math="simd")
