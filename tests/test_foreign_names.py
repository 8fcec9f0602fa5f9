"""Names of other libraries: the error says what to write, and that runs."""

import re

import numpy as np
import pytest

import numgrad as ng
from numgrad._foreign_names import NAMES, SOLVERS
from numgrad.errors import ArgTypeError


def f(x):
    return (x * x * x).sum()


@pytest.mark.parametrize("name", list(NAMES))
def test_what_is_advised_for_a_name_runs(name):
    with pytest.raises(AttributeError) as caught:
        getattr(ng, name)
    text = str(caught.value)
    assert not hasattr(np, name)
    assert text.startswith(f"module 'numgrad' has no attribute '{name}': ")
    for code in NAMES[name]:
        assert code in text
        names = {"ng": ng, "f": f, "x": np.ones((2, 2)), "t": np.ones((2, 2))}
        names["y"] = ng.tensor(np.ones((2, 2)), requires_grad=True)
        eval(code.partition(" for ")[0], names)


def test_functions_that_differentiate_functions_are_said_to():
    with pytest.raises(AttributeError, match=r"ng\.func\.jacobian differentiates functions, write"):
        ng.jacobian  # noqa: B018
    with pytest.raises(AttributeError, match=r"ng\.func\.vmap maps functions, write"):
        ng.vmap  # noqa: B018


def test_functions_of_other_namespaces_are_found():
    for name, path in (("solve", "linalg"), ("erf", "special"), ("rfft", "fft")):
        getattr(getattr(ng, path), name)
        with pytest.raises(AttributeError, match=rf"write ng\.{path}\.{name}$"):
            getattr(ng, name)
    for name in ("solve_ivp", "minimize", "root"):
        assert name in " ".join(SOLVERS.values()).split()
        with pytest.raises(AttributeError, match=rf"write ng\.interop\.scipy\.{name}$"):
            getattr(ng, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'nothing': module 'numpy' has no"):
        ng.nothing  # noqa: B018


def test_grad_of_a_function_names_the_function_that_differentiates_functions():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    message = r"ng\.func\.grad differentiates functions, write ng\.func\.grad\(f\)\(x\)"
    for call in (lambda: ng.grad(f), lambda: ng.grad(f, x), lambda: ng.grad(f, np.ones(2))):
        with pytest.raises(ArgTypeError, match=message):
            call()
    with pytest.raises(TypeError, match="inputs are needed"):
        ng.grad(f(x))
    np.testing.assert_allclose(ng.func.grad(f)(np.array([1.0, 2.0])), [3.0, 12.0])


def test_updates_of_jax_are_writes():
    x = ng.tensor([1.0, 2.0], requires_grad=True)
    assert not hasattr(x, "at")
    with pytest.raises(AttributeError, match=re.escape("y = x.clone(); y[index] = value")):
        x.at[0].set(7.0)
    y = x.clone()
    y[0] = 7.0
    assert ng.grad(f(y), x)[0].tolist() == [0.0, 12.0]
