"""Kernels of users write their outputs, and nothing else: anything that differs is refused."""

import inspect

import numpy as np
import pytest
from numba import njit

import numgrad as ng
from numgrad._errors import OperatorError

pytestmark = pytest.mark.device_sample

X = np.array([3.0, 2.0, 5.0])


@njit
def first_to_one(a):
    a[0] = 1.0


@njit("f8(f8[:])")
def first_of(a):
    return a[0]


def element(x, out):
    out[0] = 0.0
    x[0] = 1.0


def all_elements(x, out):
    x[:] = 0.0
    out[:] = x


def added_to_an_element(x, out):
    x[1] += 1.0
    out[:] = x


def added_to_all(x, out):
    x += 1.0
    out[:] = x


def a_slice(x, out):
    y = x[1:]
    y[0] = 1.0
    out[:] = x


def another_shape(x, out):
    y = x.reshape((x.size, 1))
    y[0, 0] = 1.0
    out[:] = x


def the_same_array(x, out):
    y = np.asarray(x)
    y[0] = 1.0
    out[:] = x


def a_method(x, out):
    x.sort()
    out[:] = x


def one_by_one(x, out):
    x.flat[0] = 1.0
    out[:] = x


def a_ufunc(x, out):
    np.add(x, 1.0, x)
    out[:] = x


def another_function(x, out):
    first_to_one(x)
    out[:] = x


WRITE_INPUTS = (
    element, all_elements, added_to_an_element, added_to_all, a_slice, another_shape,
    the_same_array, a_method, one_by_one, a_ufunc, another_function,
)  # fmt: skip
LINES = {"element": 2, "a_slice": 2, "another_shape": 2, "the_same_array": 2}


@pytest.mark.parametrize("function", WRITE_INPUTS, ids=lambda f: f.__name__)
def test_a_kernel_that_writes_its_input_is_refused(function):
    operator = ng.operator("(n)->(n)")(njit(function))
    x = X.copy()
    line = inspect.getsourcelines(function)[1] + LINES.get(function.__name__, 1)
    match = rf"{function.__name__}: the kernel writes its input x \(.*_writes\.py:{line}\)"
    with pytest.raises(OperatorError, match=match):
        operator(x)
    np.testing.assert_array_equal(x, X)


def given_another_value(x, out):
    out = 0.0  # noqa: F841


def summed_in_a_number(x, out):
    out = 0.0
    for i in range(x.size):
        out += x[i]


def given_another_array(x, out):
    out = x * 2.0  # noqa: F841


def only_looked_at(x, out):
    total = 0.0
    for i in range(len(out)):
        total += x[i]


def given_values_in_turn(x, out):
    for i in range(out.size):
        out = x[i]


NEVER_WRITE = (
    given_another_value, summed_in_a_number, given_another_array, only_looked_at,
    given_values_in_turn,
)  # fmt: skip


@pytest.mark.parametrize("function", NEVER_WRITE, ids=lambda f: f.__name__)
def test_a_kernel_that_never_writes_its_output_is_refused(function):
    operator = ng.operator("(n)->(n)")(njit(function))
    match = rf"{function.__name__}: the kernel never writes its output out \(.*_writes\.py:\d+\)"
    with pytest.raises(OperatorError, match=match):
        operator(X)


def summed_up(x, out):
    for i in range(x.size):
        out[0] += x[i]


def added_to_as_a_whole(x, out):
    out += x


def doubled(x, out):
    out[:] = 2.0 * out[:] - 1.0


def from_the_left(x, out):
    for i in range(1, x.size):
        out[i] = out[i - 1] + x[i]


def compared(x, out):
    if x[0] > 0:
        out[0] == 1.0  # noqa: B015  a slip for =


UPDATES = (summed_up, added_to_as_a_whole, doubled, from_the_left)


@pytest.mark.parametrize("function", UPDATES, ids=lambda f: f.__name__)
def test_a_kernel_that_only_updates_its_output_is_refused(function):
    operator = ng.operator("(n)->(n)")(njit(function))
    match = rf"{function.__name__}: .* its output out from what the memory held before \(.*:\d+\)"
    with pytest.raises(OperatorError, match=match):
        operator(X)


def test_a_kernel_that_only_reads_its_output_is_refused():
    operator = ng.operator("(n)->(n)")(njit(compared))
    with pytest.raises(OperatorError, match="never writes its output out"):
        operator(X)


def test_a_gradient_that_is_only_added_to_is_refused():
    def write(g, x, a, out, gx, ga):
        gx[:] = a * g
        for i in range(x.size):
            ga[0] += x[i] * g[i]

    with pytest.raises(OperatorError, match=r"backward.* its output ga from what the memory held"):
        slopes(write, "adding")


def added_to_after_a_view(x, out):
    first = out[:1]
    first[0] = 0.0
    first += 1.0
    out[1:] = x[1:]


def a_first_element_apart(x, out):
    for i in range(x.size):
        if i > 0:
            out[i] = out[i - 1] + x[i]
        else:
            out[i] = x[i]


def a_copy(x, out):
    y = x.copy()
    y[0] = 1.0
    y += 1.0
    out[:] = y


def its_own_name(x, out):
    x = x + 1.0
    x[0] = 2.0
    x += 1.0
    out[:] = x


def a_number_of_it(x, out):
    s = x[0]
    s += 1.0
    out[:] = s


def by_another_name(x, out):
    result = out if x.size > 100 else out[:]
    for i in range(x.size):
        result[i] = x[i]


def added_to(x, out):
    out[:] = 0.0
    out += x


def by_another_function(x, out):
    out[1:] = x[1:]
    first_to_one(out)


def by_a_ufunc(x, out):
    np.add(x, 1.0, out)


def of_an_exact_type(x, out):
    out[:] = first_of(x)


FINE = {
    a_copy: [2, 3, 6], its_own_name: [3, 4, 7], a_number_of_it: [4, 4, 4], by_another_name: X,
    added_to: X, by_another_function: [1, 2, 5], by_a_ufunc: [4, 3, 6], of_an_exact_type: [3, 3, 3],
    added_to_after_a_view: [1, 2, 5], a_first_element_apart: [3, 5, 10],
}  # fmt: skip


@pytest.mark.parametrize("function", FINE, ids=lambda f: f.__name__)
def test_what_does_neither_is_accepted(function):
    operator = ng.operator("(n)->(n)")(njit(function))
    np.testing.assert_array_equal(operator(X), FINE[function])


@ng.operator("(n),()->(n)")
@njit
def scaled(x, a, out):
    for i in range(x.size):
        out[i] = a * x[i]


def slopes(write, name):
    """Declare a backward kernel of a copy of an operator, and take a gradient."""
    operator = ng.operator("(n),()->(n)", name=name)(scaled.function)
    operator.backward(njit(write))
    x = ng.tensor(X, requires_grad=True)
    return ng.grad(operator(x, 2.0).sum(), x)[0]


@pytest.mark.parametrize("parameter", ["g", "x", "out"])
def test_backward_kernels_write_no_cotangents_inputs_and_outputs(parameter):
    text = f"def write(g, x, a, out, gx, ga):\n gx[:] = g\n ga[0] = 0.0\n {parameter}[0] = 1.0"
    names: dict = {}
    exec(text, names)
    match = f"backward.*of operator wrong{parameter}.*writes its input {parameter}"
    with pytest.raises(OperatorError, match=match):
        slopes(names["write"], f"wrong{parameter}")


def test_backward_kernels_write_every_gradient():
    def write(g, x, a, out, gx, ga):
        gx[:] = a * g
        ga = 0.0
        for i in range(x.size):
            ga += x[i] * g[i]

    with pytest.raises(OperatorError, match=r"backward.*of operator lazy.*never writes.* ga "):
        slopes(write, "lazy")


def test_cotangents_shared_with_others_stay_as_they_are():
    def write(g, x, a, out, gx, ga):
        gx[:] = a * g
        ga[0] = (x * g).sum()

    np.testing.assert_array_equal(slopes(write, "right").numpy(), [2.0, 2.0, 2.0])
