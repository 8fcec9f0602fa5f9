"""Long loops of Python that become one operator while a function is captured."""

import gc
import traceback

import numpy as np
import optree
import pytest

import numgrad as ng
from numgrad.control.folding import fold
from numgrad.control.folding.recorded import Recorded

pytestmark = pytest.mark.skipif(
    ng.get_flags("path")["path"] == "reference", reason="nothing is folded on the reference path"
)

X = np.linspace(-0.8, 0.9, 12)
TURNS = 40


class Folding:
    """Switches folding on for short loops, and counts the loops that were folded."""

    def __init__(self, monkeypatch):
        self._monkeypatch = monkeypatch
        self.loops = []
        monkeypatch.setattr(fold, "_FEWEST_TURNS", 6)
        monkeypatch.setattr(fold, "_EXPRESSIONS", 12)
        made = fold.Folder.outputs

        def outputs(folder):
            found = made(folder)
            self.loops += folder.loops
            return found

        monkeypatch.setattr(fold.Folder, "outputs", outputs)

    def both(self, transform, f, *args):
        """Return results without folding and with it; at least one loop must have been folded."""
        self._monkeypatch.setattr(fold, "_FEWEST", 1 << 60)
        expected = transform(f)(*args)
        self._monkeypatch.setattr(fold, "_FEWEST", 0)
        self.loops.clear()
        return expected, transform(f)(*args)

    def check(self, f, *args, count=1):
        """Compare the bits of a value and a gradient, folded and not; return the loops."""
        for fuse in ("never", "now"):
            expected, found = self.both(
                lambda g, fuse=fuse: ng.jit(ng.func.value_and_grad(g), fuse=fuse), f, *args
            )
            require_same_bits(found, expected)
            assert len(self.loops) == count
        return self.loops


def require_same_bits(found, expected):
    pairs = zip(optree.tree_leaves(found), optree.tree_leaves(expected), strict=True)
    for a, b in pairs:
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()


@pytest.fixture
def folding(monkeypatch):
    return Folding(monkeypatch)


def pendulum(p, turns=TURNS):
    angle, speed = p[0] * 1.0, p[1] * 1.0
    for _ in range(turns):
        speed = speed - 0.05 * (ng.sin(angle) * p[2] + p[3] * speed)
        angle = angle + 0.05 * speed
    return angle, speed


def read_again_behind(p):
    angle, speed = pendulum(p)
    return (angle * p[2] + speed) * p[3] + (p * p).sum()


def trajectory(p):
    angle, kept = p[0] * 1.0, []
    for _ in range(TURNS):
        angle = angle + 0.1 * ng.sin(angle * p[1]) * angle
        kept.append(angle)
    return (ng.stack(kept) ** 2).sum() + kept[3] * kept[-1] * kept[0]


def losses_in_a_list(p):
    angle, losses = p[0] * 1.0, []
    for t in range(TURNS):
        angle = angle + 0.1 * ng.sin(angle * p[1])
        losses.append((angle - 0.01 * t) ** 2)
    total = 0.0
    for loss in losses:
        total = total + loss
    return total


def windows(x):
    y = x[0] * 1.0
    for t in range(1, len(x) - 1):
        y = 0.5 * y + ng.tanh(x[t - 1] * x[t] + x[t + 1] * y)
    return y * x[2] + x.sum()


def backwards(x):
    y = x[3] * 1.0
    for t in range(len(x) - 1, -1, -1):
        y = 0.5 * y * x[t] + ng.sin(x[t])
    return y


def columns(x):
    y = x[0, 0] * 1.0
    for t in range(x.shape[1]):
        y = 0.5 * y + ng.sin(x[1, t] * y) * x[0, t]
    return y


def rows(x):
    y = x[0] * 1.0
    for t in range(len(x)):
        y = 0.5 * y + ng.sin(x[t] * y[::-1])
    return y.sum()


def looks_back(p):
    before, now = p[0] * 1.0, p[1] * 1.0
    for _ in range(TURNS):
        before, now = now, now * 0.9 + before * p[2] + ng.sin(before)
    return before * now


def numbers_that_vary(p):
    y = p[0] * 1.0
    for t in range(TURNS):
        y = y * 0.9 + ng.sin(y + 0.01 * t * p[1])
    return y


def on_many_numbers(x):
    y = x * 1.0
    for _ in range(TURNS):
        left = ng.concatenate([y[-1:], y[:-1]])
        y = y + 0.1 * (left - y) + x * 0.01 * y * y
    return (y * y).sum() + y[3] * x[2]


def matrices(x):
    a, m = x.reshape(3, 4)[:, :3], ng.eye(3) * 1.0
    for _ in range(TURNS):
        m = ng.tanh(a @ m) * 0.9 + 0.1
    return m.sum() * a[0, 0]


def counts_too(p):
    y, n = p[0] * 1.0, ng.zeros((), dtype=np.int64)
    for _ in range(TURNS):
        y = y * 0.9 + ng.sin(y) * p[1]
        n = n + (y > 0.3)
    return y * n + (n > 3) * p[2]


SHORT = np.linspace(-0.5, 0.6, TURNS)
FUNCTIONS = {
    "read_again_behind": (read_again_behind, X, 1), "trajectory": (trajectory, X, 1),
    "losses_in_a_list": (losses_in_a_list, X, 2), "windows": (windows, SHORT, 1),
    "backwards": (backwards, SHORT, 1), "columns": (columns, SHORT.reshape(2, -1), 1),
    "rows": (rows, SHORT.reshape(-1, 2), 1), "looks_back": (looks_back, X, 1),
    "numbers_that_vary": (numbers_that_vary, X, 1), "on_many_numbers": (on_many_numbers, X, 1),
    "matrices": (matrices, X, 1), "counts_too": (counts_too, X, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients_have_the_same_bits(folding, name):
    f, x, count = FUNCTIONS[name]
    folding.check(f, x, count=count)


def test_eager_gradients_have_these_bits(folding):
    for f, x in ((read_again_behind, X), (windows, SHORT), (losses_in_a_list, X)):
        _, found = folding.both(lambda g: ng.jit(ng.func.value_and_grad(g)), f, x)
        require_same_bits(found, ng.func.value_and_grad(f)(x))


@pytest.mark.parametrize("name", ["read_again_behind", "windows", "on_many_numbers", "trajectory"])
def test_values_alone(folding, name):
    f, x, count = FUNCTIONS[name]
    expected, found = folding.both(ng.jit, f, x)
    require_same_bits(found, expected)
    assert len(folding.loops) == count


def test_gradients_that_the_function_itself_computes(folding):
    def inner(x):
        x = ng.asarray(x).detach().requires_grad_()
        return ng.grad(read_again_behind(x), x)[0] * 2

    expected, found = folding.both(ng.jit, inner, X)
    require_same_bits(found, expected)
    assert folding.loops


MODES = {
    "hessian": lambda f: ng.func.hessian(f),
    "jvp": lambda f: lambda x: ng.func.jvp(f, (x,), (np.cos(x),)),
    "jacobian": lambda f: ng.func.jacobian(lambda x: ng.stack([f(x), f(x * 0.5)])),
    "vmap": lambda f: lambda x: ng.func.vmap(ng.func.grad(f))(np.stack([x, x * 0.9])),
    "of_a_captured_function": lambda f: lambda x: ng.func.grad(ng.jit(f))(x),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["read_again_behind", "windows", "on_many_numbers"])
def test_other_modes_and_orders(folding, mode, name):
    f, x, _ = FUNCTIONS[name]
    x = x[:12]
    expected, found = folding.both(lambda g: ng.jit(MODES[mode](g)), f, x)
    pairs = zip(optree.tree_leaves(found), optree.tree_leaves(expected), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def test_what_a_function_reads_from_outside_is_read_at_each_call(folding):
    rate = np.array(0.7)
    k = ng.tensor(0.3, requires_grad=True)

    def f(p):
        y = p[0] * 1.0
        for t in range(TURNS):
            y = y * rate + ng.sin(y * k) * 0.1 * t
        return y

    _, found = folding.both(lambda g: ng.jit(ng.func.value_and_grad(g)), f, X)
    captured = ng.jit(ng.func.value_and_grad(f))
    require_same_bits(_arrays(captured(X)), _arrays(found))
    loss = ng.jit(f)
    (gradient,) = ng.grad(loss(ng.tensor(X)), k)
    rate[...] = 0.5
    require_same_bits(_arrays(captured(X)), _arrays(ng.func.value_and_grad(f)(X)))
    (changed,) = ng.grad(loss(ng.tensor(X)), k)
    assert float(changed) != float(gradient)
    np.testing.assert_allclose(changed, ng.grad(f(ng.tensor(X)), k)[0], rtol=1e-13)


def _arrays(tree):
    return [ng.asarray(leaf).detach().numpy() for leaf in optree.tree_leaves(tree)]


def test_graphs_that_are_no_loops_stay_as_they_are(folding):
    parts = [np.array(0.1 * t) for t in range(TURNS)]

    def reads_arrays_of_a_list(p):
        y = p[0] * 1.0
        for part in parts:
            y = y * 0.9 + ng.sin(y) * part
        return y

    def looks_far_back(p):
        ys = [p[0] * 1.0] * 20
        for t in range(TURNS):
            ys.append(ys[-1] * 0.9 + ng.sin(ys[t]))
        return ys[-1]

    def irregular(p):
        y = p[0] * 1.0
        for t in range(TURNS):
            y = ng.sin(y) if t * t % 7 < 3 else y * 0.9 + p[t % 5]
        return y

    for f in (reads_arrays_of_a_list, looks_far_back, irregular):
        expected, found = folding.both(lambda g: ng.jit(ng.func.value_and_grad(g)), f, X)
        require_same_bits(found, expected)
        assert not folding.loops


def test_arrays_of_a_list_are_read_at_each_call(folding):
    parts = [np.array(0.1 * t) for t in range(TURNS)]

    def f(p):
        y = p[0] * 1.0
        for part in parts:
            y = y * 0.9 + ng.sin(y) * part
        return y

    folding.both(ng.jit, f, X)
    captured = ng.jit(f)
    before = captured(X)
    parts[7][...] = -3.0
    assert captured(X) != before
    require_same_bits(captured(X), np.asarray(f(ng.tensor(X))))


def test_hooks_are_called_as_ever(folding):
    seen = []

    def f(p):
        y = p[0] * 1.0
        for _ in range(TURNS):
            y = y * 0.9 + ng.sin(y)
            y.register_hook(lambda g: seen.append(1) or g * 0.99)
        return y

    expected, found = folding.both(lambda g: ng.jit(ng.func.value_and_grad(g)), f, X)
    require_same_bits(found, expected)
    assert len(seen) == 2 * TURNS


def test_parts_of_a_graph_without_gradients(folding):
    def f(p):
        y, frozen = p[0] * 1.0, p[1] * 1.0
        for _ in range(TURNS):
            frozen = (frozen * 0.9 + y.detach() * p[2]).detach()
            with ng.no_grad():
                scale = ng.exp(-frozen * p[3])
            y = y * 0.8 + ng.sin(y * p[3]) * scale + frozen
        return y * frozen

    folding.check(f, X)


def test_results_in_containers_and_integers(folding):
    def f(p):
        angle, speed = pendulum(p)
        return {"ends": (angle, speed), "energy": speed * speed - ng.cos(angle), "p": p * 2, "n": 3}

    expected, found = folding.both(ng.jit, f, X)
    require_same_bits(found, expected)
    assert type(found["n"]) is type(expected["n"])


def test_an_error_in_a_step_names_the_line(folding):
    def f(p):
        m = ng.eye(2) * p[0]
        for _ in range(TURNS):
            m = ng.linalg.inv(m) * p[0]
        return m.sum()

    expected, found = folding.both(ng.jit, f, X)
    require_same_bits(found, expected)
    assert folding.loops
    captured = ng.jit(f)
    captured(X)
    with pytest.raises(ng.errors.MatrixError) as error:
        captured(X * 0.0)
    text = "".join(traceback.format_exception(error.value)) + str(error.value)
    assert "test_folding.py" in text


@pytest.mark.parametrize("budget", [0, 256])
def test_states_that_do_not_fit_into_the_memory(folding, budget):
    before = ng.get_flags("loop_memory")
    ng.set_flags(loop_memory=budget)
    try:
        expected, found = folding.both(
            lambda g: ng.jit(ng.func.value_and_grad(g)), read_again_behind, X
        )
    finally:
        ng.set_flags(**before)
    require_same_bits(found, expected)
    assert len(folding.loops) == (1 if budget else 2)  # the derivative is folded as it was recorded


def test_a_recording_needs_no_garbage_collector_to_be_freed(folding):
    def f(p):
        y = p[0] * 1.0
        for _ in range(TURNS):
            y = ng.sin(y) * p[1]
        return y

    def recordings():
        return [item for item in gc.get_objects() if type(item) is Recorded]

    gc.collect()
    gc.disable()
    try:
        folding.both(lambda g: ng.jit(ng.func.value_and_grad(g)), f, X)
        assert folding.loops
        assert recordings()
        folding.loops.clear()
        assert not recordings()
    finally:
        gc.enable()
