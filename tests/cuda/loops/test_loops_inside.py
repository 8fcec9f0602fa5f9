"""Loops on a device whose steps are on few numbers, or on parts that do not meet: one kernel takes
all steps, with the bits of the processor, in every mode."""

import numpy as np
import optree
import pytest

import numgrad as ng
from numgrad.targets.cuda_simulator import driver

F = ng.func
RNG = np.random.default_rng(3)


def there(tree):
    return optree.tree_map(lambda a: ng.tensor(a, device="cuda"), tree)


def compare(found, expected):
    """Compare tensors on the device with those of the processor, bit for bit."""
    ours, theirs = optree.tree_leaves(found), optree.tree_leaves(expected)
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs, strict=True):
        y = ng.asarray(y)
        assert (str(x.device), x.dtype, x.shape) == ("cuda:0", y.dtype, y.shape)
        x, y = x.detach().cpu().numpy(), y.detach().numpy()
        np.testing.assert_array_equal(x, y)
        np.testing.assert_array_equal(np.signbit(x), np.signbit(y))


@pytest.fixture
def launched(monkeypatch):
    """The names of the kernels that are launched, on the simulated or the hosted device."""
    names, simulate = [], driver._simulate

    def noted(prepared, given):
        names.append(prepared.kernel.name)
        return simulate(prepared, given)

    monkeypatch.setattr(driver, "_simulate", noted)
    return names


def loops(names):
    return [name for name in names if "ng." in name]


# Steps: a function, the carry, and the arrays with elements for each step. Only operations whose
# bits all targets promise.


def few(c, x):
    (a, b, t), w = c, ng.sqrt(abs(c[0]) + 1.0)
    a = a * -0.5 + x[0] / w
    return (a, b - a * x[1], t + 0.25), ng.stack([a * b, t])


def single(c, x):
    y = c * np.float32(0.7) + x / (1 + c * c)
    return y, (y > 0.5, y * x)


def mixed(c, x):
    n, flag, y = c
    y = ng.where(flag, y * x, y - x) + n
    return (n * 3 - 1, ~flag, y), (n, flag & (y > 0))


def matrix(c, x):
    y = PRODUCT(c, x)
    return y / (1.0 + abs(y)), {"sum": y.sum(), "max": y.max()}


def PRODUCT(c, x):  # noqa: N802  a product of matrices and an element of it
    return c @ x.reshape(2, 2) + c[0, 1]


def columns(c, x):
    u, t = c
    u = u * 0.5 + x * t
    return (u, t * 1.5), (u * u, t)


def last_axis(c, x):
    p, q = c[0], c[1]
    p, q = p + 0.1 * q * x, q - 0.1 * p
    return ng.stack([p, q]), p * q


def first_axis(c, x):
    p, q = c[:, 0], c[:, 1]
    p, q = p + 0.1 * q, q - 0.1 * p
    return ng.stack([p, q], axis=1), (c * c).sum(axis=1) + x


def constants(c, x):
    return np.float32(0.7) * c + np.float32(3) * c[::-1] / (1 + x), 2 * c


def one_of_all(c, x):
    return x * c[0], c * x


def unread(c, x):
    a, b = c
    return (b, x), a


STEPS = {
    "few numbers": (few, (0.3, -1.2, 0.0), RNG.normal(size=(5, 2))),
    "single precision": (single, np.float32(0.4), RNG.normal(size=6).astype(np.float32)),
    "integers and booleans": (mixed, (2, True, 0.5), RNG.normal(size=4)),
    "matrices": (matrix, RNG.normal(size=(2, 2)), RNG.normal(size=(4, 4))),
    "columns": (columns, (RNG.normal(size=7), 0.5), RNG.normal(size=(4, 7))),
    "along the last axis": (last_axis, RNG.normal(size=(2, 5)), RNG.normal(size=(4, 5))),
    "along the first axis": (first_axis, RNG.normal(size=(5, 2)), RNG.normal(size=4)),
    "numbers of NumPy": (constants, np.ones(3, np.float32), np.ones((3, 3), np.float32)),
    "one element for all": (one_of_all, RNG.normal(size=3), RNG.normal(size=(3, 3))),
    "a carry that no step reads": (unread, (RNG.normal(size=3),) * 2, RNG.normal(size=(2, 3))),
}
OF_COLUMNS = {"columns": 7, "along the last axis": 5, "along the first axis": 5,
              "a carry that no step reads": 3}  # fmt: skip


def tensors(tree, device):
    leaf = lambda a: ng.tensor(a, device=device, requires_grad=np.asarray(a).dtype.kind == "f")  # noqa: E731
    return optree.tree_map(leaf, tree)


def variables(*trees):
    return [t for t in optree.tree_leaves(trees) if t.requires_grad]


def floating(found):
    return [t for t in optree.tree_leaves(found) if t.requires_grad]


def total(parts):
    return sum([(part * part).sum() for part in parts])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_values_and_gradients_have_the_bits_of_the_processor(name, reverse, launched):
    step, start, xs = STEPS[name]
    results = []
    for device in ("cpu", "cuda"):
        given = tensors(start, device), tensors(xs, device)
        found = ng.scan(step, *given, reverse=reverse)
        made = floating(found)
        seeds = [ng.ones_like(part) for part in made]
        first = ng.grad(made, variables(*given), seeds, create_graph=True, allow_unused=True)
        known = [g for g in first if g is not None]
        later = [g for g in known if g.requires_grad]
        second = ng.grad(total(later), variables(*given), allow_unused=True) if later else ()
        results.append([found, known, [g for g in second if g is not None]])
    compare(results[1], results[0])
    # Forwards, backwards, the sum that is differentiated again, and the reverse of the reverse.
    assert 2 <= len(loops(launched)) <= 6
    assert not {"sin", "matmul", "sqrt", "where"} & set(launched)


@pytest.mark.parametrize("name", STEPS)
def test_batches_of_cotangents_are_threads_of_one_kernel(name, launched):
    step, start, xs = STEPS[name]
    rows = []
    for device in ("cpu", "cuda"):
        given = tensors(start, device), tensors(xs, device)
        made = floating(ng.scan(step, *given))
        rng = np.random.default_rng(0)
        seeds = [
            ng.tensor(rng.normal(size=(3, *t.shape)).astype(t.dtype), device=device) for t in made
        ]
        del launched[:]
        rows.append(ng.grad(made, variables(*given), seeds, is_grads_batched=True))
    compare(rows[1], rows[0])
    assert len(loops(launched)) == 1


@pytest.mark.parametrize("mode", ["value", "gradient", "forward"])
@pytest.mark.parametrize("name", ["few numbers", "columns", "along the first axis", "matrices"])
def test_samples_are_threads_of_one_kernel(name, mode, launched):
    step, start, xs = STEPS[name]

    def value(start):
        return total(optree.tree_leaves(ng.scan(step, start, XS)))

    functions = {"value": value, "gradient": F.grad(value)}
    functions["forward"] = lambda c: F.jvp(value, (c,), (c,))[1]
    samples = optree.tree_map(lambda a: np.stack([a, 0.5 * np.asarray(a)]), start)
    XS = xs
    expected = F.vmap(functions[mode])(optree.tree_map(ng.tensor, samples))
    XS = there(xs)
    compare(F.vmap(functions[mode])(there(samples)), expected)
    # The value, its tangents, or the states once more and the reverse.
    assert len(loops(launched)) == {"value": 1, "forward": 2, "gradient": 3}[mode]


@pytest.mark.parametrize("checkpoint", ["auto", None, 1, 3])
@pytest.mark.parametrize("name", ["few numbers", "columns"])
def test_snapshots(name, checkpoint):
    step, start, xs = STEPS[name]
    results = []
    for device in ("cpu", "cuda"):
        given = tensors(start, device), tensors(xs, device)
        made = floating(ng.scan(step, *given, checkpoint=checkpoint))
        results.append(ng.grad(total(made), variables(*given)))
    compare(results[1], results[0])


@pytest.mark.parametrize("name", ["few numbers", "columns", "integers and booleans"])
def test_loops_without_steps(name):
    step, start, xs = STEPS[name]
    found = [ng.scan(step, f(start), f(xs[:0])) for f in (lambda t: t, there)]
    compare(found[1], found[0])


def test_a_captured_loop_is_one_launch_forwards_and_one_backwards(launched):
    step, start, xs = STEPS["few numbers"]
    for function, count in (
        (lambda c, x: total(ng.scan(step, c, x)[0]), 1),
        (F.grad(lambda c, x: total(ng.scan(step, c, x)[0])), 2),
    ):
        run, given = ng.jit(function), there((start, xs))
        for _ in range(4):
            del launched[:]
            compare(run(*given), function(*optree.tree_map(ng.tensor, (start, xs))))
            assert len(loops(launched)) == count


def test_which_columns_are_found():
    from numgrad.control.containers import Tree
    from numgrad.control.scanning import Step
    from numgrad.control.steps import Sizes

    for name, (step, start, xs) in STEPS.items():
        first, given = Tree(there(start), "init"), Tree(there(xs), "xs")
        body = Step(step, first, given.specs(), given).body
        loop = body.compiled(Sizes(len(first.leaves), len(given.leaves)))
        assert loop.of.columns.number == OF_COLUMNS.get(name, 1)


def far(c, x):
    return ng.roll(c, 1) * 0.5 + x, None


UNFIT = {
    "neighbours of many": (far, np.arange(70.0), np.ones(3)),
    "a sum of many": (lambda c, x: (c - c.sum(), x), np.arange(50.0), np.ones(3)),
    "an index": (lambda c, n: (c[n] * c, c), np.arange(3.0) + 1, np.array([1, 0, 2])),
    "a matrix": (lambda c, x: (ng.linalg.inv(c + x), None), np.eye(3), np.ones(3)),
    "a constant of each column": (
        lambda c, x: (c * np.arange(40.0) + x, None), np.arange(40.0), np.ones(3)),
    "a loop": (
        lambda c, x: (ng.scan(lambda d, y: (d * y, None), c, np.ones(2) * x)[0], c),
        np.ones(2), np.ones(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", UNFIT)
def test_other_steps_are_launched_one_by_one(name, launched):
    step, start, xs = UNFIT[name]
    results = []
    for device in ("cpu", "cuda"):
        given = [ng.tensor(a, device=device) for a in (start, xs)]
        found = ng.scan(step, *given)
        results.append(found)
    np.testing.assert_allclose(results[1][0].cpu().numpy(), results[0][0].numpy(), rtol=1e-12)
    inner = 3 if name == "a loop" else 0
    is_columns = name == "a constant of each column"  # which is an argument of the loop
    assert len(loops(launched)) == inner + is_columns


def test_a_single_step_is_that_of_its_operations(launched):
    step, start, xs = STEPS["columns"]
    compare(ng.scan(step, *there((start, xs[:1]))), ng.scan(step, start, xs[:1]))
    assert loops(launched) == []


def test_nothing_is_inside_where_nothing_is_fused(launched):
    step, start, xs = STEPS["columns"]
    ng.set_flags(fuse="never")
    try:
        found = ng.scan(step, *there((start, xs)))
    finally:
        ng.set_flags(fuse="auto")
    compare(found, ng.scan(step, start, xs))
    assert loops(launched) == []


def test_a_while_loop_reads_its_condition_once_a_kernel(launched, monkeypatch):
    from numgrad.control.devices import counted

    monkeypatch.setattr(counted, "_AT_ONCE", 4)

    def f(x):
        return ng.while_loop(lambda c: c[0].sum() < 50, lambda c: (c[0] * 1.5, c[1] + 1), (x, 0))

    for x in (np.array([3.0, 1.0]), np.array([100.0, 1.0])):
        del launched[:]
        compare(f(there(x)), f(x))
        assert len(loops(launched)) == (2 if x[0] < 50 else 0)  # seven steps
    x, y = there(np.array([3.0, 1.0])), ng.tensor([3.0, 1.0])
    compare(F.grad(lambda x: f(x)[0].sum())(x), F.grad(lambda x: f(x)[0].sum())(y))


def test_streams(launched):
    step, start, xs = STEPS["columns"]
    side, given = ng.cuda.Stream(), (tensors(start, "cuda"), tensors(xs, "cuda"))
    side.wait_stream(ng.cuda.current_stream())
    with ng.cuda.stream(side):
        made = floating(ng.scan(step, *given))
        found = ng.grad(total(made), variables(*given))
    ng.cuda.current_stream().wait_stream(side)
    here = tensors(start, "cpu"), tensors(xs, "cpu")
    compare(found, ng.grad(total(floating(ng.scan(step, *here))), variables(*here)))
    assert len(loops(launched)) == 2


def test_a_product_and_a_sum_are_rounded_once():
    """As in the processor's products of matrices: the simulator must round so, too."""
    from numgrad.targets.cuda_simulator.scalar_math import multiplied_and_added

    x = np.float64(1) + 2.0**-30
    assert multiplied_and_added(x, x, -x * x) == 2.0**-60
    a, b, c = np.float32(1 + 2**-12), np.float32(1 + 2**-12), np.float32(2**-60)
    found = multiplied_and_added(a, b, c)
    assert found == np.nextafter(np.float32(1 + 2**-11), np.float32(2))  # above the tie by c alone
    assert found.dtype == np.float32
    big, zero = np.float64(1e308), np.float64(0)
    with np.errstate(over="ignore"):
        assert multiplied_and_added(big, big, zero) == np.inf
    assert np.signbit(multiplied_and_added(-zero, big, -zero))
