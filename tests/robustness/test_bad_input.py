"""Bad input to every public function: a documented exception or a result, ``.grad`` as before."""

import importlib
import inspect
import warnings

import numpy as np
import pytest

import numgrad as ng
from numgrad._errors import (
    ArgTypeError,
    BatchedShapeError,
    DtypeError,
    EmptyInputError,
    FreedGraphError,
    GradCountError,
    GradDtypeError,
    GradShapeError,
    ImplicitGradError,
    NoGradError,
    NumgradError,
    UnusedInputError,
)
from tests.sampling import one_in

# What is documented: our own classes are among these or bear the base. NumPy raises OverflowError
# for a Python integer that no dtype holds; AxisError is a ValueError.
DOCUMENTED = (TypeError, ValueError, NumgradError, NotImplementedError, OverflowError)
DOCUMENTED += (MemoryError, BufferError)


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """Text is a good name of a directory for dumps."""
    monkeypatch.chdir(tmp_path)


class Foreign:
    """An object of another library that looks a little like a tensor."""

    shape, dtype, ndim = (2, 3), np.dtype(float), 2


def leaf():
    return ng.tensor([[0.5, 1.5, 2.5], [3.0, 4.0, 5.0]], requires_grad=True)


def freed(x):
    y = x * x
    ng.grad(y, x, np.ones((2, 3)))
    return y


def freed_graph():
    return freed(leaf())


BAD = {
    "none": None,
    "text": "text",
    "bytes": b"bytes",
    "object": object(),
    "foreign": Foreign(),
    "dict": {"a": 1},
    "set": {1, 2},
    "ragged": [1, [2, 3]],
    "nothing in a list": [None],
    "strings": np.array(["a"]),
    "objects": np.array([None, 1]),
    "dates": np.array("2020-01-01", "M8[D]"),
    "records": np.zeros(3, [("a", float)]),
    "function": abs,
    "class": int,
    "slice": slice(None),
    "long double": np.longdouble(1),
    "nan": float("nan"),
    "infinity": float("inf"),
    "negative": -7,
    "huge": 10**400,
    "other shape": np.ones((4, 7)),
    "empty": np.ones((0, 3)),
    "complex": np.array([1 + 2j]),
    "integers": ng.tensor(np.array([1, 2, 3])),
    "empty list": [],
    "freed graph": freed_graph(),
}
# These would rightly build as many arrays as they are told to.
COUNTS = {"array_split", "split", "unstack"}

MODULES = ["", ".linalg", ".func", ".graph", ".compat.torch", ".compat.paddle", ".compat.chainer"]
MODULES += [".compat.fluid"]


def public_functions():
    for name in MODULES:
        module = importlib.import_module(f"numgrad{name}") if name != ".linalg" else ng.linalg
        for attribute, function in vars(module).items():
            is_ours = getattr(function, "__module__", "").startswith("numgrad")
            if attribute[0] != "_" and is_ours and inspect.isfunction(function):
                yield pytest.param(function, id=f"ng{name}.{attribute}")


def calls(function, bad):
    """Yield the arguments of calls with a bad value in every place, and everywhere."""
    x = leaf()
    y = (x * x).sum()
    yield from (((bad,), {}), ((x, bad), {}), ((bad, x), {}), ((bad, bad), {}))
    yield from (((x, x, bad), {}), (([x, bad],), {}), ((y, x, bad), {}))
    for parameter in inspect.signature(function).parameters.values():
        is_option = parameter.default is not parameter.empty
        if is_option and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            yield from (((x,), {parameter.name: bad}), ((y, x), {parameter.name: bad}))


def watched():
    """Return a tensor with a gradient, and what to compare it with."""
    x = leaf()
    x.grad = ng.tensor(np.full((2, 3), 7.0))
    return x


@pytest.mark.parametrize("function", one_in(3, public_functions()))
def test_bad_input_is_refused_in_words(function):
    for name, bad in BAD.items():
        if name == "huge" and function.__name__ in COUNTS:
            continue
        for args, options in calls(function, bad):
            tensors = [a for a in args if isinstance(a, ng.Tensor) and a.is_leaf]
            before = ng.tensor(np.full((2, 3), 7.0))
            for tensor in tensors:
                if tensor.requires_grad:
                    tensor._grad = before
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    function(*args, **options)
                except DOCUMENTED as error:
                    if not str(error):
                        pytest.fail(f"{type(error).__name__} without words, for {name}")
                except Exception as error:
                    is_torchs = type(error) is RuntimeError and "compat" in function.__module__
                    if not is_torchs and type(error).__name__ not in (function.__doc__ or ""):
                        shown = f"{type(error).__name__}: {error}, for {name} in {args}, {options}"
                        pytest.fail(shown)
                else:
                    continue
            for tensor in tensors:
                if tensor.requires_grad:
                    assert tensor._grad is before, name
            np.testing.assert_array_equal(before.numpy(), 7.0)


SEED = np.ones((2, 3))


def shaped(*shape):
    return ng.tensor(np.ones(shape), requires_grad=True)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: ng.grad(5, x), ArgTypeError),
        (lambda x: ng.grad(x.sum(), 5), ArgTypeError),
        (lambda x: ng.grad(x.sum(), [x, "x"]), ArgTypeError),
        (lambda x: ng.grad(x.sum(), Foreign()), ArgTypeError),
        (lambda x: ng.grad(np.ones(3), x), ArgTypeError),
        (lambda x: ng.grad(x.sum(), []), EmptyInputError),
        (lambda x: ng.grad(ng.tensor(1.0), x), NoGradError),
        (lambda x: ng.grad(x.sum(), ng.tensor(1.0)), NoGradError),
        (lambda x: ng.compat.torch.grad(x * x, x), ImplicitGradError),
        (lambda x: ng.grad(x * x, x, np.ones(3)), GradShapeError),
        (lambda x: ng.grad(x * x, x, np.ones((2, 3)) * 1j), GradDtypeError),
        (lambda x: ng.grad(x * x, x, "ones"), ArgTypeError),
        (lambda x: ng.grad(x * x, x, [SEED, SEED]), GradCountError),
        (lambda x: ng.grad(x * x, x, np.ones((2, 2, 2)), is_grads_batched=True), BatchedShapeError),
        (lambda x: ng.grad(x * x, x, None, is_grads_batched=True), BatchedShapeError),
        (lambda x: ng.grad(x.sum(), shaped(2)), UnusedInputError),
        (lambda x: ng.grad(freed(x), x, SEED), FreedGraphError),
        (lambda x: ng.backward(freed_graph(), SEED), FreedGraphError),
        (lambda x: ng.backward([x * x, freed_graph()], [SEED, SEED]), FreedGraphError),
        (lambda x: ng.compat.torch.backward(x * x), ImplicitGradError),
        (lambda x: ng.backward(x * x, np.ones(4)), GradShapeError),
        (lambda x: ng.backward(x.sum(), inputs=[x, 3]), ArgTypeError),
        (lambda x: ng.backward(x.sum(), inputs=[]), EmptyInputError),
        (lambda x: ng.backward(7), ArgTypeError),
        (lambda x: (x * x).backward(np.ones(5)), GradShapeError),
        (lambda x: ng.tensor([1, 2], requires_grad=True), DtypeError),
        (lambda x: ng.tensor(["a"]), DtypeError),
    ],
)
def test_error_class_of_gradients(call, error):
    x = watched()
    before = x.grad
    with pytest.raises(error):
        call(x)
    assert x.grad is before
    np.testing.assert_array_equal(before.numpy(), 7.0)


@pytest.mark.parametrize("batched", [False, True])
def test_seeds_that_are_not_finite_go_through(batched):
    x = leaf()
    seed = np.array([[np.nan, np.inf, -np.inf], [0.0, 1.0, 2.0]])
    expected = 2 * x.detach().numpy() * seed
    (g,) = ng.grad(x * x, x, seed[None] if batched else seed, is_grads_batched=batched)
    np.testing.assert_array_equal(g.numpy()[0] if batched else g.numpy(), expected)


def test_pass_that_fails_half_way_changes_no_grad():
    """One branch ends at leaves before the other meets a freed graph, or a hook that raises."""
    first, second = watched(), watched()
    y = second * second

    def refuse(g):
        raise ZeroDivisionError

    handle = y.register_hook(refuse)
    outputs = [first * 2.0, y]
    with pytest.raises(ZeroDivisionError):
        ng.backward(outputs, [SEED, SEED])
    for tensor in (first, second):
        np.testing.assert_array_equal(tensor.grad.numpy(), 7.0)
    handle.remove()
    ng.backward(outputs, [SEED, SEED])  # nothing was freed
    np.testing.assert_array_equal(first.grad.numpy(), 9.0)
