"""``array += tensor``: a new tensor where nobody else has the array, and an error where somebody
has."""

import threading

import numpy as np
import pytest

import numgrad as ng

X = np.array([0.3, 0.6])


def accumulated(x):
    total = np.zeros(2)
    for k in range(3):
        total += k * x
    total *= x
    return total


def of_closure(x):
    total = np.ones(2)

    def add():
        nonlocal total
        total -= x

    add()
    return total


class Sum:
    def __init__(self):
        self.total = np.ones(2)

    def add(self, x):
        self.total -= np.sqrt(x * x)
        return self


def of_an_object(x):
    return Sum().add(x).total


def handed_over(x):
    def add(total):
        total /= x
        return total

    return add(np.ones(2))


@pytest.mark.parametrize(
    ("f", "exact"),
    [
        (accumulated, lambda x: 3 * x * x),
        (of_closure, lambda x: 1 - x),
        (handed_over, lambda x: 1 / x),
    ],
)
def test_a_name_that_has_the_array_alone_is_bound_to_the_result(f, exact):
    np.testing.assert_allclose(f(ng.tensor(X, requires_grad=True)).detach().numpy(), exact(X))
    slopes = np.diag((exact(X + 1e-6) - exact(X - 1e-6)) / 2e-6)
    for jacobian in (ng.func.jacobian(f), ng.jit(ng.func.jacobian(f))):
        np.testing.assert_allclose(jacobian(X), slopes, rtol=1e-8)
    rows = np.stack([X, 2 * X])
    np.testing.assert_array_equal(ng.func.vmap(f)(rows), [f(row) for row in rows])


def test_it_is_so_while_another_thread_runs():
    """As in each notebook."""
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)
    other.start()
    try:
        for f in (accumulated, of_closure, handed_over, of_an_object):
            found = f(ng.tensor(X, requires_grad=True))
            np.testing.assert_allclose(found.detach().numpy(), f(X))
            if f is not of_an_object:
                np.testing.assert_allclose(ng.jit(f)(X), f(X))
    finally:
        ended.set()
        other.join()


def test_an_attribute_of_an_object_is_bound_to_the_result():
    x = ng.tensor(X, requires_grad=True)
    np.testing.assert_array_equal(of_an_object(x).detach().numpy(), 1 - X)
    np.testing.assert_array_equal(ng.func.jacobian(of_an_object)(X), -np.eye(2))
    with pytest.raises(TypeError, match="out= must be a tensor"):  # another call would find it
        ng.jit(of_an_object)(X)


def test_a_global_name_is_bound_to_the_result():
    names = {"np": np, "x": ng.tensor(X, requires_grad=True)}
    exec("total = np.zeros(2)\ntotal += x", names)
    assert type(names["total"]) is ng.Tensor
    np.testing.assert_array_equal(names["total"].detach().numpy(), X)


@pytest.mark.parametrize(
    "program",
    [
        "total = np.zeros(2); other = total; total += x",
        "def add(part): part += x\ndef g():\n    total = np.zeros(2)\n    add(total)\ng()",
        "total = np.zeros(2); part = total[:]; total += x",
        "table = np.zeros((3, 2)); row = table[0]; row += x",
        "table = np.zeros((3, 2))\nfor row in table:\n    row += x",
        "rows = [np.zeros(2)]; rows[0] += x",
        "rows = [np.zeros(2)]\nfor row in rows:\n    row += x",
        "view = memoryview(total := np.zeros(2)); total += x",
        "global total\ntotal = np.zeros(2)\nclass Shared:\n    total += x",
        "class Shared:\n    total = np.zeros(2)\nshared = Shared()\nshared.total += x",
        "shared = type('', (), {})()\nshared.total = total = np.zeros(2)\nshared.total += x",
        "shared = type('', (), {'__setattr__': lambda *_: None})()\n"
        "vars(shared)['total'] = np.zeros(2)\nshared.total += x",
        "total = np.zeros(2); np.add(total, x, out=total)",
        "total = np.zeros(2, int); total += x",
        "total = np.zeros(1); total += x",
    ],
)
def test_an_array_that_others_see_or_that_cannot_hold_the_result_is_refused(program):
    for text in (program, "def f(x):\n " + program.replace("\n", "\n ") + "\nf(x)"):
        names = {"np": np, "x": ng.tensor(X, requires_grad=True)}
        with pytest.raises(TypeError, match="out= must be a tensor, got ndarray"):
            exec(text, names)


def test_the_result_has_the_arrays_shape_and_dtype():
    x = ng.tensor(X, requires_grad=True)
    table = np.zeros((3, 2), np.float32)
    table += x
    assert (table.shape, table.dtype) == ((3, 2), np.float32)
    np.testing.assert_array_equal(table.detach().numpy(), np.float32([X] * 3))


def test_tensors_without_gradients_are_written_into_the_array():
    total = np.zeros(2)
    total += ng.tensor(X)
    assert type(total) is np.ndarray
    other = total
    total += ng.tensor(X)
    np.testing.assert_array_equal(other, 2 * X)
