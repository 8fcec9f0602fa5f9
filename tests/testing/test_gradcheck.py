"""Checks of derivatives find what is wrong with them, and say where."""

import math

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import ArgTypeError, DtypeError, GradcheckError
from numgrad.testing import check_operator, gradcheck, gradgradcheck
from tests.sampling import one_in

X = np.array([0.5, -1.2, 2.0])
MODES = pytest.mark.parametrize("mode", ["projection", "full"])


@ng.elementwise
def one_percent(x):
    return math.sin(x)


@one_percent.partial("x")
def one_percent_dx(x):
    return 1.01 * math.cos(x)


def variable(data=X, dtype=np.float64):
    return ng.tensor(data, dtype=dtype, requires_grad=True)


def operation(backward, forward=lambda x: x * x):
    """Return a function with this derivative."""

    class Custom(ng.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return forward(x)

        @staticmethod
        def backward(ctx, g):
            return backward(ctx.saved_tensors[0], g)

    return Custom.apply


# What is right passes -----------------------------------------------------------------------------


@MODES
def test_right_derivatives_pass(mode):
    assert gradcheck(lambda x: ng.exp(x) * x, variable(), mode=mode)
    assert gradgradcheck(lambda x: ng.exp(x) * x, variable(), mode=mode)


@MODES
def test_complex_functions_pass_holomorphic_or_not(mode):
    z = ng.tensor(X + 0.7j, requires_grad=True)
    for function in (ng.exp, ng.abs, ng.conj, ng.real, lambda z: z * ng.conj(z) * z):
        assert gradcheck(function, z, mode=mode)
        assert gradgradcheck(function, z, mode=mode)


def test_single_precision_passes():
    assert gradcheck(ng.tanh, variable(dtype=np.float32))
    assert gradgradcheck(ng.tanh, variable(dtype=np.float32))


def test_nested_containers_and_other_arguments_pass_through():
    def function(pair, scale, name, flags):
        assert name == "name"
        assert flags == {"on": True, "none": None}
        return {"product": pair["a"][0] * scale, "all": [pair["a"][1], pair["b"].sum()]}

    inputs = (
        {"a": [variable(), variable()], "b": variable()},
        3,
        "name",
        {"on": True, "none": None},
    )
    assert gradcheck(function, inputs)
    assert gradgradcheck(function, inputs)


def test_only_tensors_that_require_grad_are_checked():
    wrong = operation(lambda x, g: g * 7)
    assert gradcheck(lambda x, y: x * wrong(y), (variable(), ng.tensor(X)))


def test_arrays_are_checked_when_nothing_requires_grad():
    assert gradcheck(lambda x, y: x * y, (X, X + 1))
    assert not gradcheck(lambda x, y: x * one_percent(y), (X, X + 1), raise_exception=False)


def test_outputs_that_are_constant_or_integer_do_no_harm():
    assert gradcheck(lambda x: (x * x, ng.argmax(x), ng.ones(2)), variable())


def test_functions_that_take_gradients_pass():
    def slope(x):
        return ng.grad((x * x * x).sum(), x, create_graph=True)[0]

    assert gradcheck(slope, variable())


def test_given_seeds_are_used():
    assert gradgradcheck(lambda x: x * x, variable(), ng.tensor([1.0, 0.0, 2.0]))


def test_keywords_of_torch_are_taken():
    assert gradcheck(
        ng.sin, (variable(),), eps=1e-6, atol=1e-4, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
        check_undefined_grad=True, check_batched_grad=True, check_forward_ad=True, fast_mode=False,
    )  # fmt: skip


def test_complex_steps_are_exact():
    assert gradcheck(ng.exp, variable(), complex_step=True, atol=1e-14, rtol=1e-14)
    assert not gradcheck(
        one_percent, variable(), complex_step=True, atol=0, rtol=1e-3, raise_exception=False
    )


# What is wrong is found ---------------------------------------------------------------------------


@MODES
def test_one_percent_is_caught(mode):
    assert not gradcheck(one_percent, variable(), mode=mode, raise_exception=False)
    with pytest.raises(GradcheckError):
        gradcheck(one_percent, variable(), mode=mode)


def test_one_percent_is_caught_in_single_precision():
    assert not gradcheck(one_percent, variable(dtype=np.float32), raise_exception=False)


@pytest.mark.parametrize("seed", one_in(5, range(5)))
def test_one_wrong_entry_among_many_is_caught(seed):
    factors = np.ones(400)
    factors[123] = 1.01
    wrong = operation(lambda x, g: 2 * x * g * factors)
    assert not gradcheck(wrong, variable(np.linspace(1, 2, 400)), seed=seed, raise_exception=False)


def test_the_message_names_input_position_values_and_line():
    def function(x, pair):
        return x * 2, operation(lambda x, g: g * x * np.array([2.0, 2.0, 5.0]))(pair["p"])

    with pytest.raises(GradcheckError) as caught:
        gradcheck(function, (variable(), {"p": variable()}))
    message = str(caught.value)
    assert "1 of 36 entries" in message
    assert "output 1 at [2] with respect to input 1['p'] at [2]" in message
    assert "analytic 10.0, numerical 4.0000" in message
    assert "test_gradcheck.py" in message


def test_a_wrong_second_derivative_is_caught():
    detached = operation(lambda x, g: 2 * x.detach() * g)
    assert gradcheck(detached, variable())
    with pytest.raises(GradcheckError, match="gradgradcheck"):
        gradgradcheck(detached, variable())


def test_a_derivative_that_is_not_linear_in_the_seed_is_caught():
    square = operation(lambda x, g: 2 * x * g * ng.abs(g))
    assert not gradcheck(square, variable(), raise_exception=False)


def test_a_missing_dependence_is_caught():
    assert not gradcheck(lambda x: x * x.detach(), variable(), raise_exception=False)


def test_nan_is_caught():
    with pytest.raises(GradcheckError, match="not finite"):
        gradcheck(lambda x: ng.sqrt(x) * 0, variable([0.0, 1.0]))
    nothing = operation(lambda x, g: g * np.nan)
    with pytest.raises(GradcheckError, match="nan"):
        gradcheck(nothing, variable())


def test_a_function_that_writes_to_its_input_is_caught():
    def careless(x):
        array = x.detach().numpy()
        array.flags.writeable = True
        array += 1
        return x * 1

    x = variable()
    with pytest.raises(GradcheckError):
        gradcheck(careless, x)


def test_passes_that_differ_are_caught_beyond_the_tolerance():
    noise = iter(np.linspace(1e-8, 2e-8, 1000))
    noisy = operation(lambda x, g: 2 * x * g + next(noise))
    with pytest.raises(GradcheckError, match="nondet_tol"):
        gradcheck(noisy, variable(), check_batched_grad=False)
    noise = iter(np.linspace(1e-8, 2e-8, 1000))
    assert gradcheck(noisy, variable(), check_batched_grad=False, nondet_tol=1e-6)


def test_an_output_without_seed_must_count_as_zero():
    class Pair(ng.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g1, g2):
            if g1 is None or g2 is None:
                return (g1 if g1 is not None else g2) * 99
            return g1 * 2 + g2 * 3

    with pytest.raises(GradcheckError, match="alone"):
        gradcheck(Pair.apply, variable())
    assert gradcheck(Pair.apply, variable(), check_undefined_grad=False)


def test_a_batch_that_differs_from_its_rows_is_caught():
    calls = []

    def backward(x, g):
        calls.append(1)
        return 2 * x * g * (1 + 1e-7 * (len(calls) > 6))

    with pytest.raises(GradcheckError, match="batch"):
        gradcheck(operation(backward), variable(), nondet_tol=1.0)


# What cannot be checked is refused ----------------------------------------------------------------


def test_half_precision_is_refused():
    with pytest.raises(DtypeError, match="float16"):
        gradcheck(ng.sin, variable(dtype=np.float16))


def test_integers_alone_are_refused():
    with pytest.raises(ValueError, match="nothing can be checked"):
        gradcheck(lambda n: n, ng.tensor([1, 2]))


def test_complex_steps_through_other_functions_are_refused():
    for function in (
        ng.abs,
        lambda x: ng.real(x) * 2,
        ng.cbrt,
    ):
        with pytest.raises(ArgTypeError, match="complex_step"):
            gradcheck(function, variable(), complex_step=True)


def test_unknown_modes_are_refused():
    with pytest.raises(ValueError, match="mode"):
        gradcheck(ng.sin, variable(), mode="quick")


# check_operator -----------------------------------------------------------------------------------


def test_operators_are_checked_at_every_example():
    good = (X, X[:, None])
    assert check_operator(lambda x, y: x * ng.sin(y), good)
    with pytest.raises(GradcheckError, match=r"one_percent, example 1: gradcheck"):
        check_operator(one_percent, np.array([math.pi / 2]), X)


def test_static_parameters_are_passed_on():
    assert check_operator(ng.sum, np.ones((2, 3)), axis=0)


def test_operators_that_can_be_differentiated_once_are_checked_once():
    once = operation(lambda x, g: 2 * x.detach() * g)
    assert check_operator(once, X, order=1, single=False)
    with pytest.raises(GradcheckError, match="gradgradcheck"):
        check_operator(once, X, single=False)


def test_matrices_are_checked_to_rounding():
    a = np.array([[3.0, 1.0], [0.5, 2.0]])
    assert check_operator(ng.linalg.inv, a, exact=False, broadcast=False)


def test_examples_are_needed():
    with pytest.raises(ValueError, match="example"):
        check_operator(ng.sin)
