"""Captured functions do on a device what they do on the processor: what they close over, what is
written between the calls, derivatives inside and outside, numbers that are known later."""

import numpy as np
import pytest

import numgrad as ng
from numgrad._declare import registry
from numgrad.engine.fusion import policy
from numgrad.engine.graph.value import Expr, spec_of
from numgrad.engine.lower import executable
from numgrad.engine.lower.lower import force
from numgrad.engine.record.apply import runtime
from numgrad.targets.cuda import CUDATarget

X = np.linspace(0.5, 2.0, 6).reshape(2, 3)
W = np.array([1.0, 2.0, 3.0])


def numbers(found):
    if isinstance(found, (list, tuple)):
        return [number for part in found for number in numbers(part)]
    return [found.detach().cpu().numpy() if isinstance(found, ng.Tensor) else found]


def leaf_written_between_the_calls(t):
    x, w = t(X), t(W, requires_grad=True)
    f = ng.jit(lambda a: (a * w * w).sum())
    for factor in (1.0, 3.0, -2.0):
        with ng.no_grad():
            w *= factor
        y = f(x)
        yield y, ng.grad(y, w, create_graph=True)


def constant_written_before_the_pass(t):
    x, w = t(X, requires_grad=True), t(W)
    f = ng.jit(lambda a: (a * w * w).sum())
    y = f(x)
    w[0] = 7.0
    z = f(x)
    yield y, z, ng.grad(y, x), ng.grad(z, x)


def result_written_before_the_pass(t):
    x, leaf = t(X), t(W, requires_grad=True)
    w = leaf * 2
    f = ng.jit(lambda a: (a * w * w).sum())
    y = f(x)
    w[0] = 7.0
    z = f(x)
    yield y, z, ng.grad(y, leaf, retain_graph=True), ng.grad(z, leaf)


def tensor_that_requires_grad_later(t):
    x, w = t(X), t(W)
    f = ng.jit(lambda a: a * w)
    yield f(x)
    w.requires_grad_()
    yield ng.grad(f(x).sum(), w)


def tensor_read_by_python(t):
    x, n = t(X), t(2)
    f = ng.jit(lambda a: a[:, : int(n)])
    yield f(x)
    n[...] = 1
    yield f(x)


def list_of_tensors(t):
    x, ws = t(X), [t(W, requires_grad=True), t(W[::-1].copy(), requires_grad=True)]
    f = ng.jit(lambda a: (ng.stack(ws).sum(0) * a).sum())
    yield f(x), ng.grad(f(x), ws)


def static_tensor(t):
    x, w = t(X), t(W)
    f = ng.jit(lambda a, b: a * b, static_argnums=1)
    yield f(x, w)
    w[0] = 5.0
    yield f(x, w), f(x, t(W * 2))


def array_written_between_the_calls(t):
    x, table = t(X, requires_grad=True), W.copy()
    f = ng.jit(lambda a: (a * a * table).sum() + (ng.stack([a[0], table]) ** 2).sum())
    y = f(x)
    table[0] = 50.0
    z = f(x)
    yield y, z, ng.grad(y, x), ng.grad(z, x)


def tensor_of_an_array_that_is_written(t):
    x, table = t(X, requires_grad=True), W.copy()
    f = ng.jit(lambda a: (a * a * ng.asarray(table)).sum() + a @ ng.asarray(table, device=a.device))
    y = f(x)
    table[0] = 50.0
    z = f(x)
    yield y, z, ng.grad(y.sum(), x), ng.grad(z.sum(), x)


def read_only_array_that_is_written(t):
    x, table = t(X), W.copy()
    view = np.broadcast_to(table, (2, 3))
    table.flags.writeable = False
    f = ng.jit(lambda a: a * view + table)
    yield f(x)
    table.flags.writeable = True
    table[0] = 50.0
    yield f(x)


def index_written_between_the_calls(t):
    x, index = t(X), np.array([0, 2])
    here, there = ng.tensor(index), t(index)
    f = ng.jit(lambda a: (a[:, index], ng.take(a, index, 1), a[:, here], a[:, there]))
    yield f(x)
    index[0] = here[1] = there[1] = 1
    yield f(x)


def mask_written_between_the_calls(t):
    x, mask = t(X), np.array([True, False, True])
    f = ng.jit(lambda a: (a[:, mask], ng.where(mask, a, 0.0)))
    yield f(x)
    mask[1] = True
    yield f(x)


def seed_written_between_the_calls(t):
    x, seed = t(X, requires_grad=True), np.array([1.0, 2.0])
    f = ng.jit(lambda a: ng.grad((a * a).sum(1), a, seed))
    yield f(x)
    seed[0] = 9.0
    yield f(x)


def field_of_records(t):
    x, records = t(X), np.zeros(3, [("n", "i1"), ("x", "f8")])
    records["x"] = W
    field = records["x"]
    f = ng.jit(lambda a: (a * field, a @ ng.asarray(field)))
    yield f(x)
    records["x"] = 2 * W
    yield f(x)
    records.flags.writeable = False
    fixed = records["x"]
    yield ng.jit(lambda a: a * fixed)(x)


def argument_of_numpy(t):
    w = t(W, requires_grad=True)
    f = ng.jit(lambda a, b: (a * w * (2 * b)).sum())
    yield f(X, X), ng.grad(f(X, t(X)), w), f(2 * X, X)


def cotangent_of_numpy(t):
    x = t(X, requires_grad=True)
    yield ng.jit(lambda a, g: ng.grad((a * a).sum(1), a, g))(x, np.array([1.0, 2.0]))
    yield ng.jit(lambda a, g: ng.func.vjp(ng.sin, a)[1](g))(x, X)
    yield ng.jit(lambda a, g: ng.func.jvp(ng.sin, (a,), (g,)))(x, X)


def transforms_that_close_over(t):
    x, w = t(X[0]), t(W, requires_grad=True)
    for transform in (ng.func.grad, ng.func.hessian):
        y = ng.jit(transform(lambda a: (ng.sin(a) * w * w).sum()))(x)
        yield y, ng.grad(y.sum(), w)
    y = ng.jit(ng.func.jacrev(lambda a: ng.sin(a) * w * w))(x)
    yield y, ng.grad(y.sum(), w, create_graph=True)
    yield ng.jit(ng.func.jacfwd(lambda a: ng.sin(a) * w.detach()))(x)


def batched_passes(t):
    x, w = t(X[0], requires_grad=True), t(W, requires_grad=True)
    f = ng.jit(lambda a: a * w * w)
    (rows,) = ng.grad(f(x), w, np.eye(3), is_grads_batched=True, create_graph=True)
    yield rows, ng.grad(rows.sum(), [x, w])
    yield ng.jit(lambda a: ng.grad(a * a * w, [a, w], np.eye(3), is_grads_batched=True))(x)


def ensemble_that_closes_over(t):
    w = t(W)
    f = ng.jit(ng.func.grad(lambda a: (ng.sin(a) * w).sum()), ensemble=True)
    yield f(t(X)), ng.jit(lambda a: f(a).sum(0) * w)(t(X))
    yield ng.jit(lambda a: a * w, ensemble=True)(X)


def hooks_inside(t):
    def function(a):
        h = a * 2
        h.register_hook(lambda g: 3 * g)
        return ng.grad((h * h).sum(), a)

    yield ng.jit(function)(t(X, requires_grad=True))


def writes_inside(t):
    x, w = t(X, requires_grad=True), t(W, requires_grad=True)

    def function(a, b):
        y = a.clone()
        y[0] = w
        y[1] *= 2.0
        y[:, 1] += X[:, 0]
        y[:, [0, 2]] = 2 * b[:, :2]
        return y

    f = ng.jit(function)
    yield f(x, X), ng.grad((f(x, 2 * X) ** 2).sum(), [x, w])


def integers_known_later(t):
    x = t(X)
    f = ng.jit(lambda a, i: (a[i], a[0, i], a[:, i : i + 2] * a[:, i + 1 : i + 2], i * a))
    for i in (0, 1, 0, -1):
        yield f(x, i)


def choices(t):
    x, w = t(X), t(W, requires_grad=True)
    f = ng.jit(lambda a: ng.cond(a.sum() > 3, lambda q: q * w, lambda q: q - w[0], a).sum())
    for factor in (1.0, 0.01):
        yield f(factor * x), ng.grad(f(factor * x), w)
    choose = ng.jit(lambda c, a: ng.cond(c > 0, lambda q: q * q, lambda q: -q, a))
    yield ng.jit(ng.func.grad(lambda a, c: choose(c, a).sum()))(X, t(1.0))


def moves_inside(t):
    device = t(0.0).device
    x, host = t(X, requires_grad=True), ng.tensor(W, requires_grad=True)
    f = ng.jit(lambda a: (ng.sin(a * host.to(device)).cpu() * host).sum())
    for _ in range(2):
        y = f(x)
        assert y.device == "cpu"
        slopes = ng.grad(y, [x, host], create_graph=True)
        assert [slope.device for slope in slopes] == [device, "cpu"]
        yield y, slopes, ng.grad(slopes[1].sum(), [x, host])
    y = ng.jit(lambda a: (a * host.to(device)).sum())(x)
    yield y, ng.grad(y, host)
    out = np.empty((2, 3))
    yield ng.jit(lambda a: (2 * a).cpu())(x.detach(), out=out), out


def constants_made_inside(t):
    x = t(X)
    f = ng.jit(lambda a: (a * ng.ones(3, device=a.device), ng.zeros_like(a) + ng.arange(3.0)))
    yield f(x), f(x + 1)
    yield ng.jit(ng.func.grad(lambda a: (a * a * ng.arange(3.0)).sum()))(x)
    yield ng.jit(lambda a: a[:, : int(ng.full((), 2, device=a.device))])(x)


CASES = [value for value in list(vars().values()) if getattr(value, "__code__", None) is not None]
CASES = [case for case in CASES if case.__code__.co_varnames[:1] == ("t",)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_captured_functions_do_what_they_do_on_the_processor(case):
    expected = numbers(list(case(ng.tensor)))
    found = numbers(list(case(lambda data, **options: ng.tensor(data, device="cuda", **options))))
    assert len(found) == len(expected)
    for here, there in zip(found, expected, strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-13, atol=1e-14)


def test_results_on_a_device_are_tensors():
    w = ng.tensor(W, device="cuda")
    there, here = ng.jit(lambda a: (a * w, np.sin(a)))(X)
    assert (type(there), there.device, type(here)) == (ng.Tensor, "cuda:0", np.ndarray)
    made = ng.jit(lambda a: ng.ones(2, device="cuda"), donate_argnums=0)(X.copy())
    assert made.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("function", [
    lambda t, a, w: a * w, lambda t, a, w: (2 * t) * a, lambda t, a, w: ng.stack([a[0], 2 * w]),
    lambda t, a, w: ng.func.grad(lambda b: (b * a).sum())(X),
    lambda t, a, w: ng.func.hessian(lambda b: (b * b * a[0]).sum())(W),
    lambda t, a, w: (a.cpu() + 1) * a, lambda t, a, w: ng.grad((a * a).sum(0), a, w),
], ids=range(7))  # fmt: skip
def test_tensors_of_two_devices_do_not_meet_in_captured_functions(function):
    w, away = ng.tensor(W), ng.tensor(X, device="cuda", requires_grad=True)
    for call in (lambda t: function(t, away, w), ng.jit(lambda t: function(t, away, w))):
        with pytest.raises(ng.errors.DeviceError, match="cuda:0"):
            call(ng.tensor(X))


def test_a_captured_function_runs_on_one_device(monkeypatch):
    monkeypatch.setitem(runtime.targets, "cuda:1", CUDATarget(1))
    x, y = ng.tensor(W, device="cuda:0"), ng.tensor(W, device="cuda:1")
    with pytest.raises(ng.errors.DeviceError, match=r"runs on one device.* cuda:0 and on cuda:1"):
        ng.jit(lambda a: (a * x, a * y))(W)


def test_batched_passes_of_functions_that_move_values():
    function = ng.jit(lambda a, b: ((b[0] * a * a).cpu() ** 3).sum())
    found = []
    for device in ("cpu", "cuda"):
        x = ng.tensor(W, device=device, requires_grad=True)
        value = function(x, ng.tensor(W, device=device))
        seeds = np.array([1.0, -2.0])
        (rows,) = ng.grad(value, x, seeds, is_grads_batched=True, create_graph=True)
        found.append(numbers([rows, ng.grad(rows[1].sum(), x)]))
    np.testing.assert_allclose(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1])
    np.testing.assert_allclose(found[1][0], np.outer([1.0, -2.0], 6 * W**5))


def test_programs_of_the_processor_read_nothing_of_a_device():
    x = ng.tensor(W, device="cuda")
    expr = Expr(registry["copy"], {}, (x,), (spec_of(x.shape, x.dtype),))
    with pytest.raises(ng.errors.DeviceError, match="cuda:0"):
        force([ng.Tensor.deferred(expr, 0, expr.specs[0])])


@pytest.mark.short_ways
def test_constants_stay_on_the_device(monkeypatch):
    w = ng.tensor(W, device="cuda")
    f = ng.jit(lambda a: a * w * 2.5 * ng.ones(3, device="cuda") * ng.ones((2, 3)))
    x = ng.tensor(X, device="cuda")
    f(x)
    target = runtime.targets["cuda:0"]
    monkeypatch.setattr(target, "to_device", lambda array: pytest.fail(f"copied {array}"))
    np.testing.assert_allclose(f(x).cpu().numpy(), X * W * 2.5)


@pytest.mark.short_ways
def test_fused_programs_read_the_constants_that_were_copied_before(monkeypatch):
    for seconds in ("_INSTRUCTION", "_KERNEL", "_STEP"):
        monkeypatch.setattr(policy, seconds, 0.0)
    monkeypatch.setattr(executable, "forecast", lambda program: 0.0)
    x = ng.tensor(X, device="cuda")
    target = runtime.targets["cuda:0"]
    copied, copy, bound = [], target.to_device, []
    bind = target.bind
    monkeypatch.setattr(target, "to_device", lambda array: copied.append(array) or copy(array))
    monkeypatch.setattr(target, "bind", lambda *args: bound.append(args) or bind(*args))
    f = ng.jit(lambda a: (a * 2.5 + ng.ones((2, 3))) * 2.5)
    for _ in range(4):
        np.testing.assert_allclose(f(x).cpu().numpy(), (X * 2.5 + 1) * 2.5)
    assert len(bound) == 2
    assert len(copied) == len(bound[0][0].arrays)


def test_integers_of_the_processor_go_along():
    x = ng.tensor(W, device="cuda", requires_grad=True)
    whole, mask = ng.tensor([1, 2, 3]), ng.tensor([True, False, True])
    for operation in (lambda a: a * whole, lambda a: mask + a, lambda a: ng.maximum(a, whole)):
        expected = operation(ng.tensor(W)).numpy()
        for _ in range(3):
            found = operation(x)
            np.testing.assert_array_equal(found.detach().cpu().numpy(), expected)
            assert ng.grad(found.sum(), x)[0].device == "cuda:0"
