"""Errors that advise values: the code that they name is what the user typed, and runs."""

import importlib
import re

import numpy as np
import pytest
import scipy.ndimage
import scipy.signal
import scipy.spatial
import scipy.stats

import numgrad as ng
from numgrad.errors import ArgTypeError, DetachedError
from numgrad.names.without_slopes import WITHOUT_SLOPES

X = np.array([1.0, 3.0, 2.0, 4.0])


@pytest.fixture
def x():
    return ng.tensor(X, requires_grad=True)


@pytest.mark.parametrize("name", sorted(WITHOUT_SLOPES))
def test_functions_without_slopes_are_functions_of_scipy(name):
    module, _, function = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function))


CHOICES = [
    (lambda x: scipy.signal.find_peaks(x), "scipy.signal.find_peaks(x.detach().numpy())"),
    (
        lambda x: scipy.signal.find_peaks(-2.0 * x, height=0.5),
        "scipy.signal.find_peaks((-2.0 * x).detach().numpy(), height=0.5)",
    ),
    (lambda x: scipy.stats.rankdata(x), "scipy.stats.rankdata(x.detach().numpy())"),
    (lambda x: scipy.ndimage.label(x[1:]), "scipy.ndimage.label(x[1:].detach().numpy())"),
    (
        lambda x: scipy.spatial.KDTree(x[:, None]),
        "scipy.spatial.KDTree(x[:, None].detach().numpy())",
    ),
]


@pytest.mark.parametrize(("function", "code"), CHOICES)
def test_functions_without_slopes_are_called_with_values(function, code, x):
    with pytest.raises(DetachedError, match="ranks and booleans have no") as caught:
        function(x)
    assert f"write {code}, as " in str(caught.value)
    assert "ng.Function" not in str(caught.value)
    eval(code, {"scipy": scipy, "x": x})


def test_functions_with_slopes_are_still_derivatives_of_your_own(x):
    with pytest.raises(DetachedError, match=r"write an ng\.Function with its"):
        scipy.signal.cspline1d(x)


def test_values_to_add_at_places_are_the_argument_of_the_user(x):
    force, places = np.zeros(2), np.array([0, 1, 1, 0])
    calls = {
        "np.add.at(force, places, x.detach().numpy())": lambda: np.add.at(force, places, x),
        "np.add.at(force, places, (2.0 * x).detach().numpy())": lambda: (
            np.add.at(force, places, 2.0 * x)
        ),
        "np.multiply.at(force, [0, 1], x[1:3].detach().numpy())": lambda: (
            np.multiply.at(force, [0, 1], x[1:3])
        ),
    }
    for code, call in calls.items():
        with pytest.raises(ArgTypeError) as caught:
            call()
        assert str(caught.value).endswith(f"for values without gradients write {code}")
        eval(code, {"np": np, "force": force, "places": places, "x": x})


def test_an_argument_that_is_not_seen_is_called_a_tensor(x):
    force, given = np.zeros(2), ([0, 1], x[:2])
    with pytest.raises(ArgTypeError, match=r"np\.add\.at\(t\..*, \.\.\.\) for a tensor t$"):
        np.add.at(force, *given)


def test_fields_of_structured_arrays_become_a_dict_of_tensors(x):
    r = np.zeros(2, dtype=[("p", float), ("q", int)])
    with pytest.raises(DetachedError, match="as tensors have none") as caught:
        r["p"] = x[:2]
    code = re.search(r"write r = (\{.*\}) before, a dict", str(caught.value))[1]
    fields = eval(code, {"ng": ng, "r": r})
    fields["p"][...] = x[:2] * x[0]
    np.testing.assert_array_equal(ng.grad(fields["p"].sum(), x)[0], [5.0, 1.0, 0.0, 0.0])


def test_elements_of_fields_are_answered_as_fields_are(x):
    r = np.zeros(2, dtype=[("p", float, (4,)), ("q", int)])
    with pytest.raises(DetachedError, match=r"write r = \{field: ng\.array\(r\[field\]\) "):
        r["p"][0] = x


def flat_element(x):
    a = np.zeros(3)
    a.flat[1] = x[1]
    return a.sum()


def flat_part(x):
    a = np.zeros(3)
    a.flat[:2] = x[:2]
    return a.sum()


@pytest.mark.parametrize(
    ("function", "transforms"),
    [(flat_element, (ng.func.grad,)), (flat_part, (ng.func.grad, ng.jit))],
)
def test_writes_through_flat_are_told_to_make_a_tensor(function, transforms):
    for transform in transforms:
        with pytest.raises(DetachedError, match=r"a = ng\.zeros\(3\) at line \d+, which is a ten"):
            transform(function)(X)


def test_flat_of_a_tensor_takes_tensors(x):
    a = ng.zeros((2, 2))
    a.flat[3] = x[1]
    a.flat[:2] = x[:2]
    np.testing.assert_array_equal(ng.grad(a.sum(), x)[0], [1.0, 2.0, 0.0, 0.0])
