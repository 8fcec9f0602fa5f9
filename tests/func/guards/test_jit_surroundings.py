"""What is around a captured function: data written between a call and later derivatives, hooks of
tensors that it closes over, the grad mode, and numbers of Python."""

import numpy as np
import pytest

import numgrad as ng
from numgrad import func
from numgrad.errors import ArgTypeError, InplaceError

ONES = np.ones(2)


# Derivatives of a call are those of the call ------------------------------------------------------


def cubes(data):
    return lambda x: (data * x**3).sum()


def slope_captured(data, x):
    return ng.jit(func.grad(cubes(data)))(x)


def slope_of_captured(data, x):
    return ng.grad(ng.jit(cubes(data))(x), x, create_graph=True)[0]


def slope_batched(data, x):
    rows = ng.grad(
        ng.jit(cubes(data))(x), x, np.ones(1), is_grads_batched=True, create_graph=True
    )
    return rows[0][0]


def slope_masked(data, x):
    return ng.jit(func.grad(lambda x: np.where(data > 0, data * x**3, 0.0).sum()))(x)


SLOPES = [slope_captured, slope_of_captured, slope_batched, slope_masked]


@pytest.mark.parametrize("slope", SLOPES)
@pytest.mark.parametrize(
    "make",
    [
        np.array,
        ng.tensor,
        lambda a: np.repeat(a, 2)[::2],
        lambda a: ng.tensor(np.repeat(a, 2))[::2],
    ],
)
def test_a_second_derivative_is_that_of_the_call(slope, make):
    x = ng.tensor(ONES, requires_grad=True)
    for _ in range(3):
        data = make(np.array([1.0, 2.0]))
        found = slope(data, x)
        data += 1.0
        assert ng.grad(found, x, ONES)[0].tolist() == [6.0, 12.0]


def test_a_third_derivative_is_that_of_the_call():
    data, x = np.array([1.0, 2.0]), ng.tensor(ONES, requires_grad=True)
    captured = ng.jit(lambda x: (data * x**4).sum())
    (first,) = ng.grad(captured(x), x, create_graph=True)
    (second,) = ng.grad(first.sum(), x, create_graph=True)
    data += 1.0
    assert ng.grad(second.sum(), x)[0].tolist() == [24.0, 48.0]


def test_a_write_without_gradients_is_found_as_elsewhere():
    data, x = ng.tensor([1.0, 2.0]), ng.tensor(ONES, requires_grad=True)
    found = slope_captured(data, x)
    with ng.no_grad():
        data += 1.0
    with pytest.raises(InplaceError):
        ng.grad(found, x, ONES)


# Hooks --------------------------------------------------------------------------------------------


def squares(w):
    return lambda x: (w**2 * x).sum()


def by_grad(y, w):
    return ng.grad(y, w)[0]


def by_batch(y, w):
    return ng.grad(y, w, np.ones(1), is_grads_batched=True)[0][0]


def by_recorded_batch(y, w):
    return ng.grad(y, w, np.ones(1), is_grads_batched=True, create_graph=True)[0][0]


def by_backward(y, w):
    w.grad = None
    y.backward()
    return w.grad


@pytest.mark.parametrize("gradient", [by_grad, by_batch, by_recorded_batch, by_backward])
@pytest.mark.parametrize("wrap", [ng.jit, lambda f: ng.jit(lambda x: func.grad(f)(x).sum())])
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_a_hook_of_what_is_closed_over_acts_once_as_long_as_it_is_there(gradient, wrap):
    w = ng.tensor([1.0, 2.0], requires_grad=True)
    captured = wrap(squares(w))
    handle = w.register_hook(lambda g: 3.0 * g)
    for _ in range(2):
        assert gradient(captured(ONES), w).tolist() == [6.0, 12.0]
    handle.remove()
    for _ in range(2):
        assert gradient(captured(ONES), w).tolist() == [2.0, 4.0]


def test_a_hook_of_what_is_closed_over_sees_numbers():
    leaf, seen = ng.tensor([1.0, 2.0], requires_grad=True), []
    w = leaf * 1.0
    w.register_hook(lambda g: seen.append(g.tolist()))
    leaf.register_hook(lambda g: seen.append(float(g.sum())))
    captured = ng.jit(squares(w))
    for _ in range(2):
        captured(ONES).backward(retain_graph=True)
    assert seen == [[2.0, 4.0], 6.0] * 2


# The grad mode ------------------------------------------------------------------------------------


def by_mode(x):
    return x * 2.0 if ng.is_grad_enabled() else x * 3.0


@pytest.mark.parametrize("given", [ONES, ng.tensor(ONES)])
def test_the_grad_mode_is_that_of_the_call(given):
    captured = ng.jit(by_mode)
    for _ in range(4):
        assert captured(given).tolist() == [2.0, 2.0]
        with ng.no_grad():
            assert captured(given).tolist() == [3.0, 3.0]


def test_a_leaf_requires_grad_whatever_the_mode():
    captured, x = ng.jit(lambda x: x**2 if x.requires_grad else x**3), ng.tensor(2.0)
    assert captured(x) == 8.0
    x.requires_grad = True
    for mode in (ng.no_grad, ng.enable_grad):
        with mode():
            assert captured(x) == 4.0


# Numbers of Python --------------------------------------------------------------------------------

SINGLE = np.array([1.1, 2.2, 3.3], np.float32)


@pytest.mark.parametrize(
    "function",
    [
        func.value_and_grad(lambda s: ng.exp(s * ng.asarray(SINGLE)).sum()),
        lambda s: func.jvp(lambda s: s * ng.asarray(SINGLE), (s,), (1.0,)),
        lambda s: ng.dot(ng.asarray(SINGLE), s),
        lambda s: ng.inner(s, ng.asarray(SINGLE)),
        lambda s: ng.zeros(2, dtype=ng.result_type(SINGLE, s)),
        lambda s: ng.asarray(SINGLE) * s,
        lambda s: ng.sum(s) * ng.asarray(SINGLE),
    ],
)
@pytest.mark.parametrize("numbers", [(0.1, 0.2, 0.3), (1, 2, 3)])
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_numbers_give_the_dtypes_that_they_give_without_a_capture(function, numbers):
    captured = ng.jit(function)
    for number in numbers:
        try:
            expected = function(number)
        except TypeError:  # integers have no derivatives
            with pytest.raises(TypeError):
                captured(number)
            continue
        both = (r if isinstance(r, tuple) else (r,) for r in (expected, captured(number)))
        for a, b in zip(*both, strict=True):
            assert b.dtype == a.dtype
            np.testing.assert_allclose(np.asarray(b), np.asarray(a), 1e-6)


@pytest.mark.parametrize(
    "divided",
    [
        lambda x, n: x * (1.0 / n),
        lambda x, n: x + 7 / n,
        lambda x, n: x * (n / (n - 1)),
        lambda x, n: x * (2.5 / (n - 1)),
        lambda x, n: x * (n / 2),
    ],
)
def test_quotients_of_integers_raise_where_python_does(divided):
    captured = ng.jit(divided)
    for n in (3, 2, 5, 1, 0):
        try:
            expected = divided(ONES, n)
        except ZeroDivisionError:
            with pytest.raises(ZeroDivisionError):
                captured(ONES, n)
        else:
            assert captured(ONES, n).tolist() == expected.tolist()


def test_a_parameter_that_is_called_out():
    captured = ng.jit(lambda x, out=2.0: x * out)
    for _ in range(3):
        assert captured(ONES, 3 * ONES).tolist() == [3.0, 3.0]
        assert captured(ONES).tolist() == [2.0, 2.0]
        with pytest.raises(ArgTypeError, match="has a parameter out of its own"):
            captured(ONES, out=3 * ONES)


@pytest.mark.parametrize("ensemble", [False, True])
@pytest.mark.parametrize("where", ["before", "after"])
def test_what_a_function_reads_beside_a_captured_one_is_read_at_each_call(ensemble, where):
    inner = ng.jit(lambda x: x * 2.0, ensemble=ensemble)
    weights, offsets = ng.tensor([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])

    def reads():
        return (weights * weights).sum() + np.exp(offsets).sum() + ng.sin(ng.tensor(offsets)).sum()

    def function(x):
        if where == "before":
            read = reads()
            return inner(x) * read
        y = inner(x)
        return y * reads()

    captured = ng.jit(function)
    for step in range(3):
        offsets[:] = step
        with ng.no_grad():
            weights[0] = float(step)
        found = captured(np.ones(3))
        np.testing.assert_allclose(found, 2.0 * reads().numpy() * np.ones(3), rtol=1e-14)
