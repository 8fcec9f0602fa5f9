import dataclasses
import datetime
import functools
import pathlib
import re
import types
from typing import Any, NamedTuple

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import ArgTypeError, DtypeError


@dataclasses.dataclass
class Base:
    a: float
    b: np.ndarray


@dataclasses.dataclass
class Params(Base):
    power: int = 2
    name: str = "x"
    labels: tuple[str, ...] = ("u", "v")
    offset: float | None = None
    state: Any = dataclasses.field(default=1.5, init=False)

    @functools.cached_property
    def doubled(self):
        return 2 * self.a


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    inner: Params
    others: list
    window: object = dataclasses.field(
        default_factory=lambda: np.array([1, 2]), metadata={"static": True}
    )


class Pair(NamedTuple):
    frozen: Frozen
    z: float


POINT = Pair(Frozen(Params(2.0, np.array([1.0, 3.0])), [4.0, {"k": 5.0}]), 7.0)


def energy(pair):
    p = pair.frozen.inner
    return (p.a * p.b**p.power).sum() * p.doubled + pair.z * pair.frozen.others[1]["k"] + p.state


def expected():
    """Return the gradient of `energy`: 2 a^2 sum(b^2) + z k + state."""
    return {"a": 80.0, "b": np.array([16.0, 48.0]), "state": 1.0, "k": 7.0, "z": 5.0}


def require_gradient(found):
    p = found.frozen.inner
    assert (type(found), type(found.frozen), type(p)) == (Pair, Frozen, Params)
    leaves = {
        "a": p.a, "b": p.b, "state": p.state, "k": found.frozen.others[1]["k"], "z": found.z
    }  # fmt: skip
    for name, value in expected().items():
        np.testing.assert_allclose(leaves[name], value)
    assert (p.power, p.name, p.labels, p.offset) == (2, "x", ("u", "v"), None)
    assert found.frozen.window is POINT.frozen.window


def test_dataclasses_are_differentiated_by():
    assert energy(POINT) == 80 + 35 + 1.5
    require_gradient(ng.func.grad(energy)(POINT))
    captured = ng.jit(ng.func.grad(energy))
    for _ in range(3):
        require_gradient(captured(POINT))
    value, slope = ng.func.jvp(energy, (POINT,), (ng.func.grad(energy)(POINT),))
    np.testing.assert_allclose(value, 116.5)
    np.testing.assert_allclose(slope, 80.0**2 + 16.0**2 + 48.0**2 + 1 + 49 + 25)


def test_tensors_in_a_dataclass_keep_their_graph():
    a = ng.tensor(2.0, requires_grad=True)
    found = ng.func.grad(lambda p: (p.a**2 * p.b).sum())(Params(a, np.ones(2)))
    np.testing.assert_allclose(ng.grad(found.a, a)[0].numpy(), 4.0)


def test_dataclasses_are_results():
    x = np.array([1.0, 2.0])
    jacobian = ng.func.jacobian(lambda x: Params(x[0] * x[1], x**2, 3))(x)
    np.testing.assert_allclose(jacobian.a, [2.0, 1.0])
    np.testing.assert_allclose(jacobian.b, np.diag(2 * x))
    assert jacobian.power == 3
    captured = ng.jit(lambda x: Params(x.sum(), x * 2, 3))
    for _ in range(3):
        found = captured(x)
        assert (float(found.a), found.b.tolist(), found.power) == (3.0, [2.0, 4.0], 3)


def test_dataclasses_are_mapped():
    many = Params(np.array([1.0, 2.0, 3.0]), np.arange(6.0).reshape(3, 2))
    many.state = np.ones(3)
    found = ng.func.vmap(lambda p: Params(p.a * 2, p.b.sum() + p.a))(many)
    np.testing.assert_allclose(found.a, [2.0, 4.0, 6.0])
    np.testing.assert_allclose(found.b, [2.0, 7.0, 12.0])


def test_a_captured_function_is_recorded_for_each_setting():
    captured = ng.jit(lambda p: (p.a * p.b**p.power).sum())
    b = np.array([1.0, 3.0])
    for power in (2, 3, 2):
        for a in (1.0, 2.0):
            assert float(captured(Params(a, b, power))) == a * (1 + 3.0**power)
    static = ng.jit(lambda f: f.inner.a * f.window[0])
    for first in (1, 5, 1):
        assert float(static(Frozen(Params(2.0, b), [], np.array([first, 2])))) == 2 * first


def test_branches_take_and_return_dataclasses():
    def clipped(p):
        return ng.func.cond(
            p.a > 0, lambda p: Base(p.a**2, p.b), lambda p: Base(p.a, 0 * p.b), p
        ).a  # fmt: skip

    for a, slope in ((3.0, 6.0), (-3.0, 1.0)):
        for gradient in (ng.func.grad(clipped), ng.jit(ng.func.grad(clipped))):
            assert float(gradient(Base(a, np.ones(2))).a) == slope


def test_integers_of_a_field_for_floats_are_no_settings():
    with pytest.raises(DtypeError, match=r"write 1\.0 instead of 1"):
        ng.func.grad(lambda p: (p.a * p.b).sum())(Params(2, np.ones(2)))


@dataclasses.dataclass
class Derived:
    side: float
    area: float = dataclasses.field(init=False)

    def __post_init__(self):
        self.area = self.side**2


def test_what_would_not_follow_the_fields_is_refused():
    for transformed in (ng.func.grad, ng.jit):
        with pytest.raises(ArgTypeError, match=r"Derived\.area .* make it a property"):
            transformed(lambda d: d.area)(Derived(2.0))
    params = Params(2.0, np.ones(2))
    params.total = 3.0
    with pytest.raises(ArgTypeError, match=r"Params\.total .* make it a property"):
        ng.func.grad(lambda p: p.a)(params)


class Mesh:
    def __init__(self, nodes, scale, name="m"):
        self.nodes, self.scale, self.name = nodes, scale, name


def test_an_unknown_class_is_told_how_it_is_registered():
    mesh = Mesh(np.ones(2), 2.0)
    line = r"ng\.func\.register_pytree\(Mesh, lambda x: \(\(x\.nodes, x\.scale\), \(x\.name,\)\)"
    for call in (
        lambda: ng.func.grad(lambda m: m.scale)(mesh),
        lambda: ng.jit(lambda m: m.scale)(mesh),
        lambda: ng.jit(lambda x: Mesh(x, x))(1.0),
        lambda: ng.func.vmap(lambda m: m.scale)(mesh),
        lambda: ng.func.jacobian(lambda x: Mesh(x, x))(1.0),
    ):
        with pytest.raises(ArgTypeError, match=line):
            call()


def test_registered_classes():
    class Grid(Mesh):
        pass

    def unflatten(name, children):
        return Grid(*children, name)

    ng.func.register_pytree(Grid, lambda m: ((m.nodes, m.scale), m.name), unflatten)
    grid = Grid(np.array([1.0, 2.0]), 3.0, "g")
    for gradient in (ng.func.grad, lambda f: ng.jit(ng.func.grad(f))):
        found = gradient(lambda m: (m.nodes**2).sum() * m.scale)(grid)
        assert (found.nodes.tolist(), float(found.scale), found.name) == ([6.0, 12.0], 5.0, "g")
    with pytest.raises(ArgTypeError, match="registered already"):
        ng.func.register_pytree(Grid, lambda m: ((), None), unflatten)
    with pytest.raises(ArgTypeError, match="expected a class"):
        ng.func.register_pytree(grid, lambda m: ((), None), unflatten)


def test_a_registration_comes_before_the_fields():
    @dataclasses.dataclass
    class Scaled:
        a: float
        b: float

    assert float(ng.func.grad(lambda s: s.a * s.b)(Scaled(2.0, 3.0)).b) == 2.0
    ng.func.register_pytree(Scaled, lambda s: ((s.a,), s.b), lambda b, ch: Scaled(*ch, b))
    found = ng.func.grad(lambda s: s.a * s.b)(Scaled(2.0, 3.0))
    assert (float(found.a), found.b) == (3.0, 3.0)


def test_classes_of_attrs():
    attrs = pytest.importorskip("attrs")

    @attrs.define
    class Rates:
        up: float
        _down: float = 1.0
        unit: str = "1/s"

    found = ng.func.grad(lambda r: r.up**2 * r._down)(Rates(3.0, 2.0))
    assert found == Rates(12.0, 9.0)


@dataclasses.dataclass
class Wave:
    heights: Any
    base: Any
    order: int = 2
    name: str = "sea"


def test_axes_of_samples_are_given_by_field():
    heights, base = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0])
    wave = Wave(heights, base, 3, "lake")

    def power(wave):
        assert (wave.name, wave.order) == ("lake", 3)
        return (wave.heights**wave.order).sum() * wave.base.sum()

    expected = (heights**3).sum(axis=0) * 3.0
    of_pair = ng.func.vmap(lambda p: power(p[0]) * p[1], in_axes=((Wave(-1, None), 0),))
    np.testing.assert_allclose(of_pair((wave, expected)), expected**2)
    for function in (power, ng.jit(power)):
        mapped = ng.func.vmap(function, in_axes=(Wave(1, None),))
        np.testing.assert_allclose(mapped(wave), expected)
    gradient = ng.func.vmap(ng.func.grad(power), (Wave(1, None, None, None),), Wave(1, 0))(wave)
    np.testing.assert_allclose(gradient.heights, 9 * heights**2)
    np.testing.assert_allclose(gradient.base, (heights**3).sum(axis=0)[:, None] + np.zeros(2))
    shared = ng.func.vmap(lambda x: Wave(x, base), out_axes=Wave(0, None))(heights)
    assert shared.base.shape == (2,)
    all_of_one = ng.func.vmap(lambda f: f.inner.a * f.others[0], in_axes=(Frozen(None, [0]),))
    inner = Params(2.0, np.ones(2))
    np.testing.assert_allclose(all_of_one(Frozen(inner, [base])), [2.0, 4.0])
    with pytest.raises(ArgTypeError, match="expected a Wave, got a tuple of 2"):
        ng.func.vmap(power, in_axes=((0, None),))(wave)
    with pytest.raises(ArgTypeError, match="ints and None, got 'x'"):
        ng.func.vmap(power, in_axes=(Wave(0, "x"),))(wave)


def cube(x):
    return x**3


@dataclasses.dataclass(frozen=True, kw_only=True)
class Network:
    weight: Any
    activation: Any = np.tanh
    layers: tuple = (np.sin, cube)
    mode: Any = None


def test_fields_that_hold_functions():
    bound = Params(2.0, np.ones(2))
    functions = [
        cube, np.exp, ng.sin, lambda x: x * x, functools.partial(np.multiply, 2.0), ng.jit(cube),
        ng.func.grad(cube), bound.__eq__,
    ]  # fmt: skip

    def output(network):
        return network.layers[0](network.activation(network.weight))

    captured = ng.jit(ng.func.grad(output))
    for function in functions[:-1]:
        network = Network(weight=0.5, activation=function)
        found = ng.func.grad(output)(network)
        h = 1e-5
        ends = [float(output(Network(weight=0.5 + s, activation=function))) for s in (h, -h)]
        np.testing.assert_allclose(found.weight, (ends[0] - ends[1]) / (2 * h), rtol=1e-8)
        for _ in range(2):
            again = captured(network)
            assert float(again.weight) == float(found.weight)
            assert again.activation is function
        result = ng.jit(lambda x, f=function: Network(weight=x, activation=f))(2.0)
        assert result.activation is function
    assert f"{len(functions) - 1} recordings" in repr(captured)
    with_method = Network(weight=0.5, mode=[bound.__eq__, "text"])
    assert captured(with_method).mode == with_method.mode


class Rod:
    def __init__(self, name, length, width=1.0):
        self.length, self.width, self.name = length, width, name


class Rest:
    pass


class Empty:
    def __call__(self, x):
        return x**2


class Listed(list):
    pass


class Named(dict):
    pass


def test_the_line_that_registers_a_class_works():
    cases = [
        (Mesh(np.ones(2), 2.0), lambda m: m.scale * m.nodes.sum()),
        (Rod("r", 2.0, 3.0), lambda r: r.length * r.width),
        (Listed([1.0, 2.0]), lambda items: items[0] * items[1]),
        (Named(a=2.0, b=3.0), lambda d: d["a"] * d["b"]),
        (types.SimpleNamespace(a=2.0, b=3.0), lambda s: s.a * s.b),
        ((Empty(), 3.0), lambda pair: pair[0](pair[1])),
    ]
    for value, function in cases:
        for call in (ng.func.grad(function), ng.jit(function)):
            with pytest.raises(ArgTypeError) as caught:
                call(value)
            (line,) = re.findall(r"ng\.func\.register_pytree\(.*\)$", str(caught.value))
        names = {"ng": ng, "SimpleNamespace": types.SimpleNamespace, **globals()}
        exec(line, names)
        gradient = ng.func.grad(function)(value)
        assert type(gradient) is type(value)
        assert ng.jit(function)(value) == function(value)
    assert float(ng.func.grad(lambda r: r.length * r.width)(Rod("r", 2.0, 3.0)).length) == 3.0


def test_what_holds_no_arrays_is_told_where_it_may_be():
    values = np.random.default_rng(0), "text", np.dtype(float)
    for value in values:
        with pytest.raises(ArgTypeError, match=r"metadata=\{'static': True\}") as caught:
            ng.func.grad(lambda pair: pair[0] * 2)((1.0, value))
        assert "register_pytree" not in str(caught.value)
        assert "argument 0 at [1] has a leaf" in str(caught.value)
    nested = {"rods": [Network(weight=1.0), Network(weight=2.0, mode=Rest())]}
    with pytest.raises(ArgTypeError, match=r"at \.rods\[1\]\.mode has a leaf of type Rest"):
        ng.func.grad(lambda x, d: x, argnums=1)(1.0, nested)
    with pytest.raises(DtypeError, match=r"grad: argument 0 at \[1\]\.weight has dtype int64"):
        ng.func.grad(lambda pair: pair[0])((1.0, Network(weight=3)))


@dataclasses.dataclass
class Run:
    rate: float
    folder: Any = pathlib.Path("runs")
    day: Any = datetime.date(2020, 2, 29)
    tags: set = dataclasses.field(default_factory=lambda: {"a", 1})
    indices: Any = None


def test_paths_dates_and_sets_in_fields_are_handed_on():
    run = Run(3.0)
    for gradient in (ng.func.grad, lambda f: ng.jit(ng.func.grad(f))):
        found = gradient(lambda r: r.rate ** len(r.tags))(run)
        assert float(found.rate) == 6.0
        assert (found.folder, found.day, found.tags) == (run.folder, run.day, run.tags)
    with pytest.raises(DtypeError, match=r"at \.indices has .*such as indices, is marked so"):
        ng.func.grad(lambda r: r.rate * r.indices[0])(Run(3.0, indices=np.array([1, 2])))
    with pytest.raises(ArgTypeError, match=r"got Run; write @dataclass\(frozen=True\)"):
        ng.jit(lambda r, x: x * r.rate, static_argnums=0)(run, 2.0)


@dataclasses.dataclass
class Layer:
    weight: Any
    activation: Any = np.tanh


def test_functions_among_the_fields_are_settings_in_every_transform():
    """The gradient of ``sum(f(w x))`` to w is ``x f'(w x)``; another function is recorded anew."""

    def loss(layer, x):
        return layer.activation(layer.weight * x).sum()

    def longer(layer, x):
        return Layer(layer.weight * x, layer.activation)

    weight, x, layer = np.array([0.5, 1.0]), 2.0, Layer(np.array([0.5, 1.0]))
    slopes = {np.tanh: lambda u: 1 - np.tanh(u) ** 2, ng.sin: np.cos}
    captured, gradient = ng.jit(loss), ng.jit(ng.func.grad(loss))
    for activation in (np.tanh, ng.sin, np.tanh):
        layer.activation = activation
        for found in (ng.func.grad(loss)(layer, x), gradient(layer, x)):
            slope = slopes[activation](x * weight)
            np.testing.assert_allclose(found.weight, x * slope, rtol=1e-14)
            assert found.activation is activation
        np.testing.assert_allclose(captured(layer, x), loss(layer, x), rtol=1e-14)
        assert ng.jit(longer)(layer, x).activation is activation
        rows = ng.func.vmap(loss, in_axes=(None, 0))(layer, np.array([0.0, x]))
        np.testing.assert_allclose(rows, [0.0, loss(layer, x)], rtol=1e-14, atol=1e-15)


def test_a_function_that_a_captured_one_makes_is_no_result():
    def closing(layer, x):
        return Layer(layer.weight, lambda u: u * x)

    with pytest.raises(ArgTypeError, match="returns a function"):
        ng.jit(closing)(Layer(np.ones(2)), 2.0)


@dataclasses.dataclass
class Nested:
    a: object
    b: object


def test_gradients_flow_through_what_dataclasses_makes_of_fields():
    def taken_apart(x):
        nested = Nested(2 * x[0], [x[1], {"k": x[0]}])
        a, b = dataclasses.astuple(nested)
        fields = dataclasses.asdict(nested)
        return a * b[0] + fields["b"][1]["k"] * fields["a"]

    for gradient in (ng.func.grad(taken_apart), ng.jit(ng.func.grad(taken_apart))):
        np.testing.assert_array_equal(gradient(np.array([1.0, 2.0])), [8.0, 2.0])
    k = ng.tensor(2.0, requires_grad=True)
    assert ng.grad(dataclasses.asdict(Nested(k, 1))["a"] ** 2, k)[0].item() == 4.0
