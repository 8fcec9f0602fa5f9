"""Programs that overwrite what derivatives read: NumPy's values, first and second derivatives
against finite differences, however they are run."""

import tracemalloc

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import InplaceError, UnusedInputError
from numgrad.engine.lower.executable import Executable
from numgrad.graph import saved_tensors_hooks
from tests.sampling import one_in

from .time_loops import PROGRAMS, heat, lu, softmax

X = np.array([0.7, 1.3, 0.4, 0.9, 1.1])
G = np.random.default_rng(5).standard_normal((3, 40))
V = np.array([0.5, -1.0, 0.25, 0.75, -0.5])
every = pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)


def total(program, x, xp, weights=G[0]):
    """Return a number to which all elements of the result contribute."""
    y = program(x, xp).reshape(-1)
    return (y * weights[: y.shape[0]]).sum()


def slopes(function, x, h=1e-5):
    """Return central differences along each element."""
    return np.stack([(function(x + e) - function(x - e)) / (2 * h) for e in h * np.eye(x.size)])


def gradient(program, x, weights=G[0]):
    t = ng.tensor(x, requires_grad=True)
    return ng.grad(total(program, t, ng, weights), t)[0].numpy()


@every
def test_first_and_second_derivative(program):
    t = ng.tensor(X, requires_grad=True)
    value = total(program, t, ng)
    np.testing.assert_allclose(value.detach().numpy(), total(program, X, np), 1e-13)
    (g,) = ng.grad(value, t, create_graph=True)
    expected = slopes(lambda x: total(program, x, np), X)
    np.testing.assert_allclose(g.detach().numpy(), expected, 1e-7, 1e-8)
    (second,) = ng.grad(g @ V, t, retain_graph=True)
    expected = slopes(lambda x: gradient(program, x) @ V, X)
    np.testing.assert_allclose(second.numpy(), expected, 1e-6, 1e-7)
    (again,) = ng.grad(g @ V, t)
    np.testing.assert_array_equal(again.numpy(), second.numpy())


@pytest.mark.parametrize("program", one_in(2, PROGRAMS), ids=lambda program: program.__name__)
def test_captured(program):
    def function(x):
        return total(program, x, ng)

    expected = gradient(program, X)
    np.testing.assert_allclose(ng.jit(function)(X), total(program, X, np), 1e-13)
    np.testing.assert_allclose(ng.func.grad(ng.jit(function))(X), expected, 1e-12, 1e-13)
    captured = ng.jit(ng.func.grad(function))
    for _ in range(3):
        np.testing.assert_allclose(captured(X), expected, 1e-12, 1e-13)
    hessian = ng.func.hessian(function)(X)
    np.testing.assert_allclose(ng.jit(ng.func.hessian(function))(X), hessian, 1e-11, 1e-12)
    np.testing.assert_allclose(hessian, hessian.T, 1e-11, 1e-12)
    _, product = ng.func.jvp(ng.func.grad(function), (X,), (V,))
    np.testing.assert_allclose(product, hessian @ V, 1e-11, 1e-12)


@every
def test_batched(program):
    t = ng.tensor(X, requires_grad=True)
    y = program(t, ng).reshape(-1)
    seeds = G[:, : y.shape[0]]
    rows = ng.grad(y, t, seeds, is_grads_batched=True, retain_graph=True)[0].numpy()
    looped = [ng.grad(y, t, seed, retain_graph=True)[0].numpy() for seed in seeds]
    np.testing.assert_array_equal(rows, np.stack(looped))
    np.testing.assert_allclose(rows[1], gradient(program, X, G[1]), 1e-13)


@pytest.mark.parametrize("program", one_in(3, [heat, softmax, lu]))
def test_a_line_that_is_run_often(program):
    points = X + 0.05 * np.random.default_rng(0).standard_normal((150, X.size))
    with saved_tensors_hooks(lambda t: t.numpy().copy(), ng.tensor):  # takes no short ways
        expected = [gradient(program, x) for x in points]
    for x, g in zip(points, expected, strict=True):
        np.testing.assert_allclose(gradient(program, x), g, 1e-12, 1e-13)


@pytest.mark.parametrize(
    ("pack", "unpack"),
    [
        (lambda t: t, lambda t: t),
        (lambda t: t.numpy(), ng.tensor),
        (lambda t: ("cpu", t.detach()[...]), lambda packed: packed[1]),
    ],
    ids=["the value", "its array", "a view of it"],
)
@every
def test_hooks_on_saved_values(program, pack, unpack):
    expected = gradient(program, X)
    with saved_tensors_hooks(pack, unpack):
        np.testing.assert_allclose(gradient(program, X), expected, 1e-13)


# What saves ---------------------------------------------------------------------------------------


class Cube(ng.Function):
    """An operation that saves its argument and its result."""

    @staticmethod
    def forward(ctx, x):
        y = x * x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * (2 * x * x + y / x)


@ng.elementwise
def cubed(x):
    return x * x * x


@cubed.partial("x")
def cubed_dx(x):
    return 3 * x * x


SAVERS = {
    "a function": Cube.apply,
    "a user's operator": cubed,
    "products": lambda x: x * x * x,
    "a power": lambda x: x**3,
    "a matrix": lambda x: (x.reshape(1, -1).T @ x.reshape(1, -1)) @ x / (x @ x) * x * x,
    "choices": lambda x: ng.where(x > 0, x, -x) ** 3,
    "a captured function": ng.jit(lambda x: x * x * x),
    "a leaf's constant": lambda x: ng.tensor(np.ones(3)) * x * x * x,
}


@pytest.mark.parametrize("cube", SAVERS.values(), ids=SAVERS)
@pytest.mark.parametrize("written_before", [False, True])
@pytest.mark.parametrize("repetitions", one_in(2, [1, 130]))
def test_whoever_saves_a_part_keeps_what_it_was(cube, written_before, repetitions):
    for _ in range(repetitions):
        x = ng.tensor([0.5, 2.0, 1.5], requires_grad=True)
        table = ng.zeros((3, 3))
        if written_before:
            table[0] = x
        else:
            table = ng.stack([x, x, x])
        table[1] = cube(table[0])
        after = cube(table[0])
        result = cube(after)
        after *= 2.0
        table[0] = -1.0
        table[2] = cube(table[1])
        table[1] = 0.0
        (g,) = ng.grad(table[2].sum() + after.sum() + result.sum(), x, create_graph=True)
        (second,) = ng.grad(g.sum(), x)
    at = x.detach().numpy()
    np.testing.assert_allclose(g.detach().numpy(), 18 * at**8 + 6 * at**2, 1e-12)
    np.testing.assert_allclose(second.numpy(), 144 * at**7 + 12 * at, 1e-12)


def test_constants_that_are_written_between_their_uses():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    buffer, total = ng.zeros(2), 0.0
    for k in range(4):
        buffer[:] = k + 1.0
        total = total + (x * buffer).sum()
        buffer[0] += 1.0
        total = total + (x * buffer[0]).sum()
    np.testing.assert_array_equal(ng.grad(total, x)[0].numpy(), [24.0, 24.0])


def test_a_write_where_gradients_are_off_is_noticed():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    for earlier in (0, 1):
        y = x * 1.0
        if earlier:
            y += 0.0
        z = (y * y).sum()
        with ng.no_grad():
            y[0] = 5.0
        with pytest.raises(InplaceError, match="switched off"):
            ng.grad(z, x, retain_graph=True)
        y[1] = 7.0  # a write that is recorded does not make it good
        with pytest.raises(InplaceError):
            ng.grad(z, x)


def test_a_pass_that_was_met_before_takes_what_was_saved():
    x = ng.tensor([1.0, 2.0, 3.0], requires_grad=True)
    for n in range(8):
        y = x * float(n)
        z = ng.exp(y)
        total = (z * y).sum()
        if n % 2:
            z /= z.sum()
            y[0] = 100.0
        (g,) = ng.grad(total, x, retain_graph=bool(n % 3))
        at = n * x.detach().numpy()
        np.testing.assert_allclose(g.numpy(), n * np.exp(at) * (1 + at), 1e-13)


@pytest.mark.parametrize("way", ["eager", "captured", "recorded", "batched"])
def test_what_is_overwritten_as_a_whole_sends_no_gradient_on(way):
    """An infinite derivative would make NaN of the zeros that it gets."""

    def function(x):
        y, z, m = (x / (x - 1.0) for _ in range(3))  # infinite at 1
        y[:] = x[::-1] * 2.0
        z[::-1] = y
        m[np.ones(4, bool)] = y
        return (y * z).sum() + (m * m).sum()

    def gradient(x):
        if way == "captured":
            return ng.jit(ng.func.grad(function))(x)
        t = ng.tensor(x, requires_grad=True)
        if way == "batched":
            return ng.grad(function(t), t, np.ones(1), is_grads_batched=True)[0].numpy()[0]
        return ng.grad(function(t), t, create_graph=way == "recorded")[0].detach().numpy()

    x = np.array([1.0, 2.0, 1.0, 4.0])
    for _ in range(3):
        np.testing.assert_array_equal(gradient(x), 8 * (x + x[::-1]))


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("recorded", [False, True])
def test_what_is_overwritten_as_a_whole_has_zero_gradient(batched, recorded):
    for _ in range(3):
        x, v = ng.tensor([1.0, 2.0], requires_grad=True), ng.tensor(3.0, requires_grad=True)
        y = x * x
        y[:] = v * v
        unused = ng.tensor([1.0, 2.0], requires_grad=True)
        seeds = np.eye(2) if batched else np.ones(2)
        options = {"is_grads_batched": batched, "create_graph": recorded}
        gx, gv = ng.grad(y, (x, v), seeds, retain_graph=True, **options)
        np.testing.assert_array_equal(gx.detach().numpy(), np.zeros_like(seeds))
        assert gv.detach().numpy().sum() == 12.0
        with pytest.raises(UnusedInputError):
            ng.grad(y, unused, seeds, **options)


FORMS = {
    "rows": lambda s, t, w: s.__setitem__(t + 1, s[t] - w * s[t] * s[t]),
    "rows and what is inside": lambda s, t, w: (
        s.__setitem__(t + 1, s[t]),
        s[t + 1, 1:-1].__iadd__(w * (s[t, 2:] - 2 * s[t, 1:-1] + s[t, :-2])),
    ),
    "elements": lambda s, t, w: s.__setitem__((t + 1, 3), s[t, 3] * w + s[t, 4]),
}


@pytest.mark.parametrize("loss", [lambda s: s[-1].sum(), lambda s: s.sum()], ids=["last", "all"])
@pytest.mark.parametrize("step", FORMS.values(), ids=FORMS)
def test_passes_take_time_in_proportion_to_the_parts(step, loss, monkeypatch):
    """Counted in elements that the instructions of their programs work on."""
    counts = []
    make = Executable.__init__

    def counted(self, program, *args):
        counts.append(sum(instruction.pattern.work for instruction in program.instructions))
        make(self, program, *args)

    def work(rows):
        w = ng.tensor(0.5, requires_grad=True)
        states = ng.zeros((rows, 64))
        states[0] = 1.0
        for t in range(rows - 1):
            step(states, t, w)
        counts.clear()
        (g,) = ng.grad(loss(states), w, create_graph=True)
        ng.grad(g, w)
        return sum(counts)

    monkeypatch.setattr(Executable, "__init__", counted)
    assert 0 < work(160) < 5 * work(40)


def test_memory_is_in_proportion_to_what_is_read():
    def peak(rows):
        w = ng.tensor(0.5, requires_grad=True)
        tracemalloc.start()
        states = ng.zeros((rows, 400))
        states[0] = 1.0
        for t in range(rows - 1):
            states[t + 1] = states[t] * w
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(4)
    assert peak(200) < 6 * peak(50)


def test_what_nobody_needs_any_more_is_not_kept():
    buffer, x = ng.tensor(np.zeros(1000)), ng.tensor(np.ones(1000), requires_grad=True)
    buffer += 1.0
    tracemalloc.start()
    for _ in range(300):
        (buffer * x).sum()
        buffer += 1.0
    found = tracemalloc.get_traced_memory()[0]
    for _ in range(300):
        (buffer * x).sum()
    found = max(found, tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert found < 100_000
