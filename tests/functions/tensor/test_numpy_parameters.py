"""Parameters of NumPy's functions, of numgrad's of the same name and of methods: those that share a
name or a place mean the same thing, and what is not supported is refused."""

import inspect

import numpy as np
import pytest

import numgrad as ng
from numgrad.functions.tensor import protocols
from numgrad.functions.tensor.numpy_table import RENAMED, functions

EMPTY = inspect.Parameter.empty
X = np.array([[3.0, 1.0, 2.0], [5.0, 9.0, 7.0]])


def parameters(function):
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        return []


def positional(function):
    return [
        p for p in parameters(function) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]


def places():
    """Yield pairs of functions with the same meaning, NumPy's and ours."""
    for source, own in ((np, ng), (np.linalg, ng.linalg), (np.ndarray, ng.Tensor)):
        for name in dir(own):
            theirs, ours = getattr(source, name, None), getattr(own, name)
            functions = callable(theirs) and callable(ours) and not isinstance(ours, type)
            if name[0] != "_" and functions:
                yield f"{source.__name__}.{name}", theirs, ours


def is_operand(parameter):
    return parameter.default is EMPTY or parameter.kind is parameter.POSITIONAL_ONLY


def means_the_same(theirs, ours):
    """Whether two parameters in the same place do: they share a name, or are operands."""
    return (
        theirs.name == ours.name
        or RENAMED.get(theirs.name) == ours.name
        or (is_operand(ours) and theirs.name not in RENAMED)
    )


@pytest.mark.parametrize("case", list(places()), ids=lambda case: case[0])
def test_what_stands_in_the_same_place_means_the_same(case):
    _, theirs, ours = case
    if isinstance(theirs, np.ufunc):
        return  # only operands go by position
    for one, other in zip(positional(theirs), positional(ours), strict=False):
        assert means_the_same(one, other), f"{one} of NumPy, {other} here"


@pytest.mark.parametrize("case", list(places()), ids=lambda case: case[0])
def test_operands_may_be_given_by_numpys_names(case):
    _, theirs, ours = case
    if isinstance(theirs, np.ufunc | type) or hasattr(ours, "at"):
        return  # operands of universal functions go by position
    names = {p.name for p in parameters(ours) if p.kind is p.POSITIONAL_OR_KEYWORD}
    given = {p.name for p in positional(theirs) if p.kind is p.POSITIONAL_OR_KEYWORD}
    operands = {p.name for p in positional(theirs) if p.default is EMPTY}
    assert given & operands <= names


def test_calls_by_names():
    x = ng.tensor(X, requires_grad=True)
    y = ng.pad(array=ng.stack(arrays=[x, ng.tile(A=x, reps=1)]), pad_width=1)
    total = ng.sum(a=ng.clip(a=y, a_min=2.0, a_max=8.0), axis=0).sum()
    np.testing.assert_array_equal(ng.grad(total, x)[0].numpy(), 2.0 * ((X >= 2) & (X <= 8)))


@pytest.mark.parametrize("function", functions(), ids=lambda f: f.__qualname__)
def test_no_parameter_becomes_another_one(function):
    own = functions()[function]
    ours = {p.name: p for p in parameters(own)}
    theirs = {p.name: p for p in parameters(function)}
    names = protocols._names(function, own)
    assert len({names[name] for name in names if name in theirs and name not in RENAMED}) == len(
        [name for name in names if name in theirs and name not in RENAMED]
    )
    for name in theirs.keys() & ours.keys():
        assert names[name] == name
    for name in theirs.keys() & names.keys():
        assert means_the_same(theirs[name], ours[names[name]])


def unsupported():
    for function, own in functions().items():
        names = protocols._names(function, own)
        for parameter in parameters(function):
            variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            is_taken = parameter.name in names or parameter.name in ("like", "out")
            if not is_taken and not variadic:
                yield function, own, parameter


@pytest.mark.parametrize(
    "case", list(unsupported()), ids=lambda case: f"{case[0].__qualname__}-{case[2].name}"
)
def test_a_parameter_without_counterpart_is_refused_unless_it_asks_for_nothing(case):
    function, own, parameter = case
    called = function.__name__
    if parameter.default is not EMPTY:
        protocols._translate(called, function, own, (), {parameter.name: parameter.default}, 0)
    with pytest.raises(TypeError, match=rf"does not take {parameter.name}="):
        protocols._translate(called, function, own, (), {parameter.name: object()}, 0)


@pytest.mark.parametrize("kind", ["quicksort", "stable", "mergesort", "heapsort"])
def test_a_kind_of_sorting_is_no_direction(kind):
    x = ng.tensor(X, requires_grad=True)
    np.testing.assert_array_equal(np.sort(x, kind=kind).detach().numpy(), np.sort(X))
    np.testing.assert_array_equal(np.sort(x, 0, kind).detach().numpy(), np.sort(X, 0))
    np.testing.assert_array_equal(np.argsort(x, kind=kind).numpy(), np.argsort(X))
    np.testing.assert_array_equal(x.argsort(0, kind).numpy(), X.argsort(0))
    copy = ng.tensor(X)
    copy.sort(0, kind)
    np.testing.assert_array_equal(copy.numpy(), np.sort(X, 0))


def test_what_sorting_does_not_know_is_refused():
    x = ng.tensor(X)
    with pytest.raises(ValueError, match="kind must be one of"):
        np.sort(x, kind="bogus")
    with pytest.raises(TypeError, match="does not take order="):
        np.sort(x, order="field")
    np.testing.assert_array_equal(np.sort(x, stable=True).numpy(), np.sort(X))


def test_places_beyond_those_that_agree_go_by_name():
    x = ng.tensor(X)
    for order in "CF":
        np.testing.assert_array_equal(np.ravel(x, order).numpy(), np.ravel(X, order))
    np.testing.assert_array_equal(np.copy(x, "K").numpy(), X)
    assert np.copy(x, "F").flags.f_contiguous
    with pytest.raises(TypeError, match="out= must be a tensor"):
        np.sum(x, 0, None, np.zeros(3))
    assert np.cross(x, x, -1, -1, -1).shape == (2, 3)


def test_two_names_of_one_parameter_are_refused():
    with pytest.raises(TypeError, match="twice"):
        np.clip(ng.tensor(X), a_min=1.0, a_max=2.0, min=0.0)


def test_a_mask_that_is_none_is_not_everything():
    """NumPy reads ``where=None`` as false."""
    x = ng.tensor(X)
    for call in (lambda: np.sum(x, where=None), lambda: np.add(x, 1, where=None)):
        with pytest.raises(TypeError, match="does not take where="):
            call()
    assert np.sum(x, where=True).item() == X.sum()


@pytest.mark.parametrize(
    "name",
    ["sum", "mean", "std", "var", "prod", "max", "min", "all", "any", "argmax", "argmin", "median"],
)
@pytest.mark.parametrize("out", [np.zeros(3), np.zeros(()), np.zeros(1)])
def test_an_array_for_results_is_not_taken_for_another_option(name, out):
    x = ng.tensor(X)
    before = (0, None) if "dtype" in inspect.signature(getattr(ng, name)).parameters else (0,)
    for function in (getattr(ng, name), getattr(ng.Tensor, name, getattr(ng, name))):
        with pytest.raises(TypeError, match="out= must be a tensor"):
            function(x, *before, out)
        if name not in ("std", "var"):
            np.testing.assert_allclose(
                function(x, *before, None).numpy(), getattr(np, name)(X, *before)
            )


def test_places_of_other_options_are_refused():
    with pytest.raises(TypeError, match="ddof must be a number"):
        ng.std(ng.tensor(X), 0, None, None, np.zeros(3))
    with pytest.raises(TypeError, match=r"out= must be a tensor.*keepdims=True by name"):
        ng.max(ng.tensor(X), 0, True)
