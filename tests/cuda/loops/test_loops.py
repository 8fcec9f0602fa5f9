"""Loops and checkpointed functions of tensors on a device: what the processor gives for the same
arrays, in every mode and to every order, and it stays there."""

import numpy as np
import optree
import pytest

import numgrad as ng

F = ng.func
X = np.linspace(-0.9, 1.1, 6).reshape(3, 2)
START, WEIGHT = np.array([0.1, -0.4]), np.array([[0.3, 1.2], [-0.7, 0.5]])
K = np.array([0.7, -1.3])
ROWS = np.array([[0.5, 1.2], [1.5, -0.3]])


def there(tree):
    return optree.tree_map(lambda a: ng.tensor(a, device="cuda"), tree)


def compare(found, expected, tolerance=1e-13):
    """Compare tensors on the device with those of the processor; without tolerance, bit for bit."""
    ours, theirs = optree.tree_leaves(found), optree.tree_leaves(expected)
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs, strict=True):
        y = ng.asarray(y)
        assert (str(x.device), x.dtype, x.shape) == ("cuda:0", y.dtype, y.shape)
        x, y = x.detach().cpu().numpy(), y.detach().numpy()
        if tolerance:
            np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(x, y)


def total(tree):
    parts = [leaf for leaf in optree.tree_leaves(tree) if np.dtype(leaf.dtype).kind == "f"]
    return sum([(ng.sin(part) * (n + 1)).sum() for n, part in enumerate(parts)])


def scanned(start, xs, w):
    def step(c, x):
        c = ng.tanh(w @ c) * K + x
        return c, {"sum": c.sum(), "part": c[1:] * x[0]}

    return total(ng.scan(step, start, xs))


def counted(start, xs, w):
    def body(i, c):
        return ng.sin(c) * w[0] * (i + 1) + xs[i]

    return total(ng.fori_loop(0, 3, body, start))


def until(start, xs, w):
    def step(c):
        x, n = c
        return 0.5 * ng.cos(x) * w[1] + xs[0], n + 1

    last, n = ng.while_loop(lambda c: (abs(c[0]).max() > 0.31) & (c[1] < 4), step, (start, 0))
    return total(last) + n


def kept(start, xs, w):
    @ng.checkpoint
    def layer(x, scale):
        return ng.tanh(w @ x) * scale, x.sum()

    c, s = layer(start, xs[0])
    return total(layer(c, xs[1])) + s


def nested(start, xs, w):
    def outer(c, n):
        inner, ys = ng.scan(lambda d, y: (d * y + c["u"] * w[0], d), c["u"], xs)
        y = ys.sum() + c["n"] + ng.where(c["b"], 1.0, 0.0)
        f = (c["f"] * np.float32(0.5)).astype(np.float32)
        return {"u": inner, "n": c["n"] + 1, "b": ~c["b"], "f": f}, y * n

    first = {"u": start, "n": 0, "b": True, "f": np.float32(1)}
    return total(ng.scan(outer, first, np.arange(2)))


LOOPS = {"scan": scanned, "fori": counted, "while": until, "checkpoint": kept, "nested": nested}
MODES = {
    "value": lambda f: f,
    "gradient": lambda f: F.grad(f, (0, 1, 2)),
    "forward": lambda f: F.jacfwd(f, (0, 2)),
    "hessian": lambda f: F.hessian(f, (0, 2)),
    "forward over reverse": lambda f: F.jacfwd(F.grad(f, (0, 2)), (1, 2)),
    "forward twice": lambda f: F.jacfwd(F.jacfwd(f, 2), 2),
}


@pytest.mark.parametrize("is_captured", [False, True], ids=["eager", "captured"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", LOOPS)
def test_every_derivative_is_that_of_the_processor(name, mode, is_captured):
    given, f = (START, X, WEIGHT), MODES[mode](LOOPS[name])
    loop, given_there = ng.jit(f) if is_captured else f, there(given)
    for _ in range(2):  # the second call runs programs of the first one
        compare(loop(*given_there), f(*map(ng.tensor, given)))


@pytest.mark.parametrize("axes", [0, (0, None, None), (None, None, 0)])
@pytest.mark.parametrize("mode", ["value", "gradient"])
@pytest.mark.parametrize("name", LOOPS)
def test_mapped_loops(name, mode, axes):
    rng = np.random.default_rng(0)
    given = [rng.normal(size=(2, *a.shape)) for a in (START, X, WEIGHT)]
    is_mapped = [axes == 0 or axes[n] == 0 for n in range(3)]
    given = [a if m else a[0] for a, m in zip(given, is_mapped, strict=True)]
    mapped = F.vmap(MODES[mode](LOOPS[name]), in_axes=axes)
    compare(mapped(*there(given)), mapped(*map(ng.tensor, given)))


def plain(c, x):
    return c * K + x * c, c - x


def leaves_of(found):
    last, ys = found
    return (last * last).sum() + (ys * ys).sum()


@pytest.mark.parametrize("checkpoint", ["auto", None, 1, 2])
def test_values_and_gradients_have_the_bits_of_the_processor(checkpoint):
    results = []
    for device in ("cpu", "cuda"):
        start, xs = [ng.tensor(a, device=device, requires_grad=True) for a in (START, X)]
        found = ng.scan(plain, start, xs, checkpoint=checkpoint)
        loss = leaves_of(found)
        first = ng.grad(loss, [start, xs], create_graph=True)
        results.append([*found, *first, *ng.grad(leaves_of(first), [start, xs])])
    compare(results[1], results[0], tolerance=0)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2])
def test_steps_in_reverse_and_several_in_one_program(reverse, unroll):
    def f(start, xs):
        return ng.scan(plain, start, xs, reverse=reverse, unroll=unroll)

    compare(f(*there((START, X))), f(START, X), tolerance=0)
    gradient = F.grad(lambda *given: leaves_of(f(*given)), (0, 1))
    compare(gradient(*there((START, X))), gradient(*map(ng.tensor, (START, X))), tolerance=0)


def test_batches_have_the_bits_of_single_rows():
    start, xs = [ng.tensor(a, device="cuda", requires_grad=True) for a in (START, X)]
    found = ng.scan(plain, start, xs, checkpoint=2)
    rng = np.random.default_rng(0)
    seeds = [there(rng.normal(size=(3, *t.shape))) for t in found]
    rows = ng.grad(found, [start, xs], seeds, retain_graph=True, is_grads_batched=True)
    for n in range(3):
        one = ng.grad(found, [start, xs], [s[n] for s in seeds], retain_graph=True)
        for row, single in zip(rows, one, strict=True):
            np.testing.assert_array_equal(row[n].cpu().numpy(), single.cpu().numpy())


def test_loops_without_steps_without_carry_and_without_xs():
    start, none = there(START), ng.zeros((0, 2), device="cuda")
    compare(ng.scan(lambda c, x: (c * x, c), start, none), (START, np.zeros((0, 2))))
    g = F.grad(lambda s: (ng.scan(lambda c, x: (c * x, c), s, none)[0] ** 2).sum())
    compare(g(start), 2 * START)
    compare(ng.scan(lambda c, x: (None, 2 * x), None, there(np.arange(3)))[1], np.array([0, 2, 4]))
    compare(ng.scan(lambda c, _: (2 * c, c), start, length=2)[1], np.stack([START, 2 * START]))


def test_a_loop_runs_where_the_tensors_are_that_it_closes_over():
    k = ng.tensor(0.5, device="cuda", requires_grad=True)
    last, _ = ng.scan(lambda x, _: (k * x, None), 8.0, length=3)
    compare([last, *ng.grad(last, k)], [np.array(1.0), np.array(6.0)])
    last, ys = ng.scan(lambda x, _: (k * x, x), np.ones(2), length=2)
    compare([last, ys], [np.full(2, 0.25), np.array([[1.0, 1.0], [0.5, 0.5]])])
    double = ng.checkpoint(lambda x: k * x + k)
    compare(double(np.ones(2)), np.ones(2))
    compare(ng.scan(lambda x, _: (x + 1, k * 2), 0.0, length=2)[1], np.ones(2))
    nest = lambda c, _: (ng.scan(lambda d, _: (d * k, None), c, length=2)[0], None)  # noqa: E731
    compare(ng.scan(nest, np.ones(2), length=2)[0], np.full(2, 0.0625))


def test_numbers_and_arrays_of_numpy_are_taken_to_the_device():
    xs, shift = there(X), np.array([1.0, -2.0])

    def f(c, x):
        return (c["a"] * x["t"] + shift * x["n"], c["b"] + 1), np.float64(3.0)

    def step(c, x):
        (a, b), y = f(c, x)
        return {"a": a, "b": b}, (y, ng.where(x["n"] > 2, 1.0, a))

    first = {"a": START, "b": 0}
    for captured in (False, True):
        loop = lambda t, n: ng.scan(step, first, {"t": t, "n": n})  # noqa: E731
        run = ng.jit(loop) if captured else loop
        compare(run(xs, X + 2.0), loop(X, X + 2.0), tolerance=0)
        compare(run(xs, ng.arange(6).reshape(3, 2)), loop(X, np.arange(6).reshape(3, 2)), 0)


HERE = ng.tensor(START)
ERRORS = {
    "init and xs": lambda x: ng.scan(lambda c, x: (c + x, None), HERE, x),
    "two leaves": lambda x: ng.scan(lambda c, _: (c, None), (HERE, x), length=2),
    "closed over": lambda x: ng.scan(lambda c, x: (c + x * HERE, None), x[0], x),
    "a leaf that is closed over": lambda x: ng.scan(
        lambda c, x: (c, (ng.tensor(START, requires_grad=True) * 2).sum()), x[0], x
    ),
    "closed over there": lambda x: ng.scan(lambda c, _: (c * x[0], None), HERE, length=2),
    "moved inside": lambda x: ng.scan(lambda c, x: (c, c.cpu()), x[0], x),
    "while": lambda x: ng.while_loop(lambda c: c.sum() < 1, lambda c: c * HERE, x[0]),
    "the condition": lambda x: ng.while_loop(lambda c: (c * x[0]).sum() < 1, lambda c: c, HERE),
    "fori": lambda x: ng.fori_loop(0, 2, lambda i, c: c + x[i], HERE),
    "checkpoint": lambda x: ng.checkpoint(lambda a, b: a * b)(x, HERE),
    "storage": lambda x: ng.scan(lambda c, x: (c + x, None), x[0], x, storage="."),
}


@pytest.mark.parametrize("name", ERRORS)
def test_floating_tensors_of_two_devices_do_not_meet(name):
    for run in (ERRORS[name], ng.jit(ERRORS[name])):
        with pytest.raises(ng.errors.DeviceError, match="cuda:0") as raised:
            run(there(X))
        assert ("leave storage out" if name == "storage" else "move ") in str(raised.value)


def watched(monkeypatch):
    """Return a list that gets the bytes of each copy between the host and the device."""
    runtime, copies = there(START).array.target.runtime, []
    for name in ("upload", "download"):
        copy = getattr(runtime.driver, name)

        def noted(block, offset, what, *rest, copy=copy, name=name):
            copies.append((name, what if name == "download" else what.nbytes))
            return copy(block, offset, what, *rest)

        monkeypatch.setattr(runtime.driver, name, noted)
    return copies


def test_states_stay_on_the_device(monkeypatch):
    start, xs = [ng.tensor(a, device="cuda", requires_grad=True) for a in (START, X)]

    def once():
        last, ys = ng.scan(lambda c, x: (c * x + c, c), start, xs)
        ng.grad(last.sum() + (ys * ys).sum(), [start, xs])
        step = lambda c: (c[0] * 2, c[1] * xs[0])  # noqa: E731
        ng.while_loop(lambda c: c[0].sum() > -3, step, (start, start))

    once()
    copies = watched(monkeypatch)
    once()
    assert [what for what in copies if what[1] > 8] == []
    # The while loop reads its condition before the first step and after the last one, and counts.
    assert [name for name, _ in copies].count("download") == 3


def test_a_condition_reads_one_number_at_each_step(monkeypatch):
    start = np.array([3.0, *np.zeros(39)])  # too many for a sum in one thread
    x, copies = there(start), watched(monkeypatch)
    found = ng.while_loop(lambda x: x.sum() < 50, lambda x: 2 * x, x)
    assert [nbytes for name, nbytes in copies if name == "download"] == [1] * 6
    compare(found, 32 * start)


FAILING = {
    "an index": lambda c, x: (c[ng.asarray(x + 5, dtype=int)] * c, None),
    "a matrix": lambda c, x: (ng.linalg.inv(ng.outer(c, c))[0], None),
}


@pytest.mark.parametrize("is_captured", [False, True], ids=["eager", "captured"])
@pytest.mark.parametrize("name", FAILING)
def test_a_step_that_fails_raises_the_error_of_the_processor(name, is_captured):
    def loop(start, xs):
        return ng.scan(FAILING[name], start, xs)[0]

    run, raised = ng.jit(loop) if is_captured else loop, []
    for given in ((START, np.arange(2)), there((START, np.arange(2)))):
        with pytest.raises((IndexError, ng.errors.MatrixError)) as one:
            run(*map(ng.asarray, given))
        raised.append(one.value)
    here, away = raised
    assert (type(away), str(away)) == (type(here), str(here))
    assert getattr(away, "__notes__", None) == getattr(here, "__notes__", None)


@pytest.mark.parametrize("name", LOOPS)
def test_loops_on_chosen_streams(name):
    given = [ng.tensor(a, device="cuda", requires_grad=True) for a in (START, X, WEIGHT)]
    expected = F.grad(LOOPS[name], (0, 1, 2))(*map(ng.tensor, (START, X, WEIGHT)))
    side, gradient = ng.cuda.Stream(), ng.jit(F.grad(LOOPS[name], (0, 1, 2)))
    for _ in range(2):
        side.wait_stream(ng.cuda.current_stream())
        with ng.cuda.stream(side):
            value = LOOPS[name](*given)
            captured = gradient(*given)
        ng.cuda.current_stream().wait_stream(side)
        compare(ng.grad(value, given), expected)
        compare(captured, expected)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_initial_value_problems_are_solved_on_the_processor(place):
    given = [1.0, np.array([0.0, 1.0]), 0.5]
    given[place] = there(np.asarray(given[place]))
    with pytest.raises(ng.errors.DeviceError, match="solved on the CPU"):
        ng.ode.odeint(lambda y, t, rate: -rate * y, *given)
