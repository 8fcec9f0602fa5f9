"""The tables that compare numgrad with the libraries whose gradient functions it offers.

A call in the column of another library is run with the front-end of `numgrad.compat` in the place
of that library.
"""

import inspect
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import numgrad as ng

from .pages import names_of, table

COMPAT = ng.compat
FRONT_ENDS = {
    "torch": SimpleNamespace(autograd=COMPAT.torch, func=ng.func, eye=ng.eye),
    "paddle": COMPAT.paddle,
    "chainer": COMPAT.chainer,
    "fluid": COMPAT.fluid,
}
GRADS = {name: getattr(COMPAT, name).grad for name in FRONT_ENDS}

WAYS = {
    "autograd": ("autograd", "numgrad"),
    "jax": ("JAX", "numgrad"),
    "numpy": ("in NumPy", "here"),
}


def page(library):
    return f"coming_from/{'paddle' if library == 'fluid' else library}.md"


def evaluate(library, code, **extra):
    """Evaluate an expression among the names of a page; return its value and the gradients."""
    names = names_of(page(library)) | {library: FRONT_ENDS.get(library)} | extra
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = eval(code, names)
    leaves = {name: t for name, t in names.items() if isinstance(t, ng.Tensor) and t.is_leaf}
    return value, {n: t.grad.tolist() for n, t in leaves.items() if t.grad is not None}


def numbers(value):
    """Flatten what a gradient function returns, so that a list equals a tuple."""
    if isinstance(value, (tuple, list)):
        return [number for part in value for number in numbers(part)]
    if isinstance(value, dict):
        return [number for part in value.values() for number in numbers(part)]
    return [None if value is None else np.asarray(value.detach()).tolist()]


def plain(value):
    if isinstance(value, (tuple, list)):
        return type(value)(plain(part) for part in value)
    return value.tolist() if hasattr(value, "tolist") else value


def outcome(library, code, **extra):
    """Return as text what a call does: its value, the gradients it stores, or its error."""
    try:
        value, stored = evaluate(library, code, **extra)
    except Exception as error:
        return type(error).__name__
    return str(plain(value)) if value is not None else f"x.grad: {stored['x']}"


def rows(kind, *libraries):
    headers = {
        "calls": lambda name: (name, "numgrad"),
        "differences": lambda name: ("call", f"ng.compat.{name}", "ng"),
    }
    return [
        pytest.param(name, *row, id=f"{name}: {row[0]}")
        for name in libraries
        for row in table(page(name), *headers[kind](name))
    ]


@pytest.mark.parametrize(("library", "theirs", "ours"), rows("calls", *FRONT_ENDS))
def test_calls_side_by_side_do_the_same(library, theirs, ours):
    their_value, their_grads = evaluate(library, theirs)
    our_value, our_grads = evaluate(library, ours)
    assert numbers(their_value) == numbers(our_value)
    assert their_grads == our_grads


@pytest.mark.parametrize(("library", "call", "theirs", "ours"), rows("differences", *FRONT_ENDS))
def test_differences_are_as_stated(library, call, theirs, ours):
    assert outcome(library, call, grad=GRADS[library]) == theirs
    assert outcome(library, call, grad=ng.grad) == ours


@pytest.mark.parametrize(
    ("library", "ours", "result"),
    [
        (library, *row[1:])
        for library, titles in WAYS.items()
        for row in table(page(library), *titles, "result")
    ],
)
def test_functions_of_libraries_that_differentiate_functions(library, ours, result):
    assert outcome(library, ours) == result


@pytest.mark.parametrize("library", ["torch", "chainer", "autograd", "JAX"])
def test_names_exist(library):
    for _, ours in table(page(library.lower()), f"name in {library}", "name in numgrad"):
        eval(ours, names_of(page(library.lower())))


def parameter_rows():
    """One row per parameter of `numgrad.grad`: its place in each signature."""
    signatures = [inspect.signature(grad).parameters for grad in (ng.grad, *GRADS.values())]
    return [
        [name, *(place(name, parameters) for parameters in signatures)] for name in signatures[0]
    ]


def place(name, parameters):
    if name not in parameters:
        return "-"
    if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY:
        return "keyword"
    return str(list(parameters).index(name) + 1)


def test_table_of_parameters():
    header = ("parameter", "ng", *FRONT_ENDS)
    assert table("coming_from/index.md", *header) == parameter_rows()
