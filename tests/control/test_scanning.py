"""``ng.scan`` computes what the loop of Python does, in every mode and to every order."""

import numpy as np
import pytest

import numgrad as ng

from .bodies import assert_close, assert_equal, leaves, total, unrolled

X = np.linspace(-0.9, 1.1, 14).reshape(7, 2)
START, WEIGHT = np.array([0.1, -0.4]), np.array([[0.3, 1.2], [-0.7, 0.5]])
K = np.array([0.7, -1.3])
LOOPS = {"scan": ng.scan, "unrolled": unrolled}


def loss(loop):
    def of(start, xs, w):
        def step(c, x):
            c = ng.tanh(w @ c) * K + x
            return c, {"sum": c.sum(), "part": c[1:] * x[0]}

        return total(loop(step, start, xs))

    return of


MODES = {
    "value": lambda f: f,
    "gradient": lambda f: ng.func.grad(f, (0, 1, 2)),
    "forward": lambda f: ng.func.jacfwd(f, (0, 2)),
    "hessian": lambda f: ng.func.hessian(f, (0, 1, 2)),
    "forward over reverse": lambda f: ng.func.jacfwd(ng.func.grad(f, (0, 2)), (1, 2)),
    "forward twice": lambda f: ng.func.jacfwd(ng.func.jacfwd(f, 2), 2),
    "third": lambda f: ng.func.grad(lambda *a: total(ng.func.hessian(f)(*a)), 2),
}


@pytest.mark.parametrize("mode", MODES)
def test_every_derivative_is_that_of_the_unrolled_loop(mode):
    given = START, X, WEIGHT
    expected = MODES[mode](loss(unrolled))(*given)
    found = MODES[mode](loss(ng.scan))(*given)
    assert_close(found, expected)
    if mode != "third":
        assert_equal(ng.jit(MODES[mode](loss(ng.scan)))(*given), found)


def test_values_and_first_gradients_have_the_bits_of_the_unrolled_loop():
    def step(c, x):
        return ng.sin(c) * w + x * c, c * K

    w, start, xs = [ng.tensor(a, requires_grad=True) for a in (K, START, X)]
    found, expected = ng.scan(step, start, xs), unrolled(step, start, xs)
    assert_equal(found, expected)
    for checkpoint in ("auto", None, 1, 2, 3, 5):
        result = ng.scan(step, start, xs, checkpoint=checkpoint)
        gradients = ng.grad(total(result), [w, start, xs])
        assert_equal(gradients, ng.grad(total(expected), [w, start, xs], retain_graph=True))


def test_batches_have_the_bits_of_single_rows():
    w, start, xs = [ng.tensor(a, requires_grad=True) for a in (K, START, X)]
    last, ys = ng.scan(lambda c, x: (ng.sin(c) * w + x, c * x), start, xs, checkpoint=2)
    rng = np.random.default_rng(0)
    seeds = [ng.tensor(rng.normal(size=(33, *t.shape))) for t in (last, ys)]
    rows = ng.grad([last, ys], [w, start, xs], seeds, retain_graph=True, is_grads_batched=True)
    for n in range(33):
        one = ng.grad([last, ys], [w, start, xs], [s[n] for s in seeds], retain_graph=True)
        assert_equal([row[n] for row in rows], one)


@pytest.mark.parametrize("axes", [0, (0, None, None), (None, None, 0), (0, 0, None)])
def test_mapped_loops_have_the_bits_of_single_ones(axes):
    given = [np.random.default_rng(n).normal(size=(5, *a.shape)) for n, a in
             enumerate((START, X, K))]  # fmt: skip
    mapped = [axes == 0 or axes[n] == 0 for n in range(3)]
    given = [a if m else a[0] for a, m in zip(given, mapped, strict=True)]

    def f(start, xs, w):
        return total(ng.scan(lambda c, x: (ng.sin(c) * w + x, c.sum()), start, xs))

    g = ng.func.grad(f, (0, 1, 2))
    found = ng.func.vmap(g, axes)(*given)
    for n in range(5):
        one = g(*[a[n] if m else a for a, m in zip(given, mapped, strict=True)])
        assert_equal([part[n] for part in found], one)


def test_members_of_an_ensemble_have_the_bits_of_single_loops():
    def member(start, w):
        return ng.func.grad(
            lambda s: ng.scan(lambda c, x: (ng.sin(c) * w + x, None), s, X)[0].sum()
        )(start)

    starts, ws = np.random.default_rng(0).normal(size=(2, 9, 2))
    found = ng.jit(member, ensemble=True)(starts, ws)
    assert_equal(found, np.stack([member(s, w) for s, w in zip(starts, ws, strict=True)]))


def nested(loop, rows):
    def outer(c, n):
        inner, ys = loop(lambda d, y: (d * y + c["u"], d), c["u"], rows)
        y = ys.sum() + c["n"] + ng.where(c["b"], 1.0, 0.0)
        f = (c["f"] * np.float32(0.5)).astype(np.float32)
        return {"u": inner, "n": c["n"] + 1, "b": ~c["b"], "f": f}, y * n

    start = {"u": rows[0], "n": ng.asarray(0), "b": ng.asarray(True)}
    return loop(outer, start | {"f": ng.asarray(np.float32(1))}, ng.arange(3))


@pytest.mark.parametrize("transform", [ng.func.grad, ng.func.hessian])
def test_nested_loops_carry_integers_booleans_and_several_dtypes(transform):
    x = np.array([[0.3, 0.7], [-0.2, 0.4]])
    assert_equal(nested(ng.scan, ng.tensor(x)), nested(unrolled, ng.tensor(x)))
    f, g = [lambda x, loop=loop: total(nested(loop, x)) for loop in (ng.scan, unrolled)]
    assert_close(transform(f)(x), transform(g)(x))
    assert_equal(ng.jit(transform(f))(x), transform(f)(x))
    assert_close(ng.func.vmap(transform(f))(x[None]), transform(g)(x)[None])


@pytest.mark.parametrize("unroll", [2, 3, 7, 20])
@pytest.mark.parametrize("reverse", [False, True])
def test_steps_in_reverse_and_several_in_one_program(unroll, reverse):
    def f(x, **options):
        return ng.scan(lambda c, y: (ng.sin(c) * y, c * y), 0.3, x, reverse=reverse, **options)

    x = np.linspace(0.3, 1.2, 7)
    assert_equal(f(x, unroll=unroll), f(x))
    last, ys = unrolled(lambda c, y: (ng.sin(c) * y, c * y), 0.3, x[::-1] if reverse else x)
    assert_equal(f(x), (last, ys[::-1] if reverse else ys))
    g = ng.func.grad(lambda x: total(f(x, unroll=unroll)))
    assert_close(g(x), ng.func.grad(lambda x: total(f(x)))(x))


def test_loops_without_steps_without_carry_and_without_xs():
    start = np.array([1.0, 2.0])
    last, ys = ng.scan(lambda c, x: (c * x, c), start, np.ones((0, 2)))
    assert_equal(last, start)
    assert ys.shape == (0, 2)
    g = ng.func.grad(lambda s: (ng.scan(lambda c, x: (c * x, c), s, np.ones((0, 2)))[0] ** 2).sum())
    assert_equal(g(start), 2 * start)
    assert ng.scan(lambda c, _: (None, None), None, length=3) == (None, None)
    assert_equal(ng.scan(lambda c, x: (None, 2 * x), None, np.arange(3))[1], np.array([0, 2, 4]))
    assert_equal(ng.scan(lambda c, _: (2 * c, c), 1.0, length=3)[1], np.array([1.0, 2.0, 4.0]))


def test_numbers_take_the_dtype_that_the_step_gives_them():
    last, _ = ng.scan(lambda c, x: (c + x, None), 0, np.ones(3, np.float32))
    assert last.dtype == np.float32
    assert ng.scan(lambda c, x: (c + x, None), 0, np.ones(3))[0].dtype == np.float64


def test_an_array_that_is_written_later_was_read_by_the_loop():
    k, x = K.copy(), ng.tensor(START, requires_grad=True)
    last, _ = ng.scan(lambda c, _: (ng.sin(c) * k, None), x, length=4)
    expected = ng.grad(last.sum(), x, retain_graph=True)
    k[:] = 0.0
    assert_equal(ng.grad(last.sum(), x), expected)


def test_equal_steps_of_other_closures_are_told_apart():
    x = ng.tensor(START, requires_grad=True)

    def slope(k, cut):
        def step(c, _):
            return ng.sin(c.detach() if cut else c) * k, None

        return ng.grad(ng.scan(step, x, length=2)[0].sum(), x)[0]

    ones = slope(1.0, False)
    assert not np.array_equal(leaves(ones), leaves(slope(2.0, False)))
    assert_equal(slope(1.0, True), np.zeros(2))
    assert_equal(ones, slope(1.0, False))


RANDOM = np.random.default_rng(0)
ERRORS = [
    (lambda: ng.scan(lambda c, x: (c[:1], None), np.ones(2), length=2), "shape \\(1,\\).*line|py:"),
    (lambda: ng.scan(lambda c, x: c, 1.0, length=2), "pair"),
    (lambda: ng.scan(lambda c, x: ((c, c), None), 1.0, length=2), "structure"),
    (lambda: ng.scan(lambda c, x: (c * 1j, None), np.ones(2), length=2), "complex128.*astype"),
    (lambda: ng.scan(lambda c, x: ({"a": c["a"][:1]}, None), {"a": np.ones(2)}, length=2),
     "init at .a"),
    (lambda: ng.scan(lambda c, x: (c, None), 1.0), "length"),
    (lambda: ng.scan(lambda c, x: (c, None), 1.0, np.arange(3), length=2), "3 steps"),
    (lambda: ng.scan(lambda c, x: (c, None), 1.0, {"a": np.ones(3), "b": np.ones(2)}), "at .b"),
    (lambda: ng.scan(lambda c, x: (c if c > 0 else -c, None), 1.0, length=2), "where.*cond"),
    (lambda: ng.scan(lambda c, x: (c + RANDOM.normal(), None), 1.0, length=2), "random"),
    (lambda: ng.scan(lambda c, x: (1 / 0, None), 1.0, length=2), "division"),
    (lambda: ng.scan(lambda c, x: (ng.linalg.inv(c), None), np.zeros((2, 2)), X), "singular"),
    (lambda: ng.scan(lambda c, x: (c + ng.ones(4)[x], None), 1.0, np.array([2, 7])), "7 is out of"),
    (lambda: ng.scan(lambda c, x: (c, None), 1.0, length=2, checkpoint=0), "at least 1"),
    (lambda: ng.scan(lambda c, x: (c, None), 1.0, length=2, checkpoint="all"), "checkpoint"),
    (lambda: ng.scan(lambda c, x: (c, None), 1.0, length=2, unroll=0), "unroll"),
    (lambda: ng.scan(3, 1.0, length=2), "function"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors_say_what_is_wrong(number):
    call, words = ERRORS[number]
    with pytest.raises(Exception, match=f"(?s){words}"):
        call()


def test_errors_of_a_captured_loop_name_the_line():
    @ng.jit
    def f(x):
        return ng.scan(lambda c, x: (ng.linalg.inv(c - x), None), x, x[None])[0]

    with pytest.raises(ng.errors.MatrixError, match="test_scanning"):
        f(np.eye(2))


def test_a_tensor_that_the_step_makes_and_keeps_is_refused():
    kept = []

    def step(c, _):
        kept.append(ng.tensor(2.0, requires_grad=True))
        return c * kept[-1], None

    with pytest.raises(ng.errors.CaptureError, match="keeps it"):
        ng.scan(step, 1.0, length=2)


def test_numbers_that_the_step_returns_take_the_dtype_that_is_carried():
    last, _ = ng.scan(lambda c, _: (0, None), np.float32(2), length=2)
    assert last.dtype == np.float32
    with pytest.raises(ng.errors.ArgTypeError, match="float64"):
        ng.scan(lambda c, _: (0.5, None), np.int64(2), length=2)
    assert ng.scan(lambda c, _: (c + 0.5, None), 0, length=2)[0] == 1.0
