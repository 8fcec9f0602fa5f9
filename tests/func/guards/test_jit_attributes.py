"""Attributes and items that a captured function reads decide about a recording."""

import argparse
import collections
import functools
import itertools
import types
from dataclasses import dataclass

import numpy as np
import pytest

import numgrad as ng
from numgrad.func.guards import closed_names

X = np.array([1.0, 2.0])


@dataclass
class Model:
    """A model with numbers, arrays and parts."""

    rate: object = 2.0
    part: object = None
    base = 1.0

    def step(self, x):
        return x * self.rate * self.base

    def through(self, x):
        return self.part.step(x)

    def __call__(self, x):
        return self.step(x)

    @property
    def twice(self):
        return 2 * self.rate

    @classmethod
    def of_class(cls, x):
        return cls.base * x


class Slots:
    __slots__ = ("_hidden", "rate")

    def __init__(self, rate):
        self.rate = rate

    def step(self, x):
        return x * self.rate


def counted(function, **options):
    """Return a captured function, and a function that tells how often it was recorded."""
    calls = itertools.count()

    def counting(*args):
        next(calls)
        return function(*args)

    return ng.jit(counting, **options), lambda: next(calls)


HOLDERS = [
    Model(), Slots(2.0), types.SimpleNamespace(rate=2.0), argparse.Namespace(rate=2.0),
    types.ModuleType(__name__),
]  # fmt: skip
VALUES = [(2.0, 3.0), (2, 2.0), (0.0, -0.0), (2.0, np.float32(2)), (np.ones(2), 3 * np.ones(2)),
          (ng.tensor([1.0, 2.0]), ng.tensor([3.0, 4.0]))]  # fmt: skip


@pytest.mark.parametrize("holder", HOLDERS, ids=lambda holder: type(holder).__name__)
@pytest.mark.parametrize(("first", "second"), VALUES)
def test_another_value_of_an_attribute_is_used_and_the_old_one_found_again(holder, first, second):
    if isinstance(holder, types.ModuleType):
        holder.__file__ = __file__
    captured, recorded = counted(lambda x: x / holder.rate)
    with np.errstate(divide="ignore"):
        for value in (first, second, first, second):
            holder.rate = value
            for _ in range(3):
                found, expected = np.asarray(captured(X)), np.asarray(X / holder.rate)
                np.testing.assert_array_equal(found, expected)
                assert found.dtype == expected.dtype
    assert recorded() == 2


WAYS = {
    "bound method": lambda model: model.step,
    "instance": lambda model: lambda x: model(x),
    "captured instance": lambda model: model,
    "method by attribute": lambda model: lambda x: model.step(x),
    "part": lambda model: Model(part=model).through,
    "part of a part": lambda model: Model(part=Model(part=model)).part.through,
    "list": lambda model: functools.partial(lambda models, x: models[0].step(x), [model]),
    "partial": lambda model: functools.partial(lambda model, x: model.step(x), model),
    "default": lambda model: lambda x, model=model: x * model.rate * model.base,
    "keyword": lambda model: lambda x, *, model=model: model.step(x),
    "property": lambda model: lambda x: model.twice * x * model.base / 2,
    "transform": lambda model: ng.func.grad(lambda x: (model.step(x) * x).sum() / 2),
    "captured": lambda model: ng.jit(model.step),
    "scan": lambda model: lambda x: ng.scan(lambda c, v: (c, model.step(v)), 0.0, x)[1],
}


@pytest.mark.parametrize("way", WAYS)
def test_attributes_are_found_in_all_that_a_function_calls(way, monkeypatch):
    monkeypatch.setattr(Model, "base", 1.0)
    model = Model(1.0)
    captured = ng.jit(WAYS[way](model))
    for rate, base in ((2.0, 1.0), (3.0, 1.0), (3.0, 5.0), (2.0, 1.0)):
        model.rate, Model.base = rate, base
        for _ in range(2):
            np.testing.assert_array_equal(captured(X), rate * base * X)


def test_attributes_of_classes_and_what_instances_have_in_their_place(monkeypatch):
    monkeypatch.setattr(Model, "base", 1.0)
    model = Model(1.0)
    of_class, of_instance = ng.jit(Model.of_class), ng.jit(model.step)
    expected = [(1.0, 1.0), (4.0, 4.0), (4.0, 7.0), (9.0, 7.0), (9.0, 9.0)]
    changes = [
        lambda: None,
        lambda: setattr(Model, "base", 4.0),
        lambda: setattr(model, "base", 7.0),
        lambda: setattr(Model, "base", 9.0),
        lambda: delattr(model, "base"),
    ]
    for change, (first, second) in zip(changes, expected, strict=True):
        change()
        np.testing.assert_array_equal(of_class(X), first * X)
        np.testing.assert_array_equal(of_instance(X), second * X)


def test_another_method_of_a_class_is_called(monkeypatch):
    model = Model(2.0)
    captured = ng.jit(lambda x: model.step(x))
    np.testing.assert_array_equal(captured(X), 2 * X)
    monkeypatch.setattr(Model, "step", lambda self, x: x - self.rate)
    np.testing.assert_array_equal(captured(X), X - 2)


class Shapes:
    """A class with methods of every kind."""

    scale = 2.0

    def plain(self, x):
        return x * self.scale

    @staticmethod
    def static(x):
        return x * 3.0

    @classmethod
    def of_class(cls, x):
        return x * cls.scale

    @property
    def size(self):
        return 5.0

    twice = functools.partialmethod(plain)

    def all_of_them(self, x):
        return self.plain(x) + self.static(x) * self.of_class(x) - self.size * self.twice(x)


REPLACED = {
    "plain": lambda self, x: x - 7.0,
    "static": staticmethod(lambda x: x - 7.0),
    "of_class": classmethod(lambda cls, x: x - cls.scale),
    "size": property(lambda self: 11.0),
}


@pytest.mark.parametrize("name", REPLACED)
def test_another_method_of_any_kind_is_called_once_the_class_has_it(name, monkeypatch):
    shapes, derived = Shapes(), type("Derived", (Shapes,), {})()
    captured = [ng.jit(shapes.all_of_them), ng.jit(lambda x: derived.all_of_them(x))]
    for _ in range(2):
        for one in captured:
            np.testing.assert_array_equal(one(X), shapes.all_of_them(X))
    original = vars(Shapes)[name]
    monkeypatch.setattr(Shapes, name, REPLACED[name])
    for one in captured:
        np.testing.assert_array_equal(one(X), shapes.all_of_them(X))
    setattr(type(derived), name, original)
    np.testing.assert_array_equal(captured[1](X), derived.all_of_them(X))
    np.testing.assert_array_equal(captured[0](X), shapes.all_of_them(X))


@pytest.mark.parametrize("name", ["plain", "static", "of_class"])
@pytest.mark.parametrize("way", ["method", "instance", "part"])
def test_a_function_that_an_instance_has_in_the_place_of_a_method_is_called(name, way):
    shapes = Shapes()
    model = Model(part=shapes)
    captured = ng.jit({
        "method": shapes.all_of_them,
        "instance": lambda x: shapes.all_of_them(x),
        "part": lambda x: model.part.all_of_them(x),
    }[way])
    for replaced in (False, True, False, True):
        if replaced:
            setattr(shapes, name, lambda x: x - 7.0)
        for _ in range(2):
            np.testing.assert_array_equal(captured(X), shapes.all_of_them(X))
        vars(shapes).clear()


def test_a_function_that_a_function_puts_in_the_place_of_a_method_is_its_own():
    shapes = Shapes()

    def step(x):
        shapes.plain = lambda x: x * 9.0
        return shapes.plain(x)

    captured, recorded = counted(step)
    for _ in range(3):
        np.testing.assert_array_equal(captured(X), 9 * X)
    assert recorded() == 1


class Operators:
    """A class whose operators, item, iteration and conversions read an attribute."""

    def __init__(self):
        self.rate, self.rows = 2.0, [1.0, 2.0]

    def _of(self, other):
        return other * self.rate

    __matmul__ = __add__ = __rsub__ = __rmul__ = __truediv__ = __pow__ = __iadd__ = _of
    __lt__ = __eq__ = __contains__ = lambda self, other: self.rate > 2.5
    __float__ = __abs__ = __neg__ = __enter__ = lambda self: self.rate
    __getitem__ = lambda self, n: self.rows[n] * self.rate  # noqa: E731
    __iter__ = lambda self: iter([self.rate, 1.0])  # noqa: E731
    __len__ = __index__ = __int__ = lambda self: int(self.rate)
    __bool__ = lambda self: self.rate < 2.5  # noqa: E731
    __array__ = lambda self, dtype=None, copy=None: np.array([self.rate, 1.0])  # noqa: E731
    __hash__ = None

    def __exit__(self, *error):
        pass


def within(held, x):
    with held as value:
        return x * value


def iadd(held, x):
    held += x
    return held


def unpacked(held, x):
    first, second = held
    return x * first + second


OPERATIONS = {
    "@": lambda held, x: held @ x, "+": lambda held, x: held + x,
    "-": lambda held, x: x * (2 - held), "*": lambda held, x: x * (2 * held),
    "/": lambda held, x: held / x, "**": lambda held, x: held**x, "+=": iadd,
    "<": lambda held, x: x * (held < x), "==": lambda held, x: x * (held == 1),
    "in": lambda held, x: x * (3 in held), "float": lambda held, x: x * float(held),
    "abs": lambda held, x: x * abs(held), "neg": lambda held, x: x * -held, "with": within,
    "item": lambda held, x: x * held[1], "loop": lambda held, x: sum([x * v for v in held]),
    "list": lambda held, x: x * sum(list(held)[:1]), "unpacked": unpacked,
    "star": lambda held, x: (lambda a, b: a * x + b)(*held), "len": lambda held, x: x * len(held),
    "range": lambda held, x: sum(x * n for n in range(held)), "int": lambda held, x: x * int(held),
    "if": lambda held, x: x if held else -x,
    "and": lambda held, x: x * (3 if held and x is not None else 4),
    "not": lambda held, x: x * (not held), "array": lambda held, x: np.asarray(held) * x,
    "getattr": lambda held, x: x * getattr(held, "rate"),  # noqa: B009
}  # fmt: skip


@pytest.mark.parametrize("operation", OPERATIONS)
def test_attributes_are_found_in_what_operators_and_functions_of_python_call(operation):
    held, function = Operators(), OPERATIONS[operation]
    captured = ng.jit(lambda x: function(held, x))
    for rate in (2.0, 3.0, 2.0):
        held.rate = rate
        for _ in range(2):
            np.testing.assert_array_equal(captured(X), function(held, X))


def test_special_methods_of_dataclasses_do_not_read_all_fields():
    model = Model(2.0, part=0)
    captured, recorded = counted(lambda x: x * model.rate if x.shape == (2,) else x)
    for part in range(5):
        model.part = part
        np.testing.assert_array_equal(captured(X), 2 * X)
    assert recorded() == 1


def test_items_of_ordered_dicts_and_those_that_get_gives_are_read_again():
    ordered, plain = collections.OrderedDict(rate=2.0), {"rate": 2.0}
    captured = ng.jit(lambda x: x * ordered["rate"] + plain.get("rate"))
    for first, second in ((2.0, 2.0), (3.0, 2.0), (3.0, 4.0), (2.0, 2.0)):
        ordered["rate"], plain["rate"] = first, second
        np.testing.assert_array_equal(captured(X), first * X + second)


def test_another_object_with_equal_attributes_is_watched_from_then_on():
    models = [Model(2.0)]
    captured = ng.jit(lambda x: models[0].step(x))
    captured(X)
    models[0].rate = 3.0
    models[0] = Model(2.0)
    np.testing.assert_array_equal(captured(X), 2 * X)
    models[0].rate = 5.0
    np.testing.assert_array_equal(captured(X), 5 * X)


def test_gradients_reach_a_tensor_that_has_become_an_attribute():
    model = Model(ng.tensor([1.0, 1.0], requires_grad=True))
    loss = ng.jit(lambda x: (model.rate * x).sum())
    for _ in range(3):
        (gradient,) = ng.grad(loss(X), model.rate)
        np.testing.assert_array_equal(gradient, X)
        model.rate = ng.tensor(model.rate.detach() - gradient, requires_grad=True)
    np.testing.assert_array_equal(model.rate.detach(), 1 - 3 * X)


def test_an_attribute_that_a_function_sets_itself_is_its_own_counter():
    model = Model()
    model.calls = 0

    def step(x):
        model.calls += 1
        return x * model.calls

    captured, recorded = counted(step)
    for _ in range(3):
        np.testing.assert_array_equal(captured(X), X)
    assert recorded() == 1


def test_an_attribute_that_is_gone_is_looked_up_as_in_python():
    model = Slots(2.0)
    captured = ng.jit(model.step)
    captured(X)
    del model.rate
    with pytest.raises(AttributeError):
        captured(X)
    model.rate = 4.0
    np.testing.assert_array_equal(captured(X), 4 * X)


def test_checks_run_no_code_of_the_user():
    class AskedError(Exception):
        pass

    class Lazy:
        rate = 2.0
        asked = 0

        def __getattr__(self, name):
            raise AskedError(name)

        @property
        def computed(self):
            Lazy.asked += 1
            return 3.0

        @functools.cached_property
        def kept(self):
            Lazy.asked += 1
            return 5.0

    lazy = Lazy()
    captured = ng.jit(lambda x: x * lazy.rate * lazy.computed * lazy.kept)
    for _ in range(5):
        np.testing.assert_array_equal(captured(X), 30 * X)
    assert Lazy.asked == 2


def test_classes_of_code_without_a_module_are_the_users():
    names = {"ng": ng, "__builtins__": __builtins__}
    exec("class Bare:\n    rate = 2.0\n\nf = ng.jit(lambda x: x * Bare.rate)", names)
    np.testing.assert_array_equal(names["f"](X), 2 * X)
    names["Bare"].rate = 3.0
    np.testing.assert_array_equal(names["f"](X), 3 * X)


def test_attributes_of_libraries_are_not_watched():
    variables, _ = closed_names._watched(lambda x: np.pi * x * np.linalg.norm(x) * X.size)
    assert [variable.name for variable in variables] == ["X"]


ITEMS = [
    ({"rate": 2.0, "part": {"rate": 4.0}}, lambda held, x: x * held["rate"] + held["part"]["rate"]),
    ([2.0, [4.0, 5.0]], lambda held, x: x * held[0] - held[1][-1]),
    (Model(part={"rate": 2.0}), lambda held, x: held.part["rate"] * x),
    ({"layers": [Model(), Model()]}, lambda held, x: held["layers"][1].step(x)),
]


@pytest.mark.parametrize(("held", "function"), ITEMS)
def test_another_item_under_a_constant_key_is_used(held, function, monkeypatch):
    captured, recorded = counted(lambda x: function(held, x))

    def change(to):
        if isinstance(held, Model):
            held.part["rate"] = to
        elif isinstance(held, list):
            held[0], held[1][-1] = to, 2 * to
        else:
            held["rate"] = to
            for one in held.get("layers", ()):
                one.rate = to
            held.get("part", {})["rate"] = 3 * to

    for value in (3.0, 5.0, 3.0):
        change(value)
        for _ in range(3):
            np.testing.assert_array_equal(captured(X), function(held, X))
    assert recorded() == 2


def test_items_that_a_function_sets_itself_are_its_own():
    seen = {"calls": 0, "last": None, "scale": 2.0}

    def step(x):
        seen["calls"] += 1
        seen["last"] = x.shape
        return x * seen["scale"] * seen["calls"] + len(seen["last"])

    captured, recorded = counted(step)
    for scale in (2.0, 2.0, 2.0, 3.0, 3.0):
        seen["scale"] = scale
        captured(X)
    assert recorded() == 2


def test_a_list_that_a_function_changes_is_its_own():
    shapes = [None]

    def step(x):
        shapes.append(object())
        return x * (2.0 if shapes[-1] else 3.0)

    captured, recorded = counted(step)
    for _ in range(3):
        captured(X)
    assert recorded() == 1


def test_classes_derived_from_dicts_and_lists_run_their_own_code():
    class Asking(dict):
        def __getitem__(self, key):
            return 3.0

    asking = Asking(rate=2.0)
    variables, _ = closed_names._watched(lambda x: x * asking["rate"])
    assert [variable.name for variable in variables] == ["asking", "__getitem__"]


THROUGH = {
    "loop": lambda held, x: sum([x * one for one in held["list"]]),
    "star": lambda held, x: (lambda *all: x * sum(all))(*held["list"]),
    "computed key": lambda held, x: x * held["list"][len(x.shape)],
    "operand": lambda held, x: x * held["list"][:2],
    "array": lambda held, x: x * np.array(held["list"])[:2],
    "length": lambda held, x: x * len(held["list"]),
    "slice": lambda held, x: x * sum(held["list"][1:]),
    "set": lambda held, x: x * sum(held["set"]) if 5.0 in held["set"] else x,
    "values": lambda held, x: x * sum(held["dict"].values()),
    "items": lambda held, x: sum(x * value for _, value in held["dict"].items()),
    "keywords": lambda held, x: (lambda **all: x * sum(all.values()))(**held["dict"]),
    "objects": lambda held, x: sum([one.step(x) for one in held["models"]]),
    "pairs": lambda held, x: sum([x * a for a, _ in zip(held["list"], held["set"], strict=False)]),
}
CHANGES = [
    lambda held: held["list"].__setitem__(1, 7.0),
    lambda held: held["list"].append(9.0),
    lambda held: held["set"].add(5.0),
    lambda held: held["dict"].__setitem__("a", 11.0),
    lambda held: held["dict"].__setitem__("c", 13.0),
    lambda held: held["models"].append(Model(17.0)),
    lambda held: held["models"].__setitem__(0, Model(19.0)),
    lambda held: held["models"].reverse(),
    lambda held: held["list"].pop(0),
    lambda held: held["dict"].pop("a"),
    lambda held: None,
]


@pytest.mark.parametrize("way", THROUGH)
def test_all_items_of_a_container_that_a_function_goes_through_are_read_again(way):
    function = THROUGH[way]
    held = {"list": [1.0, 2.0, 3.0], "set": {1.0}, "dict": {"a": 1.0, "b": 2.0},
            "models": [Model(2.0), Model(3.0)]}  # fmt: skip
    captured = ng.jit(lambda x: function(held, x))
    for change in CHANGES:
        change(held)
        for _ in range(2):
            np.testing.assert_array_equal(captured(X), function(held, X))


def test_a_list_into_which_a_function_writes_is_its_own():
    kept = [None, 2.0]

    def step(x):
        for n in range(1):
            kept[n] = x
        return x * kept[1]

    captured, recorded = counted(step)
    for _ in range(3):
        np.testing.assert_array_equal(captured(X), 2 * X)
    assert recorded() == 1


def test_long_chains_and_rings_of_objects_are_searched_to_an_end():
    first = last = Model(1.0)
    for n in range(2000):
        last.part = Model(float(n))
        last = last.part
    last.part = first
    captured = ng.jit(lambda x: x * first.rate * first.part.rate + first.part.part.rate)
    for rate in (3.0, 5.0):
        first.part.rate = rate
        np.testing.assert_array_equal(captured(X), rate * X + 1.0)
