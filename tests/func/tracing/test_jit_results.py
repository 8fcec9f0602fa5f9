"""Where results go: ``out=``, donated arguments, the members of an ensemble."""

import numpy as np
import optree
import pytest

import numgrad as ng

X = np.linspace(0.5, 1.5, 6)


# out= ---------------------------------------------------------------------------------------------


def test_out_is_written_and_returned():
    jitted = ng.jit(lambda x: ng.exp(x) * 2)
    out = np.empty(6)
    for x in (X, 2 * X):
        assert jitted(x, out=out) is out
        np.testing.assert_array_equal(out, jitted(x))


def test_out_has_the_structure_of_the_result():
    jitted = ng.jit(lambda x: {"a": x * 2, "b": (x.sum(), x[1:])})
    out = {"a": np.empty(6), "b": (np.empty(()), np.empty(5))}
    assert jitted(X, out=out) is out
    np.testing.assert_array_equal(out["a"], 2 * X)
    np.testing.assert_array_equal(out["b"][1], X[1:])
    with pytest.raises(ng.errors.ArgTypeError, match="structure"):
        jitted(X, out=(np.empty(6), np.empty(()), np.empty(5)))


def test_out_may_be_the_columns_of_a_matrix():
    jitted, matrix = ng.jit(lambda x: (x, 2 * x)), np.zeros((6, 2))
    jitted(X, out=(matrix[:, 0], matrix[:, 1]))
    np.testing.assert_array_equal(matrix, np.stack([X, 2 * X], 1))
    with pytest.raises(ValueError, match="share memory"):
        jitted(X, out=(matrix.ravel()[:6], matrix[:, 1]))


def test_out_may_have_any_layout_and_overlap_the_arguments():
    jitted = ng.jit(lambda x, y: (x[::-1] + y, x * y))
    expected = jitted(X, 2 * X)
    x, wide = X.copy(), np.zeros((6, 2))
    jitted(x, 2 * X, out=(x, wide[:, 0]))
    np.testing.assert_array_equal(x, expected[0])
    np.testing.assert_array_equal(wide[:, 0], expected[1])
    memory = np.zeros(9)
    memory[:6] = X
    jitted(memory[:6], 2 * X, out=(memory[2:8], np.empty(6)))
    np.testing.assert_array_equal(memory[2:8], expected[0])


def test_out_may_be_what_the_function_closes_over():
    constant = X.copy()
    jitted = ng.jit(lambda x: x + constant[::-1])
    jitted(X, out=constant)
    np.testing.assert_array_equal(constant, X + X[::-1])


def test_out_of_several_programs():
    function = lambda x: ng.func.jacobian(lambda x: x * x)(x) * 2.0  # noqa: E731
    out = np.empty((6, 6))
    ng.jit(function)(X, out=out)
    np.testing.assert_array_equal(out, np.diag(4 * X))
    ng.jit(ng.func.jacobian(lambda x: x * x))(X, out=out)
    np.testing.assert_array_equal(out, np.diag(2 * X))


@pytest.mark.host_only("is about memory of NumPy")
def test_out_that_does_not_fit():
    jitted = ng.jit(lambda x: (x * 2, x * 3))
    shared = np.empty(6)
    read_only = np.empty(6)
    read_only.flags.writeable = False
    for bad, error in (
        (np.empty(5), "shape"),
        (np.empty(6, np.float32), "dtype"),
        (read_only, "read-only"),
        (shared, "share memory"),
    ):
        with pytest.raises(ValueError, match=error):
            jitted(X, out=(bad, shared))
    with pytest.raises(ng.errors.ArgTypeError, match="NumPy arrays"):
        jitted(X, out=(ng.tensor(X), shared))
    with pytest.raises(ng.errors.ArgTypeError, match="require grad"):
        jitted(ng.tensor(X, requires_grad=True), out=(np.empty(6), shared))
    with ng.no_grad():
        jitted(ng.tensor(X, requires_grad=True), out=(np.empty(6), shared))
    np.testing.assert_array_equal(shared, 3 * X)


# Donated arguments --------------------------------------------------------------------------------


def uses(result, array):
    return np.may_share_memory(result, array)


@pytest.mark.usefixtures("default_fusing")
@pytest.mark.parametrize("n", [6, 100_000])
def test_a_result_may_be_where_an_argument_was(n):
    x = np.linspace(0.5, 1.5, n)
    step = lambda x, v: (x + 0.1 * v, v - 0.1 * ng.sin(x))  # noqa: E731
    expected = ng.jit(step)(x, 2 * x)
    a, b = x.copy(), 2 * x
    found = ng.jit(step, donate_argnums=(0, 1))(a, b)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])
    assert any(uses(result, memory) for result in found for memory in (a, b))
    single = x.copy()
    assert uses(ng.jit(lambda x: ng.exp(x) * 2, donate_argnums=0)(single), single)


@pytest.mark.parametrize("n", [6, 100_000])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: (x + y, x[::-1] * 2),
        lambda x, y: x[::-1] + ng.exp(x),
        lambda x, y: ng.cumsum(x) + x,
        lambda x, y: x - x.sum() + y,
        lambda x, y: (y * 2, x[0] * y, x * x),
        lambda x, y: ng.roll(x, 1) - 2 * x + ng.roll(x, -1),
        lambda x, y: ng.func.grad(lambda x: (x[1:] * x[:-1] ** 2).sum())(x),
        lambda x, y: ng.sort(x * y),
    ],
    ids=range(8),
)
def test_donated_arguments_change_no_result(function, n):
    rng = np.random.default_rng(0)
    x, y = rng.random(n), rng.random(n)
    expected = ng.jit(function)(x, y)
    found = ng.jit(function, donate_argnums=(0, 1))(x.copy(), y.copy())
    for a, b in zip(np.atleast_2d(found), np.atleast_2d(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_result_takes_memory_of_its_own_dtype_only():
    x = np.array([1 + 2j, 3 - 1j])
    split = lambda x: ng.concatenate([ng.real(x), ng.imag(x)])  # noqa: E731  as many bytes
    found = ng.jit(split, donate_argnums=0)(x.copy())
    np.testing.assert_array_equal(found, [1, 3, 2, -1])


def test_memory_that_is_not_free_is_not_used():
    jitted = ng.jit(lambda x, y: x + y, donate_argnums=0)
    x = X.copy()
    np.testing.assert_array_equal(jitted(x, x), 2 * X)
    np.testing.assert_array_equal(x, X)
    fixed = X.copy()
    fixed.flags.writeable = False
    np.testing.assert_array_equal(jitted(fixed, X), 2 * X)
    np.testing.assert_array_equal(fixed, X)
    wide = np.stack([X, X], axis=1)
    np.testing.assert_array_equal(jitted(wide[:, 0], X), 2 * X)
    np.testing.assert_array_equal(wide[:, 0], X)
    tensor = ng.tensor(X)
    assert (jitted(tensor, X).numpy() == 2 * X).all()
    assert tensor.tolist() == X.tolist()


# Ensembles ----------------------------------------------------------------------------------------


def member(x, w, scale):
    return {"y": ng.tanh(x @ w) * scale, "g": ng.func.grad(lambda x: ng.sin(x @ w).sum())(x)}


def test_an_ensemble_is_a_loop_over_members():
    rng = np.random.default_rng(0)
    xs, ws = rng.random((7, 3)), rng.random((7, 3, 4))
    found = ng.jit(member, ensemble=True)(xs, ws, 0.5)
    one = ng.jit(member)
    for n in range(7):
        expected = one(xs[n], ws[n], 0.5)
        np.testing.assert_allclose(found["y"][n], expected["y"], 1e-14)
        np.testing.assert_allclose(found["g"][n], expected["g"], 1e-14)


def test_results_that_are_the_same_for_all_members():
    shared = np.ones(3)
    function = ng.jit(lambda x: (x, shared * 2, x.sum()), ensemble=True)
    xs = np.arange(12.0).reshape(4, 3)
    a, b, c = function(xs)
    np.testing.assert_array_equal(a, xs)
    np.testing.assert_array_equal(b, np.full((4, 3), 2.0))
    np.testing.assert_array_equal(c, xs.sum(axis=1))
    assert not np.may_share_memory(a, xs)


def filled(x):
    path = ng.zeros((3, 2))
    for n in range(3):
        path[n] = x[n]
    return path


def part_by_part(x):
    total = ng.ones(3)
    last = total[1:]
    both = last.reshape(2, 1)
    with ng.no_grad():
        total *= 2.0
    total[[0, 2]] = x[:2, 0]
    total += x[:, 1]
    last *= 2.0
    return total, last, both * 1.0, ng.sin(both).sum()


@pytest.mark.parametrize(
    "member",
    [filled, part_by_part, ng.func.grad(lambda x: (filled(x) ** 2).sum()),
     ng.func.grad(lambda x: sum([(part * part).sum() for part in part_by_part(x)]))],
)  # fmt: skip
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_what_is_the_same_for_all_members_may_be_written_by_each(member):
    xs = np.random.default_rng(0).random((5, 3, 2))
    found = ng.jit(member, ensemble=True)(xs)
    for n, x in enumerate(xs):
        expected = ng.jit(member)(x)
        pairs = zip(optree.tree_leaves(found), optree.tree_leaves(expected), strict=True)
        for several, one in pairs:
            np.testing.assert_array_equal(several[n], one)


def test_ensembles_that_cannot_be():
    function = ng.jit(lambda x, y: x + y, ensemble=True)
    with pytest.raises(ng.errors.ArgTypeError, match="leading axis"):
        function(np.ones((3, 2)), np.ones((4, 2)))
    with pytest.raises(ng.errors.ArgTypeError, match="leading axis"):
        function(1.0, 2.0)
    with pytest.raises(ng.errors.ArgTypeError, match="not differentiated"):
        function(ng.ones((3, 2)).requires_grad_(), np.ones((3, 2)))
    with pytest.raises(ng.errors.CaptureError, match="batched pass"):
        ng.jit(ng.func.jacobian(lambda x: x * x), ensemble=True)(np.ones((3, 2)))
    with pytest.raises(ng.errors.CaptureError, match="another ensemble inside of an ensemble"):
        ng.jit(lambda x: function(x, x), ensemble=True)(np.ones((4, 3, 2)))


PASSED_ON = {
    "the argument": lambda x, z: x,
    "both": lambda x, z: (x, z),
    "a sum": lambda x, z: x + z,
    "a part": lambda x, z: x[:2],
    "another shape": lambda x, z: x.reshape(3, 1) * 1.0,
    "joined": lambda x, z: ng.concat([x, z]),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", PASSED_ON)
def test_gradients_share_no_memory_with_seeds_nor_with_each_other(name, create_graph):
    x, z = (ng.tensor(np.arange(3.0), requires_grad=True) for _ in range(2))
    found, seeds = {}, []
    for function in (PASSED_ON[name], ng.jit(PASSED_ON[name])):
        results = function(x, z)
        results = results if isinstance(results, tuple) else (results,)
        seeds = [ng.tensor(np.full(y.shape, 2.0)) for y in results]
        gradients = ng.grad(
            results, [x, z], seeds, create_graph=create_graph, allow_unused=True,
            materialize_grads=True,
        )  # fmt: skip
        found[function] = [g.detach().numpy() for g in gradients]
    eager, captured = found.values()
    for n, (array, expected) in enumerate(zip(captured, eager, strict=True)):
        others = [*[seed.numpy() for seed in seeds], *captured[n + 1 :]]
        assert not any(np.shares_memory(array, one) for one in others)
        np.testing.assert_array_equal(array, expected)
