"""Loops over few numbers as one kernel: the bits of their programs, in every mode."""

import numpy as np
import pytest

import numgrad as ng
from numgrad.control import compiled
from numgrad.control.body import Body
from numgrad.engine.rolling import roll

from .bodies import assert_equal, total

X = np.linspace(-0.9, 1.1, 21).reshape(7, 3)
W = np.array([[0.3, 1.2, -0.1], [-0.7, 0.5, 0.4], [0.2, -0.3, 0.9]])
START = np.array([0.1, -0.4, 0.7])
FUNCTIONS = [
    ng.sin, ng.exp, ng.tanh, ng.square, ng.floor, abs, lambda x: ng.sqrt(1.5 + x),
    lambda x: ng.where(x > 0, x, ng.exp(x)), lambda x: ng.maximum(x, 0.1),
]  # fmt: skip


pytestmark = pytest.mark.skipif(
    ng.get_flags("path")["path"] == "reference", reason="nothing is compiled on the reference path"
)


@pytest.fixture
def loops(monkeypatch):
    """Run a function as programs and as compiled loops; return both results, and how often a kernel
    ran or became a part of a program."""
    counts = []
    for name in ("run", "run_rows"):

        run = getattr(compiled.CompiledLoop, name)

        def counted(self, *args, run=run):
            counts.append(self)
            return run(self, *args)

        monkeypatch.setattr(compiled.CompiledLoop, name, counted)
    given = roll.with_given_loops

    def rolled(program):
        found = given(program)
        if found is not None:
            counts.append(found)
        return found

    monkeypatch.setattr(roll, "with_given_loops", rolled)
    before = ng.get_flags("fuse")

    def both(f):
        results = []
        for fuse in ("never", "now"):
            ng.set_flags(fuse=fuse)
            counts.clear()
            results.append(f())
        return *results, len(counts)

    yield both
    ng.set_flags(**before)


def scalars(c, x):
    for n, f in enumerate(FUNCTIONS):
        c = c * 0.5 + f(x[n % 3] + 0.1 * c)
    return c, ng.sin(c)


def arrays(c, x):
    v = ng.stack([c[0] * x[1], c[1] - x[0], ng.sin(c[2])])
    v = W @ v + c.sum() * 0.1 - ng.max(x) * 0.01
    v = ng.where(v > 0, v, ng.exp(v)) / 2
    n = (v > 0.3).astype(np.int64).sum()
    return ng.concat([v[1:], v[:1]]), (n, v.mean(), v[::-1], v @ W, ng.outer(v, x))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("case", ["scalars", "arrays"])
def test_kernels_have_the_bits_of_programs(loops, case, dtype):
    step = {"scalars": scalars, "arrays": arrays}[case]
    start = np.asarray(START[0] if case == "scalars" else START, dtype)
    xs = X.astype(dtype)

    def loss(c, x):
        if dtype == np.float32:
            return total(ng.scan(lambda c, x: (step(c, x)[0].astype(dtype), c), c, x))
        return total(ng.scan(step, c, x))

    for f in (
        lambda: loss(start, xs),
        lambda: ng.func.grad(loss, (0, 1))(start, xs),
        lambda: ng.func.hessian(loss)(start, xs),
        lambda: ng.func.jacfwd(loss)(start, xs),
        lambda: ng.func.vmap(ng.func.grad(loss, (0, 1)), (0, None))(np.stack([start] * 3), xs),
        lambda: ng.func.vmap(ng.func.grad(loss, (0, 1)), (None, 0))(start, np.stack([xs] * 3)),
        lambda: ng.jit(ng.func.grad(loss, (0, 1)))(start, xs),
    ):
        program, kernel, count = loops(f)
        assert count >= 1
        assert_equal(kernel, program)


def test_few_states_are_kept_by_kernels_too(loops):
    def gradient():
        def loss(c):
            return total(ng.scan(scalars, c, X, checkpoint=2))

        return ng.func.grad(loss)(np.array(0.3))

    program, kernel, count = loops(gradient)
    assert count > 3
    assert_equal(kernel, program)
    assert_equal(kernel, ng.func.grad(lambda c: total(ng.scan(scalars, c, X)))(np.array(0.3)))


def test_a_loop_is_compiled_once_it_has_run_for_longer_than_that_takes(loops):
    loop = compiled.CompiledLoop("a loop", compiled.Expansion((), (), (), b""), 1, 1, 0)
    loop._look_up = lambda: None
    made = []
    loop._compile = lambda: made.append(True)
    ng.set_flags(fuse="auto")
    loop.is_ready(10)
    assert not made
    loop._seconds = 1.0
    loop.is_ready(10)
    assert made
    loop._seconds = 0.0
    loop.is_ready(1_000_000)
    assert len(made) == 2


def test_random_steps_are_alike_in_every_way(loops):
    for seed in range(4):
        step, width = random_step(np.random.default_rng(seed))
        start = np.linspace(0.1, 0.6, width)
        xs = np.linspace(-0.5, 0.5, 5 * width).reshape(5, width)

        def loss(c, x, step=step, checkpoint="auto", unroll=1):
            return total(ng.scan(step, c, x, checkpoint=checkpoint, unroll=unroll))

        g = ng.func.grad(loss, (0, 1))
        program, kernel, _ = loops(lambda: g(start, xs))  # noqa: B023
        assert_equal(kernel, program)
        assert_equal(ng.jit(g)(start, xs), program)
        for checkpoint in (1, 2, None):
            cut = ng.func.grad(lambda c, x, n=checkpoint: loss(c, x, checkpoint=n), (0, 1))
            assert_equal(cut(start, xs), program)
        rows = ng.func.vmap(g)(np.stack([start, 2 * start]), np.stack([xs, xs]))
        assert_equal([row[0] for row in rows], program)


def random_step(rng):
    """Return a step of random operations, and how many numbers it carries."""
    width, count = int(rng.integers(1, 5)), int(rng.integers(2, 9))
    plan = [(int(rng.integers(8)), rng.uniform(-1, 1, width)) for _ in range(count)]

    def step(c, x):
        for kind, k in plan:
            c = [
                lambda c: ng.sin(c) * k, lambda c: c + k * x, lambda c: ng.tanh(c * x),  # noqa: B023
                lambda c: c[::-1] + k, lambda c: ng.where(c > k, c, k * c),  # noqa: B023
                lambda c: c - c.sum() * 0.1, lambda c: ng.exp(-abs(c)), lambda c: ng.roll(c, 1),
            ][kind](c)  # fmt: skip
        return c, c * x

    return step, width


def test_steps_that_yield_what_they_carry_are_kernels(loops):
    def f(x):
        def step(c, _):
            c = ng.sin(c) + 0.1 * c
            return c, (c, c[::-1])

        return total(ng.scan(step, x, length=9))

    for g in (lambda: f(START), lambda: ng.func.grad(f)(START)):
        one, other, count = loops(g)
        assert_equal(one, other)
        assert count > 0


def test_loops_that_end_by_a_condition_are_kernels(loops):
    def root(x):
        return ng.while_loop(
            lambda s: (abs(s[0] * s[0] - x) > 1e-12) & (s[1] < 50),
            lambda s: ((s[0] + x / s[0]) / 2, s[1] + 1), (x + 1.0, 0),
        )  # fmt: skip

    xs = np.array([2.0, 3.0, 1e6, 0.25])
    for f in (
        lambda: [root(x) for x in xs],
        lambda: ng.func.vmap(root)(xs),
        lambda: ng.jit(ng.func.vmap(ng.func.grad(lambda x: root(x)[0])))(xs),
    ):
        one, other, count = loops(f)
        assert_equal(one, other)
        assert count > 0
    roots, steps = ng.func.vmap(root)(xs)
    assert np.allclose(roots, np.sqrt(xs), rtol=1e-12)
    assert len(set(np.asarray(steps))) > 1
    start = ng.while_loop(lambda x: x > 1.0, lambda x: x / 2, 0.5)
    assert start.item() == 0.5


@pytest.mark.parametrize(
    ("step", "size", "is_kernel"),
    [
        (lambda u: u + 0.1 * ng.sin(u), 10, True),
        (lambda u: u + 0.1 * ng.sin(u), 300, False),
        (lambda u: u + 0.1 * u * u, 300, True),
        (lambda u: ng.exp(u) / ng.exp(u).sum(), 5, True),
        (lambda u: ng.exp(u) / ng.exp(u).sum(), 32, True),
        (lambda u: u + 0.1 * u * u, 3000, False),
    ],
)
def test_a_step_is_a_kernel_where_that_is_expected_to_be_faster(step, size, is_kernel):
    body = Body.of("test", lambda u: [step(u)], [((size,), np.dtype(float))])
    assert (body.expansion is not None) == is_kernel
