"""Leaves that a function makes itself: those that it keeps belong to what is outside of it."""

import gc

import numpy as np
import pytest

import numgrad as ng
from numgrad import func
from numgrad.engine.graph.references import kept_leaves
from numgrad.engine.graph.traversal import reachable
from numgrad.errors import (
    ArgTypeError,
    CaptureError,
    GradDtypeError,
    ImplicitGradError,
    NoGradError,
)

U = np.array([0.5, 2.0])
WAYS = {
    "called": lambda f: f,
    "jit": ng.jit,
    "grad": func.grad,
    "value_and_grad": lambda f: lambda u: func.value_and_grad(f)(u)[1],
    "jit of grad": lambda f: ng.jit(func.grad(f)),
    "grad of jit": lambda f: func.grad(ng.jit(f)),
    "jacrev": func.jacrev,
    "jacfwd": func.jacfwd,
    "hessian": func.hessian,
    "vjp": lambda f: lambda u: func.vjp(f, u)[1](np.array(1.0))[0],
    "jvp": lambda f: lambda u: func.jvp(f, (u,), (np.ones(2),))[1],
    "hvp": lambda f: lambda u: func.hvp(f, (u,), (np.ones(2),))[1][0],
    "grad of grad": lambda f: func.grad(lambda u: func.grad(f)(u).sum()),
    "jit of hessian": lambda f: ng.jit(func.hessian(f)),
}


class Lazy:
    """A model that makes its parameter at its first call."""

    def __init__(self):
        self.weight = None

    def __call__(self, u):
        if self.weight is None:
            self.weight = ng.tensor([3.0, 4.0], requires_grad=True)
        return (self.weight * u**3).sum()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_a_parameter_that_is_made_at_the_first_call_gets_its_gradient(way):
    lazy, made_before = Lazy(), Lazy()
    made_before.weight = ng.tensor([3.0, 4.0], requires_grad=True)
    of_lazy, of_other = WAYS[way](lazy), WAYS[way](made_before)
    given = ng.tensor(U) if way == "called" else U
    for _ in range(6):
        (found,), (expected,) = (
            ng.grad(ng.asarray(f(given)).sum(), [model.weight])
            for f, model in ((of_lazy, lazy), (of_other, made_before))
        )
        np.testing.assert_array_equal(found.numpy(), expected.numpy())


def forgotten(u):
    p = ng.tensor([3.0, 4.0, 5.0], requires_grad=True)
    y = (p[1:] * p[:-1] * u * np.exp(p[1:])).sum() + p[0] ** 2
    (slope,) = ng.grad(y, p, create_graph=True)
    return (slope[1:] * u * u).sum() + (p * p).sum()


@pytest.mark.parametrize("way", [way for way in WAYS if way not in ("called", "grad of jit")])
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_results_that_depend_on_forgotten_leaves_alone_are_arrays(way):
    function = WAYS[way](forgotten)
    assert all(type(function(U)) is np.ndarray for _ in range(6))


def recursive(u):
    w = ng.tensor(2.0, requires_grad=True)

    def power(z, n):  # which closes over itself, and is freed by the collector alone
        return z if n == 0 else power(z * w, n - 1)

    return (power(u, 2) ** 2).sum()


def recursive_and_old(u):
    w = ng.tensor(2.0, requires_grad=True)

    def power(z, n):
        gc.collect()  # as the collector may at any time: the closure joins its oldest generation
        return z if n == 0 else power(z * w, n - 1)

    return (power(u, 2) ** 2).sum()


def of_a_class(u):
    w = ng.tensor(2.0, requires_grad=True)

    class Model:
        def __call__(self):
            return u * w

    return (Model()() ** 2).sum()


def with_a_hook(u):
    w = ng.tensor(2.0, requires_grad=True)
    y = u * w
    y.register_hook(lambda g: g + 0 * w)
    return (y * y).sum()


class Scaled(ng.Function):
    @staticmethod
    def forward(ctx, a, w):
        ctx.w = w
        return a * w

    @staticmethod
    def backward(ctx, g):
        return g * ctx.w.detach(), None


def with_a_context(u):
    return Scaled.apply(u, ng.tensor(2.0, requires_grad=True)).sum()


@pytest.mark.parametrize(
    "function", [recursive, recursive_and_old, of_a_class, with_a_hook, with_a_context]
)
@pytest.mark.host_only("differentiates arrays of NumPy, which stay on the processor")
def test_leaves_that_cycles_and_graphs_hold_are_forgotten_too(function):
    slope = func.grad(function)
    assert {type(slope(U)) for _ in range(6)} == {np.ndarray}
    np.testing.assert_allclose(ng.jit(function)(U), float(function(ng.tensor(U)).detach()))


@pytest.mark.parametrize("filled", [False, True])
def test_a_leaf_that_is_made_in_a_branch_or_by_a_member(filled):
    kept = {}

    def weight():
        return kept.setdefault("w", kept.get("w") or ng.tensor(2.0, requires_grad=True))

    if filled:
        weight()
    choice = ng.jit(
        lambda u: ng.cond(u[0] > 0, lambda z: (weight() * z).sum(), lambda z: z.sum(), u)
    )
    for _ in range(3):
        assert ng.grad(choice(U), weight())[0] == U.sum()
    if not filled:
        kept.clear()
    with pytest.raises(ArgTypeError, match="closes over a tensor that requires grad"):
        ng.jit(lambda u: (weight() * u).sum(), ensemble=True)(U[None])


def test_a_capture_refuses_leaves_that_are_kept_at_each_call():
    history = []

    @ng.jit
    def function(u):
        history.append(ng.tensor(2.0, requires_grad=True))
        return (history[-1] * u).sum()

    with pytest.raises(CaptureError, match="makes a tensor that requires grad and keeps it"):
        function(U)


def test_who_holds_a_leaf():
    def nodes_of(y):
        nodes = reachable([y.node], ())
        return [node for node in nodes if node.is_accumulator], nodes

    p = ng.tensor([1.0, 2.0], requires_grad=True)
    y = (p * p).sum() + (p[1:] * p[:1]).sum()
    leaves, nodes = nodes_of(y)
    assert kept_leaves(leaves, nodes) == leaves
    view = p[:1]
    del p
    assert kept_leaves(leaves, nodes) == []
    assert view.requires_grad


# What cannot be transformed -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["grad", "value_and_grad", "jacrev", "jacfwd", "jacobian", "hessian"]
)
@pytest.mark.parametrize("given", [5, None])
def test_what_is_no_function_is_refused_at_once(name, given):
    with pytest.raises(ArgTypeError, match=f"{name}: expected a function, got"):
        getattr(func, name)(given)


@pytest.mark.parametrize(
    ("result", "match"),
    [
        (None, "returned None: it may lack a return"),
        ((1.0, 2.0), "returned tuple; return one scalar, .* has_aux=True"),
        (np.ones(2), r"shape \(2,\), dtype float64; sum it"),
    ],
)
def test_outputs_that_are_no_scalars(result, match):
    with pytest.raises(ImplicitGradError, match=match):
        func.grad(lambda u: result)(U)


def test_complex_vectors_of_real_values():
    with pytest.raises(GradDtypeError, match=r"jvp: tangent\[0\] is complex and primal\[0\]"):
        func.jvp(lambda u: u * u, (U,), (U * 1j,))
    with pytest.raises(GradDtypeError, match=r"vjp_fn: cotangent\[0\] is complex"):
        func.vjp(lambda u: u * u, U)[1](U * 1j)


def test_a_branch_without_a_result():
    with pytest.raises(ArgTypeError, match="one of the functions returns None"):
        ng.jit(lambda u: ng.cond(u.sum() > 0, lambda: u, lambda: None))(U)


@pytest.mark.parametrize("wrap", [lambda f: f, ng.jit])
def test_what_is_differentiated_by_goes_on_requiring_grad(wrap):
    def switched(u):
        u.requires_grad = False
        return (u * u).sum()

    with pytest.raises(NoGradError, match="not for what a function is being differentiated by"):
        wrap(func.grad(switched))(U)
