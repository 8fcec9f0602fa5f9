"""Names that a captured function reads: what they are bound to decides about a recording."""

import functools
import gc
import types
import weakref

import numpy as np
import pytest

import numgrad as ng
from numgrad.func.guards import closed_names

X = np.array([1.0, 2.0])
scale = 3.0
weights = np.ones(2)


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """Bind the globals as they were, after each test."""
    for name in ("scale", "weights", "scaled"):
        monkeypatch.setattr(f"{__name__}.{name}", globals()[name])


def scaled(x):
    return x * scale


def bind(**values):
    globals().update(values)


class Counted:
    """A captured function that counts how often it is recorded."""

    def __init__(self, function, **options):
        self.recorded = 0

        def counting(*args):
            self.recorded += 1
            return function(*args)

        self.captured = ng.jit(counting, **options)

    def __call__(self, *args):
        return self.captured(*args)


VALUES = [
    (3.0, 5.0), (3, 5), (3, 3.0), (2.0, 2.0 + 1j), (False, True), (0.0, -0.0), (1, True),
    (np.float32(2.0), np.float64(2.0)), (np.int64(2), np.int64(3)),
    (np.ones(2), np.ones(2)), (ng.tensor([1.0, 2.0]), ng.tensor([1.0, 3.0])), (2.0, np.ones(2)),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), VALUES)
def test_another_value_of_a_global_or_a_cell_is_used(first, second):
    cell = first
    functions = {"global": lambda x: x / scale, "cell": lambda x: x / cell}
    captured = {name: Counted(f) for name, f in functions.items()}
    for value in (first, first, second, second):
        bind(scale=value)
        cell = value
        with np.errstate(divide="ignore", invalid="ignore"):
            for name, function in functions.items():
                expected = np.asarray(function(X))
                for _ in range(3):  # recorded, replayed, by its entry
                    got = captured[name](X)
                    assert got.dtype == expected.dtype
                    np.testing.assert_array_equal(got, expected)
                    np.testing.assert_array_equal(np.signbit(got.real), np.signbit(expected.real))
    assert [f.recorded for f in captured.values()] == [2, 2]


@pytest.mark.parametrize(
    ("first", "second"),
    [("sin", "cos"), (None, 1), ((2.0, "sin"), (3.0, "sin")), ((1, (2, None)), (1, (2, 3)))],
)
def test_options_decide_by_value(first, second):
    option = first
    seen = []
    captured = ng.jit(lambda x: seen.append(option) or x * 2.0)
    for value in (first, second, first, second):
        option = value
        captured(X)
    assert seen == [first, second]


def test_another_class_of_dtypes_or_of_the_user_is_used():
    class Halved(Layer):
        forward = Layer.__call__

        def __call__(self, x):
            return super().__call__(x) / 2

    number, layer = np.float32, Layer
    captured = Counted(lambda x: layer()(x).astype(number))
    for number, layer in [(np.float32, Layer), (np.float64, Layer), (np.float64, Halved)] * 2:
        for _ in range(3):
            got = captured(X)
            assert got.dtype == number
            np.testing.assert_array_equal(got, X * (1.5 if layer is Halved else 3.0))
    assert captured.recorded == 3


def test_an_old_value_is_found_again():
    captured = Counted(lambda x: x * scale)
    for value in [1.0, 2.0, 3.0] * 3:
        bind(scale=value)
        np.testing.assert_array_equal(captured(X), value * X)
    assert captured.recorded == 3


def test_an_equal_number_that_was_computed_again_needs_no_recording():
    captured = Counted(lambda x: x * scale)
    for _ in range(5):
        bind(scale=float("3.25"))
        np.testing.assert_array_equal(captured(X), 3.25 * X)
    assert captured.recorded == 1


def test_names_of_functions_that_are_called_count_and_so_do_the_functions():
    def around(x):
        return scaled(x) + 1.0

    captured = Counted(around)
    np.testing.assert_array_equal(captured(X), 3.0 * X + 1.0)
    bind(scale=5.0)
    np.testing.assert_array_equal(captured(X), 5.0 * X + 1.0)
    bind(scaled=lambda x: x - scale)
    np.testing.assert_array_equal(captured(X), X - 4.0)
    bind(scale=3.0)
    np.testing.assert_array_equal(captured(X), X - 2.0)
    bind(scaled=np.negative)
    np.testing.assert_array_equal(captured(X), 1.0 - X)
    assert captured.recorded == 5


class Layer:
    def __call__(self, x):
        return x * scale

    def forward(self, x):
        return x * scale


@pytest.mark.parametrize(
    "function",
    [
        scaled,
        Layer(),
        Layer().forward,
        functools.partial(scaled),
        functools.partial(lambda f, x: f(x), scaled),
        ng.jit(scaled),
        lambda x: ng.stack([scaled(row) for row in x]),
        lambda x: (lambda y: (lambda z: z * scale)(y))(x),
        ng.func.vmap(scaled),
        ng.func.grad(lambda x: (x * x * (0.5 * scale)).sum()),
    ],
)
def test_names_are_found_in_functions_of_every_kind(function):
    captured = ng.jit(function)
    for value in (3.0, 5.0):
        bind(scale=value)
        for _ in range(3):
            np.testing.assert_array_equal(captured(X), value * X)


class Tall(Layer):
    def forward(self, x):
        return super().forward(x)

    def called_by_another(self, x):
        return self.forward(x)

    @staticmethod
    def static(x):
        return x * scale

    @classmethod
    def of_class(cls, x):
        return x * scale

    @property
    def factor(self):
        return scale


class Scaled(ng.Function):
    @staticmethod
    def forward(ctx, x):
        return x * scale

    @staticmethod
    def backward(ctx, g):
        return g * scale


layer = Tall()
layers = [Layer(), Tall()]
table = {"scaled": lambda x: x * scale}
module = types.ModuleType("module")
module.inner = types.ModuleType("inner")
module.scaled = module.inner.scaled = scaled


@pytest.mark.parametrize(
    "function",
    [
        lambda x: layer.forward(x),
        lambda x: layer.called_by_another(x),
        lambda x: Tall().forward(x),
        lambda x: Tall.static(x),
        lambda x: Tall.of_class(x),
        lambda x: x * layer.factor,
        lambda x: layers[0](x),
        lambda x: [one.forward(x) for one in layers][1],
        lambda x: table["scaled"](x),
        lambda x: module.scaled(x),
        lambda x: module.inner.scaled(x),
        lambda x: ng.func.vmap(layer.forward)(x),
        lambda x: Scaled.apply(x),
        ng.func.grad(lambda x: (Scaled.apply(x) * ng.stop_gradient(x)).sum()),
    ],
)
def test_names_are_found_in_methods_and_in_functions_of_modules_and_containers(function):
    captured = ng.jit(function)
    for value in (3.0, 5.0):
        bind(scale=value)
        for _ in range(3):
            np.testing.assert_array_equal(captured(X), value * X)


class Watched(type):
    def __getattribute__(cls, name):
        raise RuntimeError(f"asked for {name}")


def test_the_search_for_methods_runs_no_code_of_the_user():
    class Lazy(types.ModuleType):
        def __getattribute__(self, name):
            raise RuntimeError(f"asked for {name}")

    class Quiet(metaclass=Watched):
        def __getattribute__(self, name):
            raise RuntimeError(f"asked for {name}")

    lazy, quiet, things = Lazy("lazy"), Quiet(), [Quiet(), Quiet]
    variables, _ = closed_names._watched(lambda: (lazy.f, quiet.f(), things[0](), scaled.f))
    names = [variable.name for variable in variables]
    assert names == ["scaled", "quiet", "things", "scale", 0, "[:]"]


def test_another_array_or_tensor_under_a_name_is_used_and_gets_the_gradient():
    captured = ng.jit(lambda x: (x * weights).sum())
    for factor in (1.0, 2.0, 3.0):
        bind(weights=ng.tensor(factor * X, requires_grad=True))
        result = captured(X)
        assert float(result.detach()) == factor * 5.0
        np.testing.assert_array_equal(ng.grad(result, weights)[0], X)


def test_the_call_of_containers_and_keywords_sees_another_value():
    captured = ng.jit(lambda p, *, y: {"a": p["x"] * scale + y})
    for value in (3.0, 5.0, 3.0):
        bind(scale=value)
        for _ in range(3):
            got = captured({"x": ng.tensor(X)}, y=X)["a"]
            np.testing.assert_array_equal(got, value * X + X)


def test_integers_stay_symbolic_under_another_value():
    captured = Counted(lambda x, n: x * n + scale)
    for n in range(5):
        captured(X, n)
    before = captured.recorded
    bind(scale=5.0)
    for n in range(5):
        np.testing.assert_array_equal(captured(X, n), X * n + 5.0)
    assert captured.recorded == before + 1


def test_a_name_that_the_function_binds_itself_is_its_own_counter():
    count = 0

    def counting(x):
        nonlocal count
        count += 1
        return x * scale

    captured = ng.jit(counting)
    for _ in range(4):
        captured(X)
    assert count == 1


def test_names_of_attributes_are_no_globals():
    captured = Counted(lambda x: x.T * x.scale if hasattr(x, "scale") else x.T)
    for value in (1.0, 2.0):
        bind(scale=value)
        captured(X)
    assert captured.recorded == 1


def test_a_name_that_is_gone_is_looked_up_as_in_python():
    captured = ng.jit(lambda x: x * scale)
    captured(X)
    del globals()["scale"]
    with pytest.raises(NameError, match="scale"):
        captured(X)
    bind(scale=2.0)
    np.testing.assert_array_equal(captured(X), 2.0 * X)


def test_old_arrays_are_let_go():
    captured = Counted(lambda x: x * weights)
    kept = []
    for _ in range(3 * closed_names._MOST_GROUPS):
        bind(weights=np.ones(2))
        kept.append(weakref.ref(weights))
        captured(X)
    gc.collect()
    assert sum(one() is not None for one in kept) <= closed_names._MOST_GROUPS + 1


def test_old_numbers_are_let_go(monkeypatch):
    monkeypatch.setattr(closed_names, "_MOST_BINDINGS", 3)
    captured = Counted(lambda x: x * scale)
    for value in range(8):
        bind(scale=float(value))
        captured(X)
    assert "3 recordings" in repr(captured.captured)


def test_functions_without_names_are_checked_by_nothing():
    for function in (lambda x: np.sin(x) * 2.0, np.sin, lambda x: ng.func.grad(np.sum)(x)):
        assert closed_names.ClosedNames(function).present(lambda binding: None).holds is None


def test_compiled_functions_of_the_user_count_and_those_of_libraries_do_not():
    namespace = {"ng": ng, "__name__": __name__, "sin": np.sin, "dot": np.dot, "expit": ng.sin}
    exec(
        "@ng.njit\ndef kernel(x):\n    return x * 2.0\n"
        "def f(x):\n    return kernel(x) + sin(x) + dot(x, x) + len(x) + expit(x)\n",
        namespace,
    )
    variables, _ = closed_names._watched(namespace["f"])
    assert [variable.name for variable in variables] == ["kernel", "expit"]


def test_classes_count_unless_a_library_has_them_under_the_same_name():
    namespace = {"__name__": __name__, "float32": np.float32, "real": np.float32, "Layer": Layer}
    exec("def f(x):\n    return Layer()(x).astype(real) + float32(1) + float(2)\n", namespace)
    variables, _ = closed_names._watched(namespace["f"])
    names = [variable.name for variable in variables]
    assert names == ["Layer", "real", "scale", "__call__"]  # the last two are read by its call
