"""What is a scalar in NumPy is a value: it is not written in place, and integers are keys."""

import math
from collections import Counter

import numpy as np
import pytest

import numgrad as ng
from numgrad.errors import InplaceError, LeafInplaceError

X = np.array([3.0, 1.0, 2.0])

# Results that are scalars in NumPy, of a vector.
SCALARS = {
    "sum": lambda x: x.sum(), "mean": np.mean, "max": np.max, "prod": lambda x: x.prod(0),
    "std": np.std, "median": np.median, "norm": np.linalg.norm, "dot": lambda x: x @ x,
    "np.dot": lambda x: np.dot(x, x), "inner": lambda x: np.inner(x, x),
    "vdot": lambda x: np.vdot(x, x), "einsum": lambda x: np.einsum("i,i", x, x),
    "det": lambda x: np.linalg.det(np.outer(x, x) + np.eye(3)),
    "slogdet": lambda x: np.linalg.slogdet(np.outer(x, x) + np.eye(3))[1],
    "trace": lambda x: np.trace(np.outer(x, x)), "element": lambda x: x[0],
    "taken": lambda x: np.take(x, 1), "product": lambda x: x[0] * 2, "sin": lambda x: np.sin(x[0]),
    "reflected": lambda x: 0.0 + x[0], "abs": lambda x: abs(x[0]), "copy": lambda x: x[0].copy(),
    "astype": lambda x: x.sum().astype(np.float32), "real": lambda x: np.real(x[0]),
    "clip": lambda x: np.clip(x[0], 0.0, 1.0), "argmax": np.argmax, "any": np.any,
    "count": np.count_nonzero, "hypot": lambda x: np.hypot(x[0], x[1]), "builtin": sum,
    "last of a scan": lambda x: np.cumsum(x)[-1], "unpacked": lambda x: next(iter(x)),
    "plus": lambda x: +x.sum(), "same dtype": lambda x: x[0].astype("float64"),
    "dtype": lambda x: x.sum(dtype="float32"), "nan_to_num": lambda x: np.nan_to_num(x[0]),
    "matrix norm": lambda x: np.linalg.norm(x.reshape(1, 3), 1),
    "cubic norm": lambda x: np.linalg.norm(x, 3), "searched": lambda x: np.searchsorted(x, 1.5),
    "imag": lambda x: np.imag(x[0] * 1j), "real part": lambda x: (x[0] * 1j).real,
}  # fmt: skip

# Results that are arrays without axes in NumPy, which are written in place.
ARRAYS = {
    "ellipsis": lambda x: (x * 1.0)[0, ...], "reshape": lambda x: (x * 1.0)[:1].reshape(()),
    "squeeze": lambda x: np.squeeze((x * 1.0)[:1]),
    "where": lambda x: np.where(x[0] > 0, x[0], 0.0),
}  # fmt: skip


def kept_and_changed(make):
    def function(x):
        value = kept = make(x)
        value += 1
        return kept * 1.0 + 0.0 * value

    return function


@pytest.mark.parametrize("name", SCALARS)
@pytest.mark.parametrize("way", ["tensor", "graph", "captured", "no_grad"])
def test_what_is_a_scalar_in_numpy_is_not_written(name, way):
    function = kept_and_changed(SCALARS[name])
    for _ in range(3):
        expected = function(X)
        if way == "captured":
            found = ng.jit(function)(X)
        elif way == "no_grad":
            with ng.no_grad():
                found = function(ng.tensor(X, requires_grad=True))
        else:
            found = function(ng.tensor(X, requires_grad=way == "graph") * 1.0).detach()
        np.testing.assert_allclose(np.asarray(found), expected, 1e-6)


@pytest.mark.parametrize("name", ARRAYS)
def test_what_is_an_array_in_numpy_is_written(name):
    function = kept_and_changed(ARRAYS[name])
    expected = function(X)
    for x in (ng.tensor(X), ng.tensor(X, requires_grad=True)):
        for _ in range(3):
            assert function(x).detach() == expected


def totals(x):
    total, kept = 0.0, []
    for item in x:
        total += item * item
        kept.append(total)
    return np.stack(kept).prod()


def newton(x):
    root = x[0] / 2.0
    while True:
        before = root
        root -= (root * root - x[0]) / (2.0 * root)
        if abs(root - before) < 1e-12:
            return root


def welford(x):
    mean, kept = x[0] * 0.0, []
    for count, item in enumerate(x, 1):
        mean += (item - mean) / count
        kept.append(mean)
    return (np.stack(kept) ** 2).sum()


def best_so_far(x):
    best = current = (x**2).sum()
    current -= x[0]
    return best * current


@pytest.mark.parametrize("function", [totals, newton, welford, best_so_far])
def test_programs_that_keep_a_number_and_change_it(function):
    near = [(function(X + d) - function(X - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    eager = ng.func.grad(function)
    for slope in (eager, ng.jit(eager)) if function is not newton else (eager,):
        np.testing.assert_allclose(slope(X), near, 1e-6, 1e-8)


def test_a_number_that_is_differentiated_by_is_a_value_and_an_array_is_none():
    def square(x):
        before = x
        x *= 2.0
        return before * x

    for number in (3.0, np.float64(3.0)):
        assert ng.func.grad(square)(number) == 12.0
    with pytest.raises(LeafInplaceError):
        ng.func.grad(square)(np.array(3.0))


@pytest.mark.parametrize("ensemble", [False, True])
def test_an_integer_that_is_known_later_reads_a_value(ensemble):
    def function(x, n):
        value = kept = x[n]
        value += x[2]
        return kept * value

    captured, slope = ng.jit(function), ng.jit(ng.func.grad(function))
    for n in (0, 1, 0, 2, 1):
        assert captured(X, n) == function(X, n)
        assert slope(X, n).tolist() == ng.func.grad(lambda x, n=n: function(x, n))(X).tolist()
    computed = lambda x: function(x, ng.argmin(x))  # noqa: E731
    assert ng.jit(computed, ensemble=ensemble)(X[None] if ensemble else X) == computed(ng.tensor(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_among_the_arguments_are_values(dtype):
    def function(x, s):
        doubled = kept = s * 2
        doubled += 1
        s += kept
        return x * (s + doubled * kept)

    x, captured = X.astype(dtype), ng.jit(function)
    for number in (2, 2.0, 0.5, 3, np.float64(1.5), np.int64(4), 5, 2, 0.25):
        found, expected = captured(x, number), function(x, number)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, 1e-6)


def test_results_of_choices_are_values():
    def function(x):
        def body(t, a):
            before = t
            t -= 0.1 * x[1]
            return t * a + before

        t = x.sum()
        for _ in range(3):
            t = kept = ng.cond(t > 0, body, lambda t, a: t, t, x[0])
            t += 1.0
        return t * kept

    near = [
        (function(ng.tensor(X + d)) - function(ng.tensor(X - d))) / 2e-6 for d in 1e-6 * np.eye(3)
    ]
    for slope in (ng.func.grad(function), ng.jit(ng.func.grad(function))):
        np.testing.assert_allclose(slope(X), np.array(near, float), 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_methods_of_numbers_that_need_the_number(dtype):
    x = X.astype(dtype)
    for method in (lambda s: s.real, lambda s: s.conjugate(), lambda s: divmod(s, 2)[0]):
        captured = ng.jit(lambda x, s, method=method: x * method(s))
        assert captured(x, 2.5).dtype == dtype
        np.testing.assert_array_equal(captured(x, 2.5), x * method(2.5))
    for method in (round, lambda s: round(s, 1), lambda s: s.is_integer()):
        with pytest.raises(ng.errors.CaptureError, match="needs the number"):
            ng.jit(lambda x, s, method=method: x * method(s))(x, 2.5)


@pytest.mark.parametrize(
    "loss",
    [
        lambda a, b, x: ((a * x + b - 1.0) ** 2).sum(),
        lambda a, b, x: (ng.sin(a) * x).sum() + b * b,
    ],
)
@pytest.mark.parametrize("create_graph", [False, True])
def test_gradients_are_arrays_that_can_be_clipped_in_place(loss, create_graph):
    for _ in range(4):
        a, b = (ng.tensor(value, requires_grad=True) for value in (3.0, 2.0))
        expected = [g * 0.1 for g in ng.grad(loss(a, b, X), [a, b], create_graph=create_graph)]
        found = ng.grad(loss(a, b, X), [a, b], create_graph=create_graph)
        loss(a, b, X).backward()
        for gradients in (found, (a.grad, b.grad)):
            for g in gradients:
                g *= 0.1
            for g, e in zip(gradients, expected, strict=True):
                assert g.detach() == e.detach()
        a.grad.fill(0.0)
        b.grad[...] = 0.0
        assert (a.grad, b.grad) == (0.0, 0.0)


def test_a_leaf_without_axes_is_written_by_optimisers():
    weight = (ng.tensor([1.0, 2.0]).sum()).detach().requires_grad_()
    kept = weight
    with ng.no_grad():
        weight -= 0.5
    assert kept is weight
    assert kept == 2.5


def test_what_was_read_is_not_written_by_keys():
    element = ng.tensor(X)[0]
    for value in (element, element.sum().reshape(())):
        with pytest.raises(InplaceError, match="an element that was read, or a view of a result"):
            value[...] = 0.0
    copy = element.clone()
    copy[...] = 0.0
    assert (copy, element) == (0.0, X[0])


@pytest.mark.parametrize("wrap", [lambda f: f, ng.jit])
def test_a_result_without_axes_is_an_array_once_it_is_written(wrap):
    """As libraries write that speak the Array API, where results without axes are arrays."""

    def function(x):
        total = ng.exp((x * x).sum())
        square, before = total * total, total.detach()  # which stay
        total[...] = 3.0 * x[0]
        total += 1.0
        return total + square + before

    value, gradient = wrap(ng.func.value_and_grad(function))(np.array([0.5, 1.0]))
    power = np.exp(1.25)
    np.testing.assert_allclose(value, 2.5 + power**2 + power)
    np.testing.assert_allclose(gradient, [3.0 + 2.0 * power**2, 4.0 * power**2])


def test_a_mask_without_axes_writes_a_result():
    total = ng.tensor(X).sum()
    total[total > 10.0] = 0.0
    assert total == 6.0
    total[total > 5.0] = 0.0
    assert total == 0.0


# Operators that write -----------------------------------------------------------------------------

MATRICES = [
    np.array([[1, 2], [3, 4]]), np.array([[True, False], [True, True]]),
    np.array([[1, 2], [3, 4]], np.int8), np.eye(2),
]  # fmt: skip
OPERANDS = [
    np.array([[1, 0], [2, 1]]), True, 1, np.array([[True, True], [False, True]]), np.ones((2, 3)),
    np.array([1, 2]), 1.5,
]  # fmt: skip


@pytest.mark.parametrize("operator", ["@", "|", "&", "^", "<<", ">>", "+", "*", "//", "%", "**"])
@pytest.mark.parametrize("operand", OPERANDS, ids=str)
@pytest.mark.parametrize("matrix", MATRICES, ids=lambda a: a.dtype.name)
def test_operators_in_place_write_where_numpy_does(operator, operand, matrix):
    def written(target):
        names = {"target": target, "operand": operand}
        try:
            exec(f"target {operator}= operand", names)
        except Exception:  # both refuse, for reasons that they put in other words
            return None
        assert names["target"] is target
        return target.dtype, str(target.tolist())

    with np.errstate(all="ignore"):
        assert written(ng.tensor(matrix)) == written(matrix.copy())


@pytest.mark.parametrize("wrap", [lambda f: f, ng.jit])
def test_a_product_of_matrices_in_place_is_differentiated(wrap):
    def turned(p):
        p @= np.array([[0.0, 1.0], [-1.0, 0.0]])

    def function(q):
        p = q * 1.0
        turned(p)
        return (p * np.array([[1.0, 2.0], [3.0, 4.0]])).sum()

    q = np.arange(4.0).reshape(2, 2)
    value, slope = wrap(ng.func.value_and_grad(function))(q)
    assert value == function(q)
    assert slope.tolist() == [[2.0, -1.0], [4.0, -3.0]]


# Keys ---------------------------------------------------------------------------------------------


def test_integers_and_truth_values_are_keys():
    x = ng.tensor(X)
    assert np.argmax(x) in {0, 2}
    assert np.argmin(x) not in {0, 2}
    assert {0: "a", 1: "b", 2: "c"}[np.argsort(x)[0]] == "b"
    assert Counter(ng.tensor([1, 1, 2])) == {1: 2, 2: 1}
    assert len({*ng.tensor([1, 1, 2])}) == 2
    assert {True: "yes"}[np.any(x > 0)] == "yes"
    assert len({x, ng.tensor(X), x.sum(), ng.tensor(X).sum()}) == 4  # others go by identity
    written = ng.tensor(0)
    known = {written: "known"}
    written += 1
    assert known[written] == "known"


def test_a_key_is_asked_for_in_a_captured_function():
    with pytest.raises(ng.errors.CaptureError, match="the value of a tensor"):
        ng.jit(lambda x: x * (np.argmax(x) in {0, 2}))(X)


@pytest.mark.parametrize("whole", [math.floor, math.ceil, math.trunc])
@pytest.mark.parametrize("number", [2.7, -2.7, 0.0])
def test_whole_parts_are_constants_where_a_derivative_is_taken(whole, number):
    x = ng.tensor(number, requires_grad=True)
    assert whole(x) == whole(number)
    assert type(whole(x)) is int
    value, slope = ng.func.value_and_grad(lambda x: (x - whole(x)) ** 2)(number)
    assert value == (number - whole(number)) ** 2
    assert slope == 2 * (number - whole(number))


def test_a_cell_of_a_grid_is_found_by_its_number():
    values = np.array([1.0, 3.0, 2.0, 5.0])

    def read(x):
        i = math.floor(x / 0.5)
        return values[i] + (values[i + 1] - values[i]) * (x / 0.5 - i)

    assert ng.func.grad(read)(1.2) == -6.0 + 12.0


@pytest.mark.parametrize("number", [2.5, 3.5, -1.2, 7])
@pytest.mark.parametrize("requires_grad", [False, True])
def test_rounding_without_digits_gives_an_integer_of_python(number, requires_grad):
    x = ng.tensor(number, requires_grad=requires_grad and isinstance(number, float))
    assert type(round(x)) is int
    assert round(x) == round(number)
    assert [*range(round(x))] == [*range(round(number))]


def test_rounding_in_a_captured_function_is_done_at_each_call():
    function = ng.jit(lambda x: 2 * round(x[0]))
    assert [function(np.array([v])).item() for v in (1.2, 2.7)] == [2, 6]
