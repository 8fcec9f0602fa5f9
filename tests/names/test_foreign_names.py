"""Names of other libraries: the error says what to write, and that runs."""

import re

import numpy as np
import optree
import pytest

import numgrad as ng
from numgrad.errors import ArgTypeError
from numgrad.names.foreign_names import METHODS, NAMES, SOLVERS


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
        names = {"ng": ng, "optree": optree, "f": f, "x": np.ones((2, 2)), "t": np.ones((2, 2))}
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
    with pytest.raises(AttributeError, match=r"^module .* no attribute 'nothing', nor has numpy$"):
        ng.nothing  # noqa: B018


def test_what_numpy_says_about_a_name_is_said():
    with pytest.raises(AttributeError, match=r"has no attribute 'float_': .*Use `np.float64`"):
        ng.float_  # noqa: B018


@pytest.mark.parametrize(
    ("module", "name", "code"),
    [
        ("testing", "check_grads", "write ng.testing.gradcheck(f, y)"),
        ("func", "stop_gradient", "write ng.stop_gradient"),
        ("func", "scan", "write ng.scan"),
        ("func", "functional_call", "write f(x) for a model f"),
        ("linalg", "erf", "write ng.special.erf"),
        ("special", "relu", "write ng.maximum(x, 0.0)"),
    ],
)
def test_names_of_other_modules_are_answered_too(module, name, code):
    with pytest.raises(AttributeError) as caught:
        getattr(getattr(ng, module), name)
    assert str(caught.value).startswith(f"module 'numgrad.{module}' has no attribute '{name}': ")
    assert code in str(caught.value)


def test_a_module_of_numgrad_alone_has_no_other_names():
    with pytest.raises(AttributeError, match=r"^module 'numgrad.func' has no attribute 'nothing'$"):
        ng.func.nothing  # noqa: B018


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


@pytest.mark.parametrize("name", list(METHODS))
def test_what_is_advised_for_a_method_of_torch_runs(name):
    p = ng.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with pytest.raises(AttributeError, match=re.escape(f"a tensor has no {name}: write")) as caught:
        getattr(p, name)
    assert not hasattr(p, name)
    assert METHODS[name] in str(caught.value)
    code = METHODS[name].partition(", and")[0]
    names = {"ng": ng, "other": np.eye(2), "value": 3.0, "step": 0.5, "axis": 0, "shape": (2, 2)}
    exec(code, {"t": p, **names})
    assert p.is_leaf
    assert p.requires_grad


def test_writes_to_what_torch_calls_data_are_answered():
    p = ng.tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(AttributeError, match=r"write with ng\.no_grad\(\): t -= step"):
        p.data -= 0.5
    with pytest.raises(AttributeError, match=r"write with ng\.no_grad\(\): t -= step"):
        p.data = np.ones(2)
    ng.backward((p * p).sum())
    with pytest.raises(AttributeError, match=r"write with ng\.no_grad\(\): t\[\.\.\.\] = 0\.0"):
        p.grad.zero_()
    with ng.no_grad():
        p.grad[...] = 0.0
        p -= 0.5
    assert p.tolist() == [0.5, 1.5]
    assert p.grad.tolist() == [0.0, 0.0]


def test_constructors_ask_for_gradients_as_those_of_torch_do():
    made = [
        ng.zeros(3, requires_grad=True), ng.ones(3, requires_grad=True),
        ng.empty(3, requires_grad=True), ng.full(3, 2.0, requires_grad=True),
        ng.eye(3, requires_grad=True), ng.arange(3.0, requires_grad=True),
        ng.linspace(0.0, 1.0, 3, requires_grad=True), ng.array([1.0, 2.0], requires_grad=True),
        ng.zeros_like(np.ones(3), requires_grad=True), ng.ones_like([1.0], requires_grad=True),
        ng.empty_like(np.ones(3), requires_grad=True),
        ng.full_like(np.ones(3), 2.0, requires_grad=True),
    ]  # fmt: skip
    for x in made:
        assert x.is_leaf
        (slope,) = ng.grad((3.0 * x).sum(), x)
        assert np.all(slope.numpy() == 3.0)
    x = ng.tensor(2.0, requires_grad=True)
    y = ng.full(3, x, requires_grad=True)  # it has a graph, which stays
    assert ng.grad(y.sum(), x)[0].item() == 3.0
    with pytest.raises(ng.errors.DtypeError):
        ng.arange(3, requires_grad=True)
    assert not ng.zeros(3).requires_grad


def test_views_as_real_numbers_are_parts_of_the_last_axis():
    z = np.array([[1.0 + 2.0j, 3.0 - 1.0j], [0.5j, 2.0]])
    t = ng.tensor(z, requires_grad=True)
    with pytest.raises(TypeError) as caught:
        t.view(float)
    code = re.search(r"np\.stack.*?(?= for view)", str(caught.value))[0]
    found = eval(code, {"np": np, "t": t})
    np.testing.assert_array_equal(found.detach().numpy(), z.view(float))
    weights = np.arange(8.0).reshape(2, 4)
    (slope,) = ng.grad((found * weights).sum(), t)
    np.testing.assert_array_equal(slope.numpy(), weights.view(complex))
    r = ng.tensor(z.view(float), requires_grad=True)
    with pytest.raises(TypeError) as caught:
        r.view(complex)
    code = re.search(r"t\[\.\.\., ::2\].*?(?= for view)", str(caught.value))[0]
    np.testing.assert_array_equal(eval(code, {"t": r}).detach().numpy(), z)


def test_products_with_a_bare_array_are_told_to_take_tuples():
    x = np.array([1.0, 2.0])
    for name in ("hvp", "vhp", "jvp"):
        message = rf"write {name}\(f, \(x,\), \(v,\)\), which returns \(value, product\)"
        with pytest.raises(ArgTypeError, match=message):
            getattr(ng.func, name)(f, x, x)
        value, product = getattr(ng.func, name)(f, (x,), (x,))
        assert value == 9.0
        product = product[0] if isinstance(product, tuple) else product
        np.testing.assert_allclose(product, 27.0 if name == "jvp" else [6.0, 24.0])
