"""NumPy's own ``array``, ``diag``, ``r_`` and their like in programs of users: they take lists of
tensors, and nothing that worked before changes."""

import copy
import inspect
import os
import pickle
import subprocess
import sys

import numba
import numpy as np
import pytest
from numpy import array as bound_before
from numpy import r_ as joined_before

import numgrad as ng

X = np.array([0.3, 0.6])
SLOPES = np.array([[0.6, 0.3], [0.0, 1.2]])


def pair(x):
    return np.array([x[0] * x[1], x[1] ** 2])


def test_lists_of_tensors_are_tensors():
    x = ng.tensor(X, requires_grad=True)
    a, b = x
    for found, expected in (
        (np.array([a * b, b, 1.0]), [0.18, 0.6, 1.0]),
        (np.asarray(((a, 2.0), (1.0, b))), [[0.3, 2.0], [1.0, 0.6]]),
        (np.array([x, [1.0, 2.0]]), [[0.3, 0.6], [1.0, 2.0]]),
        (np.array(object=[a, b], ndmin=2), [[0.3, 0.6]]),
        (np.full((2, 2), b), [[0.6, 0.6]] * 2),
        (np.full(3, fill_value=a), [0.3] * 3),
        (np.array([a, b], dtype="f4"), np.float32([0.3, 0.6])),
        (bound_before([b]), [0.6]),
        (np.diag([1, a, 2.0]), np.diag([1, 0.3, 2.0])),
        (np.diag([a, b], k=-1), np.diag([0.3, 0.6], k=-1)),
        (np.diagflat([[a, 1.0], [2.0, b]]), np.diag([0.3, 1.0, 2.0, 0.6])),
        (np.r_[a, 1:3, x, [b, 2.0]], [0.3, 1, 2, 0.3, 0.6, 0.6, 2]),
        (np.r_["0,2", [a, b], [1, 2]], [[0.3, 0.6], [1, 2]]),
        (np.c_[x, [1, 2]], [[0.3, 1], [0.6, 2]]),
        (joined_before[a, 0.0], [0.3, 0.0]),
    ):
        assert type(found) is ng.Tensor
        assert found.requires_grad
        np.testing.assert_array_equal(found.detach().numpy(), expected)
    (slope,) = ng.grad(np.full((2, 2), b).sum() + np.array([a * b, b]).sum(), x)
    np.testing.assert_allclose(slope.numpy(), [0.6, 5.3])


@pytest.mark.parametrize("way", ["eager", "captured", "forward", "mapped", "second"])
def test_every_mode_takes_them(way):
    if way == "eager":
        np.testing.assert_allclose(ng.func.jacobian(pair)(X), SLOPES)
    elif way == "captured":
        f = ng.jit(ng.func.jacobian(pair))
        for factor in (1.0, 2.0):
            np.testing.assert_allclose(f(factor * X), factor * SLOPES)
    elif way == "forward":
        _, tangent = ng.func.jvp(pair, (X,), (np.ones(2),))
        np.testing.assert_allclose(tangent, SLOPES.sum(axis=1))
    elif way == "mapped":
        rows = np.stack([X, 2 * X])
        np.testing.assert_array_equal(ng.func.vmap(pair)(rows), [pair(row) for row in rows])
    else:
        exact = [[[0, 1], [1, 0]], [[0, 0], [0, 2]]]
        np.testing.assert_allclose(ng.func.jacobian(ng.func.jacobian(pair))(X), exact)


def test_results_without_tensors_are_numpys():
    constant = ng.tensor(X)
    with ng.no_grad():
        of_leaf = np.array([ng.tensor(1.0, requires_grad=True)])
    for found in (np.array([1.0, 2.0]), np.array([*constant]), np.asarray([constant]), of_leaf):
        assert type(found) is np.ndarray
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.array([1.0, [2.0, 3.0]])
    with pytest.raises(TypeError):
        np.array()


def test_a_tensor_alone_is_asked_for_its_array():
    x = ng.tensor(X, requires_grad=True)
    for ask in (lambda: np.array(x), lambda: np.asarray(x), lambda: np.array([x[0]], dtype=object)):
        with pytest.raises(ng.errors.DetachedError, match=r"np\.(as)?array\(.* would cut"):
            ask()


def defensive(x):
    """As functions of libraries begin."""
    x = np.asarray(x, dtype=float)
    y = np.array(x, dtype=np.float64, copy=True)
    z, w = bound_before(x), np.asarray(y)
    y[0] = x[1]  # of w, too
    return (y * z * np.asarray([w, w])).sum() + np.array(x[0])


@pytest.mark.parametrize("transform", [ng.func.grad, ng.func.jacfwd, ng.func.jacrev])
def test_functions_of_transforms_make_arrays_of_what_they_are_given(transform):
    slopes = [(defensive(X + d) - defensive(X - d)) / 2e-6 for d in 1e-6 * np.eye(2)]
    for f in (transform(defensive), ng.jit(transform(defensive))):
        np.testing.assert_allclose(f(X), slopes, rtol=1e-8)
    rows = np.stack([X, 2 * X])
    np.testing.assert_allclose(ng.func.vmap(defensive)(rows), [defensive(row) for row in rows])
    np.testing.assert_array_equal(ng.jit(defensive)(X), defensive(X))


def test_a_tensor_of_outside_is_not_what_a_transform_gives():
    t = ng.tensor(X, requires_grad=True)
    with pytest.raises(ng.errors.DetachedError, match=r"np\.asarray\(t\) would cut"):
        ng.func.grad(lambda x: (x * np.asarray(t)).sum())(X)


def test_libraries_get_arrays_of_numpy():
    code = compile("found = np.array([t])", "/opt/lib/site-packages/other/arrays.py", "exec")
    with pytest.raises(ng.errors.DetachedError, match="would cut the graph"):
        exec(code, {"np": np, "t": ng.tensor(1.0, requires_grad=True)})


@pytest.mark.parametrize("code", ["np.diag([1.0, t])", "np.r_[t, 1.0]", "np.c_[[t], [1.0]]"])
def test_libraries_get_matrices_and_joined_arrays_of_numpy(code):
    module = compile(code, "/opt/lib/site-packages/other/arrays.py", "eval")
    with pytest.raises(ng.errors.DetachedError, match="would cut the graph"):
        eval(module, {"np": np, "t": ng.tensor(1.0, requires_grad=True)})


def test_matrices_and_joined_arrays_in_every_mode():
    def f(x):
        return np.diag([x[0], 1.0]) @ np.r_[x[1] ** 2, 1.0] + np.c_[x, x].sum(axis=0) * x[0]

    slopes = np.stack([(f(X + d) - f(X - d)) / 2e-6 for d in 1e-6 * np.eye(2)], 1)
    for jacobian in (ng.func.jacrev(f), ng.func.jacfwd(f), ng.jit(ng.func.jacrev(f))):
        np.testing.assert_allclose(jacobian(X), slopes, rtol=1e-8)
    rows = np.stack([X, 2 * X])
    np.testing.assert_allclose(ng.func.vmap(f)(rows), [f(row) for row in rows])


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of matrices
def test_joined_arrays_without_tensors_are_numpys():
    x, y = np.ones(2), np.zeros(2)
    for found, expected in (
        (np.r_[x, 0.5, 1:3], [1, 1, 0.5, 1, 2]),
        (np.c_[x, y], [[1, 0], [1, 0]]),
        (np.r_["x, y"], [[1, 1, 0, 0]]),  # names of variables
    ):
        assert isinstance(found, np.ndarray)
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="special directive"):
        np.r_["none", x]


def test_what_numgrad_raises_for_a_list_comes_out():
    a, b = ng.tensor(X, requires_grad=True)
    with pytest.raises(ValueError, match="parts of different shapes"):
        np.array([a, [a, b]])


def test_they_are_numpys_functions_to_tables_to_pickle_and_to_help():
    original = np._core.multiarray.array
    assert np.array == original
    assert {original: 1}[np.array] == {np.array: 1}[original] == 1
    assert pickle.loads(pickle.dumps(np.array)) is copy.deepcopy(np.array) is np.array
    assert (np.array.__name__, np.array.__module__) == ("array", "numpy")
    assert np.array.__doc__ == original.__doc__
    assert list(inspect.signature(np.full).parameters)[:2] == ["shape", "fill_value"]
    assert bound_before is np.array
    tricks = np.lib._index_tricks_impl
    for joining, theirs in ((np.r_, tricks.r_), (np.c_, tricks.c_)):
        assert joining == theirs
        assert {theirs: 1}[joining] == 1
        assert isinstance(joining, type(theirs))
        assert pickle.loads(pickle.dumps(joining)) is copy.deepcopy(joining) is joining


def test_compiled_code_finds_them():
    @numba.njit
    def plain(x):
        return np.array([1.0, x]).sum() + np.full(3, x).sum() + np.asarray([x, x]).sum()

    @ng.njit
    def derived(x):
        return (np.array([1.0, x * x]) * np.full(2, x)).sum() + bound_before([x])[0]

    assert plain(2.0) == 13.0
    assert ng.func.grad(derived)(2.0) == 14.0  # x + x**3 + x


def test_the_flag_leaves_numpy_as_it_is(numpy_as_it_is):
    assert type(np.array) is type(bound_before) is type(len)
    assert np.r_ is joined_before is np.lib._index_tricks_impl.r_
    with pytest.raises(ng.errors.DetachedError, match=r"write import numgrad as np"):
        np.array([ng.tensor(1.0, requires_grad=True)])


def test_names_of_interactive_sessions_are_bound_too():
    code = (
        "from numpy import array\nimport numgrad as ng\n"
        "print(type(array([ng.tensor(1.0, requires_grad=True)])).__name__)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True, env=os.environ
    )
    assert run.stdout.strip() == "Tensor"


def test_the_environment_leaves_numpy_as_it_is():
    code = "import numgrad, numpy as np; print(type(np.array).__name__)"
    environment = {"NUMGRAD_NUMPY": "never"}
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert run.stdout.strip() == "builtin_function_or_method"
