"""Integers among the arguments of captured functions: other ones need no other recording, unless
Python asks for the number; the results are those of the function itself in any case."""

import math

import numpy as np
import pytest

import numgrad as ng
from tests.sampling import one_in

from ..written import added, row_written, written, written_row

LATER = {  # one recording serves all integers
    "an element": lambda x, i: x[i, 0],
    "a row": lambda x, i: x[i] * 2.0,
    "a column": lambda x, i: x[:, i],
    "a row and a slice": lambda x, i: x[i, 1:],
    "a new axis": lambda x, i: x[None, i],
    "an ellipsis": lambda x, i: x[..., i],
    "an element of one axis": lambda x, i: x[0][i],
    "neighbours": lambda x, i: x[:, i + 1] - x[:, i - 1],
    "from the end": lambda x, i: x[-i] + x[-i - 1],
    "both": lambda x, i: x[i, i] + x[i][i],
    "with an array": lambda x, i: x[i, np.array([0, 2])],
    "written": lambda x, i: written(x, i, 5.0),
    "written by an element": lambda x, i: written(x, (i, 0), x[i, 1]),
    "a row in place": lambda x, i: added(x, i),
    "a sum of it": lambda x, i: x + i,
    "a difference": lambda x, i: i - x,
    "a product": lambda x, i: i * x * i,
    "a quotient": lambda x, i: x / i + i / 2,
    "a product of numbers": lambda x, i: x * (2 * i + 1) * (i * i - i),
    "a square": lambda x, i: x * i**2,
    "a decay": lambda x, i: x * 0.9**i,
    "a rest": lambda x, i: x[i % 3] + i // 2,
    "an absolute value": lambda x, i: x * abs(-i) * +i,
    "a float": lambda x, i: x * (i * 0.5) * (i + 0.25),
    "a complex number": lambda x, i: np.real(x * (i * 1j) * 1j),
    "a function of it": lambda x, i: x * np.sin(i),
    "a choice of arrays": lambda x, i: np.where(x > i, x, i),
    "an array of it": lambda x, i: ng.asarray(i) * x,
    "a tensor of it": lambda x, i: ng.tensor(i) * x,
    "stacked": lambda x, i: ng.stack([x[0, 0], ng.asarray(i)]),
    "integers": lambda x, i: ng.astype(x, np.int64) * i + x,
    "taken": lambda x, i: ng.take(x, i, axis=1),
    "in a derivative": lambda x, i: ng.func.grad(lambda y: np.sum(y[i] ** 3))(x),
    "in a captured function": lambda x, i: ng.jit(lambda y, n: y[n] * n)(x, i),
    "in a Hessian": lambda x, i: ng.func.hessian(lambda y: (y[i] ** 3 * i).sum())(x),
}
ASKED = {  # Python wants to know the number
    "a size": lambda x, i: np.zeros(i) + x[0, 0],
    "a slice": lambda x, i: x[: i + 1],
    "an axis": lambda x, i: np.sum(x[None], axis=i - 1),
    "a shape": lambda x, i: x[:3, :2].reshape(i, -1),
    "a loop": lambda x, i: sum(x[k] for k in range(i)),
    "a choice": lambda x, i: x if i > 1 else -x,
    "a choice by truth": lambda x, i: x if i % 2 else -x,
    "a key": lambda x, i: x * {1: 2.0}.get(i, 3.0),
    "a text": lambda x, i: x * {"w1": 2.0}.get(f"w{i}", 3.0),
    "a place in a list": lambda x, i: [x, 2 * x, 3 * x, 4 * x][i],
    "a list": lambda x, i: x[0, 0] * np.array([1.0, 2.0] * i),
    "a text repeated": lambda x, i: x * len("ab" * i),
    "a factorial": lambda x, i: x * math.factorial(i),
    "a root": lambda x, i: x * math.sqrt(i),
    "bits": lambda x, i: x * (i & 1) + (i << 2) + (i ^ 1) + (i | 2) + (~i) + (i >> 1),
    "divmod": lambda x, i: x * divmod(i, 2)[0],
    "an exponent": lambda x, i: x**i,
    "a power of two": lambda x, i: x * 2.5 ** (-2.0 * i) * (-2) ** i,
    "a type": lambda x, i: x * 2 if isinstance(i, (int, np.integer)) and float(i) > 1 else x,
    "rounded": lambda x, i: x * round(i),
    "a row that is written": lambda x, i: row_written(x, i),
    "a row of what is written": lambda x, i: written_row(x, i),
    "returned": lambda x, i: (x * 2.0, i),
    "too large": lambda x, i: x * float(i**40 % 1000),
    "a number of bits": lambda x, i: x * int(i).bit_length(),
    "an integer that overflows": lambda x, i: ng.astype(x, np.int8) * i,
    "an unsigned one": lambda x, i: ng.astype(x, np.uint64) * i,
    "sorted": lambda x, i: x * max(i, 2) - min(3, i),
    "swallowed": lambda x, i: x * swallowed(i),
}


def swallowed(i):
    try:
        return [2.0, 3.0, 4.0, 5.0][i]
    except ng.errors.CaptureError:
        return 0.0


def recordings(function):
    """Return a captured function and a list that grows when it is recorded."""
    calls = []

    def noted(*args):
        calls.append(args)
        return function(*args)

    return ng.jit(noted), calls


def same(found, expected):
    if type(expected) is tuple:
        assert found[1] == expected[1]
        assert type(found[1]) is (int if type(expected[1]) is int else np.ndarray)
        found, expected = found[0], expected[0]
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=3e-16 * 8)


def matrix(dtype=np.float64):
    return np.linspace(-1.5, 2.5, 20).reshape(4, 5).astype(dtype)


@pytest.mark.parametrize("kind", one_in(3, [int, np.int64, np.int32]))
@pytest.mark.parametrize("dtype", one_in(2, [np.float64, np.float32]))
@pytest.mark.parametrize("name", [*LATER, *ASKED])
def test_results_are_those_of_the_function(name, dtype, kind):
    function = {**LATER, **ASKED}[name]
    captured = ng.jit(function)
    with np.errstate(all="ignore"):
        for i in (1, 2, 3, 2, 1):
            x = matrix(dtype) + i
            same(captured(x, kind(i)), as_arrays(function(ng.tensor(x), kind(i))))


def as_arrays(found):
    if type(found) is tuple:
        return (found[0].numpy(), found[1])
    return found.numpy() if isinstance(found, ng.Tensor) else np.asarray(found)


@pytest.mark.parametrize("name", LATER)
def test_other_integers_need_no_other_recording(name):
    captured, calls = recordings(LATER[name])
    for i in (1, 2):
        captured(matrix(), i)
    before = len(calls)
    for i in (3, 1, 2):
        captured(matrix(), i)
    assert len(calls) == before
    assert before in (2, 3, 4)  # a derivative calls the function that it closes over once more


@pytest.mark.parametrize("name", ASKED)
def test_what_asks_for_the_number_is_recorded_for_each(name):
    captured, calls = recordings(ASKED[name])
    for i in (1, 2, 3):
        captured(matrix(), i)
    before = len(calls)
    for i in (3, 1, 2):
        captured(matrix(), i)
    assert before - len(calls) in (0, -1)  # the first one may be recorded once more


@pytest.mark.parametrize("name", LATER)
def test_derivatives_of_tensors(name):
    function = LATER[name]
    captured = ng.jit(function)
    for i in (1, 2, 3):
        x = ng.tensor(matrix(), requires_grad=True)
        expected, found = (ng.grad(np.real(f(x, i)).sum(), x)[0] for f in (function, captured))
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_of_several_only_the_one_that_is_asked_for_is_part_of_a_recording():
    captured, calls = recordings(lambda x, i, n: x[i, :n])
    for i, n in ((0, 1), (1, 2), (2, 2), (3, 2), (0, 2), (1, 1)):
        np.testing.assert_array_equal(captured(matrix(), i, n), matrix()[i, :n])
    assert len(calls) <= 5


def test_integers_in_containers_and_by_name():
    captured, calls = recordings(lambda x, places: x[places["i"]] * places["k"][0])
    for i in (1, 2, 3, 0):
        found = captured(matrix(), {"i": i, "k": (i + 1, "name")})
        np.testing.assert_array_equal(found, matrix()[i] * (i + 1))
    assert len(calls) == 2
    named = ng.jit(lambda x, *, i: x[i])
    for i in (1, 2, 3, 0):
        np.testing.assert_array_equal(named(matrix(), i=i), matrix()[i])


def test_an_integer_out_of_bounds():
    captured = ng.jit(lambda x, i: x[i])
    for i in (0, 1, 2, -4):
        np.testing.assert_array_equal(captured(matrix(), i), matrix()[i])
    for i in (4, -5, 10**9, 2**31, 10**30):
        with pytest.raises(IndexError, match="out of bounds"):
            captured(matrix(), i)
    np.testing.assert_array_equal(captured(matrix(), 3), matrix()[3])


@pytest.mark.parametrize("i", [0, 2**29, 2**30 - 1, 2**30, 2**31, 2**40, 2**62])
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_of_any_size(i, sign):
    captured = ng.jit(lambda x, i: x * i)
    for given in (1, 2, sign * i, 3):
        np.testing.assert_array_equal(captured(matrix(), given), matrix() * given)


def test_a_number_is_told_from_an_integer_and_from_a_truth():
    captured = ng.jit(lambda x, i: x * i)
    for given in (2, 3, 2.5, True, np.int64(4), np.float32(1.5), np.array(6), 1j, False, 5):
        found = captured(np.ones(2, np.float32), given)
        expected = np.ones(2, np.float32) * given
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_a_type_as_an_argument_is_told_from_its_numbers():
    captured = ng.jit(lambda x, d: x * (2.0 if isinstance(d, type) else d))
    for kind, number in ((float, 1.5), (int, 3), (complex, 1j), (np.float32, np.float32(0.5))):
        for _ in range(3):
            np.testing.assert_array_equal(captured(np.ones(2), kind), [2.0, 2.0])
        np.testing.assert_array_equal(captured(np.ones(2), number), np.ones(2) * number)


@pytest.mark.parametrize("make", [
    float, complex, np.float64, np.float32, np.complex64, np.complex128, np.int8, np.uint16,
    np.bool_,
])  # fmt: skip
def test_numbers_of_every_kind_are_read_by_entries(make):
    captured, calls = recordings(lambda x, a: x * a)
    for number in (0, 1, 2, 3, 1, 0):
        given = make(number)
        np.testing.assert_array_equal(captured(np.ones(3), given), np.ones(3) * given)
    assert len(calls) == (2 if np.dtype(make).kind in "iu" else 1)


def test_an_error_of_the_function_is_its_own():
    def function(x, i):
        if i == 2:
            raise KeyError("two")
        return x[i]

    captured = ng.jit(function)
    captured(matrix(), 0)
    with pytest.raises(KeyError, match="two"):
        captured(matrix(), 2)
    np.testing.assert_array_equal(captured(matrix(), 3), matrix()[3])


@pytest.mark.parametrize("divided", [lambda x, i: x * (6 // i), lambda x, i: x * (6 % i)])
def test_a_division_by_zero_is_not_hidden(divided):
    captured = ng.jit(divided)
    for i in (1, 2, 3):
        np.testing.assert_array_equal(captured(matrix(), i), divided(matrix(), i))
    with pytest.raises(ZeroDivisionError):
        captured(matrix(), 0)


@pytest.mark.parametrize("index", [np.array(1), ng.tensor(1), (np.array(1), slice(0, 2))])
def test_an_array_without_axes_as_an_index_makes_a_copy(index):
    """As in NumPy, also where nothing is captured."""
    for x in (ng.tensor(matrix()), ng.tensor(matrix(), requires_grad=True) * 1.0):
        row = x[index]
        row += 5.0
        np.testing.assert_array_equal(x.detach(), matrix())


def test_steps_of_an_optimiser():
    def step(x, m, t):
        g = ng.func.grad(lambda x: ((x - 3.0) ** 2).sum())(x)
        m = 0.9 * m + 0.1 * g
        return x - 0.1 * m / (1 - 0.9**t), m

    captured, calls = recordings(step)
    x = y = np.zeros(3)
    m = n = np.zeros(3)
    for t in range(1, 50):
        x, m = captured(x, m, t)
        g = 2 * (y - 3.0)
        n = 0.9 * n + 0.1 * g
        y = y - 0.1 * n / (1 - 0.9**t)
        np.testing.assert_allclose(x, y, rtol=1e-13)
    assert len(calls) == 2


@pytest.mark.parametrize("number", [1.5, 1j])
def test_a_float_is_what_it_is_and_no_key(number):
    def function(x, a):
        assert isinstance(a, type(number))
        assert not isinstance(a, (int, np.ndarray))
        return x * a

    np.testing.assert_array_equal(ng.jit(function)(np.ones(2), number), np.ones(2) * number)
    for keyed in (lambda x, a: x * {1.5: 2.0}.get(a, 3.0), lambda x, a: x * (a in {number})):
        with pytest.raises(ng.errors.CaptureError, match="static_argnums"):
            ng.jit(keyed)(np.ones(2), number)
        np.testing.assert_array_equal(
            ng.jit(keyed, static_argnums=1)(np.ones(2), number), keyed(np.ones(2), number)
        )


@pytest.mark.parametrize("function", [
    lambda a: a * a, lambda a: a * 3.0, lambda a: 3.0 / a, lambda a: a**a, lambda a: np.sin(a) * a,
    lambda a: np.where(a > 0, a, 1.0) * a, lambda a: np.maximum(a, 0.1) * a,
    lambda a: np.clip(a, 0.0, a), lambda a: np.stack([a, a * a]).sum(),
    lambda a: ng.asarray(a) * a, lambda a: np.real(a * 1j * a),
])  # fmt: skip
@pytest.mark.parametrize("number", [0.6, np.float64(0.6)])
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_derivatives_with_respect_to_a_float_among_the_arguments(function, number):
    F = ng.func
    for derived in (
        F.grad(function), F.grad(F.grad(function)), lambda a: F.hvp(function, (a,), (a,)),
        lambda a: F.jvp(F.grad(function), (a,), (1.0,)), F.value_and_grad(function),
        F.hessian(function), lambda a: F.vjp(function, a)[1](a),
        lambda a: F.grad(lambda x: function(x * a))(a),
    ):  # fmt: skip
        found, expected = leaves(ng.jit(derived)(number)), leaves(derived(number))
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-14)


def leaves(tree):
    return [x for item in tree for x in leaves(item)] if type(tree) is tuple else [tree]


def _written(i):
    t = ng.zeros(3, dtype="i1")
    t[1:] = i * 2
    return t


def _filled(i):
    t = ng.zeros(3, dtype="i1")
    t.fill(i)
    return t


_LIKE = np.zeros(2, np.int8)


@pytest.mark.parametrize("function", [
    lambda i: ng.full((2,), i, dtype="i1"), lambda i: ng.full_like(_LIKE, i), _written, _filled,
    lambda i: ng.asarray(i, dtype="i1"), lambda i: ng.asarray([[i], [1]], dtype="i1"),
    lambda i: ng.tensor(i, dtype="i1"), lambda i: ng.asarray(_LIKE) + i,
    lambda i: ng.where(_LIKE == 0, i, ng.asarray(_LIKE)), lambda i: ng.full((2,), -i, dtype="u8"),
])  # fmt: skip
def test_an_integer_that_does_not_fit_a_dtype_is_refused_as_when_called(function):
    captured = ng.jit(function)
    for i in (1, 2, 3, 300, -300, 4):
        try:
            expected = function(i)
        except OverflowError:
            with pytest.raises(OverflowError, match="out of bounds"):
                captured(i)
        else:
            assert captured(i).tolist() == expected.tolist()
            assert captured(i).dtype == expected.dtype
