"""The short way of elementwise operations: the same graph, values and errors as the general way."""

import math

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad._errors import InplaceError
from numgrad.engine.graph.value import View
from numgrad.engine.record import apply, operands
from numgrad.operators.shape import joining
from tests.sampling import one_in


def leaf(*shape):
    rng = np.random.default_rng(3)
    return ng.tensor(rng.random(shape) + 0.5, requires_grad=True)


@pytest.fixture
def calls(monkeypatch):
    """The operators that took the general way."""
    names = []
    general = apply.apply

    def counted(operator, inputs, static):
        names.append(operator.name)
        return general(operator, inputs, static)

    monkeypatch.setattr("numgrad.engine.record.apply.apply", counted)
    return names


@pytest.mark.parametrize(
    "operate",
    [
        lambda x, y: x * y,
        lambda x, y: x / y,
        lambda x, y: -x,
        lambda x, y: ng.sin(x),
        lambda x, y: ng.exp(y),
        lambda x, y: 2.0 * x,
        lambda x, y: x - 3,
        lambda x, y: ng.maximum(x, y),
        lambda x, y: x * y[:1],
        lambda x, y: x * np.float64(2.0),
    ],
)
def test_both_ways_give_the_same_node(operate, monkeypatch):
    x, y = leaf(3), leaf(3)
    operate(x, y)
    short = operate(x, y)
    monkeypatch.setattr("numgrad.engine.record.dispatch.learn", lambda *args: None)
    ng.set_flags()  # forgets what is known
    long = operate(x, y)
    assert np.array_equal(short.detach().numpy(), long.detach().numpy())
    assert short.spec == long.spec
    ours, theirs = short.node, long.node
    assert ours.operator is theirs.operator
    assert ours.kind is theirs.kind is not None
    assert (ours.inputs, ours.outputs, ours.needs) == (theirs.inputs, theirs.outputs, theirs.needs)
    assert [s is None for s in ours.saved] == [s is None for s in theirs.saved]
    assert ours.site == theirs.site
    for a, b in zip(ng.grad(short.sum(), [x, y], allow_unused=True),
                    ng.grad(long.sum(), [x, y], allow_unused=True), strict=True):  # fmt: skip
        assert (a is None) == (b is None)
        assert a is None or np.array_equal(a.numpy(), b.numpy())


@pytest.mark.short_ways
def test_a_known_operation_takes_the_short_way(calls):
    x, y = leaf(4), leaf(4)
    _ = x * y, 2.5 * x, ng.cos(x), -x
    calls.clear()
    _ = y * x, 2.5 * y, 1.5 * y, ng.cos(y), -y
    assert calls == []


def test_numbers_that_compare_equal_stay_apart():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    for number in (0.0, -0.0, 0, -0.0, 0.0):
        for _ in range(2):
            expected = np.copysign(1.0, x.detach().numpy() * number)
            assert np.array_equal(np.copysign(1.0, (x * number).detach().numpy()), expected)
    assert (x * True).dtype == np.float64
    assert (x * 1j).dtype == np.complex128
    for _ in range(2):
        assert np.isnan((x + math.nan).detach().numpy()).all()


def test_a_number_beside_integers_is_promoted():
    x = ng.tensor([1, 2])
    assert (x * 2).dtype == np.int64
    assert (x * 2.5).tolist() == [2.5, 5.0]
    assert (x * 2).tolist() == [2, 4]


@pytest.mark.short_ways
def test_constants_cannot_be_written():
    x = leaf(2)
    y = x * 7.25
    y = x * 7.25
    saved = y.node.saved[1]
    assert not saved.array.flags.writeable


def test_no_grad_and_deferred_values_are_respected():
    x = leaf(3)
    _ = x * x
    with ng.no_grad():
        y = x * x
    assert not y.requires_grad
    assert y.node is None
    with apply.deferring():
        assert (x * x).array is None


@pytest.mark.short_ways
def test_other_threads_modes_do_not_matter_here():
    import threading

    entered, leave = threading.Event(), threading.Event()

    def elsewhere():
        with ng.no_grad():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=elsewhere)
    thread.start()
    entered.wait()
    x = leaf(2)
    assert (x * x).requires_grad
    leave.set()
    thread.join()
    assert threading.get_ident() not in apply.other_modes


def test_a_written_operand_is_noticed():
    x = leaf(3)
    y = x * 1.0
    z = y * y
    with ng.no_grad():
        y += 1.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        ng.grad(z.sum(), x)
    w = y * y  # saved after the write: at its present version
    assert np.allclose(ng.grad(w.sum(), x)[0].numpy(), 2 * (x.detach().numpy() + 1.0))


def test_a_user_array_is_copied_when_saved():
    array = np.array([1.0, 2.0])
    x = leaf(2)
    for _ in range(2):
        array[:] = [1.0, 2.0]
        y = x * array
        array[:] = 9.0
        assert ng.grad(y.sum(), x)[0].tolist() == [1.0, 2.0]


def test_a_partial_declared_later_counts():
    @ng.elementwise
    def twice(x):
        return x + x

    x = leaf(2)
    _ = twice(x), twice(x)

    @twice.partial("x")
    def twice_dx(x):
        return 2.0 + 0.0 * x

    assert ng.grad(twice(x).sum(), x)[0].tolist() == [2.0, 2.0]


def test_a_changed_setting_drops_the_plans():
    x = leaf(5)
    _ = x * x
    assert x.spec in registry["multiply"].kinds
    ng.set_flags(sort_sum_gradient=ng.get_flags("sort_sum_gradient")["sort_sum_gradient"])
    assert x.spec not in registry["multiply"].kinds
    assert np.array_equal((x * x).detach().numpy(), x.detach().numpy() ** 2)


def test_plans_and_constants_are_bounded(monkeypatch):
    monkeypatch.setattr(registry["multiply"].kinds, "most", 4)
    monkeypatch.setattr(operands, "_MOST_CONSTANTS", 4)
    for n in range(10):
        x = leaf(n + 1)
        _ = x * x, x * 2.0
        assert len(registry["multiply"].kinds) <= 4
    for n in range(10):
        assert (x * float(n)).tolist() == (x.detach().numpy() * n).tolist()
    assert len(registry["multiply"].kinds[x.spec, float].constants) <= 4


@pytest.mark.parametrize(
    "function",
    [
        lambda x: ng.roll(x, 1),
        lambda x: ng.roll(x, -1, 0),
        lambda x: ng.roll(x, (1, 2), (0, 1)),
        lambda x: x[1],
        lambda x: x[..., 1:, None],
        lambda x: x.reshape(2, -1),
        lambda x: x.T,
        lambda x: ng.broadcast_to(x, (2, 3, 4)),
        lambda x: x.sum(),
        lambda x: x.sum(0),
        lambda x: x.sum(axis=-1, keepdims=True),
        lambda x: x.max(0),
        lambda x: x.mean(),
        lambda x: ng.concat([x, x], 1),
        lambda x: ng.stack([x, x]),
        lambda x: ng.where(x > 1, x, 0.0),
        lambda x: ng.clip(x, 0.75, 1.25),
        lambda x: x * x[0],
        lambda x: x[0] / x,
        lambda x: ng.cumsum(x, 1),
    ],
)
@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x.T, lambda x: x[:, ::-1]])
def test_any_function_gives_the_same_both_ways(function, layout, monkeypatch):
    x = leaf(3, 4)
    if layout(x).shape != x.shape:
        x = leaf(4, 3)
    operand = layout(x)
    function(operand)
    short = function(operand)
    monkeypatch.setattr("numgrad.engine.record.dispatch.learn", lambda *args: None)
    monkeypatch.setattr("numgrad.engine.record.options.make_plan", lambda *args: None)
    ng.set_flags()  # forgets what is known
    long = function(operand)
    assert np.array_equal(short.detach().numpy(), long.detach().numpy())
    assert (short.node.kind, short.node.name()) == (long.node.kind, long.node.name())
    assert short.node.site.code is long.node.site.code
    assert (short._view is None) == (long._view is None)
    assert np.array_equal(*[ng.grad(y.sum(), x)[0].numpy() for y in (short, long)])


def test_options_that_compare_equal_stay_apart():
    x = leaf(3)
    assert x[1].shape == ()
    assert x[True].shape == (1, 3)
    with pytest.raises(IndexError):
        x[1.0]
    assert ng.sum(x, keepdims=True).shape == ng.sum(x, keepdims=1).shape == (1,)
    assert ng.sum(x, keepdims=False).shape == ()


def test_views_without_gradients_are_known_as_such():
    x = leaf(3) * 1.0
    x[1:]
    with ng.no_grad():
        y = x[1:]
    with pytest.raises(RuntimeError, match="gradients were switched off"):
        y += 1.0


OPERANDS = {
    "float": 1.5, "int": 3, "bool": True, "complex": 1 + 2j, "nan": float("nan"), "-0.0": -0.0,
    "float64": np.float64(1.5), "float32": np.float32(1.5), "float16": np.float16(1.5),
    "int64": np.int64(3), "uint8": np.uint8(3), "bool_": np.bool_(True),
    "complex64": np.complex64(1j),
    "array": np.array([[0.5], [2.0]]), "row": np.array([1.0, 2.0, 3.0]), "no axes": np.array(1.5),
    "strided": np.arange(6.0)[::2], "reversed": np.arange(3.0)[::-1], "empty": np.zeros((0, 1, 3)),
    "single": np.ones((2, 3), np.float32), "integers": np.arange(3), "booleans": np.arange(3) > 1,
    "half": np.ones(3, np.float16), "swapped": np.arange(3.0).astype(">f8"),
    "list": [1.0, 2.0, 3.0], "tuple": (1, 2, 3), "nested": [[1.0], [2.0]],
    "tensor": ng.tensor([1.0, 2.0, 3.0]), "single tensor": ng.tensor(np.ones((1, 3), np.float32)),
    "integer tensor": ng.tensor([1, 2, 3]), "complex tensor": ng.tensor([1j, 2.0, 3.0]),
    "leaf": ng.tensor([1.0, 2.0, 3.0], requires_grad=True),
}  # fmt: skip
USES = {
    "x * w": lambda x, w: x * w, "w / x": lambda x, w: w / x, "x - w": lambda x, w: x - w,
    "w + x": lambda x, w: w + x, "maximum": lambda x, w: ng.maximum(x, w),
    "where": lambda x, w: ng.where(x > 0.9, x, w), "clip": lambda x, w: ng.clip(x, 0.8, w),
    "np.multiply": lambda x, w: np.multiply(w, x), "**": lambda x, w: x**w,
}  # fmt: skip


@pytest.mark.parametrize("dtype", one_in(2, [np.float64, np.float32]))
@pytest.mark.parametrize("use", USES.values(), ids=USES)
@pytest.mark.parametrize("w", OPERANDS.values(), ids=OPERANDS)
def test_operands_of_all_kinds_take_the_short_way_with_the_same_result(w, use, dtype, often):
    rng = np.random.default_rng(5)
    x = ng.tensor((rng.random((2, 3)) + 0.5).astype(dtype), requires_grad=True)
    variables = [x, w] if isinstance(w, ng.Tensor) and w.requires_grad else [x]

    def outcome():
        with np.errstate(all="ignore"):
            try:
                y = use(x, w)
            except ng.errors.NumgradError as error:
                return [type(error)]
        gradients = ng.grad(y, variables, ng.ones_like(y)) if y.requires_grad else []
        return [y.detach().numpy(), *[g.numpy() for g in gradients]]

    known = [outcome() for _ in range(4)]
    ng.set_flags()  # forgets what is known
    first = outcome()
    for again in known:
        for a, b in zip(again, first, strict=True):
            assert a is b or (a.dtype == b.dtype and a.tobytes() == b.tobytes())


def test_an_array_may_be_written_between_two_operations():
    w, x = np.array([1.0, 2.0]), leaf(2)
    results = []
    for n in range(4):
        w[:] = n
        results.append(x * w)
    w[:] = 9.0
    for n, y in enumerate(results):
        assert y.tolist() == (n * x.detach().numpy()).tolist()
        assert ng.grad(y.sum(), x)[0].tolist() == [n, n]


@pytest.mark.parametrize("kind", [complex, np.complex128])
def test_equal_complex_numbers_keep_the_signs_of_their_zeros(kind, often):
    chosen, z = ng.tensor([True]), ng.tensor([2.0 + 1j])
    for _ in range(3):
        for number in (complex(1, 0.0), complex(1, -0.0), complex(0.0, 1), complex(-0.0, 1)):
            found = ng.where(chosen, kind(number), z).numpy()
            assert found.tobytes() == np.array([number]).tobytes()


ANEW = [
    lambda x, n: x[n],
    lambda x, n: x[n, 1],
    lambda x, n: x[n:20],
    lambda x, n: x[-n:, None],
    lambda x, n: x[..., n, ::-1],
    lambda x, n: x[n:][1:, 1],
    lambda x, n: x[np.int64(n), np.int8(2)],
    lambda x, n: x.T[:, n:],
    lambda x, n: ng.roll(x, n, 0),
]


def described(value):
    node, view = value.node, value._view
    chain = view.chain if isinstance(view, View) else type(view)
    return value.spec, node.static, node.kind, node.saved, node.slots, chain


@pytest.mark.short_ways
@pytest.mark.parametrize("operate", ANEW)
def test_parameters_that_never_come_again_are_recorded_alike(operate, often, calls):
    x = leaf(30, 3) * 1.0
    short, ways = [], []
    for n in range(1, 9):
        ways.append(len(calls))
        short.append(operate(x, n))
    assert ways[-1] == ways[2]  # what results have in common is known
    ng.set_flags(path="reference")
    try:
        long = [operate(x, n) for n in range(1, 9)]
    finally:
        ng.set_flags(path="default")
    for ours, theirs in zip(short, long, strict=True):
        assert np.array_equal(ours.detach().numpy(), theirs.detach().numpy())
        assert described(ours) == described(theirs)
        assert ours.node.site.code is operate.__code__


@pytest.mark.short_ways
def test_views_at_keys_that_never_come_again_see_writes(often):
    y = leaf(9, 4) * 1.0
    views = [y[n][n % 3 :] for n in range(1, 9)]
    for n, view in enumerate(views, 1):
        view[0] = float(n)
        assert np.array_equal(y[n, n % 3 :].detach().numpy(), view.detach().numpy())
        assert (view.node.name(), view[0].item()) == ("index", n)
    with ng.no_grad():
        apart = [y[n, 1:] for n in range(1, 9)]
    assert not any(view.requires_grad for view in apart)
    with pytest.raises(InplaceError):
        apart[-1][0] = 1.0


def test_many_tensors_of_which_derivatives_read_nothing_have_a_plan():
    weights = np.arange(1.0, 10.0)
    for scale in (1.0, 2.0, 3.0):  # the second call makes the plan
        xs = [ng.tensor([scale * n], requires_grad=n % 3 == 0) for n in range(9)]
        y = ng.concatenate(xs)
        assert y.tolist() == [scale * n for n in range(9)]
        found = ng.grad((y * weights).sum(), xs[::3])
        assert [g.item() for g in found] == [1.0, 4.0, 7.0]
    kinds = joining.concat.kinds.values()
    assert ((xs[0].spec,) * 9, True) in {(kind.inputs, kind.has_plan) for kind in kinds}
