"""Long loops of Python that become one operator while a function is captured."""

import traceback

import numpy as np
import optree
import pytest

import numgrad as ng
from numgrad.control.folding import fold

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
